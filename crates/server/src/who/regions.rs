//! The connections that each filter chain takes, as ranges of addresses and ports.
//!
//! This turns round the question that [`chain::choose`](crate::chain::choose) answers for one
//! connection: which connections lead to a chain?

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use super::table::TooLarge;
use crate::chain::{of_source_type, ranges_of};
use crate::dialect::ServerDialect;
use xdsctl_model::resource::listener::{Cidr, FilterChain, TcpListener};

/// The most regions, counted with the ranges and ports that they consist of.
const MAX_REGIONS: usize = 100_000;

/// A range of addresses, without the more specific ones that lead elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressSpan {
    /// The range; `None` is any address.
    pub within: Option<Cidr>,
    /// The ranges in it that do not count.
    pub without: Vec<Cidr>,
}

impl AddressSpan {
    /// Says whether it has every address.
    pub fn is_any(&self) -> bool {
        *self == AddressSpan::default()
    }

    /// Says whether it may have an address of a range.
    pub(super) fn meets(&self, range: &Cidr) -> bool {
        self.within
            .is_none_or(|within| within.covers(*range) || range.covers(within))
            && !self.without.iter().any(|out| out.covers(*range))
    }
}

/// A set of source ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ports {
    /// These ports.
    Of(Vec<u16>),
    /// All ports but these.
    Except(Vec<u16>),
}

impl Ports {
    /// Every port.
    pub const ANY: Ports = Ports::Except(Vec::new());

    pub(super) fn contains(&self, port: u16) -> bool {
        match self {
            Ports::Of(ports) => ports.binary_search(&port).is_ok(),
            Ports::Except(ports) => ports.binary_search(&port).is_err(),
        }
    }
}

/// A set of connections that lead to the same chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The server's own address.
    pub to: AddressSpan,
    /// Whether the client is on the server's own host; `None` if that does not matter.
    pub is_local: Option<bool>,
    /// The client's address.
    pub from: AddressSpan,
    /// The client's port.
    pub ports: Ports,
}

impl Region {
    /// Returns the region of all connections.
    pub(super) fn any() -> Region {
        Region {
            to: AddressSpan::default(),
            is_local: None,
            from: AddressSpan::default(),
            ports: Ports::ANY,
        }
    }

    /// Says whether it has every connection.
    pub fn is_any(&self) -> bool {
        *self == Region::any()
    }
}

impl AddressSpan {
    fn both(&self, other: &AddressSpan) -> Option<AddressSpan> {
        let within = match (self.within, other.within) {
            (None, within) | (within, None) => within,
            (Some(one), Some(two)) if two.covers(one) => Some(one),
            (Some(one), Some(two)) if one.covers(two) => Some(two),
            (Some(_), Some(_)) => return None,
        };
        let mut without: Vec<Cidr> = Vec::new();
        for out in self.without.iter().chain(&other.without) {
            if within.is_some_and(|within| out.covers(within)) {
                return None;
            }
            let counts = within.is_none_or(|within| within.covers(*out));
            if counts && !without.contains(out) {
                without.push(*out);
            }
        }
        Some(AddressSpan { within, without })
    }
}

impl Ports {
    fn both(&self, other: &Ports) -> Option<Ports> {
        let both = match (self, other) {
            (Ports::Except(one), Ports::Except(two)) => {
                let all: BTreeSet<u16> = one.iter().chain(two).copied().collect();
                Ports::Except(all.into_iter().collect())
            }
            (Ports::Of(some), ports) | (ports, Ports::Of(some)) => {
                Ports::Of(some.iter().copied().filter(|port| ports.contains(*port)).collect())
            }
        };
        (both != Ports::Of(Vec::new())).then_some(both)
    }
}

