//! The report of `test` as findings with places: SARIF, GitLab's code quality report, and a
//! comment.

use std::io::{self, Write};

use serde_json::json;

use super::{Counts, SuiteReport};
use crate::findings::github::{data, property};
use crate::findings::gitlab::{self, Issue, Location};
use crate::findings::markdown::{MAX_COMMENT_BYTES, code, inline};
use crate::findings::sarif::{MAX_RESULTS, text_region, write_run};
use crate::paths::PrintedPaths;
use crate::{SourcePlace, plural};
use xdsctl_model::diag::{Fingerprints, Severity};

/// The kinds of findings on a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SuiteFindingKind {
    Expectation,
    Never,
    Step,
    Suite,
}

/// Says whether this is the id of a finding on suites.
pub fn is_of_suites(id: &str) -> bool {
    SuiteFindingKind::ALL.iter().any(|kind| kind.id() == id)
}

impl SuiteFindingKind {
    const ALL: [SuiteFindingKind; 4] = [
        SuiteFindingKind::Expectation,
        SuiteFindingKind::Never,
        SuiteFindingKind::Step,
        SuiteFindingKind::Suite,
    ];

    const fn id(self) -> &'static str {
        match self {
            SuiteFindingKind::Expectation => "expectation",
            SuiteFindingKind::Never => "never",
            SuiteFindingKind::Step => "step",
            SuiteFindingKind::Suite => "suite",
        }
    }

    const fn summary(self) -> &'static str {
        match self {
            SuiteFindingKind::Expectation => "An expectation of a suite that is not met.",
            SuiteFindingKind::Never => "Something that no RPC of a run may do, and one does.",
            SuiteFindingKind::Step => "A test that cannot be run to its end.",
            SuiteFindingKind::Suite => "A file that is no suite.",
        }
    }

    const fn help(self) -> &'static str {
        match self {
            SuiteFindingKind::Expectation | SuiteFindingKind::Never => {
                "`xdsctl test --run NAME FILE` shows the way of the RPC; `xdsctl simulate` tells what happens in the course of the test."
            }
            SuiteFindingKind::Step => "The message says what the step asks for and cannot have.",
            SuiteFindingKind::Suite => "docs/testing.md has what a suite says.",
        }
    }
}

/// A finding on a suite, for all formats here.
struct Item<'s> {
    kind: SuiteFindingKind,
    /// The file, as the user named it.
    file: &'s str,
    /// Name of the test; empty for a file that is not a suite.
    test: &'s str,
    place: &'s SourcePlace,
    message: String,
    /// The text by which a later run recognises the finding, as long as the suite has the same text
    /// there.
    known_by: &'s str,
}

fn items(suites: &[SuiteReport]) -> impl Iterator<Item = Item<'_>> {
    suites.iter().flat_map(|suite| {
        let file = &*suite.file;
        let faults = suite.faults.iter().map(move |(place, fault)| Item {
            kind: SuiteFindingKind::Suite,
            file,
            test: "",
            place,
            message: fault.clone(),
            known_by: fault,
        });
        let of_tests = suite.tests.iter().flat_map(move |test| {
            let failures = test.failures.iter().map(move |failure| Item {
                kind: match failure.is_never {
                    true => SuiteFindingKind::Never,
                    false => SuiteFindingKind::Expectation,
                },
                file,
                test: &test.name,
                place: &failure.place,
                message: failure.sentence(),
                known_by: &failure.expected,
            });
            let stop = test.stop.iter().map(move |(place, why)| Item {
                kind: SuiteFindingKind::Step,
                file,
                test: &test.name,
                place,
                message: why.clone(),
                known_by: why,
            });
            failures.chain(stop)
        });
        faults.chain(of_tests)
    })
}

impl Item<'_> {
    fn sentence(&self) -> String {
        match self.test {
            "" => self.message.clone(),
            test => format!("{test}: {}", self.message),
        }
    }

    fn fingerprint(&self, known: &mut Fingerprints, file: &str) -> String {
        let texts = [file, self.kind.id(), self.test, self.known_by];
        known.next_of(&texts).to_string()
    }
}

