//! What the server asks of whoever knows files, and what it is told.

pub mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use names::Names;

use xdsctl_channel::client::World;
use xdsctl_document::envelope::WorldId;
use xdsctl_document::source::{Source, SourceId, SourceMap, Span};
use xdsctl_lint::fix::Edit;
use xdsctl_model::diag::{Effect, Rule, Severity};
use xdsctl_model::profile::Client;
use xdsctl_model::resource::ResourceType;

/// The text of an open document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenText {
    /// What the editor has.
    pub text: Arc<str>,
    /// Its version, as the editor counts.
    pub version: i32,
}

/// The open documents, by their files.
pub type OpenTexts = BTreeMap<PathBuf, OpenText>;

/// Knows files, settings and clients: the command.
pub trait Host: Send {
    /// The directories that the editor has open, and what it says for the command line besides.
    ///
    /// # Errors
    /// Arguments that are none, in words.
    fn begin(&mut self, folders: Vec<PathBuf>, arguments: Vec<String>) -> Result<(), String>;

    /// The project of a file: the documents that are looked at together.
    fn project_of(&mut self, file: &Path) -> PathBuf;

    /// Plays the tests of a suite, or the one of this name; what came of it, in words for people.
    fn play(&mut self, suite: &Path, test: Option<&str>, open: &OpenTexts) -> String;

    /// Where the first RPC goes of the channel whose target stands in these bytes of a suite, in words for people.
    fn lead(&mut self, suite: &Path, target: Span, open: &OpenTexts) -> String;

    /// Something has changed in files.
    fn forget_files(&mut self);

    /// Looks at a project, with the texts of open documents in the place of their files.
    fn look(&mut self, project: &Path, open: &OpenTexts) -> Snapshot;
}

/// What is known of a project at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// All documents.
    pub sources: SourceMap,
    /// Their ids, by their files.
    pub documents: BTreeMap<PathBuf, SourceId>,
    /// What was found, in the order of the command line's report.
    pub findings: Vec<ProjectFinding>,
    /// Every resource, in the order of the documents: the number of a resource in the worlds.
    pub resources: Vec<ProjectResource>,
    /// What the client of each world holds.
    pub worlds: Vec<World>,
    /// The clients that are asked.
    pub clients: Vec<Client>,
    /// Certificate providers of the bootstrap.
    pub providers: Vec<String>,
    /// Documents with a resource or a bootstrap in them, suites and settings.
    pub configuration: BTreeSet<SourceId>,
    /// The project says that its documents are configuration: what is none is said, too.
    pub is_declared: bool,
    /// The settings that there are, each with a comment above it.
    pub template: &'static str,
    /// What keeps the project from being looked at, in words.
    pub trouble: Option<String>,
    /// Which name stands where, once it was asked for: see [`Snapshot::names`].
    pub known_names: OnceLock<Names>,
}

/// A finding with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFinding {
    /// The document.
    pub source: SourceId,
    /// The bytes of it; `None` if it has no such place.
    pub span: Option<Span>,
    /// The kind of fault; `None` for a fault of a suite or of the settings.
    pub rule: Option<&'static Rule>,
    /// What the client does about it.
    pub effect: Option<Effect>,
    /// Which clients do what, if they differ.
    pub who: Arc<str>,
    /// How loud.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What the reader can do.
    pub help: Option<String>,
    /// The field, in the client's notation.
    pub path: String,
    /// Places that belong to it.
    pub related: Vec<RelatedPlace>,
    /// How `--fix` makes it go.
    pub fix: Option<Edit>,
    /// The URI of the rule's page.
    pub page: Option<Arc<str>>,
}

impl ProjectFinding {
    /// An error in the text of a document, of no rule.
    pub fn of_text(source: SourceId, span: Span, message: String) -> ProjectFinding {
        ProjectFinding {
            source,
            span: Some(span),
            rule: None,
            effect: None,
            who: "".into(),
            severity: Severity::Error,
            message,
            help: None,
            path: String::new(),
            related: Vec::new(),
            fix: None,
            page: None,
        }
    }
}

/// Another place of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedPlace {
    /// The document.
    pub source: SourceId,
    /// The bytes of it.
    pub span: Span,
    /// What it has to do with the finding.
    pub message: String,
}

/// A resource and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectResource {
    /// Its type, if a gRPC client asks for it.
    pub resource_type: Option<ResourceType>,
    /// The full name of its message; may be empty.
    pub type_name: String,
    /// Its name; may be empty.
    pub name: String,
    /// The document.
    pub source: SourceId,
    /// The bytes of it.
    pub span: Span,
    /// The world that it belongs to first.
    pub world: WorldId,
    /// The word for what the client does with it.
    pub verdict: &'static str,
}

impl Snapshot {
    /// Which name of a resource stands where.
    pub fn names(&self) -> &Names {
        self.known_names.get_or_init(|| Names::of(self))
    }

    /// The document of a file.
    pub fn document(&self, file: &Path) -> Option<(SourceId, &Source)> {
        let id = *self.documents.get(file)?;
        Some((id, self.sources.get(id)?))
    }

    /// The resources that stand in a document, with their numbers.
    pub fn resources_of(&self, id: SourceId) -> impl Iterator<Item = (usize, &ProjectResource)> {
        let all = self.resources.iter().enumerate();
        all.filter(move |(_, resource)| resource.source == id)
    }

    /// The innermost resource around a byte of a document.
    pub fn resource_at(&self, id: SourceId, offset: usize) -> Option<(usize, &ProjectResource)> {
        let around = self.resources_of(id);
        let around = around.filter(|(_, resource)| resource.span.start <= offset && offset <= resource.span.end);
        around.min_by_key(|(_, resource)| resource.span.end - resource.span.start)
    }
}
