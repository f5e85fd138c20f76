//! Resources that belong to several worlds, in which different things are found about them.
//!
//! In each world, a resource begins with the findings that it has by itself. A finding of only some
//! of its worlds names those worlds. That nobody uses a resource is reported only if it holds in
//! all of them.

use std::collections::BTreeMap;

use super::{CheckOutcome, Reason, Withheld};
use crate::lint;
use xdsctl_channel::client::{Checked, Joined, Verdict, World};
use xdsctl_document::envelope::{WorldId, WorldName};
use xdsctl_model::diag::Diagnostic;

/// How many worlds a finding names.
const NAMES_SHOWN: usize = 3;

/// The resources that belong to several worlds, by their index.
#[derive(Default)]
pub(super) struct Shared {
    by_number: BTreeMap<usize, SharedFindings>,
}

/// The findings on a resource that belongs to several worlds.
#[derive(Default)]
struct SharedFindings {
    /// The findings that the resource has by itself.
    alone: Vec<Diagnostic>,
    /// The findings of each world.
    worlds: Vec<(WorldId, Vec<Diagnostic>)>,
}

impl Shared {
    pub(super) fn of(worlds: &[World], joined: &Joined, resources: &[Checked]) -> Shared {
        let mut shared = Shared::default();
        if joined.shared.is_empty() {
            return shared;
        }
        for &number in worlds.iter().flat_map(|world| &world.members) {
            if let Some(checked) = resources.get(number)
                && joined.others_of(checked).next().is_some()
            {
                shared.by_number.entry(number).or_default();
            }
        }
        for (number, seen) in &mut shared.by_number {
            if let Some(checked) = resources.get(*number) {
                seen.alone.clone_from(&checked.diagnostics);
            }
        }
        shared
    }

    /// Gives each resource of a world the findings that it has by itself.
    pub(super) fn enter(&mut self, world: &World, resources: &mut [Checked]) {
        self.for_each(world, resources, |seen, checked| {
            checked.diagnostics.clone_from(&seen.alone);
        });
    }

    /// Keeps the findings of a world.
    pub(super) fn leave(&mut self, world: &World, resources: &mut [Checked]) {
        self.for_each(world, resources, |seen, checked| {
            seen.worlds.push((world.id, std::mem::take(&mut checked.diagnostics)));
        });
    }

    fn for_each(
        &mut self,
        world: &World,
        resources: &mut [Checked],
        mut act: impl FnMut(&mut SharedFindings, &mut Checked),
    ) {
        if self.by_number.is_empty() {
            return;
        }
        for number in &world.members {
            if let (Some(seen), Some(checked)) = (self.by_number.get_mut(number), resources.get_mut(*number)) {
                act(seen, checked);
            }
        }
    }

    /// Gives each resource the findings of all its worlds.
    pub(super) fn finish(self, names: &[WorldName], outcome: &mut CheckOutcome) {
        for (number, seen) in self.by_number {
            if let Some(checked) = outcome.resources.get_mut(number)
                && checked.verdict != Verdict::NotChecked
            {
                checked.diagnostics = seen.together(number, names, &mut outcome.withheld);
                outcome.withheld.forget_shown(number, &checked.diagnostics);
            }
        }
    }
}

impl SharedFindings {
    fn together(self, number: usize, names: &[WorldName], withheld: &mut Withheld) -> Vec<Diagnostic> {
        let count = self.worlds.len();
        let mut together: Vec<(Diagnostic, Vec<WorldId>)> = Vec::new();
        let mut places: BTreeMap<(&str, String, String), usize> = BTreeMap::new();
        for (world, diagnostics) in self.worlds {
            for diagnostic in diagnostics {
                let key = (
                    diagnostic.rule.id,
                    diagnostic.path.to_string(),
                    diagnostic.message.clone(),
                );
                let place = *places.entry(key).or_insert(together.len());
                match together.get_mut(place) {
                    Some((_, worlds)) if worlds.last() == Some(&world) => {}
                    Some((_, worlds)) => worlds.push(world),
                    None => together.push((diagnostic, vec![world])),
                }
            }
        }
        let told = together.into_iter().filter_map(|(mut diagnostic, worlds)| {
            if worlds.len() < count {
                if lint::says_unused(diagnostic.rule) {
                    withheld.add(Some(number), &diagnostic, None, Reason::UsedElsewhere);
                    return None;
                }
                diagnostic.message.push_str(&within(&worlds, names));
            }
            Some(diagnostic)
        });
        told.collect()
    }
}

/// Returns the end of a message that names worlds: `, in xds/dev`.
fn within(worlds: &[WorldId], names: &[WorldName]) -> String {
    let name = |world: &WorldId| names.get(world.0 as usize)?.scope.clone();
    let shown: Vec<String> = worlds.iter().filter_map(name).take(NAMES_SHOWN).collect();
    let more = match worlds.len().saturating_sub(NAMES_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(", in {}{more}", shown.join(" and in "))
}
