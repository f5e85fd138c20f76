//! `--format gitlab`: the report of GitLab's code quality widget.

use std::io::{self, Write};

use serde::Serialize;

use super::fingerprint::Fingerprints;
use super::paths::Paths;
use super::{Choice, Finding, Format, ResourceReport, Summary, Unplaced, sentence};
use xdsctl::diag::Severity;

#[derive(Serialize)]
struct Issue<'a> {
    description: &'a str,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

/// Writes an array of issues.
pub struct Gitlab<W: Write> {
    choice: Choice,
    paths: Paths,
    out: W,
    fingerprints: Fingerprints,
    has_any: bool,
}

impl<W: Write> Gitlab<W> {
    /// Nothing is written yet.
    pub fn new(choice: Choice, paths: Paths, out: W) -> Self {
        Gitlab {
            choice,
            paths,
            out,
            fingerprints: Fingerprints::default(),
            has_any: false,
        }
    }

    fn issue(&mut self, resource: Option<&ResourceReport>, finding: &Finding) -> io::Result<()> {
        let place = finding.place.as_deref();
        let file = resource.map(|r| &*r.file).or(place.map(|p| &*p.file)).unwrap_or("-");
        let path = self.paths.relative(file);
        let mut description = sentence(resource, finding);
        if !finding.path.is_empty() {
            description += &format!(", at {}", finding.path);
        }
        // Of a binary file there are no lines.
        let place = place.filter(|place| *place.file == *file);
        self.out.write_all(if self.has_any { b",\n  " } else { b"[\n  " })?;
        self.has_any = true;
        let issue = Issue {
            description: &description,
            check_name: finding.rule.id,
            fingerprint: self.fingerprints.of(&path, resource, finding),
            severity: severity(finding.severity),
            location: Location {
                path: &path,
                lines: Lines {
                    begin: place.map_or(1, |place| place.line),
                    end: place.map_or(1, |place| place.end_line),
                },
            },
        };
        Ok(serde_json::to_writer(&mut self.out, &issue)?)
    }
}

/// GitLab's word, one of info, minor, major, critical and blocker.
const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "critical",
        Severity::Warning => "minor",
        Severity::Note => "info",
    }
}

impl<W: Write> Format for Gitlab<W> {
    fn wants(&mut self, finding: &Unplaced<'_>) -> bool {
        self.choice.takes(finding)
    }

    fn documents(&mut self, findings: &[Finding]) -> io::Result<()> {
        let choice = self.choice;
        for finding in findings.iter().filter(|finding| choice.shows(finding)) {
            self.issue(None, finding)?;
        }
        Ok(())
    }

    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()> {
        let choice = self.choice;
        for finding in choice.of(resource) {
            self.issue(Some(resource), finding)?;
        }
        Ok(())
    }

    fn end(&mut self, _: &Summary) -> io::Result<()> {
        self.out.write_all(if self.has_any { b"\n]\n" } else { b"[]\n" })?;
        self.out.flush()
    }
}
