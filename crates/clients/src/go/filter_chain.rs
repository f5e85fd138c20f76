//! Filter chains of a server listener, as grpc-go reads them (`buildFilterChainMap`,
//! `filterChainFromProto`).
//!
//! A chain is looked into only if the map has a place for it: a chain that can match nothing is
//! dropped unseen.

use std::collections::{BTreeMap, BTreeSet};

use super::matcher::{parse_addr, range};
use super::{cluster, http_connection_manager, tls, unmarshal};
use crate::shared::alike::TlsSide;
use crate::shared::limits::{MAX_COMBINATIONS, not_compared};
use crate::shared::names::{DOWNSTREAM, RAW_BUFFER};
use crate::shared::rules::{
    ADDRESS_NOT_IP, CIDR_PREFIX_LEN_TOO_LONG, CLIENT_CERTIFICATE_WITHOUT_CA, DUPLICATE_MATCH,
    LISTENER_SOCKET_UNSUPPORTED, NO_IDENTITY, OCSP_STAPLE_POLICY, REQUIRE_SNI, SOURCE_TYPE_UNKNOWN,
};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::listener::v3::{FilterChain, FilterChainMatch};
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::DownstreamTlsContext;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::listener::Cidr;

/// The map while chains are added to it.
#[derive(Default)]
struct Map {
    destinations: BTreeMap<Option<Cidr>, Destination>,
    /// How many combinations were made.
    count: usize,
}

/// A chain while it is added to its destinations.
struct Adding<'m> {
    chain: &'m FilterChain,
    matches: &'m FilterChainMatch,
    /// The source prefixes, once a destination needed them.
    sources: Option<Vec<Option<Cidr>>>,
    /// The chain has been looked into. The client does so at each combination, and finds the same.
    is_looked_into: bool,
    /// The chain has too many combinations to be compared.
    is_uncounted: bool,
}

/// The chains of one destination: for each source type and source prefix, the ports that are taken.
#[derive(Default)]
struct Destination {
    has_raw_buffer: bool,
    sources: [BTreeMap<Option<Cidr>, BTreeSet<u32>>; 3],
}

/// Builds the map of the chains; says whether there is any chain in it.
pub(super) fn map(chains: &[FilterChain], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let mut map = Map::default();
    let any_match = FilterChainMatch::default();
    for (i, chain) in chains.iter().enumerate() {
        let at = at.index(i);
        let matches = chain.filter_chain_match.as_ref().unwrap_or(&any_match);
        if matches.destination_port.is_some_and(|port| port != 0) {
            continue;
        }
        let here = at.field("filter_chain_match");
        let destinations = prefixes(&matches.prefix_ranges, &here.field("prefix_ranges"), cx)?;
        let (sources, ports) = (matches.source_prefix_ranges.len(), matches.source_ports.len());
        let sizes = [destinations.len(), sources, ports].into_iter();
        let combinations = sizes.fold(1usize, |product, len| product.saturating_mul(len.max(1)));
        map.count = map.count.saturating_add(combinations);
        let mut adding = Adding {
            chain,
            matches,
            sources: None,
            is_looked_into: false,
            is_uncounted: map.count > MAX_COMBINATIONS,
        };
        if adding.is_uncounted {
            not_compared(&here, cx);
        }
        for prefix in destinations {
            let destination = map.destinations.entry(prefix).or_default();
            adding.to(destination, &at, cx)?;
        }
    }
    let mut sources = map.destinations.values().flat_map(|chains| &chains.sources);
    Ok(sources.any(|ports| ports.values().any(|ports| !ports.is_empty())))
}

