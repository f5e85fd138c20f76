//! What the server asks its host, which knows files, and what the host returns.

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
    /// The text in the editor.
    pub text: Arc<str>,
    /// The editor's number of this version.
    pub version: i32,
}

/// The open documents, by their files.
pub type OpenTexts = BTreeMap<PathBuf, OpenText>;

/// The command's side of the language server: it knows files, settings and clients.
pub trait Host: Send {
    /// Begins with the directories that the editor has open, and further arguments of the command
    /// line.
    ///
    /// # Errors
    /// Says in words which arguments are invalid.
    fn begin(&mut self, folders: Vec<PathBuf>, arguments: Vec<String>) -> Result<(), String>;

    /// Returns the project of a file: the documents that are checked together.
    fn project_of(&mut self, file: &Path) -> PathBuf;

    /// Runs all tests of a suite, or the one with this name. Returns the result in words for
    /// people.
    fn play(&mut self, suite: &Path, test: Option<&str>, open: &OpenTexts) -> String;

    /// Says in words for people where the first RPC of a channel goes. The channel's target is at
    /// these bytes of a suite.
    fn lead(&mut self, suite: &Path, target: Span, open: &OpenTexts) -> String;

    /// Forgets everything about files, because some may have changed.
    fn forget_files(&mut self);

    /// Checks a project. The texts of open documents replace their files.
    fn look(&mut self, project: &Path, open: &OpenTexts) -> Snapshot;
}

/// Everything that is known about a project at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The documents of the project.
    pub sources: SourceMap,
    /// The id of each document, by its file.
    pub documents: BTreeMap<PathBuf, SourceId>,
    /// The findings, in the order of the command line's report.
    pub findings: Vec<ProjectFinding>,
    /// Every resource, in the order of the documents; worlds refer to resources by their index.
    pub resources: Vec<ProjectResource>,
    /// The worlds, each with what its client holds.
    pub worlds: Vec<World>,
    /// The clients that are checked.
    pub clients: Vec<Client>,
    /// The certificate providers of the bootstrap.
    pub providers: Vec<String>,
    /// Documents that contain a resource or a bootstrap, suites, and settings.
    pub configuration: BTreeSet<SourceId>,
    /// Whether the project declares all its documents to be configuration, so that findings on
    /// other documents are shown, too.
    pub is_declared: bool,
    /// The template of `xdsctl.toml`, which has a comment above each setting.
    pub template: &'static str,
    /// Why the project cannot be checked, in words; `None` if it can.
    pub trouble: Option<String>,
    /// All names and their places, computed on first use: see [`Snapshot::names`].
    pub known_names: OnceLock<Names>,
}

/// A finding with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFinding {
    /// The document with the finding.
    pub source: SourceId,
    /// Place of the finding in the document; `None` if the document has no such place.
    pub span: Option<Span>,
    /// The rule that is broken; `None` for a fault of a suite or of the settings.
    pub rule: Option<&'static Rule>,
    /// What the client does because of the finding.
    pub effect: Option<Effect>,
    /// Which clients have which effect, if they differ.
    pub who: Arc<str>,
    /// The severity.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// One action that the user can take.
    pub help: Option<String>,
    /// The path of the field, in the client's notation.
    pub path: String,
    /// Related places.
    pub related: Vec<RelatedPlace>,
    /// The fix that `--fix` would make.
    pub fix: Option<Edit>,
    /// The URI of the rule's page.
    pub page: Option<Arc<str>>,
}

impl ProjectFinding {
    /// Makes an error on the text of a document that belongs to no rule.
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

/// A related place of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedPlace {
    /// The document with the place.
    pub source: SourceId,
    /// The place in the document.
    pub span: Span,
    /// What the place has to do with the finding.
    pub message: String,
}

/// A resource, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectResource {
    /// Type of the resource; `None` if no gRPC client asks for this type.
    pub resource_type: Option<ResourceType>,
    /// Full name of the resource's message; may be empty.
    pub type_name: String,
    /// Name of the resource; may be empty.
    pub name: String,
    /// The document with the resource.
    pub source: SourceId,
    /// Place of the resource in the document.
    pub span: Span,
    /// The first world that the resource belongs to.
    pub world: WorldId,
    /// The word for the client's verdict on the resource.
    pub verdict: &'static str,
}

impl Snapshot {
    /// Returns the names of resources, with their places.
    pub fn names(&self) -> &Names {
        self.known_names.get_or_init(|| Names::of(self))
    }

    /// Returns the document of a file.
    pub fn document(&self, file: &Path) -> Option<(SourceId, &Source)> {
        let id = *self.documents.get(file)?;
        Some((id, self.sources.get(id)?))
    }

    /// Returns the resources in a document, with their indexes.
    pub fn resources_of(&self, id: SourceId) -> impl Iterator<Item = (usize, &ProjectResource)> {
        let all = self.resources.iter().enumerate();
        all.filter(move |(_, resource)| resource.source == id)
    }

    /// Returns the innermost resource around a byte of a document.
    pub fn resource_at(&self, id: SourceId, offset: usize) -> Option<(usize, &ProjectResource)> {
        let around = self.resources_of(id);
        let around = around.filter(|(_, resource)| resource.span.start <= offset && offset <= resource.span.end);
        around.min_by_key(|(_, resource)| resource.span.end - resource.span.start)
    }
}
