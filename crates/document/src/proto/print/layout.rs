//! Brackets, commas, lines: what stands between the values.

use xdsctl_proto::tables::Field;

use super::Printer;

/// Levels that are indented; what is deeper would be mostly blanks.
const MAX_INDENT: usize = 24;

/// A new line and blanks, copied in one piece of a fixed size: the compiler makes two stores of
/// that.
const LINE: &[u8; 32] = b"\n                               ";

/// Where an element stands in its list, or a field in its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// The first one: nothing stands before it.
    First,
    /// A later one: another one stands before it.
    Later,
    /// It is the only field of its message, and stands without its name.
    Bare,
}

impl Printer {
    /// Begins a line, if lines are wanted.
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

    /// Prints a name that needs no escapes, and what stands behind it.
    pub(super) fn key(&mut self, name: &str) {
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b'"');
        self.colon();
    }
}
