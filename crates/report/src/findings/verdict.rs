//! `--format jsonl`: one verdict per line, schema `xdsctl.verdict/v1`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::json::finding_row;
use super::not_checked::{self, Gate, NotChecked};
use super::{ByFinding, Finding, ResourceReport, Summary};

/// Name of the schema in each line.
pub const SCHEMA: &str = "xdsctl.verdict/v1";

/// The position of a snapshot in its stream. Each version of a running system is a document of its
/// own, so nothing precedes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SnapshotPlace {
    /// Number of the snapshot, from 1: that of the line, or of the version.
    pub number: usize,
    /// Lines of the stream before the snapshot.
    pub lines: usize,
    /// Bytes of the stream before the snapshot.
    pub bytes: usize,
}

#[derive(Serialize)]
struct VerdictLine<'a> {
    schema: &'static str,
    client: &'a str,
    line: usize,
    verdict: &'static str,
    error: Option<&'a str>,
    resources: &'a BTreeMap<&'static str, usize>,
    severities: &'a BTreeMap<&'static str, usize>,
    not_checked: &'a [NotChecked],
    #[serde(skip_serializing_if = "super::is_none")]
    silenced_errors: usize,
    findings: Box<serde_json::value::RawValue>,
}

/// Writes the verdict on a snapshot: `pass`, `fail`, or `error` if the snapshot could not be
/// checked.
pub struct SnapshotVerdict<W: Write> {
    /// The conditions under which the snapshot fails.
    gate: Gate,
    at: SnapshotPlace,
    /// Why the snapshot could not be checked; `None` if it could.
    error: Option<String>,
    findings: Vec<u8>,
    out: W,
}

impl<W: Write> SnapshotVerdict<W> {
    /// Creates a writer; nothing is written yet.
    pub const fn new(gate: Gate, at: SnapshotPlace, error: Option<String>, out: W) -> Self {
        SnapshotVerdict {
            gate,
            at,
            error,
            findings: Vec::new(),
            out,
        }
    }
}

impl<W: Write> ByFinding for SnapshotVerdict<W> {
    fn finding(&mut self, resource: Option<&ResourceReport>, finding: &Finding) -> io::Result<()> {
        let mut finding = finding.clone();
        let others = finding.related.iter_mut().filter_map(|related| related.place.as_mut());
        for place in finding.place.iter_mut().chain(others) {
            place.line += self.at.lines;
            place.end_line += self.at.lines;
            place.byte_start += self.at.bytes;
            place.byte_end += self.at.bytes;
        }
        self.findings.push(if self.findings.is_empty() { b'[' } else { b',' });
        Ok(serde_json::to_writer(
            &mut self.findings,
            &finding_row(resource, &finding),
        )?)
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let error = self.error.take().or_else(|| {
            let unknown = not_checked::unknown(&summary.not_checked)?;
            Some(format!("not checked: {unknown}"))
        });
        let findings = match self.findings.as_mut_slice() {
            [] => "[]".to_owned(),
            _ => {
                self.findings.push(b']');
                String::from_utf8_lossy(&self.findings).into_owned()
            }
        };
        let row = VerdictLine {
            schema: SCHEMA,
            client: &summary.asked,
            line: self.at.number,
            verdict: match error {
                Some(_) => "error",
                None if self.gate.is_failed(summary) => "fail",
                None => "pass",
            },
            error: error.as_deref(),
            resources: &summary.verdicts,
            severities: &summary.severities,
            not_checked: &summary.not_checked,
            silenced_errors: summary.silenced,
            findings: serde_json::value::RawValue::from_string(findings)?,
        };
        // There is only one write, so that a reader that waits for the line gets all of it; there
        // may be a hundred thousand lines.
        let mut line = serde_json::to_vec(&row)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }
}
