//! The table of whom a server lets in says the same as `admit`, for generated servers, connections
//! and RPCs.

mod holds;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::regions::intersections;
use super::{Ports, Region, RouteOutcome, Table, compare};
use crate::admit::{Question, admit};
use crate::dialect::ServerDialect;
use crate::handshake::{Program, shake};
use crate::policy::Asked;
use crate::serving::Serving;
use crate::{Connection, End, PeerCertificate, Rpc, Transport, chain};
use holds::{Facts, class_of, has, lets_in};
use xdsctl_channel::client::Client;
use xdsctl_model::profile::{self, Profile};
use xdsctl_model::resource::filter::{FilterConfig, FilterOverride, HttpFilter, Rbac};
use xdsctl_model::resource::listener::{
    Cidr, DestinationChains, FilterChain, HttpConnectionManager, RouteSource, SourceMatch, SourceType, TcpListener,
};
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, HeaderView, StringMatch, StringMatcher};
use xdsctl_model::resource::rbac::{AddressRange, RbacAction, RbacAddress, RbacCondition, RbacPolicy, RbacRules};
use xdsctl_model::resource::route::{Action, PathMatcher, Route, VirtualHost};
use xdsctl_model::resource::tls::{CaCerts, CommonTlsContext, DownstreamTlsContext, ProviderInstance};
use xdsctl_model::resource::{Millis, RouteConfiguration};
use xdsctl_re2::Regex;

const METHODS: &[&str] = &["/a.S/M", "/a.S/N", "/a.S2/M", "/b.T/M", "/A.s/m", "/c/d/e", "/"];
const TEXTS: &[&str] = &[
    "/a.S/M", "/a.S/", "/a.S", "/b.T/M", "/", "", "/a", "M", "S2", "/c/d/e", "x",
];
const PATTERNS: &[&str] = &["/a.*", ".*M", "/b.T/M", "a|b", "[0-9]+", ""];
const HEADERS: &[&str] = &[
    "x",
    "y",
    ":path",
    ":authority",
    ":method",
    ":scheme",
    "host",
    "te",
    "content-type",
    "grpc-timeout",
    "x-bin",
];
const VALUES: &[&str] = &["1", "7", "ab", "a", "", "POST", "a.test"];
const ADDRESSES: &[&str] = &[
    "10.0.0.1",
    "10.1.0.1",
    "10.1.2.3",
    "127.0.0.1",
    "127.0.0.9",
    "::1",
    "2001:db8::1",
    "::ffff:10.0.0.1",
];
const RANGES: &[&str] = &[
    "10.0.0.0/8",
    "10.1.0.0/16",
    "10.1.2.3/32",
    "0.0.0.0/0",
    "127.0.0.0/8",
    "::/0",
    "2001:db8::/32",
];
const NAMES: &[&str] = &["a", "spiffe://a", "CN=a", "b.test", ""];
const AUTHORITIES: &[&str] = &["a.test", "b.test", "A.test", "b.a.test", "x"];

/// Numbers that are the same in every run (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).unwrap()).unwrap()
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    fn text(&mut self, list: &[&str]) -> String {
        self.of(list).to_owned()
    }

    fn list<T>(&mut self, most: usize, make: impl Fn(&mut Numbers) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }

    fn some<T>(&mut self, most: usize, make: impl Fn(&mut Numbers) -> T) -> Vec<T> {
        (0..=self.below(most)).map(|_| make(self)).collect()
    }
}

fn string(numbers: &mut Numbers, texts: &[&str]) -> StringMatcher {
    let text = numbers.text(texts);
    let kind = match numbers.below(8) {
        0..=2 => StringMatch::Exact(text),
        3 | 4 => StringMatch::Prefix(text),
        5 => StringMatch::Suffix(text),
        6 => StringMatch::Contains(text),
        _ => StringMatch::Regex(Regex::new(numbers.of(PATTERNS)).unwrap()),
    };
    let ignore_case = !matches!(kind, StringMatch::Regex(_)) && numbers.one_in(5);
    StringMatcher { kind, ignore_case }
}

