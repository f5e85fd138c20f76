//! Finds out which of the documents that are read belong to one client.
//!
//! A dump is the state of one client, and a world by itself. Any other document is loose: somebody
//! put its resources in a file, and all loose documents complete each other. If two of them have
//! the same type and name with different content, or a Listener or RouteConfiguration stands in two
//! directories, they belong to two clients; [`split()`] says where their worlds part.

mod split;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use foldhash::{HashMap, HashMapExt};

pub use split::DocumentPlace;
use split::{Holder, Split, shown, split};

use super::DUPLICATE_RESOURCE;
use super::checked::Checked;
use xdsctl_document::envelope::{Loader, RawResponse, WorldId, WorldName};
use xdsctl_document::proto::transcode::LIMIT_EXCEEDED;
use xdsctl_document::source::{SourceId, Span};
use xdsctl_model::resource::ResourceType;

/// The most resources that may be counted again, once for each further world that they belong to.
const MAX_SHARED: usize = 400_000;

/// Which documents are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Documents that are no dumps, except where they conflict.
    Loose,
    /// All documents of each directory.
    All,
}

/// What became of documents that were joined.
#[derive(Debug, Default)]
pub struct Joined {
    /// The worlds that were made.
    pub worlds: BTreeSet<WorldId>,
    /// The worlds of which only some files were named.
    pub partial: BTreeSet<WorldId>,
    /// Documents that are in several worlds, with the number of worlds.
    pub shared: Vec<(SourceId, usize)>,
    /// Two documents that cannot be in one world, and the resource that shows it.
    pub conflict: Option<Conflict>,
    /// The worlds of a document besides the one that its resources name.
    pub(super) others: BTreeMap<(SourceId, WorldId), Vec<WorldId>>,
}

impl Joined {
    /// The worlds of a resource besides [`Checked::world`].
    pub fn others_of(&self, checked: &Checked) -> impl Iterator<Item = &WorldId> {
        let others = self.others.get(&(checked.origin.source, checked.world));
        others.into_iter().flatten()
    }
}

/// A resource that two documents have with different content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Its type, one of the four that gRPC clients ask for.
    pub resource_type: ResourceType,
    /// Its name, as clients ask for it.
    pub name: String,
    /// The first two documents that differ.
    pub documents: (SourceId, SourceId),
}

/// A document with resources of one client that other documents may complete.
struct LooseDocument<'c> {
    world: WorldId,
    source: SourceId,
    place: &'c DocumentPlace,
    /// The indices of its resources.
    resources: Vec<usize>,
}

impl<'c> LooseDocument<'c> {
    fn directory(&self) -> &'c [String] {
        self.place.split_last().map_or(&[], |(_, directory)| directory)
    }
}

