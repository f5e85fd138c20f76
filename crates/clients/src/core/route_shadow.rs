//! Domains and routes that never get an RPC, because an earlier one takes all of them.
//!
//! Both are legal, and the client says nothing (A28). A domain counts once, without regard to ASCII
//! case; the first virtual host that has it wins. A route is lost if one earlier route of its
//! virtual host matches every RPC that it matches: the earlier route has a path matcher that covers
//! the later one's, no header matcher that the later one lacks, and no fraction. A route that only
//! several earlier ones cover together is not found, so that each finding is certain. There is one
//! pass over the routes: an index of hashes finds the one candidate, and [`covers`] then decides.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use foldhash::{HashMap, HashMapExt, HashSet};

use xdsctl_model::diag::{Path, Reported, Validation, rules};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::matcher::StringMatch;
use xdsctl_model::resource::route::{Destination, PathMatcher, Route, VirtualHost};

rules! {
    /// A domain comes a second time, and the first virtual host that has it wins.
    DOMAIN_TAKEN = "rds-domain-taken", RouteConfiguration, Advice, "gRFC A28; C-core XdsRouting::FindVirtualHostForDomain",
        every "the first of the same domains wins; not those of Go and Node that differ in case, which are two, nor those of Java that begin with `*`: the last of them wins";
    /// A route is never reached, because an earlier one matches all that it matches.
    ROUTE_UNREACHABLE = "rds-route-unreachable", RouteConfiguration, Advice, "gRFC A28; C-core XdsRouting::GetRouteForRequest",
        every "in every client the first route that matches wins; not those of Java below a route for some paths, which it may compare without regard to case";
}

/// Reports domains that an earlier virtual host has; `at` is the path of `virtual_hosts`.
pub fn report_domains(hosts: &[VirtualHost], at: &Path<'_>, cx: &mut Validation<'_>) {
    let count: usize = hosts.iter().map(|host| host.domains.len()).sum();
    if count < 2 {
        return;
    }
    // The first of the domains that are equal without regard to ASCII case, and its place.
    let mut first = HashMap::with_capacity(count);
    for host in hosts {
        for (index, domain) in host.domains.iter().enumerate() {
            match first.entry(domain.to_ascii_lowercase()) {
                Entry::Vacant(entry) => {
                    entry.insert((domain, (host.index, index)));
                }
                Entry::Occupied(entry) => {
                    let (first, place) = *entry.get();
                    let families = who_takes(domain, first, host.index == place.0);
                    report_domain(domain, (host.index, index), place, at, cx).shared_with(families);
                }
            }
        }
    }
}

/// Returns the families that take two domains for the same one, and let the first of them win
/// unless both are of one virtual host. The domains are equal without regard to ASCII case.
fn who_takes(domain: &str, first: &str, is_one_host: bool) -> &'static [Family] {
    // Go FindBestMatchingVirtualHost and Node domainMatch compare bytes. Java
    // findVirtualHostForHostName folds them, and lets a later suffix win over one of its length.
    match (domain == first, is_one_host || !domain.starts_with('*')) {
        (true, true) => &Family::ALL,
        (true, false) => &[Family::Cpp, Family::Go, Family::Node],
        (false, true) => &[Family::Cpp, Family::Java],
        (false, false) => &[Family::Cpp],
    }
}

/// Reports the domain at `here`, which an earlier virtual host or the same one has at `first`. Both
/// are indices of a virtual host and of a domain there.
fn report_domain<'c>(
    domain: &str,
    here: (usize, usize),
    first: (usize, usize),
    at: &Path<'_>,
    cx: &'c mut Validation<'_>,
) -> Reported<'c> {
    let (host, first_host) = (at.index(here.0), at.index(first.0));
    let (domains, first_domains) = (host.field("domains"), first_host.field("domains"));
    let at = domains.index(here.1);
    let what = match here.0 == first.0 {
        true => "comes twice in this virtual host",
        false => "is one of an earlier virtual host, which gets its RPCs",
    };
    cx.report(&DOMAIN_TAKEN, &at, format_args!("domain `{domain}` {what}"))
        .related(first_domains.index(first.1).to_owned(), "first used here")
}

