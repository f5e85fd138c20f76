//! A text prepared for comparison: without colours, escapes and white space, with offsets back to
//! the original.
//!
//! Terminals wrap lines inside words, mail programs wrap them between words, and log collectors
//! quote messages as JSON. None of that changes a line without its white space.

use std::cell::OnceCell;
use std::ops::Range;

use super::frame;
use xdsctl_model::profile::Family;

/// How many times a text may have been quoted as JSON: by a logger, a container runtime and a
/// collector.
const MAX_QUOTINGS: usize = 3;

/// A text without white space.
#[derive(Debug)]
pub(super) struct Squeezed {
    /// The given text, without the quoting.
    original: String,
    /// The text without white space.
    pub text: String,
    /// `text` in lower case, with each byte at the same offset.
    pub lower: String,
    /// The position in `original` of each byte of `text`.
    at: Vec<usize>,
    /// The client that wrote the text; computed on first use.
    writer: OnceCell<Option<Family>>,
}

impl Squeezed {
    /// Prepares a text as it was pasted.
    pub fn of(pasted: &str) -> Self {
        let mut original = without_colours(pasted);
        for _ in 0..MAX_QUOTINGS {
            if !original.contains("\\\"") && !original.contains("\\u003") {
                break;
            }
            original = unquoted(&original);
        }
        let mut text = String::with_capacity(original.len());
        let mut at = Vec::with_capacity(original.len());
        for (start, c) in original.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            text.push(c);
            at.extend(start..start + c.len_utf8());
        }
        let lower = text.to_ascii_lowercase();
        Squeezed {
            original,
            text,
            lower,
            at,
            writer: OnceCell::new(),
        }
    }

    /// Returns the text as it was pasted, without the quoting.
    pub fn line(&self) -> &str {
        &self.original
    }

    /// Returns the only family that writes log lines like this; `None` if several do, or none.
    pub fn writer(&self) -> Option<Family> {
        *self.writer.get_or_init(|| frame::writer(&self.lower))
    }

    /// Says whether this byte of `text` is at the start or has a blank before it.
    pub fn is_after_blank(&self, at: usize) -> bool {
        let Some(start) = self.at.get(at) else { return true };
        let before = self.original.get(..*start).and_then(|head| head.chars().next_back());
        before.is_none_or(char::is_whitespace)
    }

    /// Returns the pasted text for a range of `text`, without line breaks and with blanks instead
    /// of tabs.
    pub fn pasted(&self, range: Range<usize>) -> String {
        let (Some(start), Some(last)) = (self.at.get(range.start), self.at.get(range.end.saturating_sub(1))) else {
            return String::new();
        };
        let slice = self.original.get(*start..last + 1).unwrap_or_default();
        let chars = slice.chars().filter(|c| !matches!(c, '\n' | '\r'));
        chars.map(|c| if c == '\t' { ' ' } else { c }).collect()
    }
}

/// Returns the text without the colour sequences of a terminal.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        rest = rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest);
    }
    out.push_str(rest);
    out
}

/// Undoes one level of JSON escapes.
fn unquoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = after.chars();
        match chars.next() {
            Some('n' | 'r' | 't') => out.push(' '),
            Some(c @ ('"' | '\\' | '/')) => out.push(c),
            Some('u') => {
                let code = after.get(1..5).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                if let Some(c) = code.and_then(char::from_u32) {
                    out.push(c);
                    chars = after.get(5..).unwrap_or_default().chars();
                } else {
                    out.push_str("\\u");
                }
            }
            Some(c) => {
                out.push('\\');
                out.push(c);
            }
            None => out.push('\\'),
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_colours_and_quoting_leave_the_text_as_it_is() {
        for pasted in [
            "field:a error:b \"c\"",
            "field:a err\n  or:b \"c\"",
            "\u{1b}[31mfield:a\u{1b}[0m error:b \"c\"",
            r#"field:a error:b \"c\""#,
            r#"field:a error:b \\\"c\\\""#,
            "field:a error:b \\u0022c\\u0022 \\u003c".trim_end_matches(" \\u003c"),
        ] {
            let squeezed = Squeezed::of(pasted);
            let expected = if pasted.contains("\\u0022") {
                // Nothing shows that this text is quoted.
                "field:aerror:b\\u0022c\\u0022"
            } else {
                "field:aerror:b\"c\""
            };
            assert_eq!(squeezed.text, expected, "{pasted}");
        }
    }

    #[test]
    fn the_way_back_keeps_blanks_and_drops_line_breaks() {
        let squeezed = Squeezed::of("a\té b\nc d");
        assert_eq!(squeezed.text, "aébcd");
        assert_eq!(squeezed.pasted(0..5), "a é bc");
        assert_eq!(squeezed.pasted(9..9), "");
    }
}
