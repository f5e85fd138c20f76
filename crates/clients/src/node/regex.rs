//! Regular expressions, which grpc-js-xds compiles with RE2 when it uses a resource, not when it
//! checks it (matcher.ts).
//!
//! If one does not compile, the exception ends a promise that nobody awaits, and the process dies.

use crate::shared::rules::REGEX_NOT_RE2;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::RegexMatchAndSubstitute;
use xdsctl_document::secret::{self, REDACTED};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_re2::{Regex, RegexError};

rules! {
    /// A client's process dies or hangs of the rewrite of a hash policy, as soon as its pattern matches a header.
    HASH_REWRITE_KILLS = "rds-hash-rewrite-kills", RouteConfiguration, Fails, "grpc-js-xds route-action.ts getHash, re2-wasm replaceMatch";
}

/// What a pattern is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternUse<'a> {
    /// The pattern matches the value of the header with this name, or of something without a name
    /// if it is empty. It is compiled with anchors around it.
    Match(&'a str),
    /// The pattern replaces parts of a text.
    Replace,
}

/// Reports a pattern that kills the process as soon as it is used.
pub(super) fn note_death(pattern: &str, used: PatternUse<'_>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(fault) = fault(pattern, used) else { return };
    let shown = match used {
        PatternUse::Match(header) if secret::is_name(header) => REDACTED,
        PatternUse::Match(_) | PatternUse::Replace => pattern,
    };
    let why =
        format_args!("regex `{shown}` does not compile: {fault}; it is accepted, and the process dies when it is used");
    cx.report_if_accepted(&REGEX_NOT_RE2, at, why);
}

/// Reports the rewrite of a hash policy that kills the process or makes it hang. An empty
/// substitution counts as no rewrite.
pub(super) fn note_rewrite(rewrite: &RegexMatchAndSubstitute, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(pattern) = &rewrite.pattern else { return };
    let pattern_at = at.field("pattern");
    let pattern_at = pattern_at.field("regex");
    note_death(&pattern.regex, PatternUse::Replace, &pattern_at, cx);
    if rewrite.substitution.is_empty() {
        return;
    }
    if rewrite.substitution.contains("\\0") {
        let why =
            format_args!("`\\0` stands for no group: it is accepted, and the process dies when the pattern matches");
        cx.report_if_accepted(&HASH_REWRITE_KILLS, &at.field("substitution"), why);
    } else if Regex::new(&translate(&pattern.regex)).is_ok_and(|regex| regex.is_full_match("")) {
        let shown = &pattern.regex;
        let why =
            format_args!("regex `{shown}` matches an empty text: it is accepted, and the process hangs where it does");
        cx.report_if_accepted(&HASH_REWRITE_KILLS, &pattern_at, why);
    }
}

/// Says why a pattern does not compile.
pub(super) fn fault(pattern: &str, used: PatternUse<'_>) -> Option<RegexError> {
    let plain = translate(pattern);
    let compiled = match used {
        PatternUse::Match(_) => Regex::check(&format!("^{plain}$")),
        PatternUse::Replace => Regex::check(&plain),
    };
    compiled.err()
}

/// Translates a pattern from the syntax of JavaScript to that of RE2 (re2-wasm `translateRegExp`):
/// names of groups, and characters by number.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        if first == '\\' {
            let mut following = after.chars();
            let (second, third) = (following.next(), following.next());
            rest = match (second, third) {
                (Some('u'), Some('{')) => {
                    out.push_str("\\x");
                    &after[1..]
                }
                (Some('u'), Some(digit)) if digit.is_ascii_hexdigit() => {
                    let digits = after[1..].bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
                    out.push_str("\\x{");
                    out.push_str(&after[1..=digits]);
                    out.push('}');
                    &after[1 + digits..]
                }
                (Some(second), _) => {
                    out.extend(['\\', second]);
                    &after[second.len_utf8()..]
                }
                (None, _) => {
                    out.push('\\');
                    after
                }
            };
        } else if let Some(name) = rest.strip_prefix("(?<").filter(|name| !name.starts_with(['=', '!'])) {
            out.push_str("(?P<");
            rest = name;
        } else {
            out.push(first);
            rest = after;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{PatternUse, fault};

    #[test]
    fn patterns_are_those_that_the_client_compiles() {
        // Each pattern was tried with the client, in a route that takes an RPC.
        for pattern in ["/a/b|.*", "a\\", "(?<n>.*)", "(?P<n>.*)", "\\u0041|.*", "\\C|.*"] {
            assert!(fault(pattern, PatternUse::Match("")).is_none(), "{pattern}");
        }
        for pattern in ["(", "(?=a)", "a{1001}", "((a{100}){100}){100}|.*"] {
            assert!(fault(pattern, PatternUse::Match("")).is_some(), "{pattern}");
        }
        assert!(fault("(", PatternUse::Replace).is_some());
    }
}
