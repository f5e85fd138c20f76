//! Suppressions in comments of YAML documents: `# xdsctl: ignore[RULE,...] until 2027-01-31:
//! reason`. The day is optional.
//!
//! A comment at the end of a line applies to that line. A comment on a line of its own applies to
//! the next node, down to its last line: an entry of a mapping with its value, or an element of a
//! sequence.

use std::ops::RangeInclusive;

use super::{Ignore, MALFORMED, RuleSelector, Suppression, SuppressionPlace};
use xdsctl_document::envelope::Finding;
use xdsctl_document::proto::transcode::LIMIT_EXCEEDED;
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_document::source::{Source, SourceId, yaml};
use xdsctl_model::diag::{Diagnostic, Rule};

/// Prefix of a comment that is meant for xdsctl.
const ADDRESS: &str = "xdsctl:";

/// Most suppressions of one document that are read.
const MAX_COMMENTS: usize = 5_000;

/// Most bytes of one document that are scanned for the nodes that its comments apply to.
const MAX_SCANNED_BYTES: usize = 512 << 20;

/// The instruction that follows the prefix.
const IGNORE: &str = "ignore[";

/// Reads the suppressions in the comments of a document, with findings on malformed ones.
pub fn comments(id: SourceId, source: &Source, known: &[&'static Rule]) -> (Vec<Suppression>, Vec<Finding>) {
    let (mut suppressions, mut findings) = (Vec::new(), Vec::new());
    let is_yaml = source.format() == Some(DocumentFormat::Yaml);
    let Some(text) = is_yaml.then(|| std::str::from_utf8(source.bytes()).ok()).flatten() else {
        return (suppressions, findings);
    };
    if !text.contains(ADDRESS) {
        return (suppressions, findings);
    }
    let mut below: Option<(usize, RangeInclusive<usize>)> = None;
    let mut scanned = 0;
    // From the last comment to the first, so that the lines of the comment below are known.
    for span in yaml::comments(text).into_iter().rev() {
        let Some(words) = text.get(span.range()).and_then(|comment| {
            let words = comment.trim_start_matches('#').trim_start();
            Some(words.strip_prefix(ADDRESS)?.trim())
        }) else {
            continue;
        };
        if suppressions.len() + findings.len() >= MAX_COMMENTS || scanned >= MAX_SCANNED_BYTES {
            let message = format!("more than {MAX_COMMENTS} suppressions, those before take nothing out");
            findings.push(Finding {
                source: id,
                span,
                diagnostic: Diagnostic::of_whole(&LIMIT_EXCEEDED, message),
            });
            break;
        }
        let line = source.line_column(span.start).line;
        let line_start = text
            .get(..span.start)
            .map_or(0, |before| before.rfind('\n').map_or(0, |n| n + 1));
        let is_alone = text
            .get(line_start..span.start)
            .is_some_and(|before| before.trim().is_empty());
        let lines = if is_alone {
            let lines = next_node(
                text.get(span.end..).unwrap_or_default(),
                line,
                below.as_ref(),
                &mut scanned,
            );
            below = Some((line, lines.clone()));
            lines
        } else {
            line..=line
        };
        match read(words, known) {
            Ok((rules, until, reason)) => suppressions.push(Suppression {
                ignore: Ignore {
                    rules,
                    resource: None,
                    path: None,
                    file: None,
                    reason,
                    until,
                },
                written: SuppressionPlace::Comment(lines),
                source: id,
                span,
            }),
            Err(why) => findings.push(Finding {
                source: id,
                span,
                diagnostic: Diagnostic::of_whole(&MALFORMED, why),
            }),
        }
    }
    suppressions.reverse();
    findings.reverse();
    (suppressions, findings)
}

type ReadComment = (Vec<RuleSelector>, Option<super::Date>, String);

fn read(words: &str, known: &[&'static Rule]) -> Result<ReadComment, String> {
    let form =
        || "must be `# xdsctl: ignore[RULE,...] REASON`, or `ignore[RULE,...] until YYYY-MM-DD: REASON`".to_owned();
    let (rules, rest) = words
        .strip_prefix(IGNORE)
        .and_then(|rest| rest.split_once(']'))
        .ok_or_else(form)?;
    let rules = RuleSelector::list(rules, known)?;
    let rest = rest.trim();
    let (until, reason) = match rest.strip_prefix("until ") {
        None => (None, rest),
        Some(rest) => {
            let rest = rest.trim_start();
            let (day, reason) = rest.split_once([' ', ':', ',']).unwrap_or((rest, ""));
            (Some(day.parse()?), reason)
        }
    };
    let reason = reason.trim_matches([' ', ':', ',', '\t']);
    if reason.is_empty() {
        return Err("a finding is ignored without a reason: say why behind the bracket".to_owned());
    }
    Ok((rules, until, reason.to_owned()))
}

/// Returns the lines of the node that follows a comment on `line`; `text` begins behind the
/// comment.
///
/// `below` is the next comment of this kind, with its lines. Comments above each other apply to the
/// same node, which is looked for only once. Adds the number of bytes that were scanned to
/// `scanned`.
fn next_node(
    text: &str,
    line: usize,
    below: Option<&(usize, RangeInclusive<usize>)>,
    scanned: &mut usize,
) -> RangeInclusive<usize> {
    let mut node: Option<(usize, usize, bool)> = None;
    let mut last = line;
    for (number, text) in (line..).zip(text.split('\n')).skip(1) {
        *scanned += text.len() + 1;
        let content = text.trim_start_matches(' ');
        let indent = text.len() - content.len();
        let content = content.trim_end();
        let Some((first, own, is_element)) = node else {
            if let Some((_, lines)) = below.filter(|(below, _)| *below == number) {
                return lines.clone();
            }
            if !content.is_empty() && !content.starts_with('#') && content != "---" {
                node = Some((number, indent, is_dash(content)));
                last = number;
            }
            continue;
        };
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let is_more =
            indent > own || indent == own && (content.starts_with([']', '}']) || !is_element && is_dash(content));
        if !is_more {
            return first..=last;
        }
        last = number;
    }
    match node {
        Some((first, ..)) => first..=last,
        None => line..=line,
    }
}

fn is_dash(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_document::source::SourceMap;

    /// Returns the lines of each suppression, and the messages on malformed ones.
    fn of(text: &str) -> (Vec<RangeInclusive<usize>>, Vec<String>) {
        let mut sources = SourceMap::new();
        let id = sources.add("a.yaml", text.as_bytes().to_vec());
        let source = sources.get(id).unwrap();
        source.set_format(DocumentFormat::Yaml);
        let known: Vec<_> = crate::catalogue::rules().collect();
        let (suppressions, findings) = comments(id, source, &known);
        let lines = suppressions.into_iter().map(|s| match s.written {
            SuppressionPlace::Comment(lines) => lines,
            SuppressionPlace::Config => panic!("{s:?}"),
        });
        (
            lines.collect(),
            findings.into_iter().map(|f| f.diagnostic.message).collect(),
        )
    }

    #[test]
    fn a_comment_behind_something_is_about_its_line() {
        assert_eq!(of("a: 1\nb: 2 # xdsctl: ignore[spec] why\nc: 3\n").0, [2..=2]);
    }

    #[test]
    fn a_comment_alone_is_about_the_next_node() {
        let text = "\
a:
  # xdsctl: ignore[spec] an entry with its value
  b:
  - c

    # not of ours
    d
  - e
  f: 1
";
        assert_eq!(of(text).0, [3..=8]);
        let text = "\
a:
# xdsctl: ignore[spec] an element
- b: 1
  c: 2
- d: 1
";
        assert_eq!(of(text).0, [3..=4]);
        let text = "\
# xdsctl: ignore[spec] one
# about it
# xdsctl: ignore[nack] two
a: [
  b
]
c: 1
";
        assert_eq!(of(text).0, [4..=6, 4..=6]);
        assert_eq!(of("a: 1\n# xdsctl: ignore[spec] nothing\n").0, [2..=2]);
    }

    #[test]
    fn what_is_no_comment_says_nothing() {
        let text = "a: |\n  # xdsctl: ignore[spec] in a text\nb: 'x # xdsctl: ignore[spec] quoted'\nc: x# xdsctl: ignore[spec] y\n";
        assert_eq!(of(text), (vec![], vec![]));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for (comment, message) in [
            ("ignore", "must be `# xdsctl: ignore[RULE,...] REASON`"),
            ("ignore[spec", "must be `# xdsctl: ignore[RULE,...] REASON`"),
            ("ignore[spec]", "a finding is ignored without a reason"),
            ("ignore[spec] until 2027-01-31", "a finding is ignored without a reason"),
            ("ignore[spec] until tomorrow: x", "`tomorrow` is not a date"),
            ("ignore[spek] x", "did you mean `spec`?"),
        ] {
            let (suppressions, messages) = of(&format!("a: 1 # xdsctl: {comment}\n"));
            assert!(suppressions.is_empty(), "{comment}");
            assert!(messages[0].contains(message), "{comment}: {messages:?}");
        }
        assert_eq!(of("a: 1 #xdsctl:ignore[spec,nack] until 2027-01-31: x\n").0, [1..=1]);
    }
}
