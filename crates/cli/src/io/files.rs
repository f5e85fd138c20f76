//! Decides which files a command reads: those that are named, and the documents below directories.
//!
//! A named file is read whatever it is, even a pipe: a user who names `/dev/stdin` or `<(command)`
//! wants to wait for it. Below a directory, only regular files and links to them are documents. A
//! pipe or a device there is skipped with a note, because it might never end. A directory is
//! searched once, however many links lead to it. A file that cannot be read does not stop the
//! command, which reads the rest and ends with exit code 2. The same holds for a link out of the
//! directory, and for a name that is not UTF-8: two such names would look alike, and one would
//! replace the other.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::reach::{AllowedDirectories, canonical};

/// The file extensions that are searched for in directories.
pub(crate) const ENDINGS: [&str; 12] = [
    "json",
    "jsonl",
    "ndjson",
    "yaml",
    "yml",
    "textproto",
    "textpb",
    "txtpb",
    "pbtxt",
    "prototext",
    "pb",
    "binpb",
];

/// The message for a file that cannot be read because of its name.
pub(crate) const NOT_UTF_8: &str = "its name is not UTF-8: give it another one";

/// The number of levels of directories that are searched below a named one.
pub(crate) const MAX_DIRECTORY_DEPTH: usize = 32;

/// The files that a path of the command line stands for.
#[derive(Debug, Default)]
pub(crate) struct FoundFiles {
    /// The files. Those of a directory are in the order of their names.
    pub files: Vec<PathBuf>,
    /// Whether the files are in a directory that was searched.
    pub is_directory: bool,
    /// The files that cannot be read, and why.
    pub failures: Vec<(PathBuf, io::Error)>,
    /// Entries with the name of a document that are not files.
    pub passed_over: Vec<PathBuf>,
}

/// Looks up a path that the user named.
pub(crate) fn find(path: &Path, reach: &AllowedDirectories) -> FoundFiles {
    find_some(path, reach, usize::MAX).unwrap_or_default()
}

/// Looks up a path that nobody has named. Returns `None` if there are more than `most` files and
/// directories to look at.
pub(crate) fn find_some(path: &Path, reach: &AllowedDirectories, most: usize) -> Option<FoundFiles> {
    let mut search = Search {
        found: FoundFiles::default(),
        seen: BTreeSet::new(),
        links: Vec::new(),
        root: path,
        reach,
        left: most,
    };
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            search.found.is_directory = true;
            search.all(path);
        }
        Ok(_) => search.file(path),
        Err(error) => search.fail(path, error),
    }
    let left = search.left;
    let mut found = search.found;
    found.files.sort_unstable();
    found.failures.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    found.passed_over.sort_unstable();
    (left > 0).then_some(found)
}

#[derive(Debug)]
struct Search<'s> {
    found: FoundFiles,
    /// The directories that have been searched, without links.
    seen: BTreeSet<PathBuf>,
    /// Links to directories. They wait until every directory has been searched under its own name.
    links: Vec<(PathBuf, usize)>,
    /// The directory that is being searched.
    root: &'s Path,
    /// Further directories to which links may lead.
    reach: &'s AllowedDirectories,
    /// How many files and directories may still be looked at.
    left: usize,
}

impl Search<'_> {
    fn all(&mut self, path: &Path) {
        self.directory(path, MAX_DIRECTORY_DEPTH);
        let mut next = 0;
        while let Some((link, depth)) = self.links.get(next).cloned() {
            next += 1;
            self.directory(&link, depth);
        }
    }

    fn fail(&mut self, path: &Path, error: io::Error) {
        self.found.failures.push((path.to_owned(), error));
    }

    /// Adds a file, if its name can be told from others.
    fn file(&mut self, path: &Path) {
        match path.to_str() {
            Some(_) => self.found.files.push(path.to_owned()),
            None => self.fail(path, io::Error::other(NOT_UTF_8)),
        }
    }

    fn directory(&mut self, path: &Path, depth: usize) {
        let resolved = match canonical(path) {
            Ok(resolved) => resolved,
            Err(error) => return self.fail(path, error),
        };
        if self.seen.contains(&resolved) {
            return;
        }
        if depth == 0 {
            let message = format!("more than {MAX_DIRECTORY_DEPTH} directories inside each other");
            return self.fail(path, io::Error::other(message));
        }
        self.seen.insert(resolved);
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => return self.fail(path, error),
        };
        let mut names = Vec::new();
        for entry in entries {
            self.left = self.left.saturating_sub(1);
            if self.left == 0 {
                return;
            }
            match entry {
                Ok(entry) => names.push(entry.path()),
                Err(error) => return self.fail(path, error),
            }
        }
        // The order decides which of two links to the same directory is followed.
        names.sort_unstable();
        for name in names.iter().filter(|name| !is_hidden(name)) {
            self.entry(name, depth - 1);
        }
    }

    fn entry(&mut self, path: &Path, depth: usize) {
        let is_document = has_ending(path);
        let metadata = fs::metadata(path);
        let may_be_read = |metadata: &fs::Metadata| metadata.is_dir() || is_document && metadata.is_file();
        if metadata.as_ref().is_ok_and(may_be_read)
            && path.is_symlink()
            && let Err(error) = self.reach.check(path, self.root)
        {
            return self.fail(path, error);
        }
        match metadata {
            Ok(metadata) if metadata.is_dir() => {
                if path.is_symlink() {
                    self.links.push((path.to_owned(), depth));
                } else {
                    self.directory(path, depth);
                }
            }
            Ok(metadata) if is_document && metadata.is_file() => self.file(path),
            Ok(_) if is_document => self.found.passed_over.push(path.to_owned()),
            Ok(_) => {}
            // This is a link to nothing, or to itself. It is reported if it has the name of a
            // document.
            Err(error) if is_document => self.fail(path, error),
            Err(_) => {}
        }
    }
}

/// Says whether a file with this name is a document in a directory.
pub(crate) fn is_document(path: &Path) -> bool {
    has_ending(path) && !is_hidden(path)
}

fn has_ending(path: &Path) -> bool {
    ending(path).is_some()
}

/// Returns the extension by which the file's format is known, in lower case.
pub(crate) fn ending(path: &Path) -> Option<&'static str> {
    let written = path.extension()?.to_str()?;
    ENDINGS.into_iter().find(|ending| ending.eq_ignore_ascii_case(written))
}

fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with('.'))
}
