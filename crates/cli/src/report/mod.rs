//! Reports as plain data, and the formats that print them.
//!
//! A command makes a [`resolve::Report`]; a format takes resource after resource out of it and writes. Spans have been
//! resolved to lines before, so a format needs no access to the documents, and only one resource's findings are in memory
//! at a time. Only this module knows colours and JSON schemas.

pub mod edge;
pub mod explain;
pub mod graph;
pub mod human;
pub mod json;
mod masks;
pub mod pick;
pub mod resolve;
pub mod retry;
pub mod route;
pub mod route_json;
mod severities;
pub mod svg;
pub mod tree;

pub use severities::Severities;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use xdsctl::client::Verdict;
use xdsctl::diag::{Effect, FieldPath, Rule, Severity};

/// One resource and what was found about it.
#[derive(Debug)]
pub struct ResourceReport {
    /// The document, `-` for standard input.
    pub file: Arc<str>,
    /// File, client scope or wrapper that the resource belongs to.
    pub world: Arc<str>,
    /// Where in the dump: `static`, `dynamic`, `warming`; empty for a bare resource.
    pub section: &'static str,
    /// Short message name, or the full one for a type that gRPC does not ask for.
    pub type_name: String,
    /// Resource name; `<unnamed #3>` where the dump has none.
    pub name: String,
    /// What the client does with it.
    pub verdict: Verdict,
    /// In the order of the document.
    pub findings: Vec<Finding>,
    /// What the client keeps of it, if asked for.
    pub parsed: Option<serde_json::Value>,
}

/// A finding with its place in the user's document.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The kind of fault.
    pub rule: &'static Rule,
    /// How loud, after the user's `-A`, `-W` and `-D`.
    pub severity: Severity,
    /// In the client's notation.
    pub path: FieldPath,
    /// What is wrong.
    pub message: String,
    /// One action that the reader can take.
    pub help: Option<String>,
    /// Where; `None` if the document has no such place.
    pub place: Option<Box<Place>>,
}

/// A span of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The document.
    pub file: Arc<str>,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// Line of the end.
    pub end_line: usize,
    /// One past the last character.
    pub end_column: usize,
    /// From 0.
    pub byte_start: usize,
    /// One past the last byte.
    pub byte_end: usize,
    /// The lines around it, for findings that are shown to a person.
    pub snippet: Option<Snippet>,
}

/// Some lines of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The text.
    pub text: String,
    /// Number of its first line, from 1.
    pub first_line: usize,
    /// Start of the span in `text`, in bytes.
    pub start: usize,
    /// Length of the span in `text`, in bytes, at least 1.
    pub len: usize,
}

/// Counts for the last lines of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Resources by verdict.
    pub verdicts: BTreeMap<&'static str, usize>,
    /// Findings by severity.
    pub severities: BTreeMap<&'static str, usize>,
    /// Findings by effect.
    pub effects: BTreeMap<&'static str, usize>,
    /// The loudest finding.
    pub worst: Option<Severity>,
}

impl Default for Summary {
    fn default() -> Self {
        let verdicts = [
            Verdict::Accepted,
            Verdict::Rejected,
            Verdict::Ignored,
            Verdict::NotChecked,
        ];
        let severities = [Severity::Error, Severity::Warning, Severity::Note];
        let effects = [
            Effect::Nack,
            Effect::Fails,
            Effect::Spec,
            Effect::Dropped,
            Effect::Ignored,
            Effect::Advice,
        ];
        Summary {
            verdicts: verdicts.map(|v| (v.name(), 0)).into(),
            severities: severities.map(|s| (s.name(), 0)).into(),
            effects: effects.map(|e| (e.name(), 0)).into(),
            worst: None,
        }
    }
}

impl Summary {
    /// How many resources there are with a verdict.
    pub fn of(&self, verdict: Verdict) -> usize {
        self.verdicts.get(verdict.name()).copied().unwrap_or(0)
    }

    fn count(&mut self, effect: Effect, severity: Severity, count: usize) {
        *self.severities.entry(severity.name()).or_default() += count;
        *self.effects.entry(effect.name()).or_default() += count;
        self.worst = self.worst.max(Some(severity));
    }
}