/// Reports routes of a virtual host that are never reached; `at` is the path of its `routes`.
pub fn report_routes(routes: &[Route], at: &Path<'_>, cx: &mut Validation<'_>) {
    if routes.len() < 2 {
        return;
    }
    let mut index = RouteIndex::default();
    for (position, route) in routes.iter().enumerate() {
        let shape = RouteShape::of(route);
        if let Some(earlier) = index
            .candidates(&shape)
            .filter_map(|i| routes.get(i))
            .find(|r| covers(r, route))
        {
            report_route(route, earlier, ("", " that this one matches"), at, cx);
            continue;
        }
        if !is_always(route) {
            continue;
        }
        if shape.takes_all() {
            if let Some((next, rest)) = routes.get(position + 1..).and_then(<[Route]>::split_first) {
                let like = match rest.len() {
                    0 => String::new(),
                    1 => ", like the route after it".to_owned(),
                    more => format!(", like the {more} routes after it"),
                };
                report_route(next, route, (&like, ""), at, cx);
            }
            return;
        }
        index.add(&shape, position);
    }
}

/// Reports a route, and others `like` it, of which `earlier` takes the RPCs, or those in `which`.
fn report_route(route: &Route, earlier: &Route, (like, which): (&str, &str), at: &Path<'_>, cx: &mut Validation<'_>) {
    let (here, before) = (at.index(route.index), at.index(earlier.index));
    let taker = earlier.label();
    let why = format_args!("never reached{like}: {taker} matches every RPC{which}");
    cx.report(&ROUTE_UNREACHABLE, &here.field("match"), why)
        .related(before.field("match").to_owned(), "the earlier route")
        .shared_with(who_keeps(earlier));
}

/// Returns the families that keep the route `earlier`, and in which it matches the same RPCs as in
/// C-core.
fn who_keeps(earlier: &Route) -> &'static [Family] {
    match earlier.destination() {
        // grpc-go may have no such plugin, and drops the route then.
        Some(Destination::Plugin(_)) | None => &[],
        // An unset case_sensitive is false in grpc-java.
        _ if RoutePaths::of(&earlier.path) != ALL => &[Family::Cpp, Family::Go, Family::Node],
        Some(Destination::Cluster(_) | Destination::WeightedClusters(_)) => &Family::ALL,
    }
}

/// Says whether the route takes every RPC that matches its path and headers.
fn is_always(route: &Route) -> bool {
    route.fraction_per_million.is_none_or(|share| share >= 1_000_000)
}

/// The path part of a route, in a form that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RoutePaths<'a> {
    kind: PathKind,
    text: &'a str,
    /// The case of ASCII letters does not count.
    fold: bool,
}

/// What the text of a path matcher says of the paths of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum PathKind {
    /// They begin with it.
    Prefix,
    /// They are equal to it.
    Exact,
    /// The pattern matches them as a whole.
    Regex,
}

/// Every path of a gRPC request.
const ALL: RoutePaths<'static> = RoutePaths {
    kind: PathKind::Prefix,
    text: "",
    fold: false,
};

/// Patterns that match every `/service/method`.
const ALL_PATTERNS: [&str; 8] = [".*", ".+", "/.*", "/.+", "/.*/.*", "/.+/.+", "^.*$", "^/.*$"];

impl<'a> RoutePaths<'a> {
    fn of(matcher: &'a PathMatcher) -> RoutePaths<'a> {
        let (kind, text, fold) = match matcher {
            PathMatcher::Regex(regex) => (PathKind::Regex, regex.as_str(), false),
            PathMatcher::Text(text) => match &text.kind {
                StringMatch::Prefix(prefix) => (PathKind::Prefix, prefix.as_str(), text.ignore_case),
                StringMatch::Exact(path) => (PathKind::Exact, path.as_str(), text.ignore_case),
                // Routes have no matchers of these kinds, so any answer will do.
                StringMatch::Suffix(text) | StringMatch::Contains(text) => (PathKind::Regex, text.as_str(), false),
                StringMatch::Regex(regex) => (PathKind::Regex, regex.as_str(), false),
            },
        };
        let is_all = match kind {
            // A gRPC path begins with a slash.
            PathKind::Prefix => matches!(text, "" | "/"),
            PathKind::Exact => false,
            PathKind::Regex => ALL_PATTERNS.contains(&text),
        };
        if is_all { ALL } else { RoutePaths { kind, text, fold } }
    }

    /// Says whether every path of `other` is one of these paths.
    fn cover(self, other: RoutePaths<'_>) -> bool {
        if self == ALL {
            return true;
        }
        let begins = (self.fold || !other.fold) && begins_with(other.text, self.text, self.fold);
        match (self.kind, other.kind) {
            (PathKind::Prefix, PathKind::Prefix | PathKind::Exact) => begins,
            (PathKind::Exact, PathKind::Exact) => begins && self.text.len() == other.text.len(),
            (PathKind::Regex, PathKind::Regex) => self.text == other.text,
            (PathKind::Prefix | PathKind::Exact | PathKind::Regex, _) => false,
        }
    }
}

/// Says whether a text begins with a prefix; with `fold`, the case of ASCII letters does not count.
pub fn begins_with(text: &str, prefix: &str, fold: bool) -> bool {
    match text.as_bytes().get(..prefix.len()) {
        Some(start) if fold => start.eq_ignore_ascii_case(prefix.as_bytes()),
        Some(start) => start == prefix.as_bytes(),
        None => false,
    }
}

/// Lists with more header matchers than this are only compared in their order.
const MAX_HEADERS: usize = 32;

/// Says whether `earlier` takes every RPC that `route` matches; `false` if that is not certain.
/// Both routes must have paths that a kept route can have.
pub fn covers(earlier: &Route, route: &Route) -> bool {
    is_always(earlier)
        && RoutePaths::of(&earlier.path).cover(RoutePaths::of(&route.path))
        && (earlier.headers == route.headers
            || (route.headers.len() <= MAX_HEADERS && earlier.headers.iter().all(|h| route.headers.contains(h))))
}

/// What the index needs to know of a route.
struct RouteShape<'a> {
    paths: RoutePaths<'a>,
    /// The hash of the set of header matchers; 0 for none.
    headers: u64,
}

