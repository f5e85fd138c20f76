//! Domains and routes that never get an RPC, because an earlier one takes all of them.
//!
//! Both are legal, and the client says nothing (A28). A domain counts once, without regard to ASCII
//! case; the first virtual host that has it wins. A route is lost if one earlier route of its
//! virtual host matches every RPC that it matches: the earlier route has a path matcher that covers
//! the later one's, no header matcher that the later one lacks, and no fraction. A route that only
//! several earlier ones cover together is not found, so that each finding is certain. There is one
//! pass over the routes: an index of hashes finds the one candidate, and [`covers`] then decides.

use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{Hash, Hasher};

use foldhash::{HashMap, HashMapExt, HashSet};

use xdsctl_model::diag::{Path, Reported, Validation, rules};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, StringMatch};
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
    let mut first = HashMap::with_capacity(count);
    for host in hosts {
        for (index, domain) in host.domains.iter().enumerate() {
            match first.entry(Folded(domain)) {
                Entry::Vacant(entry) => {
                    entry.insert((host.index, index));
                }
                Entry::Occupied(entry) => {
                    let families = who_takes(domain, entry.key().0, host.index == entry.get().0);
                    report_domain(domain, (host.index, index), *entry.get(), at, cx).shared_with(families);
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
#[cold]
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
    let diagnostic = if here.0 == first.0 {
        cx.report(
            &DOMAIN_TAKEN,
            &at,
            format_args!("domain `{domain}` comes twice in this virtual host"),
        )
    } else {
        cx.report(
            &DOMAIN_TAKEN,
            &at,
            format_args!("domain `{domain}` is one of an earlier virtual host, which gets its RPCs"),
        )
    };
    diagnostic.related(first_domains.index(first.1).to_owned(), "first used here")
}

/// A text that is equal to another without regard to ASCII case.
#[derive(Clone, Copy)]
struct Folded<'a>(&'a str);

impl PartialEq for Folded<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(other.0)
    }
}

impl Eq for Folded<'_> {}

impl Hash for Folded<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for chunk in self.0.as_bytes().chunks(64) {
            let mut folded = [0; 64];
            for (to, from) in folded.iter_mut().zip(chunk) {
                *to = from.to_ascii_lowercase();
            }
            state.write(&folded);
        }
    }
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
            report_route(route, earlier, at, cx);
            continue;
        }
        if !is_always(route) {
            continue;
        }
        if shape.takes_all() {
            if let Some((next, rest)) = routes.get(position + 1..).and_then(<[Route]>::split_first) {
                report_rest(next, rest.len(), route, at, cx);
            }
            return;
        }
        index.add(&shape, position);
    }
}

#[cold]
fn report_route(route: &Route, earlier: &Route, at: &Path<'_>, cx: &mut Validation<'_>) {
    let (here, before) = (at.index(route.index), at.index(earlier.index));
    cx.report(
        &ROUTE_UNREACHABLE,
        &here.field("match"),
        format_args!(
            "never reached: {} matches every RPC that this one matches",
            earlier.label()
        ),
    )
    .related(before.field("match").to_owned(), "the earlier route")
    .shared_with(who_keeps(earlier));
}

/// Reports, at `next`, all routes after `earlier`: that one matches every RPC.
#[cold]
fn report_rest(next: &Route, more: usize, earlier: &Route, at: &Path<'_>, cx: &mut Validation<'_>) {
    let (here, before) = (at.index(next.index), at.index(earlier.index));
    let (at, taker) = (here.field("match"), earlier.label());
    let diagnostic = match more {
        0 => cx.report(
            &ROUTE_UNREACHABLE,
            &at,
            format_args!("never reached: {taker} matches every RPC"),
        ),
        1 => cx.report(
            &ROUTE_UNREACHABLE,
            &at,
            format_args!("never reached, like the route after it: {taker} matches every RPC"),
        ),
        _ => cx.report(
            &ROUTE_UNREACHABLE,
            &at,
            format_args!("never reached, like the {more} routes after it: {taker} matches every RPC"),
        ),
    };
    diagnostic
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
        _ if RoutePaths::of(&earlier.path) != RoutePaths::All => &[Family::Cpp, Family::Go, Family::Node],
        Some(Destination::Cluster(_) | Destination::WeightedClusters(_)) => &Family::ALL,
    }
}

/// Says whether the route takes every RPC that matches its path and headers.
fn is_always(route: &Route) -> bool {
    route.fraction_per_million.is_none_or(|share| share >= 1_000_000)
}

