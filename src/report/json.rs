//! `--format json`: the schema `xdsctl.findings/v1`.
//!
//! Fields are added, never changed. Lines and columns are 1-based, byte offsets 0-based, ends exclusive. Every resource is
//! listed, also when it is clean. Written resource by resource, so that a large report needs no second copy in memory.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::{Finding, Findings, ResourceReport};

/// Name of the schema in the document.
pub const SCHEMA: &str = "xdsctl.findings/v1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    client: &'static str,
    resources: Rows<'a, ResourceReport, ResourceRow<'a>>,
    findings: Rows<'a, Finding, FindingRow<'a>>,
    summary: SummaryRow,
}

/// Converts rows while they are written.
struct Rows<'a, T, R> {
    rows: &'a [T],
    row: fn(&'a T) -> R,
}

impl<T, R: Serialize> Serialize for Rows<'_, T, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.rows.len()))?;
        for row in self.rows {
            seq.serialize_element(&(self.row)(row))?;
        }
        seq.end()
    }
}

#[derive(Serialize)]
struct ResourceRow<'a> {
    file: &'a str,
    world: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    section: &'a str,
    r#type: &'a str,
    name: &'a str,
    verdict: &'static str,
    findings: Rows<'a, Finding, FindingRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parsed: Option<&'a serde_json::Value>,
}

#[derive(Serialize)]
struct FindingRow<'a> {
    rule: &'static str,
    effect: &'static str,
    severity: &'static str,
    path: &'a str,
    message: &'a str,
    help: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    byte_start: Option<usize>,
    byte_end: Option<usize>,
}

#[derive(Serialize)]
struct SummaryRow {
    resources: std::collections::BTreeMap<&'static str, usize>,
    severities: std::collections::BTreeMap<&'static str, usize>,
    effects: std::collections::BTreeMap<&'static str, usize>,
}

fn finding_row(finding: &Finding) -> FindingRow<'_> {
    let place = finding.place.as_ref();
    FindingRow {
        rule: finding.rule.id,
        effect: finding.rule.effect.name(),
        severity: finding.severity.name(),
        path: &finding.path,
        message: &finding.message,
        help: finding.help.as_deref(),
        file: place.map(|p| p.file.as_str()),
        line: place.map(|p| p.line),
        column: place.map(|p| p.column),
        end_line: place.map(|p| p.end_line),
        end_column: place.map(|p| p.end_column),
        byte_start: place.map(|p| p.byte_start),
        byte_end: place.map(|p| p.byte_end),
    }
}

fn resource_row(resource: &ResourceReport) -> ResourceRow<'_> {
    ResourceRow {
        file: &resource.file,
        world: &resource.world,
        section: &resource.section,
        r#type: &resource.type_name,
        name: &resource.name,
        verdict: resource.verdict.name(),
        findings: Rows {
            rows: &resource.findings,
            row: finding_row,
        },
        parsed: resource.parsed.as_ref(),
    }
}

/// Writes the report as one JSON document and a newline.
///
/// # Errors
/// Those of `out`.
pub fn write(report: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let summary = report.summary();
    let document = Document {
        schema: SCHEMA,
        client: crate::profile::Profile::CLIENT,
        resources: Rows {
            rows: &report.resources,
            row: resource_row,
        },
        findings: Rows {
            rows: &report.findings,
            row: finding_row,
        },
        summary: SummaryRow {
            resources: summary.verdicts,
            severities: summary.severities,
            effects: summary.effects,
        },
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}
