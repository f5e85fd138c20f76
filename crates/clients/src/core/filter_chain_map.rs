//! How the filter chains of a server listener share the connections among them (A36).
//!
//! The client expands every chain to tuples of destination prefix, source type, source prefix and
//! source port, and rejects two chains with a tuple in common. This file does not build that
//! product: it groups chains by destination, then by source, then by port, and looks at groups with
//! the same chains once, so that time and memory stay near the size of the input. Follows C-core
//! `BuildFilterChainMap` and the `AddFilterChainDataFor*` functions (xds_listener_parser.cc).

use std::collections::{BTreeMap, BTreeSet};

use super::filter_chain::{ChainReach, Converted};
use crate::shared::limits::MAX_TUPLES;
use crate::shared::rules::DUPLICATE_MATCH;
use xdsctl_document::proto::transcode::LIMIT_EXCEEDED;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::resource::listener::{Cidr, DestinationChains, SourceMatch, SourceType};

rules! {
    /// A filter chain asks for what no gRPC connection has, and never matches.
    NEVER_MATCHES = "lds-filter-chain-never-matches", Listener, Dropped, "gRFC A36; C-core BuildFilterChainMap",
        also [Go Java] "A36 says which conditions a gRPC server cannot have";
    /// A filter chain without a transport_protocol gives way to one with raw_buffer.
    SHADOWED = "lds-filter-chain-shadowed", Listener, Dropped, "gRFC A36; C-core AddFilterChainDataForTransportProtocol",
        also [Go Java] "A36 has the order of the conditions";
    /// A filter chain with source_type ANY is beside one with another source_type, and is passed over.
    ANY_SOURCE_UNUSED = "lds-source-type-any-unused", Listener, Advice, "C-core FindFilterChainDataForSourceType (xds_server_config_fetcher.cc)";
    /// No filter chain can match, and there is no default: every connection is closed.
    NO_CHAIN_MATCHES = "lds-no-filter-chain-matches", Listener, Fails, "C-core BuildFilterChainMap; grpc-go rejects it";
}

/// The chains of one destination while the map is built.
#[derive(Default)]
struct DestinationSlot {
    /// Chains that can match, in order.
    chains: Vec<usize>,
    /// The first chain with raw_buffer.
    raw_buffer: Option<usize>,
}

/// The map while it is built.
#[derive(Default)]
struct Build {
    slots: BTreeMap<Option<Cidr>, DestinationSlot>,
    /// The chains of each slot that were replaced together when a chain with raw_buffer took over.
    replaced: Vec<Vec<usize>>,
    /// For each chain that gave way, the first chain that it gave way to.
    shadowed: BTreeMap<usize, usize>,
}

