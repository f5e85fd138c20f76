//! The user's documents: bytes, names, and lines and columns.
//!
//! A [`SourceMap`] owns every document of a run, so that findings need only a [`SourceId`] and a
//! byte [`Span`]. Lines and columns are computed when something is printed, from an index that is
//! built on first use. [`json`] reads JSON text piece by piece; [`span`] finds a field path in it
//! again. This module knows nothing of xDS.

pub mod binary;
pub mod configmap;
mod file;
pub mod json;
pub mod log;
pub mod node;
pub mod secrets;
pub mod sniff;
pub mod span;
pub mod textproto;
pub mod view;
pub mod wire;
pub mod yaml;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use file::{MAX_INPUT_BYTES, MAX_STREAM_BYTES, read_stream};
pub use span::Span;
pub use view::View;

use file::Bytes;
use secrets::{Marks, SecretPlace};
use sniff::{DocumentFormat, Sniffed, sniff};
use xdsctl_proto::tables;

use xdsctl_model::diag::FieldPath;

/// The distance between two entries of the line index, in bytes.
const INDEX_STEP: usize = 2 << 10;

/// The id of one document of a [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(u32);

impl SourceId {
    /// Returns the position in the order in which documents were added.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place in the form that people use: line and column from 1, the column in code points (a tab is
/// one).
///
/// In text that is not UTF-8, every byte counts as one column, except continuation bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line, from 1; `\n` ends a line.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// A document that was read: its bytes, its name and its lines.
#[derive(Debug)]
pub struct Source {
    name: String,
    bytes: Bytes,
    /// The line and column of byte `i * INDEX_STEP`.
    lines: OnceLock<Vec<LineColumn>>,
    /// The document as JSON, if it is not JSON itself and has been read.
    view: OnceLock<View>,
    format: OnceLock<DocumentFormat>,
    /// The result of sniffing, once it is known.
    sniffed: OnceLock<Sniffed>,
    /// The view of this text as YAML, if it was made from the view of an earlier text. It is taken
    /// when it is first asked for.
    yaml: Mutex<Option<View>>,
    is_settings: bool,
}

/// The size in bytes up to which a text is read anew after each edit, in less than a millisecond.
const SMALL_BYTES: usize = 16 << 10;

impl Source {
    /// Returns a document that is in memory and in no map.
    pub fn of(name: impl Into<String>, bytes: Vec<u8>) -> Source {
        let bytes = sniff::from_utf16(&bytes).map_or(Bytes::Owned(bytes), Bytes::Owned);
        Source::unread(name.into(), bytes, false)
    }

    /// Returns a document that has not been read yet.
    fn unread(name: String, bytes: Bytes, is_settings: bool) -> Source {
        Source {
            name,
            bytes,
            lines: OnceLock::new(),
            view: OnceLock::new(),
            format: OnceLock::new(),
            sniffed: OnceLock::new(),
            yaml: Mutex::default(),
            is_settings,
        }
    }

    /// Returns the document after an edit. Parts with the same meaning as before are not read
    /// again.
    pub fn edited(&self, text: &str) -> Source {
        let source = Source::of(self.name(), text.as_bytes().to_vec());
        let is_yaml = self.format() == Some(DocumentFormat::Yaml) && text.len() >= SMALL_BYTES;
        let before = self.view().filter(|_| is_yaml && !configmap::may_be(self.bytes()));
        let view = before.and_then(|view| yaml::view_again(std::str::from_utf8(self.bytes()).ok()?, view, text));
        Source {
            yaml: Mutex::new(view),
            ..source
        }
    }

    /// Returns the document as JSON, if it is YAML; see [`Source::edited`].
    pub fn yaml_view(&self) -> View {
        let known = self.yaml.lock().unwrap_or_else(PoisonError::into_inner).take();
        known.unwrap_or_else(|| yaml::view_bytes(self.bytes()))
    }

    /// Returns the name to print: the path as given, or `-`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bytes of the document.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Says whether the document holds settings for reports. It is not a client's configuration, so
    /// no field in it holds a secret.
    pub const fn is_settings(&self) -> bool {
        self.is_settings
    }

    /// Stores the JSON form of the document, which is used to find places. Only the first one is
    /// stored.
    pub fn set_view(&self, view: View) -> &View {
        self.view.get_or_init(|| view)
    }

