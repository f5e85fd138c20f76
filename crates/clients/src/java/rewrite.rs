//! Substitutions of hash policies for which re2j throws an exception when it replaces something
//! (`Matcher.appendReplacement`). grpc-java checks none before.

use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::{RegexMatchAndSubstitute, RegexMatcher};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_re2::Regex;

rules! {
    /// The substitution of a hash policy's rewrite is an exception out of every call that it replaces something for.
    HASH_REWRITE_THROWS = "rds-hash-rewrite-throws", RouteConfiguration, Fails, "grpc-java XdsNameResolver.generateHash, re2j Matcher.appendReplacement";
}

/// Reports a substitution that makes calls fail with an exception.
pub(super) fn note_exception(
    rewrite: &RegexMatchAndSubstitute,
    pattern: &RegexMatcher,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    // Most substitutions name no group.
    if !rewrite.substitution.contains('$') {
        return;
    }
    let Ok(regex) = Regex::new(&pattern.regex) else { return };
    if let Some(fault) = fault(&rewrite.substitution, &regex.groups()) {
        let why = format_args!("{fault}: it is accepted, and RPCs whose header matches end with an exception");
        cx.report_if_accepted(&HASH_REWRITE_THROWS, &at.field("substitution"), why);
    }
}

/// Says what is wrong with a template for a pattern with these groups.
fn fault(template: &str, groups: &[&str]) -> Option<String> {
    let mut rest = template.chars();
    while let Some(first) = rest.next() {
        let after = rest.clone().next();
        match (first, after) {
            ('\\', _) => _ = rest.next(),
            ('$', Some(digit @ '1'..='9')) => {
                let number = digit.to_digit(10)?;
                if number as usize > groups.len() {
                    return Some(format!("the pattern has no group {number}"));
                }
            }
            ('$', Some('{')) => {
                let inner = &rest.as_str()[1..];
                let Some((name, left)) = inner.split_once('}').filter(|(name, _)| !name.contains(' ')) else {
                    return Some("a group's name has no `}` behind it".to_owned());
                };
                if name.is_empty() || !groups.contains(&name) {
                    return Some(format!("the pattern has no group `{name}`"));
                }
                rest = left.chars();
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn templates_name_groups_that_the_pattern_has() {
        for (template, is_bad) in [
            ("$0", false),
            ("$1", false),
            ("$12", false),
            ("$2", true),
            ("\\$2", false),
            ("${n}", false),
            ("${m}", true),
            ("${}", true),
            ("${n", true),
            ("${n }", true),
            ("$", false),
            ("$a", false),
        ] {
            assert_eq!(fault(template, &["n"]).is_some(), is_bad, "{template}");
        }
    }
}
