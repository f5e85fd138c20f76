//! The lines around a finding, cut out of the document and cut to the available width.
//!
//! A line that is too long loses both ends, so that the marked part is in its middle. No more of
//! the document is read than could be shown, because a dump may be one line of a gigabyte.

use unicode_width::UnicodeWidthChar as _;

use crate::Snippet;
use crate::edge::{is_plain, push_escaped};
use crate::masks::Masks;
use xdsctl_document::source::{Source, Span};

/// The columns that miette prints for a tab.
const TAB_COLUMNS: usize = 4;

/// The character that replaces the text that was cut off.
const ELLIPSIS: char = '…';

/// Most bytes of a character in UTF-8.
const MAX_CHAR_BYTES: usize = 4;

/// What is cut out, and how.
#[derive(Debug)]
pub struct Cut<'c> {
    /// The document with the lines.
    pub source: &'c Source,
    /// The masks of the parts that are not shown.
    pub masks: &'c Masks,
    /// A part that the message names anyway, and that is therefore shown.
    pub named: Option<Span>,
    /// Most columns of a line.
    pub columns: usize,
}

/// A line as it is shown: the marked part, and the text before and after it.
struct SnippetPiece {
    before: String,
    inside: String,
    after: String,
}

impl Cut<'_> {
    /// Cuts out the line on which `span` begins, whose number is `line`, and one line on either
    /// side.
    pub fn around(&self, span: Span, line: usize) -> Snippet {
        let bytes = self.source.bytes();
        let at = span.start.min(bytes.len());
        let start = self.line_start(at);
        let end = self.line_end(at);
        let has_above = start > 0 && bytes.get(start - 1) == Some(&b'\n') && line > 1;
        let above = if has_above { self.line_start(start - 1) } else { start };
        let has_below = bytes.get(end) == Some(&b'\n');
        let below = if has_below { self.line_end(end + 1) } else { end };
        let mut window = bytes.get(above..below).unwrap_or_default().to_vec();
        self.masks.mask(self.source, &mut window, above, self.named);
        let is_masked = bytes.get(above..below).is_some_and(|unmasked| unmasked != window);
        let part = |from: usize, to: usize| shown(window.get(from - above..to - above).unwrap_or_default());
        let span_end = span.end.clamp(at, end);
        let piece = SnippetPiece {
            before: part(start, at),
            inside: part(at, span_end),
            after: part(span_end, end),
        };
        let is_cut_before = start > 0 && bytes.get(start - 1) != Some(&b'\n');
        let is_cut_after = end < bytes.len() && !has_below;
        let middle = piece.fitted(self.columns, is_cut_before, is_cut_after);
        let mut text = String::new();
        if has_above {
            text += &head(&part(above, start - 1), self.columns);
            text.push('\n');
        }
        let offset = text.len() + middle.before.len();
        let len = middle.inside.len().max(1);
        text.extend([middle.before, middle.inside, middle.after]);
        if has_below {
            text.push('\n');
            text += &head(&part(end + 1, below), self.columns);
        }
        if text.len() < offset + len {
            text.push(' ');
        }
        Snippet {
            text,
            first_line: if has_above { line - 1 } else { line },
            start: offset,
            len,
            is_masked,
        }
    }

    /// Returns how many bytes on either side may be shown. One more character is included, to see
    /// whether something is cut off.
    const fn reach(&self) -> usize {
        (self.columns + 1) * MAX_CHAR_BYTES
    }

    /// Returns the start of the line that contains `at`, or the first position that may be shown.
    fn line_start(&self, at: usize) -> usize {
        let from = at.saturating_sub(self.reach());
        let head = self.source.bytes().get(from..at).unwrap_or_default();
        memchr::memrchr(b'\n', head).map_or(from, |newline| from + newline + 1)
    }

    /// Returns the end of the line that contains `at`, or the last position that may be shown.
    fn line_end(&self, at: usize) -> usize {
        let bytes = self.source.bytes();
        let to = at.saturating_add(self.reach()).min(bytes.len());
        let tail = bytes.get(at..to).unwrap_or_default();
        memchr::memchr(b'\n', tail).map_or(to, |newline| at + newline)
    }
}

impl SnippetPiece {
    /// Fits the line into this many columns. The space beside the marked part is shared by both
    /// sides.
    fn fitted(self, columns: usize, is_cut_before: bool, is_cut_after: bool) -> SnippetPiece {
        let [before, inside, after] = [&self.before, &self.inside, &self.after].map(|text| width(text));
        if before + inside + after <= columns && !is_cut_before && !is_cut_after {
            return self;
        }
        let rest = columns.saturating_sub(inside);
        let for_before = before.min((rest / 2).max(rest.saturating_sub(after)));
        let for_after = after.min(rest - for_before);
        let inside = head(&self.inside, columns - for_before - for_after);
        SnippetPiece {
            before: tail(&self.before, for_before, is_cut_before),
            after: head_of_more(&self.after, for_after, is_cut_after),
            inside,
        }
    }
}

