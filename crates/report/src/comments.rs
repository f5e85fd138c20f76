//! Which words in comments of a document may be quoted: plain words and known names, up to the name
//! of a credential.

use std::ops::Range;

use xdsctl_document::secret;
use xdsctl_document::source::Span;
use xdsctl_document::source::secrets::{Marks, Speaker, is_plain_word, within};

/// Most bytes before and after a window that are read to complete its lines and comments.
const REACH: usize = 4096;

/// Parts of words that name a credential or its owner, in addition to those of [`secret::is_name`].
const CREDENTIALS: &[&str] = &["auth", "cred", "key", "login", "pass", "secret", "token"];

/// Returns the words of comments in `part` of a document that may be printed. `marks` knows all
/// values there; later marks take precedence.
pub(crate) fn words(bytes: &[u8], part: Range<usize>, marks: &[&Marks]) -> Vec<Span> {
    let mut out = Vec::new();
    if part.is_empty() {
        return out;
    }
    let (from, is_cut) = before(bytes, part.start);
    let to = behind(bytes, part.end);
    let overlaps = |span: &Span, other: Span| span.start < other.end && other.start < span.end;
    let near = Span::new(from, to);
    let (mut values, mut hidden) = (Vec::new(), Vec::new());
    for marks in marks.iter().filter(|marks| overlaps(&marks.extent, near)) {
        for (all, of) in [(&mut values, &marks.shown), (&mut hidden, &marks.hidden)] {
            all.retain(|span| !overlaps(span, marks.extent));
            all.extend(within(of, near));
        }
    }
    values.extend_from_slice(&hidden);
    values.sort_unstable();
    hidden.sort_unstable();
    // The part that was not read may name a credential.
    let mut is_named = is_cut;
    // The first `open` words are certain to be printable: no masked value follows their comments.
    let mut open = 0;
    let mut at = from;
    while at < to {
        let end = line_end(bytes, at, to);
        let line = bytes.get(at..end).unwrap_or_default();
        let starts = |place: &usize| {
            let before = place.checked_sub(1).and_then(|before| bytes.get(before));
            let is_apart = *place == at || before.is_some_and(u8::is_ascii_whitespace);
            let is_sign = bytes.get(*place) == Some(&b'#') && is_apart;
            is_sign && within(&values, Span::new(*place, place + 1)).next().is_none()
        };
        let comment = (at..end).find(starts);
        let is_alone = comment.is_some() && line.trim_ascii_start().starts_with(b"#");
        is_named &= is_alone;
        if let Some(start) = comment {
            plain(bytes, start + 1..end, &mut is_named, &mut out);
        }
        let is_cut = end == to && to < bytes.len();
        if is_cut || within(&hidden, Span::new(at, end)).next().is_some() {
            out.truncate(open);
        }
        if !is_alone && !line.trim_ascii().is_empty() {
            open = out.len();
        }
        at = end;
    }
    out.retain(|word| word.start < part.end && part.start < word.end);
    out
}

/// Returns the start of the line that contains `at`, or of the comments above it, and whether there
/// may be more comments before.
fn before(bytes: &[u8], at: usize) -> (usize, bool) {
    let limit = at.saturating_sub(REACH);
    let start = |at: usize| {
        let head = bytes.get(limit..at).unwrap_or_default();
        memchr::memrchr(b'\n', head).map(|newline| limit + newline + 1)
    };
    let Some(mut from) = start(at).or((limit == 0).then_some(0)) else {
        return (line_end(bytes, limit, behind(bytes, at)), true);
    };
    while from > 0 {
        let Some(above) = start(from - 1).or((limit == 0).then_some(0)) else {
            return (from, true);
        };
        let line = bytes.get(above..from).unwrap_or_default();
        if !line.trim_ascii_start().starts_with(b"#") {
            break;
        }
        from = above;
    }
    (from, false)
}

/// Returns the position up to which bytes after `at` are read. The last line may be cut there.
fn behind(bytes: &[u8], at: usize) -> usize {
    bytes.len().min(at.saturating_add(REACH))
}

fn line_end(bytes: &[u8], at: usize, to: usize) -> usize {
    let rest = bytes.get(at..to).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(to, |newline| at + newline + 1)
}

/// Adds the words of a comment up to the name of a credential.
fn plain(bytes: &[u8], comment: Range<usize>, is_named: &mut bool, out: &mut Vec<Span>) {
    let Ok(text) = std::str::from_utf8(bytes.get(comment.clone()).unwrap_or_default()) else {
        return;
    };
    let mut at = comment.start;
    for word in text.split_inclusive(char::is_whitespace) {
        let start = at;
        at += word.len();
        let word = word.trim_end();
        if *is_named || word.is_empty() {
            continue;
        }
        if is_plain_word(word, Speaker::Author) {
            out.push(Span::new(start, start + word.len()));
        }
        *is_named = names_credential(word);
    }
}

fn names_credential(word: &str) -> bool {
    let lower = word.to_lowercase();
    CREDENTIALS.iter().any(|part| lower.contains(part)) || secret::is_name(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, hidden: &str, part: Range<usize>) -> Vec<String> {
        let start = text.find(hidden).unwrap_or(text.len());
        let marks = Marks {
            extent: Span::new(0, text.len()),
            hidden: vec![Span::new(start, start + hidden.len())],
            shown: Vec::new(),
        };
        let spans = words(text.as_bytes(), part, &[&marks]);
        spans.iter().map(|span| text[span.range()].to_owned()).collect()
    }

    #[test]
    fn plain_words_are_shown_up_to_the_name_of_a_credential() {
        for (text, expected) in [
            (
                "a: b # Envoy's; gRPC reads max_stream_duration",
                &["Envoy's;", "gRPC", "reads", "max_stream_duration"][..],
            ),
            (
                "# port 50051, RouteAction (was 1.85.1)",
                &["port", "50051,", "RouteAction", "(was", "1.85.1)"],
            ),
            ("# ask hunter2 or qRtZmWkP or https://h/x", &["ask", "or", "or"]),
            ("# the password: swordfish", &["the", "password:"]),
            (
                "# us-east (docs/shop.md), 12-34.56; not 1234-567 or sh0p/a or x:y",
                &["us-east", "(docs/shop.md),", "12-34.56;", "not", "or", "or"],
            ),
            (
                "# the token=swordfish is open\n# sesame\na: b\n# tail",
                &["the", "tail"],
            ),
            ("a: b # our keys\n# sesame\n\n# tail", &["our", "keys", "tail"]),
            ("a: b#c sesame", &[]),
            ("# abcdefghijklmnopqrstu", &[]),
        ] {
            assert_eq!(shown(text, "?", 0..text.len()), expected, "{text}");
        }
    }

    #[test]
    fn comments_beside_and_above_a_masked_value_are_masked() {
        for text in ["# one\n# two\na: X # three\n# four", "a:\n  # one\n  X # two\n# four"] {
            assert_eq!(shown(text, "X", 0..text.len()), ["four"], "{text}");
        }
        let text = "# one\na: X\n";
        assert_eq!(shown(text, "X", 0..6), [""; 0]);
        assert_eq!(shown("a: X # y # z\n", "X # y", 0..13), [""; 0]);
    }

    #[test]
    fn the_name_of_a_credential_may_stand_above_the_window() {
        let text = "a: b\n# password\n# sesame\nc: d # open\n";
        assert_eq!(shown(text, "?", 16..text.len()), ["open"]);
        let long = format!("# password{}\n# sesame\n", "\n# x".repeat(2000));
        assert_eq!(shown(&long, "?", long.len() - 9..long.len()), [""; 0]);
    }
}
