//! String matchers, header matchers and regular expressions, as grpc-java reads them
//! (internal/MatcherParser.java).
//!
//! The parser throws two kinds of exceptions. Its callers catch both, one or none of them.

use super::{regex, thrown};
use crate::shared::rules::{HEADER_MATCHER_WITHOUT_KIND, REGEX_NOT_RE2, STRING_MATCHER_WITHOUT_PATTERN};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::route::v3::HeaderMatcher;
use xdsctl_document::proto::pb::envoy::config::route::v3::header_matcher::HeaderMatchSpecifier as Spec;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::StringMatcher;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::string_matcher::MatchPattern;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// What the caller of the parser catches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Catches {
    /// A caller for RBAC policies catches everything.
    All,
    /// A caller for routes catches wrong arguments, but not a regular expression that does not
    /// compile.
    Arguments,
    /// A caller for a string matcher alone catches nothing.
    Nothing,
}

/// Checks a string matcher (`parseStringMatcher`), in which any text may be empty.
pub(super) fn string(matcher: &StringMatcher, catches: Catches, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match &matcher.match_pattern {
        Some(MatchPattern::SafeRegex(safe)) => {
            let at = at.field("safe_regex");
            regex(&safe.regex, catches == Catches::All, &at.field("regex"), cx)
        }
        Some(
            MatchPattern::Exact(_) | MatchPattern::Prefix(_) | MatchPattern::Suffix(_) | MatchPattern::Contains(_),
        ) => Ok(()),
        Some(MatchPattern::Custom(_)) | None => {
            let message = format_args!("no pattern, must have exact, prefix, suffix, contains or safe_regex");
            let stop = if catches == Catches::Nothing { thrown } else { reject };
            Err(stop(&STRING_MATCHER_WITHOUT_PATTERN, at, message, cx))
        }
    }
}

/// Checks a header matcher (`parseHeaderMatcher`).
pub(super) fn header(matcher: &HeaderMatcher, catches: Catches, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match &matcher.header_match_specifier {
        Some(Spec::SafeRegexMatch(safe)) => {
            let at = at.field("safe_regex_match");
            regex(&safe.regex, true, &at.field("regex"), cx)
        }
        Some(Spec::StringMatch(matcher)) if cx.has(Feature::HeaderStringMatch) => {
            string(matcher, catches, &at.field("string_match"), cx)
        }
        // The older contains_match came together with string_match.
        Some(Spec::ContainsMatch(_)) if cx.has(Feature::HeaderStringMatch) => Ok(()),
        Some(Spec::StringMatch(_) | Spec::ContainsMatch(_)) | None => {
            let message = format_args!("no kind of match is set that this client has");
            Err(reject(&HEADER_MATCHER_WITHOUT_KIND, at, message, cx))
        }
        Some(_) => Ok(()),
    }
}

/// Checks a regular expression of RE2/J.
pub(super) fn regex(pattern: &str, is_caught: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match regex::check(pattern, cx.has(Feature::AngleGroups)) {
        Ok(()) => Ok(()),
        Err(fault) => {
            let message = format_args!("regex `{pattern}` does not compile: {fault}");
            let stop = if is_caught { reject } else { thrown };
            Err(stop(&REGEX_NOT_RE2, at, message, cx))
        }
    }
}
