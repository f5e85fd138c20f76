//! A document of a snapshot as an editor sees it: positions, and the URIs of files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::{Location, Position, Range, Uri};

use crate::project::Snapshot;
use crate::text::{Encoding, Lines};
use crate::uri;
use xdsctl_document::source::{Source, SourceId, Span};

/// The command that runs the tests of a suite.
pub const RUN_TEST: &str = "xdsctl.runTest";

/// The command that opens the page of a rule.
pub const OPEN_RULE: &str = "xdsctl.openRule";

/// The capabilities of the editor, and the names of its open documents.
#[derive(Debug, Clone, Default)]
pub struct Editor {
    /// The unit in which the editor counts positions in a line.
    pub encoding: Encoding,
    /// The URIs of open documents, by their files.
    pub uris: BTreeMap<PathBuf, String>,
    /// Whether the editor supports Markdown in hovers.
    pub takes_markdown: bool,
    /// Whether the editor opens a document on request.
    pub shows_documents: bool,
    /// Whether the editor supports related places of a finding.
    pub takes_related: bool,
}

impl Editor {
    /// Returns the URI of a file, as the editor spells it.
    pub fn uri(&self, file: &Path) -> Option<Uri> {
        let text = match self.uris.get(file) {
            Some(text) => text.clone(),
            None => uri::of(file),
        };
        Uri::from_str(&text).ok()
    }
}

/// The document that a request is about.
#[derive(Debug)]
pub struct DocumentView<'s> {
    /// Snapshot of the document's project.
    pub snapshot: &'s Snapshot,
    /// The editor that sent the request.
    pub editor: &'s Editor,
    /// File of the document.
    pub file: &'s Path,
    /// Id of the document in the snapshot.
    pub id: SourceId,
    /// Text of the document.
    pub source: &'s Source,
    lines: Lines,
}

impl<'s> DocumentView<'s> {
    /// Finds the document of a file.
    pub fn of(snapshot: &'s Snapshot, editor: &'s Editor, file: &'s Path) -> Option<DocumentView<'s>> {
        let (id, source) = snapshot.document(file)?;
        Some(DocumentView {
            snapshot,
            editor,
            file,
            id,
            source,
            lines: Lines::of(source.bytes()),
        })
    }

    /// Returns the offset of a position.
    pub fn offset(&self, position: Position) -> usize {
        self.lines.offset(self.source.bytes(), position, self.editor.encoding)
    }

    /// Returns the range of a span.
    pub fn range(&self, span: Span) -> Range {
        self.lines
            .range(self.source.bytes(), span.range(), self.editor.encoding)
    }

    /// Returns the text of a span.
    pub fn text(&self, span: Span) -> &'s str {
        let bytes = self.source.bytes().get(span.range()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Returns the locations of places in documents of the snapshot.
    pub fn locations(&self, places: impl IntoIterator<Item = (SourceId, Span)>) -> Vec<Location> {
        let mut lines: BTreeMap<SourceId, Lines> = BTreeMap::new();
        let places = places.into_iter();
        let located = places.filter_map(|(id, span)| {
            let source = self.snapshot.sources.get(id)?;
            let lines = lines.entry(id).or_insert_with(|| Lines::of(source.bytes()));
            Some(Location {
                uri: self.editor.uri(Path::new(source.name()))?,
                range: lines.range(source.bytes(), span.range(), self.editor.encoding),
            })
        });
        located.collect()
    }
}
