//! Whether a route takes an RPC: by its path, then its headers in order, then its fraction. A
//! number is drawn only if path and headers match.
//!
//! Follows C-core `XdsRouting::GetRouteForRequest` (xds_routing.cc) and matchers.cc. Matching
//! allocates only for a header with several values.

use super::{Draw, Purpose, Request};
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, HeaderView, StringMatch, StringMatcher};
use xdsctl_model::resource::route::{PathMatcher, Route};

/// Denominator of `runtime_fraction` and of drops.
pub const MILLION: u64 = 1_000_000;

/// The first thing that kept a route from taking an RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mismatch {
    /// The route is for another path.
    Path,
    /// The header matcher of this index does not match.
    Header(usize),
    /// The draw fell outside of `runtime_fraction`.
    Fraction {
        /// The number that was drawn, per million.
        drawn: u64,
        /// The bound: draws below it match.
        below: u32,
    },
}

/// The first header matcher of a route that an RPC does not match.
pub fn header_mismatch(route: &Route, request: &Request<'_>) -> Option<usize> {
    route.headers.iter().position(|header| !header_matches(header, request))
}

/// Returns the mismatch if its fraction keeps a route from taking an RPC whose path and headers
/// match.
pub fn fraction_mismatch(route: &Route, draw: &mut Draw<'_>) -> Option<Mismatch> {
    let below = route.fraction_per_million?;
    let drawn = draw(Purpose::RouteFraction, MILLION);
    (drawn >= u64::from(below)).then_some(Mismatch::Fraction { drawn, below })
}

/// Says whether the path of an RPC matches.
pub fn path_matches(matcher: &PathMatcher, path: &str) -> bool {
    match matcher {
        PathMatcher::Text(matcher) => string_matches(matcher, path),
        PathMatcher::Regex(regex) => regex.is_full_match(path),
    }
}

/// Says whether a header of an RPC matches.
///
/// A missing header does not match, even with `invert_match`. The exceptions are `present_match`,
/// and clients in which the inversion counts.
pub fn header_matches(matcher: &HeaderMatcher, request: &Request<'_>) -> bool {
    value_matches(matcher, request.seen(&matcher.name, matcher.view).as_deref())
}

/// Says whether the value of a header matches. It is `None` for a header that is missing; see
/// [`header_matches`].
pub fn value_matches(matcher: &HeaderMatcher, value: Option<&str>) -> bool {
    let of_metadata = matcher.view == HeaderView::OfMetadata;
    let matches = match (&matcher.kind, value) {
        // A missing header matches nothing, and the result is inverted afterwards.
        (_, None) if of_metadata => false,
        (HeaderMatch::Present(_), Some(_)) if of_metadata => true,
        (HeaderMatch::Present(present), value) => {
            let is_there = value.is_some_and(|value| !(matcher.view == HeaderView::AsSent && value.is_empty()));
            is_there == *present
        }
        (_, None) if matcher.view == HeaderView::OfRequest => false,
        (_, None) => return false,
        (HeaderMatch::String(string), Some(value)) => string_matches(string, value),
        (HeaderMatch::Range { start, end }, Some(value)) => {
            parse_number(value, matcher.view).is_some_and(|number| (*start..*end).contains(&number))
        }
    };
    matches != matcher.invert_match
}

/// Reads a signed 64-bit decimal. In C-core it may have ASCII white space around it.
fn parse_number(text: &str, view: HeaderView) -> Option<i64> {
    match view {
        HeaderView::AsSent | HeaderView::OfApplication | HeaderView::OfRequest => return text.parse().ok(),
        HeaderView::OfMetadata if text.starts_with('+') => return None,
        HeaderView::OfMetadata => return text.parse().ok(),
        HeaderView::Completed => {}
    }
    text.trim_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']).parse().ok()
}

/// Says whether a text matches.
pub fn string_matches(matcher: &StringMatcher, text: &str) -> bool {
    let bytes = text.as_bytes();
    let equal: fn(&[u8], &[u8]) -> bool = if matcher.ignore_case {
        |a, b| a.eq_ignore_ascii_case(b)
    } else {
        |a, b| a == b
    };
    match &matcher.kind {
        StringMatch::Exact(wanted) => equal(bytes, wanted.as_bytes()),
        StringMatch::Prefix(wanted) => bytes
            .get(..wanted.len())
            .is_some_and(|start| equal(start, wanted.as_bytes())),
        StringMatch::Suffix(wanted) => bytes
            .len()
            .checked_sub(wanted.len())
            .and_then(|start| bytes.get(start..))
            .is_some_and(|end| equal(end, wanted.as_bytes())),
        StringMatch::Contains(wanted) if wanted.is_empty() => true,
        StringMatch::Contains(wanted) if matcher.ignore_case => {
            let lower = bytes.to_ascii_lowercase();
            memchr::memmem::find(&lower, wanted.to_ascii_lowercase().as_bytes()).is_some()
        }
        StringMatch::Contains(wanted) => memchr::memmem::find(bytes, wanted.as_bytes()).is_some(),
        StringMatch::Regex(regex) => regex.is_full_match(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &HeaderMatch, value: Option<&str>, plain: bool, inverted: bool) {
        let headers: Vec<_> = value.map(|v| ("h".to_owned(), v.to_owned())).into_iter().collect();
        let request = Request {
            path: "/",
            headers: &headers,
            timeout: None,
        };
        let results = [false, true].map(|invert_match| {
            let matcher = HeaderMatcher {
                name: "h".into(),
                kind: kind.clone(),
                invert_match,
                view: HeaderView::Completed,
            };
            header_matches(&matcher, &request)
        });
        assert_eq!(results, [plain, inverted], "{kind:?} {value:?}");
    }

    #[test]
    fn inversion_leaves_a_missing_header_unmatched_unless_presence_is_asked() {
        let exact = HeaderMatch::String(StringMatcher {
            kind: StringMatch::Exact("a".into()),
            ignore_case: false,
        });
        check(&exact, None, false, false);
        check(&exact, Some("b"), false, true);
        check(&HeaderMatch::Present(false), None, true, false);
        check(&HeaderMatch::Present(true), Some(""), true, false);
        check(&HeaderMatch::Present(false), Some(""), false, true);
    }

    #[test]
    fn ranges_take_signed_decimals_with_white_space() {
        let range = HeaderMatch::Range { start: -3, end: 5 };
        for (value, expected) in [
            ("-3", true),
            ("5", false),
            (" +4\t", true),
            ("5x", false),
            ("", false),
            ("9223372036854775808", false),
        ] {
            check(&range, Some(value), expected, !expected);
        }
    }

    #[test]
    fn strings_compare_bytes_or_ascii_letters() {
        for (kind, text, exact, folded) in [
            (StringMatch::Exact("aB".into()), "Ab", false, true),
            (StringMatch::Prefix("/Foo".into()), "/foobar", false, true),
            (StringMatch::Suffix("AR".into()), "foobar", false, true),
            (StringMatch::Suffix("foobar".into()), "bar", false, false),
            (StringMatch::Contains("OB".into()), "foobar", false, true),
            (StringMatch::Contains(String::new()), "", true, true),
            (StringMatch::Exact("É".into()), "é", false, false),
        ] {
            let matcher = |ignore_case| StringMatcher {
                kind: kind.clone(),
                ignore_case,
            };
            assert_eq!(string_matches(&matcher(false), text), exact, "{kind:?}");
            assert_eq!(string_matches(&matcher(true), text), folded, "{kind:?}");
        }
    }
}
