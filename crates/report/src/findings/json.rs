//! `--format json`: the schema `xdsctl.findings/v1`.
//!
//! Fields are added, never changed. Lines and columns are 1-based, byte offsets 0-based, ends
//! exclusive. Every resource is listed, even without findings. The report is written resource by
//! resource, so that a large one is never in memory as a whole.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::clients::{ClientVerdict, Verdicts};
use super::{
    Finding, NotShown, Parsed, RelatedPlace, ReportWriter, ResourceReport, Summary, Unplaced, shown, too_quiet,
};
use xdsctl_model::diag::{FieldPath, Severity};

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
    byte_start: usize,
    byte_end: usize,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    clients: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parsed: Option<&'a Parsed>,
}

/// A finding in JSON.
#[derive(serde::Serialize)]
pub(crate) struct FindingRow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    rule: &'static str,
    effect: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    who: &'a str,
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedRow<'a>>,
    #[serde(skip_serializing_if = "is_not")]
    fixable: bool,
}

/// A finding that is not shown.
#[derive(serde::Serialize)]
struct WithheldRow<'a> {
    #[serde(flatten)]
    finding: FindingRow<'a>,
    reason: &'static str,
    why: String,
}

/// A related place of a finding.
#[derive(serde::Serialize)]
struct RelatedRow<'a> {
    #[serde(serialize_with = "path")]
    path: &'a FieldPath,
    message: &'a str,
    /// The rule of a consequence at this place, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_not(claim: &bool) -> bool {
    !*claim
}

fn path<S: Serializer>(path: &FieldPath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(path)
}

/// Makes the row of a finding, with its resource if it has one.
pub(crate) fn finding_row<'a>(resource: Option<&'a ResourceReport>, finding: &'a Finding) -> FindingRow<'a> {
    let place = finding.place.as_ref();
    FindingRow {
        r#type: resource.map(|r| &*r.type_name),
        name: resource.map(|r| &*r.name),
        rule: finding.rule.id,
        effect: finding.effect.name(),
        who: &finding.who,
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
        related: finding.related.iter().map(related_row).collect(),
        fixable: finding.fix.is_some(),
    }
}

fn related_row(related: &RelatedPlace) -> RelatedRow<'_> {
    let place = related.place.as_ref();
    RelatedRow {
        path: &related.path,
        message: &related.message,
        rule: related.rule.map(|rule| rule.id),
        file: place.map(|p| &*p.file),
        line: place.map(|p| p.line),
        column: place.map(|p| p.column),
        end_line: place.map(|p| p.end_line),
        end_column: place.map(|p| p.end_column),
    }
}

/// What each client does with a resource, as JSON text. Many resources share it.
type VerdictsJson = Option<Box<RawValue>>;

fn written(verdicts: &Verdicts) -> io::Result<VerdictsJson> {
    if verdicts.is_empty() {
        return Ok(None);
    }
    let named = verdicts.iter().map(|(client, said)| (client.to_string(), said));
    Ok(Some(to_raw_value(
        &named.collect::<BTreeMap<String, &ClientVerdict>>(),
    )?))
}

fn resource_row<'a>(resource: &'a ResourceReport, clients: Option<&'a RawValue>) -> ResourceRow<'a> {
    ResourceRow {
        file: &resource.file,
        world: &resource.world,
        section: resource.section,
        r#type: &resource.type_name,
        name: &resource.name,
        byte_start: resource.span.start,
        byte_end: resource.span.end,
        verdict: resource.verdict.name(),
        clients,
        parsed: resource.parsed.as_ref(),
    }
}

/// Writes the report as one JSON document and a newline. Each resource and each finding is on a
/// line of its own.
pub struct JsonReport<W: Write> {
    least: Severity,
    /// The clients that were asked, in words.
    asked: String,
    /// Whether findings that are not shown are listed with the reason.
    explains_withheld: bool,
    out: BufWriter<W>,
    /// How many resources are written.
    resources: usize,
    /// The verdicts that were written last.
    last: (Verdicts, VerdictsJson),
    /// The findings that belong to no resource; they are written after the resources.
    documents: Vec<Finding>,
    /// Those findings on documents that are not shown.
    withheld: Vec<NotShown>,
}

impl<W: Write> JsonReport<W> {
    /// Creates a writer; nothing is written yet.
    pub fn new(least: Severity, asked: String, explains_withheld: bool, out: W) -> Self {
        JsonReport {
            least,
            asked,
            explains_withheld,
            out: BufWriter::with_capacity(PIECE_BYTES, out),
            resources: 0,
            last: <(Verdicts, VerdictsJson)>::default(),
            documents: Vec::new(),
            withheld: Vec::new(),
        }
    }