impl<'a> RouteShape<'a> {
    fn of(route: &'a Route) -> RouteShape<'a> {
        let headers = route
            .headers
            .iter()
            .map(|header| FixedState::default().hash_one(header));
        RouteShape {
            paths: RoutePaths::of(&route.path),
            // A sum, so that the order does not count; 0 is the empty set.
            headers: headers.fold(0, |sum: u64, hash| sum.wrapping_add(hash.max(1))),
        }
    }

    /// Says whether the route matches the path and the headers of every RPC.
    fn takes_all(&self) -> bool {
        self.paths == ALL && self.headers == 0
    }
}

/// The earlier routes by path and headers; of equal ones, the first.
#[derive(Default)]
struct RouteIndex {
    /// The routes by the hash of kind, headers and text.
    routes: HashMap<u64, usize>,
    /// The hashes of the routes' headers. Most routes have headers that no earlier route has.
    headers: HashSet<u64>,
    /// The lengths of the prefixes: those of case-sensitive prefixes, then of the others.
    lengths: [BTreeSet<usize>; 2],
}

impl RouteIndex {
    fn add(&mut self, shape: &RouteShape<'_>, position: usize) {
        let RoutePaths { kind, text, fold } = shape.paths;
        if kind == PathKind::Prefix {
            self.lengths[usize::from(fold)].insert(text.len());
        }
        self.headers.insert(shape.headers);
        let hash = feed(begin(kind, fold, shape.headers), text.as_bytes(), fold);
        self.routes.entry(hash).or_insert(position);
    }

    /// Returns the positions of earlier routes that may cover `shape`, those without headers first.
    fn candidates<'i>(&'i self, shape: &'i RouteShape<'_>) -> impl Iterator<Item = usize> + 'i {
        let own = (shape.headers != 0).then_some(shape.headers);
        [Some(0), own]
            .into_iter()
            .flatten()
            .filter(|headers| self.headers.contains(headers))
            .filter_map(|headers| self.candidate(shape.paths, headers))
    }

    fn candidate(&self, RoutePaths { kind, text, fold }: RoutePaths<'_>, headers: u64) -> Option<usize> {
        // A pattern is covered only by a prefix of all paths, or by the same pattern. An entry
        // without regard to case may cover paths of both kinds, so it is looked up for both.
        let sensitive = if fold || kind == PathKind::Regex { "" } else { text };
        let found = self.prefix(false, headers, sensitive);
        let folded = || self.prefix(true, headers, text);
        let whole = |fold| self.whole(kind, fold, headers, text);
        match kind {
            PathKind::Prefix => found.or_else(folded),
            PathKind::Exact if fold => found.or_else(folded).or_else(|| whole(true)),
            PathKind::Exact => found.or_else(folded).or_else(|| whole(false)).or_else(|| whole(true)),
            PathKind::Regex => found.or_else(|| whole(false)),
        }
    }

    /// Finds an entry whose prefix `text` begins with.
    fn prefix(&self, fold: bool, headers: u64, text: &str) -> Option<usize> {
        let mut hash = begin(PathKind::Prefix, fold, headers);
        let mut done = 0;
        for &length in &self.lengths[usize::from(fold)] {
            hash = feed(hash, text.as_bytes().get(done..length)?, fold);
            done = length;
            if let Some(&found) = self.routes.get(&hash) {
                return Some(found);
            }
        }
        None
    }

    /// Finds an entry for the whole of `text`.
    fn whole(&self, kind: PathKind, fold: bool, headers: u64, text: &str) -> Option<usize> {
        let hash = feed(begin(kind, fold, headers), text.as_bytes(), fold);
        self.routes.get(&hash).copied()
    }
}

