//! Detects whether files have changed, by their sizes and times, for commands that check them once
//! in a while.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::files;
use super::reach::AllowedDirectories;

/// The sizes and times of the files that paths of the command line stand for.
#[derive(Debug, PartialEq)]
pub(crate) struct FileStamps(Vec<(PathBuf, u64, Option<SystemTime>)>);

impl FileStamps {
    /// Reads the sizes and times now.
    pub fn of(paths: &[PathBuf]) -> FileStamps {
        let named = paths.iter().filter(|path| path.as_os_str() != "-");
        let found = named
            .filter(|path| path.exists())
            .flat_map(|path| files::find(path, &AllowedDirectories::unbounded()).files);
        let facts = found.map(|path| {
            let metadata = path.metadata().ok();
            let size = metadata.as_ref().map_or(0, Metadata::len);
            let time = metadata.and_then(|metadata| metadata.modified().ok());
            (path, size, time)
        });
        FileStamps(facts.collect())
    }

    /// Returns the files that are here and no longer in `now`.
    pub fn gone<'s>(&'s self, now: &'s FileStamps) -> impl Iterator<Item = &'s Path> {
        let is_gone = |path: &&PathBuf| now.0.iter().all(|(other, ..)| other != *path);
        self.0
            .iter()
            .map(|(path, ..)| path)
            .filter(is_gone)
            .map(PathBuf::as_path)
    }
}
