//! Which filter chain takes a connection (A36): it is found by destination, source type, source
//! prefix and source port. If none is found, the default chain takes the connection.
//!
//! Each question is asked only of the chains that the one before it left, and an answer is final: a
//! more specific destination wins even if none of its chains takes the connection. Follows C-core
//! `FindFilterChainDataForDestinationIp` (xds_server_config_fetcher.cc). The dialect says how
//! servers differ.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::connection::Connection;
use crate::dialect::{ServerDialect, SourceTypes};
use xdsctl_model::resource::listener::{Cidr, FilterChain, SourceType, TcpListener};

/// One question on the way to a chain, and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainStep {
    /// The chains for this range of destinations are left; `None` is any destination.
    Destination(Option<Cidr>, Vec<usize>),
    /// No chain matches the destination.
    NoDestination(IpAddr),
    /// The chains with this source type are left.
    SourceType(SourceType, Vec<usize>),
    /// The chains for this range of sources are left; `None` is any source.
    Source(Option<Cidr>, Vec<usize>),
    /// No chain matches the source.
    NoSource(IpAddr),
    /// The chain for this source port is left; 0 is any port.
    Port(u16),
    /// No chain matches the source port.
    NoPort(u16),
    /// Several chains are left at the end, which closes the connection.
    Several(Vec<usize>),
}

/// The choice of the chain that takes a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainChoice<'l> {
    /// How the chain was found, or why there is none.
    pub steps: Vec<ChainStep>,
    /// The chain and its index in `filter_chains`; the index is `None` for the default chain.
    /// Without a chain, the connection is closed.
    pub chosen: Option<(Option<usize>, &'l FilterChain)>,
}

/// Chooses the chain of a connection.
pub fn choose<'l>(listener: &'l TcpListener, connection: &Connection, dialect: &ServerDialect) -> ChainChoice<'l> {
    let mut steps = Vec::new();
    let found = find(listener, connection, dialect, &mut steps);
    if let Some(ChainStep::Several(_)) = steps.last() {
        return ChainChoice { steps, chosen: None };
    }
    let named = found.and_then(|index| Some((Some(index), listener.filter_chains.get(index)?)));
    let default = || listener.default_filter_chain.as_ref().map(|chain| (None, chain));
    ChainChoice {
        steps,
        chosen: named.or_else(default),
    }
}

fn find(
    listener: &TcpListener,
    connection: &Connection,
    dialect: &ServerDialect,
    steps: &mut Vec<ChainStep>,
) -> Option<usize> {
    let (from, to) = ((dialect.address)(connection.from), (dialect.address)(connection.to));
    if listener.destinations.is_empty() {
        return None;
    }
    let destinations = listener.destinations.iter().map(|one| (one.prefix, one));
    let Some((prefix, destinations)) = longest(destinations, to, dialect) else {
        steps.push(ChainStep::NoDestination(to));
        return None;
    };
    let indices = destinations.iter().flat_map(|destination| &destination.chains);
    let indices: Vec<usize> = indices.copied().collect();
    let chains = indices.iter();
    let chains: Vec<(usize, &FilterChain)> = chains
        .filter_map(|index| Some((*index, listener.filter_chains.get(*index)?)))
        .collect();
    steps.push(ChainStep::Destination(prefix, indices));
    let of_type = of_source_type(&chains, is_local(from, to, dialect), dialect.source_types, steps);
    let ranges = of_type.iter().flat_map(|(index, chain)| {
        let any = chain.source.prefixes.is_empty().then_some((None, (*index, *chain)));
        let some = chain.source.prefixes.iter();
        any.into_iter()
            .chain(some.map(move |range| (Some(*range), (*index, *chain))))
    });
    let ranges: Vec<_> = ranges.collect();
    let Some((range, of_range)) = longest(ranges.iter().copied(), from, dialect) else {
        steps.push(ChainStep::NoSource(from));
        return None;
    };
    steps.push(ChainStep::Source(
        range,
        of_range.iter().map(|(index, _)| *index).collect(),
    ));
    let of_port = by_port(&of_range, connection.from.port(), dialect.port_zero_is_any, steps);
    match of_port.as_slice() {
        [_, _, ..] if dialect.several_close => {
            steps.push(ChainStep::Several(of_port));
            None
        }
        several => several.first().copied(),
    }
}

