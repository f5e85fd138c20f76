//! Prints what is between the values: brackets, commas and lines.

use xdsctl_proto::tables::Field;

use super::Printer;

/// The number of levels that are indented. Deeper lines would be mostly blanks.
const MAX_INDENT: usize = 24;

/// A new line and blanks. They are copied at a fixed size, because the compiler turns that into two
/// store instructions.
const LINE: &[u8; 32] = b"\n                               ";

/// The position of an element in its list, or of a field in its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// The first element or field.
    First,
    /// An element or field that follows another one.
    Later,
    /// The only field of its message, which is printed without its name.
    Bare,
}

impl Printer {
    /// Begins a new line, if the printer uses lines.
    fn line(&mut self) {
        if self.has_lines {
            let end = self.out.len() + 1 + self.level.min(MAX_INDENT);
            self.out.extend_from_slice(LINE);
            self.out.truncate(end);
        }
    }

    pub(super) fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.level += 1;
    }

    pub(super) fn close(&mut self, bracket: u8, is_empty: bool) {
        self.level = self.level.saturating_sub(1);
        if !is_empty {
            self.line();
        }
        self.out.push(bracket);
    }

    /// Begins the next element.
    pub(super) fn next(&mut self, start: &mut Start) {
        if *start == Start::Later {
            self.out.push(b',');
        }
        *start = Start::Later;
        self.line();
    }

    pub(super) fn colon(&mut self) {
        self.out.push(b':');
        if self.has_lines {
            self.out.push(b' ');
        }
    }

    /// Begins the next field.
    pub(super) fn name(&mut self, field: &'static Field, start: &mut Start) {
        if *start == Start::Bare {
            *start = Start::Later;
            return;
        }
        self.next(start);
        self.key(field.name);
    }

    /// Prints a name that needs no escapes, and the colon after it.
    pub(super) fn key(&mut self, name: &str) {
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b'"');
        self.colon();
    }
}
