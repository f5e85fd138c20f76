//! Domain patterns of virtual hosts: the four classes, and which one wins for an authority.
//!
//! Follows C-core `XdsRouting` (xds_routing.cc): exact before suffix (`*.example.com`) before
//! prefix (`example.*`) before `*`, the longest pattern inside a class, the first virtual host
//! among equals. ASCII case does not count, a `*` stands for at least one character, and any
//! further `*` is an ordinary character. A port is part of the text on both sides.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::profile::Feature;

/// The class of a domain pattern, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DomainClass {
    /// A pattern without a `*`, which matches the whole authority.
    Exact,
    /// A pattern with a leading `*`, which matches the end of the authority.
    Suffix,
    /// A pattern with a trailing `*`, which matches the beginning of the authority.
    Prefix,
    /// The pattern `*`, which matches every authority.
    Universe,
}

impl DomainClass {
    /// Returns the class of `pattern`. Returns `None` for a pattern that the client rejects: an
    /// empty one, or one with a `*` only in its middle.
    ///
    /// ```
    /// use xdsctl_model::resource::domain::DomainClass;
    /// assert_eq!(DomainClass::of("*.example.com"), Some(DomainClass::Suffix));
    /// assert_eq!(DomainClass::of("*a*"), Some(DomainClass::Suffix)); // the second star is a letter
    /// assert_eq!(DomainClass::of("a*b"), None);
    /// ```
    pub fn of(pattern: &str) -> Option<DomainClass> {
        if pattern.is_empty() {
            None
        } else if !pattern.contains('*') {
            Some(DomainClass::Exact)
        } else if pattern == "*" {
            Some(DomainClass::Universe)
        } else if pattern.starts_with('*') {
            Some(DomainClass::Suffix)
        } else if pattern.ends_with('*') {
            Some(DomainClass::Prefix)
        } else {
            None
        }
    }

    /// Says whether `authority` matches `pattern`, which is of this class, under the given
    /// comparison.
    pub fn matches_by(self, pattern: &str, authority: &str, comparison: DomainComparison) -> bool {
        let (pattern, authority) = (pattern.as_bytes(), authority.as_bytes());
        let equal = |a: &[u8], b: &[u8]| match comparison {
            DomainComparison::Folded | DomainComparison::Longest => a.eq_ignore_ascii_case(b),
            DomainComparison::Exact | DomainComparison::Bytes => a == b,
        };
        let stars = || pattern.iter().filter(|byte| **byte == b'*').count();
        if comparison == DomainComparison::Longest && stars() > 1 {
            return false;
        }
        match self {
            DomainClass::Exact => equal(pattern, authority),
            DomainClass::Universe => true,
            // The star needs a character of its own, so the authority is at least as long as the
            // pattern.
            _ if !comparison.takes_empty_stars() && authority.len() < pattern.len() => false,
            DomainClass::Suffix => pattern.get(1..).is_some_and(|suffix| {
                let start = authority.len().checked_sub(suffix.len());
                start
                    .and_then(|start| authority.get(start..))
                    .is_some_and(|end| equal(end, suffix))
            }),
            DomainClass::Prefix => pattern
                .split_last()
                .is_some_and(|(_, prefix)| authority.get(..prefix.len()).is_some_and(|start| equal(start, prefix))),
        }
    }
}

/// How domains are compared with an authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DomainComparison {
    /// ASCII case does not count; a star stands for at least one character.
    Folded,
    /// Bytes must be equal; a star may match nothing, and one invalid pattern keeps every domain
    /// from matching (grpc-go FindBestMatchingVirtualHost;
    /// [`Feature::DomainsExact`](crate::profile::Feature::DomainsExact)).
    Exact,
    /// Like [`DomainComparison::Exact`], but an invalid pattern is skipped (grpc-js-xds
    /// findVirtualHostForDomain;
    /// [`Feature::BadDomainsPassed`](crate::profile::Feature::BadDomainsPassed)).
    Bytes,
    /// Like [`DomainComparison::Folded`], but a pattern has at most one star. Among patterns with a
    /// star, the longest wins, whatever its class
    /// ([`Feature::LongestDomain`](crate::profile::Feature::LongestDomain)).
    Longest,
}

