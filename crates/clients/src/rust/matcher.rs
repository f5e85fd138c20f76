//! Matchers, as tonic-xds reads them (xds/resource/route_config.rs `validate_header_matcher`,
//! string_matcher.rs, safe_regex.rs).

use crate::shared::rules::{HEADER_MATCHER_WITHOUT_KIND, REGEX_NOT_RE2, STRING_MATCHER_WITHOUT_PATTERN};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::route::v3::HeaderMatcher as Pb;
use xdsctl_document::proto::pb::envoy::config::route::v3::header_matcher::HeaderMatchSpecifier as Spec;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::StringMatcher as StringPb;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::string_matcher::MatchPattern;
use xdsctl_document::secret::{self, REDACTED};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, HeaderView, StringMatch, StringMatcher};
use xdsctl_re2::Regex;

/// Converts the header matchers of a route. Matchers for binary headers are left out, so anything
/// matches them.
pub(super) fn headers(list: &[Pb], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Vec<HeaderMatcher>> {
    let mut kept = Vec::with_capacity(list.len());
    for (i, message) in list.iter().enumerate() {
        if !message.name.ends_with("-bin") {
            kept.push(header(message, &at.index(i), cx)?);
        }
    }
    Ok(kept)
}

fn header(message: &Pb, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<HeaderMatcher> {
    let text = |kind| {
        HeaderMatch::String(StringMatcher {
            kind,
            ignore_case: false,
        })
    };
    let kind = match &message.header_match_specifier {
        Some(Spec::ExactMatch(value)) => text(StringMatch::Exact(value.clone())),
        Some(Spec::SafeRegexMatch(safe)) => {
            let at = at.field("safe_regex_match");
            let regex = regex_of(&message.name, &safe.regex, &at.field("regex"), cx)?;
            text(StringMatch::Regex(regex))
        }
        Some(Spec::RangeMatch(range)) => HeaderMatch::Range {
            start: range.start,
            end: range.end,
        },
        Some(Spec::PresentMatch(present)) => HeaderMatch::Present(*present),
        Some(Spec::StringMatch(matcher)) => {
            HeaderMatch::String(string(&message.name, matcher, &at.field("string_match"), cx)?)
        }
        None => HeaderMatch::Present(true),
        Some(Spec::PrefixMatch(_) | Spec::SuffixMatch(_) | Spec::ContainsMatch(_)) => {
            let why =
                format_args!("prefix_match, suffix_match and contains_match are not supported, must be string_match");
            return Err(reject(&HEADER_MATCHER_WITHOUT_KIND, at, why, cx));
        }
    };
    Ok(HeaderMatcher {
        name: message.name.to_ascii_lowercase(),
        kind,
        invert_match: message.invert_match,
        view: HeaderView::OfRequest,
    })
}

/// Converts a string matcher; `header` is the name of the header that it looks at, if any.
pub(super) fn string(
    header: &str,
    message: &StringPb,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<StringMatcher> {
    let kind = match &message.match_pattern {
        Some(MatchPattern::Exact(text)) => StringMatch::Exact(text.clone()),
        Some(MatchPattern::Prefix(text)) => StringMatch::Prefix(text.clone()),
        Some(MatchPattern::Suffix(text)) => StringMatch::Suffix(text.clone()),
        Some(MatchPattern::Contains(text)) => StringMatch::Contains(text.clone()),
        Some(MatchPattern::SafeRegex(safe)) => {
            let at = at.field("safe_regex");
            StringMatch::Regex(regex_of(header, &safe.regex, &at.field("regex"), cx)?)
        }
        Some(MatchPattern::Custom(_)) | None => {
            let why = format_args!("none of exact, prefix, suffix, contains and safe_regex is set");
            return Err(reject(&STRING_MATCHER_WITHOUT_PATTERN, at, why, cx));
        }
    };
    Ok(StringMatcher {
        ignore_case: message.ignore_case && !matches!(kind, StringMatch::Regex(_)),
        kind,
    })
}

/// Converts a pattern of the crate `regex`; `header` is the name of the header that it is for, if
/// any.
pub(super) fn regex_of(header: &str, pattern: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Regex> {
    Regex::of_rust(pattern).map_err(|fault| {
        let shown = if secret::is_name(header) { REDACTED } else { pattern };
        let why = format_args!("regex `{shown}` is not one of the crate `regex`: {fault}");
        reject(&REGEX_NOT_RE2, at, why, cx)
    })
}
