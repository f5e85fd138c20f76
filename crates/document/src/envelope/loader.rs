//! What reading documents needs to be told, and what it leaves besides the resources.

use std::collections::BTreeSet;

use super::UNKNOWN_SHAPE;
use super::entries::most_resources;
use super::raw::{BootstrapPlace, Finding, PathSource, RawResource, RawResponse, WorldId, WorldName};
use super::walker::Walker;
use crate::proto::transcode::{self, SYNTAX};
use crate::source::sniff::DocumentFormat;
use crate::source::{SourceId, Span};
use xdsctl_model::diag::{Budget, Diagnostic, MAX_FINDINGS_PER_RULE, Quota, Rule};
use xdsctl_model::profile::UserAgent;
use xdsctl_model::resource::ResourceType;

/// How to read documents.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions {
    /// Every object without `@type` is of this type (`--as`).
    pub assume: Option<ResourceType>,
    /// The world of the documents; `None` for one of their own each.
    pub world: Option<WorldId>,
    /// The documents may name files to take resources from, as an Envoy bootstrap does.
    pub follow: bool,
    /// The format of the documents; `None` to find it out.
    pub format: Option<DocumentFormat>,
    /// A null may stand for what could not be read of another format, which has been reported.
    pub nulls_are_explained: bool,
    /// What stands in the texts of ConfigMaps is read beside them.
    pub config_maps_are_open: bool,
    /// How scalars are read.
    pub transcode: transcode::TranscodeOptions,
}

/// A JSON text, and what it is a view of.
#[derive(Debug, Clone, Copy)]
pub(super) struct JsonText<'t> {
    pub json: &'t [u8],
    /// The document in which messages are that stand in the text by their places; empty if there
    /// are none.
    pub document: &'t [u8],
    /// The name of the document.
    pub name: &'t str,
}

impl<'t> From<&'t [u8]> for JsonText<'t> {
    fn from(json: &'t [u8]) -> JsonText<'t> {
        JsonText {
            json,
            document: b"",
            name: "",
        }
    }
}

/// How the worlds of a loader are called in the one that took them over.
#[derive(Debug, Clone, Copy)]
pub struct MovedWorlds(u32);

impl MovedWorlds {
    /// The world that was called so.
    pub const fn of(self, world: WorldId) -> WorldId {
        WorldId(self.0.saturating_add(world.0))
    }
}

/// Receives the resources, in the order of the text, some at a time.
pub type Emit<'e> = &'e mut dyn FnMut(Vec<RawResource>);

/// What is known once documents have been read, besides the resources that were emitted.
#[derive(Debug, Default)]
pub struct Loader {
    /// Every world, by [`WorldId`].
    pub worlds: Vec<WorldName>,
    /// Those that are all of what one client holds, by the shape of their document.
    pub dumps: BTreeSet<WorldId>,
    /// Findings on documents, in the order of the text.
    pub findings: Vec<Finding>,
    /// The gRPC bootstraps among the documents.
    pub bootstraps: Vec<BootstrapPlace>,
    /// DiscoveryResponses that say their type or report errors.
    pub responses: Vec<RawResponse>,
    /// The clients that sent nodes, as they call themselves.
    pub agents: BTreeSet<UserAgent>,
    /// Files that Envoy bootstraps take resources from.
    pub path_sources: Vec<PathSource>,
    /// How many resources were emitted.
    pub resources: usize,
    /// How many clients are asked about each resource beside the one: the more, the fewer resources
    /// are read.
    pub other_clients: usize,
    /// There were more of them than are read.
    pub(super) is_full: bool,
    /// How many errors the responses report.
    pub(super) errors: usize,
    quota: Quota,
    /// What may still be kept of what is noticed in resources.
    pub(super) budget: Budget,
    /// A finding that is not kept.
    spare: Option<Finding>,
    /// Rules that say nothing new of what is read now, because something else has said it.
    pub(super) implied: &'static [&'static Rule],
    /// Where the text breaks off, if a fault has said so: that a value ends there says nothing new.
    pub(super) cut_at: Option<usize>,
    /// A finding that says nothing new.
    unsaid: Option<Finding>,
}

