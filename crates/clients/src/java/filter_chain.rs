//! Filter chains of a server listener, as grpc-java reads them (XdsListenerResource
//! `parseFilterChain`).
//!
//! The client expands the match of each chain to the product of its lists, and rejects a
//! combination that it has seen before. This file does not build that product: it groups chains by
//! one list after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::{address, http_connection_manager, tls};
use crate::shared::limits::MAX_TUPLES;
use crate::shared::rules::{ADDRESS_NOT_IP, DUPLICATE_MATCH, SOURCE_TYPE_UNKNOWN};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::listener::v3::{FilterChain, FilterChainMatch};
use xdsctl_document::proto::transcode::LIMIT_EXCEEDED;
use xdsctl_model::diag::{Effect, Path, Validation};

/// The source types: any, this host, and outside.
const SOURCE_TYPES: std::ops::RangeInclusive<i32> = 0..=2;

/// An element of one of the lists in a match.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Element<'m> {
    /// The element that an empty list stands for. It equals only that of another empty list.
    Empty,
    Range(IpAddr, u32),
    Text(&'m str),
    Port(u32),
}

/// The match of a chain: its single values, and its lists.
pub(super) struct Matches<'m> {
    one: (u32, i32, &'m str),
    lists: [Vec<Element<'m>>; 5],
}

/// Converts a chain at `at`: the network filter, then TLS, then the match.
pub(super) fn parse<'m>(chain: &'m FilterChain, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Matches<'m>> {
    http_connection_manager::of_server(&chain.filters, &at.field("filters"), cx)?;
    if let Some(socket) = &chain.transport_socket {
        tls::downstream(socket, &at.field("transport_socket"), cx)?;
    }
    let at = at.field("filter_chain_match");
    match &chain.filter_chain_match {
        Some(matches) => parse_match(matches, &at, cx),
        None => Ok(Matches {
            one: (0, 0, ""),
            lists: std::array::from_fn(|_| vec![Element::Empty]),
        }),
    }
}

/// Converts the match of a chain (`parseFilterChainMatch`).
fn parse_match<'m>(matches: &'m FilterChainMatch, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Matches<'m>> {
    let destinations = ranges(&matches.prefix_ranges, &at.field("prefix_ranges"), cx)?;
    let sources = ranges(&matches.source_prefix_ranges, &at.field("source_prefix_ranges"), cx)?;
    if !SOURCE_TYPES.contains(&matches.source_type) {
        let message = format_args!("source_type {} is not known", matches.source_type);
        return Err(reject(&SOURCE_TYPE_UNKNOWN, &at.field("source_type"), message, cx));
    }
    let texts = |list: &'m [String]| list.iter().map(|text| Element::Text(text)).collect();
    let lists = [
        destinations,
        texts(&matches.application_protocols),
        sources,
        matches.source_ports.iter().copied().map(Element::Port).collect(),
        texts(&matches.server_names),
    ];
    Ok(Matches {
        one: (
            matches.destination_port.unwrap_or(0),
            matches.source_type,
            &matches.transport_protocol,
        ),
        lists: lists.map(|list: Vec<_>| if list.is_empty() { vec![Element::Empty] } else { list }),
    })
}

/// Reads ranges. The client looks neither at the length of a prefix nor at the bits behind it.
fn ranges<'m>(list: &[CidrRange], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Vec<Element<'m>>> {
    let mut ranges = Vec::with_capacity(list.len());
    for (i, range) in list.iter().enumerate() {
        let Some(address) = address::of_range(&range.address_prefix, |it| cx.has(it)) else {
            let at = at.index(i);
            let message = format_args!("`{}` is not an IP address", range.address_prefix);
            return Err(reject(&ADDRESS_NOT_IP, &at.field("address_prefix"), message, cx));
        };
        ranges.push(Element::Range(address, range.prefix_len.unwrap_or(0)));
    }
    Ok(ranges)
}

impl Matches<'_> {
    /// Rejects chains that match the same (`validateFilterChainMatchForUniqueness`); `at` is the
    /// path of the chains.
    pub(super) fn compare(all: &[Self], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (i, matches) in all.iter().enumerate() {
            let repeats = |list: &Vec<Element<'_>>| list.iter().collect::<BTreeSet<_>>().len() < list.len();
            if matches.lists.iter().any(repeats) {
                let at = at.index(i);
                let message = format_args!("the chain has an element of its match twice");
                return Err(reject(&DUPLICATE_MATCH, &at, message, cx));
            }
            groups.entry(matches.one).or_default().push(i);
        }
        let mut left = MAX_TUPLES;
        let mut seen = BTreeSet::new();
        for chains in groups.values() {
            match collision(all, chains, 0, &mut seen, &mut left) {
                Ok(None) => {}
                Ok(Some(later)) => {
                    let message = format_args!("another chain has the same match");
                    return Err(reject(&DUPLICATE_MATCH, &at.index(later), message, cx));
                }
                Err(TooMany) => {
                    let message =
                        format_args!("more than {MAX_TUPLES} pairs of chains and ranges, not all were compared");
                    cx.report_as(Effect::Fails, &LIMIT_EXCEEDED, at, message);
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// There are more combinations than [`MAX_TUPLES`] to compare.
struct TooMany;

/// Finds two of `chains` with a combination in common; returns the later one. The chains agree in
/// the lists before `list`, so the other lists are compared.
fn collision(
    all: &[Matches<'_>],
    chains: &[usize],
    list: usize,
    seen: &mut BTreeSet<(usize, Vec<usize>)>,
    left: &mut usize,
) -> Result<Option<usize>, TooMany> {
    let [_, second, ..] = chains else {
        return Ok(None);
    };
    if !seen.insert((list, chains.to_vec())) {
        return Ok(None);
    }
    let mut groups: BTreeMap<&Element<'_>, Vec<usize>> = BTreeMap::new();
    for &chain in chains {
        let Some(elements) = all.get(chain).and_then(|matches| matches.lists.get(list)) else {
            return Ok(Some(*second));
        };
        *left = left.checked_sub(elements.len()).ok_or(TooMany)?;
        for element in elements {
            groups.entry(element).or_default().push(chain);
        }
    }
    for chains in groups.values() {
        if let Some(later) = collision(all, chains, list + 1, seen, left)? {
            return Ok(Some(later));
        }
    }
    Ok(None)
}