/// Returns the chains whose source type counts for the connection.
pub(crate) fn of_source_type<'l>(
    chains: &[(usize, &'l FilterChain)],
    is_local: bool,
    types: SourceTypes,
    steps: &mut Vec<ChainStep>,
) -> Vec<(usize, &'l FilterChain)> {
    let own = match is_local {
        true => SourceType::SameIpOrLoopback,
        false => SourceType::External,
    };
    let has = |wanted| chains.iter().any(|(_, chain)| chain.source.source_type == wanted);
    let is_specific = match types {
        SourceTypes::AnyAlone => has(SourceType::SameIpOrLoopback) || has(SourceType::External),
        SourceTypes::AnyElse | SourceTypes::AnyToo => has(own),
    };
    let wanted = if is_specific { own } else { SourceType::Any };
    let taken = chains.iter().filter(|(_, chain)| {
        let is_too = types == SourceTypes::AnyToo && chain.source.source_type == SourceType::Any;
        is_too || chain.source.source_type == wanted
    });
    let taken: Vec<_> = taken.copied().collect();
    let indices = taken.iter().map(|(index, _)| *index).collect();
    steps.push(ChainStep::SourceType(wanted, indices));
    taken
}

/// Says whether a connection is from the server's own host.
pub(crate) fn is_local(from: IpAddr, to: IpAddr, dialect: &ServerDialect) -> bool {
    let is_loopback = match from {
        IpAddr::V4(from) if !dialect.loopback_is_net => from == Ipv4Addr::LOCALHOST,
        from => from.is_loopback(),
    };
    is_loopback || from == to
}

/// Returns the ranges that the range of a match stands for. Of two such ranges, the longer one is
/// more specific.
pub(crate) fn ranges_of(range: Option<Cidr>, none_is_zero: bool) -> Vec<Option<Cidr>> {
    let zero = |ip: IpAddr| Some(Cidr::new(SocketAddr::new(ip, 0), 0));
    match range {
        None if none_is_zero => vec![zero(Ipv4Addr::UNSPECIFIED.into()), zero(Ipv6Addr::UNSPECIFIED.into())],
        range => vec![range],
    }
}

/// Returns the range with the longest prefix that contains an address, the first of equal ones,
/// with all that is for it.
fn longest<T>(
    ranges: impl Iterator<Item = (Option<Cidr>, T)>,
    address: IpAddr,
    dialect: &ServerDialect,
) -> Option<(Option<Cidr>, Vec<T>)> {
    let rank = |range: Option<Cidr>| match range {
        None if dialect.no_range_is_zero => 0,
        None => -1,
        Some(range) => i32::from(range.prefix_len),
    };
    let mut best: Option<(Option<Cidr>, Vec<T>)> = None;
    for (range, value) in ranges {
        if !range.is_none_or(|range| range.contains(address)) {
            continue;
        }
        match &mut best {
            Some((before, values)) if rank(range) == rank(*before) => values.push(value),
            Some((before, _)) if rank(range) < rank(*before) => {}
            Some(_) | None => best = Some((range, vec![value])),
        }
    }
    best
}

/// Returns the chains for a port, or else those for any port.
fn by_port(chains: &[(usize, &FilterChain)], port: u16, zero_is_any: bool, steps: &mut Vec<ChainStep>) -> Vec<usize> {
    let having = |has: &dyn Fn(&[u32]) -> bool| -> Vec<usize> {
        let of = chains.iter().filter(|(_, chain)| has(&chain.source.ports));
        of.map(|(index, _)| *index).collect()
    };
    // Port 0 means that the port is not known.
    let own = having(&|ports| port != 0 && ports.contains(&u32::from(port)));
    let any = having(&|ports| ports.is_empty() || zero_is_any && ports.contains(&0));
    let (step, found) = match (own.is_empty(), any.is_empty()) {
        (false, _) => (ChainStep::Port(port), own),
        (true, false) => (ChainStep::Port(0), any),
        (true, true) => (ChainStep::NoPort(port), Vec::new()),
    };
    steps.push(step);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Transport;
    use xdsctl_model::resource::Millis;
    use xdsctl_model::resource::listener::{DestinationChains, HttpConnectionManager, RouteSource, SourceMatch};

    fn cidr(text: &str) -> Cidr {
        let (address, length) = text.split_once('/').unwrap();
        let address = std::net::SocketAddr::new(address.parse().unwrap(), 0);
        Cidr::new(address, length.parse().unwrap())
    }

    fn chain(source_type: SourceType, prefixes: &[&str], ports: &[u32]) -> FilterChain {
        FilterChain {
            name: String::new(),
            source: SourceMatch {
                source_type,
                prefixes: prefixes.iter().map(|text| cidr(text)).collect(),
                ports: ports.to_vec(),
            },
            tls: None,
            http_connection_manager: HttpConnectionManager {
                routes: RouteSource::Rds(String::new()),
                http_max_stream_duration: Millis(0),
                http_filters: Vec::new(),
            },
        }
    }

    fn dialect() -> ServerDialect {
        ServerDialect::of(&xdsctl_model::profile::Profile::default()).unwrap()
    }

    #[track_caller]
    fn check(listener: &TcpListener, from: &str, to: &str, wanted: Option<Option<usize>>) {
        check_as(listener, from, to, wanted, &dialect());
    }

    #[track_caller]
    fn check_as(listener: &TcpListener, from: &str, to: &str, wanted: Option<Option<usize>>, dialect: &ServerDialect) {
        let connection = Connection {
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
            transport: Transport::Plaintext,
        };
        let chosen = choose(listener, &connection, dialect);
        assert_eq!(chosen.chosen.map(|(index, _)| index), wanted, "{:?}", chosen.steps);
    }

    fn listener(filter_chains: Vec<FilterChain>, destinations: &[(Option<&str>, &[usize])]) -> TcpListener {
        TcpListener {
            address: String::new(),
            uses_all_chains: false,
            filter_chains,
            destinations: destinations
                .iter()
                .map(|(prefix, chains)| DestinationChains {
                    prefix: prefix.map(cidr),
                    chains: chains.to_vec(),
                })
                .collect(),
            default_filter_chain: None,
        }
    }

    #[test]
    fn the_longest_destination_wins_even_without_a_chain() {
        let any = || chain(SourceType::Any, &[], &[]);
        let mut listener = listener(
            vec![any(), any()],
            &[(None, &[0]), (Some("10.0.0.0/8"), &[1]), (Some("10.1.0.0/16"), &[])],
        );
        check(&listener, "1.1.1.1:1", "11.0.0.1:80", Some(Some(0)));
        check(&listener, "1.1.1.1:1", "10.0.0.1:80", Some(Some(1)));
        check(&listener, "1.1.1.1:1", "[::ffff:10.0.0.1]:80", Some(Some(1)));
        check(&listener, "1.1.1.1:1", "10.1.0.1:80", None);
        listener.default_filter_chain = Some(any());
        check(&listener, "1.1.1.1:1", "10.1.0.1:80", Some(None));
    }

    #[test]
    fn any_source_type_counts_only_alone() {
        let chains = vec![
            chain(SourceType::Any, &[], &[]),
            chain(SourceType::SameIpOrLoopback, &[], &[]),
        ];
        let both = listener(chains.clone(), &[(None, &[0, 1])]);
        check(&both, "127.0.0.1:1", "10.0.0.1:80", Some(Some(1)));
        check(&both, "10.0.0.1:1", "10.0.0.1:80", Some(Some(1)));
        // Not every address of the loopback net counts.
        check(&both, "127.0.0.2:1", "127.0.0.1:80", None);
        check(&both, "10.0.0.2:1", "10.0.0.1:80", None);
        let alone = listener(chains, &[(None, &[0])]);
        check(&alone, "10.0.0.2:1", "10.0.0.1:80", Some(Some(0)));
    }

    #[test]
    fn any_source_type_counts_beside_others_in_other_servers() {
        let chains = vec![
            chain(SourceType::Any, &[], &[]),
            chain(SourceType::SameIpOrLoopback, &[], &[]),
        ];
        let both = listener(chains, &[(None, &[0, 1])]);
        let with = |source_types| ServerDialect {
            source_types,
            several_close: source_types == SourceTypes::AnyToo,
            loopback_is_net: true,
            ..dialect()
        };
        for (types, local) in [(SourceTypes::AnyElse, Some(Some(1))), (SourceTypes::AnyToo, None)] {
            check_as(&both, "127.0.0.2:1", "127.0.0.1:80", local, &with(types));
            check_as(&both, "10.0.0.2:1", "10.0.0.1:80", Some(Some(0)), &with(types));
        }
    }

    #[test]
    fn source_prefix_goes_before_source_port() {
        let any = SourceType::Any;
        let chains = vec![
            chain(any, &[], &[]),
            chain(any, &["10.0.0.0/8"], &[7]),
            chain(any, &[], &[7]),
            chain(any, &["10.0.0.0/8", "11.0.0.0/8"], &[8, 9]),
        ];
        let listener = listener(chains, &[(None, &[0, 1, 2, 3])]);
        check(&listener, "12.0.0.1:5", "1.1.1.1:80", Some(Some(0)));
        check(&listener, "12.0.0.1:7", "1.1.1.1:80", Some(Some(2)));
        check(&listener, "10.0.0.1:7", "1.1.1.1:80", Some(Some(1)));
        check(&listener, "10.0.0.1:9", "1.1.1.1:80", Some(Some(3)));
        check(&listener, "11.0.0.1:9", "1.1.1.1:80", Some(Some(3)));
        check(&listener, "10.0.0.1:5", "1.1.1.1:80", None);
    }
}