fn header(numbers: &mut Numbers) -> HeaderMatcher {
    let name = numbers.text(HEADERS);
    let texts = if name == ":path" { TEXTS } else { VALUES };
    HeaderMatcher {
        name,
        kind: match numbers.below(4) {
            0 | 1 => HeaderMatch::String(string(numbers, texts)),
            2 => HeaderMatch::Range { start: 1, end: 5 },
            _ => HeaderMatch::Present(numbers.one_in(2)),
        },
        invert_match: numbers.one_in(3),
        view: numbers.of(&[HeaderView::Completed, HeaderView::AsSent, HeaderView::OfMetadata]),
    }
}

fn cidr(numbers: &mut Numbers) -> Cidr {
    let (address, length) = numbers.of(RANGES).split_once('/').unwrap();
    Cidr::new(SocketAddr::new(address.parse().unwrap(), 0), length.parse().unwrap())
}

fn condition(numbers: &mut Numbers, depth: usize) -> RbacCondition {
    let kinds = if depth == 0 { 11 } else { 14 };
    match numbers.below(kinds) {
        0 => RbacCondition::Any,
        1 => RbacCondition::Header(header(numbers)),
        2 | 3 => RbacCondition::Path(string(numbers, TEXTS)),
        4 => {
            let kinds = [RbacAddress::Destination, RbacAddress::DirectRemote, RbacAddress::Remote];
            let range = (!numbers.one_in(6)).then(|| cidr(numbers));
            let text = String::new();
            RbacCondition::Address(numbers.of(&kinds), AddressRange { text, range })
        }
        5 => RbacCondition::DestinationPort(numbers.of(&[80, 81])),
        6 => RbacCondition::DestinationPortRange {
            start: 80,
            end: numbers.of(&[80, 90]),
        },
        7 => RbacCondition::ServerName(string(numbers, VALUES)),
        8 => RbacCondition::Metadata {
            invert: numbers.one_in(2),
        },
        9 => RbacCondition::Authenticated((!numbers.one_in(3)).then(|| string(numbers, NAMES))),
        10 => RbacCondition::Unsupported("uri_template"),
        11 => RbacCondition::All(numbers.list(3, |numbers| condition(numbers, depth - 1))),
        12 => RbacCondition::OneOf(numbers.list(3, |numbers| condition(numbers, depth - 1))),
        _ => RbacCondition::Not(Box::new(condition(numbers, depth - 1))),
    }
}

fn rbac(numbers: &mut Numbers) -> FilterConfig {
    let policies = numbers.some(3, |numbers| RbacPolicy {
        permissions: numbers.some(4, |numbers| condition(numbers, 3)),
        principals: numbers.some(4, |numbers| condition(numbers, 3)),
    });
    let rules = RbacRules {
        ends_program: numbers.one_in(30),
        action: numbers.of(&[
            RbacAction::Allow,
            RbacAction::Allow,
            RbacAction::Allow,
            RbacAction::Deny,
        ]),
        policies: policies
            .into_iter()
            .enumerate()
            .map(|(index, policy)| (index.to_string(), policy))
            .collect(),
        audit: None,
    };
    FilterConfig::Rbac(Rbac {
        has_shadow_rules: false,
        rules: (!numbers.one_in(8)).then(|| Arc::new(rules)),
        ..Rbac::default()
    })
}

fn overrides(numbers: &mut Numbers) -> BTreeMap<String, FilterOverride> {
    let list = numbers.list(1, |numbers| {
        let disabled = numbers.one_in(4);
        let config = (!numbers.one_in(4)).then(|| rbac(numbers).into());
        (numbers.of(&["0", "1"]).to_owned(), FilterOverride { disabled, config })
    });
    list.into_iter().collect()
}

