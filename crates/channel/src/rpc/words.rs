//! The reasons of a choice in words: why a route takes an RPC or does not, and for what a cookie
//! asks.
//!
//! The reports and the simulator's trace use these words.

use std::fmt::Write as _;

use super::{ActiveSession, Chain, Mismatch, Request, Selector};
use xdsctl_document::secret;
use xdsctl_lb::metadata::Metadata;
use xdsctl_lb::rls;
use xdsctl_model::cookie::covers;
use xdsctl_model::resource::filter::FilterConfig;
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, HeaderView, StringMatch, StringMatcher};
use xdsctl_model::resource::route::{Action, PathMatcher, Route};
use xdsctl_model::text::percent;

/// Describes the lookup (RLS) that an RPC causes on a route to a cluster specifier plugin; `None`
/// for a plugin that xdsctl does not simulate.
pub fn lookup(selector: &Selector, request: &Request<'_>, plugin: &str) -> Option<String> {
    let config = selector.config();
    let rpc = Metadata {
        path: request.path,
        authority: &config.authority,
        headers: request.headers,
        timeout: request.timeout,
    };
    let lookup = config.route_config.route_lookup(plugin)?;
    let default = match lookup.default_target.as_str() {
        "" => "no default target".to_owned(),
        target => format!("the default target is {target}"),
    };
    let keys = rls::shown_keys(lookup, &rpc);
    Some(format!("{keys} at `{}`, {default}", lookup.lookup_service))
}

/// Describes a string matcher.
pub fn of_string(matcher: &StringMatcher) -> String {
    let case = if matcher.ignore_case { ", in any case" } else { "" };
    match &matcher.kind {
        StringMatch::Exact(text) => format!("is `{text}`{case}"),
        StringMatch::Prefix(text) => format!("begins with `{text}`{case}"),
        StringMatch::Suffix(text) => format!("ends with `{text}`{case}"),
        StringMatch::Contains(text) => format!("contains `{text}`{case}"),
        StringMatch::Regex(regex) => format!("matches `{}`", regex.as_str()),
    }
}

/// Describes a path matcher.
pub fn of_path(matcher: &PathMatcher) -> String {
    match matcher {
        PathMatcher::Text(StringMatcher {
            kind: StringMatch::Prefix(text),
            ..
        }) if text.is_empty() => "any path".to_owned(),
        PathMatcher::Text(matcher) => format!("path {}", of_string(matcher)),
        PathMatcher::Regex(regex) => format!("path matches `{}`", regex.as_str()),
    }
}

/// Describes a header matcher; `hides` masks values that may be secret.
pub fn of_header(matcher: &HeaderMatcher, hides: bool) -> String {
    let not = if matcher.invert_match { "not: " } else { "" };
    let name = &matcher.name;
    match &matcher.kind {
        HeaderMatch::String(_) if hides && secret::is_name(name) => {
            format!("{not}header `{name}` has a value that is not shown")
        }
        HeaderMatch::String(string) => format!("{not}header `{name}` {}", of_string(string)),
        HeaderMatch::Range { start, end } => format!("{not}header `{name}` is a number in {start}..{end}"),
        HeaderMatch::Present(true) => format!("{not}header `{name}` is there"),
        HeaderMatch::Present(false) => format!("{not}header `{name}` is missing"),
    }
}

/// Describes everything that a route requires of an RPC.
pub fn route_match(route: &Route, hides: bool) -> String {
    let mut words = of_path(&route.path);
    for header in &route.headers {
        let _ = write!(words, ", {}", of_header(header, hides));
    }
    if let Some(below) = route.fraction_per_million {
        let _ = write!(words, ", {} of RPCs", percent(u64::from(below), 1_000_000));
    }
    words
}

/// Describes why a route does not take an RPC.
pub fn mismatch(route: &Route, mismatch: Mismatch, request: &Request<'_>, hides: bool) -> String {
    match mismatch {
        Mismatch::Path => format!("{}, it is `{}`", of_path(&route.path), request.path),
        Mismatch::Header(index) => match route.headers.get(index) {
            None => String::new(),
            Some(matcher) => {
                let value = match request.seen(&matcher.name, matcher.view) {
                    Some(_) if hides && secret::is_name(&matcher.name) => "it has another".to_owned(),
                    Some(value) => format!("it is `{value}`"),
                    None => absent(matcher, request).to_owned(),
                };
                format!("headers[{index}]: {}, {value}", of_header(matcher, hides))
            }
        },
        Mismatch::Fraction { drawn, below } => {
            format!(
                "{} of RPCs: {drawn} was drawn, below {below} matches",
                percent(u64::from(below), 1_000_000)
            )
        }
    }
}

/// Describes why a header has no value.
fn absent(matcher: &HeaderMatcher, request: &Request<'_>) -> &'static str {
    let name = matcher.name.as_str();
    // If a client sees only the application's headers, the letter case of a name does not matter.
    let in_any_case = matcher.view == HeaderView::OfApplication;
    if name.ends_with("-bin") {
        "binary headers are never seen"
    } else if !in_any_case && name.bytes().any(|b| b.is_ascii_uppercase()) {
        "a name with capitals matches no header"
    } else if matches!(name, ":authority" | "host") {
        "it is missing: the channel's authority is put on later"
    } else if request.joined(&name.to_ascii_lowercase()).is_none() {
        "it is missing"
    } else {
        "it is not seen"
    }
}

/// Describes the action of a route that forwards no RPC.
pub fn inappropriate_action(route: &Route) -> &'static str {
    match route.action {
        Action::NonForwarding => "non_forwarding_action, which is for servers",
        Action::Unknown | Action::Route(_) => "an action that gRPC does not have, such as redirect",
    }
}

/// Describes why session filters of a chain do nothing for RPCs of a path. Active filters are left
/// out.
pub fn idle_sessions(chain: &Chain, path: &str) -> impl Iterator<Item = String> {
    chain.iter().filter_map(move |filter| {
        let FilterConfig::StatefulSession(cookie) = &filter.config else {
            return None;
        };
        let name = &filter.name;
        if filter.disabled {
            let level = filter.disabled_level.name();
            return Some(format!("none: filter `{name}` is switched off by the {level}"));
        }
        let Some(cookie) = cookie.as_ref().filter(|cookie| !cookie.name.is_empty()) else {
            let level = filter.config_level.name();
            return Some(format!("none: filter `{name}` of the {level} has no cookie"));
        };
        let of = &cookie.path;
        (!covers(of, path)).then(|| {
            format!(
                "none: the path `{of}` of cookie `{}` does not cover `{path}`",
                cookie.name
            )
        })
    })
}

/// Describes what a session filter does with the request's cookie.
pub fn session(session: &ActiveSession) -> String {
    let name = &session.cookie.name;
    match (&session.undecodable, session.addresses.as_str()) {
        (Some(error), _) => format!("cookie `{name}` counts as none: {error}"),
        (None, "") => format!("no address in a cookie `{name}`, the answer sets one"),
        (None, addresses) if session.cookie_cluster == session.cluster => {
            format!("cookie `{name}` asks for {addresses} in cluster {}", session.cluster)
        }
        (None, addresses) => format!(
            "cookie `{name}` asks for {addresses} in cluster `{}`, which is not one of the route's; {addresses} is looked for in {}",
            session.cookie_cluster, session.cluster
        ),
    }
}
