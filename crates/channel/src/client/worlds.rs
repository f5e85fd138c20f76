//! Which version of each resource the client of a world holds.
//!
//! A version in use wins over one that is warming or draining, and a version from a control plane
//! over a static one. Among equals the last one wins, as in the protocol. A version that the client
//! rejects never replaces one that it accepts, whatever their ranks: the last good version stays in
//! use (A46), and the rejection of a newer one is noted beside it (A88). What a later response
//! takes away is not held.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::checked::{Checked, ValidationInput, Verdict};
use super::facts::Facts;
use super::joined::{Conflict, DocumentPlace, Joined};
use super::links::{LinkedResource, references};
use super::others::OtherClients;
use super::world::{ResourceId, World, WorldEntry};
use super::{DUPLICATE_RESOURCE, live, removed, responses};
use xdsctl_document::envelope::{BootstrapPlace, Finding, Label, Loader, Stage, WorldId, WorldName};
use xdsctl_document::source::{SourceId, SourceMap};
use xdsctl_model::diag::Diagnostic;
use xdsctl_model::resource::ResourceType;

/// The name of the single world into which all documents are merged.
const MERGED: &str = "merged";

/// What the clients of some documents hold; only [`Reading::finish`](super::Reading::finish) makes one.
#[derive(Debug)]
#[non_exhaustive]
pub struct WorldSet {
    /// Every resource, in the order of the documents.
    pub resources: Vec<Checked>,
    /// Findings on documents and responses.
    pub findings: Vec<Finding>,
    /// What each client holds. Resources are referred to by their numbers.
    pub worlds: Vec<World>,
    /// The clients besides the base, whose worlds are made when they are looked at.
    pub others: OtherClients,
    /// The names of the worlds, by [`WorldId`].
    pub names: Vec<WorldName>,
    /// gRPC bootstraps among the documents.
    pub bootstraps: Vec<BootstrapPlace>,
    /// Which documents were found to belong together.
    pub joined: Joined,
}

/// Decides what each world's client holds. With `merge`, all documents are one world.
pub(super) fn into_world_set(
    mut resources: Vec<Checked>,
    mut loader: Loader,
    joined: Joined,
    against: &ValidationInput<'_>,
    merge: bool,
) -> WorldSet {
    for checked in &mut resources {
        checked.read_in = checked.world;
    }
    let found = responses::check(&loader.responses, &mut resources, against);
    loader.findings.extend(found);
    removed::remove(&loader.responses, &mut resources, against);
    let first = loader.worlds.first().map(|world| world.source);
    if let Some(first) = first.filter(|_| merge) {
        let all = loader.world(first, Some(MERGED.to_owned()));
        for checked in &mut resources {
            checked.world = all;
        }
    }
    for checked in &mut resources {
        live::check(checked);
    }
    let worlds = worlds_of(&mut resources, &joined, against);
    WorldSet {
        resources,
        findings: loader.findings,
        worlds,
        others: OtherClients::new(against, loader.responses),
        names: loader.worlds,
        bootstraps: loader.bootstraps,
        joined,
    }
}

/// Returns what the client of each world holds.
pub(super) fn worlds_of(resources: &mut [Checked], joined: &Joined, against: &ValidationInput<'_>) -> Vec<World> {
    let mut members: BTreeMap<WorldId, Vec<usize>> = BTreeMap::new();
    for (number, checked) in resources.iter().enumerate() {
        members.entry(checked.world).or_default().push(number);
        for other in joined.others_of(checked) {
            members.entry(*other).or_default().push(number);
        }
    }
    let members = members.into_iter();
    let world = members.map(|(id, members)| world_of(id, members, joined, resources, against));
    world.collect()
}

impl WorldSet {
    /// Adds the place of the other resource to each finding on a duplicate.
    pub fn name_twins(&mut self, sources: &SourceMap) {
        let places: Vec<(usize, String)> = self
            .resources
            .iter()
            .enumerate()
            .filter_map(|(number, checked)| {
                let other = self.resources.get(checked.twin?)?;
                let source = sources.get(other.origin.source)?;
                let start = source.line_column(other.origin.span.start);
                Some((number, format!(": `{}:{}:{}`", source.name(), start.line, start.column)))
            })
            .collect();
        for (number, place) in places {
            let checked = self.resources.get_mut(number);
            let mut found = checked.into_iter().flat_map(|checked| &mut checked.diagnostics);
            if let Some(diagnostic) = found.find(|d| d.rule == &DUPLICATE_RESOURCE) {
                diagnostic.message.push_str(&place);
            }
        }
    }
}

impl WorldSet {
    /// Finds a resource that stands in two directories of one world, as it does if each directory
    /// belongs to another client. Clients may share clusters and endpoints that are identical.
    pub fn clash(&self, places: &BTreeMap<SourceId, DocumentPlace>) -> Option<Conflict> {
        let directory = |id: SourceId| places.get(&id)?.split_last().map(|(_, directory)| directory);
        self.resources.iter().find_map(|checked| {
            let other = self.resources.get(checked.twin?)?;
            let resource_type = checked.resource_type?;
            let begins_a_client = matches!(resource_type, ResourceType::Listener | ResourceType::RouteConfiguration);
            let (one, two) = (checked.origin.source, other.origin.source);
            let is_clash = directory(one)? != directory(two)? && (begins_a_client || checked.hash != other.hash);
            is_clash.then(|| Conflict {
                resource_type,
                name: checked.name.clone(),
                documents: (one.min(two), one.max(two)),
            })
        })
    }
}

