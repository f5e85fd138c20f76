//! Recognises the prefix that another program added to each line of a log: `kubectl logs --prefix`,
//! stern, docker compose, journald, CRI files.
//!
//! There is no list of such programs. Two lines of one stream begin alike: with the same text
//! (`[pod/a/app] `, `svc-1  | `) and with times in the same places. What they have in common is the
//! prefix, if the rest of the second line continues the message that began in the first.

/// A prefix that was learnt from two lines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Prefix<'b> {
    pieces: Vec<PrefixPiece<'b>>,
    /// Whether white space or the end of the line must follow the prefix.
    ends_a_word: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PrefixPiece<'b> {
    /// Exactly this text.
    Text(&'b [u8]),
    /// A point in time, in any notation.
    Time,
}

impl<'b> Prefix<'b> {
    /// Returns what the starts of two lines have in common; `None` if that is nothing.
    pub(super) fn common(one: &'b [u8], other: &[u8]) -> Option<Prefix<'b>> {
        let mut pieces = Vec::new();
        let (mut from, mut at, mut at_other) = (0, 0, 0);
        loop {
            let (rest, rest_other) = (one.get(at..)?, other.get(at_other..)?);
            let before = at.checked_sub(1).and_then(|before| one.get(before));
            if !before.is_some_and(u8::is_ascii_alphanumeric)
                && let (Some(len), Some(len_other)) = (time(rest), time(rest_other))
            {
                pieces.extend(one.get(from..at).filter(|text| !text.is_empty()).map(PrefixPiece::Text));
                pieces.push(PrefixPiece::Time);
                at += len;
                at_other += len_other;
                from = at;
            } else if rest.is_empty() || rest.first() != rest_other.first() {
                break;
            } else {
                at += 1;
                at_other += 1;
            }
        }
        // The indent of the rest is not part of the prefix.
        let text = one.get(from..at).unwrap_or_default();
        let trimmed = text.trim_ascii_end();
        pieces.extend(Some(trimmed).filter(|text| !text.is_empty()).map(PrefixPiece::Text));
        (!pieces.is_empty()).then_some(Prefix {
            pieces,
            ends_a_word: trimmed.len() < text.len(),
        })
    }

    /// Returns the rest of a line after the prefix; `None` if the line does not have the prefix.
    pub(super) fn strip<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        let mut rest = line;
        for piece in &self.pieces {
            rest = match piece {
                PrefixPiece::Text(text) => rest.strip_prefix(*text)?,
                PrefixPiece::Time => rest.get(time(rest)?..)?,
            };
        }
        let ends = !self.ends_a_word || rest.first().is_none_or(u8::is_ascii_whitespace);
        ends.then_some(rest)
    }

    /// Returns the text of the prefix without times, to name its stream.
    pub(super) fn words(&self) -> String {
        let words: Vec<String> = self
            .pieces
            .iter()
            .filter_map(|piece| match piece {
                PrefixPiece::Text(text) => Some(String::from_utf8_lossy(text)),
                PrefixPiece::Time => None,
            })
            .map(|text| {
                text.trim_matches(|c: char| c.is_ascii_whitespace() || "|[]:".contains(c))
                    .to_owned()
            })
            .filter(|text| !text.is_empty())
            .collect();
        words.join(" ")
    }
}

/// Returns the length of a time at the start of `text`: a clock, with or without a date before it.
fn time(text: &[u8]) -> Option<usize> {
    let date = date(text).unwrap_or(0);
    let clock = shape(text.get(date..)?, b"dd:dd:dd")?;
    let mut len = date + clock;
    let mut rest = text.get(len..)?;
    if let Some(fraction) = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b",")) {
        len += 1 + digits(fraction);
        rest = text.get(len..)?;
    }
    let zone = match rest.first() {
        Some(b'Z') => 1,
        Some(b'+' | b'-') => {
            let number = rest.get(1..)?;
            1 + shape(number, b"dd:dd").or_else(|| shape(number, b"dddd"))?
        }
        _ => 0,
    };
    Some(len + zone)
}

/// Returns the length of a date and its separator from the clock.
fn date(text: &[u8]) -> Option<usize> {
    for form in [b"dddd-dd-dd", b"dddd/dd/dd"] {
        if let Some(len) = shape(text, form) {
            return matches!(text.get(len), Some(b'T' | b' ')).then_some(len + 1);
        }
    }
    // The form of syslog: `Nov 20 ` and `Nov  2 `.
    let (month, rest) = text.split_at_checked(4)?;
    let is_month = matches!(month, [b'A'..=b'Z', b'a'..=b'z', b'a'..=b'z', b' ']);
    let day = shape(rest, b"dd ").or_else(|| shape(rest, b" d "))?;
    is_month.then_some(4 + day)
}

/// Returns the length of `form` if the text begins with it. In `form`, `d` stands for a digit.
pub(crate) fn shape(text: &[u8], form: &[u8]) -> Option<usize> {
    let fits = |(byte, wanted): (&u8, &u8)| match wanted {
        b'd' => byte.is_ascii_digit(),
        _ => byte == wanted,
    };
    (text.len() >= form.len() && text.iter().zip(form).all(fits)).then_some(form.len())
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_lines_share_is_the_prefix_of_the_third() {
        for (one, other, third, rest) in [
            (
                "[pod/a-7d9/app] 2026/11/20 10:00:00 INFO: {",
                "[pod/a-7d9/app]   \"a\": 1",
                "[pod/a-7d9/app] }",
                Some(" }"),
            ),
            ("svc-1  | 2026/11/20 {", "svc-1  |   \"a\"", "svc-1  | }", Some(" }")),
            ("svc-1  | x", "svc-1  | y", "svc-10 | }", None),
            ("pod app x", "pod app y", "pod apple y", None),
            (
                "2026-11-20T10:00:00.123Z x {",
                "2026-11-20T10:00:00.12Z   \"a\"",
                "2026-11-20T10:00:01Z }",
                Some(" }"),
            ),
            (
                "Nov 20 10:00:00 host app[12]: x {",
                "Nov 20 10:00:00 host app[12]:   \"a\"",
                "Nov  2 10:00:01 host app[12]: }",
                Some(" }"),
            ),
            (
                "2026-11-20T10:00:00.1+01:00 stderr F I0000 x",
                "2026-11-20T10:00:00.1+01:00 stderr F resources {",
                "2026-11-20T10:00:00.1+01:00 stdout F y",
                None,
            ),
            (
                "\x1b[36ma |\x1b[0m 20",
                "\x1b[36ma |\x1b[0m  x",
                "\x1b[36ma |\x1b[0m }",
                Some(" }"),
            ),
        ] {
            let prefix = Prefix::common(one.as_bytes(), other.as_bytes()).unwrap();
            let found = prefix
                .strip(third.as_bytes())
                .map(|rest| std::str::from_utf8(rest).unwrap());
            assert_eq!(found, rest, "{one}");
        }
        assert_eq!(Prefix::common(b"2026/11/20 10:00:00 INFO: {", b"  \"a\": 1"), None);
    }

    #[test]
    fn words_are_what_names_the_stream() {
        let prefix = Prefix::common(
            b"[pod/a/app] 2026-11-20T10:00:00Z x",
            b"[pod/a/app] 2026-11-20T10:00:01Z y",
        );
        assert_eq!(prefix.unwrap().words(), "pod/a/app");
    }
}