/// Writes SARIF 2.1.0 with the properties that code scanning asks for.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_sarif(suites: &[SuiteReport], paths: &PrintedPaths, out: &mut dyn Write) -> io::Result<()> {
    let mut known = Fingerprints::default();
    let mut results: Vec<String> = Vec::new();
    let mut omitted = 0;
    for item in items(suites) {
        if results.len() >= MAX_RESULTS {
            omitted += 1;
            continue;
        }
        let location = json!({
            "physicalLocation": {
                "artifactLocation": { "uri": paths.uri(item.file) },
                "region": text_region(item.place),
            },
            "logicalLocations": [{ "name": item.test, "kind": "test" }],
        });
        let result = json!({
            "ruleId": item.kind.id(),
            "ruleIndex": SuiteFindingKind::ALL.iter().position(|kind| *kind == item.kind),
            "level": Severity::Error.name(),
            "message": { "text": item.sentence() },
            "locations": [location],
            "partialFingerprints": { "primaryLocationLineHash": item.fingerprint(&mut known, &paths.relative(item.file)) },
        });
        results.push(result.to_string());
    }
    let rules = SuiteFindingKind::ALL.map(|kind| {
        json!({
            "id": kind.id(),
            "shortDescription": { "text": kind.summary() },
            "fullDescription": { "text": kind.summary() },
            "help": { "text": kind.help(), "markdown": kind.help() },
            "defaultConfiguration": { "level": Severity::Error.name() },
            "properties": { "tags": ["xds", "grpc", "test"], "precision": "very-high", "problem.severity": "error" },
        })
    });
    let driver = json!({ "name": "xdsctl", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules });
    let mut invocation = json!({ "executionSuccessful": true });
    if omitted > 0 {
        let text = format!("{omitted} results are left out: a run has {MAX_RESULTS}");
        invocation["toolExecutionNotifications"] = json!([{ "level": "warning", "message": { "text": text } }]);
    }
    write_run(&driver, &invocation, results.iter(), out)
}

/// Writes the report for GitLab's code quality widget.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_gitlab(suites: &[SuiteReport], paths: &PrintedPaths, out: &mut dyn Write) -> io::Result<()> {
    let mut known = Fingerprints::default();
    let mut before = "[\n  ";
    for item in items(suites) {
        let path = paths.relative(item.file);
        let issue = Issue {
            description: &item.sentence(),
            check_name: item.kind.id(),
            fingerprint: item.fingerprint(&mut known, &path),
            severity: gitlab::severity(Severity::Error),
            location: Location::of(&path, Some(item.place)),
        };
        out.write_all(before.as_bytes())?;
        serde_json::to_writer(&mut *out, &issue)?;
        before = ",\n  ";
    }
    let end: &[u8] = if before.starts_with('[') { b"[]\n" } else { b"\n]\n" };
    out.write_all(end)?;
    out.flush()
}

/// Writes an annotation for each finding, and a line with the counts.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_github(suites: &[SuiteReport], paths: &PrintedPaths, out: &mut dyn Write) -> io::Result<()> {
    for item in items(suites) {
        let title = match item.kind {
            SuiteFindingKind::Suite => "suite",
            _ => item.test,
        };
        let (file, title) = (property(&paths.relative(item.file)), property(title));
        let (line, column, message) = (item.place.line, item.place.column, data(&item.message));
        writeln!(
            out,
            "::error file={file},line={line},col={column},title={title}::{message}"
        )?;
    }
    writeln!(out, "{}", counts(suites))?;
    out.flush()
}

/// Writes a comment for a pull request.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_markdown(suites: &[SuiteReport], paths: &PrintedPaths, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### xdsctl: {}", counts(suites))?;
    let (mut left, mut omitted) = (MAX_COMMENT_BYTES, 0);
    for (number, item) in items(suites).enumerate() {
        let place = code(&format!("{}:{}", paths.relative(item.file), item.place.line));
        let test = match item.test {
            "" => String::new(),
            test => format!("**{}**: ", inline(test)),
        };
        let line = format!("- {place} {test}{}\n", inline(&item.message));
        if omitted > 0 || line.len() > left {
            omitted += 1;
            continue;
        }
        left -= line.len();
        if number == 0 {
            writeln!(out)?;
        }
        out.write_all(line.as_bytes())?;
    }
    if omitted > 0 {
        let limit = MAX_COMMENT_BYTES;
        writeln!(out, "\n{omitted} more do not fit: a comment has {limit} bytes for them")?;
    }
    out.flush()
}

/// Returns the number of tests by their verdict: `3 tests: 2 passed, 1 failed`.
pub(crate) fn counts(suites: &[SuiteReport]) -> String {
    let counts = Counts::of(suites);
    let total = plural(suites.iter().map(|suite| suite.tests.len()).sum(), "test");
    let (passed, failed) = (counts.passed, counts.failed);
    match counts.errors {
        0 => format!("{total}: {passed} passed, {failed} failed"),
        errors => format!("{total}: {passed} passed, {failed} failed, {errors} could not be run"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_words_of_its_own() {
        let mut words: Vec<&str> = SuiteFindingKind::ALL
            .iter()
            .flat_map(|kind| [kind.id(), kind.summary()])
            .collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 2 * SuiteFindingKind::ALL.len());
    }

    #[test]
    fn nothing_found_is_an_empty_list() {
        let mut out = Vec::new();
        write_gitlab(&[], &PrintedPaths::default(), &mut out).unwrap();
        assert_eq!(out, b"[]\n");
        out.clear();
        write_sarif(&[], &PrintedPaths::default(), &mut out).unwrap();
        let parsed: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(parsed["runs"][0]["results"], json!([]));
    }
}
