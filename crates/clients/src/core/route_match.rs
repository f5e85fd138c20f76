//! RouteMatch: which RPCs a route takes (A28).
//!
//! Follows C-core `ParseRoute` and `RoutePathMatchParse` (xds_route_config_parser.cc): query
//! parameters, path, headers, fraction, in this order. A gRPC path is always `/service/method`, so
//! a route whose path or prefix cannot match one is dropped without a word, and nothing that comes
//! later in it is looked at.

use super::route_action::{SHARE_NEGLIGIBLE, is_negligible};
use crate::core::convert::matcher;
use crate::shared::rules::{FRACTION_DENOMINATOR_UNKNOWN, PATH_SPECIFIER_UNSUPPORTED, ROUTE_WITHOUT_MATCH};
use xdsctl_document::proto::pb::envoy::config::core::v3::RuntimeFractionalPercent;
use xdsctl_document::proto::pb::envoy::config::route::v3::RouteMatch as Pb;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_match::PathSpecifier;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::resource::matcher::{HeaderMatcher, StringMatch, StringMatcher};
use xdsctl_model::resource::route::PathMatcher;
use xdsctl_model::text::percent;

rules! {
    /// A route with query_parameters is dropped.
    ROUTE_QUERY_PARAMETERS = "rds-route-query-parameters", RouteConfiguration, Dropped, "gRFC A28; C-core ParseRoute",
        also [Go Java] "they leave the route out too (routesProtoToSlice; parseRouteMatch)";
    /// A route whose prefix cannot begin a gRPC path is dropped.
    ROUTE_PREFIX_IMPOSSIBLE = "rds-route-prefix-impossible", RouteConfiguration, Dropped, "gRFC A28; C-core RoutePathMatchParse",
        every "the path of no RPC begins so: a client that keeps the route never takes it";
    /// A route whose path is no gRPC path is dropped.
    ROUTE_PATH_IMPOSSIBLE = "rds-route-path-impossible", RouteConfiguration, Dropped, "gRFC A28; C-core RoutePathMatchParse",
        every "no RPC has this path: a client that keeps the route never takes it";
    /// A case_sensitive of false does not apply to a regex.
    CASE_SENSITIVE_WITH_REGEX = "rds-case-sensitive-with-regex", RouteConfiguration, Ignored as Warning, "C-core StringMatcher::Create",
        also [Go Java] "both match a regex as it is written";
    /// A runtime_fraction overflows 32 bits when it is turned into parts per million.
    FRACTION_OVERFLOW = "rds-fraction-overflow", RouteConfiguration, Advice, "C-core RouteRuntimeFractionParse";
    /// A header matcher asks for a header that a client's routing never sees.
    HEADER_UNSEEN = "rds-header-unseen-by-client", RouteConfiguration, Advice, "gRFC A28; C-core xds_routing.cc GetHeaderValue";
}

