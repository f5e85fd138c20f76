//! Findings that are not shown, each with the reason.
//!
//! Every stage hands here what it takes out. It is kept only if somebody asks for it: a run may
//! take out as many findings as it shows.

use std::collections::{BTreeMap, BTreeSet};

use xdsctl_channel::client::Checked;
use xdsctl_document::envelope::Finding;
use xdsctl_document::proto::transcode::Note;
use xdsctl_document::source::{SourceId, Span};
use xdsctl_model::diag::{Diagnostic, Severity};

/// Why a finding is not shown, in the order in which the stages decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It is a failure of RPCs, and the listeners of its world lead no RPC there.
    Unused,
    /// It is a failure of a cluster, and every aggregate cluster that uses the cluster goes on to
    /// another one.
    PassedOver,
    /// It is about a field whose value could not be read, which is a finding already.
    Unread,
    /// It says that nothing uses the resource, and another world uses it.
    UsedElsewhere,
    /// Its resource was made for a proxy.
    ForProxy,
    /// The line of a client's log that was asked about is about something else.
    OtherLine,
    /// A suppression is about it, and gives this reason.
    Suppressed(String),
    /// It is in the baseline.
    InBaseline,
    /// It follows from the rejection of another resource, and that rejection is not shown.
    Consequence,
    /// No client that was asked has it.
    NotAsked,
    /// The reader's settings switch its rule off.
    SwitchedOff,
    /// It is less severe than what is shown.
    BelowSeverity(Severity),
}

impl Reason {
    /// The word used in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Reason::Unused => "unused",
            Reason::PassedOver => "passed-over",
            Reason::Unread => "unread",
            Reason::UsedElsewhere => "used-elsewhere",
            Reason::ForProxy => "for-proxy",
            Reason::OtherLine => "other-line",
            Reason::Suppressed(_) => "suppressed",
            Reason::InBaseline => "baseline",
            Reason::Consequence => "consequence",
            Reason::NotAsked => "not-asked",
            Reason::SwitchedOff => "switched-off",
            Reason::BelowSeverity(_) => "below-severity",
        }
    }

    /// The reason as half a sentence.
    pub fn text(&self) -> String {
        match self {
            Reason::Unused => "the listeners of its world lead no RPC there".to_owned(),
            Reason::PassedOver => "every aggregate cluster that uses it goes on to another cluster".to_owned(),
            Reason::Unread => "the value of the field could not be read, which is a finding of its own".to_owned(),
            Reason::UsedElsewhere => "another world uses the resource".to_owned(),
            Reason::ForProxy => "the resource was made for a proxy, --all checks it anyway".to_owned(),
            Reason::OtherLine => "the line of --explain-error is about something else".to_owned(),
            Reason::Suppressed(why) => format!("suppressed: {why}"),
            Reason::InBaseline => "it is in the baseline".to_owned(),
            Reason::Consequence => "it follows from a rejection that is not shown".to_owned(),
            Reason::NotAsked => "no client that was asked has it".to_owned(),
            Reason::SwitchedOff => "its rule is switched off by --allow or by [rules]".to_owned(),
            Reason::BelowSeverity(severity) => format!("it is below --min-severity {severity}"),
        }
    }
}

/// A finding that is not shown.
#[derive(Debug, Clone)]
pub struct WithheldFinding {
    /// What would be shown.
    pub diagnostic: Diagnostic,
    /// Where it stands, if it is about the text of a document.
    pub place: Option<(SourceId, Span)>,
    /// Why it is not shown.
    pub reason: Reason,
}

/// The findings that are not shown, by the numbers of their resources; those on documents have
/// none.
#[derive(Debug, Default)]
pub struct Withheld {
    is_kept: bool,
    by_resource: BTreeMap<Option<usize>, Vec<WithheldFinding>>,
}

impl Withheld {
    /// Keeps them, if somebody asks for them.
    pub(super) fn new(is_kept: bool) -> Withheld {
        let by_resource = BTreeMap::new();
        Withheld { is_kept, by_resource }
    }

