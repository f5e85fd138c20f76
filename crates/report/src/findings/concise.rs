//! `--format concise`: one line for each finding, `path:line:col: severity rule: message`, as
//! editors and `grep` expect it. A last line says what was not checked.

use std::io::{self, Write};

use super::{ByFinding, Finding, ResourceReport, Summary, not_checked, sentence_of_clients};
use crate::edge::visible_line;

/// Writes a line for each finding that is shown.
pub struct Concise<W: Write>(pub W);

impl<W: Write> ByFinding for Concise<W> {
    fn finding(&mut self, resource: Option<&ResourceReport>, finding: &Finding) -> io::Result<()> {
        match (&finding.place, resource) {
            (Some(place), _) => write!(
                self.0,
                "{}:{}:{}: ",
                visible_line(&place.file),
                place.line,
                place.column
            )?,
            (None, Some(resource)) => write!(self.0, "{}: ", visible_line(&resource.file))?,
            (None, None) => {}
        }
        write!(
            self.0,
            "{} {}: {}",
            finding.severity,
            finding.rule.id,
            sentence_of_clients(resource, finding)
        )?;
        if !finding.path.is_empty() {
            write!(self.0, " [{}]", visible_line(&finding.path.to_string()))?;
        }
        writeln!(self.0)
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        if let Some(line) = not_checked::line(&summary.not_checked) {
            writeln!(self.0, "{line}")?;
        }
        self.0.flush()
    }
}
