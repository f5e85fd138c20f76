//! The edge between xdsctl and the reader of its output. Characters that could move a terminal's
//! cursor are made visible here.
//!
//! Names, values and file names come from documents and arguments, and may contain any character. A
//! command writes them unchanged to an [`Edge`], which writes, for example, `\u001b` for an escape
//! character. So the code that makes text need not think of it. JSON has the same notation, so a
//! JSON document keeps its meaning. Styles are xdsctl's own: they go in as marks, which no document
//! can contain, and come out as codes of the terminal. Texts that look like secrets are masked as
//! well.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::sync::OnceLock;

use anstyle::Style;

use xdsctl_document::secret;

/// Most bytes of a line that are kept back before it is written piece by piece.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Noncharacters around a mark; Unicode reserves them for internal use by programs.
pub(super) const OPEN: char = '\u{fdd0}';
pub(super) const CLOSE: char = '\u{fdd1}';

/// Says whether a character is written as it is: it is no control character other than a newline,
/// and does not reverse or hide text.
pub const fn is_plain(c: char) -> bool {
    match c {
        '\n' | ' '..='~' => true,
        '\0'..='\u{9f}' => false,
        // Marks of direction, isolates and overrides, line separators, and characters without a
        // width.
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => false,
        // Noncharacters.
        '\u{fdd0}'..='\u{fdef}' => false,
        _ => c as u32 & 0xfffe != 0xfffe,
    }
}

/// Returns the text with all characters that are not plain escaped as in JSON.
///
/// ```
/// use xdsctl_report::edge::visible;
/// assert_eq!(visible("a\u{1b}[31mb"), r"a\u001b[31mb");
/// assert_eq!(visible("höhe\n"), "höhe\n");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_plain(c) {
            out.push(c);
        } else {
            push_escaped(c, &mut out);
        }
    }
    Cow::Owned(out)
}

/// Does the same as [`visible`], for a text that must stay on one line.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        text if text.contains('\n') => Cow::Owned(text.replace('\n', "\\n")),
        text => text,
    }
}

/// Writes a line. A newline in a name or value is written as `\n`, so that no text of a document
/// looks like a line of xdsctl's own.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_line(out: &mut (impl Write + ?Sized), line: fmt::Arguments<'_>) -> io::Result<()> {
    let text = line.to_string().replace('\n', "\\n");
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

/// Appends a character as JSON would escape it.
pub(super) fn push_escaped(c: char, out: &mut String) {
    use fmt::Write as _;
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Returns the text in a mark besides the style. It differs from run to run, so no document can
/// contain it.
fn seal() -> &'static str {
    static SEAL: OnceLock<String> = OnceLock::new();
    SEAL.get_or_init(|| format!("{:016x}", RandomState::new().build_hasher().finish()))
}

/// Returns the text in a style, if colours are wanted.
pub fn paint(style: Style, colours: bool, text: &str) -> String {
    if colours && style != Style::new() && !text.is_empty() {
        format!("{}{text}{}", own(&style.to_string()), own("\x1b[0m"))
    } else {
        text.to_owned()
    }
}

/// Marks a text that an [`Edge`] writes as it is: it moves the cursor or changes the style on
/// purpose.
pub fn own(text: &str) -> String {
    format!("{OPEN}{}{text}{CLOSE}", seal())
}

/// Marks the terminal codes of a text whose other control characters have already been made
/// visible.
pub fn marked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("\x1b[") {
        let (before, code) = rest.split_at(start);
        out.push_str(before);
        let end = code
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(code.len(), |at| at + 1);
        let (code, after) = code.split_at(end);
        out.push_str(&own(code));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A writer that makes characters visible that are not plain, and masks what looks like a secret.
///
/// A line is written when it is complete; [`flush`](Write::flush) writes all bytes that are kept
/// back.
pub struct Edge<W: Write> {
    out: W,
    line: Vec<u8>,
    /// Whether nothing is masked (`--show-secrets`).
    shows_secrets: bool,
    looks: secret::SecretFinder,
}

impl<W: Write> Edge<W> {
    /// Creates the edge in front of `out`.
    pub fn new(out: W, shows_secrets: bool) -> Self {
        Edge {
            out,
            line: Vec::new(),
            shows_secrets,
            looks: secret::SecretFinder::default(),
        }
    }

    /// Writes the first `end` bytes of those that are kept back.
    fn pass(&mut self, end: usize) -> io::Result<()> {
        let Some(line) = self.line.get_mut(..end) else {
            return Ok(());
        };
        if !self.shows_secrets {
            self.looks.mask(line);
        }
        let result = if line.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
            self.out.write_all(line)
        } else {
            self.out.write_all(escaped(line).as_bytes())
        };
        self.line.drain(..end);
        result
    }
}

