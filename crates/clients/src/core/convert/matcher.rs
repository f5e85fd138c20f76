//! StringMatcher, RegexMatcher and HeaderMatcher (A28, A63).
//!
//! Follows C-core `StringMatcherParse` (xds_common_types_parser.cc) and `ParseHeaderMatcher`
//! (xds_route_config_parser.cc).

use crate::shared::rules::{HEADER_MATCHER_WITHOUT_KIND, REGEX_NOT_RE2, STRING_MATCHER_WITHOUT_PATTERN};
use crate::shared::{fields, header_name};
use xdsctl_document::proto::pb::envoy::config::route::v3 as route;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3 as pb;
use xdsctl_document::secret::{self, REDACTED};
use xdsctl_model::diag::{Path, Rule, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, HeaderView, StringMatch, StringMatcher};
use xdsctl_re2::Regex;

rules! {
    /// A StringMatcher with a regex sets ignore_case.
    STRING_MATCHER_REGEX_IGNORE_CASE = "string-matcher-regex-ignore-case", Common, Nack, "C-core StringMatcherParse";
    /// A header matcher's range starts after its end.
    HEADER_MATCHER_RANGE_REVERSED = "header-matcher-range-reversed", Common, Nack, "gRFC A28; C-core HeaderMatcher::Create";
    /// A header matcher's range has no number in it.
    HEADER_MATCHER_RANGE_EMPTY = "header-matcher-range-empty", Common, Advice, "gRFC A28; C-core HeaderMatcher::Match",
        every "in every client the end of a range is not in it";
}

/// Returns how many parts per million one part of the FractionalPercent at `at` is; reports `rule`
/// if its denominator is unknown.
pub fn per_million(denominator: i32, rule: &'static Rule, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<u32> {
    let why = format_args!("denominator is {denominator}, must be HUNDRED (0), TEN_THOUSAND (1) or MILLION (2)");
    cx.required(fields::per_million(denominator), rule, &at.field("denominator"), why)
}