impl Loader {
    /// A loader that has read nothing.
    pub fn new() -> Self {
        Loader::default()
    }

    /// Reads a document of JSON values, one or several, and emits its resources.
    ///
    /// What is wrong with the document itself becomes a finding; reading stops where the text is
    /// not JSON.
    pub fn json(&mut self, source: SourceId, text: &[u8], options: LoadOptions, emit: Emit<'_>) {
        self.values(source, text.into(), 0, &mut options.world.clone(), options, emit);
    }

    /// Reads the JSON values from `start` to the end of `text` into `world`, which is made if need
    /// be.
    ///
    /// Places are those in `text`.
    pub(super) fn values(
        &mut self,
        source: SourceId,
        text: JsonText<'_>,
        start: usize,
        world: &mut Option<WorldId>,
        options: LoadOptions,
        emit: Emit<'_>,
    ) {
        let mut walker = Walker::new(self, source, text, options, emit);
        walker.world = *world;
        walker.tc.scan.set_pos(start);
        if let Err(stop) = walker.documents() {
            walker.stopped(stop);
        }
        walker.flush();
        *world = walker.world;
    }

    /// Adds a set of resources.
    pub fn world(&mut self, source: SourceId, scope: Option<String>) -> WorldId {
        let id = WorldId(u32::try_from(self.worlds.len()).unwrap_or(u32::MAX));
        self.worlds.push(WorldName { source, scope });
        id
    }

    /// Adds a finding on a document.
    pub fn report(&mut self, source: SourceId, rule: &'static Rule, span: Span, message: String) -> &mut Diagnostic {
        let finding = Finding {
            source,
            span,
            diagnostic: Diagnostic::of_whole(rule, message),
        };
        let is_end = self.cut_at == Some(span.end) && [&SYNTAX, &UNKNOWN_SHAPE].contains(&rule);
        if is_end || self.implied.contains(&rule) {
            return &mut self.unsaid.insert(finding).diagnostic;
        }
        if !self.quota.admits(rule) {
            return &mut self.spare.insert(finding).diagnostic;
        }
        let index = self.findings.len();
        self.findings.push(finding);
        &mut self.findings[index].diagnostic
    }

    /// Adds what another loader has read of one document, which has the id `id` now.
    pub fn append(&mut self, part: &Loader, id: SourceId) -> MovedWorlds {
        let moved = MovedWorlds(u32::try_from(self.worlds.len()).unwrap_or(u32::MAX));
        self.worlds.extend(part.worlds.iter().map(|world| WorldName {
            source: id,
            scope: world.scope.clone(),
        }));
        self.dumps.extend(part.dumps.iter().map(|world| moved.of(*world)));
        self.findings.extend(part.findings.iter().map(|finding| Finding {
            source: id,
            ..finding.clone()
        }));
        self.bootstraps.extend(
            part.bootstraps
                .iter()
                .map(|place| BootstrapPlace { source: id, ..*place }),
        );
        self.responses.extend(part.responses.iter().map(|response| RawResponse {
            source: id,
            world: response.world.map(|world| moved.of(world)),
            ..response.clone()
        }));
        self.agents.extend(part.agents.iter().cloned());
        self.path_sources
            .extend(part.path_sources.iter().map(|path| PathSource {
                source: id,
                world: moved.of(path.world),
                ..path.clone()
            }));
        self.resources += part.resources;
        self.errors += part.errors;
        self.is_full |= part.is_full;
        moved
    }

    /// Says whether none of the limits for all documents together can have mattered, in whatever
    /// parts they were read.
    pub fn is_within_limits(&self) -> bool {
        let is_few = self.findings.len() < MAX_FINDINGS_PER_RULE;
        is_few && !self.is_full && self.resources <= most_resources(self.other_clients)
    }

    /// Adds a finding for each rule that had more of them than are kept, where the last of all such
    /// was.
    pub fn close(&mut self) {
        if let Some(Finding { source, span, .. }) = self.spare.take() {
            self.findings.extend(self.quota.closing().map(|diagnostic| Finding {
                source,
                span,
                diagnostic,
            }));
            self.quota.clear();
        }
    }
}