/// Builds the map from all chains, in order. Reports at `at` (the path of `filter_chains`) which
/// chains collide or are lost.
pub fn build(
    chains: &[Converted],
    has_default: bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Vec<DestinationChains> {
    let mut build = Build::default();
    for (index, chain) in chains.iter().enumerate() {
        if let ChainReach::Forgotten(field) | ChainReach::Never { field, .. } = chain.reach {
            report_never(index, field, at, cx);
        }
        if matches!(chain.reach, ChainReach::Faulty | ChainReach::Forgotten(_)) {
            continue;
        }
        if chain.destinations.is_empty() {
            build.add(index, chain.reach, None);
        }
        for prefix in &chain.destinations {
            build.add(index, chain.reach, Some(*prefix));
        }
    }
    for (&chain, &by) in &build.shadowed {
        report_shadowed(chain, by, at, cx);
    }
    let mut collisions = Collisions::new(chains, MAX_TUPLES);
    for list in &build.replaced {
        collisions.find(list);
    }
    for slot in build.slots.values() {
        collisions.find(&slot.chains);
    }
    collisions.report(at, cx);
    report_unused(&build, chains, at, cx);
    let is_checked = chains.iter().all(|chain| chain.reach != ChainReach::Faulty);
    if !has_default && is_checked && !chains.is_empty() && build.slots.values().all(|slot| slot.chains.is_empty()) {
        cx.report(
            &NO_CHAIN_MATCHES,
            at,
            format_args!("no filter chain can match and there is no default_filter_chain, every connection is closed"),
        );
    }
    build.finish()
}

impl Build {
    /// Adds a chain to one destination, as `AddFilterChainDataForTransportProtocol` does.
    fn add(&mut self, index: usize, reach: ChainReach, prefix: Option<Cidr>) {
        let slot = self.slots.entry(prefix).or_default();
        let (is_raw, can_match) = match reach {
            ChainReach::Matches { raw_buffer } => (raw_buffer, true),
            ChainReach::Never { takes_over, .. } => (takes_over, false),
            ChainReach::Faulty | ChainReach::Forgotten(_) => return,
        };
        match slot.raw_buffer {
            Some(raw) if !is_raw && can_match => {
                self.shadowed.entry(index).or_insert(raw);
                return;
            }
            None if is_raw => {
                slot.raw_buffer = Some(index);
                for chain in &slot.chains {
                    self.shadowed.entry(*chain).or_insert(index);
                }
                if !slot.chains.is_empty() {
                    self.replaced.push(std::mem::take(&mut slot.chains));
                }
            }
            Some(_) | None => {}
        }
        if can_match {
            slot.chains.push(index);
        }
    }

    /// Returns the destinations in the order of the client's keys, which decides between ranges
    /// that differ only in a port or zone.
    fn finish(self) -> Vec<DestinationChains> {
        let mut destinations: Vec<_> = self
            .slots
            .into_iter()
            .map(|(prefix, slot)| DestinationChains {
                prefix,
                chains: slot.chains,
            })
            .collect();
        destinations.sort_by_cached_key(|d| d.prefix.map(|p| format!("{}/{}", p.address, p.prefix_len)));
        destinations
    }
}

/// Looks for chains with a connection in common.
struct Collisions<'a> {
    chains: &'a [Converted],
    /// Lists of chains that have been looked at.
    seen: BTreeSet<Vec<usize>>,
    /// Lists of chains whose ports have been looked at.
    seen_ports: BTreeSet<Vec<usize>>,
    /// For each chain that collides, the first chain that it collides with: an earlier one, or
    /// itself.
    found: BTreeMap<usize, usize>,
    /// How many more tuples may be looked at; `None` once the limit was exceeded.
    left: Option<usize>,
}

impl<'a> Collisions<'a> {
    fn new(chains: &'a [Converted], most: usize) -> Self {
        Collisions {
            chains,
            seen: BTreeSet::new(),
            seen_ports: BTreeSet::new(),
            found: BTreeMap::new(),
            left: Some(most),
        }
    }

    /// Counts tuples as looked at; says whether the limit allows them.
    fn takes(&mut self, tuples: usize) -> bool {
        self.left = self.left.and_then(|left| left.checked_sub(tuples));
        self.left.is_some()
    }

    /// Looks at the chains of one destination. A chain that is listed twice collides with itself.
    fn find(&mut self, list: &[usize]) {
        if self.seen.contains(list) {
            return;
        }
        self.seen.insert(list.to_vec());
        let mut by_source: BTreeMap<(SourceType, Option<Cidr>), Vec<usize>> = BTreeMap::new();
        for &index in list {
            let Some(source) = self.source(index) else { continue };
            if !self.takes(source.prefixes.len().max(1)) {
                return;
            }
            if source.prefixes.is_empty() {
                by_source.entry((source.source_type, None)).or_default().push(index);
            }
            for prefix in &source.prefixes {
                by_source
                    .entry((source.source_type, Some(*prefix)))
                    .or_default()
                    .push(index);
            }
        }
        for list in by_source.into_values() {
            if !self.seen_ports.contains(&list) {
                self.find_port(&list);
                self.seen_ports.insert(list);
            }
        }
    }

    /// Looks at the chains of one destination and source.
    fn find_port(&mut self, list: &[usize]) {
        let mut by_port: BTreeMap<u32, usize> = BTreeMap::new();
        for &index in list {
            let Some(source) = self.source(index) else { continue };
            // A chain without ports is kept under 0, like a chain with port 0.
            let ports = if source.ports.is_empty() {
                &[0][..]
            } else {
                &source.ports
            };
            if !self.takes(ports.len()) {
                return;
            }
            for &port in ports {
                if let Some(&earlier) = by_port.get(&port) {
                    self.found.entry(index).or_insert(earlier);
                } else {
                    by_port.insert(port, index);
                }
            }
        }
    }