fn routes(numbers: &mut Numbers) -> RouteConfiguration {
    let hosts = numbers.some(2, |numbers| VirtualHost {
        domains: numbers.some(2, |numbers| numbers.text(&["*", "*", "*", "a.test", "*.test", "b.*"])),
        routes: numbers.some(4, |numbers| Route {
            index: 0,
            name: String::new(),
            path: match numbers.below(6) {
                0..=2 => PathMatcher::Text(StringMatcher {
                    kind: StringMatch::Prefix("/".to_owned()),
                    ignore_case: false,
                }),
                3 => PathMatcher::Regex(Regex::new(numbers.of(PATTERNS)).unwrap()),
                _ => PathMatcher::Text(string(numbers, TEXTS)),
            },
            headers: if numbers.one_in(3) {
                numbers.list(2, header)
            } else {
                Vec::new()
            },
            fraction_per_million: numbers.one_in(5).then(|| numbers.of(&[0, 500_000, 1_000_000])),
            action: if numbers.one_in(6) {
                Action::Unknown
            } else {
                Action::NonForwarding
            },
            typed_per_filter_config: overrides(numbers),
        }),
        typed_per_filter_config: overrides(numbers),
        ..VirtualHost::default()
    });
    RouteConfiguration {
        virtual_hosts: hosts,
        cluster_specifier_plugins: BTreeMap::new(),
    }
}

fn filter_chain(numbers: &mut Numbers) -> FilterChain {
    let tls = numbers.one_in(2).then(|| DownstreamTlsContext {
        common: CommonTlsContext {
            ca_certs: match numbers.one_in(4) {
                true => CaCerts::None,
                false => CaCerts::Provider(ProviderInstance::default()),
            },
            ..CommonTlsContext::default()
        },
        require_client_certificate: numbers.one_in(2),
    });
    let filters = numbers.list(2, |numbers| (numbers.one_in(8), rbac(numbers)));
    let filters = filters
        .into_iter()
        .enumerate()
        .map(|(index, (disabled, config))| HttpFilter {
            index,
            name: index.to_string(),
            disabled,
            config,
        });
    FilterChain {
        name: String::new(),
        source: SourceMatch {
            source_type: numbers.of(&[SourceType::Any, SourceType::SameIpOrLoopback, SourceType::External]),
            prefixes: numbers.list(2, cidr),
            ports: numbers.list(2, |numbers| numbers.of(&[0, 7, 8])),
        },
        tls,
        http_connection_manager: HttpConnectionManager {
            routes: match numbers.one_in(20) {
                true => RouteSource::Rds("missing".to_owned()),
                false => RouteSource::Inline(Arc::new(routes(numbers))),
            },
            http_max_stream_duration: Millis(0),
            http_filters: filters.collect(),
        },
    }
}

fn listener(numbers: &mut Numbers) -> TcpListener {
    let filter_chains = numbers.list(3, filter_chain);
    let count = filter_chains.len();
    let destinations = numbers.list(3, |numbers| DestinationChains {
        prefix: (!numbers.one_in(3)).then(|| cidr(numbers)),
        chains: (0..count).filter(|_| !numbers.one_in(3)).collect(),
    });
    TcpListener {
        uses_all_chains: false,
        address: "0.0.0.0:80".to_owned(),
        filter_chains,
        destinations,
        default_filter_chain: (!numbers.one_in(12)).then(|| filter_chain(numbers)),
    }
}

/// Makes a connection. Seven of eight connections speak what the server wants.
fn connection(numbers: &mut Numbers, listener: &TcpListener, dialect: &ServerDialect) -> Connection {
    let address = |numbers: &mut Numbers| numbers.of(ADDRESSES).parse::<IpAddr>().unwrap();
    let mut connection = Connection {
        from: SocketAddr::new(address(numbers), numbers.of(&[0, 7, 8, 9])),
        to: SocketAddr::new(address(numbers), 80),
        transport: Transport::Plaintext,
    };
    let certificate = PeerCertificate {
        uris: numbers.list(2, |numbers| numbers.text(NAMES)),
        dns_names: numbers.list(1, |numbers| numbers.text(NAMES)),
        subject: numbers.text(NAMES),
        not_after: numbers.one_in(10).then_some(1),
        is_untrusted: numbers.one_in(10),
        ..PeerCertificate::default()
    };
    let chosen = chain::choose(listener, &connection, dialect).chosen;
    let is_tls = chosen.is_some_and(|(_, chain)| chain.tls.is_some());
    if is_tls != numbers.one_in(8) {
        connection.transport = Transport::Tls((!numbers.one_in(6)).then_some(certificate));
    }
    connection
}