impl DomainComparison {
    /// Returns the comparison of a client with these features.
    pub fn of(has: impl Fn(Feature) -> bool) -> DomainComparison {
        if has(Feature::BadDomainsPassed) {
            DomainComparison::Bytes
        } else if has(Feature::DomainsExact) {
            DomainComparison::Exact
        } else if has(Feature::LongestDomain) {
            DomainComparison::Longest
        } else {
            DomainComparison::Folded
        }
    }

    /// Returns a domain in a form in which equal domains are the same text.
    pub fn folded(self, domain: &str) -> Cow<'_, str> {
        match self {
            DomainComparison::Folded | DomainComparison::Longest => Cow::Owned(domain.to_ascii_lowercase()),
            DomainComparison::Exact | DomainComparison::Bytes => Cow::Borrowed(domain),
        }
    }

    /// Says whether a star may stand for nothing.
    const fn takes_empty_stars(self) -> bool {
        match self {
            DomainComparison::Exact | DomainComparison::Bytes => true,
            DomainComparison::Folded | DomainComparison::Longest => false,
        }
    }
}

/// The domain pattern that won.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DomainMatch {
    /// The index of the virtual host among those given.
    pub host: usize,
    /// The index of the pattern in the virtual host.
    pub domain: usize,
    /// The class of the pattern.
    pub class: DomainClass,
}

/// Finds the virtual host that serves `authority`; `hosts` yields the domains of each.
///
/// Patterns that the client rejects never match.
pub fn best_match<'a, D>(hosts: impl IntoIterator<Item = D>, authority: &str) -> Option<DomainMatch>
where
    D: IntoIterator<Item = &'a String>,
{
    best_match_by(hosts, authority, DomainComparison::Folded)
}

/// Finds the virtual host that serves `authority` under the given comparison; see [`best_match`].
pub fn best_match_by<'a, D>(
    hosts: impl IntoIterator<Item = D>,
    authority: &str,
    comparison: DomainComparison,
) -> Option<DomainMatch>
where
    D: IntoIterator<Item = &'a String>,
{
    let mut best: Option<(DomainMatch, usize)> = None;
    for (host, domains) in hosts.into_iter().enumerate() {
        for (domain, pattern) in domains.into_iter().enumerate() {
            let Some(class) = DomainClass::of(pattern) else {
                if comparison == DomainComparison::Exact {
                    return None;
                }
                continue;
            };
            let better = best.is_none_or(|(found, length)| match comparison {
                DomainComparison::Folded | DomainComparison::Exact | DomainComparison::Bytes => {
                    class < found.class || (class == found.class && pattern.len() > length)
                }
                DomainComparison::Longest => is_better_by_length((class, pattern.len()), (found.class, length)),
            });
            if better && class.matches_by(pattern, authority, comparison) {
                best = Some((DomainMatch { host, domain, class }, pattern.len()));
            }
        }
    }
    best.map(|(found, _)| found)
}

/// Says whether a matching pattern wins over an earlier one; each is given by its class and length
/// (grpc-java `RoutingUtils.findVirtualHostForHostName`).
fn is_better_by_length((class, length): (DomainClass, usize), (before, longest): (DomainClass, usize)) -> bool {
    match (class, before) {
        (_, DomainClass::Exact) => false,
        (DomainClass::Exact, _) => true,
        (DomainClass::Suffix | DomainClass::Universe, _) => length >= longest,
        (DomainClass::Prefix, _) => length > longest,
    }
}

/// The domains of virtual hosts, for many lookups.
#[derive(Debug)]
pub struct DomainIndex<'a> {
    comparison: DomainComparison,
    /// The first virtual host that has each domain; looked up only. The keys are in the form in
    /// which domains are compared.
    first: HashMap<Cow<'a, str>, usize>,
    /// The position of each virtual host that has domains with a `*`, with these domains.
    starred: Vec<(usize, Vec<&'a String>)>,
    /// The domains with a `*` at the end, each once.
    prefixes: Vec<&'a str>,
    /// The domains with a `*` at the start, each once.
    suffixes: Vec<&'a str>,
    /// Whether an invalid domain keeps every domain from matching.
    is_void: bool,
}

