//! The report of `test` for programs: JSON, JUnit XML, and annotations for GitHub.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Counts, FailureReport, SuiteReport, SuitesReport, TestReport, TestVerdict};
use crate::SourcePlace;
use crate::channel::pick::json_of;
use crate::findings::junit::{self, write_suites, xml};
use crate::paths::PrintedPaths;
use xdsctl_suite::{Coverage, CoverageKind};

/// Name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.test/v1";

/// Writes the whole report as JSON.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_json(report: SuitesReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let suites = report.suites;
    let counts = Counts::of(suites);
    let mut document = json!({
        "schema": SCHEMA,
        "suites": suites.iter().map(suite_json).collect::<Vec<_>>(),
        "summary": {"passed": counts.passed, "failed": counts.failed, "errors": counts.errors},
    });
    if let Some(coverage) = report.coverage {
        document["coverage"] = coverage_json(coverage);
    }
    crate::write_json(&document, out)?;
    out.flush()
}

fn coverage_json(coverage: &Coverage) -> Value {
    let kinds = CoverageKind::ALL.map(|kind| {
        let missed: Vec<&str> = coverage
            .of(kind)
            .filter(|(_, is_met)| !is_met)
            .map(|(name, _)| name)
            .collect();
        let of = json!({"total": coverage.of(kind).count(), "missed": missed});
        (kind.words().replace(' ', "_"), of)
    });
    kinds.into_iter().collect()
}

fn suite_json(suite: &SuiteReport) -> Value {
    json!({
        "file": &*suite.file,
        "faults": suite.faults.iter().map(placed).collect::<Vec<_>>(),
        "tests": suite.tests.iter().map(test_json).collect::<Vec<_>>(),
    })
}

fn test_json(test: &TestReport) -> Value {
    let failure = |failure: &FailureReport| {
        let rpc = failure
            .rpc
            .as_ref()
            .map(|rpc| json!({"client": rpc.client, "number": rpc.number, "pick": json_of(&rpc.outcome)}));
        json!({
            "line": failure.place.line,
            "column": failure.place.column,
            "expected": failure.expected.trim_matches('`'),
            "never": failure.is_never,
            "happened": failure.happened,
            "more": failure.more,
            "rpc": rpc,
        })
    };
    json!({
        "name": test.name,
        "line": test.place.line,
        "column": test.place.column,
        "result": test.verdict().name(),
        "failures": test.failures.iter().map(failure).collect::<Vec<_>>(),
        "error": test.stop.as_ref().map(placed),
        "notes": test.notes.iter().map(placed).collect::<Vec<_>>(),
        "expectations": test.checks,
        "rpcs": test.rpcs,
        "ended_ms": test.ended_ms,
    })
}

fn placed((place, message): &(SourcePlace, String)) -> Value {
    json!({"line": place.line, "column": place.column, "message": message})
}

/// Writes JUnit XML, with a suite for each file and a case for each test. Real times are left out,
/// so the same input gives the same bytes.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_junit(suites: &[SuiteReport], paths: &PrintedPaths, out: &mut dyn Write) -> io::Result<()> {
    let mut all = Vec::new();
    for suite in suites {
        let mut of_file = junit::Suite {
            name: paths.relative(&suite.file),
            ..junit::Suite::default()
        };
        for (place, fault) in &suite.faults {
            let name = of_file.name.clone();
            of_file.tests += 1;
            of_file.errors += 1;
            let cases = &mut of_file.cases;
            writeln!(cases, "    <testcase classname=\"suite\" name=\"{}\">", xml(&name))?;
            let (line, fault) = (place.line, xml(fault));
            writeln!(
                cases,
                "      <error type=\"suite\" message=\"{fault}\">{}:{line}: {fault}</error>",
                xml(&name)
            )?;
            writeln!(cases, "    </testcase>")?;
        }
        for test in &suite.tests {
            case(test, &mut of_file)?;
        }
        all.push(of_file);
    }
    write_suites(&all, None, out)
}

fn case(test: &TestReport, suite: &mut junit::Suite) -> io::Result<()> {
    suite.tests += 1;
    let verdict = test.verdict();
    suite.failures += usize::from(verdict == TestVerdict::Failed);
    suite.errors += usize::from(verdict == TestVerdict::Error);
    let file = xml(&suite.name);
    let out = &mut suite.cases;
    // JUnit's schema has no file and line for a case.
    write!(out, "    <testcase classname=\"{file}\" name=\"{}\"", xml(&test.name))?;
    if verdict == TestVerdict::Passed && test.notes.is_empty() {
        return writeln!(out, "/>");
    }
    writeln!(out, ">")?;
    if let Some((place, why)) = &test.stop {
        let why = xml(why);
        writeln!(
            out,
            "      <error type=\"step\" message=\"{why}\">{file}:{}: {why}</error>",
            place.line
        )?;
    }
    if let Some(first) = test.failures.first() {
        write!(
            out,
            "      <failure type=\"expectation\" message=\"{}\">",
            xml(&first.sentence())
        )?;
        for (number, failure) in test.failures.iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            write!(out, "{file}:{}: {}", failure.place.line, xml(&failure.sentence()))?;
            for step in failure.rpc.iter().flat_map(|rpc| &rpc.outcome.trace) {
                write!(out, "\n  {}: {}", step.kind.layer(), xml(&step.text))?;
            }
        }
        writeln!(out, "</failure>")?;
    }
    if !test.notes.is_empty() {
        write!(out, "      <system-out>")?;
        for (number, (place, note)) in test.notes.iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            write!(out, "{file}:{}: {}", place.line, xml(note))?;
        }
        writeln!(out, "</system-out>")?;
    }
    writeln!(out, "    </testcase>")
}