    /// Returns the JSON form of the document, if it is not JSON itself and has been read.
    pub fn view(&self) -> Option<&View> {
        self.view.get()
    }

    /// Says whether all of a document in another format than JSON could be read.
    pub fn is_whole(&self) -> bool {
        self.view().is_some_and(View::is_whole)
    }

    /// Finds the place of a field of the resource at `resource`, in any format. See
    /// [`span::locate`].
    pub fn locate(&self, resource: Span, path: &FieldPath) -> Span {
        self.locate_all(resource, &[path]).pop().unwrap_or(resource)
    }

    /// Finds the places of findings on the JSON at `whole`. After a syntax error at the offset `fault`
    /// of the JSON, there are no fields: all findings are there.
    pub fn locate_in_json(&self, whole: Span, paths: &[&FieldPath], fault: Option<usize>) -> Vec<Span> {
        match fault {
            Some(offset) => {
                let start = whole.start + offset;
                vec![Span::new(start, (start + 1).min(whole.end)); paths.len()]
            }
            None => self.locate_all(whole, paths),
        }
    }

    /// Finds the places of many fields of the resource at `resource` in one walk, in the order of
    /// `paths`.
    pub fn locate_all(&self, resource: Span, paths: &[&FieldPath]) -> Vec<Span> {
        if paths.is_empty() {
            return Vec::new();
        }
        match self.view_of(resource) {
            Some(view) => view.locate_all(resource, paths),
            None => span::locate_all(self.bytes(), resource, paths),
        }
    }

    /// Returns the view, if the resource at `resource` is in it. A log may have some messages in
    /// text format and others in JSON.
    fn view_of(&self, resource: Span) -> Option<&View> {
        let is_log = self.format() == Some(DocumentFormat::Log);
        self.view()
            .filter(|view| !is_log || view.object_at(resource.start).is_some())
    }

    /// Returns the JSON text that has the resource at `resource`, and for each path the offset of
    /// its value in that text, or `None` if there is no value. [`to_document`](Self::to_document)
    /// maps offsets back.
    pub fn values(&self, resource: Span, paths: &[&FieldPath]) -> (&[u8], Vec<Option<usize>>) {
        match self.view() {
            Some(view) => (&view.json, view.starts(resource, paths)),
            None => (self.bytes(), span::starts(self.bytes(), resource, paths)),
        }
    }

    /// Maps a span of the text that [`values`](Self::values) returns to the document.
    pub fn to_document(&self, span: Span) -> Span {
        self.view().map_or(span, |view| view.to_document(span))
    }

    /// Returns the starts of scalars in the document that stand for several values because aliases
    /// repeat them.
    pub fn repeated(&self) -> BTreeSet<usize> {
        self.view().map(View::repeated).unwrap_or_default()
    }

    /// Returns what may be printed of the resource at `resource`, as spans of this document.
    /// `type_name` is the type of the resource.
    pub fn marks(&self, resource: Span, type_name: Option<&str>) -> Marks {
        let place = SecretPlace::root(type_name.and_then(tables::message));
        match self.view_of(resource) {
            Some(view) => view.marks(resource, place),
            None => secrets::marks(self.bytes(), resource.start, place),
        }
    }

    /// Returns what may be printed of the whole document, for each of its separate values in order.
    /// `place` is the place of each value. A value may be inside a text of an earlier one.
    pub fn marks_of_all(&self, place: SecretPlace) -> Vec<Marks> {
        if matches!(self.format(), Some(DocumentFormat::Log | DocumentFormat::Binary)) {
            return Vec::new();
        }
        if let Some(view) = self.view() {
            return view.marks_of_parts(place);
        }
        let mut all = Vec::new();
        let mut scan = json::Scanner::new(self.bytes());
        while !scan.at_end() {
            let marks = secrets::marks(self.bytes(), scan.pos(), place);
            scan.set_pos(marks.extent.end.max(scan.pos() + 1));
            all.push(marks);
        }
        all
    }

