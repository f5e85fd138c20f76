//! Directories as worlds: the usual layout has one resource a file, in a directory for each environment.
//!
//! A document that holds a single resource is a part of something. Such documents of one directory are one client's, unless two of them
//! have the same type and name: then they are of two clients, and stay apart. A directory that is named for a type (`clusters`, `cds`)
//! and has nothing else is a part of the one around it. Documents with more than one resource are worlds of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::DUPLICATE_RESOURCE;
use super::checked::Checked;
use crate::diag::Diagnostic;
use crate::envelope::{Finding, Loader, WorldId, WorldName};
use crate::model::ResourceType;
use crate::source::{SourceId, Span};

/// Which documents of a directory are parts of one world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Those that hold a single resource, if no two have the same.
    Single,
    /// All.
    All,
}

/// Names of directories for resources of one type.
const TYPE_FOLDERS: [(ResourceType, &[&str]); 4] = [
    (ResourceType::Listener, &["listeners", "listener", "lds"]),
    (
        ResourceType::RouteConfiguration,
        &["routes", "route", "rds", "route_configurations", "route-configurations"],
    ),
    (ResourceType::Cluster, &["clusters", "cluster", "cds"]),
    (
        ResourceType::Endpoints,
        &["endpoints", "endpoint", "eds", "load_assignments", "load-assignments"],
    ),
];

/// A document that may be a part.
struct Part {
    world: WorldId,
    source: SourceId,
    /// The number of its only resource; `None` if it has several.
    only: Option<usize>,
}

/// Gives the documents of each directory one world. Their own worlds stay behind empty.
pub(super) fn fuse(
    checked: &mut [Checked],
    loader: &mut Loader,
    directories: &BTreeMap<SourceId, PathBuf>,
    wanted: Parts,
) {
    let mut groups: BTreeMap<PathBuf, Vec<Part>> = BTreeMap::new();
    for part in parts(checked, loader) {
        if let Some(directory) = directories.get(&part.source)
            && (wanted == Parts::All || part.only.is_some())
        {
            groups.entry(directory.clone()).or_default().push(part);
        }
    }
    if wanted == Parts::Single {
        groups = without_type_folders(groups, checked);
    }
    let mut homes: BTreeMap<WorldId, WorldId> = BTreeMap::new();
    for (directory, parts) in groups {
        let Some(first) = parts.first().filter(|_| parts.len() > 1) else {
            continue;
        };
        if wanted == Parts::Single
            && let Some((one, other)) = twice(&parts, checked)
        {
            loader.findings.push(apart(&directory, one, other));
            continue;
        }
        let home = loader.world(first.source, Some(directory.display().to_string()));
        homes.extend(parts.iter().map(|part| (part.world, home)));
    }
    for checked in checked {
        checked.world = homes.get(&checked.world).copied().unwrap_or(checked.world);
    }
    for response in &mut loader.responses {
        response.world = response.world.map(|own| homes.get(&own).copied().unwrap_or(own));
    }
}

/// The documents that are worlds of their own, and have a resource.
fn parts(checked: &[Checked], loader: &Loader) -> Vec<Part> {
    let mut parts: BTreeMap<WorldId, Part> = BTreeMap::new();
    for (number, checked) in checked.iter().enumerate() {
        let Some(WorldName { source, scope: None }) = loader.worlds.get(checked.world.0 as usize) else {
            continue;
        };
        let only = match parts.contains_key(&checked.world) {
            false => Some(number),
            true => None,
        };
        let (world, source) = (checked.world, *source);
        parts.insert(world, Part { world, source, only });
    }
    parts.into_values().collect()
}

/// Moves what stands in a directory that is named for its type into the one around it.
fn without_type_folders(groups: BTreeMap<PathBuf, Vec<Part>>, checked: &[Checked]) -> BTreeMap<PathBuf, Vec<Part>> {
    let mut moved: BTreeMap<PathBuf, Vec<Part>> = BTreeMap::new();
    for (directory, parts) in groups {
        let type_of = |part: &Part| checked.get(part.only?)?.resource_type;
        let is_folder = named_for(&directory).is_some_and(|folder| {
            parts
                .iter()
                .all(|part| type_of(part).is_none_or(|found| found == folder))
        });
        let home = match directory.parent().filter(|_| is_folder) {
            Some(parent) => parent.to_owned(),
            None => directory,
        };
        moved.entry(home).or_default().extend(parts);
    }
    for parts in moved.values_mut() {
        parts.sort_by_key(|part| part.only);
    }
    moved
}

fn named_for(directory: &Path) -> Option<ResourceType> {
    let name = directory.file_name()?.to_str()?;
    let mut folders = TYPE_FOLDERS.into_iter();
    folders.find(|(_, names)| names.contains(&name)).map(|(found, _)| found)
}

/// Two parts that are the same resource.
fn twice<'c>(parts: &[Part], checked: &'c [Checked]) -> Option<(&'c Checked, &'c Checked)> {
    let mut seen = BTreeMap::new();
    let resources = parts.iter().filter_map(|part| checked.get(part.only?));
    for resource in resources.filter(|c| c.resource_type.is_some() && !c.name.is_empty()) {
        if let Some(first) = seen.insert((resource.resource_type, &resource.name), resource) {
            return Some((first, resource));
        }
    }
    None
}

/// Says that the documents of a directory are not one client's.
fn apart(directory: &Path, one: &Checked, other: &Checked) -> Finding {
    let kind = one.resource_type.map_or("", ResourceType::short_name);
    let message = format!(
        "{kind} `{}` stands in two files of `{}`: they are not one client's, and each file is checked alone",
        one.name,
        directory.display()
    );
    let mut diagnostic = Diagnostic::of_whole(&DUPLICATE_RESOURCE, message);
    diagnostic.help("rename one, keep each environment in a directory of its own, or say which it is with --world");
    Finding {
        source: other.origin.source,
        span: Span::new(other.origin.span.start, other.origin.span.start),
        diagnostic,
    }
}