fn rpc(numbers: &mut Numbers, connection: &Connection) -> Rpc {
    Rpc {
        method: numbers.text(METHODS),
        authority: numbers.text(AUTHORITIES),
        headers: numbers.list(3, |numbers| {
            let names = ["x", "y", "x-bin", "grpc-timeout", "content-type", "te"];
            (numbers.text(&names), numbers.text(VALUES))
        }),
        is_unimplemented: false,
        is_https: connection.transport != Transport::Plaintext,
    }
}

/// Counts of what the tables have in them, over all servers. If the generator never makes something
/// of a kind, the test proves nothing about it.
#[derive(Debug, Default)]
struct Seen {
    served: usize,
    asked: usize,
    cells: usize,
    exceptions: usize,
    conditional: usize,
}

fn count(table: &Table<'_>, seen: &mut Seen) {
    let hosts = table.chains.iter().flat_map(|chain| &chain.hosts);
    let entries = hosts.flat_map(|host| host.methods.iter().flat_map(|class| &class.entries));
    for entry in entries {
        seen.conditional += usize::from(!entry.only_if.is_true());
        if let RouteOutcome::Rows { rows, except, .. } = &entry.outcome {
            seen.cells += rows.iter().map(|row| row.conditions.len()).sum::<usize>();
            seen.exceptions += except.len();
        }
    }
}

/// Checks 1,200 servers with ten questions each.
#[track_caller]
fn agrees(client: &str, seed: u64) {
    let profile = Profile::of(profile::Client::parse_one(client).unwrap());
    let dialect = ServerDialect::of(&profile).unwrap();
    let client = Client {
        profile,
        ..Client::default()
    };
    let mut numbers = Numbers(seed);
    let mut seen = Seen::default();
    for server in 0..1200 {
        let listener = listener(&mut numbers);
        let table = Table::of(&listener, 80, None, &client, &Program::default(), &dialect).unwrap();
        count(&table, &mut seen);
        let serving = Ok(Serving {
            listener: listener.clone(),
            rejected: None,
        });
        for question in 0..10 {
            let connection = connection(&mut numbers, &listener, &dialect);
            let rpc = rpc(&mut numbers, &connection);
            let drawn = numbers.of(&[0, 700_000]);
            let draw = &mut |_, _| drawn;
            let asked = Question {
                connection: &connection,
                rpc: Some(&rpc),
                program: Program {
                    at: Some(10),
                    ..Program::default()
                },
            };
            let answer = admit(&serving, asked, &dialect, &client, draw);
            if matches!(answer.end, End::Ended(_)) {
                // The table says whom rules let in, and not what a program does not survive.
                seen.asked += 1;
                continue;
            }
            let wanted = answer.end == End::Served;
            let found = lets_in(&table, &listener, asked, draw);
            assert_eq!(
                found, wanted,
                "server {server}, question {question}: {connection:?} {rpc:?}\n{:?}\n{listener:#?}",
                answer.end
            );
            let only = Table::of(&listener, 80, Some(&rpc.method), &client, &Program::default(), &dialect).unwrap();
            assert_eq!(
                lets_in(&only, &listener, asked, draw),
                wanted,
                "server {server}, question {question}, by the method alone"
            );
            seen.served += usize::from(wanted);
            seen.asked += 1;
        }
    }
    assert_eq!(seen.asked, 12_000);
    assert!((2000..8000).contains(&seen.served), "{seen:?}");
    assert!(
        seen.cells > 1500 && seen.exceptions > 400 && seen.conditional > 2500,
        "{seen:?}"
    );
}

#[test]
fn table_and_admit_agree_in_core() {
    agrees("cpp", 1);
}

#[test]
fn table_and_admit_agree_in_go() {
    agrees("go", 2);
}

#[test]
fn table_and_admit_agree_where_conditions_are_passed_over() {
    agrees("go@1.60.0", 3);
}

#[test]
fn table_and_admit_agree_in_java() {
    agrees("java", 4);
}

#[test]
fn table_and_admit_agree_in_node() {
    agrees("node", 5);
}

#[test]
fn table_and_admit_agree_where_the_last_virtual_host_counts() {
    agrees("go@1.66.0", 6);
}

