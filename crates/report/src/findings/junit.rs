//! `--format junit`: a suite for each file and a case for each resource, as most CI systems expect
//! test reports.
//!
//! A case fails if a finding is at least as severe as `--fail-on` says; other findings are its
//! output. A resource is skipped if it was not checked, or if the client never asks for it. There
//! are no times and no host names, so the same input gives the same bytes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use super::{
    Finding, NotShown, ReportWriter, ResourceReport, Summary, Unplaced, Verdict, not_checked, sentence_of_clients,
    shown,
};
use crate::edge::visible;
use crate::paths::PrintedPaths;
use xdsctl_model::diag::Severity;

/// The cases of a file.
#[derive(Default)]
pub(crate) struct Suite {
    pub name: String,
    /// The XML of its cases.
    pub cases: Vec<u8>,
    pub tests: usize,
    pub failures: usize,
    pub errors: usize,
    pub skipped: usize,
}

/// Writes a whole document.
pub(crate) fn write_suites(suites: &[Suite], not_checked: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let sum = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites name=\"xdsctl\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
        sum(|suite| suite.tests),
        sum(|suite| suite.failures),
        sum(|suite| suite.errors)
    )?;
    for suite in suites {
        writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            xml(&suite.name),
            suite.tests,
            suite.failures,
            suite.errors,
            suite.skipped
        )?;
        if let Some(line) = not_checked {
            let value = xml(line);
            writeln!(
                out,
                "    <properties><property name=\"not checked\" value=\"{value}\"/></properties>"
            )?;
        }
        out.write_all(&suite.cases)?;
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")?;
    out.flush()
}

/// Collects the cases, because a suite begins with their number.
pub struct Junit<W: Write> {
    least: Severity,
    /// The least severity of a finding that is a failure.
    fail_on: Severity,
    paths: PrintedPaths,
    out: W,
    suites: Vec<Suite>,
    /// The index in `suites` of each file.
    files: BTreeMap<Arc<str>, usize>,
}

impl<W: Write> Junit<W> {
    /// Creates a writer; nothing is written yet.
    pub const fn new(least: Severity, fail_on: Severity, paths: PrintedPaths, out: W) -> Self {
        Junit {
            least,
            fail_on,
            paths,
            out,
            suites: Vec::new(),
            files: BTreeMap::new(),
        }
    }

    fn case(&mut self, file: &Arc<str>, resource: Option<&ResourceReport>, findings: &[&Finding]) -> io::Result<()> {
        let number = *self.files.entry(Arc::clone(file)).or_insert_with(|| {
            self.suites.push(Suite {
                name: self.paths.relative(file),
                ..Suite::default()
            });
            self.suites.len() - 1
        });
        let Some(suite) = self.suites.get_mut(number) else {
            return Ok(());
        };
        suite.tests += 1;
        let (class, name) = resource.map_or(("document", suite.name.as_str()), |r| (&r.type_name, &r.name));
        let out = &mut suite.cases;
        write!(out, "    <testcase classname=\"{}\" name=\"{}\"", xml(class), xml(name))?;
        let (failures, others): (Vec<&Finding>, Vec<&Finding>) = findings
            .iter()
            .partition(|finding| finding.counts && finding.severity >= self.fail_on);
        let unknown = resource.and_then(not_known);
        let skipped = match resource.map(|r| r.verdict) {
            _ if unknown.is_some() => unknown.as_deref(),
            Some(Verdict::NotChecked) => Some("not checked"),
            Some(Verdict::Ignored) => Some("the client never asks for it"),
            Some(Verdict::Accepted | Verdict::Rejected) | None => None,
        };
        if findings.is_empty() && skipped.is_none() {
            return writeln!(out, "/>");
        }
        writeln!(out, ">")?;
        if let Some(first) = failures.first() {
            suite.failures += 1;
            write!(
                out,
                "      <failure type=\"{}\" message=\"{}\">",
                first.rule.id,
                xml(&sentence_of_clients(resource, first))
            )?;
            write_lines(resource, &failures, out)?;
            writeln!(out, "</failure>")?;
        } else if let Some(why) = skipped {
            suite.skipped += 1;
            writeln!(out, "      <skipped message=\"{why}\"/>")?;
        }
        if !others.is_empty() {
            write!(out, "      <system-out>")?;
            write_lines(resource, &others, out)?;
            writeln!(out, "</system-out>")?;
        }
        writeln!(out, "    </testcase>")
    }
}

/// Names the clients whose verdict on a resource is not known.
fn not_known(resource: &ResourceReport) -> Option<String> {
    let unknown = resource.clients.iter().filter(|(_, said)| said.verdict == "not_known");
    let clients: Vec<String> = unknown.map(|(client, _)| client.to_string()).collect();
    (!clients.is_empty()).then(|| format!("the verdict of {} is not known", clients.join(", ")))
}

fn write_lines(resource: Option<&ResourceReport>, findings: &[&Finding], out: &mut Vec<u8>) -> io::Result<()> {
    for (number, finding) in findings.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        if let Some(place) = &finding.place {
            write!(out, "{}:{}:{}: ", xml(&place.file), place.line, place.column)?;
        }
        let text = sentence_of_clients(resource, finding);
        write!(out, "{} {}: {}", finding.severity, finding.rule.id, xml(&text))?;
        if !finding.path.is_empty() {
            write!(out, " [{}]", xml(&finding.path.to_string()))?;
        }
    }
    Ok(())
}

/// Escapes a text for XML 1.0, which has no control characters.
pub(crate) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            c => out.push(c),
        }
    }
    out
}

impl<W: Write> ReportWriter for Junit<W> {
    fn wants(&mut self, finding: &Unplaced<'_>) -> usize {
        finding.wanted(self.least)
    }

    fn documents(&mut self, findings: &[Finding], _: &[NotShown]) -> io::Result<()> {
        let mut by_file: BTreeMap<Arc<str>, Vec<&Finding>> = BTreeMap::new();
        for finding in shown(findings, self.least) {
            let file = finding
                .place
                .as_ref()
                .map_or_else(|| "-".into(), |p| Arc::clone(&p.file));
            by_file.entry(file).or_default().push(finding);
        }
        for (file, findings) in by_file {
            self.case(&file, None, &findings)?;
        }
        Ok(())
    }

    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()> {
        let findings: Vec<&Finding> = shown(&resource.findings, self.least).collect();
        self.case(&resource.file, Some(resource), &findings)
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        write_suites(
            &self.suites,
            not_checked::line(&summary.not_checked).as_deref(),
            &mut self.out,
        )
    }
}
