//! Which RPCs two routes have in common: whether there can be any, and examples.
//!
//! The examples are guesses: [`tables`](super::tables) sends each through both route tables.

use std::collections::HashMap;
use std::fmt;

use xdsctl_clients::core::route_shadow::begins_with;
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, StringMatch, StringMatcher};
use xdsctl_model::resource::route::{PathMatcher, Route};

/// Values that are tried for a header besides those that its matcher suggests.
const ANY_VALUES: [&str; 4] = ["x", "1", "true", ""];

/// Most values that are tried for one header.
const MAX_VALUES: usize = 16;

/// Most headers of an RPC. A gRPC server accepts at most 16 KiB of them, and each counts as 32
/// bytes plus its text (`GRPC_ARG_ABSOLUTE_MAX_METADATA_SIZE`; RFC 7541, 4.1).
const MAX_HEADERS: usize = 512;

/// Most pairs of matchers of two routes that are compared: enough for all headers of an RPC.
const MAX_PAIRS: usize = MAX_HEADERS * MAX_HEADERS;

/// Says whether no RPC can match both routes; `false` if that is not certain.
pub(super) fn are_disjoint(one: &Route, other: &Route) -> bool {
    let pairs = one
        .headers
        .iter()
        .flat_map(|header| other.headers.iter().map(move |other| (header, other)));
    are_disjoint_paths(&one.path, &other.path)
        || pairs
            .take(MAX_PAIRS)
            .any(|(one, other)| are_disjoint_headers(one, other))
}

fn are_disjoint_paths(one: &PathMatcher, other: &PathMatcher) -> bool {
    match (one, other) {
        (PathMatcher::Text(one), PathMatcher::Text(other)) => are_disjoint_texts(one, other),
        (PathMatcher::Regex(regex), PathMatcher::Text(text)) | (PathMatcher::Text(text), PathMatcher::Regex(regex)) => {
            match &text.kind {
                StringMatch::Exact(path) if !text.ignore_case => !regex.is_full_match(path),
                _ => false,
            }
        }
        (PathMatcher::Regex(_), PathMatcher::Regex(_)) => false,
    }
}

fn are_disjoint_headers(one: &HeaderMatcher, other: &HeaderMatcher) -> bool {
    if one.name != other.name {
        return false;
    }
    let wants_absence = |header: &HeaderMatcher| match &header.kind {
        HeaderMatch::Present(present) => *present == header.invert_match,
        HeaderMatch::String(_) | HeaderMatch::Range { .. } => false,
    };
    match (wants_absence(one), wants_absence(other)) {
        (true, true) => return false,
        (true, false) | (false, true) => return true,
        (false, false) => {}
    }
    if one.invert_match || other.invert_match {
        return one.kind == other.kind && one.invert_match != other.invert_match;
    }
    match (&one.kind, &other.kind) {
        (HeaderMatch::String(one), HeaderMatch::String(other)) => are_disjoint_texts(one, other),
        (HeaderMatch::Range { start, end }, HeaderMatch::Range { start: s, end: e }) => end <= s || e <= start,
        _ => false,
    }
}

fn are_disjoint_texts(one: &StringMatcher, other: &StringMatcher) -> bool {
    let fold = one.ignore_case || other.ignore_case;
    let begins = |text: &str, prefix: &str| begins_with(text, prefix, fold);
    match (&one.kind, &other.kind) {
        (StringMatch::Exact(a), StringMatch::Exact(b)) => a.len() != b.len() || !begins(a, b),
        (StringMatch::Exact(text), StringMatch::Prefix(prefix))
        | (StringMatch::Prefix(prefix), StringMatch::Exact(text)) => !begins(text, prefix),
        (StringMatch::Prefix(a), StringMatch::Prefix(b)) => !begins(a, b) && !begins(b, a),
        _ => false,
    }
}