/// Checks that everyone whom the second of two servers lets in, and the first does not, is among
/// those who gain access. Otherwise there would be a way in that is not reported. 1000 pairs with
/// ten questions each.
#[track_caller]
fn gains_are_told(client: &str, seed: u64) {
    let profile = Profile::of(profile::Client::parse_one(client).unwrap());
    let dialect = ServerDialect::of(&profile).unwrap();
    let client = Client {
        profile,
        ..Client::default()
    };
    let program = Program {
        at: Some(10),
        ..Program::default()
    };
    let mut numbers = Numbers(seed);
    let (mut gained, mut unchanged) = (0, 0);
    for pair in 0..1000 {
        let before = listener(&mut numbers);
        let mut after = before.clone();
        match numbers.of(&[0, 1, 2, 3]) {
            0 => {}
            1 => after = listener(&mut numbers),
            2 => after.default_filter_chain = Some(filter_chain(&mut numbers)),
            _ => {
                let chains = after.filter_chains.iter_mut().chain(&mut after.default_filter_chain);
                chains.for_each(|chain| {
                    chain.http_connection_manager = filter_chain(&mut numbers).http_connection_manager;
                });
            }
        }
        let mut names = Table::names(&before, &client);
        names.join(&Table::names(&after, &client));
        let table =
            |listener| Table::with(listener, 80, names.clone(), &client, &Program::default(), &dialect).unwrap();
        let (was, is) = (table(&before), table(&after));
        let changes = compare(Some(&was), Some(&is));
        if before == after {
            assert!(changes.chains.is_empty(), "pair {pair}: {changes:#?}");
            unchanged += 1;
            continue;
        }
        for _ in 0..10 {
            let connection = connection(&mut numbers, &after, &dialect);
            let rpc = rpc(&mut numbers, &connection);
            let drawn = numbers.of(&[0, 700_000]);
            let draw = &mut |_, _| drawn;
            let question = Question {
                connection: &connection,
                rpc: Some(&rpc),
                program,
            };
            if lets_in(&was, &before, question, draw) || !lets_in(&is, &after, question, draw) {
                continue;
            }
            gained += 1;
            let (_, chain) = chain::choose(&after, &connection, &dialect).chosen.unwrap();
            let asked = Asked {
                connection: &connection,
                peer: shake(chain, &connection, &program, &dialect).unwrap(),
                rpc: &rpc,
                dialect: &dialect,
            };
            let facts = Facts::of(asked, draw);
            let chains = changes.chains.iter();
            let own = chains.filter(|chain| chain.connections.iter().any(|one| has(one, &connection, &dialect)));
            let mut methods = own.flat_map(|chain| &chain.hosts).flat_map(|host| &host.methods);
            let is_told = methods.any(|method| {
                class_of(&names, &rpc.method).as_ref() == Some(&method.class)
                    && method.gains.iter().any(|access| facts.row(&access.row))
            });
            assert!(
                is_told,
                "pair {pair}: {connection:?} {rpc:?}\n{changes:#?}\n{before:#?}\n{after:#?}"
            );
        }
    }
    assert!(gained > 300 && unchanged > 100, "{gained} {unchanged}");
}

#[test]
fn whoever_gains_access_is_told_in_core() {
    gains_are_told("cpp", 11);
}

#[test]
fn whoever_gains_access_is_told_in_go() {
    gains_are_told("go", 12);
}

#[test]
fn whoever_gains_access_is_told_in_java() {
    gains_are_told("java", 13);
}

#[test]
fn whoever_gains_access_is_told_in_node() {
    gains_are_told("node", 14);
}

#[test]
fn connections_that_are_left_out_of_a_comparison_are_known() {
    let regions = |count: u16, offset: u16| -> Vec<Region> {
        let region = |port| Region {
            ports: Ports::Except(vec![offset + port]),
            ..Region::any()
        };
        (0..count).map(region).collect()
    };
    let cut = |counts: (u16, u16), mut pairs: usize| {
        let (found, is_cut) = intersections(&regions(counts.0, 0), &regions(counts.1, 1000), &mut pairs);
        (found.len(), is_cut, pairs)
    };
    assert_eq!(cut((400, 250), 1_000_000), (100_000, false, 900_000));
    assert_eq!(cut((401, 250), 1_000_000), (100_000, true, 899_750));
    assert_eq!(cut((10, 10), 99), (99, true, 0));
    assert_eq!(cut((10, 10), 100), (100, false, 0));
}
