//! Listener, as a client keeps it: the API listener of a channel, or the filter chains of a server.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{FamilyReader, millis, opened};
use crate::shared::Opened;
use crate::shared::fields;
use crate::shared::names::{HCM, RAW_BUFFER};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::listener::v3::{self as pb, FilterChainMatch};
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager as HcmPb;
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::http_connection_manager::RouteSpecifier;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::listener::{
    Cidr, DestinationChains, FilterChain, HttpConnectionManager, Listener, RouteSource, SourceMatch, SourceType,
    TcpListener,
};

impl FamilyReader<'_> {
    /// Reads a Listener that the client has accepted.
    pub(super) fn listener(&self, message: &pb::Listener) -> Listener {
        match &message.api_listener {
            Some(api) => Listener::Api(self.connection_manager(api.api_listener.as_ref(), true)),
            None => Listener::Tcp(self.server(message)),
        }
    }

    fn connection_manager(&self, any: Option<&Any>, on_client: bool) -> HttpConnectionManager {
        let message: HcmPb = any.and_then(|any| opened(any, HCM)).unwrap_or_default();
        let options = message.common_http_protocol_options.as_ref();
        let duration = options.and_then(|options| match self.has(Feature::IdleTimeoutOfRpcs) {
            true => options.idle_timeout.as_ref(),
            false => options.max_stream_duration.as_ref(),
        });
        HttpConnectionManager {
            routes: match &message.route_specifier {
                Some(RouteSpecifier::RouteConfig(config)) => {
                    RouteSource::Inline(Arc::new(self.route_config(config, &Opened::default())))
                }
                Some(RouteSpecifier::Rds(rds)) => RouteSource::Rds(rds.route_config_name.clone()),
                Some(RouteSpecifier::ScopedRoutes(_)) | None => RouteSource::Rds(String::new()),
            },
            http_max_stream_duration: duration.map_or(Millis(0), millis),
            http_filters: self.filters(&message.http_filters, on_client),
        }
    }

    fn server(&self, message: &pb::Listener) -> TcpListener {
        let socket = fields::socket(message.address.as_ref());
        TcpListener {
            uses_all_chains: self.dialect.uses_all_chains,
            address: socket.map(fields::host_port).unwrap_or_default(),
            destinations: self.destinations(&message.filter_chains),
            filter_chains: message.filter_chains.iter().map(|chain| self.chain(chain)).collect(),
            default_filter_chain: message.default_filter_chain.as_ref().map(|chain| self.chain(chain)),
        }
    }

    /// Reads a chain, of which the first network filter counts.
    fn chain(&self, chain: &pb::FilterChain) -> FilterChain {
        let config = chain.filters.first().and_then(fields::network_config);
        let matches = chain.filter_chain_match.as_ref();
        FilterChain {
            name: chain.name.clone(),
            source: matches.map(|matches| self.source(matches)).unwrap_or_default(),
            tls: chain
                .transport_socket
                .as_ref()
                .and_then(|socket| self.downstream_tls(socket)),
            http_connection_manager: self.connection_manager(config, false),
        }
    }
    fn chain_range(&self, range: &CidrRange) -> Option<Cidr> {
        (self.dialect.chain_range)(range, self.profile)
    }

    fn source(&self, matches: &FilterChainMatch) -> SourceMatch {
        let ranges = &matches.source_prefix_ranges;
        SourceMatch {
            source_type: match matches.source_type {
                0 => SourceType::Any,
                1 => SourceType::SameIpOrLoopback,
                2 => SourceType::External,
                _ => SourceType::Unknown,
            },
            prefixes: ranges.iter().filter_map(|range| self.chain_range(range)).collect(),
            ports: matches.source_ports.clone(),
        }
    }

    /// Returns the chains that can match, by the destination of a connection.
    fn destinations(&self, chains: &[pb::FilterChain]) -> Vec<DestinationChains> {
        let any = FilterChainMatch::default();
        let keeps_all = (self.dialect.keeps_destinations)(self.profile);
        let mut map: BTreeMap<Option<Cidr>, (bool, Vec<usize>)> = BTreeMap::new();
        for (index, chain) in chains.iter().enumerate() {
            let matches = chain.filter_chain_match.as_ref().unwrap_or(&any);
            if matches.destination_port.is_some_and(|port| port != 0) {
                continue;
            }
            let mut prefixes: Vec<Option<Cidr>> = matches
                .prefix_ranges
                .iter()
                .map(|range| self.chain_range(range))
                .collect();
            if prefixes.is_empty() {
                prefixes.push(None);
            }
            let protocol = matches.transport_protocol.as_str();
            let is_raw = protocol == RAW_BUFFER;
            let goes_before = is_raw && self.dialect.prefers_raw_buffer;
            let is_possible = matches.server_names.is_empty()
                && matches.application_protocols.is_empty()
                && (is_raw
                    || protocol.is_empty() && !(self.dialect.needs_raw_buffer && chain.filter_chain_match.is_some()));
            for prefix in prefixes {
                if !is_possible && !keeps_all {
                    continue;
                }
                let (has_raw, list) = map.entry(prefix).or_default();
                if !is_possible {
                    continue;
                }
                if goes_before && !*has_raw {
                    list.clear();
                    *has_raw = true;
                }
                if goes_before == *has_raw {
                    list.push(index);
                }
            }
        }
        let chains = map.into_iter();
        chains
            .map(|(prefix, (_, chains))| DestinationChains { prefix, chains })
            .collect()
    }
}
