//! A document of another format as JSON text, with a mapping from each piece of the text back to
//! the document.
//!
//! YAML, text format and binary documents are rewritten once as a [`View`]; every reader of JSON
//! reads the view. Every token of the view has the span in the document that it stands for. So a
//! place in the view (a note, the answer of [`locate_all`](super::span::locate_all)) becomes a
//! place in the user's document with [`View::to_document`].
//!
//! A view holds one JSON value for each document of a stream. A document that could not be read to
//! its end is cut: its text ends inside a value, after everything that could be read, and a
//! [`ViewFault`] says why.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::OnceLock;

use super::Span;
use super::secrets::{Marks, SecretPlace, marks};
use super::span::{locate_all, starts};
use xdsctl_model::diag::FieldPath;

/// The largest document that is rewritten, in bytes. Places are stored in 32 bits. JSON itself has
/// no such limit.
pub const MAX_VIEWED_BYTES: usize = u32::MAX as usize / 4;

/// The largest view, in bytes.
pub const MAX_VIEW_BYTES: usize = u32::MAX as usize;

/// A token of the view, and the span in the document that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ViewToken {
    /// The offset of the first byte in the view.
    pub at: u32,
    /// The offset of the first byte in the document.
    pub start: u32,
    /// The offset behind the last byte in the document.
    pub end: u32,
}

/// The kind of fault in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The document is not valid in its format.
    Syntax,
    /// The document exceeds a limit of xdsctl.
    Limit,
}

/// A fault in a document, found while it was rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewFault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The span of the fault in the document.
    pub span: Span,
    /// What is wrong, in the form of a diagnostic's message.
    pub message: String,
}

/// One document of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewPart {
    /// The span of the view that is its text.
    pub text: Span,
    /// Whether the text ends inside a value; one of the faults says why.
    pub cut: bool,
}

/// JSON text that stands for a document.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The JSON text of all documents.
    pub json: Vec<u8>,
    pub(super) tokens: Vec<ViewToken>,
    /// The documents in order.
    pub parts: Vec<ViewPart>,
    /// The faults of the documents in order.
    pub faults: Vec<ViewFault>,
    /// Whether parts of the view were moved or copied, so that tokens are not in the order of the
    /// document.
    pub(super) is_rearranged: bool,
    /// The offset of each object in the document and in the view, in order. Made when a place is
    /// first looked for.
    pub(super) objects: OnceLock<Vec<(u32, u32)>>,
}

impl View {
    /// Returns the span of the document that a span of the view stands for.
    ///
    /// ```
    /// use xdsctl_document::source::{Span, yaml};
    /// let text = "name: &n a\nother: [1, *n]\n";
    /// let view = yaml::view(text);
    /// assert_eq!(view.json, b"{\"name\":\"a\",\"other\":[1,\"a\"]}\n");
    /// assert_eq!(&text[view.to_document(Span::new(12, 19)).range()], "other");
    /// ```
    pub fn to_document(&self, span: Span) -> Span {
        let first = self.token(span.start);
        let last = self.token(span.end.saturating_sub(1).max(span.start));
        match (first, last) {
            (Some(first), Some(last)) => {
                let start = first.start as usize;
                // The tokens of an alias have places elsewhere, so only the start of the range is
                // shown.
                let end = if last.end >= first.end { last.end } else { first.end };
                Span::new(start, end as usize)
            }
            _ => Span::default(),
        }
    }

    /// Finds the places in the document of fields of the resource at `resource` of the document.
    pub fn locate_all(&self, resource: Span, paths: &[&FieldPath]) -> Vec<Span> {
        let Some(at) = self.object_at(resource.start).filter(|at| !self.is_packed(*at)) else {
            return vec![resource; paths.len()];
        };
        locate_all(&self.json, Span::new(at, self.part_end(at)), paths)
            .into_iter()
            .map(|span| self.to_document(span))
            .collect()
    }

    /// Returns the offsets in the view of the values of fields of the resource at `resource` of the
    /// document, or `None` for values that are not there.
    pub(super) fn starts(&self, resource: Span, paths: &[&FieldPath]) -> Vec<Option<usize>> {
        let Some(at) = self.object_at(resource.start).filter(|at| !self.is_packed(*at)) else {
            return vec![None; paths.len()];
        };
        starts(&self.json, Span::new(at, self.part_end(at)), paths)
    }