/// Returns the connections that are in regions of both lists, and whether there may be more of
/// them. The pairs of regions that are looked at are taken from `left`.
pub(super) fn intersections(one: &[Region], other: &[Region], left: &mut usize) -> (Vec<Region>, bool) {
    if one == other {
        return (one.to_vec(), false);
    }
    let most = *left;
    let count = one.len().saturating_mul(other.len());
    *left = most.saturating_sub(count);
    let pairs = one.iter().flat_map(|one| other.iter().map(move |other| (one, other)));
    let mut both = pairs.take(most).filter_map(|(one, other)| {
        let is_local = match (one.is_local, other.is_local) {
            (Some(one), Some(other)) if one != other => return None,
            (one, other) => one.or(other),
        };
        Some(Region {
            to: one.to.both(&other.to)?,
            is_local,
            from: one.from.both(&other.from)?,
            ports: one.ports.both(&other.ports)?,
        })
    });
    let found: Vec<Region> = both.by_ref().take(MAX_REGIONS).collect();
    let is_cut = count > most || both.next().is_some();
    (found, is_cut)
}

/// Where a connection goes: to a chain by its index, to the default chain, or nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RegionTarget {
    Chain(usize),
    Default,
    /// The connection is closed.
    Closed,
}

/// Returns the regions of each target. Each connection is in exactly one of them.
pub(super) fn regions(
    listener: &TcpListener,
    dialect: &ServerDialect,
) -> Result<BTreeMap<RegionTarget, Vec<Region>>, TooLarge> {
    let default = match listener.default_filter_chain {
        Some(_) => RegionTarget::Default,
        None => RegionTarget::Closed,
    };
    let mut found = Found {
        default,
        regions: BTreeMap::new(),
        count: 0,
        dialect,
    };
    if listener.destinations.is_empty() {
        found.add(default, Region::any())?;
        return Ok(found.regions);
    }
    let mut by_range: BTreeMap<Option<Cidr>, Vec<usize>> = BTreeMap::new();
    for destination in &listener.destinations {
        for range in ranges_of(destination.prefix, dialect.no_range_is_zero) {
            by_range.entry(range).or_default().extend(&destination.chains);
        }
    }
    for (to, indices) in spans(by_range) {
        let chains = indices.into_iter();
        let chains: Vec<(usize, &FilterChain)> = chains
            .filter_map(|index| Some((index, listener.filter_chains.get(index)?)))
            .collect();
        let of = |is_local| of_source_type(&chains, is_local, dialect.source_types, &mut Vec::new());
        let (local, external) = (of(true), of(false));
        let is_same = local
            .iter()
            .map(|(index, _)| index)
            .eq(external.iter().map(|(index, _)| index));
        if is_same {
            found.sources(&local, &to, None)?;
        } else {
            found.sources(&local, &to, Some(true))?;
            found.sources(&external, &to, Some(false))?;
        }
    }
    Ok(found.regions)
}

struct Found<'d> {
    default: RegionTarget,
    regions: BTreeMap<RegionTarget, Vec<Region>>,
    count: usize,
    dialect: &'d ServerDialect,
}

