//! From raw resources to the outcome of `validate`: one verdict a resource, and what worlds show as a whole.
//!
//! [`resource`] validates one resource and drops its bytes; it may run on any thread. [`assemble`] then puts the resources of
//! each world together, in the order of the documents: duplicates, what a live client reported, references, aggregate graphs, and whether the
//! whole thing was made for a proxy.

mod live;
pub mod removed;
mod responses;
mod unharmed;
mod worlds;

pub use removed::remove;
pub use responses::responses;
pub use worlds::assemble;

use crate::convert::resource_name::Names;
use crate::diag::{Cx, Diagnostic, Effect, Packed, Rule, rules};
use crate::envelope::{Label, LiveStatus, Origin, RawResource, Stage, WorldId};
use crate::model::ResourceType;
use crate::profile::{Profile, ServerFacts};
use crate::proto::transcode::Note;
use crate::snapshot::Facts;
use crate::validate::discovery;

rules! {
    /// A resource of the same type and name comes later in the same world.
    DUPLICATE_RESOURCE = "dump-duplicate-resource", Dump, Advice, "C-core XdsClient; the last one in a response wins";
    /// No listener has an api_listener: the configuration was made for a proxy, not for a gRPC client.
    MADE_FOR_PROXY = "dump-made-for-proxy", Dump, Advice, "gRFC A27: a client takes API listeners only";
    /// A dump holds EDS clusters and no endpoints.
    ENDPOINTS_NOT_INCLUDED = "dump-endpoints-not-included", Dump, Advice as Note, "Envoy admin interface, /config_dump?include_eds";
}

/// The rules of this folder's other files.
pub static PART_RULES: &[&[&Rule]] = &[live::RULES, unharmed::RULES];

/// Says whether the findings of a rule are the words of a live client or control plane.
pub fn is_live(rule: &Rule) -> bool {
    live::RULES.contains(&rule)
}

/// What resources are checked against.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'p> {
    /// The client and its switches.
    pub profile: &'p Profile,
    /// What the bootstrap says.
    pub server: &'p ServerFacts,
    /// Keep the parsed form of each accepted resource.
    pub keep_parsed: bool,
}

/// One resource after validation.
#[derive(Debug)]
pub struct Checked {
    /// The `@type`, or what its place says; may be empty.
    pub type_url: String,
    /// The type, if a gRPC client asks for it.
    pub resource_type: Option<ResourceType>,
    /// Which set it belongs to.
    pub world: WorldId,
    /// The list it stands in.
    pub label: Label,
    /// How far it has come.
    pub stage: Stage,
    /// What a live client or control plane said about it.
    pub status: Option<Box<LiveStatus>>,
    /// Where it stands.
    pub origin: Origin,
    /// Its name; empty if it has none.
    pub name: String,
    /// What the client does with it.
    pub verdict: Verdict,
    /// What other resources need to know, if the client accepts it; [`assemble`] takes it.
    pub facts: Option<Facts>,
    /// Findings, in the order in which they were made, but for those in `ignored`.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings on fields that the client never reads; a proxy's dump has more of them than of anything else.
    pub ignored: Packed,
    /// What was noticed while it was read.
    pub notes: Vec<Note>,
    /// What the client keeps of it, if asked for.
    pub parsed: Option<serde_json::Value>,
    /// A later response takes it away: it is in no world.
    pub is_removed: bool,
    /// The start of the response that it stands in, if that is one of a stream.
    pub sent_in: Option<usize>,
}

impl Checked {
    /// Says whether anything was learnt: what the client does with it, or what a live client said about it.
    ///
    /// Before [`assemble`]; a resource that the client never asks for is not checked.
    pub fn is_checked(&self) -> bool {
        let has_news =
            |status: &LiveStatus| status.client.is_some() || status.server.is_some() || status.error.is_some();
        self.resource_type.is_some()
            && (self.verdict != Verdict::NotChecked || self.status.as_deref().is_some_and(has_news))
    }
}

/// What the client does with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Taken.
    Accepted,
    /// NACKed.
    Rejected,
    /// Never asked for, hidden by a later duplicate, or taken away later.
    Ignored,
    /// Of a type or in a form that xdsctl does not know.
    NotChecked,
}

impl Verdict {
    /// The word used in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Rejected => "rejected",
            Verdict::Ignored => "ignored",
            Verdict::NotChecked => "not_checked",
        }
    }
}

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Every resource, in the order of the documents.
    pub resources: Vec<Checked>,
    /// Findings on documents.
    pub findings: Vec<crate::envelope::Finding>,
    /// Worlds made for a proxy.
    pub proxy_worlds: Vec<WorldId>,
}

/// Validates one resource.
pub fn resource(raw: RawResource, circumstances: &Circumstances<'_>) -> Checked {
    let mut checked = Checked {
        type_url: raw.type_url,
        resource_type: raw.resource_type,
        world: raw.world,
        label: raw.label,
        stage: raw.stage,
        status: raw.status,
        origin: raw.origin,
        name: String::new(),
        verdict: Verdict::NotChecked,
        facts: None,
        diagnostics: Vec::new(),
        ignored: Packed::default(),
        notes: raw.notes,
        parsed: None,
        is_removed: false,
        sent_in: None,
    };
    let (Some(resource_type), Some(bytes)) = (raw.resource_type, raw.bytes) else {
        if raw.resource_type.is_none() {
            checked.verdict = Verdict::Ignored;
        }
        checked.name = raw.wrapper_name.unwrap_or_default();
        return checked;
    };
    let cx = Cx::new(circumstances.profile, circumstances.server)
        .knowing(raw.known)
        .packing();
    let validated = match raw.wrapper_name.as_deref() {
        Some(name) => discovery::resource(resource_type, &bytes, Some(name), cx),
        None => discovery::bare(resource_type, &bytes, cx),
    };
    checked.name = validated.name;
    checked.verdict = verdict(&validated.diagnostics);
    checked.facts = validated
        .value
        .as_ref()
        .map(|value| Facts::of(value, Names::of(circumstances.profile)));
    if circumstances.keep_parsed {
        checked.parsed = validated.value.as_ref().map(crate::parsed::of);
    }
    checked.diagnostics = validated.diagnostics;
    checked.ignored = validated.packed;
    let ignored = &mut checked.ignored;
    ignored.take_from(&mut checked.diagnostics, |d| d.rule.effect == Effect::Ignored);
    ignored.shrink();
    checked
}

fn verdict(diagnostics: &[Diagnostic]) -> Verdict {
    if diagnostics.iter().any(|d| d.rule.effect == Effect::Nack) {
        Verdict::Rejected
    } else {
        Verdict::Accepted
    }
}
