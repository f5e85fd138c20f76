//! Indents lines while they are written, because the parsed form of a resource may be too long to be
//! kept.

use std::fmt;
use std::io::{self, Write};

/// Writes text with two blanks before each line.
pub(super) struct Indented<'o> {
    out: &'o mut dyn Write,
    is_inside: bool,
    /// The error of `out`, which a formatter cannot return.
    pub(super) error: Option<io::Error>,
}

impl<'o> Indented<'o> {
    pub(super) const fn new(out: &'o mut dyn Write) -> Indented<'o> {
        Indented {
            out,
            is_inside: false,
            error: None,
        }
    }
}

impl fmt::Write for Indented<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut write = || {
            for piece in text.split_inclusive('\n') {
                if !self.is_inside {
                    self.out.write_all(b"  ")?;
                }
                self.out.write_all(piece.as_bytes())?;
                self.is_inside = !piece.ends_with('\n');
            }
            Ok(())
        };
        write().map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrap::Folding;
    use std::fmt::Write as _;

    #[test]
    fn lines_are_wrapped_and_indented_in_whatever_pieces_they_come() {
        let mut out = Vec::new();
        let mut folding = Folding::new(&mut out, Some(10), Some("  "));
        let mut lines = Indented::new(&mut folding);
        for piece in ["a", " b\nc", "\n", "one two three\n"] {
            lines.write_str(piece).unwrap();
        }
        drop(folding);
        assert_eq!(String::from_utf8(out).unwrap(), "  a b\n  c\n  one two\n  three\n");
    }
}
