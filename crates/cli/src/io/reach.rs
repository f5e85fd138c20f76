//! Limits which files a run may read. A file that another file names, or to which a link in a
//! directory leads, must be below the directory of that file or link, unless the command line
//! allows more with `--allow-read`.
//!
//! A suite, a settings file or a dump may come from somebody with fewer rights than the reader of
//! the report, for example in a pull request. A refused file is not opened, so no report can quote
//! it.

use std::io;
use std::path::{Path, PathBuf};

/// The length in bytes of the longest file name that is looked up. No system has longer ones.
const MAX_PATH_BYTES: usize = 1 << 15;

/// Directories from which files may be read, whoever names the files.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllowedDirectories {
    directories: Vec<PathBuf>,
    is_unbounded: bool,
}

impl AllowedDirectories {
    /// Allows these directories and everything below. Directories that do not exist allow nothing.
    pub fn of<'p>(directories: impl IntoIterator<Item = &'p PathBuf>) -> AllowedDirectories {
        let directories = directories.into_iter().filter(|path| path.is_dir());
        AllowedDirectories {
            directories: directories.map(|path| resolved(path)).collect(),
            is_unbounded: false,
        }
    }

    /// Allows everything, for files that the command line itself names.
    pub const fn unbounded() -> AllowedDirectories {
        AllowedDirectories {
            directories: Vec::new(),
            is_unbounded: true,
        }
    }

    /// Allows the directories among these paths, and the directories of the files among them.
    pub fn around<'p>(named: impl IntoIterator<Item = &'p PathBuf>) -> AllowedDirectories {
        let around = named.into_iter().map(|path| match path.is_dir() {
            true => path.clone(),
            false => directory_of(path).to_owned(),
        });
        AllowedDirectories::of(&around.collect::<Vec<_>>())
    }

    /// Says whether a path without links is below one of the directories.
    pub fn has(&self, resolved: &Path) -> bool {
        self.is_unbounded || self.directories.iter().any(|allowed| resolved.starts_with(allowed))
    }

    /// Fails if `path`, which something in `directory` names, is neither below that directory nor
    /// allowed.
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
        // A link leads to another directory than its own.
        let is_link = || target.parent() != Some(&resolved(directory_of(path)));
        let allowed = target.parent().filter(|_| is_link()).unwrap_or(directory_of(path));
        let (own, allowed) = (own.display(), allowed.display());
        Err(io::Error::other(format!(
            "it is not below `{own}`, where it is named: `--allow-read {allowed}` allows it"
        )))
    }
}

/// Returns the directory of a file.
pub(crate) fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}

/// Returns the path of an existing file without links.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Returns the path of an existing file. In a browser, files are in memory, where there are no
/// links. WASI has no call for resolving them.
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

/// Returns the path without links. The part of it that does not exist is appended as it is.
fn resolved(path: &Path) -> PathBuf {
    let mut there = if path == Path::new("") { Path::new(".") } else { path };
    let mut names = Vec::new();
    loop {
        if let Ok(resolved) = canonical(there) {
            return names.iter().rev().fold(resolved, |path, name| path.join(name));
        }
        let Some(name) = there.file_name() else {
            // The path has `..` after something that does not exist.
            return PathBuf::new();
        };
        names.push(name);
        there = directory_of(there);
    }
}