impl<'a> DomainIndex<'a> {
    /// Returns the index of the virtual hosts with these domains.
    pub fn of(hosts: impl IntoIterator<Item = &'a [String]>, comparison: DomainComparison) -> DomainIndex<'a> {
        let mut index = DomainIndex {
            comparison,
            first: HashMap::new(),
            starred: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            is_void: false,
        };
        for (position, domains) in hosts.into_iter().enumerate() {
            for domain in domains {
                let Entry::Vacant(entry) = index.first.entry(comparison.folded(domain)) else {
                    continue;
                };
                entry.insert(position);
                match DomainClass::of(domain) {
                    Some(DomainClass::Prefix) => index.prefixes.push(domain),
                    Some(DomainClass::Suffix) => index.suffixes.push(domain),
                    Some(DomainClass::Exact | DomainClass::Universe) => {}
                    None => index.is_void |= comparison == DomainComparison::Exact,
                }
            }
            let starred = domains.iter().filter(|domain| domain.contains('*'));
            let starred: Vec<&String> = starred.collect();
            if !starred.is_empty() {
                index.starred.push((position, starred));
            }
        }
        index
    }

    /// Returns the position of the first virtual host that has this domain itself.
    pub fn host(&self, domain: &str) -> Option<usize> {
        self.first.get(&*self.comparison.folded(domain)).copied()
    }

    /// Says whether the virtual hosts of both indexes have the same domains.
    pub fn has_the_domains_of(&self, other: &DomainIndex<'_>) -> bool {
        self.first.len() == other.first.len() && self.first.keys().all(|domain| other.first.contains_key(&**domain))
    }

    /// Finds the virtual host that serves `authority`, as [`best_match_by`] does.
    pub fn find(&self, authority: &str) -> Option<usize> {
        if self.is_void {
            return None;
        }
        // A domain without a `*` that is equal to the authority comes before every domain with a
        // `*`.
        if DomainClass::of(authority) == Some(DomainClass::Exact)
            && let Some(host) = self.host(authority)
        {
            return Some(host);
        }
        let domains = self.starred.iter().map(|(_, domains)| domains.iter().copied());
        let found = best_match_by(domains, authority, self.comparison)?;
        self.starred.get(found.host).map(|(host, _)| *host)
    }

    /// Returns with how many domains [`find`](Self::find) may have to compare an authority.
    pub fn steps(&self) -> usize {
        1 + self.starred.iter().map(|(_, domains)| domains.len()).sum::<usize>()
    }
}

/// Returns authorities that match both a domain with a `*` at the end and one with a `*` at the
/// start, if no authority of one of these domains alone shows what changes for them.
///
/// So one of the two domains is on one side only, and the other one is on the other side, where it
/// may take over or give way. In all other cases the same domain wins before and after, or nothing
/// is left to choose from.
pub fn crossings<'a>(before: &'a DomainIndex<'a>, after: &'a DomainIndex<'a>) -> impl Iterator<Item = String> + 'a {
    let sides = [(before, after), (after, before)];
    sides.into_iter().flat_map(|(one, other)| {
        let is_gone = move |domain: &&&str| other.host(domain).is_none();
        let crossing = move |prefix: &str, suffix: &str| crossing(prefix, suffix, [one, other]);
        let gone = one.prefixes.iter().filter(is_gone);
        let of_prefixes =
            gone.flat_map(move |prefix| other.suffixes.iter().map(move |suffix| crossing(prefix, suffix)));
        let gone = one.suffixes.iter().filter(is_gone);
        let of_suffixes = gone.flat_map(move |suffix| {
            // Prefixes that the first side lacks are the first half of the other turn.
            let common = other.prefixes.iter().filter(move |prefix| one.host(prefix).is_some());
            common.map(move |prefix| crossing(prefix, suffix))
        });
        of_prefixes.chain(of_suffixes)
    })
}

/// What may stand for the two `*` of a crossing, one character each, if `any` would match a longer
/// domain.
const OTHERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789-_.~!$&'()+,;=";

/// Returns an authority that matches both domains, and no domain that says more than they do: what
/// stands for the two `*` begins and ends with a character with which no longer domain goes on.
fn crossing(prefix: &str, suffix: &str, sides: [&DomainIndex<'_>; 2]) -> String {
    let start = prefix.strip_suffix('*').unwrap_or(prefix);
    let end = suffix.strip_prefix('*').unwrap_or(suffix);
    let prefixes = sides.iter().flat_map(|index| &index.prefixes);
    let after: AsciiSet = prefixes.filter_map(|domain| byte_after(start, domain)).collect();
    let suffixes = sides.iter().flat_map(|index| &index.suffixes);
    let before: AsciiSet = suffixes.filter_map(|domain| byte_before(end, domain)).collect();
    let authority = |middle: &str| format!("{start}{middle}{end}");
    let middles = std::iter::once("any").chain(OTHERS.split("").filter(|text| !text.is_empty()));
    let mut free = middles
        .filter(|middle| !after.has(middle.bytes().next()) && !before.has(middle.bytes().next_back()))
        .map(authority);
    free.find(|found| sides.iter().all(|index| index.host(found).is_none()))
        .unwrap_or_else(|| authority("any"))
}

/// Returns the byte with which a domain goes on after `start`.
fn byte_after(start: &str, domain: &str) -> Option<u8> {
    let (head, rest) = domain.as_bytes().split_at_checked(start.len())?;
    rest.first()
        .copied()
        .filter(|_| head.eq_ignore_ascii_case(start.as_bytes()))
}

/// Returns the byte that a domain has before `end`.
fn byte_before(end: &str, domain: &str) -> Option<u8> {
    let (rest, tail) = domain
        .as_bytes()
        .split_at_checked(domain.len().checked_sub(end.len())?)?;
    rest.last()
        .copied()
        .filter(|_| tail.eq_ignore_ascii_case(end.as_bytes()))
}

/// A set of ASCII characters, in which case does not count.
struct AsciiSet(u128);

impl AsciiSet {
    fn bit(byte: u8) -> u128 {
        if byte.is_ascii() {
            1 << byte.to_ascii_lowercase()
        } else {
            0
        }
    }

    fn has(&self, byte: Option<u8>) -> bool {
        byte.is_some_and(|byte| self.0 & AsciiSet::bit(byte) != 0)
    }
}

impl FromIterator<u8> for AsciiSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        AsciiSet(bytes.into_iter().fold(0, |set, byte| set | AsciiSet::bit(byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longer domain must not hide what changes for the others.
    #[test]
    fn a_crossing_matches_no_longer_domain() {
        let domains = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        for (before, after) in [
            (
                domains(&["api-*", "api-a*", "*.example.com"]),
                domains(&["api-*", "api-a*"]),
            ),
            (domains(&["shop.*", "*y.b", "*.b"]), domains(&["*.b", "*y.b"])),
            (
                domains(&["shop.*", "SHOP.any.b", "*.b"]),
                domains(&["*.b", "shop.any.b"]),
            ),
        ] {
            let index = |list| DomainIndex::of([list], DomainComparison::Folded);
            let (before, after): (&[String], &[String]) = (&before, &after);
            let (one, other) = (index(before), index(after));
            let found: Vec<String> = crossings(&one, &other).collect();
            let is_free = |authority: &&String| {
                !authority.starts_with("api-a") && !authority.ends_with("y.b") && *authority != "shop.any.b"
            };
            assert!(found.iter().any(|authority| is_free(&authority)), "{found:?}");
        }
    }

    #[test]
    fn a_star_is_special_only_at_either_end() {
        for (pattern, class) in [
            ("", None),
            ("a", Some(DomainClass::Exact)),
            ("*", Some(DomainClass::Universe)),
            ("**", Some(DomainClass::Suffix)),
            ("*a*b", Some(DomainClass::Suffix)),
            ("a**", Some(DomainClass::Prefix)),
            ("a*b*", Some(DomainClass::Prefix)),
            ("a*b", None),
            ("a b:80\u{0}é", Some(DomainClass::Exact)),
        ] {
            assert_eq!(DomainClass::of(pattern), class, "{pattern:?}");
        }
    }

    #[track_caller]
    fn check(hosts: &[&[&str]], authority: &str, expected: Option<(usize, usize)>) {
        let hosts: Vec<Vec<String>> = hosts
            .iter()
            .map(|domains| domains.iter().map(ToString::to_string).collect())
            .collect();
        let found = best_match(&hosts, authority).map(|m| (m.host, m.domain));
        assert_eq!(found, expected, "{authority}");
    }

    #[test]
    fn exact_beats_suffix_beats_prefix_beats_universe() {
        let hosts: &[&[&str]] = &[&["*"], &["a.*"], &["*.b"], &["a.b"]];
        check(hosts, "A.B", Some((3, 0)));
        check(hosts, "x.b", Some((2, 0)));
        check(hosts, "a.x", Some((1, 0)));
        check(hosts, "x", Some((0, 0)));
    }

    #[test]
    fn the_longest_pattern_of_a_class_wins_and_then_the_first_host() {
        check(&[&["*.b"], &["*.a.b"], &["*.A.B"]], "x.a.b", Some((1, 0)));
        check(&[&["x", "foo"], &["foo"]], "foo", Some((0, 1)));
    }

    #[test]
    fn a_star_stands_for_at_least_one_character() {
        check(&[&["*.b"]], ".b", None);
        check(&[&["a.*"]], "a.", None);
        check(&[&["a.*"]], "a.x", Some((0, 0)));
        check(&[&["**"]], "a", None);
        check(&[&["**"]], "a*", Some((0, 0)));
    }

    #[test]
    fn in_java_the_longest_pattern_wins() {
        let longest = |hosts: &[&[&str]], authority: &str| {
            let hosts: Vec<Vec<String>> = hosts
                .iter()
                .map(|domains| domains.iter().map(ToString::to_string).collect())
                .collect();
            best_match_by(&hosts, authority, DomainComparison::Longest).map(|found| found.host)
        };
        assert_eq!(longest(&[&["ab*"], &["*c"]], "abc"), Some(0));
        assert_eq!(longest(&[&["a*"], &["*c"]], "abc"), Some(1));
        assert_eq!(longest(&[&["*c"], &["a*"]], "abc"), Some(0));
        assert_eq!(longest(&[&["*"], &["ABC"]], "abc"), Some(1));
        assert_eq!(longest(&[&["**"]], "x*"), None);
        assert_eq!(longest(&[&["a*b*"]], "a*bz"), None);
    }

    #[test]
    fn an_index_finds_the_host_of_the_best_match() {
        let hosts = ["*.b a*c", "A.b a.*", "a.b *.a.b", "*", "* b", ""];
        let hosts = hosts.map(|domains| domains.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for count in 0..=hosts.len() {
            let hosts = hosts.get(..count).unwrap();
            for comparison in [
                DomainComparison::Folded,
                DomainComparison::Exact,
                DomainComparison::Bytes,
                DomainComparison::Longest,
            ] {
                let index = DomainIndex::of(hosts.iter().map(Vec::as_slice), comparison);
                for authority in ["a.b", "A.B", "x.a.b", "x.b", "a.x", "b", "B", "a*c", "x", "*", ""] {
                    let best = best_match_by(hosts, authority, comparison).map(|found| found.host);
                    assert_eq!(index.find(authority), best, "{count} {authority} {comparison:?}");
                }
            }
        }
    }

    #[test]
    fn domains_cross_if_one_side_lacks_one_of_them() {
        let crossed = |before: &[&str], after: &[&str]| {
            let [before, after] = [before, after].map(|domains| domains.iter().map(ToString::to_string).collect());
            let [before, after]: [Vec<String>; 2] = [before, after];
            let [before, after] =
                [&before, &after].map(|domains| DomainIndex::of([domains.as_slice()], DomainComparison::Folded));
            crossings(&before, &after).collect::<Vec<_>>()
        };
        let nothing: [&str; 0] = [];
        assert_eq!(crossed(&["a*", "*b", "*c"], &["A*", "*b"]), ["Aanyc"]);
        assert_eq!(crossed(&["a*", "*b"], &["a*", "*b", "*c"]), ["aanyc"]);
        assert_eq!(crossed(&["a*"], &["*c", "*C"]), ["aanyc"]);
        assert_eq!(crossed(&["a*", "*b", "*", "x"], &["A*", "*B"]), nothing);
        assert_eq!(crossed(&["a*", "*b"], &["*"]), nothing);
    }

    #[test]
    fn a_port_is_part_of_the_text() {
        check(&[&["a"]], "a:80", None);
        check(&[&["a:80"]], "a:80", Some((0, 0)));
    }
}
