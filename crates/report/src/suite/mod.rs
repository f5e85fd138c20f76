//! The answer of `test`: the result of each test, for people, and as plain data for the other
//! formats.

pub mod chart;
pub mod findings;
mod formats;
pub mod timeline;

use std::io::{self, Write};
use std::sync::Arc;

use anstyle::AnsiColor;

use super::channel::pick::write_outcome;
use super::edge::{self, visible_line};
use super::findings::human::{self, MessageView, write_view};
use super::masks::Masks;
use super::plural;
use super::{SourcePlace, snippet};
use findings::counts;
use xdsctl_channel::sim::Outcome;
use xdsctl_document::source::{Source, Span};
use xdsctl_model::diag::Severity;
use xdsctl_model::text::percent;
use xdsctl_suite::{Coverage, CoverageKind, Failed, Played};

pub use findings::{write_github, write_gitlab, write_markdown, write_sarif};
pub use formats::{write_json, write_junit};

/// Most entries of each kind that are listed as never met.
const MISSED_SHOWN: usize = 20;

/// The tests of a file.
#[derive(Debug)]
pub struct SuiteReport {
    /// The file, as the user named it.
    pub file: Arc<str>,
    /// The faults of the file, if it is not a suite.
    pub faults: Vec<(SourcePlace, String)>,
    /// The tests of the suite that were run.
    pub tests: Vec<TestReport>,
}

/// A test that was run.
#[derive(Debug)]
pub struct TestReport {
    /// Name of the test.
    pub name: String,
    /// Place of the test in the file.
    pub place: SourcePlace,
    /// The expectations that were not met.
    pub failures: Vec<FailureReport>,
    /// Why the test could not be run to its end; `None` if it could.
    pub stop: Option<(SourcePlace, String)>,
    /// Notes for people.
    pub notes: Vec<(SourcePlace, String)>,
    /// How many expectations were checked.
    pub checks: u64,
    /// How many RPCs ended.
    pub rpcs: u64,
    /// Duration of the test in simulated time, in milliseconds.
    pub ended_ms: i64,
}

/// An expectation that was not met.
#[derive(Debug)]
pub struct FailureReport {
    /// Place of the expectation.
    pub place: SourcePlace,
    /// The expectation, as written.
    pub expected: String,
    /// Whether the expectation says what must never happen.
    pub is_never: bool,
    /// What happened instead of what was expected.
    pub happened: String,
    /// How many further RPCs did not meet the expectation.
    pub more: u64,
    /// The first such RPC.
    pub rpc: Option<Failed>,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestVerdict {
    /// All expectations were met.
    Passed,
    /// An expectation was not met.
    Failed,
    /// The test could not be run to its end.
    Error,
}

impl TestVerdict {
    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            TestVerdict::Passed => "passed",
            TestVerdict::Failed => "failed",
            TestVerdict::Error => "error",
        }
    }
}

impl TestReport {
    /// Returns how the test ended.
    pub const fn verdict(&self) -> TestVerdict {
        match (&self.stop, self.failures.is_empty()) {
            (Some(_), _) => TestVerdict::Error,
            (None, true) => TestVerdict::Passed,
            (None, false) => TestVerdict::Failed,
        }
    }
}

impl FailureReport {
    /// Says on one line what was expected and what happened.
    pub fn sentence(&self) -> String {
        let more = match self.more {
            0 => String::new(),
            1 => ", and so another RPC".to_owned(),
            more => format!(", and so {more} more RPCs"),
        };
        let word = if self.is_never { "never" } else { "expected" };
        format!(
            "{word} {}: {}{more}",
            visible_line(&self.expected),
            visible_line(&self.happened)
        )
    }
}

/// How the report looks, and what is in it.
#[derive(Debug, Clone, Copy)]
pub struct SuiteStyle {
    /// How snippets of the suite look.
    pub findings: human::FindingsStyle,
    /// Whether the whole way of an RPC is written.
    pub explains: bool,
    /// Whether tests that pass are left out (`--quiet`).
    pub is_quiet: bool,
    /// Whether secrets are written.
    pub shows_secrets: bool,
}