impl Adding<'_> {
    /// Adds the chain to a destination (`addFilterChainsForServerNames` and what follows).
    fn to(&mut self, destination: &mut Destination, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
        let matches = self.matches;
        if !matches.server_names.is_empty() {
            return Ok(());
        }
        match matches.transport_protocol.as_str() {
            "" if destination.has_raw_buffer => return Ok(()),
            "" => {}
            RAW_BUFFER if !destination.has_raw_buffer => {
                destination.has_raw_buffer = true;
                destination.sources = Default::default();
            }
            RAW_BUFFER => {}
            _ => return Ok(()),
        }
        if !matches.application_protocols.is_empty() {
            return Ok(());
        }
        let here = at.field("filter_chain_match");
        let source_type = usize::try_from(matches.source_type).ok();
        let Some(sources) = source_type.and_then(|kind| destination.sources.get_mut(kind)) else {
            let message = format_args!("source_type {} is not known", matches.source_type);
            return Err(reject(&SOURCE_TYPE_UNKNOWN, &here.field("source_type"), message, cx));
        };
        let prefixes = match self.sources.take() {
            Some(prefixes) => prefixes,
            None => prefixes(&matches.source_prefix_ranges, &here.field("source_prefix_ranges"), cx)?,
        };
        let prefixes = self.sources.insert(prefixes);
        let any_port = [0];
        let ports = match matches.source_ports.as_slice() {
            [] => &any_port,
            ports => ports,
        };
        for prefix in prefixes {
            let taken = sources.entry(*prefix).or_default();
            for port in ports {
                if taken.contains(port) {
                    let message = format_args!("another chain has the same match");
                    return Err(reject(&DUPLICATE_MATCH, at, message, cx));
                }
                if !self.is_looked_into {
                    content(self.chain, at, cx)?;
                    self.is_looked_into = true;
                }
                taken.insert(*port);
                if self.is_uncounted {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Returns the prefixes of a list; `None` stands for every address if the list is empty
/// (`parsePrefixRanges`).
pub(super) fn prefixes(ranges: &[CidrRange], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Vec<Option<Cidr>>> {
    if ranges.is_empty() {
        return Ok(vec![None]);
    }
    let mut prefixes = Vec::with_capacity(ranges.len());
    for (i, message) in ranges.iter().enumerate() {
        let at = at.index(i);
        let len = message.prefix_len.unwrap_or(0);
        let takes_zone = cx.has(Feature::CidrByNetip);
        let parsed = parse_addr(&message.address_prefix).filter(|(_, has_zone)| takes_zone || !has_zone);
        let Some((address, _)) = parsed else {
            let message = format_args!("`{}` is not an IP address", message.address_prefix);
            return Err(reject(&ADDRESS_NOT_IP, &at.field("address_prefix"), message, cx));
        };
        let prefix = match address.to_canonical() {
            canonical if takes_zone => range(canonical, len),
            // Written as text, an IPv4 range in IPv6 and the same range in IPv4 are equal.
            canonical if canonical != address && len >= 96 && cx.has(Feature::CidrAsText) => range(canonical, len - 96),
            _ => range(address, len),
        };
        let Some(prefix) = prefix else {
            let message = format_args!("prefix_len {len} is longer than `{}`", message.address_prefix);
            return Err(reject(&CIDR_PREFIX_LEN_TOO_LONG, &at.field("prefix_len"), message, cx));
        };
        prefixes.push(Some(prefix));
    }
    Ok(prefixes)
}

/// Checks what is in a chain (`filterChainFromProto`).
pub(super) fn content(chain: &FilterChain, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    http_connection_manager::of_server(&chain.filters, &at.field("filters"), cx)?;
    transport_socket(chain, at, cx)
}

/// Checks the transport socket of a chain.
pub(super) fn transport_socket(chain: &FilterChain, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some(socket) = &chain.transport_socket else {
        return Ok(());
    };
    let at = at.field("transport_socket");
    let any = cluster::tls_config(socket, DOWNSTREAM, &LISTENER_SOCKET_UNSUPPORTED, &at, cx)?;
    let at = at.field("typed_config");
    let context: DownstreamTlsContext = unmarshal(&any.value, DOWNSTREAM, &at, cx)?;
    let at = at.value(DOWNSTREAM);
    let is_of_today = cx.has(Feature::TlsOfToday);
    if is_of_today && context.require_sni == Some(true) {
        let message = format_args!("require_sni is true, must be false");
        return Err(reject(&REQUIRE_SNI, &at.field("require_sni"), message, cx));
    }
    if is_of_today && context.ocsp_staple_policy != 0 {
        let policy = context.ocsp_staple_policy;
        let message = format_args!("ocsp_staple_policy is {policy}, must be LENIENT_STAPLING");
        return Err(reject(
            &OCSP_STAPLE_POLICY,
            &at.field("ocsp_staple_policy"),
            message,
            cx,
        ));
    }
    let common_at = at.field("common_tls_context");
    let Some(common) = &context.common_tls_context else {
        let message = format_args!("common_tls_context is missing, a server needs a certificate of its own");
        return Err(reject(&NO_IDENTITY, &common_at, message, cx));
    };
    let config = tls::security_config(common, TlsSide::Server, &common_at, cx)?;
    if context.require_client_certificate == Some(true) && config.root.is_empty() {
        let at = at.field("require_client_certificate");
        let message = format_args!("require_client_certificate is true, and no CA provider checks the certificate");
        return Err(reject(&CLIENT_CERTIFICATE_WITHOUT_CA, &at, message, cx));
    }
    tls::check_providers(&config, &common_at, &|_| Ok(()), cx)
}