/// The path part of a route, in a form that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoutePaths<'a> {
    /// Every path of a gRPC request.
    All,
    /// The paths that begin with this text; without regard to ASCII case if `true`.
    Prefix(&'a str, bool),
    /// This path alone; without regard to ASCII case if `true`.
    Exact(&'a str, bool),
    /// The paths that the pattern matches as a whole.
    Regex(&'a str),
}

/// Patterns that match every `/service/method`.
const ALL_PATTERNS: [&str; 8] = [".*", ".+", "/.*", "/.+", "/.*/.*", "/.+/.+", "^.*$", "^/.*$"];

impl<'a> RoutePaths<'a> {
    fn of(matcher: &'a PathMatcher) -> RoutePaths<'a> {
        let text = match matcher {
            PathMatcher::Regex(regex) if ALL_PATTERNS.contains(&regex.as_str()) => return RoutePaths::All,
            PathMatcher::Regex(regex) => return RoutePaths::Regex(regex.as_str()),
            PathMatcher::Text(text) => text,
        };
        match &text.kind {
            // A gRPC path begins with a slash.
            StringMatch::Prefix(prefix) if matches!(prefix.as_str(), "" | "/") => RoutePaths::All,
            StringMatch::Prefix(prefix) => RoutePaths::Prefix(prefix, text.ignore_case),
            StringMatch::Exact(path) => RoutePaths::Exact(path, text.ignore_case),
            // Routes have no matchers of these kinds, so any answer will do.
            StringMatch::Suffix(text) | StringMatch::Contains(text) => RoutePaths::Regex(text),
            StringMatch::Regex(regex) => RoutePaths::Regex(regex.as_str()),
        }
    }

    /// Says whether every path of `other` is one of these paths.
    fn cover(self, other: RoutePaths<'_>) -> bool {
        match (self, other) {
            (RoutePaths::All, _) => true,
            (
                RoutePaths::Prefix(p, fold),
                RoutePaths::Prefix(text, other_fold) | RoutePaths::Exact(text, other_fold),
            ) => (fold || !other_fold) && begins_with(text, p, fold),
            (RoutePaths::Exact(p, fold), RoutePaths::Exact(text, other_fold)) => {
                (fold || !other_fold) && p.len() == text.len() && begins_with(text, p, fold)
            }
            (RoutePaths::Regex(p), RoutePaths::Regex(text)) => p == text,
            (RoutePaths::Prefix(..) | RoutePaths::Exact(..) | RoutePaths::Regex(_), _) => false,
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
        RouteShape {
            paths: RoutePaths::of(&route.path),
            // A sum, so that the order does not count.
            headers: route.headers.iter().map(hash_header).fold(0, u64::wrapping_add),
        }
    }

    /// Says whether the route matches the path and the headers of every RPC.
    fn takes_all(&self) -> bool {
        self.paths == RoutePaths::All && self.headers == 0
    }
}

fn hash_header(header: &HeaderMatcher) -> u64 {
    let mut hasher = DefaultHasher::new();
    header.name.hash(&mut hasher);
    header.invert_match.hash(&mut hasher);
    std::mem::discriminant(&header.kind).hash(&mut hasher);
    match &header.kind {
        HeaderMatch::String(matcher) => {
            matcher.ignore_case.hash(&mut hasher);
            match &matcher.kind {
                StringMatch::Exact(text)
                | StringMatch::Prefix(text)
                | StringMatch::Suffix(text)
                | StringMatch::Contains(text) => text.hash(&mut hasher),
                StringMatch::Regex(regex) => regex.as_str().hash(&mut hasher),
            }
        }
        HeaderMatch::Range { start, end } => (start, end).hash(&mut hasher),
        HeaderMatch::Present(present) => present.hash(&mut hasher),
    }
    // 0 is the empty set.
    hasher.finish().max(1)
}

/// Kinds of entries of the index; the value seeds the hash.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    Prefix = 1,
    PrefixFolded = 2,
    Exact = 3,
    ExactFolded = 4,
    Regex = 5,
}

/// The earlier routes by path and headers; of equal ones, the first.
#[derive(Default)]
struct RouteIndex {
    routes: HashMap<u64, usize>,
    /// The hashes of the routes' headers. Most routes have headers that no earlier route has.
    headers: HashSet<u64>,
    /// The lengths of the prefixes, ascending: those of case-sensitive prefixes, then of the
    /// others.
    lengths: [Vec<usize>; 2],
    /// There are prefixes or paths without regard to case.
    is_folded: bool,
}

impl RouteIndex {
    fn add(&mut self, shape: &RouteShape<'_>, position: usize) {
        let (kind, text) = match shape.paths {
            RoutePaths::All => (EntryKind::Prefix, ""),
            RoutePaths::Prefix(text, false) => (EntryKind::Prefix, text),
            RoutePaths::Prefix(text, true) => (EntryKind::PrefixFolded, text),
            RoutePaths::Exact(text, false) => (EntryKind::Exact, text),
            RoutePaths::Exact(text, true) => (EntryKind::ExactFolded, text),
            RoutePaths::Regex(text) => (EntryKind::Regex, text),
        };
        let is_folded = matches!(kind, EntryKind::PrefixFolded | EntryKind::ExactFolded);
        self.is_folded |= is_folded;
        if matches!(kind, EntryKind::Prefix | EntryKind::PrefixFolded) {
            let lengths = &mut self.lengths[usize::from(is_folded)];
            if let Err(place) = lengths.binary_search(&text.len()) {
                lengths.insert(place, text.len());
            }
        }
        self.headers.insert(shape.headers);
        let mut rolling = Rolling::new(kind, shape.headers);
        rolling.extend(text, is_folded);
        self.routes.entry(rolling.0).or_insert(position);
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

    fn candidate(&self, paths: RoutePaths<'_>, headers: u64) -> Option<usize> {
        let (text, exact) = match paths {
            RoutePaths::All => ("", None),
            RoutePaths::Prefix(text, _) => (text, None),
            RoutePaths::Exact(text, _) => (text, Some((EntryKind::Exact, EntryKind::ExactFolded))),
            // A pattern is covered only by a prefix of all paths, or by the same pattern.
            RoutePaths::Regex(text) => {
                return self
                    .prefix(EntryKind::Prefix, headers, "")
                    .or_else(|| self.whole(EntryKind::Regex, headers, text));
            }
        };
        // An entry without regard to case may cover paths of both kinds, so it is looked up for
        // both.
        let is_folded = matches!(paths, RoutePaths::Prefix(_, true) | RoutePaths::Exact(_, true));
        let sensitive = if is_folded { "" } else { text };
        self.prefix(EntryKind::Prefix, headers, sensitive)
            .or_else(|| self.prefix(EntryKind::PrefixFolded, headers, text))
            .or_else(|| {
                let (kind, folded) = exact?;
                let found = if is_folded {
                    None
                } else {
                    self.whole(kind, headers, text)
                };
                found.or_else(|| self.is_folded.then(|| self.whole(folded, headers, text)).flatten())
            })
    }

    /// Finds an entry whose prefix `text` begins with.
    fn prefix(&self, kind: EntryKind, headers: u64, text: &str) -> Option<usize> {
        let is_folded = kind == EntryKind::PrefixFolded;
        let mut rolling = Rolling::new(kind, headers);
        let mut done = 0;
        for &length in &self.lengths[usize::from(is_folded)] {
            rolling.extend_bytes(text.as_bytes().get(done..length)?, is_folded);
            done = length;
            if let Some(&found) = self.routes.get(&rolling.0) {
                return Some(found);
            }
        }
        None
    }

    /// Finds an entry for the whole of `text`.
    fn whole(&self, kind: EntryKind, headers: u64, text: &str) -> Option<usize> {
        let mut rolling = Rolling::new(kind, headers);
        rolling.extend(text, kind == EntryKind::ExactFolded);
        self.routes.get(&rolling.0).copied()
    }
}

/// A hash that grows with the text, so that all prefixes of a text cost one walk (FNV-1a).
#[derive(Clone, Copy)]
struct Rolling(u64);

impl Rolling {
    fn new(kind: EntryKind, headers: u64) -> Rolling {
        let mut hasher = DefaultHasher::new();
        (kind as u8, headers).hash(&mut hasher);
        Rolling(hasher.finish())
    }

    fn extend(&mut self, text: &str, fold: bool) {
        self.extend_bytes(text.as_bytes(), fold);
    }

    fn extend_bytes(&mut self, bytes: &[u8], fold: bool) {
        for &byte in bytes {
            let byte = if fold { byte.to_ascii_lowercase() } else { byte };
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::profile::{Profile, ServerFacts};
    use xdsctl_model::resource::matcher::{HeaderView, StringMatcher};
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
