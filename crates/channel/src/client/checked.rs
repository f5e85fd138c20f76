//! One resource after validation: what the client does with it, and what others need to know of it.

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::quality::FixedState;

use xdsctl_clients::core::convert::resource_name::NameComparison;
use xdsctl_clients::discovery;
use xdsctl_clients::judge::{FamilyAnswer, Findings};
use xdsctl_document::envelope::{Label, LiveStatus, Origin, REMOVED, RawResource, Stage, WorldId};
use xdsctl_document::proto::transcode::Note;
use xdsctl_model::diag::{self, Budget, BytesKnowledge, Diagnostic, Effect, Packed, Validation};
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::{Resource, ResourceType};

use super::facts::Facts;
use super::others::OtherFacts;

/// What resources are checked against, and what is kept of them.
#[derive(Debug, Clone, Copy)]
pub struct ValidationInput<'p> {
    /// The client and its switches.
    pub profile: &'p Profile,
    /// Other clients that are asked about each resource. Their answers are kept with the findings.
    pub others: &'p [Profile],
    /// What the bootstrap says.
    pub server: &'p ServerFacts,
    /// What to keep of a resource.
    pub keep: Keep,
}

/// What is kept of a resource once it has been checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// Only findings are kept, and neither a value nor a place to read it again.
    #[default]
    Findings,
    /// All findings are kept, and the parsed form of what the client keeps.
    Parsed,
    /// What the client keeps is kept, and the findings on what it rejects or drops and on what
    /// fails.
    Values,
    /// Only the findings on what the client rejects are kept. Values are read again from the
    /// document when somebody asks for them.
    Places,
}

/// One resource after validation.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The `@type`, or the type that its place in the dump implies; may be empty.
    pub type_url: String,
    /// The type, if a gRPC client asks for it.
    pub resource_type: Option<ResourceType>,
    /// The world that it belongs to.
    pub world: WorldId,
    /// The world in which it was read, before worlds were merged. Responses are matched by it.
    pub(super) read_in: WorldId,
    /// The list of a dump in which it stands.
    pub label: Label,
    /// How far a dumped resource has come.
    pub stage: Stage,
    /// What a live client or control plane said about it.
    pub status: Option<Box<LiveStatus>>,
    /// The document and the bytes from which it was read.
    pub origin: Origin,
    /// The name; empty if it has none.
    pub name: String,
    /// A hash of its bytes, by which copies are found; `None` if it has no bytes.
    pub(super) hash: Option<u64>,
    /// What the client does with it.
    pub verdict: Verdict,
    /// Whether the client's process dies of it. If so, the verdict is a rejection.
    pub dies: bool,
    /// Whether the rejection names no resource.
    pub(super) is_unnamed: bool,
    /// Whether it is not known if the client accepts it: its version was not measured, and the
    /// versions around it differ. If so, `verdict` is a rejection.
    pub(super) is_unknown: bool,
    /// What other resources need to know, if the client accepts it; it is moved into the world.
    pub facts: Option<Arc<Facts>>,
    /// Findings in the order in which they were made, without those in `ignored`.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings on fields that the client never reads. A proxy's dump has more of these than of any
    /// other kind.
    pub ignored: Packed,
    /// The answers of other clients, in the order of [`ValidationInput::others`].
    pub answers: Vec<FamilyAnswer>,
    /// What other resources need to know of the values that the other clients keep.
    pub(super) of_others: OtherFacts,
    /// Notes that were made while it was read.
    pub notes: Vec<Note>,
    /// What the client keeps of it, to be [shown](crate::parsed) to people, if asked for.
    pub parsed: Option<Arc<Resource>>,
    /// What the client keeps of it, if asked for.
    pub(super) value: Option<Box<Resource>>,
    /// The number of the resource that is in use in its place. A finding refers to it.
    pub(super) twin: Option<usize>,
    /// Whether a later response removes it, so that it is in no world.
    pub is_removed: bool,
    /// Where the response that contains it begins, if the response is one of a stream.
    pub sent_in: Option<usize>,
}

impl Checked {
    /// Says whether anything was learnt: what the client does with it, or what a live client said about it.
    ///
    /// A resource that the client never asks for is not checked. That a control plane has sent one
    /// says nothing about the client.
    pub fn is_checked(&self) -> bool {
        let is_news = |status: &String| status == "ERROR" || status == REMOVED;
        let has_news = |status: &LiveStatus| {
            status.client.is_some() || status.error.is_some() || status.server.as_ref().is_some_and(is_news)
        };
        self.resource_type.is_some()
            && (self.verdict != Verdict::NotChecked || self.status.as_deref().is_some_and(has_news))
    }

    /// The word for what the client does with it: the verdict, or `dies` or `not_known`, which count as rejections elsewhere.
    pub fn verdict_word(&self) -> &'static str {
        match self.verdict {
            Verdict::Rejected if self.is_unknown => "not_known",
            Verdict::Rejected if self.dies => "dies",
            verdict => verdict.name(),
        }
    }

    /// Marks it as rejected, for a reason outside of the resource itself.
    pub(super) fn reject(&mut self) {
        self.verdict = Verdict::Rejected;
        self.facts = None;
        self.parsed = None;
        self.value = None;
    }
}

/// What the client does with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The client accepts the resource.
    Accepted,
    /// The client rejects the resource.
    Rejected,
    /// The client never asks for it, a later duplicate hides it, or a later response removes it.
    Ignored,
    /// xdsctl does not know its type or form.
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

