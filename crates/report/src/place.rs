//! Places in a document, as reports print them.

use std::sync::Arc;

use xdsctl_document::source::{Source, Span};

/// The place of a span of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlace {
    /// Name of the document.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// Line of the end, from 1.
    pub end_line: usize,
    /// Column one past the last character.
    pub end_column: usize,
    /// Offset of the first byte, from 0.
    pub byte_start: usize,
    /// Offset one past the last byte.
    pub byte_end: usize,
    /// The lines around it, for findings that are shown to people.
    pub snippet: Option<Snippet>,
}

/// Some lines of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The text of the lines, with secrets masked.
    pub text: String,
    /// Number of the first line, from 1.
    pub first_line: usize,
    /// Start of the span in `text`, in bytes.
    pub start: usize,
    /// Length of the span in `text`, in bytes, at least 1.
    pub len: usize,
    /// Whether something in `text` is masked because it is not known to be harmless.
    pub is_masked: bool,
}

impl SourcePlace {
    /// Returns the place of a span.
    pub fn of(source: &Source, span: Span) -> SourcePlace {
        let (start, end) = source.lines_and_columns(span);
        SourcePlace {
            file: source.name().into(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            byte_start: span.start,
            byte_end: span.end,
            snippet: None,
        }
    }
}
