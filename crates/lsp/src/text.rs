//! The text of an open document: positions as editors count them, and edits.
//!
//! An editor counts lines from 0. In a line it counts UTF-16 code units or bytes, as was agreed. A
//! line ends with `\n`, `\r\n` or `\r`. A position behind the end of a line is the end of the line,
//! as the protocol requires.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent};

/// The unit in which an editor counts positions in a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-16 code units.
    #[default]
    Utf16,
    /// Bytes of UTF-8.
    Utf8,
}

/// The offsets at which the lines of a text start.
#[derive(Debug, Clone)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Finds the lines of a text.
    pub fn of(text: &[u8]) -> Lines {
        let ends = memchr::memchr2_iter(b'\n', b'\r', text);
        // `\r\n` ends one line, not two.
        let ends = ends.filter(|end| !(text.get(*end) == Some(&b'\r') && text.get(end + 1) == Some(&b'\n')));
        Lines {
            starts: std::iter::once(0).chain(ends.map(|end| end + 1)).collect(),
        }
    }

    /// Returns the offset of a line's start, and that of its end without the line break.
    fn line(&self, text: &[u8], line: usize) -> Option<(usize, usize)> {
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        let inside = text.get(start..end).unwrap_or_default();
        let ends = inside
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b'\n' | b'\r'))
            .count();
        Some((start, end - ends))
    }

    /// Returns the offset of a position; after the last line it is the end of the text.
    pub fn offset(&self, text: &[u8], position: Position, encoding: Encoding) -> usize {
        let Some((start, end)) = self.line(text, position.line as usize) else {
            return text.len();
        };
        let line = text.get(start..end).unwrap_or_default();
        let wanted = position.character as usize;
        if encoding == Encoding::Utf8 {
            let mut at = wanted.min(line.len());
            while at > 0 && line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
                at -= 1;
            }
            return start + at;
        }
        let mut units = 0;
        for (index, byte) in line.iter().enumerate().filter(|(_, byte)| **byte & 0xc0 != 0x80) {
            if units >= wanted {
                return start + index;
            }
            units += if *byte >= 0xf0 { 2 } else { 1 };
        }
        end
    }

    /// Returns the position of an offset; an offset after the end counts as the end.
    pub fn position(&self, text: &[u8], offset: usize, encoding: Encoding) -> Position {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let before = text.get(start..offset).unwrap_or_default();
        let character = match encoding {
            Encoding::Utf8 => before.len(),
            Encoding::Utf16 => before
                .iter()
                .map(|byte| match byte {
                    0x80..=0xbf => 0,
                    0xf0..=0xff => 2,
                    _ => 1,
                })
                .sum(),
        };
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            character: u32::try_from(character).unwrap_or(u32::MAX),
        }
    }

    /// Returns the range of a span.
    pub fn range(&self, text: &[u8], span: std::ops::Range<usize>, encoding: Encoding) -> Range {
        Range {
            start: self.position(text, span.start, encoding),
            end: self.position(text, span.end.max(span.start), encoding),
        }
    }
}

/// Returns the text after an editor's changes, which are applied one after the other.
pub fn changed(text: &str, changes: &[TextDocumentContentChangeEvent], encoding: Encoding) -> String {
    let mut text = text.to_owned();
    for change in changes {
        let Some(range) = change.range else {
            text.clone_from(&change.text);
            continue;
        };
        let lines = Lines::of(text.as_bytes());
        let start = lines.offset(text.as_bytes(), range.start, encoding);
        let end = lines.offset(text.as_bytes(), range.end, encoding).max(start);
        text.replace_range(start..end, &change.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn places_and_bytes_lead_to_each_other() {
        let text = "a€😀b\r\nç\rx\n".as_bytes();
        let lines = Lines::of(text);
        for (offset, utf16, utf8) in [
            (0, at(0, 0), at(0, 0)),
            (1, at(0, 1), at(0, 1)),
            (4, at(0, 2), at(0, 4)),
            (8, at(0, 4), at(0, 8)),
            (9, at(0, 5), at(0, 9)),
            (11, at(1, 0), at(1, 0)),
            (13, at(1, 1), at(1, 2)),
            (14, at(2, 0), at(2, 0)),
            (16, at(3, 0), at(3, 0)),
        ] {
            assert_eq!(lines.position(text, offset, Encoding::Utf16), utf16);
            assert_eq!(lines.position(text, offset, Encoding::Utf8), utf8);
            assert_eq!(lines.offset(text, utf16, Encoding::Utf16), offset);
            assert_eq!(lines.offset(text, utf8, Encoding::Utf8), offset);
        }
        // Positions behind the end of a line, inside a character, and behind the last line.
        assert_eq!(lines.offset(text, at(0, 99), Encoding::Utf16), 9);
        assert_eq!(lines.offset(text, at(0, 2), Encoding::Utf8), 1);
        assert_eq!(lines.offset(text, at(9, 0), Encoding::Utf16), text.len());
    }

    #[test]
    fn changes_are_made_in_their_order() {
        let change = |range: Option<Range>, text: &str| TextDocumentContentChangeEvent {
            range,
            range_length: None,
            text: text.to_owned(),
        };
        let range = |start, end| Some(Range { start, end });
        let changes = [
            change(range(at(0, 1), at(0, 2)), "XY\n"),
            change(range(at(1, 0), at(1, 1)), ""),
            change(range(at(5, 0), at(5, 0)), "!"),
            change(range(at(0, 2), at(0, 0)), "?"),
        ];
        assert_eq!(changed("abc", &changes, Encoding::Utf16), "aX?Y\n!");
        assert_eq!(changed("abc", &[change(None, "z")], Encoding::Utf16), "z");
    }
}
