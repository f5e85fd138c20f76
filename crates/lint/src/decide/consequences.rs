//! Withholds the consequences of a rejection that is itself not shown.
//!
//! If the rejection of a Cluster is suppressed, its author knows that the routes to it fail. The
//! failing routes are reported only together with the rejection.

use std::collections::BTreeSet;

use super::{CheckOutcome, Reason};
use crate::choice::Severities;
use xdsctl_channel::client::Checked;
use xdsctl_model::diag::{Diagnostic, Effect};

/// The resources of an outcome that have a rejection, before any finding is withheld.
#[derive(Debug)]
pub(super) struct Rejections(BTreeSet<usize>);

impl Rejections {
    /// Collects the rejected resources of an outcome.
    pub fn of(outcome: &CheckOutcome) -> Rejections {
        let resources = outcome.resources.iter().enumerate();
        let rejected = resources.filter(|(_, checked)| all(checked).any(|d| d.effect == Effect::Nack));
        Rejections(rejected.map(|(number, _)| number).collect())
    }

    /// Withholds the consequences of rejections that are no longer reported, and returns the number
    /// of findings withheld.
    pub fn follow(mut self, outcome: &mut CheckOutcome, severities: &Severities) -> usize {
        let is_reported = |diagnostic: &Diagnostic| {
            let field = diagnostic.path.segs().last_field();
            diagnostic.effect == Effect::Nack && severities.of((diagnostic.rule, diagnostic.effect), field).is_some()
        };
        let silent = &mut self.0;
        silent.retain(|number| {
            outcome
                .resources
                .get(*number)
                .is_some_and(|checked| !all(checked).any(is_reported))
        });
        let mut count = 0;
        if !silent.is_empty() {
            let CheckOutcome {
                resources, withheld, ..
            } = outcome;
            let reason = |diagnostic: &Diagnostic| {
                let is_silent = diagnostic.cause.is_some_and(|cause| silent.contains(&cause));
                is_silent.then_some(Reason::Consequence)
            };
            for (number, checked) in resources.iter_mut().enumerate() {
                let before = checked.diagnostics.len();
                withheld.sift(number, &mut checked.diagnostics, reason);
                let mut gone = before - checked.diagnostics.len();
                for answer in &mut checked.answers {
                    let before = answer.diagnostics.len();
                    answer
                        .diagnostics
                        .retain(|diagnostic| withheld.lets_stay(number, diagnostic, reason(diagnostic)));
                    gone = gone.max(before - answer.diagnostics.len());
                }
                count += gone;
            }
        }
        count
    }
}

/// Returns the findings of every client that was asked, without those on fields that are not read.
fn all(checked: &Checked) -> impl Iterator<Item = &Diagnostic> {
    let of_answers = checked.answers.iter().flat_map(|answer| answer.diagnostics.iter());
    checked.diagnostics.iter().chain(of_answers)
}