/// Finds places in a document, with the lines around them.
#[derive(Debug)]
pub struct Placing<'s> {
    source: &'s Source,
    masks: Masks,
    style: SuiteStyle,
}

impl<'s> Placing<'s> {
    /// Prepares for a document.
    pub fn new(source: &'s Source, style: SuiteStyle) -> Placing<'s> {
        Placing {
            source,
            masks: Masks::suite(source, style.shows_secrets),
            style,
        }
    }

    /// Returns the place of a span, with the lines around it.
    pub fn place(&self, span: Span) -> SourcePlace {
        let place = SourcePlace::of(self.source, span);
        let cut = snippet::Cut {
            source: self.source,
            masks: &self.masks,
            named: None,
            columns: self.style.findings.snippet_columns(),
        };
        SourcePlace {
            snippet: Some(cut.around(span, place.line)),
            ..place
        }
    }

    /// Makes the failure of a test whose world was not read in full. `span` names the world, and
    /// `lost` says what is missing.
    pub fn unread_world(&self, span: Span, lost: String) -> FailureReport {
        FailureReport {
            place: self.place(span),
            expected: "a world that can be read in full".to_owned(),
            is_never: false,
            happened: lost,
            more: 0,
            rpc: None,
        }
    }

    /// Makes the report of a test that was run.
    pub fn report(&self, name: String, span: Span, played: Played) -> TestReport {
        let failures = played.failures.into_iter().map(|failure| FailureReport {
            place: self.place(failure.span),
            expected: quoted(self.source, failure.span),
            is_never: failure.is_never,
            happened: failure.happened,
            more: failure.more,
            rpc: failure.rpc,
        });
        TestReport {
            name,
            place: self.place(span),
            failures: failures.collect(),
            stop: played.stop.map(|stop| (self.place(stop.span), stop.why)),
            notes: played
                .notes
                .into_iter()
                .map(|(span, note)| (self.place(span), note))
                .collect(),
            checks: played.checks,
            rpcs: played.rpcs,
            ended_ms: played.ended,
        }
    }
}

/// Returns the text at a place in backticks, on one line and without comments.
pub fn quoted(source: &Source, span: Span) -> String {
    let text = String::from_utf8_lossy(source.bytes().get(span.range()).unwrap_or_default());
    let is_block = text.contains('\n');
    let words = text.lines().flat_map(|line| {
        // A `#` between quotes is no comment.
        let end = line
            .find(" #")
            .filter(|at| is_block && !line.get(*at..).is_some_and(|rest| rest.contains(['"', '\''])));
        line.get(..end.unwrap_or(line.len()))
            .unwrap_or_default()
            .split_whitespace()
    });
    let words: Vec<&str> = words.collect();
    format!("`{}`", words.join(" "))
}

/// The results of all suites.
#[derive(Debug, Clone, Copy)]
pub struct SuitesReport<'r> {
    /// The suites, in the order in which they were run.
    pub suites: &'r [SuiteReport],
    /// Which parts of the configuration were met by RPCs, if the user asked for that.
    pub coverage: Option<&'r Coverage>,
}

/// Writes how many parts were met, and which were not.
fn write_coverage(coverage: &Coverage, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "coverage")?;
    for kind in CoverageKind::ALL {
        let all = coverage.of(kind).count();
        let met = coverage.of(kind).filter(|(_, is_met)| *is_met).count();
        if all == 0 {
            continue;
        }
        let part = percent(met as u64, all as u64);
        writeln!(out, "  {:17}{met:>6} of {all:<6}{part:>8}", kind.words())?;
        let missed = coverage.of(kind).filter(|(_, is_met)| !is_met);
        for (name, _) in missed.clone().take(MISSED_SHOWN) {
            say!(out, "    never met: {name}")?;
        }
        let more = missed.count().saturating_sub(MISSED_SHOWN);
        if more > 0 {
            writeln!(out, "    ... and {more} more, all of them with --format json")?;
        }
    }
    let (met, all) = coverage.counts();
    writeln!(
        out,
        "  {:17}{met:>6} of {all:<6}{:>8}",
        "all",
        percent(met as u64, all as u64)
    )
}