    /// Returns a resource of a binary document as a document in text format, to find and show
    /// places in it. `resource` is the span of the resource's bytes.
    ///
    /// The new document is named `NAME (decoded)` and holds only the resource. Returns `None` for
    /// documents that are text themselves, and for message types that xdsctl does not know.
    pub fn decoded(&self, resource: Span, type_name: &str) -> Option<Source> {
        if self.format() != Some(DocumentFormat::Binary) {
            return None;
        }
        let message = tables::message(type_name)?;
        let text = textproto::print(self.bytes().get(resource.range())?, message);
        let view = textproto::view(text.as_bytes(), Some(message));
        Some(Source {
            view: OnceLock::from(view),
            format: OnceLock::from(DocumentFormat::Text),
            ..Source::unread(
                format!("{} (decoded)", self.name),
                Bytes::Owned(text.into_bytes()),
                self.is_settings,
            )
        })
    }

    /// Returns the result of sniffing the document.
    pub fn sniffed(&self) -> Sniffed {
        *self.sniffed.get_or_init(|| sniff(self.name(), self.bytes()))
    }

    /// Returns the format in which the document was read.
    pub fn format(&self) -> Option<DocumentFormat> {
        self.format.get().copied()
    }

    /// Stores the format in which the document was read. Only the first one is stored.
    pub fn set_format(&self, format: DocumentFormat) {
        self.format.get_or_init(|| format);
    }

    /// Returns the lines and columns of both ends of a span.
    pub fn lines_and_columns(&self, span: Span) -> (LineColumn, LineColumn) {
        let start = self.line_column(span.start);
        // Most spans are a few bytes long.
        let end = match self.bytes().get(span.range()) {
            Some(text) if text.len() < INDEX_STEP => start.after(text),
            _ => self.line_column(span.end),
        };
        (start, end)
    }

    /// Returns the line and column of a byte offset. An offset beyond the end counts as the end.
    pub fn line_column(&self, offset: usize) -> LineColumn {
        let bytes = self.bytes();
        let offset = offset.min(bytes.len());
        let lines = self.lines.get_or_init(|| index_lines(bytes));
        let entry = offset / INDEX_STEP;
        let before = lines.get(entry).copied().unwrap_or(LineColumn::START);
        before.after(bytes.get(entry * INDEX_STEP..offset).unwrap_or_default())
    }
}

impl LineColumn {
    const START: LineColumn = LineColumn { line: 1, column: 1 };

    /// Returns the place after `text`, which starts at this place.
    fn after(self, text: &[u8]) -> LineColumn {
        let (start, column) = match memchr::memrchr(b'\n', text) {
            Some(newline) => (newline + 1, 1),
            None => (0, self.column),
        };
        let line = text.get(start..).unwrap_or_default();
        LineColumn {
            line: self.line + memchr::memchr_iter(b'\n', text).count(),
            column: column + line.iter().filter(|byte| **byte & 0xc0 != 0x80).count(),
        }
    }
}

fn index_lines(bytes: &[u8]) -> Vec<LineColumn> {
    let mut place = LineColumn::START;
    let mut lines = Vec::with_capacity(bytes.len() / INDEX_STEP + 2);
    lines.push(place);
    for chunk in bytes.chunks(INDEX_STEP) {
        place = place.after(chunk);
        lines.push(place);
    }
    lines
}

/// Every document of a run. A copy shares the documents.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    sources: Vec<Arc<Source>>,
    /// The number of bytes read from files so far.
    read: u64,
}

impl SourceMap {
    /// Returns an empty map.
    pub fn new() -> Self {
        SourceMap::default()
    }

    /// Adds bytes that are in memory.
    pub fn add(&mut self, name: impl Into<String>, bytes: Vec<u8>) -> SourceId {
        self.push(name.into(), Bytes::Owned(bytes), false)
    }

    /// Adds bytes that are in memory, without copying them.
    pub fn add_shared(&mut self, name: impl Into<String>, bytes: bytes::Bytes) -> SourceId {
        self.push(name.into(), Bytes::Shared(bytes), false)
    }

    /// Adds a file of settings, see [`Source::is_settings`].
    pub fn add_settings(&mut self, name: impl Into<String>, bytes: Vec<u8>) -> SourceId {
        self.push(name.into(), Bytes::Owned(bytes), true)
    }