impl Found<'_> {
    fn add(&mut self, way: RegionTarget, region: Region) -> Result<(), TooLarge> {
        let (Ports::Of(ports) | Ports::Except(ports)) = &region.ports;
        self.count += 1 + region.to.without.len() + region.from.without.len() + ports.len();
        if self.count > MAX_REGIONS {
            return Err(TooLarge);
        }
        self.regions.entry(way).or_default().push(region);
        Ok(())
    }

    fn sources(
        &mut self,
        chains: &[(usize, &FilterChain)],
        to: &AddressSpan,
        is_local: Option<bool>,
    ) -> Result<(), TooLarge> {
        let mut by_range: BTreeMap<Option<Cidr>, Vec<(usize, &FilterChain)>> = BTreeMap::new();
        for (index, chain) in chains {
            let any = chain.source.prefixes.is_empty().then_some(None);
            let ranges = any.into_iter().chain(chain.source.prefixes.iter().copied().map(Some));
            for range in ranges.flat_map(|range| ranges_of(range, self.dialect.no_range_is_zero)) {
                by_range.entry(range).or_default().push((*index, chain));
            }
        }
        for (from, chains) in spans(by_range) {
            for (way, ports) in self.ports(&chains) {
                let region = Region {
                    to: to.clone(),
                    is_local,
                    from: from.clone(),
                    ports,
                };
                self.add(way, region)?;
            }
        }
        Ok(())
    }

    /// Returns where the source ports lead.
    fn ports(&self, chains: &[(usize, &FilterChain)]) -> Vec<(RegionTarget, Ports)> {
        let mut by_port: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        for (index, chain) in chains {
            let own = chain.source.ports.iter().filter_map(|port| u16::try_from(*port).ok());
            let own = own.filter(|port| *port != 0 || self.dialect.port_zero_is_any);
            // Port 0 stands for any port; no connection has it.
            let any = chain.source.ports.is_empty().then_some(0);
            for port in own.chain(any).collect::<BTreeSet<u16>>() {
                by_port.entry(port).or_default().push(*index);
            }
        }
        let way = |indices: &[usize]| match indices {
            [] => self.default,
            [_, _, ..] if self.dialect.several_close => RegionTarget::Closed,
            [first, ..] => RegionTarget::Chain(*first),
        };
        let any = by_port.remove(&0);
        let mut by_way: BTreeMap<RegionTarget, Vec<u16>> = BTreeMap::new();
        for (port, indices) in &by_port {
            by_way.entry(way(indices)).or_default().push(*port);
        }
        let others = way(any.as_deref().unwrap_or_default());
        by_way.remove(&others);
        let mut named: Vec<u16> = by_way.values().flatten().copied().collect();
        named.sort_unstable();
        let of = by_way.into_iter().map(|(way, ports)| (way, Ports::Of(ports)));
        of.chain([(others, Ports::Except(named))]).collect()
    }
}

/// Returns for each of these ranges the addresses for which it is the longest, with what is in it.
/// The first entry has all other addresses, with what is in the range of any address. Of equal
/// ranges the first counts.
fn spans<T>(by_range: BTreeMap<Option<Cidr>, Vec<T>>) -> Vec<(AddressSpan, Vec<T>)> {
    let key = |range: &Cidr| (range.address.is_ipv6(), range.address.ip(), range.prefix_len);
    let mut any = Vec::new();
    let mut distinct: BTreeMap<(bool, IpAddr, u8), (Cidr, Vec<T>)> = BTreeMap::new();
    for (range, inside) in by_range {
        match range {
            None => any = inside,
            Some(range) => {
                distinct.entry(key(&range)).or_insert((range, inside));
            }
        }
    }
    // In this order, each range comes after all ranges that contain it.
    let mut spans = vec![(AddressSpan::default(), any)];
    let mut open: Vec<usize> = Vec::new();
    for (range, inside) in distinct.into_values() {
        while let Some((
            AddressSpan {
                within: Some(outer), ..
            },
            _,
        )) = open.last().and_then(|last| spans.get(*last))
        {
            if outer.covers(range) {
                break;
            }
            open.pop();
        }
        let outer = open.last().copied().unwrap_or(0);
        if let Some((outer, _)) = spans.get_mut(outer) {
            // Zone and port do not count here.
            outer.without.push(Cidr::new(
                SocketAddr::new(range.address.ip(), 0),
                u32::from(range.prefix_len),
            ));
        }
        open.push(spans.len());
        let span = AddressSpan {
            within: Some(range),
            without: Vec::new(),
        };
        spans.push((span, inside));
    }
    // Every address is either in IPv4 or in IPv6, so nothing else is left.
    let is_whole = |is_ipv6| {
        let outer = spans.first().into_iter().flat_map(|(span, _)| &span.without);
        outer
            .into_iter()
            .any(|out| out.prefix_len == 0 && out.address.is_ipv6() == is_ipv6)
    };
    if is_whole(false) && is_whole(true) {
        spans.remove(0);
    }
    spans
}