/// Compiles `pattern`, reporting [`REGEX_NOT_RE2`] at `at`.
pub fn regex(pattern: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Regex> {
    compile(pattern, "", at, cx)
}

/// Compiles `pattern`. If it is for a header that holds secrets, the finding does not quote it.
fn compile(pattern: &str, header: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Regex> {
    let compiled = Regex::new(pattern);
    if let Err(fault) = &compiled {
        let why = match secret::is_name(header) {
            true => format!("`{REDACTED}` does not compile; it is for a header that holds secrets"),
            false => format!("`{pattern}` does not compile: {fault}"),
        };
        cx.report(&REGEX_NOT_RE2, at, format_args!("regex {why}"));
    }
    compiled.ok()
}

/// Converts a StringMatcher at `at`.
pub fn string_matcher(
    matcher: Option<&pb::StringMatcher>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<StringMatcher> {
    string_match(matcher, None, (at, at), cx)
}

/// Converts a StringMatcher at `at`, for the value of `header` if there is one. A fault in a regex
/// is reported at `regex_at`.
fn string_match(
    matcher: Option<&pb::StringMatcher>,
    header: Option<&str>,
    (at, regex_at): (&Path<'_>, &Path<'_>),
    cx: &mut Validation<'_>,
) -> Option<StringMatcher> {
    use pb::string_matcher::MatchPattern;
    let pattern = matcher.and_then(|m| m.match_pattern.as_ref());
    let ignore_case = matcher.is_some_and(|m| m.ignore_case);
    let is_lenient = header.is_some() && !cx.has(Feature::HeaderStringChecked);
    let kind = match pattern {
        Some(MatchPattern::Exact(text)) => StringMatch::Exact(text.clone()),
        Some(MatchPattern::Prefix(text)) => StringMatch::Prefix(text.clone()),
        Some(MatchPattern::Suffix(text)) => StringMatch::Suffix(text.clone()),
        Some(MatchPattern::Contains(text)) => StringMatch::Contains(text.clone()),
        Some(MatchPattern::SafeRegex(safe)) => {
            let regex = compile(&safe.regex, header.unwrap_or_default(), regex_at, cx)?;
            if ignore_case && !is_lenient {
                cx.report(
                    &STRING_MATCHER_REGEX_IGNORE_CASE,
                    &at.field("ignore_case"),
                    format_args!("ignore_case is true beside safe_regex, must be false"),
                )
                .help("put `(?i)` in front of the regex");
                return None;
            }
            StringMatch::Regex(regex)
        }
        Some(MatchPattern::Custom(_)) | None => {
            cx.report(
                &STRING_MATCHER_WITHOUT_PATTERN,
                at,
                format_args!("no pattern, must have exact, prefix, suffix, contains or safe_regex"),
            );
            return None;
        }
    };
    Some(StringMatcher { kind, ignore_case })
}

/// Converts a HeaderMatcher at `at`.
pub fn header_matcher(matcher: &route::HeaderMatcher, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<HeaderMatcher> {
    use route::header_matcher::HeaderMatchSpecifier as Spec;
    let text = |kind| {
        HeaderMatch::String(StringMatcher {
            kind,
            ignore_case: false,
        })
    };
    let kind = match matcher.header_match_specifier.as_ref() {
        Some(Spec::ExactMatch(value)) => text(StringMatch::Exact(value.clone())),
        Some(Spec::PrefixMatch(value)) => text(StringMatch::Prefix(value.clone())),
        Some(Spec::SuffixMatch(value)) => text(StringMatch::Suffix(value.clone())),
        Some(Spec::ContainsMatch(value)) => text(StringMatch::Contains(value.clone())),
        Some(Spec::SafeRegexMatch(safe)) => text(StringMatch::Regex(compile(&safe.regex, &matcher.name, at, cx)?)),
        Some(Spec::PresentMatch(present)) => HeaderMatch::Present(*present),
        Some(Spec::RangeMatch(range)) => {
            let (start, end) = (range.start, range.end);
            let why = format_args!("range starts at {start} and ends at {end}, the start must not be greater");
            cx.check(start <= end, &HEADER_MATCHER_RANGE_REVERSED, at, why)?;
            if start == end {
                let why = format_args!("range starts and ends at {start}, and the end is not part of it");
                cx.report(&HEADER_MATCHER_RANGE_EMPTY, &at.field("range_match"), why);
            }
            HeaderMatch::Range { start, end }
        }
        Some(Spec::StringMatch(value)) if cx.has(Feature::HeaderStringMatch) => {
            let inner = at.field("string_match");
            let regex_at = if cx.has(Feature::HeaderStringChecked) {
                &inner
            } else {
                at
            };
            HeaderMatch::String(string_match(Some(value), Some(&matcher.name), (&inner, regex_at), cx)?)
        }
        Some(Spec::StringMatch(_)) | None => {
            cx.report(
                &HEADER_MATCHER_WITHOUT_KIND,
                at,
                format_args!("no kind of match is set, must have one such as string_match or present_match"),
            );
            return None;
        }
    };
    note_upper_case(&matcher.name, &at.field("name"), cx);
    Some(HeaderMatcher {
        name: matcher.name.clone(),
        kind,
        invert_match: matcher.invert_match,
        view: HeaderView::Completed,
    })
}

/// Notes a header name that no request has because of its upper case. `Host` and `:Authority` are
/// exceptions: the client knows them in any case.
pub fn note_upper_case(name: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    if !name.eq_ignore_ascii_case("host") && !name.eq_ignore_ascii_case(":authority") {
        header_name::note_upper_case(name, at, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use route::header_matcher::HeaderMatchSpecifier as Spec;
    use xdsctl_document::proto::pb::envoy::r#type::v3::Int64Range;
    use xdsctl_model::profile::{Profile, ServerFacts};

    #[track_caller]
    fn check(name: &str, spec: Option<Spec>, expected: &[(&str, &str)]) {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let message = route::HeaderMatcher {
            name: name.to_owned(),
            header_match_specifier: spec,
            ..Default::default()
        };
        header_matcher(&message, &Path::ROOT.field("h"), &mut cx);
        let found: Vec<_> = cx
            .diagnostics()
            .iter()
            .map(|d| (d.rule.id, d.path.to_string()))
            .collect();
        let expected: Vec<_> = expected.iter().map(|(id, path)| (*id, (*path).to_owned())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_range_is_half_open() {
        let range = |start, end| Some(Spec::RangeMatch(Int64Range { start, end }));
        check("h", range(1, 2), &[]);
        check("h", range(1, 1), &[("header-matcher-range-empty", "h.range_match")]);
        check("h", range(2, 1), &[("header-matcher-range-reversed", "h")]);
    }

    #[test]
    fn names_with_upper_case_are_noted_but_for_the_authority() {
        let present = || Some(Spec::PresentMatch(true));
        check("x-user", present(), &[]);
        check("X-User", present(), &[("header-name-upper-case", "h.name")]);
        check("Host", present(), &[]);
        check("X-User", None, &[("header-matcher-without-kind", "h")]);
    }

    #[test]
    fn a_string_matcher_has_its_own_path() {
        let matcher = |match_pattern, ignore_case| {
            Some(Spec::StringMatch(pb::StringMatcher {
                match_pattern,
                ignore_case,
            }))
        };
        let regex = |text: &str| {
            pb::string_matcher::MatchPattern::SafeRegex(pb::RegexMatcher {
                regex: text.to_owned(),
                ..Default::default()
            })
        };
        check(
            "h",
            matcher(None, false),
            &[("string-matcher-without-pattern", "h.string_match")],
        );
        check(
            "h",
            matcher(Some(regex("a")), true),
            &[("string-matcher-regex-ignore-case", "h.string_match.ignore_case")],
        );
        check(
            "h",
            matcher(Some(regex("(")), true),
            &[("regex-not-re2", "h.string_match")],
        );
    }
}