/// The most dangling references that are kept for each world, and for all worlds together.
const MAX_STRAYS: usize = 1_000;

/// A reference to a resource that is missing from its world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// The number of the world.
    pub world: usize,
    /// The type of the missing resource.
    pub resource_type: ResourceType,
    /// Its name, as clients ask for it.
    pub name: String,
    /// The number of another world that has it.
    pub other: Option<usize>,
}

impl WorldSet {
    /// The references whose resource a world lacks, each name once for each world; about a thousand
    /// at most.
    pub fn strays(&self) -> Vec<Stray> {
        let is_partial = self.worlds.iter().any(World::may_go_on);
        let mut strays = Vec::new();
        if self.worlds.len() < 2 && !is_partial {
            return strays;
        }
        for (number, world) in self.worlds.iter().enumerate() {
            let entries = ResourceType::ALL.into_iter().flat_map(|resource_type| {
                let all = world.all(resource_type);
                all.filter_map(move |(name, entry)| Some((resource_type, name, entry.facts()?)))
            });
            let named = entries.flat_map(|(resource_type, name, facts)| references(resource_type, name, facts));
            let lacks = |node: &LinkedResource| world.get(node.resource_type, &node.name).is_none();
            let missing: BTreeSet<LinkedResource> = named.filter(lacks).take(MAX_STRAYS).collect();
            for LinkedResource { resource_type, name } in missing {
                let has = |other: &World| other.get(resource_type, &name).is_some();
                let other = self.worlds.iter().position(has);
                strays.push(Stray {
                    world: number,
                    resource_type,
                    name,
                    other,
                });
            }
            if strays.len() > MAX_STRAYS {
                break;
            }
        }
        strays
    }
}

/// Ranks the versions of a name: the higher one is used if the client accepts both.
fn rank(checked: &Checked) -> (bool, bool) {
    let in_use = checked.stage == Stage::Active || live::is_own_rejection(checked);
    (in_use, in_use && checked.label != Label::Static)
}

/// Orders versions of a name by time: the higher one came later.
fn age(checked: &Checked) -> u8 {
    match (checked.stage, checked.label) {
        (Stage::Draining, _) => 0,
        (Stage::Active, Label::Static) => 1,
        (Stage::Active, Label::None | Label::Dynamic) => 2,
        (Stage::Warming, _) => 3,
        (Stage::Failed, _) => 4,
    }
}

/// Returns what the client of a world holds, and marks the resources that are hidden.
fn world_of(
    id: WorldId,
    members: Vec<usize>,
    joined: &Joined,
    resources: &mut [Checked],
    against: &ValidationInput<'_>,
) -> World {
    let mut world = World::new(id, against);
    if joined.partial.contains(&id) {
        world.mark_partial(&members, resources);
    }
    for &number in &members {
        if let Some(checked) = resources.get(number)
            && let Some(resource_type) = checked.resource_type
            && !checked.is_removed
        {
            let name = name_of(checked, number);
            if joined.worlds.contains(&id) && is_copy(&world, resource_type, &name, number, resources) {
                continue;
            }
            if is_version(checked) {
                let facts = facts_of(number, joined, resources);
                add(&mut world, resource_type, &name, (number, facts), resources);
            }
            if resources.get(number).is_some_and(live::has_rejected_update) {
                reject(&mut world, resource_type, &name, number, resources);
            }
        }
    }
    // A rejection that is older than the version in use no longer matters.
    for entry in world.entries_mut() {
        let age_of = |ResourceId(number): ResourceId| resources.get(number).map(|checked| (age(checked), number));
        entry.rejected = entry.rejected.filter(|rejected| {
            let is_told = *rejected == entry.id;
            entry.facts.is_none() || is_told || age_of(*rejected) > age_of(entry.id)
        });
    }
    world.members = members;
    world
}

/// The key of a resource. A resource without a name gets a key of its own: nothing refers to it,
/// but its own references count.
pub(super) fn name_of(checked: &Checked, number: usize) -> String {
    match checked.name.as_str() {
        "" => format!("<unnamed #{}>", number + 1),
        name => name.to_owned(),
    }
}

/// Says whether this is a version of the resource, and not an update that a live client has
/// rejected.
fn is_version(checked: &Checked) -> bool {
    let is_update = checked.stage == Stage::Failed && !live::is_own_rejection(checked);
    checked.verdict != Verdict::NotChecked && !is_update
}

/// Says whether another document of the world has an identical resource.
fn is_copy(world: &World, resource_type: ResourceType, name: &str, number: usize, resources: &[Checked]) -> bool {
    let Some(ResourceId(before)) = world.get(resource_type, name).map(|entry| entry.id) else {
        return false;
    };
    let (Some(before), Some(checked)) = (resources.get(before), resources.get(number)) else {
        return false;
    };
    checked.hash.is_some() && checked.hash == before.hash && checked.origin.source != before.origin.source
}