/// Gives the documents that belong together one world. Their own worlds stay behind empty.
///
/// `places` says where each document stands. The documents in `partial` were named, and others
/// beside them were not.
pub(super) fn join(
    checked: &mut [Checked],
    loader: &mut Loader,
    places: &BTreeMap<SourceId, DocumentPlace>,
    partial: &BTreeSet<SourceId>,
    wanted: Parts,
) -> Joined {
    let documents = documents(checked, loader, places, wanted);
    let mut joined = Joined::default();
    if documents.len() < 2 {
        return joined;
    }
    let (split, conflicts) = match wanted {
        Parts::Loose => of_conflicts(&documents, checked),
        Parts::All => (of_directories(&documents), Vec::new()),
    };
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); split.names.len()];
    for (document, homes) in split.homes.iter().enumerate() {
        for home in homes {
            members.get_mut(*home).into_iter().for_each(|list| list.push(document));
        }
    }
    let again =
        |(document, homes): (&LooseDocument<'_>, &Vec<usize>)| document.resources.len() * homes.len().saturating_sub(1);
    let is_too_much = documents.iter().zip(&split.homes).map(again).sum::<usize>() > MAX_SHARED;
    let source_of = |document: usize| documents.get(document).map(|document| document.source);
    let ids: Vec<Option<WorldId>> = split
        .names
        .iter()
        .zip(&members)
        .map(|(name, members)| {
            // A document that is alone keeps its world, and its name.
            let [first, _, ..] = members.as_slice() else {
                return None;
            };
            let own = |document: &&usize| split.homes.get(**document).is_some_and(|homes| homes.len() == 1);
            let first = members.iter().find(own).unwrap_or(first);
            let id = loader.world(source_of(*first)?, Some(name.clone()));
            joined.worlds.insert(id);
            let is_partial = |document: &usize| source_of(*document).is_some_and(|source| partial.contains(&source));
            if members.iter().any(is_partial) {
                joined.partial.insert(id);
            }
            Some(id)
        })
        .collect();
    let mut homes: BTreeMap<WorldId, WorldId> = BTreeMap::new();
    for (document, numbers) in documents.iter().zip(&split.homes) {
        let mut worlds = numbers.iter().filter_map(|&number| *ids.get(number)?);
        let Some(first) = worlds.next() else { continue };
        let others: Vec<WorldId> = worlds.collect();
        if !others.is_empty() && is_too_much {
            // It stays a world of its own.
            continue;
        }
        homes.insert(document.world, first);
        if !others.is_empty() {
            joined.shared.push((document.source, 1 + others.len()));
            joined.others.insert((document.source, first), others);
        }
    }
    if is_too_much {
        let first = split.homes.iter().position(|homes| homes.len() > 1).and_then(source_of);
        too_much(loader, first, split.names.len());
    }
    twice(loader, &split, &conflicts, &documents, checked);
    joined.conflict = conflicts.into_iter().next();
    move_home(checked, &mut loader.responses, &homes);
    joined
}

fn move_home(checked: &mut [Checked], responses: &mut [RawResponse], homes: &BTreeMap<WorldId, WorldId>) {
    for checked in checked {
        checked.world = homes.get(&checked.world).copied().unwrap_or(checked.world);
    }
    for response in responses {
        response.world = response.world.map(|own| homes.get(&own).copied().unwrap_or(own));
    }
}

/// The documents that may be joined and have a resource, in the order of their places.
fn documents<'c>(
    checked: &[Checked],
    loader: &Loader,
    places: &'c BTreeMap<SourceId, DocumentPlace>,
    wanted: Parts,
) -> Vec<LooseDocument<'c>> {
    let mut responses: BTreeMap<WorldId, usize> = BTreeMap::new();
    for world in loader.responses.iter().filter_map(|response| response.world) {
        *responses.entry(world).or_default() += 1;
    }
    let is_dump = |world| loader.dumps.contains(&world) || responses.get(&world).is_some_and(|count| *count > 1);
    let mut by_world: BTreeMap<WorldId, LooseDocument<'c>> = BTreeMap::new();
    for (number, checked) in checked.iter().enumerate() {
        let world = checked.world;
        let Some(WorldName { source, scope: None }) = loader.worlds.get(world.0 as usize) else {
            continue;
        };
        let Some(place) = places.get(source).filter(|_| wanted == Parts::All || !is_dump(world)) else {
            continue;
        };
        let document = by_world.entry(world).or_insert_with(|| LooseDocument {
            world,
            source: *source,
            place,
            resources: Vec::new(),
        });
        document.resources.push(number);
    }
    let mut documents: Vec<LooseDocument<'c>> = by_world.into_values().collect();
    documents.sort_by_key(|document| document.place);
    documents
}

