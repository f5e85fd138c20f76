//! The baseline: a file that is kept beside the configuration and lists known findings, so that
//! only new ones are reported.
//!
//! It is JSON with a line for each finding, in an order that does not change from run to run, so
//! that a review shows each change as one line. A finding is known if its [`Fingerprint`] is in the
//! file; the other keys are for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use xdsctl_document::secret::hide;
use xdsctl_model::diag::Fingerprint;

/// Name of the schema.
pub const SCHEMA: &str = "xdsctl.baseline/v1";

/// One finding of a baseline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BaselineEntry {
    /// The document, as the caller of [`suppress`](crate::decide::suppress) names it.
    pub file: String,
    /// Type of the resource; empty for a finding on the document.
    pub type_name: String,
    /// Name of the resource; empty for a finding on the document.
    pub name: String,
    /// Id of the rule.
    pub rule: String,
    /// Path in the client's notation, as it was when the baseline was written.
    pub path: String,
    /// The fingerprint by which a later run recognises the finding.
    pub fingerprint: Fingerprint,
}

/// Findings that are known, read from a file.
#[derive(Debug, Clone, Default)]
pub struct Baseline {
    known: BTreeMap<Fingerprint, BaselineEntry>,
    met: BTreeSet<Fingerprint>,
}

impl Baseline {
    /// Reads the text that [`write()`] makes.
    ///
    /// # Errors
    /// Says in words why the text is not a baseline.
    pub fn read(text: &[u8]) -> Result<Baseline, String> {
        let document: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let schema = document.get("schema").and_then(Value::as_str);
        if schema != Some(SCHEMA) {
            return Err(format!("it is not a baseline: `schema` must be `{SCHEMA}`"));
        }
        let findings = document.get("findings").and_then(Value::as_array);
        let findings = findings.ok_or("it is not a baseline: `findings` must be a list")?;
        let mut baseline = Baseline::default();
        for (number, finding) in findings.iter().enumerate() {
            let text = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let fingerprint = text("fingerprint").parse();
            let fingerprint =
                fingerprint.map_err(|_| format!("`findings[{number}].fingerprint` must have 16 hexadecimal digits"))?;
            let known = BaselineEntry {
                file: text("file"),
                type_name: text("type"),
                name: text("name"),
                rule: text("rule"),
                path: text("path"),
                fingerprint,
            };
            baseline.known.insert(fingerprint, known);
        }
        Ok(baseline)
    }

    /// Says whether a finding is in the baseline, and remembers that it occurred.
    pub(crate) fn takes(&mut self, fingerprint: Fingerprint) -> bool {
        let is_known = self.known.contains_key(&fingerprint);
        if is_known {
            self.met.insert(fingerprint);
        }
        is_known
    }

    /// Returns the entries whose finding has not occurred in this run.
    pub(crate) fn stale(&self) -> impl Iterator<Item = &BaselineEntry> {
        self.known
            .values()
            .filter(|known| !self.met.contains(&known.fingerprint))
    }
}

/// Returns the text of a baseline with these findings.
pub fn write(mut findings: Vec<BaselineEntry>) -> String {
    findings.sort();
    // Several clients may have the same finding.
    findings.dedup_by_key(|known| known.fingerprint);
    let mut text = format!("{{\n  \"schema\": \"{SCHEMA}\",\n  \"findings\": [");
    for (number, known) in findings.iter().enumerate() {
        let row = json!({
            "fingerprint": known.fingerprint.to_string(),
            "rule": known.rule,
            "file": known.file,
            "type": known.type_name,
            "name": hide(&known.name),
            "path": hide(&known.path),
        });
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\n    {row}");
    }
    text.push_str(if findings.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
    text
}
