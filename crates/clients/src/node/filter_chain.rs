//! Filter chains, as grpc-js-xds reads them (listener-resource-type.ts `normalizeFilterChainMatch`,
//! `validateFilterChain`).
//!
//! The client multiplies a match out to combinations of one destination range, source range, source
//! port, server name and protocol each, and compares every combination with all earlier ones. Two
//! matches have a combination in common if each of their lists has an element in common.

use std::collections::{BTreeMap, BTreeSet};

use super::{cidr, fault, http_connection_manager, is_url_of, tls};
use crate::shared::limits::{MAX_COMBINATIONS, not_compared};
use crate::shared::names::HCM;
use crate::shared::rules::{DUPLICATE_MATCH, NETWORK_FILTER_UNSUPPORTED, NETWORK_FILTERS_NOT_ONE};
use crate::shared::{Checked, fields};
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::listener::v3::{FilterChain, FilterChainMatch};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::listener::Cidr;

/// One combination of the elements of a match's lists; `None` for a list that is empty.
type Combination<'m> = (
    Option<Cidr>,
    Option<Cidr>,
    Option<u32>,
    Option<&'m str>,
    Option<&'m str>,
);

/// What must be equal for combinations to be compared: port, source type and transport protocol.
type ChainGroup<'m> = (Option<u32>, i32, &'m str);

/// Converts the chains of a listener.
pub(super) fn list(chains: &[FilterChain], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let mut seen: BTreeMap<ChainGroup<'_>, BTreeSet<Combination<'_>>> = BTreeMap::new();
    let mut count = 0usize;
    for (i, chain) in chains.iter().enumerate() {
        let at = at.index(i);
        if let Some(matches) = &chain.filter_chain_match {
            let here = at.field("filter_chain_match");
            let destinations = ranges(&matches.prefix_ranges, &here.field("prefix_ranges"), cx)?;
            let sources = ranges(&matches.source_prefix_ranges, &here.field("source_prefix_ranges"), cx)?;
            let group = (
                matches.destination_port,
                matches.source_type,
                matches.transport_protocol.as_str(),
            );
            let product = combinations(matches, &destinations, &sources);
            count = count.saturating_add(size(matches));
            if count > MAX_COMBINATIONS {
                not_compared(&here, cx);
            } else {
                let taken = seen.entry(group).or_default();
                let mut is_duplicate = false;
                for combination in product {
                    is_duplicate |= !taken.insert(combination);
                }
                if is_duplicate {
                    let why = format_args!("another chain has the same match, or this one has it twice");
                    fault(&DUPLICATE_MATCH, &at, why, cx);
                }
            }
        }
        content(chain, &at, cx)?;
    }
    Ok(())
}

/// Returns how many combinations a match has.
fn size(matches: &FilterChainMatch) -> usize {
    let sizes = [
        matches.prefix_ranges.len(),
        matches.source_prefix_ranges.len(),
        matches.source_ports.len(),
        matches.server_names.len(),
        matches.application_protocols.len(),
    ];
    let sizes = sizes.into_iter();
    sizes.fold(1usize, |product, len| product.saturating_mul(len.max(1)))
}

/// Returns the combinations of a match (`crossProduct`). An empty list counts as one element,
/// `None`.
fn combinations<'m>(
    matches: &'m FilterChainMatch,
    ranges: &[Cidr],
    sources: &[Cidr],
) -> impl Iterator<Item = Combination<'m>> {
    fn or_none<T: Clone>(list: &[T]) -> Vec<Option<T>> {
        if list.is_empty() {
            vec![None]
        } else {
            list.iter().cloned().map(Some).collect()
        }
    }
    let texts = |list: &'m [String]| or_none(&list.iter().map(String::as_str).collect::<Vec<_>>());
    let (sources, ports) = (or_none(sources), or_none(&matches.source_ports));
    let (names, protocols) = (texts(&matches.server_names), texts(&matches.application_protocols));
    or_none(ranges).into_iter().flat_map(move |range| {
        let mut all = Vec::new();
        for source in &sources {
            for port in &ports {
                for name in &names {
                    let each = protocols.iter();
                    all.extend(each.map(|protocol| (range, *source, *port, *name, *protocol)));
                }
            }
        }
        all
    })
}

fn ranges(list: &[CidrRange], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Vec<Cidr>> {
    let each = list.iter().enumerate();
    each.map(|(i, range)| cidr::range(range, &at.index(i), cx)).collect()
}

/// Checks what is in a chain (`validateFilterChain`).
pub(super) fn content(chain: &FilterChain, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let filters_at = at.field("filters");
    if let [filter] = chain.filters.as_slice() {
        let at = filters_at.index(0);
        let at = at.field("typed_config");
        match fields::network_config(filter) {
            Some(any) if is_url_of(&any.type_url, HCM) => http_connection_manager::from_any(any, false, &at, cx)?,
            other => {
                let url = other.map_or("", |any| &any.type_url);
                let why = format_args!("`{url}` is not supported, must be `{HCM}`");
                fault(&NETWORK_FILTER_UNSUPPORTED, &at, why, cx);
            }
        }
    } else {
        let count = chain.filters.len();
        let why = format_args!("{count} network filters, must be one HttpConnectionManager");
        fault(&NETWORK_FILTERS_NOT_ONE, &filters_at, why, cx);
    }
    match &chain.transport_socket {
        Some(socket) => tls::downstream(socket, &at.field("transport_socket"), cx),
        None => Ok(()),
    }
}
