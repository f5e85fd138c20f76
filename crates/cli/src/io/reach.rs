//! How far the files of a run may reach: what a file names, or a link in a directory leads to,
//! stays below the directory where it stands, unless the command line allows more with
//! `--allow-read`.
//!
//! A suite, a settings file or a dump may come from somebody who may not read what the reader of
//! the report may: a pull request, say. What is refused is not opened, so that no report can quote
//! it.

use std::io;
use std::path::{Path, PathBuf};

/// Longest name of a file that is looked up; no system has longer ones.
const MAX_PATH_BYTES: usize = 1 << 15;

/// Directories from which files may be read, whoever names them.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllowedDirectories {
    directories: Vec<PathBuf>,
    is_unbounded: bool,
}

impl AllowedDirectories {
    /// Below these directories; those that are not there allow nothing.
    pub fn of<'p>(directories: impl IntoIterator<Item = &'p PathBuf>) -> AllowedDirectories {
        let directories = directories.into_iter().filter(|path| path.is_dir());
        AllowedDirectories {
            directories: directories.map(|path| resolved(path)).collect(),
            is_unbounded: false,
        }
    }

    /// Everywhere, for what the command line itself names.
    pub const fn unbounded() -> AllowedDirectories {
        AllowedDirectories {
            directories: Vec::new(),
            is_unbounded: true,
        }
    }

    /// Below these, and in the directories of these files.
    pub fn around<'p>(named: impl IntoIterator<Item = &'p PathBuf>) -> AllowedDirectories {
        let around = named.into_iter().map(|path| match path.is_dir() {
            true => path.clone(),
            false => directory_of(path).to_owned(),
        });
        AllowedDirectories::of(&around.collect::<Vec<_>>())
    }

    /// Says whether a path without links is below one of them.
    pub fn has(&self, resolved: &Path) -> bool {
        self.is_unbounded || self.directories.iter().any(|allowed| resolved.starts_with(allowed))
    }

    /// Fails if `path`, which something in `directory` names, is neither below that nor allowed.
    pub fn check(&self, path: &Path, directory: &Path) -> io::Result<()> {
        if path.as_os_str().len() > MAX_PATH_BYTES {
            return Err(io::Error::other(format!(
                "its name has more than {MAX_PATH_BYTES} bytes"
            )));
        }
        let (target, own) = (resolved(path), resolved(directory));
        if target.starts_with(&own) || self.has(&target) {
            return Ok(());
        }
        // A link leads somewhere else than it stands.
        let is_link = || target.parent() != Some(&resolved(directory_of(path)));
        let allowed = target.parent().filter(|_| is_link()).unwrap_or(directory_of(path));
        let (own, allowed) = (own.display(), allowed.display());
        Err(io::Error::other(format!(
            "it is not below `{own}`, where it is named: `--allow-read {allowed}` allows it"
        )))
    }
}

/// Where a file stands.
pub(crate) fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}

/// The path without links, of what is there.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// As above: the files of a page in a browser are in memory, where there are no links, and WASI has
/// no call for it.
#[cfg(target_family = "wasm")]
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    use std::path::Component;
    std::fs::metadata(path)?;
    let mut whole = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => whole.push(name),
            Component::ParentDir => drop(whole.pop()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    Ok(whole)
}

/// The path without links; what is not there is below the last directory that is.
fn resolved(path: &Path) -> PathBuf {
    let mut there = if path == Path::new("") { Path::new(".") } else { path };
    let mut names = Vec::new();
    loop {
        if let Ok(resolved) = canonical(there) {
            return names.iter().rev().fold(resolved, |path, name| path.join(name));
        }
        let Some(name) = there.file_name() else {
            // `..` behind something that is not there.
            return PathBuf::new();
        };
        names.push(name);
        there = directory_of(there);
    }
}