    /// Says whether somebody asks for them.
    pub const fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Adds a finding on a resource or on a document. It has a place if it is about the text.
    pub fn add(
        &mut self,
        resource: Option<usize>,
        diagnostic: &Diagnostic,
        place: Option<(SourceId, Span)>,
        reason: Reason,
    ) {
        if self.is_kept {
            let withheld = WithheldFinding {
                diagnostic: diagnostic.clone(),
                place,
                reason,
            };
            self.by_resource.entry(resource).or_default().push(withheld);
        }
    }

    /// Says whether a finding on a resource stays in its list: with a reason it does not, and is
    /// added here.
    pub fn lets_stay(&mut self, resource: usize, diagnostic: &Diagnostic, reason: Option<Reason>) -> bool {
        self.lets_stay_at(Some(resource), diagnostic, None, reason)
    }

    /// The same for a finding on a resource or on a document, which may have a place; see
    /// [`add`](Self::add).
    fn lets_stay_at(
        &mut self,
        resource: Option<usize>,
        diagnostic: &Diagnostic,
        place: Option<(SourceId, Span)>,
        reason: Option<Reason>,
    ) -> bool {
        let stays = reason.is_none();
        if let Some(reason) = reason {
            self.add(resource, diagnostic, place, reason);
        }
        stays
    }

    /// Takes those findings of a resource out of `list` for which there is a reason. It is asked
    /// once for each, in order.
    pub fn sift(
        &mut self,
        resource: usize,
        list: &mut Vec<Diagnostic>,
        mut reason: impl FnMut(&Diagnostic) -> Option<Reason>,
    ) {
        list.retain(|diagnostic| self.lets_stay(resource, diagnostic, reason(diagnostic)));
    }

    /// Takes out what was found of fields of a resource that the client never reads.
    pub fn take_ignored(&mut self, resource: usize, checked: &mut Checked, reason: &Reason) {
        let taken = std::mem::take(&mut checked.ignored);
        if self.is_kept {
            let mut ignored = Vec::new();
            taken.unpack_into(&mut ignored);
            self.sift(resource, &mut ignored, |_| Some(reason.clone()));
        }
    }

    /// Takes those findings out of `list` that were noticed in the text of a resource, and for
    /// which there is a reason.
    pub fn sift_notes(
        &mut self,
        resource: usize,
        list: &mut Vec<Note>,
        source: SourceId,
        mut reason: impl FnMut(&Note) -> Option<Reason>,
    ) {
        list.retain(|note| {
            let place = Some((source, note.span));
            self.lets_stay_at(Some(resource), &note.diagnostic, place, reason(note))
        });
    }

    /// Takes those findings on documents out of `list` for which there is a reason.
    pub fn sift_documents(&mut self, list: &mut Vec<Finding>, mut reason: impl FnMut(&Finding) -> Option<Reason>) {
        list.retain(|finding| {
            let place = Some((finding.source, finding.span));
            self.lets_stay_at(None, &finding.diagnostic, place, reason(finding))
        });
    }

    /// Forgets what one world of a resource takes out and another one shows.
    pub(super) fn forget_shown(&mut self, resource: usize, shown: &[Diagnostic]) {
        if let Some(list) = self.by_resource.get_mut(&Some(resource)) {
            list.retain(|WithheldFinding { diagnostic, .. }| {
                let is_shown = |one: &Diagnostic| one.rule == diagnostic.rule && one.path == diagnostic.path;
                !shown.iter().any(is_shown)
            });
        }
    }

    /// Hands over those of a resource, or those on documents: several clients or worlds that have
    /// the same one count once.
    pub fn take(&mut self, resource: Option<usize>) -> Vec<WithheldFinding> {
        let mut known = BTreeSet::new();
        let mut list = self.by_resource.remove(&resource).unwrap_or_default();
        list.retain(|WithheldFinding { diagnostic, reason, .. }| {
            known.insert((diagnostic.rule.id, diagnostic.path.to_string(), reason.name()))
        });
        list
    }
}