/// Returns the text of the bytes, with visible characters only. Marks become the codes that they
/// contain.
fn escaped(line: &[u8]) -> String {
    let mut out = String::with_capacity(line.len() + 16);
    for chunk in line.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some(start) = rest.find(OPEN) {
            let (before, mark) = rest.split_at(start);
            out.push_str(&visible(before));
            match opened(mark) {
                Some((code, after)) => {
                    out.push_str(code);
                    rest = after;
                }
                None => {
                    push_escaped(OPEN, &mut out);
                    rest = mark.trim_start_matches(OPEN);
                }
            }
        }
        out.push_str(&visible(rest));
        for _ in chunk.invalid() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
    out
}

/// Returns the code in a mark of this run, and the text behind the mark.
fn opened(mark: &str) -> Option<(&str, &str)> {
    mark.strip_prefix(OPEN)?.strip_prefix(seal())?.split_once(CLOSE)
}

impl<W: Write> Write for Edge<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        let whole = memchr::memrchr(b'\n', bytes).map(|newline| self.line.len() - bytes.len() + newline + 1);
        if let Some(end) = whole {
            self.pass(end)?;
        }
        if self.line.len() > MAX_LINE_BYTES {
            // Do not cut inside a word, which may be a secret.
            let cut = memchr::memrchr2(b'"', b',', &self.line);
            let cut = cut.or_else(|| self.line.iter().rposition(u8::is_ascii));
            self.pass(cut.map_or(self.line.len(), |at| at + 1))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass(self.line.len())?;
        self.out.flush()
    }
}

impl<W: Write> Drop for Edge<W> {
    fn drop(&mut self) {
        // Nobody is left to report an error to.
        let _ = self.pass(self.line.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut edge = Edge::new(&mut out, false);
        for piece in pieces {
            edge.write_all(piece).unwrap();
        }
        drop(edge);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_not_plain_is_written_as_json_would() {
        for (text, expected) in [
            ("a b~\n", "a b~\n"),
            ("\0\x07\x08\t\r\x1b\x7f", r"\u0000\u0007\u0008\u0009\u000d\u001b\u007f"),
            ("\u{80}\u{9b}31m", r"\u0080\u009b31m"),
            (
                "\u{202e}\u{2066}\u{200f}\u{2028}\u{feff}",
                r"\u202e\u2066\u200f\u2028\ufeff",
            ),
            (
                "\u{fffe}\u{fdd0}\u{1ffff}\u{e0041}",
                r"\ufffe\ufdd0\ud83f\udfff\udb40\udc41",
            ),
            ("é日\u{fffd}😀", "é日\u{fffd}😀"),
        ] {
            assert_eq!(through(&[text.as_bytes()]), expected);
            let json = format!("\"{}\"", visible(text).replace('\n', "\\n"));
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
        assert_eq!(through(&[b"a\xff\x9bb"]), "a\u{fffd}\u{fffd}b");
        assert_eq!(visible_line("a\nb\r"), r"a\nb\u000d");
    }

    #[test]
    fn a_character_may_come_in_pieces() {
        let bytes = "a\u{9b}é\n".as_bytes();
        let pieces: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(through(&pieces), "a\\u009bé\n");
    }

    #[test]
    fn only_our_own_styles_are_codes() {
        let bold = Style::new().bold();
        let text = paint(bold, true, "a\x1b[2Jb");
        assert_eq!(through(&[text.as_bytes()]), "\x1b[1ma\\u001b[2Jb\x1b[0m");
        assert_eq!(paint(bold, false, "a"), "a");
        // A document would have to guess the text of the mark.
        let forged = format!("{OPEN}0000000000000000\x1b[8m{CLOSE}");
        assert_eq!(through(&[forged.as_bytes()]), r"\ufdd00000000000000000\u001b[8m\ufdd1");
        assert_eq!(through(&[marked("x\x1b[31my\x1b[0m").as_bytes()]), "x\x1b[31my\x1b[0m");
    }

    #[test]
    fn a_line_that_does_not_end_is_written_in_pieces() {
        let piece = "\"name\",".repeat(10_000);
        let mut out = Vec::new();
        let mut edge = Edge::new(&mut out, false);
        for _ in 0..100 {
            edge.write_all(piece.as_bytes()).unwrap();
            assert!(edge.line.len() <= MAX_LINE_BYTES);
        }
        drop(edge);
        assert_eq!(out.len(), piece.len() * 100);
    }
}