/// Converts the match at `at` to the matchers of path and headers and the share of RPCs that the
/// route takes, per million. `None` if the client rejects or drops the route, whose rest is then
/// skipped.
pub(super) fn from_proto(
    message: Option<&Pb>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<(PathMatcher, Vec<HeaderMatcher>, Option<u32>)> {
    let why = "missing, must hold a prefix, a path or a safe_regex";
    let message = cx.required(message, &ROUTE_WITHOUT_MATCH, at, why)?;
    let (query, query_at) = (&message.query_parameters, at.field("query_parameters"));
    let why = "query_parameters is set: a gRPC request has none, so the client drops the route";
    cx.check(query.is_empty(), &ROUTE_QUERY_PARAMETERS, &query_at, why)?;
    let path = path(message, at, cx)?;
    let headers_at = at.field("headers");
    let mut headers = Vec::with_capacity(message.headers.len());
    for (i, header) in message.headers.iter().enumerate() {
        let at = headers_at.index(i);
        if let Some(matcher) = matcher::header_matcher(header, &at, cx) {
            note_unseen_header(&matcher.name, &at.field("name"), cx);
            headers.push(matcher);
        }
    }
    Some((path, headers, fraction(message.runtime_fraction.as_ref(), at, cx)))
}

/// Converts the path specifier.
fn path(message: &Pb, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<PathMatcher> {
    let ignore_case = message.case_sensitive == Some(false);
    let kind = match message.path_specifier.as_ref() {
        Some(PathSpecifier::Prefix(prefix)) => {
            if let Err(why) = check_prefix(prefix) {
                cx.report(
                    &ROUTE_PREFIX_IMPOSSIBLE,
                    &at.field("prefix"),
                    format_args!("prefix `{prefix}` {why}: no gRPC path begins so, no RPC takes the route"),
                );
                return None;
            }
            StringMatch::Prefix(prefix.clone())
        }
        Some(PathSpecifier::Path(path)) => {
            let why = format_args!("path `{path}` is not of the form `/service/method`, no RPC takes the route");
            cx.check(is_grpc_path(path), &ROUTE_PATH_IMPOSSIBLE, &at.field("path"), why)?;
            StringMatch::Exact(path.clone())
        }
        Some(PathSpecifier::SafeRegex(safe)) => {
            let regex = matcher::regex(&safe.regex, at, cx)?;
            if ignore_case {
                cx.report(
                    &CASE_SENSITIVE_WITH_REGEX,
                    &at.field("case_sensitive"),
                    format_args!("case_sensitive is false beside safe_regex, which stays case-sensitive"),
                )
                .help("put `(?i)` in front of the regex");
            }
            return Some(PathMatcher::Regex(regex));
        }
        Some(PathSpecifier::ConnectMatcher(_)) => return unsupported("connect_matcher", at, cx),
        Some(PathSpecifier::PathSeparatedPrefix(_)) => return unsupported("path_separated_prefix", at, cx),
        Some(PathSpecifier::PathMatchPolicy(_)) => return unsupported("path_match_policy", at, cx),
        None => return unsupported("not set", at, cx),
    };
    Some(PathMatcher::Text(StringMatcher { kind, ignore_case }))
}

fn unsupported(specifier: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<PathMatcher> {
    let why = format_args!("the path specifier is {specifier}, must be prefix, path or safe_regex");
    cx.report(&PATH_SPECIFIER_UNSUPPORTED, at, why);
    None
}

/// Checks that a path `/service/method` can begin with `prefix`; the error says why not.
fn check_prefix(prefix: &str) -> Result<(), &'static str> {
    if prefix.is_empty() {
        return Ok(());
    }
    let Some(rest) = prefix.strip_prefix('/') else {
        return Err("does not begin with `/`");
    };
    match rest.split_once('/') {
        Some((_, method)) if method.contains('/') => Err("has more than two `/`"),
        Some(("", _)) => Err("has no service between its first two `/`"),
        Some(_) | None => Ok(()),
    }
}

/// Says whether `path` is `/service/method` with both parts and no third slash.
fn is_grpc_path(path: &str) -> bool {
    path.strip_prefix('/')
        .and_then(|rest| rest.split_once('/'))
        .is_some_and(|(service, method)| !service.is_empty() && !method.is_empty() && !method.contains('/'))
}

const MILLION: u64 = 1_000_000;

/// Converts runtime_fraction to parts per million.
///
/// The product is computed in 32 bits with wrap-around, as the client does; 1,000,000 and more
/// means always.
fn fraction(fraction: Option<&RuntimeFractionalPercent>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<u32> {
    let value = fraction?.default_value.as_ref()?;
    let at = at.field("runtime_fraction");
    let at = at.field("default_value");
    let factor = matcher::per_million(value.denominator, &FRACTION_DENOMINATOR_UNKNOWN, &at, cx)?;
    let per_million = value.numerator.wrapping_mul(factor);
    if value.numerator.checked_mul(factor).is_none() {
        cx.report(
            &FRACTION_OVERFLOW,
            &at.field("numerator"),
            format_args!(
                "numerator {} overflows in parts per million: the route takes {} of 1000000 RPCs",
                value.numerator,
                per_million.min(1_000_000)
            ),
        );
    }
    if is_negligible(per_million.into(), MILLION) {
        cx.report(
            &SHARE_NEGLIGIBLE,
            &at.field("numerator"),
            format_args!(
                "the route takes {per_million} of {MILLION} RPCs ({})",
                percent(per_million.into(), MILLION)
            ),
        );
    }
    Some(per_million)
}

/// Headers that the client adds only after it has picked a route.
const LATE: [&str; 4] = [":method", ":scheme", "grpc-accept-encoding", "te"];
/// Says whether a client that picks a route sees the header only if the application set it on the
/// RPC.
///
/// The client knows the authority in any case, the other names in lower case only.
fn is_late_unless_set(name: &str) -> bool {
    name == "user-agent" || name.eq_ignore_ascii_case(":authority") || name.eq_ignore_ascii_case("host")
}

/// Notes a header that counts as missing when a client picks a route or hashes a request.
pub(super) fn note_unseen_header(name: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = if name.ends_with("-bin") {
        "is binary, and a binary header counts as missing"
    } else if LATE.contains(&name) {
        "is not there yet when a client picks a route"
    } else if is_late_unless_set(name) {
        "is not there when a client picks a route, unless the application sets it"
    } else {
        return;
    };
    cx.report(&HEADER_UNSEEN, at, format_args!("header `{name}` {why}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_that_begin_a_grpc_path() {
        for prefix in ["", "/", "/svc", "/svc/", "/svc/meth", "/é/ "] {
            assert_eq!(check_prefix(prefix), Ok(()), "{prefix:?}");
        }
        for prefix in ["svc", "//", "//a", "/a/b/", "/a//", " /a"] {
            assert!(check_prefix(prefix).is_err(), "{prefix:?}");
        }
    }

    #[test]
    fn paths_of_the_form_service_method() {
        for path in ["/a/b", "/a.b.C/D", "/ / "] {
            assert!(is_grpc_path(path), "{path:?}");
        }
        for path in ["", "/", "a/b", "/a", "/a/", "//b", "/a/b/", "/a/b/c"] {
            assert!(!is_grpc_path(path), "{path:?}");
        }
    }
}
