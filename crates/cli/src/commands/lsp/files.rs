//! The documents of a project: files, and the texts of those that are open in the editor.
//!
//! A file is read again when its time or size has changed, and which files there are is looked up
//! again after a while, or when the editor says that something has changed.

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

/// Files and directories that are looked through for a project which nobody has named.
const MAX_ENTRIES: usize = 20_000;

/// Documents of a project.
const MAX_DOCUMENTS: usize = 2_000;

/// Bytes of the documents of a project.
const MAX_PROJECT_BYTES: u64 = 256 << 20;

/// How long it is not looked again which files there are.
const PATIENCE: Duration = Duration::from_secs(2);

/// A document and what is known of it.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub source: Arc<Source>,
    /// What is wrong with it as a suite; `None` if it is none.
    suite: Arc<OnceLock<Option<Vec<SuiteFault>>>>,
}

impl Document {
    fn of(source: &Arc<Source>) -> Document {
        Document {
            source: Arc::clone(source),
            suite: Arc::default(),
        }
    }

    /// What is wrong with it as a suite; `None` if it is none.
    pub fn faults(&self) -> Option<&[SuiteFault]> {
        let read = || suite::is_one(&self.source).then(|| Suite::read(&self.source).err().unwrap_or_default());
        self.suite.get_or_init(read).as_deref()
    }
}

/// What is known of files.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// What was read of each file, with its time and size then.
    read: BTreeMap<PathBuf, ((SystemTime, u64), Document)>,
    /// The texts of open documents.
    open: BTreeMap<PathBuf, (Arc<str>, Document)>,
    /// The files of each project, and when they were looked up.
    listed: BTreeMap<PathBuf, (Vec<PathBuf>, Instant)>,
}

impl Files {
    /// Looks everything up again.
    pub fn forget(&mut self) {
        self.listed.clear();
    }

    /// Says whether a directory is small enough for a project, and has the file among its
    /// documents.
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

    /// The documents of a project in the order of their names.
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
                self.read
                    .retain(|file, _| !file.starts_with(directory) || known.contains(file));
                // Their times are looked at as often.
                for file in &files {
                    let is_same = self
                        .read
                        .get(file)
                        .is_none_or(|(stamp, _)| Some(*stamp) == stamp_of(file));
                    if !is_same {
                        self.read.remove(file);
                    }
                }
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

/// The time and size of a regular file.
fn stamp_of(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The documents below a directory; `None` if it is too large for a project.
fn list(directory: &Path) -> Option<Vec<PathBuf>> {
    let reach = AllowedDirectories::of([&directory.to_owned()]);
    let found = files::find_some(directory, &reach, MAX_ENTRIES)?;
    let bytes = found.files.iter().filter_map(|file| Some(stamp_of(file)?.1));
    let fits = found.files.len() <= MAX_DOCUMENTS && bytes.sum::<u64>() <= MAX_PROJECT_BYTES;
    fits.then_some(found.files)
}
