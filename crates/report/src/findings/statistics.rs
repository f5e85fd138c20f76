//! `--statistics`: how many findings each rule has, instead of the findings.

use std::io::{self, Write};

use super::{Finding, NotShown, ReportWriter, ResourceReport, RuleCount, Summary, Unplaced, closing, not_checked};
use xdsctl_model::diag::Severity;

/// Writes a line for each rule, the most severe and most frequent first.
pub struct Statistics<W: Write> {
    /// The least severity of rules that are shown.
    pub least: Severity,
    /// Whether there is no summary.
    pub is_quiet: bool,
    /// Where the lines go.
    pub out: W,
}

impl<W: Write> ReportWriter for Statistics<W> {
    fn wants(&mut self, _: &Unplaced<'_>) -> usize {
        0
    }

    fn documents(&mut self, _: &[Finding], _: &[NotShown]) -> io::Result<()> {
        Ok(())
    }

    fn resource(&mut self, _: &ResourceReport) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        let of_rules = summary.rules.values();
        let mut rules: Vec<&RuleCount> = of_rules.filter(|of| of.severity >= self.least).collect();
        rules.sort_by_key(|of| (std::cmp::Reverse((of.severity, of.count)), of.rule.id));
        let width = rules.iter().map(|of| of.rule.id.len()).max().unwrap_or(0);
        for of in rules {
            let (count, severity, id) = (of.count, of.severity.name(), of.rule.id);
            let summary = of.rule.summary.trim();
            writeln!(self.out, "{count:>6}  {severity:<7}  {id:<width$}  {summary}")?;
        }
        if !self.is_quiet {
            writeln!(self.out, "{}", closing(summary))?;
        } else if let Some(line) = not_checked::line(&summary.not_checked) {
            writeln!(self.out, "{line}")?;
        }
        self.out.flush()
    }
}