    fn source(&self, index: usize) -> Option<&'a SourceMatch> {
        Some(&self.chains.get(index)?.chain.as_ref()?.source)
    }

    fn report(&self, at: &Path<'_>, cx: &mut Validation<'_>) {
        if self.left.is_none() {
            cx.report(
                &LIMIT_EXCEEDED,
                at,
                format_args!("more than {MAX_TUPLES} combinations of ranges and ports, the others are not compared"),
            );
        }
        for (&later, &earlier) in &self.found {
            if later == earlier {
                cx.report(
                    &DUPLICATE_MATCH,
                    at,
                    format_args!("filter_chains[{later}] matches a connection twice: a range or port is listed again"),
                );
            } else {
                cx.report(
                    &DUPLICATE_MATCH,
                    at,
                    format_args!(
                        "filter_chains[{later}] matches connections that filter_chains[{earlier}] matches as well"
                    ),
                )
                .related(at.index(earlier).to_owned(), "the earlier chain")
                .related(at.index(later).to_owned(), "the later chain");
            }
        }
    }
}

fn report_never(index: usize, field: &'static str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let chain = at.index(index);
    let matches = chain.field("filter_chain_match");
    cx.report(
        &NEVER_MATCHES,
        &matches.field(field),
        format_args!("no connection to a gRPC server matches on {field}, so the chain is never used"),
    );
}

fn report_shadowed(chain: usize, by: usize, at: &Path<'_>, cx: &mut Validation<'_>) {
    cx.report(
        &SHADOWED,
        &at.index(chain),
        format_args!(
            "the chain has no transport_protocol and gives way to filter_chains[{by}], which has `raw_buffer` for the same destination"
        ),
    )
    .related(at.index(by).to_owned(), "the chain that is used instead");
}

