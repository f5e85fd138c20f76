//! Matchers, as a client keeps them.

use super::FamilyReader;
use xdsctl_document::proto::pb::envoy::config::route::v3 as route;
use xdsctl_document::proto::pb::envoy::config::route::v3::header_matcher::HeaderMatchSpecifier as Spec;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3 as pb;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::string_matcher::MatchPattern;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, HeaderView, StringMatch, StringMatcher};
use xdsctl_re2::Regex;

/// Compiles a pattern that the client has compiled; `None` for a pattern that is not in RE2's
/// dialect.
pub(super) fn regex(pattern: &str) -> Option<Regex> {
    let compiled = Regex::new(pattern).ok();
    compiled.or_else(|| Regex::new(&pattern.replace("(?<", "(?P<")).ok())
}

impl FamilyReader<'_> {
    /// Compiles a pattern that is compared with whole texts.
    pub(super) fn whole(&self, pattern: &str) -> Option<Regex> {
        // `^` and `$` bind to the first and the last alternative alone, so a match may have any
        // text around it.
        match self.has(Feature::RegexAnchorsLoose) && pattern.contains('|') {
            true => regex(&format!("(?s:.*)(?:^{pattern}$)(?s:.*)")),
            false => regex(pattern),
        }
    }

    /// Reads a string matcher; a regex never ignores case.
    pub(super) fn string_matcher(&self, matcher: &pb::StringMatcher) -> Option<StringMatcher> {
        let kind = match matcher.match_pattern.as_ref()? {
            MatchPattern::Exact(text) => StringMatch::Exact(text.clone()),
            MatchPattern::Prefix(text) => StringMatch::Prefix(text.clone()),
            MatchPattern::Suffix(text) => StringMatch::Suffix(text.clone()),
            MatchPattern::Contains(text) => StringMatch::Contains(text.clone()),
            MatchPattern::SafeRegex(safe) => StringMatch::Regex(self.whole(&safe.regex)?),
            MatchPattern::Custom(_) => return None,
        };
        Some(StringMatcher {
            ignore_case: matcher.ignore_case && !self.never_folds(&kind),
            kind,
        })
    }

    fn never_folds(&self, kind: &StringMatch) -> bool {
        match kind {
            StringMatch::Regex(_) => true,
            StringMatch::Contains(_) => self.has(Feature::ContainsExact),
            StringMatch::Exact(_) | StringMatch::Prefix(_) | StringMatch::Suffix(_) => false,
        }
    }

    /// Reads a header matcher of a route.
    pub(super) fn header_matcher(&self, matcher: &route::HeaderMatcher) -> Option<HeaderMatcher> {
        let kind = match &matcher.header_match_specifier {
            Some(specifier) => self.header_match(specifier),
            None => None,
        };
        Some(HeaderMatcher {
            name: match self.has(Feature::HeaderNamesFolded) {
                true => matcher.name.to_ascii_lowercase(),
                false => matcher.name.clone(),
            },
            // The client does not know this kind of match, so no value matches.
            kind: match self.has(Feature::LenientRoutes) {
                true => kind.unwrap_or(HeaderMatch::Range { start: 0, end: 0 }),
                false => kind?,
            },
            invert_match: matcher.invert_match,
            view: HeaderView::of(|feature| self.has(feature)),
        })
    }

    fn header_match(&self, specifier: &Spec) -> Option<HeaderMatch> {
        let text = |kind| {
            HeaderMatch::String(StringMatcher {
                kind,
                ignore_case: false,
            })
        };
        Some(match specifier {
            Spec::ExactMatch(value) => text(StringMatch::Exact(value.clone())),
            Spec::PrefixMatch(value) => text(StringMatch::Prefix(value.clone())),
            Spec::SuffixMatch(value) => text(StringMatch::Suffix(value.clone())),
            Spec::ContainsMatch(_) if self.has(Feature::LenientRoutes) => return None,
            Spec::ContainsMatch(value) => text(StringMatch::Contains(value.clone())),
            Spec::SafeRegexMatch(safe) => text(StringMatch::Regex(self.whole(&safe.regex)?)),
            Spec::StringMatch(matcher) => HeaderMatch::String(self.string_matcher(matcher)?),
            Spec::PresentMatch(present) => HeaderMatch::Present(*present),
            Spec::RangeMatch(range) => HeaderMatch::Range {
                start: range.start,
                end: match self.has(Feature::RangeWithEnd) {
                    true => range.end.saturating_add(1),
                    false => range.end,
                },
            },
        })
    }
}