    /// Reads a file and adds it.
    ///
    /// # Errors
    /// The file cannot be opened or read, becomes shorter meanwhile, or has more bytes than are
    /// left of [`MAX_INPUT_BYTES`].
    pub fn add_file(&mut self, path: &Path) -> io::Result<SourceId> {
        let bytes = file::read(path, MAX_INPUT_BYTES.saturating_sub(self.read))?;
        self.read += bytes.len() as u64;
        Ok(self.push(path.display().to_string(), bytes, false))
    }

    fn push(&mut self, name: String, bytes: Bytes, is_settings: bool) -> SourceId {
        // The places are then those of the UTF-8 text. Lines and columns are the same in both
        // encodings.
        let bytes = sniff::from_utf16(&bytes).map_or(bytes, Bytes::Owned);
        self.add_again(&Arc::new(Source::unread(name, bytes, is_settings)))
    }

    /// Adds a document of another map, or of an earlier state of this one, with everything that is
    /// known about it.
    pub fn add_again(&mut self, source: &Arc<Source>) -> SourceId {
        let id = SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        self.sources.push(Arc::clone(source));
        id
    }

    /// Returns the document with this id in shared ownership.
    pub fn shared(&self, id: SourceId) -> Option<&Arc<Source>> {
        self.sources.get(id.index())
    }

    /// Removes all documents but the first `count`.
    pub fn truncate(&mut self, count: usize) {
        self.sources.truncate(count);
    }

    /// Replaces the bytes of a document. Nothing is known about the new bytes yet.
    pub fn replace(&mut self, id: SourceId, bytes: Vec<u8>) {
        if let Some(source) = self.sources.get_mut(id.index()) {
            let (name, bytes) = (source.name.clone(), Bytes::Owned(bytes));
            *source = Arc::new(Source::unread(name, bytes, source.is_settings));
        }
    }

    /// Returns the document with this id, or `None` if the map has no such id.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.sources.get(id.index()).map(|source| &**source)
    }

    /// Returns how many documents there are.
    pub fn count(&self) -> usize {
        self.sources.len()
    }

    /// Returns every document with its id, in the order of addition.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        (0..).map(SourceId).zip(self.sources.iter().map(|source| &**source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, offset: usize) -> (usize, usize) {
        let mut map = SourceMap::new();
        let id = map.add("x", text.as_bytes().to_vec());
        let place = map.get(id).unwrap().line_column(offset);
        (place.line, place.column)
    }

    #[test]
    fn lines_and_columns_count_from_one() {
        assert_eq!(at("", 0), (1, 1));
        assert_eq!(at("ab\ncd", 1), (1, 2));
        assert_eq!(at("ab\ncd", 3), (2, 1));
        assert_eq!(at("ab\ncd", 99), (2, 3));
    }

    #[test]
    fn columns_count_code_points() {
        assert_eq!(at("é€x", 5), (1, 3));
    }

    #[test]
    fn the_line_index_agrees_with_a_plain_count() {
        let text: String = (0..40_000).map(|i| format!("line {i}\n")).collect();
        for offset in [0, 65_535, 65_536, 65_537, 200_000, text.len()] {
            let line = text[..offset].matches('\n').count() + 1;
            assert_eq!(at(&text, offset).0, line, "{offset}");
        }
    }

    #[test]
    fn columns_of_a_long_line_need_no_walk_from_its_start() {
        let text = format!("first\n{}", "é".repeat(100_000));
        for n in [0, 1, 40_000, 99_999] {
            assert_eq!(at(&text, 6 + 2 * n), (2, n + 1));
        }
    }

    /// If the file were mapped instead of read, the bytes would change afterwards.
    #[test]
    fn a_file_that_becomes_shorter_after_it_was_added_stays_what_it_was() {
        let directory = std::env::temp_dir().join(format!("xdsctl-source-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        for size in [5_000, 2 << 20, 20 << 20] {
            let path = directory.join(size.to_string());
            std::fs::write(&path, vec![b'x'; size]).unwrap();
            let mut map = SourceMap::new();
            let id = map.add_file(&path).unwrap();
            std::fs::write(&path, "").unwrap();
            let bytes = map.get(id).unwrap().bytes();
            assert_eq!(bytes.len(), size);
            assert!(bytes.iter().all(|byte| *byte == b'x'));
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
