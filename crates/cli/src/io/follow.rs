//! Path-based config sources: reads the files from which an Envoy bootstrap takes resources into
//! the bootstrap's world.
//!
//! Files outside of the bootstrap's directory are refused, unless the command line allows them.
//!
//! Paths are relative to the bootstrap, because `validate` runs where the files are kept and not
//! where Envoy will run. In each world, a file is read once even if several name it, so loops end.
//! A file that is also an argument is not read again; it moves into the world of the bootstrap.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::input::{Inputs, cannot_read};
use super::reach::canonical;
use xdsctl_channel::client::{Keep, Reading};
use xdsctl_document::envelope::{LoadOptions, PATH_SOURCE_UNREADABLE, PathSource, WorldId};
use xdsctl_document::source::SourceId;

/// The most files that are followed in total.
const MAX_FILES: usize = 1000;

/// Reads every file that is named, and the files that these name in turn.
pub(crate) fn path_sources(inputs: &mut Inputs, keep: Keep, reading: &mut Reading) {
    let mut given = BTreeMap::new();
    let mut seen: BTreeSet<(WorldId, PathBuf)> = BTreeSet::new();
    let reach = inputs.reach.clone();
    let mut next = 0;
    loop {
        let named = reading.path_sources(next).to_vec();
        if named.is_empty() {
            return;
        }
        if next == 0 {
            // Resolve the names of all documents only now, because most documents name no file.
            given = resolved_documents(inputs);
        }
        next += named.len();
        let mut found = Vec::new();
        for path_source in &named {
            let directory = directory_of(inputs, reading, path_source);
            let path = directory.join(&path_source.path);
            let key = resolved(&path);
            if !seen.insert((path_source.world, key.clone())) {
                continue;
            }
            if let Some(source) = given.get(&key) {
                reading.adopt(*source, path_source.world);
                continue;
            }
            let allowed = reach.check(&path, &directory);
            if let (Err(source), true) = (allowed, seen.len() <= MAX_FILES) {
                inputs.unread.push(cannot_read(&path, source));
                continue;
            }
            match open(inputs, &path, seen.len()) {
                Ok(id) => found.push((id, path_source.world)),
                Err(why) => {
                    let message = format!("cannot read `{}`: {why}", path.display());
                    reading
                        .loader_mut()
                        .report(path_source.source, &PATH_SOURCE_UNREADABLE, path_source.span, message);
                }
            }
        }
        read(inputs, &found, keep, reading);
    }
}

/// Returns the directory of the bootstrap, at which its paths start.
fn directory_of(inputs: &Inputs, reading: &Reading, path_source: &PathSource) -> PathBuf {
    let world = reading.loader().worlds.get(path_source.world.0 as usize);
    let bootstrap = world.and_then(|world| inputs.sources.get(world.source));
    let directory = bootstrap.and_then(|source| Path::new(source.name()).parent());
    directory.unwrap_or(Path::new("")).to_owned()
}

fn resolved_documents(inputs: &Inputs) -> BTreeMap<PathBuf, SourceId> {
    let named = |id: &SourceId| Some((resolved(Path::new(inputs.sources.get(*id)?.name())), *id));
    inputs.documents.iter().filter_map(named).collect()
}

/// Returns the path without links, to identify the file. Returns the path as it is if there is no
/// such file.
fn resolved(path: &Path) -> PathBuf {
    canonical(path).unwrap_or_else(|_| path.to_owned())
}

/// Opens a file. It must be regular, because a pipe or a device might never end.
fn open(inputs: &mut Inputs, path: &Path, number: usize) -> Result<SourceId, String> {
    if number > MAX_FILES {
        return Err(format!("more than {MAX_FILES} files are named"));
    }
    let metadata = path.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    inputs.sources.add_file(path).map_err(|error| error.to_string())
}

fn read(inputs: &Inputs, files: &[(SourceId, WorldId)], keep: Keep, reading: &mut Reading) {
    reading.read(None, &inputs.validation_input(keep), |loader, emit| {
        for (id, world) in files {
            let options = LoadOptions {
                world: Some(*world),
                follow: true,
                ..LoadOptions::default()
            };
            if let Some(source) = inputs.sources.get(*id) {
                loader.document(*id, source, options, emit);
            }
        }
    });
}
