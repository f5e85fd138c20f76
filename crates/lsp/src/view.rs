//! A document of a snapshot as an editor sees it: places, and the URIs of files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::{Location, Position, Range, Uri};

use crate::project::Snapshot;
use crate::text::{Encoding, Lines};
use crate::uri;
use xdsctl_document::source::{Source, SourceId, Span};

/// The command that plays the tests of a suite.
pub const RUN_TEST: &str = "xdsctl.runTest";

/// The command that opens the page of a rule.
pub const OPEN_RULE: &str = "xdsctl.openRule";

/// What the editor agreed to, and how it calls the documents that it has open.
#[derive(Debug, Clone, Default)]
pub struct Editor {
    /// How it counts in a line.
    pub encoding: Encoding,
    /// The URIs of open documents, by their files.
    pub uris: BTreeMap<PathBuf, String>,
    /// It takes Markdown in hovers.
    pub takes_markdown: bool,
    /// It opens a document when asked to.
    pub shows_documents: bool,
    /// It takes places that belong to a finding.
    pub takes_related: bool,
}

impl Editor {
    /// The URI of a file, as the editor calls it.
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
    /// Its project.
    pub snapshot: &'s Snapshot,
    /// Who asks.
    pub editor: &'s Editor,
    /// Its file.
    pub file: &'s Path,
    /// Its id in the snapshot.
    pub id: SourceId,
    /// Its text.
    pub source: &'s Source,
    lines: Lines,
}

impl<'s> DocumentView<'s> {
    /// The document of a file.
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

    /// The byte at a place.
    pub fn offset(&self, position: Position) -> usize {
        self.lines.offset(self.source.bytes(), position, self.editor.encoding)
    }

    /// The place of some bytes.
    pub fn range(&self, span: Span) -> Range {
        self.lines
            .range(self.source.bytes(), span.range(), self.editor.encoding)
    }

    /// The text of some bytes.
    pub fn text(&self, span: Span) -> &'s str {
        let bytes = self.source.bytes().get(span.range()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Places in documents of the snapshot.
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