/// Makes one world for each directory.
fn of_directories(documents: &[LooseDocument<'_>]) -> Split {
    let mut split = Split::default();
    let mut last = None;
    for document in documents {
        let directory = document.directory();
        if last.replace(directory) != Some(directory) {
            split.names.push(shown(directory.iter().map(String::as_str)));
        }
        split.homes.push(vec![split.names.len() - 1]);
    }
    split
}

/// Splits documents that complete each other into worlds. Also returns the conflict behind each
/// name of the split.
fn of_conflicts(documents: &[LooseDocument<'_>], checked: &[Checked]) -> (Split, Vec<Conflict>) {
    let mut holders: HashMap<(ResourceType, &str), Vec<Holder>> = HashMap::new();
    for (document, of_document) in documents.iter().enumerate() {
        let directory = FixedState::default().hash_one(of_document.directory());
        for checked in of_document.resources.iter().filter_map(|&number| checked.get(number)) {
            let (Some(resource_type), Some(hash)) = (checked.resource_type, checked.hash) else {
                continue;
            };
            if checked.name.is_empty() {
                continue;
            }
            let hash = match resource_type {
                // A client begins at such a resource: a copy of it in another directory means
                // another client.
                ResourceType::Listener | ResourceType::RouteConfiguration => hash ^ directory,
                ResourceType::Cluster | ResourceType::Endpoints => hash,
            };
            let holders = holders.entry((resource_type, &checked.name)).or_default();
            match holders.last_mut() {
                // Within one document the last one counts.
                Some((last, before)) if *last == document => *before = hash,
                _ => holders.push((document, hash)),
            }
        }
    }
    let differs = |holders: &[Holder]| {
        holders
            .iter()
            .any(|(_, hash)| Some(*hash) != holders.first().map(|first| first.1))
    };
    let mut conflicts: Vec<_> = holders.into_iter().filter(|(_, holders)| differs(holders)).collect();
    conflicts.sort_unstable();
    let places: Vec<DocumentPlace> = documents.iter().map(|document| document.place.clone()).collect();
    let (names, holders): (Vec<_>, Vec<_>) = conflicts.into_iter().unzip();
    let conflict = |((resource_type, name), holders): (&(ResourceType, &str), &Vec<Holder>)| {
        let first = holders.first()?;
        let other = holders.iter().find(|(_, hash)| *hash != first.1)?;
        Some(Conflict {
            resource_type: *resource_type,
            name: (*name).to_owned(),
            documents: (documents.get(first.0)?.source, documents.get(other.0)?.source),
        })
    };
    let conflicts = names.iter().zip(&holders).filter_map(conflict).collect();
    (split(&places, &holders), conflicts)
}

/// Reports the names that two files of one directory have with different content.
fn twice(
    loader: &mut Loader,
    split: &Split,
    conflicts: &[Conflict],
    documents: &[LooseDocument<'_>],
    checked: &[Checked],
) {
    for twice in &split.twice {
        let Some(Conflict {
            resource_type, name, ..
        }) = conflicts.get(twice.name)
        else {
            continue;
        };
        let (Some(one), Some(other)) = (documents.get(twice.documents.0), documents.get(twice.documents.1)) else {
            continue;
        };
        let is_it = |checked: &&Checked| checked.resource_type == Some(*resource_type) && checked.name == *name;
        let mut resources = other.resources.iter().filter_map(|&number| checked.get(number));
        let start = resources.find(is_it).map_or(0, |checked| checked.origin.span.start);
        let path = |document: &LooseDocument<'_>| shown(document.place.iter().map(String::as_str));
        let kind = resource_type.short_name();
        let what_then = match twice.is_alone {
            true => "each file is checked alone",
            false => "each is checked in a world of its own",
        };
        let message = format!(
            "{kind} `{name}` is in `{}` too, and is not the same there: one client cannot have both, {what_then}",
            path(one)
        );
        loader
            .report(other.source, &DUPLICATE_RESOURCE, Span::new(start, start), message)
            .help("rename one, remove one, or keep each environment in a directory of its own");
    }
}

fn too_much(loader: &mut Loader, source: Option<SourceId>, worlds: usize) {
    let Some(source) = source else { return };
    let message = format!(
        "documents that belong to each of {worlds} worlds count more than {MAX_SHARED} resources again: they are checked alone"
    );
    loader
        .report(source, &LIMIT_EXCEEDED, Span::default(), message)
        .help("give xdsctl one world at a time");
}
