//! The options for reading documents, and the results besides the resources.

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
    /// The type of every object without `@type` (`--as`).
    pub assume: Option<ResourceType>,
    /// The world of the documents. With `None`, each document is a world of its own.
    pub world: Option<WorldId>,
    /// Whether a document may name files to take resources from, as an Envoy bootstrap does.
    pub follow: bool,
    /// The format of the documents. With `None`, it is detected.
    pub format: Option<DocumentFormat>,
    /// Whether a null may stand for text of another format that could not be read. Such text is
    /// reported already.
    pub nulls_are_explained: bool,
    /// Whether the texts in ConfigMaps are read as documents, too.
    pub config_maps_are_open: bool,
    /// How scalars are read.
    pub transcode: transcode::TranscodeOptions,
}

/// A JSON text, with the document behind it if the text is a view.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JsonText<'t> {
    pub json: &'t [u8],
    /// The bytes of the document, if the text refers to messages by their offsets in it; else
    /// empty.
    pub document: &'t [u8],
    /// The name of the document.
    pub name: &'t str,
}

/// Maps the ids of a loader's worlds to their ids in the loader that took them over.
#[derive(Debug, Clone, Copy)]
pub struct MovedWorlds(u32);

impl MovedWorlds {
    /// Returns the new id of a world.
    pub const fn of(self, world: WorldId) -> WorldId {
        WorldId(self.0.saturating_add(world.0))
    }
}

/// A function that receives the resources in batches, in the order of the text.
pub type Emit<'e> = &'e mut dyn FnMut(Vec<RawResource>);

/// A place in the findings on documents, from which those of one rule may be taken back.
#[derive(Debug, Clone, Copy)]
pub(super) struct FindingMark {
    rule: &'static Rule,
    findings: usize,
    counted: usize,
}

/// The results of reading documents, besides the resources that were emitted.
#[derive(Debug, Default)]
pub struct Loader {
    /// Every world, by [`WorldId`].
    pub worlds: Vec<WorldName>,
    /// The worlds that are everything that one client holds, judging by the shape of their
    /// document.
    pub dumps: BTreeSet<WorldId>,
    /// Findings on documents, in the order of the text.
    pub findings: Vec<Finding>,
    /// The gRPC bootstraps among the documents.
    pub bootstraps: Vec<BootstrapPlace>,
    /// The DiscoveryResponses that give their type or report errors.
    pub responses: Vec<RawResponse>,
    /// The user agents of the clients whose nodes were read.
    pub agents: BTreeSet<UserAgent>,
    /// The files from which Envoy bootstraps take resources.
    pub path_sources: Vec<PathSource>,
    /// How many resources were emitted.
    pub resources: usize,
    /// How many clients are asked about each resource besides the main one. The more there are, the
    /// fewer resources are read.
    pub other_clients: usize,
    /// Whether there were more resources than the limit.
    pub(super) is_full: bool,
    /// How many errors the responses report.
    pub(super) errors: usize,
    quota: Quota,
    /// What is left of the limit on findings in resources.
    pub(super) budget: Budget,
    /// The last finding that was not kept because its rule has too many.
    spare: Option<Finding>,
    /// Rules whose findings add nothing at this point, because another finding has said as much.
    pub(super) implied: &'static [&'static Rule],
    /// The offset at which the text is cut off, if a fault has been reported there. A finding that
    /// a value ends there adds nothing.
    pub(super) cut_at: Option<usize>,
    /// A place for a finding that adds nothing and is not kept.
    unsaid: Option<Finding>,
}

impl Loader {
    /// Returns a loader that has read nothing.
    pub fn new() -> Self {
        Loader::default()
    }

    /// Reads a document of one or several JSON values, and emits its resources.
    ///
    /// A fault of the document itself becomes a finding. Reading stops where the text is not JSON.
    pub fn json(&mut self, source: SourceId, text: &[u8], options: LoadOptions, emit: Emit<'_>) {
        let text = JsonText {
            json: text,
            ..JsonText::default()
        };
        self.values(source, text, 0, &mut options.world.clone(), options, emit);
    }

    /// Reads the JSON values of `text` from offset `start` on. `world` is the world of their
    /// resources; if it is `None`, one is made when it is first needed.
    ///
    /// All spans are ranges of `text`.
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

    /// Adds a world.
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

    /// Returns the current place in the findings, for [`take_back`](Self::take_back).
    pub(super) fn mark(&self, rule: &'static Rule) -> FindingMark {
        FindingMark {
            rule,
            findings: self.findings.len(),
            counted: self.quota.counted(rule),
        }
    }

    /// Removes the findings of the mark's rule that were added since the mark. They do not count
    /// for the limit on findings of the rule.
    pub(super) fn take_back(&mut self, mark: FindingMark) {
        let is_of_rule = |finding: &mut Finding| std::ptr::eq(finding.diagnostic.rule, mark.rule);
        let kept = self.findings.extract_if(mark.findings.., is_of_rule).count();
        self.quota.take_back(mark.rule, mark.counted, kept);
    }

    /// Adds what another loader has read of one document, whose id is now `id`.
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

    /// Says whether the limits for all documents together had no effect, so that reading the
    /// documents in other parts would give the same result.
    pub fn is_within_limits(&self) -> bool {
        let is_few = self.findings.len() < MAX_FINDINGS_PER_RULE;
        is_few && !self.is_full && self.resources <= most_resources(self.other_clients)
    }

    /// For each rule with more findings than are kept, adds a finding that says so. It has the
    /// place of the last finding that was not kept.
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
