//! Which RPCs two routes have in common: whether there can be any, and examples.
//!
//! Whether an example is one is not decided here: [`tables`](super::tables) sends it through both route tables.

use crate::model::matcher::{HeaderMatch, HeaderMatcher, StringMatch, StringMatcher};
use crate::model::route::{PathMatcher, Route};
use crate::validate::route_shadow::begins_with;

/// Values that are tried for a header whose matcher names none that would do.
const ANY_VALUES: [&str; 4] = ["x", "1", "true", ""];

/// Most values that are tried for one header.
const MAX_VALUES: usize = 16;

/// Says whether no RPC can match both; `false` where that is not certain.
pub(super) fn are_disjoint(one: &Route, other: &Route) -> bool {
    are_disjoint_paths(&one.path, &other.path)
        || one
            .headers
            .iter()
            .any(|header| other.headers.iter().any(|other| are_disjoint_headers(header, other)))
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

/// An RPC: its path and its headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// `/package.Service/Method`.
    pub path: String,
    /// Its metadata.
    pub headers: Vec<(String, String)>,
}

/// RPCs that may match all of `routes`, which has at most two.
pub fn examples(routes: &[&Route]) -> Vec<Example> {
    let paths = paths(routes);
    let mut headers: Vec<(&str, Vec<Option<String>>)> = Vec::new();
    for header in routes.iter().flat_map(|route| &route.headers) {
        let values = values(header);
        match headers.iter_mut().find(|(name, _)| *name == header.name) {
            Some((_, list)) => list.extend(values),
            None => headers.push((&header.name, values)),
        }
    }
    // The first value of each header that all its matchers take, so that one set of headers is enough.
    let chosen = headers.into_iter().filter_map(|(name, mut values)| {
        values.truncate(MAX_VALUES);
        let of_name = routes
            .iter()
            .flat_map(|route| &route.headers)
            .filter(|h| h.name == name);
        let matchers: Vec<&HeaderMatcher> = of_name.collect();
        let fits = |value: &Option<String>| {
            let sent: Vec<(String, String)> = value.iter().map(|v| (name.to_owned(), v.clone())).collect();
            let request = crate::rpc::Request {
                path: "/",
                headers: &sent,
                timeout: None,
            };
            matchers
                .iter()
                .all(|matcher| crate::rpc::matching::header_matches(matcher, &request))
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
    paths.into_iter().map(example).collect()
}

/// Paths that may match all of the routes, those that look like a method first.
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

/// Values of a header that a matcher may take; `None` is no such header.
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

/// Says whether a matcher is not a plain text, so that no example need be found.
pub(super) fn is_opaque(route: &Route) -> bool {
    let of_header = |header: &HeaderMatcher| match &header.kind {
        HeaderMatch::String(matcher) => matches!(matcher.kind, StringMatch::Regex(_)),
        HeaderMatch::Range { .. } | HeaderMatch::Present(_) => false,
    };
    matches!(route.path, PathMatcher::Regex(_)) || route.headers.iter().any(of_header)
}
