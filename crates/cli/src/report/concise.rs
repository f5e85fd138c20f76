//! `--format concise`: a finding a line, `path:line:col: severity rule: message`, as editors and `grep` take it.

use std::io::{self, Write};

use super::edge::visible_line;
use super::{Choice, Finding, Format, ResourceReport, Summary, Unplaced, sentence};

/// Writes a line for each finding that is chosen.
pub struct Concise<W: Write> {
    choice: Choice,
    out: W,
}

impl<W: Write> Concise<W> {
    /// Nothing is written yet.
    pub const fn new(choice: Choice, out: W) -> Self {
        Concise { choice, out }
    }

    fn line(&mut self, resource: Option<&ResourceReport>, finding: &Finding) -> io::Result<()> {
        match (&finding.place, resource) {
            (Some(place), _) => write!(
                self.out,
                "{}:{}:{}: ",
                visible_line(&place.file),
                place.line,
                place.column
            )?,
            (None, Some(resource)) => write!(self.out, "{}: ", visible_line(&resource.file))?,
            (None, None) => {}
        }
        write!(
            self.out,
            "{} {}: {}",
            finding.severity,
            finding.rule.id,
            sentence(resource, finding)
        )?;
        if !finding.path.is_empty() {
            write!(self.out, " [{}]", visible_line(&finding.path.to_string()))?;
        }
        writeln!(self.out)
    }
}

impl<W: Write> Format for Concise<W> {
    fn wants(&mut self, finding: &Unplaced<'_>) -> bool {
        self.choice.takes(finding)
    }

    fn documents(&mut self, findings: &[Finding]) -> io::Result<()> {
        let choice = self.choice;
        for finding in findings.iter().filter(|finding| choice.shows(finding)) {
            self.line(None, finding)?;
        }
        Ok(())
    }

    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()> {
        let choice = self.choice;
        for finding in choice.of(resource) {
            self.line(Some(resource), finding)?;
        }
        Ok(())
    }

    fn end(&mut self, _: &Summary) -> io::Result<()> {
        self.out.flush()
    }
}
