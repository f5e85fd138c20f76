//! The severity with which each finding of a resource is reported. A finding is silent if no client
//! that was asked has it, or if its rule is switched off.
//!
//! This is the last stage before a format. It runs while the resources are printed one after the
//! other.

use super::{Reason, Withheld};
use crate::choice::Severities;
use xdsctl_channel::client::{Checked, is_live};
use xdsctl_clients::judge::{FamilyAnswer, FamilyVerdict};
use xdsctl_document::proto::transcode::Note;
use xdsctl_model::diag::{Diagnostic, Effect, Rule, Segs, Severity, Subject};
use xdsctl_model::profile::Fleet;

/// The worst effect of a finding in the clients that can fail the run. The user may have exempted
/// some of the clients from that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CountedEffect {
    /// The finding is not attributed to clients.
    Unattributed,
    /// Only exempt clients have the finding.
    OnlyExempt,
    /// Clients that can fail the run have the finding, with this effect at worst.
    Worst(Effect),
}

/// The severity with which a finding is reported, and whether it can fail the run.
#[derive(Debug, Clone, Copy)]
pub struct Loudness {
    /// The severity after the user's settings.
    pub severity: Severity,
    /// Whether the finding can fail the run. It cannot if the user has excluded all clients that
    /// have it from failing a run.
    pub counts: bool,
}

impl Loudness {
    /// Returns how loud a finding is; `None` if the user has switched it off. A finding that only
    /// exempt clients have is a warning at most.
    pub fn of(
        (rule, effect): (&'static Rule, Effect),
        field: Option<&str>,
        counted: CountedEffect,
        severities: &Severities,
    ) -> Option<Loudness> {
        let severity = severities.of((rule, effect), field)?;
        let of_counted = match counted {
            CountedEffect::Unattributed => Some(severity),
            CountedEffect::Worst(worst) if worst == effect => Some(severity),
            CountedEffect::OnlyExempt => None,
            CountedEffect::Worst(worst) => severities.of((rule, worst), field),
        };
        Some(Loudness {
            severity: of_counted.max(Some(severity.min(Severity::Warning)))?,
            counts: of_counted.is_some(),
        })
    }

    /// Returns how loud a finding that is not shown would be by its rule and effect alone.
    pub fn of_withheld(diagnostic: &Diagnostic) -> Loudness {
        Loudness {
            severity: diagnostic.severity(),
            counts: false,
        }
    }
}

/// Returns how many findings like this are errors that the user's severities make less than errors.
pub fn silenced(
    (rule, effect): (&'static Rule, Effect),
    field: Option<&str>,
    count: usize,
    severities: &Severities,
) -> usize {
    let is_silenced = rule.severity_of(effect) == Severity::Error
        && severities
            .of((rule, effect), field)
            .is_none_or(|severity| severity < Severity::Error);
    if is_silenced { count } else { 0 }
}

/// Says whether a finding is about the text of a document, and therefore holds for every client.
pub fn is_of_text(rule: &Rule) -> bool {
    rule.subject == Subject::Dump || is_live(rule)
}

/// Says whether a client that was asked has a finding, whether the finding was made for the base or
/// for that client itself.
pub fn is_of_asked(checked: &Checked, diagnostic: &Diagnostic, fleet: &Fleet) -> bool {
    let has = |answer: &FamilyAnswer| {
        let is_own = |own: &Diagnostic| own.rule == diagnostic.rule && own.path == diagnostic.path;
        let is_there = |rule: &Rule, steps: Segs<'_>| rule == diagnostic.rule && steps.eq(diagnostic.path.segs());
        let is_shared = diagnostic.effect != Effect::Nack
            && answer.verdict == FamilyVerdict::Accepted
            && diagnostic.shared.contains(&answer.client.family);
        let mut is_unread = false;
        let unread = answer.diagnostics.unread();
        unread
            .into_iter()
            .for_each(|unread| unread.for_each(|rule, steps| is_unread |= is_there(rule, steps)));
        is_shared || is_unread || answer.diagnostics.iter().any(is_own)
    };
    let is_note = |note: &Note| std::ptr::eq(&note.diagnostic, diagnostic);
    fleet.asks_base()
        || is_of_text(diagnostic.rule)
        || checked.answers.iter().any(has)
        || checked.notes.iter().any(is_note)
}

impl Withheld {
    /// Adds the findings of the base that no client that was asked has.
    pub fn add_unasked(&mut self, resource: usize, checked: &Checked, fleet: &Fleet) {
        if fleet.asks_base() {
            return;
        }
        let ignored = unpacked(checked);
        for diagnostic in checked.diagnostics.iter().chain(&ignored) {
            if !is_of_asked(checked, diagnostic, fleet) {
                self.add(Some(resource), diagnostic, None, Reason::NotAsked);
            }
        }
    }

    /// Adds the findings that the user has switched off. `counted` has an element for each of the
    /// resource's diagnostics, as [`Loudness::of`] takes it.
    pub fn add_switched_off(
        &mut self,
        resource: usize,
        checked: &Checked,
        counted: impl Iterator<Item = CountedEffect>,
        severities: &Severities,
    ) {
        let is_off = |diagnostic: &Diagnostic, counted: CountedEffect| {
            let field = diagnostic.path.segs().last_field();
            Loudness::of((diagnostic.rule, diagnostic.effect), field, counted, severities).is_none()
        };
        let ignored = unpacked(checked);
        let counted = counted.chain(std::iter::repeat(CountedEffect::Unattributed));
        let own = checked.diagnostics.iter().zip(counted);
        for (diagnostic, counted) in own.chain(ignored.iter().map(|one| (one, CountedEffect::Unattributed))) {
            if is_off(diagnostic, counted) {
                self.add(Some(resource), diagnostic, None, Reason::SwitchedOff);
            }
        }
        for note in checked
            .notes
            .iter()
            .filter(|note| is_off(&note.diagnostic, CountedEffect::Unattributed))
        {
            let place = Some((checked.origin.source, note.span));
            self.add(Some(resource), &note.diagnostic, place, Reason::SwitchedOff);
        }
    }
}

/// Returns the findings on fields of a resource that the client never reads.
fn unpacked(checked: &Checked) -> Vec<Diagnostic> {
    let mut ignored = Vec::new();
    checked.ignored.unpack_into(&mut ignored);
    ignored
}
