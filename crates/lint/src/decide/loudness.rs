//! How loud each finding of a resource is to the reader, and what is silent: it has no client that
//! was asked, or is switched off.
//!
//! This is the last stage before a format, and runs while the resources are printed one after the
//! other.

use super::{Reason, Withheld};
use crate::choice::Severities;
use xdsctl_channel::client::{Checked, is_live};
use xdsctl_clients::judge::{FamilyAnswer, FamilyVerdict};
use xdsctl_document::proto::transcode::Note;
use xdsctl_model::diag::{Diagnostic, Effect, Rule, Segs, Severity, Subject};
use xdsctl_model::profile::Fleet;

/// How loud a finding is, and whether it can fail the run.
#[derive(Debug, Clone, Copy)]
pub struct Loudness {
    /// After the reader's settings.
    pub severity: Severity,
    /// It can fail the run: it is not only of clients that the reader leaves out of that.
    pub counts: bool,
}

impl Loudness {
    /// How loud a finding is; `None` if the reader switches it off.
    ///
    /// `counted` is there if clients say the finding: the worst effect in those that can fail the
    /// run, `None` if only others say it. Such a finding is a warning at most.
    pub fn of(
        (rule, effect): (&'static Rule, Effect),
        field: Option<&str>,
        counted: Option<Option<Effect>>,
        severities: &Severities,
    ) -> Option<Loudness> {
        let severity = severities.of((rule, effect), field)?;
        let of_counted = match counted {
            None => Some(severity),
            Some(counted) if counted == Some(effect) => Some(severity),
            Some(counted) => counted.and_then(|effect| severities.of((rule, effect), field)),
        };
        Some(Loudness {
            severity: of_counted.max(Some(severity.min(Severity::Warning)))?,
            counts: of_counted.is_some(),
        })
    }

    /// How loud a finding is that is not shown: as its rule and effect say.
    pub fn of_withheld(diagnostic: &Diagnostic) -> Loudness {
        Loudness {
            severity: diagnostic.severity(),
            counts: false,
        }
    }
}

/// How many findings like this are errors that the reader's severities make something else.
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

/// Says whether a finding is about the text, and so true for every client.
pub fn is_of_text(rule: &Rule) -> bool {
    rule.subject == Subject::Dump || is_live(rule)
}

/// Says whether a client that was asked has a finding, which was made for the base or is a client's
/// own.
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
    /// Adds what was found for the base, if no client that was asked has it.
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

    /// Adds what the reader switches off. `counted` is beside the resource's diagnostics, as
    /// [`Loudness::of`] takes it.
    pub fn add_switched_off(
        &mut self,
        resource: usize,
        checked: &Checked,
        counted: impl Iterator<Item = Option<Effect>>,
        severities: &Severities,
    ) {
        let is_off = |diagnostic: &Diagnostic, counted: Option<Option<Effect>>| {
            let field = diagnostic.path.segs().last_field();
            Loudness::of((diagnostic.rule, diagnostic.effect), field, counted, severities).is_none()
        };
        let ignored = unpacked(checked);
        let counted = counted.map(Some).chain(std::iter::repeat(None));
        let own = checked.diagnostics.iter().zip(counted);
        for (diagnostic, counted) in own.chain(ignored.iter().map(|one| (one, None))) {
            if is_off(diagnostic, counted) {
                self.add(Some(resource), diagnostic, None, Reason::SwitchedOff);
            }
        }
        for note in checked.notes.iter().filter(|note| is_off(&note.diagnostic, None)) {
            let place = Some((checked.origin.source, note.span));
            self.add(Some(resource), &note.diagnostic, place, Reason::SwitchedOff);
        }
    }
}

/// The findings on fields of a resource that the client never reads.
fn unpacked(checked: &Checked) -> Vec<Diagnostic> {
    let mut ignored = Vec::new();
    checked.ignored.unpack_into(&mut ignored);
    ignored
}