/// An example of an RPC: its path and its headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The path, such as `/package.Service/Method`.
    pub path: String,
    /// The metadata of the RPC.
    pub headers: Vec<(String, String)>,
}

/// Displays the path and the headers in words.
impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        for (number, (name, value)) in self.headers.iter().enumerate() {
            let with = if number == 0 { " with " } else { ", " };
            write!(f, "{with}{name}: {}", xdsctl_document::secret::shown(name, value))?;
        }
        Ok(())
    }
}

/// All matchers of the routes for one header, and values that might match.
#[derive(Default)]
struct WantedHeader<'r> {
    matchers: Vec<&'r HeaderMatcher>,
    values: Vec<Option<String>>,
}

/// Returns RPCs that may match all of `routes`, of which there are at most two. Returns none if the
/// routes need more than [`MAX_HEADERS`] headers.
pub fn examples(routes: &[&Route]) -> Vec<Example> {
    let mut headers: Vec<(&str, WantedHeader<'_>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for header in routes.iter().flat_map(|route| &route.headers) {
        let place = *places.entry(&header.name).or_insert(headers.len());
        if place == MAX_HEADERS {
            return Vec::new();
        }
        if place == headers.len() {
            headers.push((&header.name, WantedHeader::default()));
        }
        let Some((_, wanted)) = headers.get_mut(place) else {
            continue;
        };
        wanted.matchers.push(header);
        let room = MAX_VALUES.saturating_sub(wanted.values.len());
        if room > 0 {
            wanted.values.extend(values(header).into_iter().take(room));
        }
    }
    // Each header gets the first value that all its matchers accept, so one set of headers is
    // enough.
    let chosen = headers
        .into_iter()
        .filter_map(|(name, WantedHeader { matchers, values })| {
            let fits = |value: &Option<String>| {
                let sent: Vec<(String, String)> = value.iter().map(|v| (name.to_owned(), v.clone())).collect();
                let request = xdsctl_channel::rpc::Request {
                    path: "/",
                    headers: &sent,
                    timeout: None,
                };
                matchers
                    .iter()
                    .all(|matcher| xdsctl_channel::rpc::matching::header_matches(matcher, &request))
            };
            values
                .into_iter()
                .find(fits)
                .flatten()
                .map(|value| (name.to_owned(), value))
        });
    let chosen: Vec<(String, String)> = chosen.collect();
    let example = |path| Example {
        path,
        headers: chosen.clone(),
    };
    paths(routes).into_iter().map(example).collect()
}

/// Returns paths that may match all of the routes. Those that look like a method come first.
fn paths(routes: &[&Route]) -> Vec<String> {
    let mut stems: Vec<&str> = Vec::new();
    let mut paths = Vec::new();
    for route in routes {
        match &route.path {
            PathMatcher::Text(text) => match &text.kind {
                StringMatch::Exact(path) => paths.push(path.clone()),
                StringMatch::Prefix(prefix) => stems.push(prefix),
                StringMatch::Suffix(_) | StringMatch::Contains(_) | StringMatch::Regex(_) => {}
            },
            PathMatcher::Regex(regex) => {
                let literal = regex.as_str().trim_start_matches('^');
                let end = literal.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '/' | '_' | '-'));
                stems.push(literal.get(..end.unwrap_or(literal.len())).unwrap_or_default());
            }
        }
    }
    stems.sort_by_key(|stem| std::cmp::Reverse(stem.len()));
    stems.push("/");
    for stem in stems {
        let slashes = stem.matches('/').count();
        let tails: [&str; 4] = match slashes {
            0 => ["/Service/Method", "/x/y", "", "x"],
            1 if stem.ends_with('/') => ["Service/Method", "x/y", "", "x"],
            1 => ["/Method", ".Service/Method", "", "x"],
            _ if stem.ends_with('/') => ["Method", "x", "", "1"],
            _ => ["", "x", "/x", "1"],
        };
        paths.extend(tails.iter().map(|tail| format!("{stem}{tail}")));
    }
    paths
}

