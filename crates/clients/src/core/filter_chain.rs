//! FilterChain of a server listener, and what its match asks of a connection (A36).
//!
//! Follows C-core `FilterChainParse` and `FilterChainMatchParse` (xds_listener_parser.cc). Each
//! chain is converted alone here; `filter_chain_map` decides how the chains of a listener share the
//! connections among them.

use super::downstream_tls;
use super::http_connection_manager::{self, ListenerSide};
use crate::core::convert::cidr::cidr_range;
use crate::shared::fields;
use crate::shared::names::RAW_BUFFER;
use crate::shared::rules::{NETWORK_FILTERS_NOT_ONE, SOURCE_TYPE_UNKNOWN};
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::listener::v3 as pb;
use xdsctl_model::diag::{Effect, Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::listener::{Cidr, FilterChain, HttpConnectionManager, SourceMatch, SourceType};

rules! {
    /// A source port is greater than 65535, and another port is matched.
    SOURCE_PORT_CUT = "lds-source-port-cut", Listener, Advice, "C-core XdsListenerResource::FilterChainMap::SourcePortsMap";
}

/// A filter chain, and what the listener's map needs to know of its match.
pub struct Converted {
    /// The chain; `None` if its network filter was rejected.
    pub chain: Option<FilterChain>,
    /// `prefix_ranges`; empty for any destination.
    pub destinations: Vec<Cidr>,
    /// Whether the chain can match connections to these destinations.
    pub reach: ChainReach,
}

/// Whether a chain can match any connection, as far as its own match decides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainReach {
    /// The chain has an error of its own and takes no part in the map.
    Faulty,
    /// The match names a destination_port, so the client drops the chain at once. Holds the field's
    /// name.
    Forgotten(&'static str),
    /// The match asks for something that a gRPC connection never has. The chain's destinations stay
    /// in the map.
    Never {
        /// The field of the match, such as `prefix_ranges`.
        field: &'static str,
        /// The chain nevertheless replaces the chains without a transport_protocol, because its own
        /// is `raw_buffer`.
        takes_over: bool,
    },
    /// A connection can match the chain.
    Matches {
        /// The transport_protocol is `raw_buffer`; such a chain takes precedence over those without
        /// one.
        raw_buffer: bool,
    },
}

/// Converts the chain at `at`, which may be the listener's default.
pub fn from_proto(pb: &pb::FilterChain, is_default: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Converted {
    let mark = cx.mark();
    let mut destinations = Vec::new();
    let mut source = SourceMatch::default();
    let mut reach = ChainReach::Matches { raw_buffer: false };
    if let Some(matches) = &pb.filter_chain_match {
        let here = at.field("filter_chain_match");
        destinations = cidr_ranges(&matches.prefix_ranges, &here.field("prefix_ranges"), cx);
        source = source_match(matches, is_default, &here, cx);
        reach = reach_of(matches);
    }
    let http_connection_manager = network_filter(&pb.filters, &at.field("filters"), cx);
    let tls = pb
        .transport_socket
        .as_ref()
        .and_then(|socket| downstream_tls::transport_socket(socket, &at.field("transport_socket"), cx));
    if cx.nacked_since(mark) {
        reach = ChainReach::Faulty;
    }
    Converted {
        chain: http_connection_manager.map(|http_connection_manager| FilterChain {
            name: pb.name.clone(),
            source,
            tls,
            http_connection_manager,
        }),
        destinations,
        reach,
    }
}

/// Converts the network filters. There must be exactly one, but all are checked.
fn network_filter(filters: &[pb::Filter], at: &Path<'_>, cx: &mut Validation<'_>) -> Option<HttpConnectionManager> {
    let count = filters.len();
    let why = format_args!("{count} network filters, must be one HttpConnectionManager");
    cx.check(count == 1, &NETWORK_FILTERS_NOT_ONE, at, why);
    let mut last = None;
    for (i, filter) in filters.iter().enumerate() {
        let here = at.index(i);
        let any = fields::network_config(filter);
        http_connection_manager::note_discovery(filter.config_type.is_some() && any.is_none(), &here, cx);
        last = http_connection_manager::from_any(any, ListenerSide::Server, &here.field("typed_config"), cx);
    }
    last
}

fn cidr_ranges(ranges: &[CidrRange], at: &Path<'_>, cx: &mut Validation<'_>) -> Vec<Cidr> {
    let ranges = ranges.iter().enumerate();
    ranges
        .filter_map(|(i, range)| cidr_range(range, &at.index(i), cx))
        .collect()
}

fn source_match(
    matches: &pb::FilterChainMatch,
    is_default: bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> SourceMatch {
    let source_type = match matches.source_type {
        0 => SourceType::Any,
        1 => SourceType::SameIpOrLoopback,
        2 => SourceType::External,
        unknown => {
            // Without the check, the client uses the number as an index into an array if the chain
            // gets that far.
            let is_used = !is_default && matches!(reach_of(matches), ChainReach::Matches { .. });
            let effect = match cx.has(Feature::SourceTypeChecked) {
                true => Effect::Nack,
                false if is_used => Effect::Fails,
                false => Effect::Ignored,
            };
            cx.report_as(
                effect,
                &SOURCE_TYPE_UNKNOWN,
                &at.field("source_type"),
                format_args!("source_type is {unknown}, must be 0 (ANY), 1 (SAME_IP_OR_LOOPBACK) or 2 (EXTERNAL)"),
            );
            SourceType::Unknown
        }
    };
    let prefixes = cidr_ranges(&matches.source_prefix_ranges, &at.field("source_prefix_ranges"), cx);
    let ports_at = at.field("source_ports");
    let ports = matches.source_ports.iter().enumerate().map(|(i, &port)| {
        #[expect(clippy::cast_possible_truncation, reason = "the client's map has 16-bit keys")]
        let cut = port as u16;
        if u32::from(cut) != port {
            cx.report(
                &SOURCE_PORT_CUT,
                &ports_at.index(i),
                format_args!("source port is {port}, the client matches port {cut} instead"),
            );
        }
        u32::from(cut)
    });
    SourceMatch {
        source_type,
        prefixes,
        ports: ports.collect(),
    }
}

/// Says what the match asks beyond addresses, in the order in which the client looks.
fn reach_of(matches: &pb::FilterChainMatch) -> ChainReach {
    let raw_buffer = matches.transport_protocol == RAW_BUFFER;
    let never = |field, takes_over| ChainReach::Never { field, takes_over };
    if matches.destination_port.is_some_and(|port| port != 0) {
        ChainReach::Forgotten("destination_port")
    } else if !matches.server_names.is_empty() {
        never("server_names", false)
    } else if !raw_buffer && !matches.transport_protocol.is_empty() {
        never("transport_protocol", false)
    } else if !matches.application_protocols.is_empty() {
        never("application_protocols", raw_buffer)
    } else {
        ChainReach::Matches { raw_buffer }
    }
}
