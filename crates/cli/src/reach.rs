//! How far the files of a run may reach: what a file names, or a link in a directory leads to, stays below the directory where it
//! stands, unless the command line allows more with `--allow-read`.
//!
//! A suite, a settings file or a dump may come from somebody who may not read what the reader of the report may: a pull request, say.
//! What is refused is not opened, so that no report can quote it.

use std::io;
use std::path::{Path, PathBuf};

/// Directories from which files may be read, whoever names them.
#[derive(Debug, Clone, Default)]
pub(super) struct Reach {
    directories: Vec<PathBuf>,
    is_unbounded: bool,
}

impl Reach {
    /// Below these directories; those that are not there allow nothing.
    pub fn of<'p>(directories: impl IntoIterator<Item = &'p PathBuf>) -> Reach {
        let directories = directories.into_iter().filter(|path| path.is_dir());
        Reach {
            directories: directories.map(|path| resolved(path)).collect(),
            is_unbounded: false,
        }
    }

    /// Everywhere, for what the command line itself names.
    pub const fn unbounded() -> Reach {
        Reach {
            directories: Vec::new(),
            is_unbounded: true,
        }
    }

    /// Below these, and in the directories of these files.
    pub fn around<'p>(named: impl IntoIterator<Item = &'p PathBuf>) -> Reach {
        let around = named.into_iter().map(|path| match path.is_dir() {
            true => path.clone(),
            false => directory_of(path).to_owned(),
        });
        Reach::of(&around.collect::<Vec<_>>())
    }

    /// Says whether a path without links is below one of them.
    pub fn has(&self, resolved: &Path) -> bool {
        self.is_unbounded || self.directories.iter().any(|allowed| resolved.starts_with(allowed))
    }

    /// Fails if `path`, which something in `directory` names, is neither below that nor allowed.
    pub fn check(&self, path: &Path, directory: &Path) -> io::Result<()> {
        let (target, own) = (resolved(path), resolved(directory));
        if target.starts_with(&own) || self.has(&target) {
            return Ok(());
        }
        let (own, allowed) = (own.display(), directory_of(path).display());
        Err(io::Error::other(format!(
            "it is not below `{own}`, where it is named: `--allow-read {allowed}` allows it"
        )))
    }
}

/// Where a file stands.
pub(super) fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}

/// The path without links; what is not there is below the last directory that is.
fn resolved(path: &Path) -> PathBuf {
    let path = if path == Path::new("") { Path::new(".") } else { path };
    if let Ok(resolved) = path.canonicalize() {
        return resolved;
    }
    match path.file_name() {
        Some(name) => resolved(directory_of(path)).join(name),
        // `..` behind something that is not there.
        None => PathBuf::new(),
    }
}
