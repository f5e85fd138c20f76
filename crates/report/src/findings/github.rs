//! `--format github`: workflow commands, which GitHub Actions shows beside the lines of a change,
//! and the job's summary.
//!
//! GitHub shows ten annotations of each severity per step. The most severe come first; the others
//! are in the log and in the summary.

use std::io::{self, Write};

use super::markdown::Markdown;
use super::not_checked::{self, NotChecked};
use super::{ByFinding, Finding, ResourceReport, Summary, file_and_place, paragraph};
use crate::edge::visible;
use crate::paths::PrintedPaths;
use xdsctl_model::diag::Severity;

/// How many annotations of each severity GitHub shows for a step.
pub const MAX_ANNOTATIONS: usize = 10;

/// A finding, with everything needed to write it as an annotation or into the log.
pub(crate) struct Note {
    pub severity: Severity,
    pub rule: &'static str,
    pub file: String,
    /// Line, column, last line, and the column behind the end.
    pub region: Option<[usize; 4]>,
    pub message: String,
}

/// Collects the findings; the most severe become annotations.
pub struct Github<'o, W: Write> {
    paths: PrintedPaths,
    out: W,
    notes: Vec<Note>,
    summary: Option<Markdown<Box<dyn Write + 'o>>>,
}

impl<'o, W: Write> Github<'o, W> {
    /// Creates a writer; nothing is written yet. The job's summary gets the same findings as
    /// Markdown.
    pub fn new(paths: PrintedPaths, summary: Option<Box<dyn Write + 'o>>, out: W) -> Self {
        Github {
            out,
            notes: Vec::new(),
            summary: summary.map(|out| Markdown::new(paths.clone(), out)),
            paths,
        }
    }
}

impl<W: Write> ByFinding for Github<'_, W> {
    fn finding(&mut self, resource: Option<&ResourceReport>, finding: &Finding) -> io::Result<()> {
        let (file, place) = file_and_place(resource, finding);
        self.notes.push(Note {
            severity: finding.severity,
            rule: finding.rule.id,
            file: file.map_or_else(String::new, |file| self.paths.relative(file)),
            region: place.map(|p| [p.line, p.column, p.end_line, p.end_column]),
            message: paragraph(resource, finding),
        });
        match &mut self.summary {
            Some(summary) => summary.finding(resource, finding),
            None => Ok(()),
        }
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        write_notes(std::mem::take(&mut self.notes), &mut self.out)?;
        write_not_checked(&summary.not_checked, &mut self.out)?;
        self.out.flush()?;
        match &mut self.summary {
            Some(markdown) => markdown.finish(summary),
            None => Ok(()),
        }
    }
}

/// Writes what was not checked; it is an error if a verdict is not known.
pub(crate) fn write_not_checked(not_checked: &[NotChecked], out: &mut dyn Write) -> io::Result<()> {
    let Some(line) = not_checked::line(not_checked) else {
        return Ok(());
    };
    let command = match not_checked::unknown(not_checked) {
        Some(_) => "error",
        None => "notice",
    };
    writeln!(out, "::{command} title=xdsctl::{}", data(&line))
}

/// Writes why a run has no other result.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_trouble(why: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "::error title=xdsctl::{}", data(why))
}

/// Writes notes, the most severe first: as annotations as far as GitHub shows them, the others into
/// the log.
pub(crate) fn write_notes(mut notes: Vec<Note>, out: &mut dyn Write) -> io::Result<()> {
    notes.sort_by_key(|note| std::cmp::Reverse(note.severity));
    let mut rest = Vec::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let of_severity = notes.iter().filter(|note| note.severity == severity);
        for (number, note) in of_severity.enumerate() {
            if number < MAX_ANNOTATIONS {
                write_command(note, out)?;
            } else {
                rest.push(note);
            }
        }
    }
    if !rest.is_empty() {
        let count = rest.len();
        writeln!(
            out,
            "::group::{count} more: GitHub shows {MAX_ANNOTATIONS} annotations of a severity"
        )?;
        for note in rest {
            let line = note.region.map_or(0, |region| region[0]);
            let message = harmless(&note.message.replace('\n', ", "));
            let (severity, rule, file) = (note.severity, note.rule, harmless(&note.file));
            writeln!(out, "{severity}: {file}:{line}: {rule}: {message}")?;
        }
        writeln!(out, "::endgroup::")?;
    }
    Ok(())
}

/// Returns a text that the log does not interpret as a command.
fn harmless(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace("##[", "# #[")
}

fn write_command(note: &Note, out: &mut dyn Write) -> io::Result<()> {
    let command = match note.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    write!(out, "::{command} ")?;
    if !note.file.is_empty() {
        write!(out, "file={},", property(&note.file))?;
    }
    if let Some([line, column, end_line, end_column]) = note.region {
        write!(out, "line={line},endLine={end_line},")?;
        if line == end_line {
            // Columns are given only within one line; the last column is part of the mark.
            let end_column = end_column.saturating_sub(1).max(column);
            write!(out, "col={column},endColumn={end_column},")?;
        }
    }
    writeln!(out, "title={}::{}", property(note.rule), data(&note.message))
}

/// Escapes the text after a command (actions/toolkit, packages/core, escapeData).
pub(crate) fn data(text: &str) -> String {
    let text = visible(text).replace('%', "%25").replace('\n', "%0A");
    text.replace("##[", "# #[")
}

/// Escapes the value of a property (actions/toolkit, packages/core, escapeProperty).
pub(crate) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
