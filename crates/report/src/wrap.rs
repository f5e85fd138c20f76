//! Lines that fit the terminal. They are broken only between words, so that paths and names are not
//! split.

use std::io::{self, Write};

use unicode_width::UnicodeWidthChar as _;

use crate::edge::{CLOSE, OPEN, is_plain};

/// By how many columns the continuation of a line is indented relative to the line.
const HANGING: usize = 4;

/// Breaks the lines of a text to fit `width`; continuations begin with `indent`.
pub fn wrapped(text: &str, width: Option<usize>, indent: &str) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        fold(line, width, indent, &mut out);
        out.push('\n');
    }
    out
}

/// Appends a line in pieces that fit; a word that is longer than a line is not broken.
fn fold(line: &str, width: usize, indent: &str, out: &mut String) {
    let (mut column, mut is_first) = (0, true);
    let mut rest = line;
    while !rest.is_empty() {
        let word_at = rest.find(|c| c != ' ').unwrap_or(rest.len());
        let (blanks, after) = rest.split_at(word_at);
        let end = after.find(' ').unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        let columns = columns(word);
        if !is_first && column + blanks.len() + columns > width {
            out.push('\n');
            out.push_str(indent);
            column = indent.len();
        } else {
            out.push_str(blanks);
            column += blanks.len();
        }
        out.push_str(word);
        column += columns;
        is_first = false;
        rest = after;
    }
}

/// Returns the columns of a printed word. Marks have none, and characters that are not plain count
/// as they are escaped.
fn columns(word: &str) -> usize {
    let mut columns = 0;
    let mut is_mark = false;
    for c in word.chars() {
        match c {
            OPEN => is_mark = true,
            CLOSE => is_mark = false,
            _ if is_mark => {}
            c if is_plain(c) => columns += c.width().unwrap_or(0),
            c => columns += "\\u0000".len() * c.len_utf16(),
        }
    }
    columns
}

/// A writer that breaks each line to the columns of a terminal.
pub struct Folding<W: Write> {
    out: W,
    width: usize,
    indent: Option<&'static str>,
    /// What is before each line.
    pub lead: &'static str,
    line: Vec<u8>,
}

impl<W: Write> Folding<W> {
    /// Creates a writer to `out`, which is `width` columns wide; without a width, no line is broken.
    /// Continuations begin with `indent`, or else below the line's own indentation.
    pub fn new(out: W, width: Option<usize>, indent: Option<&'static str>) -> Self {
        Folding {
            out,
            width: width.unwrap_or(usize::MAX),
            indent,
            lead: "",
            line: Vec::new(),
        }
    }

    fn pass(&mut self, end: usize) -> io::Result<()> {
        let text = String::from_utf8_lossy(self.line.get(..end).unwrap_or_default());
        let mut folded = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let content = line.strip_suffix('\n').unwrap_or(line);
            let led = format!("{}{content}", self.lead);
            let own = led.len() - led.trim_start_matches(' ').len();
            // At least half of a narrow terminal remains for words.
            let below = || " ".repeat((own + HANGING).min(self.width / 2));
            let indent = self.indent.map_or_else(below, str::to_owned);
            fold(&led, self.width, &indent, &mut folded);
            folded.push_str(line.get(content.len()..).unwrap_or_default());
        }
        self.line.drain(..end);
        self.out.write_all(folded.as_bytes())
    }
}

impl<W: Write> Write for Folding<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(newline) = memchr::memrchr(b'\n', bytes) {
            self.pass(self.line.len() - bytes.len() + newline + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass(self.line.len())?;
        self.out.flush()
    }
}

impl<W: Write> Drop for Folding<W> {
    fn drop(&mut self) {
        // Nobody is left to report an error to.
        let _ = self.pass(self.line.len());
    }
}

#[cfg(test)]
mod tests {
    use anstyle::Style;

    use super::*;
    use crate::edge::paint;

    fn folded(text: &str, width: usize) -> String {
        let mut out = Vec::new();
        // The result is the same however the text is cut.
        let mut folding = Folding::new(&mut out, Some(width), None);
        for piece in text.as_bytes().chunks(3) {
            folding.write_all(piece).unwrap();
        }
        drop(folding);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_go_on_below_their_own_indentation() {
        assert_eq!(
            folded("a b\n  aaa bbb ccc ddd\n", 12),
            "a b\n  aaa bbb\n      ccc\n      ddd\n"
        );
        // The columns of a table stay, and so does a line without an end.
        assert_eq!(folded("a    b\nc", 12), "a    b\nc");
    }

    #[test]
    fn a_lead_is_before_each_line_in_whatever_pieces_they_come() {
        let mut out = Vec::new();
        let mut folding = Folding::new(&mut out, Some(10), Some("  "));
        folding.lead = "  ";
        for piece in ["a", " b\nc", "\n", "one two three\n"] {
            folding.write_all(piece.as_bytes()).unwrap();
        }
        drop(folding);
        assert_eq!(String::from_utf8(out).unwrap(), "  a b\n  c\n  one two\n  three\n");
    }

    #[test]
    fn words_stay_whole_and_styles_have_no_columns() {
        assert_eq!(
            folded("a virtual_hosts[0].routes[1] b\n", 10),
            "a\n    virtual_hosts[0].routes[1]\n    b\n"
        );
        let bold = paint(Style::new().bold(), true, "aaa bbb");
        assert_eq!(folded(&format!("{bold} c\n"), 9), format!("{bold} c\n"));
        // Each character has two columns; an escape character is escaped.
        assert_eq!(folded("日本 日本\n", 8), "日本\n    日本\n");
        assert_eq!(folded("a \u{1b}b\n", 8), "a\n    \u{1b}b\n");
    }

    #[test]
    fn nothing_is_wrapped_without_a_width() {
        assert_eq!(wrapped("a b c", None, "  "), "a b c");
        assert_eq!(wrapped("aa bb cc", Some(5), "  "), "aa bb\n  cc\n");
    }
}