/// Number of tests by their verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests in which all expectations were met.
    pub passed: usize,
    /// Tests with an expectation that was not met.
    pub failed: usize,
    /// Tests that could not be run to their end, and files that are not suites.
    pub errors: usize,
}

impl Counts {
    /// Counts the tests of all suites by their verdicts.
    pub fn of(suites: &[SuiteReport]) -> Counts {
        let mut counts = Counts::default();
        for suite in suites {
            counts.errors += usize::from(!suite.faults.is_empty());
            for test in &suite.tests {
                match test.verdict() {
                    TestVerdict::Passed => counts.passed += 1,
                    TestVerdict::Failed => counts.failed += 1,
                    TestVerdict::Error => counts.errors += 1,
                }
            }
        }
        counts
    }
}

/// Writes the report for people.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_human(report: SuitesReport<'_>, style: SuiteStyle, out: &mut dyn Write) -> io::Result<()> {
    let suites = report.suites;
    for suite in suites {
        for (place, fault) in &suite.faults {
            write_fault(place, fault, Severity::Error, style, out)?;
        }
        for test in &suite.tests {
            write_test(suite, test, style, out)?;
        }
    }
    if let Some(coverage) = report.coverage {
        write_coverage(coverage, out)?;
    }
    if style.is_quiet {
        return out.flush();
    }
    writeln!(out, "{}", counts(suites))?;
    out.flush()
}

fn write_test(suite: &SuiteReport, test: &TestReport, style: SuiteStyle, out: &mut dyn Write) -> io::Result<()> {
    let verdict = test.verdict();
    if style.is_quiet && verdict == TestVerdict::Passed {
        return Ok(());
    }
    let (word, colour) = match verdict {
        TestVerdict::Passed => ("ok", AnsiColor::Green),
        TestVerdict::Failed => ("FAILED", AnsiColor::Red),
        TestVerdict::Error => ("ERROR", AnsiColor::Red),
    };
    let word = edge::paint(colour.on_default(), style.findings.colour, word);
    let took = test.ended_ms as f64 / 1000.0;
    let rpcs = plural(usize::try_from(test.rpcs).unwrap_or(usize::MAX), "RPC");
    match test.rpcs == 0 && test.ended_ms == 0 && test.checks > 0 {
        true => say!(out, "{word} {}: {}", suite.file, test.name)?,
        false => say!(out, "{word} {}: {} ({rpcs} in {took} s)", suite.file, test.name)?,
    }
    if verdict == TestVerdict::Passed {
        for (place, note) in &test.notes {
            say!(out, "  note: {}:{}: {note}", place.file, place.line)?;
        }
        if test.checks == 0 {
            say!(out, "  note: the test expects nothing")?;
        }
        return Ok(());
    }
    writeln!(out)?;
    for failure in &test.failures {
        write_fault(&failure.place, &failure.sentence(), Severity::Error, style, out)?;
        if let Some(rpc) = &failure.rpc {
            write_rpc(rpc, style, out)?;
        }
    }
    for (place, note) in &test.notes {
        write_fault(place, note, Severity::Note, style, out)?;
    }
    if let Some((place, why)) = &test.stop {
        write_fault(place, why, Severity::Error, style, out)?;
    }
    Ok(())
}

/// Writes the way of an RPC.
fn write_rpc(rpc: &Failed, style: SuiteStyle, out: &mut dyn Write) -> io::Result<()> {
    let Outcome { began, .. } = rpc.outcome;
    let client = match rpc.client.as_str() {
        "" => String::new(),
        name => format!(" of `{name}`"),
    };
    write!(
        out,
        "RPC {}{}, at {} s: ",
        rpc.number,
        visible_line(&client),
        began as f64 / 1000.0
    )?;
    write_outcome(&rpc.outcome, style.explains, style.findings.colour, out)?;
    writeln!(out)
}

fn write_fault(
    place: &SourcePlace,
    message: &str,
    severity: Severity,
    style: SuiteStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let view = MessageView {
        message: message.to_owned(),
        code: None,
        help: None,
        severity,
        place: Some(place),
    };
    write_view(&view, style.findings, out)
}
