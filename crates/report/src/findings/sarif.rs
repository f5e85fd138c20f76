//! `--format sarif`: SARIF 2.1.0 with the properties that code scanning asks for.
//!
//! File names are relative to the root of the repository, each rule has its page, and fingerprints
//! survive edits elsewhere in the file. The number of results of a run is limited: the most severe
//! ones are kept, and a notification says how many are left out.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::not_checked::NotCheckedKind;
use super::{ByFinding, Finding, RelatedPlace, ResourceReport, Summary, file_and_place, fingerprint, paragraph};
use crate::SourcePlace;
use crate::paths::PrintedPaths;
use xdsctl_model::diag::{Fingerprints, Rule, Severity};

/// Most results of a run; code scanning rejects a file with more.
pub const MAX_RESULTS: usize = 25_000;

/// The schema that the document follows.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Collects results by severity, so that the most severe ones can come first.
pub struct Sarif<W: Write> {
    paths: PrintedPaths,
    out: W,
    fingerprints: Fingerprints,
    /// Errors, warnings and notes, each as a line of JSON.
    results: [Vec<String>; 3],
    omitted: usize,
    /// The rules, in the order of their first findings.
    rules: Vec<&'static Rule>,
}

impl<W: Write> Sarif<W> {
    /// Creates a writer; nothing is written yet.
    pub fn new(paths: PrintedPaths, out: W) -> Self {
        Sarif {
            paths,
            out,
            fingerprints: Fingerprints::default(),
            results: Default::default(),
            omitted: 0,
            rules: Vec::new(),
        }
    }

    fn index(&mut self, rule: &'static Rule) -> usize {
        let known = self.rules.iter().position(|known| known.id == rule.id);
        known.unwrap_or_else(|| {
            self.rules.push(rule);
            self.rules.len() - 1
        })
    }

    /// Returns a related place of a finding in this file.
    fn related(&self, id: usize, related: &RelatedPlace, (file, finding): (&str, &Finding)) -> Value {
        // The place in a binary resource is in its text form, which is not a file.
        let place = related.place.as_deref().filter(|place| file == &*place.file);
        json!({
            "id": id,
            "physicalLocation": {
                "artifactLocation": { "uri": self.paths.uri(file) },
                "region": region(place, finding),
            },
            "message": { "text": related.said() },
        })
    }

    /// Removes the least severe results beyond the limit.
    fn cut(&mut self) {
        let mut left = MAX_RESULTS;
        for results in &mut self.results {
            let kept = results.len().min(left);
            self.omitted += results.len() - kept;
            results.truncate(kept);
            left -= kept;
        }
    }
}

/// Returns the region of a finding: in a text, or else the bytes of its resource.
fn region(place: Option<&SourcePlace>, finding: &Finding) -> Value {
    match (place, &finding.place) {
        (Some(place), _) => text_region(place),
        (None, Some(decoded)) => json!({
            "startLine": 1,
            "byteOffset": decoded.byte_start,
            "byteLength": decoded.byte_end - decoded.byte_start,
        }),
        (None, None) => json!({ "startLine": 1 }),
    }
}

/// Returns the region of a place in a text.
pub(crate) fn text_region(place: &SourcePlace) -> Value {
    json!({
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column.max(if place.line == place.end_line { place.column + 1 } else { 1 }),
    })
}

/// Writes a document with one run; each result is one line.
///
/// # Errors
/// If writing to `out` fails.
pub(crate) fn write_run<'r>(
    driver: &Value,
    invocation: &Value,
    results: impl Iterator<Item = &'r String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "{{\n  \"$schema\": \"{SCHEMA}\",\n  \"version\": \"2.1.0\",\n  \"runs\": [{{"
    )?;
    writeln!(out, "    \"tool\": {{\"driver\": {driver}}},")?;
    writeln!(out, "    \"invocations\": [{invocation}],")?;
    writeln!(out, "    \"columnKind\": \"unicodeCodePoints\",")?;
    write!(out, "    \"results\": [")?;
    for (number, result) in results.enumerate() {
        write!(out, "{}\n      {result}", if number > 0 { "," } else { "" })?;
    }
    writeln!(out, "\n    ]\n  }}]\n}}")?;
    out.flush()
}