/// Reports chains with source_type ANY that are never used because another chain of the destination
/// names a source type.
fn report_unused(build: &Build, chains: &[Converted], at: &Path<'_>, cx: &mut Validation<'_>) {
    let source_type = |index: usize| {
        let chain = chains.get(index).and_then(|c| c.chain.as_ref());
        chain.map_or(SourceType::Any, |c| c.source.source_type)
    };
    let mut unused = BTreeMap::new();
    for slot in build.slots.values() {
        if let Some(&other) = slot.chains.iter().find(|i| source_type(**i) != SourceType::Any) {
            for &chain in slot.chains.iter().filter(|i| source_type(**i) == SourceType::Any) {
                unused.entry(chain).or_insert(other);
            }
        }
    }
    for (chain, other) in unused {
        cx.report(
            &ANY_SOURCE_UNUSED,
            &at.index(chain),
            format_args!(
                "the chain has source_type ANY, which is not looked at beside the source_type of filter_chains[{other}] for the same destination"
            ),
        )
        .related(at.index(other).to_owned(), "the chain with another source_type");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::profile::{Profile, ServerFacts};
    use xdsctl_model::resource::Millis;
    use xdsctl_model::resource::listener::{FilterChain, HttpConnectionManager, RouteSource};

    const PLAIN: ChainReach = ChainReach::Matches { raw_buffer: false };
    const RAW: ChainReach = ChainReach::Matches { raw_buffer: true };
    const RAW_WITH_PROTOCOLS: ChainReach = ChainReach::Never {
        field: "application_protocols",
        takes_over: true,
    };
    const WITH_NAMES: ChainReach = ChainReach::Never {
        field: "server_names",
        takes_over: false,
    };

    fn cidr(text: &str) -> Cidr {
        let (ip, len) = text.split_once('/').unwrap();
        Cidr {
            address: (ip.parse::<std::net::IpAddr>().unwrap(), 0).into(),
            prefix_len: len.parse().unwrap(),
        }
    }

    fn chain(
        reach: ChainReach,
        destinations: &[&str],
        source_type: SourceType,
        sources: &[&str],
        ports: &[u32],
    ) -> Converted {
        Converted {
            chain: Some(FilterChain {
                name: String::new(),
                source: SourceMatch {
                    source_type,
                    prefixes: sources.iter().map(|s| cidr(s)).collect(),
                    ports: ports.to_vec(),
                },
                tls: None,
                http_connection_manager: HttpConnectionManager {
                    routes: RouteSource::Rds(String::new()),
                    http_max_stream_duration: Millis(0),
                    http_filters: Vec::new(),
                },
            }),
            destinations: destinations.iter().map(|d| cidr(d)).collect(),
            reach,
        }
    }

    fn any(reach: ChainReach, destinations: &[&str]) -> Converted {
        chain(reach, destinations, SourceType::Any, &[], &[])
    }

    /// Checks the destinations, as text, and the findings, as rule and path.
    fn check(chains: &[Converted], destinations: &[(&str, &[usize])], findings: &[(&str, &str)]) {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let map = build(chains, true, &Path::ROOT.field("filter_chains"), &mut cx);
        let map: Vec<_> = map
            .iter()
            .map(|d| (d.prefix.map_or_else(String::new, |p| p.to_string()), d.chains.clone()))
            .collect();
        let expected: Vec<_> = destinations
            .iter()
            .map(|(d, c)| ((*d).to_owned(), c.to_vec()))
            .collect();
        assert_eq!(map, expected);
        let found: Vec<_> = cx.finish().iter().map(|d| (d.rule.id, d.path.to_string())).collect();
        let expected: Vec<_> = findings.iter().map(|(r, p)| (*r, (*p).to_owned())).collect();
        assert_eq!(found, expected);
    }

    const DUPLICATE: (&str, &str) = ("lds-filter-chain-duplicate-match", "filter_chains");

    #[test]
    fn more_tuples_than_anybody_has_are_not_compared() {
        let ranges: Vec<String> = (0..10).map(|i| format!("10.0.0.{i}/32")).collect();
        let ranges: Vec<&str> = ranges.iter().map(String::as_str).collect();
        let all = chain(PLAIN, &ranges, SourceType::External, &ranges, &[]);
        let one = |range: &&str| chain(PLAIN, &[range], SourceType::SameIpOrLoopback, &[], &[]);
        let chains: Vec<Converted> = std::iter::once(all).chain(ranges.iter().map(one)).collect();
        // The tuples of each destination: ten sources of the first chain and one of another, then a
        // port of each.
        for (limit, expected) in [(10 * 11 + 11, None), (10 * 11 - 1, Some("dump-limit-exceeded"))] {
            let (profile, server) = (Profile::default(), ServerFacts::default());
            let mut cx = Validation::new(&profile, &server);
            let mut collisions = Collisions::new(&chains, limit);
            for destination in 1..=ranges.len() {
                collisions.find(&[0, destination]);
            }
            collisions.report(&Path::ROOT, &mut cx);
            assert_eq!(cx.finish().first().map(|found| found.rule.id), expected, "{limit}");
        }
    }

    #[test]
    fn chains_with_a_tuple_in_common_collide() {
        let d = &["10.0.0.0/8", "11.0.0.0/8"];
        let a = || chain(PLAIN, d, SourceType::External, &["1.0.0.0/8", "2.0.0.0/8"], &[1, 2]);
        let same = chain(PLAIN, &d[1..], SourceType::External, &["2.0.0.0/8"], &[2]);
        check(
            &[a(), same],
            &[("10.0.0.0/8", &[0]), ("11.0.0.0/8", &[0, 1])],
            &[DUPLICATE],
        );
        for other in [
            chain(PLAIN, &["11.0.0.0/9"], SourceType::External, &["2.0.0.0/8"], &[2]),
            chain(PLAIN, &d[1..], SourceType::SameIpOrLoopback, &["2.0.0.0/8"], &[2]),
            chain(PLAIN, &d[1..], SourceType::External, &["2.0.0.0/9"], &[2]),
            chain(PLAIN, &d[1..], SourceType::External, &["2.0.0.0/8"], &[3]),
            chain(PLAIN, &d[1..], SourceType::External, &["2.0.0.0/8"], &[]),
            chain(PLAIN, &d[1..], SourceType::External, &[], &[2]),
        ] {
            let (profile, server) = (Profile::default(), ServerFacts::default());
            let mut cx = Validation::new(&profile, &server);
            build(&[a(), other], true, &Path::ROOT, &mut cx);
            assert!(cx.is_empty());
        }
    }

    #[test]
    fn a_chain_that_lists_something_twice_collides_with_itself() {
        let any = SourceType::Any;
        let d = "10.0.0.0/8";
        check(&[chain(PLAIN, &[d, d], any, &[], &[])], &[(d, &[0, 0])], &[DUPLICATE]);
        check(&[chain(PLAIN, &[d], any, &[d, d], &[])], &[(d, &[0])], &[DUPLICATE]);
        check(&[chain(PLAIN, &[d], any, &[], &[0, 0])], &[(d, &[0])], &[DUPLICATE]);
    }

    #[test]
    fn raw_buffer_replaces_chains_without_transport_protocol_around_it() {
        let shadowed = |path| ("lds-filter-chain-shadowed", path);
        check(
            &[any(PLAIN, &[]), any(RAW, &[]), any(PLAIN, &[])],
            &[("", &[1])],
            &[shadowed("filter_chains[0]"), shadowed("filter_chains[2]")],
        );
        // Duplicates among the replaced chains are found before they are replaced; later ones are
        // not.
        check(
            &[any(PLAIN, &[]), any(PLAIN, &[]), any(RAW, &[])],
            &[("", &[2])],
            &[shadowed("filter_chains[0]"), shadowed("filter_chains[1]"), DUPLICATE],
        );
        check(
            &[any(RAW, &[]), any(PLAIN, &[]), any(PLAIN, &[])],
            &[("", &[0])],
            &[shadowed("filter_chains[1]"), shadowed("filter_chains[2]")],
        );
        check(&[any(RAW, &[]), any(RAW, &[])], &[("", &[0, 1])], &[DUPLICATE]);
    }

    #[test]
    fn raw_buffer_with_application_protocols_takes_over_and_matches_nothing() {
        check(
            &[any(PLAIN, &[]), any(RAW_WITH_PROTOCOLS, &[])],
            &[("", &[])],
            &[
                (
                    "lds-filter-chain-never-matches",
                    "filter_chains[1].filter_chain_match.application_protocols",
                ),
                ("lds-filter-chain-shadowed", "filter_chains[0]"),
            ],
        );
    }

    #[test]
    fn a_chain_that_never_matches_keeps_its_destinations_unless_it_names_a_port() {
        let found = |field| ("lds-filter-chain-never-matches", field);
        check(
            &[any(WITH_NAMES, &["10.0.0.0/8"]), any(PLAIN, &[])],
            &[("", &[1]), ("10.0.0.0/8", &[])],
            &[found("filter_chains[0].filter_chain_match.server_names")],
        );
        check(
            &[
                any(ChainReach::Forgotten("destination_port"), &["10.0.0.0/8"]),
                any(PLAIN, &[]),
            ],
            &[("", &[1])],
            &[found("filter_chains[0].filter_chain_match.destination_port")],
        );
    }

    #[test]
    fn ranges_of_a_large_product_are_not_multiplied() {
        let text: Vec<String> = (0..2000u32)
            .map(|i| format!("{}/32", std::net::Ipv4Addr::from_bits(i)))
            .collect();
        let ranges: Vec<&str> = text.iter().map(String::as_str).collect();
        let ports: Vec<u32> = (1..2000).collect();
        let others: Vec<u32> = (2000..4000).collect();
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let chains = [
            chain(PLAIN, &ranges, SourceType::Any, &ranges, &ports),
            chain(PLAIN, &ranges, SourceType::Any, &ranges, &others),
        ];
        let map = build(&chains, true, &Path::ROOT, &mut cx);
        assert_eq!(map.len(), 2000);
        assert!(cx.is_empty());
    }
}
