//! `--format json`: the schema `xdsctl.findings/v1`.
//!
//! Fields are added, never changed. Lines and columns are 1-based, byte offsets 0-based, ends exclusive. Every resource is
//! listed, also when it is clean. Written resource by resource, so that a large report is never in memory as a whole.

use std::io::{self, Write};

use serde::ser::{Serialize, Serializer};

use super::resolve::Report;
use super::{Finding, ResourceReport, Summary};
use xdsctl::diag::FieldPath;

/// Name of the schema in the document.
pub const SCHEMA: &str = "xdsctl.findings/v1";

#[derive(serde::Serialize)]
struct ResourceRow<'a> {
    file: &'a str,
    world: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    section: &'a str,
    r#type: &'a str,
    name: &'a str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parsed: Option<&'a serde_json::Value>,
}

#[derive(serde::Serialize)]
struct FindingRow<'a> {
    rule: &'static str,
    effect: &'static str,
    severity: &'static str,
    #[serde(serialize_with = "path")]
    path: &'a FieldPath,
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

#[derive(serde::Serialize)]
struct SummaryRow<'a> {
    resources: &'a std::collections::BTreeMap<&'static str, usize>,
    severities: &'a std::collections::BTreeMap<&'static str, usize>,
    effects: &'a std::collections::BTreeMap<&'static str, usize>,
}

fn path<S: Serializer>(path: &FieldPath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(path)
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
        file: place.map(|p| &*p.file),
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
        section: resource.section,
        r#type: &resource.type_name,
        name: &resource.name,
        verdict: resource.verdict.name(),
        parsed: resource.parsed.as_ref(),
    }
}

/// Writes the report as one JSON document and a newline: one line for each resource and each finding.
///
/// Returns the counts.
///
/// # Errors
/// Those of `out`.
pub fn write(mut report: Report<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let client = xdsctl::profile::Profile::CLIENT;
    let mut line = Vec::new();
    write!(out, "{{\n  \"schema\": \"{SCHEMA}\",\n  \"client\": ")?;
    put(&mut line, &client)?;
    line.extend_from_slice(b",\n  \"resources\": [");
    let mut is_first = true;
    for resource in report.by_ref() {
        line.extend_from_slice(if is_first { b"\n    " } else { b",\n    " });
        is_first = false;
        put(&mut line, &resource_row(&resource))?;
        // The row is an object: open it again for the findings.
        line.pop();
        line.extend_from_slice(b",\"findings\":[");
        put_findings(&mut line, &resource.findings, "      ", out)?;
        line.extend_from_slice(if resource.findings.is_empty() {
            b"]}"
        } else {
            b"\n    ]}"
        });
        flush(&mut line, out)?;
    }
    line.extend_from_slice(if is_first {
        b"],\n  \"findings\": ["
    } else {
        b"\n  ],\n  \"findings\": ["
    });
    put_findings(&mut line, &report.findings, "    ", out)?;
    line.extend_from_slice(if report.findings.is_empty() { b"]" } else { b"\n  ]" });
    line.extend_from_slice(b",\n  \"summary\": ");
    let summary = report.summary;
    put(
        &mut line,
        &SummaryRow {
            resources: &summary.verdicts,
            severities: &summary.severities,
            effects: &summary.effects,
        },
    )?;
    line.extend_from_slice(b"\n}\n");
    out.write_all(&line)?;
    Ok(summary)
}

/// Bytes that are collected before they are written.
const LINE_BYTES: usize = 64 << 10;

fn flush(line: &mut Vec<u8>, out: &mut dyn Write) -> io::Result<()> {
    if line.len() >= LINE_BYTES {
        out.write_all(line)?;
        line.clear();
    }
    Ok(())
}

fn put_findings(line: &mut Vec<u8>, findings: &[Finding], indent: &str, out: &mut dyn Write) -> io::Result<()> {
    for (i, finding) in findings.iter().enumerate() {
        line.extend_from_slice(if i == 0 { b"\n" } else { b",\n" });
        line.extend_from_slice(indent.as_bytes());
        put(line, &finding_row(finding))?;
        flush(line, out)?;
    }
    Ok(())
}

fn put(line: &mut Vec<u8>, row: &impl Serialize) -> io::Result<()> {
    Ok(serde_json::to_writer(line, row)?)
}