/// Limits the findings kept on a resource of `bytes` bytes, equally for all clients so that their
/// findings stay comparable.
pub(super) fn fit(budget: &mut Budget, bytes: usize, checked: &mut Checked) {
    let of_others = checked.answers.iter().map(|answer| answer.diagnostics.len());
    let most = of_others.max().unwrap_or_default().max(checked.diagnostics.len());
    let rejections = |findings: &[Diagnostic]| findings.iter().filter(|found| found.effect == Effect::Nack).count();
    let most_rejections = || {
        let of_others = checked.answers.iter().map(|answer| rejections(&answer.diagnostics));
        of_others
            .max()
            .unwrap_or_default()
            .max(rejections(&checked.diagnostics))
    };
    let Some(allowance) = budget.spend(bytes, most, most_rejections) else {
        return;
    };
    diag::cut(
        &mut checked.diagnostics,
        allowance,
        |finding| finding,
        |closing| closing,
    );
    // Most lists are shared by versions of a client, before the cut and after it.
    let mut lists: Vec<(Findings, Findings)> = Vec::new();
    for number in 0..checked.answers.len() {
        let (before, rest) = checked.answers.split_at_mut(number);
        let Some(answer) = rest.first_mut() else { break };
        if let Some((_, cut)) = lists.iter().find(|(whole, _)| whole.is_same(&answer.diagnostics)) {
            answer.diagnostics = cut.clone();
            continue;
        }
        let whole = answer.diagnostics.clone();
        answer.diagnostics.cut(allowance);
        answer.share(before);
        lists.push((whole, answer.diagnostics.clone()));
    }
}

/// Validates one resource and drops its bytes; may run on any thread.
pub(super) fn check(raw: RawResource, against: &ValidationInput<'_>, budget: &mut Budget) -> Checked {
    let (mut checked, size) = judge(raw, against);
    if let Some(size) = size {
        fit(budget, size, &mut checked);
    }
    checked
}

/// Validates one resource and keeps all findings: [`fit`] limits them together with those of other
/// resources. Also returns how many bytes it has, if there is anything to validate.
pub(super) fn judge(raw: RawResource, against: &ValidationInput<'_>) -> (Checked, Option<usize>) {
    let mut checked = Checked {
        type_url: raw.type_url,
        resource_type: raw.resource_type,
        world: raw.world,
        read_in: raw.world,
        label: raw.label,
        stage: raw.stage,
        status: raw.status,
        origin: raw.origin,
        name: String::new(),
        hash: None,
        verdict: Verdict::NotChecked,
        dies: false,
        is_unnamed: false,
        is_unknown: false,
        facts: None,
        diagnostics: Vec::new(),
        ignored: Packed::default(),
        answers: Vec::new(),
        of_others: OtherFacts::default(),
        notes: raw.notes,
        parsed: None,
        value: None,
        twin: None,
        is_removed: false,
        sent_in: None,
    };
    let (Some(resource_type), Some(bytes)) = (raw.resource_type, raw.bytes) else {
        if raw.resource_type.is_none() {
            checked.verdict = Verdict::Ignored;
        }
        checked.name = raw.wrapper_name.unwrap_or_default();
        return (checked, None);
    };
    checked.hash = Some(FixedState::default().hash_one(&bytes));
    let size = bytes.len();
    let others = against.others;
    let cx = Validation::new(against.profile, against.server)
        .knowing(known_to(against.profile, raw.known))
        .sized(size)
        .packing();
    let validated = match raw.wrapper_name.as_deref() {
        Some(name) => discovery::resource(resource_type, &bytes, Some(name), others, cx),
        None => discovery::bare(resource_type, &bytes, others, cx),
    };
    checked.is_unknown = !validated.is_known;
    checked.dies = validated.dies;
    checked.is_unnamed = validated.is_unnamed;
    checked.name = validated.name;
    let rejects = |found: &Diagnostic| found.effect == Effect::Nack;
    checked.verdict = match checked.is_unknown || validated.diagnostics.iter().any(rejects) {
        true => Verdict::Rejected,
        false => Verdict::Accepted,
    };
    checked.facts = validated.value.as_ref().map(|value| {
        let mut facts = Facts::of(value, NameComparison::of(against.profile));
        facts.note(&validated.diagnostics);
        Arc::new(facts)
    });
    let of_others = (others, validated.answers.as_slice());
    checked.of_others = OtherFacts::of(&validated.values, of_others, checked.facts.as_ref());
    checked.diagnostics = validated.diagnostics;
    checked.answers = validated.answers;
    match against.keep {
        Keep::Findings | Keep::Parsed => {
            if against.keep == Keep::Parsed {
                checked.parsed = validated.value.map(Arc::new);
                checked.of_others.keep(validated.values);
            }
            checked.ignored = validated.packed;
            let ignored = &mut checked.ignored;
            ignored.take_from(&mut checked.diagnostics, |d| d.effect == Effect::Ignored);
            ignored.shrink();
        }
        Keep::Values => {
            checked.value = validated.value.map(Box::new);
            checked
                .diagnostics
                .retain(|d| matters(d) || matches!(d.effect, Effect::Dropped | Effect::Fails));
        }
        Keep::Places => {
            checked.diagnostics.retain(matters);
            checked.diagnostics.shrink_to_fit();
        }
    }
    (checked, Some(size))
}

/// Returns what this client's parser may assume of the bytes. That C-core reads every field in them
/// says nothing about another client.
fn known_to(profile: &Profile, known: BytesKnowledge) -> BytesKnowledge {
    match known {
        BytesKnowledge::Plain if !profile.is_core() => BytesKnowledge::WellFormed,
        known => known,
    }
}

/// Says whether a finding decides the verdict, or may do so once the whole response is known.
fn matters(diagnostic: &Diagnostic) -> bool {
    diagnostic.effect == Effect::Nack || diagnostic.rule == &discovery::XDSTP_NAME_UNSENDABLE
}