/// Takes the facts of a resource, or a copy if another world of the resource needs them too.
fn facts_of(number: usize, joined: &Joined, resources: &mut [Checked]) -> Option<Arc<Facts>> {
    let checked = resources.get_mut(number)?;
    let is_shared = joined.others_of(checked).next().is_some();
    if is_shared {
        checked.facts.clone()
    } else {
        checked.facts.take()
    }
}

/// Adds a version of a resource, with its facts if it is accepted.
fn add(
    world: &mut World,
    resource_type: ResourceType,
    name: &str,
    (number, facts): (usize, Option<Arc<Facts>>),
    resources: &mut [Checked],
) {
    let Some(checked) = resources.get_mut(number) else {
        return;
    };
    let id = ResourceId(number);
    let new_rank = rank(checked);
    let (is_good, is_unknown) = (facts.is_some(), checked.is_unknown);
    let rejected = (!is_good).then_some(id);
    let Some(earlier) = world.get_mut(resource_type, name) else {
        let entry = WorldEntry {
            id,
            facts,
            is_unknown,
            rejected,
        };
        world.insert(resource_type, name, entry);
        return;
    };
    let ResourceId(before) = earlier.id;
    let Some(rank_before) = resources.get(before).map(rank) else {
        return;
    };
    let was_good = earlier.facts.is_some();
    let takes_over = if is_good == was_good {
        new_rank >= rank_before
    } else {
        is_good
    };
    let last_rejected = later(earlier.rejected, rejected, resources);
    if takes_over {
        *earlier = WorldEntry {
            id,
            facts,
            is_unknown,
            rejected: last_rejected,
        };
    } else {
        earlier.rejected = last_rejected;
    }
    match (was_good, is_good) {
        // Both versions are accepted, or both are rejected.
        (true, true) | (false, false) => {
            let (hidden, winner) = if takes_over { (before, number) } else { (number, before) };
            hide(resources, hidden, winner);
        }
        (false, true) if rank_before > new_rank => keep(resources, before, number),
        (false, true) => hide(resources, before, number),
        (true, false) if new_rank >= rank_before => keep(resources, number, before),
        (true, false) => {}
    }
}

/// Adds an update that a live client has rejected.
fn reject(world: &mut World, resource_type: ResourceType, name: &str, number: usize, resources: &[Checked]) {
    let id = ResourceId(number);
    match world.get_mut(resource_type, name) {
        Some(entry) => entry.rejected = later(entry.rejected, Some(id), resources),
        None => {
            let entry = WorldEntry {
                id,
                facts: None,
                is_unknown: false,
                rejected: Some(id),
            };
            world.insert(resource_type, name, entry);
        }
    }
}

fn later(one: Option<ResourceId>, other: Option<ResourceId>, resources: &[Checked]) -> Option<ResourceId> {
    one.into_iter()
        .chain(other)
        .max_by_key(|ResourceId(number)| (resources.get(*number).map(age), *number))
}

/// Notes on a rejected resource that another one of its name is in use.
fn keep(resources: &mut [Checked], number: usize, good: usize) {
    // An update and the version before it come from one entry and are no duplicates.
    if resources.get(number).is_some_and(live::is_own_rejection) {
        return;
    }
    let other = other_spelling(resources, number, good);
    let when = if good < number { "earlier" } else { "later" };
    if let Some(checked) = resources.get_mut(number) {
        checked.twin = Some(good);
        let message = format!(
            "`{}` comes {when} too{other}; this one is rejected, and that one stays in use",
            checked.name
        );
        checked
            .diagnostics
            .push(Diagnostic::of_whole(&DUPLICATE_RESOURCE, message));
    }
}

/// Says how another resource of the same name spells it, if it does so differently.
fn other_spelling(resources: &[Checked], number: usize, other: usize) -> String {
    match (resources.get(number), resources.get(other)) {
        (Some(one), Some(other)) if one.name != other.name => format!(", as `{}`", other.name),
        _ => String::new(),
    }
}

/// Marks a resource as hidden by another one.
fn hide(resources: &mut [Checked], hidden: usize, winner: usize) {
    let (Some(a), Some(b)) = (resources.get(hidden), resources.get(winner)) else {
        return;
    };
    if a.stage != b.stage || a.label != b.label {
        return;
    }
    let is_update = a.origin.source == b.origin.source && a.sent_in.is_some() && a.sent_in < b.sent_in;
    let other = other_spelling(resources, hidden, winner);
    let Some(checked) = resources.get_mut(hidden) else {
        return;
    };
    checked.verdict = Verdict::Ignored;
    checked.twin = Some(winner);
    let name = &checked.name;
    let diagnostic = if is_update {
        Diagnostic::of_whole(&live::LIVE_UPDATED, "a later response has a newer version".to_owned())
    } else {
        let message = format!("`{name}` comes again later{other}, the last one wins");
        Diagnostic::of_whole(&DUPLICATE_RESOURCE, message)
    };
    checked.diagnostics.push(diagnostic);
}