    fn put(&mut self, row: &impl Serialize) -> io::Result<()> {
        self.out.write_all(&serde_json::to_vec(row)?)
    }

    /// Writes the rows of an array and its end, each row on a line of its own.
    fn rows<R: Serialize>(&mut self, rows: impl Iterator<Item = R>, indent: &str) -> io::Result<()> {
        let mut comma = "";
        for row in rows {
            write!(self.out, "{comma}\n{indent}  ")?;
            comma = ",";
            self.put(&row)?;
        }
        match comma {
            "" => write!(self.out, "]"),
            _ => write!(self.out, "\n{indent}]"),
        }
    }

    /// Writes the array of findings that are not shown after that of the others, if the user asked
    /// for it.
    fn withheld<'a>(
        &mut self,
        resource: Option<&'a ResourceReport>,
        withheld: impl Iterator<Item = &'a NotShown>,
        (before, indent): (&str, &str),
    ) -> io::Result<()> {
        if !self.explains_withheld {
            return Ok(());
        }
        write!(
            self.out,
            ",{before}\"withheld\":{}[",
            if before.is_empty() { "" } else { " " }
        )?;
        let row = |one: &'a NotShown| WithheldRow {
            finding: finding_row(resource, &one.finding),
            reason: one.reason.name(),
            why: one.reason.text(),
        };
        self.rows(withheld.map(row), indent)
    }
}

/// Returns what precedes the row with this number in a list of the document.
const fn before_row(number: usize) -> &'static [u8] {
    match number {
        0 => b"\n    ",
        _ => b",\n    ",
    }
}

/// How many bytes are collected before they are written.
const PIECE_BYTES: usize = 64 << 10;

impl<W: Write> ReportWriter for JsonReport<W> {
    fn wants(&mut self, finding: &Unplaced<'_>) -> usize {
        match self.explains_withheld {
            true => finding.count,
            false => finding.wanted(self.least),
        }
    }

    fn documents(&mut self, findings: &[Finding], withheld: &[NotShown]) -> io::Result<()> {
        self.documents = shown(findings, self.least).cloned().collect();
        self.withheld = too_quiet(findings, self.least)
            .chain(withheld.iter().cloned())
            .collect();
        write!(self.out, "{{\n  \"schema\": \"{SCHEMA}\",\n  \"client\": ")?;
        let asked = std::mem::take(&mut self.asked);
        self.put(&asked)?;
        self.out.write_all(b",\n  \"resources\": [")
    }

    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()> {
        self.out.write_all(before_row(self.resources))?;
        self.resources += 1;
        if !Arc::ptr_eq(&self.last.0, &resource.clients) {
            self.last = (Arc::clone(&resource.clients), written(&resource.clients)?);
        }
        let mut row = serde_json::to_vec(&resource_row(resource, self.last.1.as_deref()))?;
        // The row is a complete object: reopen it to add the findings.
        row.pop();
        self.out.write_all(&row)?;
        self.out.write_all(b",\"findings\":[")?;
        let row = |finding| finding_row(Some(resource), finding);
        self.rows(shown(&resource.findings, self.least).map(row), "    ")?;
        let quiet: Vec<NotShown> = too_quiet(&resource.findings, self.least).collect();
        self.withheld(Some(resource), resource.withheld.iter().chain(&quiet), ("", "    "))?;
        self.out.write_all(b"}")
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        let end: &[u8] = if self.resources == 0 { b"]" } else { b"\n  ]" };
        self.out.write_all(end)?;
        self.out.write_all(b",\n  \"findings\": [")?;
        let documents = std::mem::take(&mut self.documents);
        self.rows(documents.iter().map(|finding| finding_row(None, finding)), "  ")?;
        let withheld = std::mem::take(&mut self.withheld);
        self.withheld(None, withheld.iter(), ("\n  ", "  "))?;
        self.out.write_all(b",\n  \"not_checked\": ")?;
        self.put(&summary.not_checked)?;
        self.out.write_all(b",\n  \"summary\": ")?;
        self.put(summary)?;
        if let Some(reached) = &summary.reached {
            // Write all findings before the rest is made, for readers that read along.
            self.out.write_all(b",\n  \"kept\": [")?;
            self.out.flush()?;
            let mut rows = 0;
            reached.rows(|row| {
                self.out.write_all(before_row(rows))?;
                rows += 1;
                self.put(row)
            })?;
            self.out.write_all(b"\n  ]")?;
        }
        self.out.write_all(b"\n}\n")?;
        self.out.flush()
    }
}
