//! What of the comments of a resource is quoted: plain words and known names, up to the name of a credential.

use std::ops::Range;

use xdsctl::secret;
use xdsctl::source::Span;
use xdsctl::source::secrets::{Marks, is_known_word};

/// Bytes before and behind a window that are read for the rest of its lines and comments.
const REACH: usize = 4096;

/// Longest plain word, in characters.
const MAX_LETTERS: usize = 20;

/// Longest number, in digits and points.
const MAX_DIGITS: usize = 6;

/// Names of the field that are written in mixed case.
const NAMES: &[&str] = &["gRPC", "xDS"];

/// Parts of words that name a credential or its owner, beside those of [`secret::is_name`].
const CREDENTIALS: &[&str] = &["auth", "cred", "key", "login", "pass", "secret", "token"];

/// The words of comments in `part` of a document that may be printed; `part` is within the resource of these marks.
pub(super) fn words(bytes: &[u8], part: Range<usize>, marks: &Marks) -> Vec<Span> {
    let mut out = Vec::new();
    if part.is_empty() {
        return out;
    }
    let (from, is_cut) = before(bytes, part.start);
    let to = behind(bytes, part.end);
    let near = |spans: &[Span]| -> Vec<Span> {
        let is_near = |span: &&Span| span.start < to && from < span.end;
        spans.iter().filter(is_near).copied().collect()
    };
    let (values, hidden) = ([near(&marks.shown), near(&marks.hidden)].concat(), near(&marks.hidden));
    // A credential may be named in what was not read.
    let mut is_named = is_cut;
    // The words before these are of comments that no masked value follows.
    let mut open = 0;
    let mut at = from;
    while at < to {
        let end = line_end(bytes, at, to);
        let line = bytes.get(at..end).unwrap_or_default();
        let starts = |place: &usize| {
            let before = place.checked_sub(1).and_then(|before| bytes.get(before));
            let is_apart = *place == at || before.is_some_and(u8::is_ascii_whitespace);
            let is_sign = bytes.get(*place) == Some(&b'#') && is_apart;
            is_sign && !values.iter().any(|span| span.range().contains(place))
        };
        let comment = (at..end).find(starts);
        let is_alone = comment.is_some() && line.trim_ascii_start().starts_with(b"#");
        is_named &= is_alone;
        if let Some(start) = comment {
            plain(bytes, start + 1..end, &mut is_named, &mut out);
        }
        let is_cut = end == to && to < bytes.len();
        if is_cut || hidden.iter().any(|span| span.start < end && at < span.end) {
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

/// The start of the line of `at`, or of the comments above it; and whether more of them may stand before.
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

/// As far behind `at` as is read: whole lines, but for the last of a long one.
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
        if is_plain(word) {
            out.push(Span::new(start, start + word.len()));
        }
        *is_named = names_credential(word);
    }
}

/// Says whether a word of a comment tells nobody anything: letters, the name of a field or the like, a number.
fn is_plain(word: &str) -> bool {
    let inner = word.trim_matches([
        '.', ',', ';', ':', '!', '?', '(', ')', '"', '\'', '`', '#', '-', '=', '[', ']',
    ]);
    let stem = inner.split_once('\'').map_or(inner, |(stem, end)| match end {
        "s" | "t" | "re" | "ll" | "ve" | "d" | "m" => stem,
        _ => inner,
    });
    let letters = stem.chars().count() <= MAX_LETTERS && stem.chars().all(char::is_alphabetic);
    let rest = || stem.chars().skip(1);
    let is_even = rest().all(char::is_lowercase) || stem.chars().all(char::is_uppercase);
    let is_number = inner.len() <= MAX_DIGITS && inner.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    letters && is_even || is_number || NAMES.contains(&stem) || is_known_word(inner)
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
            hidden: vec![Span::new(start, start + hidden.len())],
            ..Marks::default()
        };
        let spans = words(text.as_bytes(), part, &marks);
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
