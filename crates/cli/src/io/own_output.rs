//! Reports and baselines of earlier runs that are among the inputs. They are not documents.
//!
//! A command whose reports go into the directory that it checks finds them there on its next run.
//! The files that are skipped are named; a file that begins like a report but holds resources is
//! read. A file named on the command line is always read, and a file with other content is never
//! silently overwritten.

use std::path::{Path, PathBuf};

use super::input::Inputs;
use super::reach::canonical;
use crate::args::ReportDestination;
use crate::{Error, Io};
use xdsctl_document::envelope::{Finding, LoadOptions, Loader};
use xdsctl_document::source::{Source, SourceId};
use xdsctl_lint::choice::Baseline;
use xdsctl_model::diag::Severity;

/// The number of skipped files that are named.
const NAMES_SHOWN: usize = 10;

/// The number of bytes at the start of a file by which a report is recognised.
pub(crate) const HEAD: usize = 80;

/// The beginnings of reports that have none of xdsctl's schemas. tests/outputs.rs writes one of
/// each.
const FORMS: [&str; 3] = [
    r#"{"$schema":"https://json.schemastore.org/sarif-2.1.0.json""#,
    r#"[{"description":"#,
    "[]",
];

/// The files that this run writes.
#[derive(Debug)]
pub(crate) struct OwnOutput {
    reports: Vec<PathBuf>,
    baselines: Vec<PathBuf>,
}

impl OwnOutput {
    /// Returns the report files of `destinations` and the `baselines` that exist already.
    pub fn of<'p>(destinations: &[ReportDestination], baselines: impl Iterator<Item = &'p Path>) -> OwnOutput {
        let reports = destinations.iter().filter_map(|d| canonical(d.file.as_deref()?).ok());
        OwnOutput {
            reports: reports.collect(),
            baselines: baselines.filter_map(|path| canonical(path).ok()).collect(),
        }
    }

    /// Says whether a file that was found is a report of an earlier run, by its first [`HEAD`]
    /// bytes.
    pub fn is_report(&self, file: &Path, head: &[u8]) -> bool {
        let head = head.get(..HEAD).unwrap_or(head);
        let text: String = String::from_utf8_lossy(head).split_ascii_whitespace().collect();
        text.starts_with(r#"{"schema":"xdsctl."#)
            || (text.is_empty() || FORMS.iter().any(|form| text.starts_with(form))) && is_one_of(file, &self.reports)
    }

    /// Removes the command's own outputs from the documents that were found, and prints their
    /// names.
    ///
    /// # Errors
    /// All documents are the command's own outputs.
    pub fn leave_out(&self, inputs: &mut Inputs, io: &mut Io<'_>) -> Result<(), Error> {
        let is_own = |id: &SourceId| {
            let Some(source) = inputs.sources.get(*id).filter(|_| inputs.found.contains(id)) else {
                return false;
            };
            let (file, bytes) = (Path::new(source.name()), source.bytes());
            // A file that is named as a baseline but is not one stays a document. So the user is
            // warned before it is overwritten.
            let begins_so =
                self.is_report(file, bytes) || is_one_of(file, &self.baselines) && Baseline::read(bytes).is_ok();
            begins_so && holds_nothing(*id, source)
        };
        let (own, others): (Vec<SourceId>, Vec<SourceId>) = inputs.documents.iter().partition(|id| is_own(id));
        let names = own.iter().filter_map(|id| Some(inputs.sources.get(*id)?.name()));
        self.tell(names, io)?;
        if !own.is_empty() && others.is_empty() {
            return Err(Error::Nothing("no file but reports and baselines of xdsctl".to_owned()));
        }
        inputs.documents = others;
        Ok(())
    }

    /// Prints the names of the skipped files, at most ten. Files that the command line names are
    /// not mentioned.
    pub fn tell<'n>(&self, names: impl Iterator<Item = &'n str>, io: &mut Io<'_>) -> Result<(), Error> {
        let is_known = |name: &&str| {
            let file = Path::new(name);
            is_one_of(file, &self.reports) || is_one_of(file, &self.baselines)
        };
        let names: Vec<&str> = names.filter(|name| !is_known(name)).collect();
        for name in names.iter().take(NAMES_SHOWN) {
            say!(io.err, "xdsctl: `{name}` is passed over: it is a report of xdsctl")?;
        }
        if let Some(more) = names.len().checked_sub(NAMES_SHOWN).filter(|more| *more > 0) {
            say!(io.err, "xdsctl: {more} more reports of xdsctl are passed over")?;
        }
        Ok(())
    }
}

/// Says whether a document that begins like a report is one to its end: it is complete, and has no
/// resource in it.
pub(crate) fn holds_nothing(id: SourceId, source: &Source) -> bool {
    let mut loader = Loader::default();
    let mut has_resources = false;
    loader.document(id, source, LoadOptions::default(), &mut |resources| {
        has_resources |= !resources.is_empty()
    });
    let is_fault = |finding: &Finding| finding.diagnostic.rule.severity == Severity::Error;
    !has_resources && loader.bootstraps.is_empty() && !loader.findings.iter().any(is_fault)
}

/// Says whether a file is one of `resolved`; compares file names first, to save system calls.
fn is_one_of(file: &Path, resolved: &[PathBuf]) -> bool {
    resolved.iter().any(|one| one.file_name() == file.file_name())
        && canonical(file).is_ok_and(|file| resolved.contains(&file))
}
