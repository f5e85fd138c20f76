//! `--format gitlab`: the report of GitLab's code quality widget.

use std::io::{self, Write};

use serde::Serialize;

use super::{ByFinding, Finding, ResourceReport, Summary, file_and_place, fingerprint};
use crate::SourcePlace;
use crate::paths::PrintedPaths;
use xdsctl_model::diag::{Fingerprints, Severity};

/// An issue of the report.
#[derive(Serialize)]
pub(crate) struct Issue<'a> {
    pub description: &'a str,
    pub check_name: &'static str,
    pub fingerprint: String,
    pub severity: &'static str,
    pub location: Location<'a>,
}

/// The place of an issue.
#[derive(Serialize)]
pub(crate) struct Location<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

impl<'a> Location<'a> {
    /// Makes a location from a place in a file; without a place it is the first line.
    pub fn of(path: &'a str, place: Option<&SourcePlace>) -> Location<'a> {
        let lines = Lines {
            begin: place.map_or(1, |place| place.line),
            end: place.map_or(1, |place| place.end_line),
        };
        Location { path, lines }
    }
}

/// Writes the report as an array of issues.
pub struct Gitlab<W: Write> {
    paths: PrintedPaths,
    out: W,
    fingerprints: Fingerprints,
    has_any: bool,
}

impl<W: Write> Gitlab<W> {
    /// Creates a writer; nothing is written yet.
    pub fn new(paths: PrintedPaths, out: W) -> Self {
        Gitlab {
            paths,
            out,
            fingerprints: Fingerprints::default(),
            has_any: false,
        }
    }
}

/// Returns GitLab's word for a severity: one of info, minor, major, critical and blocker.
pub(crate) const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "critical",
        Severity::Warning => "minor",
        Severity::Note => "info",
    }
}

impl<W: Write> ByFinding for Gitlab<W> {
    fn finding(&mut self, resource: Option<&ResourceReport>, finding: &Finding) -> io::Result<()> {
        let (file, place) = file_and_place(resource, finding);
        let path = self.paths.relative(file.unwrap_or("-"));
        let mut description = super::sentence_of_clients(resource, finding);
        if !finding.path.is_empty() {
            description += &format!(", at {}", finding.path);
        }
        self.out.write_all(if self.has_any { b",\n  " } else { b"[\n  " })?;
        self.has_any = true;
        let issue = Issue {
            description: &description,
            check_name: finding.rule.id,
            fingerprint: fingerprint(&mut self.fingerprints, &path, resource, finding),
            severity: severity(finding.severity),
            location: Location::of(&path, place),
        };
        Ok(serde_json::to_writer(&mut self.out, &issue)?)
    }

    fn finish(&mut self, _: &Summary) -> io::Result<()> {
        self.out.write_all(if self.has_any { b"\n]\n" } else { b"[]\n" })?;
        self.out.flush()
    }
}
