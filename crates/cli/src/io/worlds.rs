//! Remarks on worlds: which documents form the world of one client, and where another division into
//! worlds would have what one lacks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::Remark;
use super::input::Inputs;
use super::{files, revision};
use crate::Io;
use xdsctl_channel::client::{Conflict, DocumentPlace, World, WorldSet};
use xdsctl_document::envelope::WorldName;
use xdsctl_document::source::{SourceId, SourceMap};
use xdsctl_report::{listed, plural};

/// The number of worlds and files that a line names.
const NAMES_SHOWN: usize = 4;

/// References are followed only in inputs with at most this many resources.
const MAX_FOLLOWED: usize = 50_000;

/// Returns the place of a document with this name: its directories as they are written.
pub(crate) fn place(name: &str) -> DocumentPlace {
    if let Some(rest) = name.strip_prefix(revision::SCHEME)
        && let Some((revision, path)) = rest.split_once(':')
    {
        let mut place = vec![format!("{}{revision}:", revision::SCHEME)];
        place.extend(steps(path));
        return place;
    }
    if name.contains("://") {
        return vec![name.to_owned()];
    }
    steps(name).collect()
}

fn steps(path: &str) -> impl Iterator<Item = String> {
    let components = Path::new(path).components();
    let steps = components.filter(|component| !matches!(component, Component::CurDir));
    steps.map(|component| component.as_os_str().to_string_lossy().into_owned())
}

/// Returns the documents among `named` whose directory has other documents that are not in `all`.
pub(crate) fn partial<'n>(
    named: impl Iterator<Item = (&'n SourceId, &'n DocumentPlace)>,
    all: &BTreeMap<SourceId, DocumentPlace>,
) -> BTreeSet<SourceId> {
    let known: BTreeSet<&DocumentPlace> = all.values().collect();
    let mut directories: BTreeMap<&[String], bool> = BTreeMap::new();
    let mut partial = BTreeSet::new();
    for (id, place) in named {
        if let Some((name, directory)) = place.split_last()
            && name != "-"
            && !name.contains("://")
            && *directories
                .entry(directory)
                .or_insert_with(|| has_others(directory, &known))
        {
            partial.insert(*id);
        }
    }
    partial
}

/// Says whether a directory may have documents besides the known ones. Always true for a git
/// revision, which is not listed.
fn has_others(directory: &[String], known: &BTreeSet<&DocumentPlace>) -> bool {
    if directory
        .first()
        .is_some_and(|first| first.starts_with(revision::SCHEME))
    {
        return true;
    }
    let path: PathBuf = match directory {
        [] => PathBuf::from("."),
        steps => steps.iter().collect(),
    };
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let documents = entries
        .map(|entry| entry.path())
        .filter(|path| files::is_document(path));
    let place = |path: PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        directory.iter().cloned().chain(name).collect::<DocumentPlace>()
    };
    documents.map(place).any(|place| !known.contains(&place))
}

/// Returns the name of a world: its directory or document, or the part of one.
pub(crate) fn name<'n>(world: &'n WorldName, sources: &'n SourceMap) -> &'n str {
    world.scope.as_deref().unwrap_or_else(|| file(world.source, sources))
}

/// Returns the name of a world that was read.
pub(crate) fn name_of<'n>(world: &World, world_set: &'n WorldSet, sources: &'n SourceMap) -> &'n str {
    let own = world_set.names.get(world.id.0 as usize);
    own.map_or("", |own| name(own, sources))
}

/// Prints which documents form which world, if there are several, and whether references lead out
/// of the named files.
///
/// # Errors
/// Standard error cannot be written.
pub(crate) fn say(world_set: &WorldSet, inputs: &Inputs, io: &mut Io<'_>) -> io::Result<()> {
    let sources = &inputs.sources;
    let name_of = |world: &World| name_of(world, world_set, sources);
    if let [_, _, ..] = world_set.worlds.as_slice() {
        let worlds = world_set.worlds.iter().map(|world| {
            let count = plural(world.members.len(), "resource");
            format!("{} ({count})", name_of(world))
        });
        let (count, worlds) = (world_set.worlds.len(), listed(worlds, NAMES_SHOWN));
        io.remark(Remark::Note(format!(
            "{count} worlds, each is what one client sees: {worlds}"
        )))?;
        say_why(world_set, sources, io)?;
    }
    if world_set.resources.len() > MAX_FOLLOWED {
        return Ok(());
    }
    let strays = world_set.strays();
    let (across, nowhere): (Vec<_>, Vec<_>) = strays.iter().partition(|stray| stray.other.is_some());
    let of_number = |number: usize| world_set.worlds.get(number).map_or("", name_of);
    if let Some(first) = across.first()
        && let Some(other) = first.other
    {
        let (from, other) = (of_number(first.world), of_number(other));
        let (kind, name) = (first.resource_type.short_name(), &first.name);
        let more = more(across.len());
        io.remark(Remark::Note(format!(
            "{from} refers to {kind} `{name}`, which only {other} has{more}"
        )))?;
    }
    let is_partial = |number: usize| world_set.worlds.get(number).is_some_and(World::may_go_on);
    let mut nowhere = nowhere.into_iter().filter(|stray| is_partial(stray.world)).peekable();
    if let Some(first) = nowhere.peek() {
        let (kind, name) = (first.resource_type.short_name(), &first.name);
        let more = more(nowhere.count());
        io.remark(Remark::Note(format!(
            "{kind} `{name}` is in none of the named files{more}; files beside them were not named and may have it"
        )))?;
    }
    Ok(())
}

/// Returns ` (and 1 more reference like it)`.
fn more(count: usize) -> String {
    match count.saturating_sub(1) {
        0 => String::new(),
        more => format!(" (and {} like it)", plural(more, "more reference")),
    }
}

/// Returns why documents that should be one client's cannot be, if two directories have the same
/// resource.
pub(crate) fn clash(
    world_set: &WorldSet,
    places: &BTreeMap<SourceId, DocumentPlace>,
    sources: &SourceMap,
) -> Option<String> {
    let why = two_clients(&world_set.clash(places)?, sources);
    Some(format!("{why}, and a suite plays one: name the files of one"))
}

/// Prints which resource separates documents, and which documents belong to several worlds.
fn say_why(world_set: &WorldSet, sources: &SourceMap, io: &mut Io<'_>) -> io::Result<()> {
    let Some(conflict) = &world_set.joined.conflict else {
        return Ok(());
    };
    let shared = world_set.joined.shared.iter();
    let shared = shared.map(|(id, _)| file(*id, sources).to_owned());
    let shared = match shared.len() {
        0 => String::new(),
        1 => format!("; {} belongs to more than one world", listed(shared, 1)),
        _ => format!("; {} belong to more than one world", listed(shared, NAMES_SHOWN)),
    };
    let why = two_clients(conflict, sources);
    io.remark(Remark::Note(format!("{why}{shared}")))
}

fn two_clients(conflict: &Conflict, sources: &SourceMap) -> String {
    let (one, other) = conflict.documents;
    format!(
        "{} and {} both have {} `{}`, so they are two clients'",
        file(one, sources),
        file(other, sources),
        conflict.resource_type.short_name(),
        conflict.name
    )
}

fn file(id: SourceId, sources: &SourceMap) -> &str {
    sources.get(id).map_or("", |source| source.name())
}