    /// Returns the starts in the document of scalars that are in the view more than once.
    pub(super) fn repeated(&self) -> BTreeSet<usize> {
        let is_scalar = |token: &&ViewToken| {
            let first = self.json.get(token.at as usize);
            first.is_some_and(|byte| !matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':'))
        };
        let mut scalars: Vec<u32> = self.tokens.iter().filter(is_scalar).map(|token| token.start).collect();
        scalars.sort_unstable();
        let pairs = scalars.windows(2).filter(|pair| pair.first() == pair.last());
        pairs.filter_map(|pair| Some(*pair.first()? as usize)).collect()
    }

    /// Returns the end of the stream's document that has the offset `at`.
    fn part_end(&self, at: usize) -> usize {
        let mut ends = self.parts.iter().map(|part| part.text.end);
        ends.find(|end| *end > at).unwrap_or(self.json.len())
    }

    /// Returns what may be printed of the resource at `resource` of the document, as spans of the
    /// document.
    pub(super) fn marks(&self, resource: Span, place: SecretPlace) -> Marks {
        let Some(at) = self.object_at(resource.start) else {
            return Marks::default();
        };
        self.in_document(marks(&self.json, at, place))
    }

    /// Returns what may be printed of each document of the stream. `place` is the place of each
    /// document.
    pub(super) fn marks_of_parts(&self, place: SecretPlace) -> Vec<Marks> {
        let of_part = |part: &ViewPart| {
            self.in_document(marks(
                self.json.get(..part.text.end).unwrap_or_default(),
                part.text.start,
                place,
            ))
        };
        self.parts.iter().map(of_part).collect()
    }

    fn in_document(&self, Marks { extent, shown, hidden }: Marks) -> Marks {
        let in_document = |spans: Vec<Span>| {
            let mut spans: Vec<Span> = spans.into_iter().map(|span| self.to_document(span)).collect();
            // The values of aliases have places elsewhere.
            spans.sort_unstable_by_key(|span| span.start);
            spans
        };
        Marks {
            extent: self.to_document(extent),
            shown: in_document(shown),
            hidden: in_document(hidden),
        }
    }

    /// Says whether every document could be read to its end.
    pub(super) fn is_whole(&self) -> bool {
        self.faults.is_empty() && !self.parts.iter().any(|part| part.cut)
    }

    /// Says whether the object is a message given by its bytes. Such an object has no places inside
    /// it.
    fn is_packed(&self, at: usize) -> bool {
        let head = self.json.get(at..).unwrap_or_default();
        let key = self.tokens.partition_point(|token| token.at as usize <= at);
        let value = self.tokens.get(key + 2).map(|token| token.at as usize);
        head.starts_with(b"{\"@type\"")
            && value.is_some_and(|value| {
                self.json
                    .get(value..)
                    .is_some_and(|text| text.starts_with(b"\"@value\""))
            })
    }

    /// Returns the offset in the view of the object that starts at `offset` of the document.
    pub fn object_at(&self, offset: usize) -> Option<usize> {
        let objects = self.objects.get_or_init(|| {
            let is_object = |token: &&ViewToken| self.json.get(token.at as usize) == Some(&b'{');
            let mut objects: Vec<_> = self.tokens.iter().filter(is_object).map(|t| (t.start, t.at)).collect();
            // The tokens of aliases are not in the order of the document.
            objects.sort_unstable();
            objects
        });
        let offset = u32::try_from(offset).ok()?;
        let found = objects.partition_point(|(start, _)| *start < offset);
        let (start, at) = objects.get(found)?;
        (*start == offset).then_some(*at as usize)
    }

    /// Returns the JSON text of the object that starts at `offset` of the document.
    pub fn object_text(&self, offset: usize) -> Option<&[u8]> {
        let start = self.object_at(offset)?;
        let mut scan = super::json::Scanner::new(&self.json);
        scan.set_pos(start);
        scan.skip_value().ok()?;
        self.json.get(start..scan.pos())
    }

    /// Adds the view of a part of the document. `place` maps an offset in the part to an offset in
    /// the document.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "documents and views are limited to 32 bits"
    )]
    pub(super) fn append(&mut self, part: View, place: impl Fn(usize) -> usize) {
        let at = self.json.len();
        // The end is derived from the last byte: a line may end there, and the next one may be
        // elsewhere.
        let end = |start: usize, end: usize| match end.checked_sub(1) {
            Some(last) if last >= start => place(last) + 1,
            _ => place(start),
        };
        self.json.extend_from_slice(&part.json);
        self.tokens.extend(part.tokens.into_iter().map(|token| ViewToken {
            at: token.at + at as u32,
            start: place(token.start as usize) as u32,
            end: end(token.start as usize, token.end as usize) as u32,
        }));
        self.parts.extend(part.parts.into_iter().map(|part| ViewPart {
            text: Span::new(part.text.start + at, part.text.end + at),
            cut: part.cut,
        }));
        self.faults.extend(part.faults.into_iter().map(|fault| ViewFault {
            span: Span::new(place(fault.span.start), end(fault.span.start, fault.span.end)),
            ..fault
        }));
    }

    fn token(&self, at: usize) -> Option<&ViewToken> {
        let after = self.tokens.partition_point(|token| token.at as usize <= at);
        self.tokens.get(after.saturating_sub(1))
    }

    /// Records that the text added next stands for `span` of the document.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "documents and views are limited to 32 bits"
    )]
    pub(super) fn token_from(&mut self, span: Span) {
        self.tokens.push(ViewToken {
            at: self.json.len() as u32,
            start: span.start as u32,
            end: span.end as u32,
        });
    }

    /// Writes a bracket that stands for `span` of the document.
    pub(super) fn bracket(&mut self, bracket: u8, span: Span) {
        self.raw(&[bracket], span);
    }

    /// Writes the comma before a key or an element, unless it is the first.
    pub(super) fn comma(&mut self) {
        if !matches!(self.json.last(), Some(b'{' | b'[')) {
            self.json.push(b',');
        }
    }

    /// Writes a key that stands for `span` of the document, and what is around it.
    pub(super) fn key(&mut self, name: &[u8], span: Span) {
        self.comma();
        self.string(name, span);
        self.json.push(b':');
    }

    /// Writes a string in quotes that stands for `span` of the document.
    pub(super) fn string(&mut self, text: &[u8], span: Span) {
        self.token_from(span);
        self.quoted(text);
    }

    /// Writes JSON text that stands for `span` of the document.
    pub(super) fn raw(&mut self, text: &[u8], span: Span) {
        self.token_from(span);
        self.json.extend_from_slice(text);
    }

    /// Says whether the view has reached its largest size.
    pub(super) fn is_full(&self) -> bool {
        self.json.len() >= MAX_VIEW_BYTES
    }

    /// Adds a fault.
    #[cold]
    pub(super) fn fault(&mut self, kind: FaultKind, span: Span, message: String) {
        self.faults.push(ViewFault { kind, span, message });
    }

    /// Ends the document that started at offset `start` of the view.
    pub(super) fn end_part(&mut self, start: usize, cut: bool) {
        if self.json.len() > start {
            let text = Span::new(start, self.json.len());
            self.json.push(b'\n');
            self.parts.push(ViewPart { text, cut });
        }
    }

    /// Appends a string in quotes.
    pub(super) fn quoted(&mut self, text: &[u8]) {
        self.json.push(b'"');
        self.escaped(text);
        self.json.push(b'"');
    }

    /// Appends text with the escapes that JSON needs.
    pub(super) fn escaped(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some(special) = rest
            .iter()
            .position(|byte| *byte < b' ' || matches!(byte, b'"' | b'\\'))
        {
            self.json.extend_from_slice(rest.get(..special).unwrap_or_default());
            let byte = rest.get(special).copied().unwrap_or_default();
            match byte {
                b'"' | b'\\' => self.json.extend_from_slice(&[b'\\', byte]),
                b'\n' => self.json.extend_from_slice(b"\\n"),
                b'\r' => self.json.extend_from_slice(b"\\r"),
                b'\t' => self.json.extend_from_slice(b"\\t"),
                _ => self.unicode_escape(byte),
            }
            rest = rest.get(special + 1..).unwrap_or_default();
        }
        self.json.extend_from_slice(rest);
    }

    /// Appends a string whose first character is escaped.
    pub(super) fn marked(&mut self, text: &str) {
        if let Some((first, rest)) = text.as_bytes().split_first() {
            self.json.push(b'"');
            self.unicode_escape(*first);
            self.escaped(rest);
            self.json.push(b'"');
        }
    }

    /// Appends `\u00xx`.
    pub(super) fn unicode_escape(&mut self, byte: u8) {
        // Writing to memory does not fail.
        let _ = write!(self.json, "\\u{byte:04x}");
    }
}
