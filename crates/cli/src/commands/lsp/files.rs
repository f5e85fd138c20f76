//! The documents of a project: files, with the editor's text for those that are open.
//!
//! A file is read again when its time or size has changed. The directory is listed again after a
//! while, or when the editor reports a change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use crate::io::files::{self, is_document};
use crate::io::reach::AllowedDirectories;
use crate::session::suite;
use xdsctl_document::source::{Source, SourceMap};
use xdsctl_lsp::OpenTexts;
use xdsctl_suite::{Suite, SuiteFault};

/// The number of files and directories that are searched for a project that nobody has named.
const MAX_ENTRIES: usize = 20_000;

/// The number of documents that a project may have.
const MAX_DOCUMENTS: usize = 2_000;

/// The number of bytes that the documents of a project may have.
const MAX_PROJECT_BYTES: u64 = 256 << 20;

/// How long a list of files is used before the directory is listed again.
const PATIENCE: Duration = Duration::from_secs(2);

/// A document and what is known about it.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub source: Arc<Source>,
    /// The document's faults as a suite; `None` if it is not a suite.
    suite: Arc<OnceLock<Option<Vec<SuiteFault>>>>,
}

impl Document {
    fn of(source: &Arc<Source>) -> Document {
        Document {
            source: Arc::clone(source),
            suite: Arc::default(),
        }
    }

    /// Returns the document's faults as a suite; `None` if it is not a suite.
    pub fn faults(&self) -> Option<&[SuiteFault]> {
        let read = || suite::is_one(&self.source).then(|| Suite::read(&self.source).err().unwrap_or_default());
        self.suite.get_or_init(read).as_deref()
    }
}

/// The files and open texts that have been read.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Each file that was read, with its time and size at that time.
    read: BTreeMap<PathBuf, ((SystemTime, u64), Document)>,
    /// The texts of open documents.
    open: BTreeMap<PathBuf, (Arc<str>, Document)>,
    /// The files of each project, and when they were listed.
    listed: BTreeMap<PathBuf, (Vec<PathBuf>, Instant)>,
}

impl Files {
    /// Forgets the lists of files, so that they are made again.
    pub fn forget(&mut self) {
        self.listed.clear();
    }

    /// Says whether a directory is small enough for a project and has the file among its documents.
    pub fn has(&mut self, directory: &Path, file: &Path) -> bool {
        let is_in = |files: &Vec<PathBuf>| {
            let is_settings = file.file_name().is_some_and(|name| name == crate::config::FILE_NAME);
            is_settings
                || is_document(file)
                    && file.starts_with(directory)
                    && (!file.exists() || files.iter().any(|one| one == file))
        };
        list(directory).is_some_and(|files| {
            let fits = is_in(&files);
            self.listed.insert(directory.to_owned(), (files, Instant::now()));
            fits
        })
    }

    /// Returns the documents of a project in the order of their names.
    pub fn documents(&mut self, project: &Path, open: &OpenTexts) -> Vec<Document> {
        let mut files: BTreeSet<PathBuf> = match project.is_dir() {
            true => self.of_directory(project).into_iter().collect(),
            false if super::settings::may_be_policies(project) => BTreeSet::new(),
            false => BTreeSet::from([project.to_owned()]),
        };
        files.extend(open.keys().filter(|file| is_document(file)).cloned());
        self.open.retain(|file, _| open.contains_key(file));
        let documents = files.iter().filter_map(|file| match open.get(file) {
            Some(open) => Some(self.opened(file, &open.text)),
            None => self.file(file),
        });
        documents.collect()
    }

    fn of_directory(&mut self, directory: &Path) -> Vec<PathBuf> {
        match self.listed.get(directory) {
            Some((files, when)) if when.elapsed() < PATIENCE => files.clone(),
            _ => {
                let files = list(directory).unwrap_or_default();
                let known: BTreeSet<&PathBuf> = files.iter().collect();
                // Times and sizes are checked as often as the list is made.
                self.read.retain(|file, (stamp, _)| {
                    !file.starts_with(directory) || known.contains(file) && Some(*stamp) == stamp_of(file)
                });
                self.listed
                    .insert(directory.to_owned(), (files.clone(), Instant::now()));
                files
            }
        }
    }

    fn opened(&mut self, file: &Path, text: &Arc<str>) -> Document {
        let source = match self.open.get(file) {
            Some((known, document)) if Arc::ptr_eq(known, text) => return document.clone(),
            Some((_, document)) => document.source.edited(text),
            None => Source::of(file.display().to_string(), text.as_bytes().to_vec()),
        };
        let document = Document::of(&Arc::new(source));
        self.open.insert(file.to_owned(), (Arc::clone(text), document.clone()));
        document
    }

    fn file(&mut self, file: &Path) -> Option<Document> {
        if let Some((_, document)) = self.read.get(file) {
            return Some(document.clone());
        }
        let stamp = stamp_of(file)?;
        let mut sources = SourceMap::new();
        let id = sources.add_file(file).ok()?;
        let document = Document::of(sources.shared(id)?);
        self.read.insert(file.to_owned(), (stamp, document.clone()));
        Some(document)
    }
}

/// Returns the time and size of a regular file.
fn stamp_of(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Returns the documents below a directory; `None` if it is too large for a project.
fn list(directory: &Path) -> Option<Vec<PathBuf>> {
    let reach = AllowedDirectories::of([&directory.to_owned()]);
    let found = files::find_some(directory, &reach, MAX_ENTRIES)?;
    let bytes = found.files.iter().filter_map(|file| Some(stamp_of(file)?.1));
    let fits = found.files.len() <= MAX_DOCUMENTS && bytes.sum::<u64>() <= MAX_PROJECT_BYTES;
    fits.then_some(found.files)
}
