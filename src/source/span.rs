//! Byte ranges.

use std::ops::Range;

/// A range of bytes of one document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` to before `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }

    /// The range, to index with.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}