/// Returns a hash to which a text is added in pieces, so that all prefixes of a text cost one walk.
fn begin(kind: PathKind, fold: bool, headers: u64) -> u64 {
    FixedState::default().hash_one((kind, fold, headers))
}

/// Adds a piece of the text to a hash (FNV-1a).
fn feed(hash: u64, piece: &[u8], fold: bool) -> u64 {
    piece.iter().fold(hash, |hash, byte| {
        let byte = if fold { byte.to_ascii_lowercase() } else { *byte };
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::profile::{Profile, ServerFacts};
    use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, HeaderView, StringMatcher};
    use xdsctl_model::resource::route::Action;
    use xdsctl_re2::Regex;

    /// A route from `(path, headers, per million)`: `=/a/b` is exact, `~x` a regex, anything else a
    /// prefix; an `i` in front ignores case.
    fn route(index: usize, (path, headers, share): (&str, &str, Option<u32>)) -> Route {
        let (path, ignore_case) = path.strip_prefix('i').map_or((path, false), |rest| (rest, true));
        let text = |kind| PathMatcher::Text(StringMatcher { kind, ignore_case });
        let path = match path.as_bytes().first() {
            Some(b'=') => text(StringMatch::Exact(path[1..].to_owned())),
            Some(b'~') => PathMatcher::Regex(Regex::new(&path[1..]).unwrap()),
            _ => text(StringMatch::Prefix(path.to_owned())),
        };
        let headers = headers
            .chars()
            .map(|name| HeaderMatcher {
                name: name.to_string(),
                kind: HeaderMatch::Present(true),
                invert_match: false,
                view: HeaderView::Completed,
            })
            .collect();
        Route {
            index,
            name: String::new(),
            path,
            headers,
            fraction_per_million: share,
            action: Action::Unknown,
            typed_per_filter_config: std::collections::BTreeMap::new(),
        }
    }

    /// Returns the routes that are found, as `later<earlier`.
    fn unreachable(routes: &[(&str, &str, Option<u32>)]) -> Vec<String> {
        let routes: Vec<Route> = routes.iter().enumerate().map(|(i, r)| route(i, *r)).collect();
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        report_routes(&routes, &Path::ROOT.field("r"), &mut cx);
        cx.finish()
            .iter()
            .map(|d| format!("{}<{}", d.path, d.related[0].path).replace(".match", ""))
            .collect()
    }

    #[test]
    fn an_earlier_path_takes_in_a_later_one() {
        for (earlier, later, expected) in [
            ("/a/", "=/a/b", true),
            ("/a/", "/a/b", true),
            ("/a", "/a", true),
            ("/a/b", "/a/", false),
            ("/a/", "=/A/b", false),
            ("i/a/", "=/A/b", true),
            ("i/a/", "i/A/b", true),
            ("/a/", "i/a/", false),
            ("=/a/b", "=/a/b", true),
            ("=/a/b", "i=/a/b", false),
            ("i=/a/b", "=/A/B", true),
            ("i=/a/b", "i=/A/B", true),
            ("=/a/b", "/a/b", false),
            ("~/a/.", "~/a/.", true),
            ("~/a/.", "=/a/b", false),
            ("/a/", "~/a/.*", false),
            ("", "~x", true),
            ("/", "", true),
            ("i/", "/a", true),
            ("~.*", "i=/a/b", true),
            ("i/é", "/É", false),
        ] {
            let found = unreachable(&[(earlier, "", None), (later, "", None)]);
            assert_eq!(!found.is_empty(), expected, "{earlier} before {later}");
        }
    }

    #[test]
    fn headers_and_fractions_let_rpcs_through() {
        for (earlier, later, expected) in [
            (("/a", "", Some(999_999)), ("/a", "", None), false),
            (("/a", "", Some(1_000_000)), ("/a", "", Some(5)), true),
            (("/a", "x", None), ("/a", "", None), false),
            (("/a", "", None), ("/a", "x", None), true),
            (("/a", "xy", None), ("/ab", "yx", None), true),
            (("/a", "x", None), ("/a", "y", None), false),
            (("", "x", None), ("=/a/b", "x", None), true),
            (("", "x", None), ("~y", "x", None), true),
            (("", "x", None), ("", "", None), false),
        ] {
            assert_eq!(
                !unreachable(&[earlier, later]).is_empty(),
                expected,
                "{earlier:?} {later:?}"
            );
        }
    }

    #[test]
    fn routes_after_one_for_all_are_one_finding() {
        let found = unreachable(&[
            ("/a", "", None),
            ("/ab", "", None),
            ("/", "", None),
            ("/c", "", None),
            ("/c", "", None),
        ]);
        assert_eq!(found, ["r[1]<r[0]", "r[3]<r[2]"]);
    }

    #[test]
    fn ordinary_lists_are_left_alone() {
        let canary: &[_] = &[
            ("/a/", "x", None),
            ("/a/", "y", None),
            ("/a/", "", Some(100_000)),
            ("/a/", "", Some(100_000)),
            ("/a/", "", None),
            ("=/b/c", "", None),
            ("/b/", "", None),
            ("", "z", None),
            ("", "", None),
        ];
        assert!(unreachable(canary).is_empty());
    }

    /// The index finds what a comparison of every pair finds, except where the earlier route
    /// has header matchers and they are not the same.
    #[test]
    fn the_index_misses_nothing_that_pairs_show() {
        let paths = [
            "", "/", "/a", "/A", "i/a", "/a/b", "=/a/b", "=/A/b", "i=/a/b", "~/a/b", "~.+", "/b",
        ];
        let headers = ["", "x", "y"];
        let mut state = 1_u32;
        let mut next = |n: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % n
        };
        for _ in 0..2_000 {
            let list: Vec<(&str, &str, Option<u32>)> = (0..4)
                .map(|_| (paths[next(12)], headers[next(3)], [None, Some(7)][next(2)]))
                .collect();
            let routes: Vec<Route> = list.iter().enumerate().map(|(i, r)| route(i, *r)).collect();
            let mut expected = Vec::new();
            for (i, later) in routes.iter().enumerate() {
                if routes[..i].iter().any(|r| covers(r, later)) {
                    expected.push(i);
                }
                if is_always(later) && RouteShape::of(later).takes_all() {
                    expected.extend((i + 1 < routes.len()).then_some(i + 1));
                    break;
                }
            }
            let found: Vec<usize> = unreachable(&list)
                .iter()
                .map(|text| text[2..3].parse().unwrap())
                .collect();
            assert_eq!(found, expected, "{list:?}");
        }
    }

    /// Compares what one matcher is said to cover with the matching of paths itself.
    #[test]
    fn a_path_that_is_covered_is_matched() {
        use xdsctl_channel::rpc::matching::path_matches;
        let matchers = [
            "", "/", "/a", "/A", "i/a", "i/A/", "/a/b", "=/a/b", "=/A/b", "i=/a/b", "i=/A/B", "~/a/b", "~.+", "~/a/.*",
            "~.*", "~/.*/.*", "~/.+/.+", "/é", "i/É", "/k", "i/K",
        ];
        let paths = [
            "/a/b",
            "/A/b",
            "/A/B",
            "/a/bc",
            "/ab/c",
            "/b/a",
            "/é/x",
            "/É/x",
            "/k/x",
            "/\u{212a}/x",
            "/a/b/c",
        ];
        for earlier in matchers {
            for later in matchers {
                let (a, b) = (route(0, (earlier, "", None)), route(1, (later, "", None)));
                let is_covered = RoutePaths::of(&a.path).cover(RoutePaths::of(&b.path));
                for path in paths {
                    assert!(
                        !(is_covered && path_matches(&b.path, path)) || path_matches(&a.path, path),
                        "{earlier} covers {later}, but not {path}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_domain_counts_once_in_any_case() {
        let host = |index, domains: &[&str]| VirtualHost {
            index,
            domains: domains.iter().map(ToString::to_string).collect(),
            ..VirtualHost::default()
        };
        let hosts = [
            host(0, &["a.b", "*"]),
            host(1, &["A.B", "c", "a.b:80"]),
            host(2, &["C", "d", "d"]),
        ];
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        report_domains(&hosts, &Path::ROOT.field("h"), &mut cx);
        let found: Vec<_> = cx
            .finish()
            .iter()
            .map(|d| format!("{}<{}", d.path, d.related[0].path))
            .collect();
        assert_eq!(
            found,
            [
                "h[1].domains[0]<h[0].domains[0]",
                "h[2].domains[0]<h[1].domains[1]",
                "h[2].domains[2]<h[2].domains[1]"
            ]
        );
    }
}
