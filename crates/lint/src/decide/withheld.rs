//! Findings that are not shown, each with the reason.
//!
//! Every stage adds here the findings that it withholds. They are kept only if somebody asks for
//! them, because a run may withhold as many findings as it shows.

use std::collections::{BTreeMap, BTreeSet};

use xdsctl_channel::client::Checked;
use xdsctl_document::envelope::Finding;
use xdsctl_document::proto::transcode::Note;
use xdsctl_document::source::{SourceId, Span};
use xdsctl_model::diag::{Diagnostic, Severity};

/// Why a finding is not shown, in the order in which the stages decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The finding is a failure of RPCs, but the listeners of its world lead no RPC there.
    Unused,
    /// The finding is a failure of a cluster, but every aggregate cluster that uses the cluster
    /// goes on to another one.
    PassedOver,
    /// The finding is about a field whose value could not be read, which is a finding of its own.
    Unread,
    /// The finding says that nothing uses the resource, but another world uses it.
    UsedElsewhere,
    /// The resource was made for a proxy.
    ForProxy,
    /// The user asked about a line of a client's log, and the line is about something else.
    OtherLine,
    /// A suppression removes the finding, and gives this reason.
    Suppressed(String),
    /// The finding is in the baseline.
    InBaseline,
    /// The finding follows from the rejection of another resource, and that rejection is not shown.
    Consequence,
    /// No client that was asked has the finding.
    NotAsked,
    /// The user's settings switch the rule off.
    SwitchedOff,
    /// The finding is less severe than those that are shown.
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
    /// The finding.
    pub diagnostic: Diagnostic,
    /// Place of the finding, if it is about the text of a document.
    pub place: Option<(SourceId, Span)>,
    /// The reason why the finding is not shown.
    pub reason: Reason,
}

/// The findings that are not shown, by the index of their resource; `None` for those on documents.
#[derive(Debug, Default)]
pub struct Withheld {
    is_kept: bool,
    by_resource: BTreeMap<Option<usize>, Vec<WithheldFinding>>,
}

impl Withheld {
    /// Makes an empty list. Findings are kept only with `is_kept`.
    pub(super) fn new(is_kept: bool) -> Withheld {
        let by_resource = BTreeMap::new();
        Withheld { is_kept, by_resource }
    }

    /// Says whether findings that are not shown are kept.
    pub const fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Adds a finding on a resource or, with `None`, on a document. It has a place if it is about
    /// the text.
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

    /// Says whether a finding on a resource stays in its list. If there is a reason to withhold it,
    /// it does not stay, and is added here.
    pub fn lets_stay(&mut self, resource: usize, diagnostic: &Diagnostic, reason: Option<Reason>) -> bool {
        self.lets_stay_at(Some(resource), diagnostic, None, reason)
    }

    /// Does what [`lets_stay`](Self::lets_stay) does, also for a finding on a document. For the
    /// place, see [`add`](Self::add).
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

    /// Removes those findings of a resource from `list` for which `reason` returns one. It is asked
    /// once for each finding, in order.
    pub fn sift(
        &mut self,
        resource: usize,
        list: &mut Vec<Diagnostic>,
        mut reason: impl FnMut(&Diagnostic) -> Option<Reason>,
    ) {
        list.retain(|diagnostic| self.lets_stay(resource, diagnostic, reason(diagnostic)));
    }

    /// Withholds the findings on fields of a resource that the client never reads.
    pub fn take_ignored(&mut self, resource: usize, checked: &mut Checked, reason: &Reason) {
        let taken = std::mem::take(&mut checked.ignored);
        if self.is_kept {
            let mut ignored = Vec::new();
            taken.unpack_into(&mut ignored);
            self.sift(resource, &mut ignored, |_| Some(reason.clone()));
        }
    }

    /// Removes those notes on the text of a resource from `list` for which `reason` returns one.
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

    /// Removes those findings on documents from `list` for which `reason` returns one.
    pub fn sift_documents(&mut self, list: &mut Vec<Finding>, mut reason: impl FnMut(&Finding) -> Option<Reason>) {
        list.retain(|finding| {
            let place = Some((finding.source, finding.span));
            self.lets_stay_at(None, &finding.diagnostic, place, reason(finding))
        });
    }

    /// Forgets the findings that one world of a resource withholds and another one shows.
    pub(super) fn forget_shown(&mut self, resource: usize, shown: &[Diagnostic]) {
        if let Some(list) = self.by_resource.get_mut(&Some(resource)) {
            list.retain(|WithheldFinding { diagnostic, .. }| {
                let is_shown = |one: &Diagnostic| one.rule == diagnostic.rule && one.path == diagnostic.path;
                !shown.iter().any(is_shown)
            });
        }
    }

    /// Removes and returns the findings on a resource, or those on documents. A finding that
    /// several clients or worlds have counts once.
    pub fn take(&mut self, resource: Option<usize>) -> Vec<WithheldFinding> {
        let mut known = BTreeSet::new();
        let mut list = self.by_resource.remove(&resource).unwrap_or_default();
        list.retain(|WithheldFinding { diagnostic, reason, .. }| {
            known.insert((diagnostic.rule.id, diagnostic.path.to_string(), reason.name()))
        });
        list
    }
}
