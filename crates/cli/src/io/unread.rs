//! What could not be read of the inputs, and what follows from it: decided here, for every command.
//!
//! A command gets its resources from [`Inputs::read_worlds`], which asks this module. Nothing is
//! left for the command to do: what was not read is told on standard error, and the run cannot end
//! with exit code 0 ([`Incomplete`]). `validate` tells it as findings.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Remark;
use super::input::Inputs;
use crate::{Error, Io};
use xdsctl_channel::client::WorldSet;
use xdsctl_document::envelope::{EMPTY, EMPTY_RESPONSE, Finding, NO_RESOURCE};
use xdsctl_document::source::{SourceId, Span};
use xdsctl_model::diag::{Diagnostic, Severity};

/// Lines about one input at most.
const LINES_SHOWN: usize = 10;

/// Exit code for an answer that rests on input that could not be read in full.
const EXIT_INCOMPLETE: u8 = 1;

/// Says whether some of the input of a run could not be read. Streams of one run share it.
#[derive(Debug, Clone, Default)]
pub struct Incomplete(Arc<AtomicBool>);

impl Incomplete {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Some of the input could not be read.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The exit code of a run that would end with `code`: success needs all of the input.
    pub(crate) fn exit_code(&self, code: u8) -> u8 {
        if self.is_set() { code.max(EXIT_INCOMPLETE) } else { code }
    }
}

/// Tells what could not be read, and remembers that there was something.
///
/// # Errors
/// Not one document is of a known shape, or standard error cannot be written.
pub(crate) fn tell(world_set: &WorldSet, inputs: &Inputs, io: &mut Io<'_>) -> Result<(), Error> {
    let unread = unread(world_set, inputs);
    for line in unread.iter().take(LINES_SHOWN) {
        io.remark(Remark::Unread(line.clone()))?;
    }
    let unknown = unknown(world_set, inputs);
    let has_nothing = world_set.resources.is_empty() && world_set.bootstraps.is_empty();
    if let Some(first) = unknown
        .first()
        .filter(|_| has_nothing && unknown.len() == inputs.documents.len())
    {
        return Err(Error::Nothing(line(inputs, first)));
    }
    let is_told = |finding: &&&Finding| !is_unread(&finding.diagnostic);
    for finding in unknown.iter().filter(is_told).take(LINES_SHOWN) {
        io.remark(Remark::Note(format!("{}: it is passed over", line(inputs, finding))))?;
    }
    if unread.is_empty() {
        return Ok(());
    }
    if io.kept.is_none() {
        io.incomplete.set();
    }
    let more = unread.len().saturating_sub(LINES_SHOWN);
    let more = if more > 0 {
        format!("{more} more faults like these; ")
    } else {
        String::new()
    };
    io.remark(Remark::Incomplete(format!(
        "{more}the answer is based on incomplete input"
    )))?;
    if let Some(first) = unread.first() {
        io.annotate(&format_args!("{first}; the answer is based on incomplete input"));
    }
    Ok(())
}

/// Says whether a finding tells of input that is lost: an error, or nothing where something should
/// be.
fn is_unread(diagnostic: &Diagnostic) -> bool {
    diagnostic.rule.severity == Severity::Error || diagnostic.rule == &EMPTY
}

/// What of the input could not be read, or is not what it seems: every fault of a document, and of
/// a resource as text.
fn unread(world_set: &WorldSet, inputs: &Inputs) -> Vec<String> {
    let of_documents = world_set.findings.iter().filter(|found| is_unread(&found.diagnostic));
    let of_resources = world_set.resources.iter().flat_map(|checked| {
        let notes = checked.notes.iter().filter(|note| is_unread(&note.diagnostic));
        notes.map(|note| at(inputs, checked.origin.source, note.span, &note.diagnostic.message))
    });
    of_documents
        .map(|found| line(inputs, found))
        .chain(of_resources)
        .collect()
}

/// What is said of documents without a resource, but of those that say themselves that they have
/// none: one finding each.
fn unknown<'s>(world_set: &'s WorldSet, inputs: &Inputs) -> Vec<&'s Finding> {
    let of_resources = world_set.resources.iter().map(|checked| checked.origin.source);
    let of_bootstraps = world_set.bootstraps.iter().map(|place| place.source);
    let known: BTreeSet<SourceId> = of_resources.chain(of_bootstraps).collect();
    let mut told = BTreeSet::new();
    let findings = world_set
        .findings
        .iter()
        .filter(|found| inputs.documents.contains(&found.source));
    findings
        .filter(|found| !known.contains(&found.source))
        .filter(|found| ![&NO_RESOURCE, &EMPTY_RESPONSE].contains(&found.diagnostic.rule))
        .filter(|found| told.insert(found.source))
        .collect()
}

fn line(inputs: &Inputs, finding: &Finding) -> String {
    at(inputs, finding.source, finding.span, &finding.diagnostic.message)
}

fn at(inputs: &Inputs, source: SourceId, span: Span, what: &str) -> String {
    let Some(source) = inputs.sources.get(source) else {
        return what.to_owned();
    };
    let (start, _) = source.lines_and_columns(span);
    format!("{}:{}:{}: {what}", source.name(), start.line, start.column)
}