fn rule(rule: &Rule) -> Value {
    let problem = match rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "recommendation",
    };
    let summary = rule.summary.trim();
    json!({
        "id": rule.id,
        "shortDescription": { "text": summary },
        "fullDescription": { "text": summary },
        "help": { "text": rule.page, "markdown": rule.page },
        "defaultConfiguration": { "level": rule.severity.name() },
        "properties": {
            "tags": ["xds", "grpc", rule.subject.name(), rule.effect.name()],
            "precision": "very-high",
            "problem.severity": problem,
            "source": rule.source,
        },
    })
}

impl<W: Write> ByFinding for Sarif<W> {
    fn finding(&mut self, resource: Option<&ResourceReport>, finding: &Finding) -> io::Result<()> {
        let bucket = match finding.severity {
            Severity::Error => 0,
            Severity::Warning => 1,
            Severity::Note => 2,
        };
        let louder: usize = self.results.iter().take(bucket + 1).map(Vec::len).sum();
        if louder >= MAX_RESULTS {
            self.omitted += 1;
            return Ok(());
        }
        let (file, place) = file_and_place(resource, finding);
        let file = file.unwrap_or("-");
        let mut location = json!({
            "physicalLocation": {
                "artifactLocation": { "uri": self.paths.uri(file) },
                "region": region(place, finding),
            }
        });
        if let Some(resource) = resource {
            let (type_name, name) = (&resource.type_name, &resource.name);
            location["logicalLocations"] = json!([{
                "name": name,
                "fullyQualifiedName": format!("{type_name}/{name}"),
                "kind": "resource",
            }]);
        }
        let fingerprint = fingerprint(&mut self.fingerprints, &self.paths.relative(file), resource, finding);
        let mut result = json!({
            "ruleId": finding.rule.id,
            "ruleIndex": self.index(finding.rule),
            "level": finding.severity.name(),
            "message": { "text": paragraph(resource, finding) },
            "locations": [location],
            "partialFingerprints": { "primaryLocationLineHash": fingerprint },
            "properties": { "effect": finding.effects(), "path": finding.path.to_string() },
        });
        let others = finding.related.iter().enumerate();
        let others: Vec<Value> = others
            .map(|(id, other)| self.related(id, other, (file, finding)))
            .collect();
        if !others.is_empty() {
            result["relatedLocations"] = Value::from(others);
        }
        if let Some(results) = self.results.get_mut(bucket) {
            results.push(result.to_string());
        }
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        self.cut();
        let rules: Vec<Value> = self.rules.iter().map(|known| rule(known)).collect();
        let driver = json!({
            "name": "xdsctl",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "properties": { "client": summary.asked },
            "rules": rules,
        });
        let mut invocation = json!({ "executionSuccessful": true });
        let notification = |level: &str, text: String| json!({ "level": level, "message": { "text": text } });
        let not_checked = summary.not_checked.iter().map(|entry| {
            let level = match entry.kind {
                NotCheckedKind::Verdict | NotCheckedKind::Policies => "error",
                _ => "note",
            };
            notification(level, format!("not checked: {}", entry.sentence()))
        });
        let mut notifications: Vec<Value> = not_checked.collect();
        if self.omitted > 0 {
            let text = format!("{} results are left out: a run has {MAX_RESULTS}", self.omitted);
            notifications.push(notification("warning", text));
        }
        if !notifications.is_empty() {
            invocation["toolExecutionNotifications"] = Value::from(notifications);
        }
        write_run(&driver, &invocation, self.results.iter().flatten(), &mut self.out)
    }
}