/// Returns the columns of a character.
fn columns_of(c: char) -> usize {
    if c == '\t' { TAB_COLUMNS } else { c.width().unwrap_or(0) }
}

fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Cuts a text to its beginning, in this many columns.
fn head(text: &str, columns: usize) -> String {
    head_of_more(text, columns, false)
}

/// Cuts a text to its beginning, in this many columns; `goes_on` says that the text itself was cut
/// off.
fn head_of_more(text: &str, columns: usize, goes_on: bool) -> String {
    if width(text) <= columns && !goes_on {
        return text.to_owned();
    }
    taken(text.chars(), columns).into_iter().chain(ends(columns)).collect()
}

/// Cuts a text to its end, in this many columns; `begins_earlier` says that the text itself was cut
/// off.
fn tail(text: &str, columns: usize, begins_earlier: bool) -> String {
    if width(text) <= columns && !begins_earlier {
        return text.to_owned();
    }
    let taken = taken(text.chars().rev(), columns);
    ends(columns).into_iter().chain(taken.into_iter().rev()).collect()
}

/// Returns the character for the rest, if there is a column for it.
fn ends(columns: usize) -> Option<char> {
    (columns > 0).then_some(ELLIPSIS)
}

/// Returns as many of the characters as fit if one column is left free.
fn taken(chars: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut left = columns.saturating_sub(1);
    chars
        .take_while(|c| match left.checked_sub(columns_of(*c)) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        })
        .collect()
}

/// Prepares text for a snippet: invisible characters are escaped, and a line has no carriage return
/// at its end. Tabs stay; miette widens them.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_suffix('\r').unwrap_or(&text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\t' || is_plain(c) {
            out.push(c);
        } else {
            push_escaped(c, &mut out);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_document::source::SourceMap;

    /// Returns the snippet around the first `mark` of the text, which is in brackets.
    fn cut(text: &str, mark: &str, columns: usize) -> String {
        let mut sources = SourceMap::new();
        let id = sources.add("-", text.as_bytes().to_vec());
        let at = text.find(mark).unwrap();
        let cut = Cut {
            source: sources.get(id).unwrap(),
            masks: &Masks::suite(sources.get(id).unwrap(), true),
            named: None,
            columns,
        };
        let line = text[..at].matches('\n').count() + 1;
        let snippet = cut.around(Span::new(at, at + mark.len()), line);
        for line in snippet.text.lines() {
            assert!(width(line) <= columns.max(1), "{line}");
        }
        let mut text = snippet.text;
        text.insert(snippet.start + snippet.len, ']');
        text.insert(snippet.start, '[');
        format!("{}|{text}", snippet.first_line)
    }

    #[test]
    fn short_lines_are_whole() {
        assert_eq!(cut("a\nb x c\nd\ne", "x", 20), "1|a\nb [x] c\nd");
        assert_eq!(cut("x", "x", 20), "1|[x]");
        assert_eq!(cut("a\r\nb x\r\nc", "x", 20), "1|a\nb [x]\nc");
    }

    #[test]
    fn the_marked_part_of_a_long_line_is_in_the_middle() {
        let line = format!("{}XXXX{}", "a".repeat(5_000), "b".repeat(5_000));
        assert_eq!(cut(&line, "XXXX", 20), "1|…aaaaaaa[XXXX]bbbbbbb…");
        let line = format!("aa{}{}", "XXXX", "b".repeat(5_000));
        assert_eq!(cut(&line, "XXXX", 20), "1|aa[XXXX]bbbbbbbbbbbbb…");
        let line = format!("{}XXXXbb\nc", "a".repeat(5_000));
        assert_eq!(cut(&line, "XXXX", 20), "1|…aaaaaaaaaaaaa[XXXX]bb\nc");
    }

    #[test]
    fn a_marked_part_that_is_too_long_loses_its_end() {
        let line = format!("ab{}cd", "X".repeat(100));
        assert_eq!(cut(&line, &"X".repeat(100), 10), "1|[XXXXXXXXX…]");
    }

    #[test]
    fn columns_are_counted_and_not_bytes() {
        let line = format!("{}X{}", "日".repeat(100), "é".repeat(100));
        assert_eq!(cut(&line, "X", 11), "1|…日日[X]éééé…");
    }

    #[test]
    fn lines_above_and_below_end_where_the_columns_do() {
        let text = format!("{}\nx\n{}", "a".repeat(50), "b".repeat(50));
        assert_eq!(cut(&text, "x", 5), "1|aaaa…\n[x]\nbbbb…");
    }
}