/// Returns values that a matcher may accept; `None` means that the header is missing.
fn values(header: &HeaderMatcher) -> Vec<Option<String>> {
    let mut values = Vec::new();
    match &header.kind {
        HeaderMatch::String(matcher) => match &matcher.kind {
            StringMatch::Exact(text)
            | StringMatch::Prefix(text)
            | StringMatch::Suffix(text)
            | StringMatch::Contains(text) => {
                values.push(Some(text.clone()));
                values.push(Some(format!("{text}x")));
            }
            StringMatch::Regex(regex) => values.push(Some(regex.as_str().to_owned())),
        },
        HeaderMatch::Range { start, end } => {
            values.extend([*start, end.saturating_add(1)].map(|number| Some(number.to_string())));
        }
        HeaderMatch::Present(_) => values.push(None),
    }
    values.extend(ANY_VALUES.map(|value| Some(value.to_owned())));
    values.push(None);
    values
}

/// Says whether a route has a regex, so that examples may fail to find an RPC that matches.
pub(super) fn is_opaque(route: &Route) -> bool {
    let of_header = |header: &HeaderMatcher| match &header.kind {
        HeaderMatch::String(matcher) => matches!(matcher.kind, StringMatch::Regex(_)),
        HeaderMatch::Range { .. } | HeaderMatch::Present(_) => false,
    };
    matches!(route.path, PathMatcher::Regex(_)) || route.headers.iter().any(of_header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::resource::matcher::HeaderView;
    use xdsctl_model::resource::route::Action;

    fn route(headers: impl Iterator<Item = (String, String)>) -> Route {
        let header = |(name, text)| HeaderMatcher {
            name,
            kind: HeaderMatch::String(StringMatcher {
                kind: StringMatch::Prefix(text),
                ignore_case: false,
            }),
            invert_match: false,
            view: HeaderView::Completed,
        };
        Route {
            index: 0,
            name: String::new(),
            path: PathMatcher::Text(StringMatcher {
                kind: StringMatch::Prefix("/".to_owned()),
                ignore_case: false,
            }),
            headers: headers.map(header).collect(),
            fraction_per_million: None,
            action: Action::NonForwarding,
            typed_per_filter_config: std::collections::BTreeMap::new(),
        }
    }

    /// Returns a route with `count` headers, each of which must begin with `text`.
    fn many(count: usize, text: &str) -> Route {
        route((0..count).map(|number| (format!("h{number}"), text.to_owned())))
    }

    #[test]
    fn an_example_has_as_many_headers_as_an_rpc() {
        let most = many(MAX_HEADERS, "a");
        let example = examples(&[&most, &most]).remove(0);
        assert_eq!(example.headers.len(), MAX_HEADERS);
        assert!(example.headers.iter().all(|(_, value)| value == "a"));
        // Each of a hundred thousand headers would be searched for among all the others.
        assert_eq!(examples(&[&many(100_000, "a")]), []);
        assert_eq!(examples(&[&most, &many(MAX_HEADERS + 1, "a")]), []);
    }

    #[test]
    fn matchers_of_one_header_all_have_their_say() {
        let same = |texts: &[&str]| route(texts.iter().map(|text| ("h".to_owned(), (*text).to_owned())));
        let example = examples(&[&same(&["a"]), &same(&["ab", "abc"])]).remove(0);
        assert_eq!(example.headers, [("h".to_owned(), "abc".to_owned())]);
        assert!(are_disjoint(&same(&["a", "b"]), &same(&["ab"])));
        assert!(!are_disjoint(&same(&["a"]), &same(&["ab"])));
    }

    #[test]
    fn two_routes_of_a_hundred_thousand_matchers_are_not_compared_in_pairs() {
        // This would be ten thousand million pairs.
        assert!(!are_disjoint(&many(100_000, "a"), &many(100_000, "a")));
    }
}
