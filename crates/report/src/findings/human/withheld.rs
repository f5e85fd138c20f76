//! The findings that are not shown, each with the reason, in two lines per finding.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::SHOWN_PER_RULE;
use crate::edge::visible_line;
use crate::findings::{NotShown, ResourceReport, sentence_of_clients};

/// The lines about findings that are not shown. If the report is capped, there are only a few for
/// each rule and reason.
pub(super) struct WithheldLines {
    is_capped: bool,
    lines: Vec<String>,
    /// How many findings there are for each rule and reason.
    counts: BTreeMap<(&'static str, &'static str), usize>,
}

impl WithheldLines {
    /// Creates an empty list.
    pub const fn new(is_capped: bool) -> WithheldLines {
        WithheldLines {
            is_capped,
            lines: Vec::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Adds findings on a resource or on documents.
    pub fn add(&mut self, resource: Option<&ResourceReport>, withheld: impl Iterator<Item = NotShown>) {
        for NotShown { finding, reason } in withheld {
            let count = self.counts.entry((finding.rule.id, reason.name())).or_default();
            *count += 1;
            if self.is_capped && *count > SHOWN_PER_RULE {
                continue;
            }
            let place = finding.place.as_ref().map_or_else(String::new, |place| {
                format!(" {}:{}:{}", visible_line(&place.file), place.line, place.column)
            });
            let (severity, id) = (finding.severity, finding.rule.id);
            let sentence = sentence_of_clients(resource, &finding);
            self.lines.push(format!("  {severity}[{id}]{place}: {sentence}"));
            self.lines.push(format!("    {}", visible_line(&reason.text())));
        }
    }

    /// Writes the lines under a heading, if there are any.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        writeln!(out, "not shown, and why:")?;
        for line in &self.lines {
            writeln!(out, "{line}")?;
        }
        if self.is_capped {
            for ((id, reason), count) in &self.counts {
                if let Some(more) = count.checked_sub(SHOWN_PER_RULE).filter(|more| *more > 0) {
                    writeln!(out, "  {more} more {id} ({reason}), --all-findings lists every one")?;
                }
            }
        }
        writeln!(out)
    }
}
