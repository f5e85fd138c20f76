//! Findings about several resources, for clients without a world of their own: it is not known what
//! these clients keep. The findings of the base's world are added to their answers.

use std::collections::{BTreeMap, BTreeSet};

use crate::lint::Who;
use xdsctl_channel::client::{Checked, OtherClients, ResourceId};
use xdsctl_clients::judge::{FamilyAnswer, FamilyVerdict};
use xdsctl_model::diag::Diagnostic;

/// Says whether some client without worlds of its own rejects a resource.
pub(super) fn reject(others: &OtherClients, resources: &[Checked], ResourceId(number): ResourceId) -> bool {
    let answers = resources.get(number).into_iter().flat_map(|checked| &checked.answers);
    let mut numbered = answers.enumerate();
    numbered.any(|(index, answer)| is_rejected(answer) && !others.has_own_world(index))
}

fn is_rejected(answer: &FamilyAnswer) -> bool {
    answer.verdict == FamilyVerdict::Rejected
}

/// Adds findings of the base's world to the answers of the clients without worlds of their own that
/// accept the resource and for which the finding holds.
pub(super) fn tell(of_others: Vec<(ResourceId, Diagnostic, Who)>, others: &OtherClients, resources: &mut [Checked]) {
    let mut by_resource: BTreeMap<usize, Vec<(Diagnostic, Who)>> = BTreeMap::new();
    for (ResourceId(number), diagnostic, who) in of_others {
        by_resource.entry(number).or_default().push((diagnostic, who));
    }
    for (number, found) in by_resource {
        let rejecting: Vec<BTreeSet<usize>> = found.iter().map(|(_, who)| rejecting(*who, resources)).collect();
        let Some(checked) = resources.get_mut(number) else {
            continue;
        };
        for index in 0..checked.answers.len() {
            let (before, rest) = checked.answers.split_at_mut(index);
            let Some(answer) = rest
                .first_mut()
                .filter(|answer| answer.verdict == FamilyVerdict::Accepted && !others.has_own_world(index))
            else {
                continue;
            };
            let mut own = Vec::new();
            let mut known: BTreeSet<(&str, String)> = places(&answer.diagnostics);
            for ((diagnostic, who), rejecting) in found.iter().zip(&rejecting) {
                let is_its = match who {
                    Who::Families(_) | Who::Having(..) | Who::With(..) => who.is_client(answer.client),
                    Who::Rejecting(_, families) => {
                        families.contains(&answer.client.family) && rejecting.contains(&index)
                    }
                    Who::WithRule => own.iter().any(|own: &Diagnostic| own.rule == diagnostic.rule),
                };
                // The finding may have been added from another world of the resource.
                if is_its && known.insert((diagnostic.rule.id, diagnostic.path.to_string())) {
                    own.push(diagnostic.clone());
                }
            }
            if !own.is_empty() {
                answer.diagnostics.extend(own);
                answer.share(before);
            }
        }
    }
}

/// Returns the indexes of the clients that reject the resource.
fn rejecting(who: Who, resources: &[Checked]) -> BTreeSet<usize> {
    let Who::Rejecting(ResourceId(number), _) = who else {
        return BTreeSet::new();
    };
    let answers = resources.get(number).into_iter().flat_map(|checked| &checked.answers);
    let numbered = answers.enumerate().filter(|(_, answer)| is_rejected(answer));
    numbered.map(|(index, _)| index).collect()
}

fn places(diagnostics: &[Diagnostic]) -> BTreeSet<(&'static str, String)> {
    let places = diagnostics.iter().map(|own| (own.rule.id, own.path.to_string()));
    places.collect()
}
