//! What could not be read of the inputs, and what follows from it. It is decided here for every
//! command.
//!
//! A command gets its resources from [`Inputs::read_worlds`], which calls this module. The command
//! itself need not do anything: what could not be read is reported on standard error, and the run
//! cannot end with exit code 0 ([`Io::exit_code`]). `validate` reports it as findings.

use std::collections::BTreeSet;

use super::Remark;
use super::input::Inputs;
use crate::{Error, Io};
use xdsctl_channel::client::WorldSet;
use xdsctl_document::envelope::{EMPTY, EMPTY_RESPONSE, Finding, NO_RESOURCE};
use xdsctl_document::source::{SourceId, Span};
use xdsctl_model::diag::{Diagnostic, Severity};

/// The most lines about one input.
const LINES_SHOWN: usize = 10;

/// Reports what could not be read, and records that there was something.
///
/// # Errors
/// No document has a known shape, or standard error cannot be written.
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
        io.is_incomplete = true;
    }
    let more = match unread.len().saturating_sub(LINES_SHOWN) {
        0 => String::new(),
        more => format!("{more} more faults like these; "),
    };
    io.remark(Remark::Incomplete(format!(
        "{more}the answer is based on incomplete input"
    )))?;
    if let Some(first) = unread.first() {
        io.annotate(&format_args!("{first}; the answer is based on incomplete input"));
    }
    Ok(())
}

/// Says whether a finding means that input is lost: it is an error, or an empty document.
fn is_unread(diagnostic: &Diagnostic) -> bool {
    diagnostic.rule.severity == Severity::Error || diagnostic.rule == &EMPTY
}

/// Returns what could not be read of the input: every fault of a document, and of the text of a
/// resource.
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

/// Returns one finding for each document without a resource, except for documents that themselves
/// say that they have none.
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
