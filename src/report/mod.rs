//! Reports as plain data, and the formats that print them.
//!
//! A command fills a report; a format writes it. Spans have been resolved to lines before, so a format needs no access to
//! the documents. Only this module knows colours and JSON schemas.

pub mod explain;
pub mod graph;
pub mod human;
pub mod json;
pub mod resolve;
pub mod retry;
pub mod route;
mod severities;
pub mod svg;
pub mod tree;

pub use severities::Severities;

use std::collections::BTreeMap;

use crate::diag::{Effect, Rule, Severity};

/// The outcome of `validate`.
#[derive(Debug, Default)]
pub struct Findings {
    /// Every resource, also the clean ones, in the order of the documents.
    pub resources: Vec<ResourceReport>,
    /// Findings that belong to no resource.
    pub findings: Vec<Finding>,
    /// Worlds whose configuration was made for a proxy; their findings are folded for a person.
    pub folded_worlds: Vec<String>,
}

/// One resource and what was found about it.
#[derive(Debug)]
pub struct ResourceReport {
    /// The document, `-` for standard input.
    pub file: String,
    /// File, client scope or wrapper that the resource belongs to.
    pub world: String,
    /// Where in the dump: `dynamic_active_clusters`; empty for a bare resource.
    pub section: String,
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

/// What the client does with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Taken.
    Accepted,
    /// NACKed.
    Rejected,
    /// Never asked for, or hidden by a later duplicate.
    Ignored,
    /// Of a type or in a form that xdsctl does not know.
    NotChecked,
}

impl Verdict {
    /// The word used in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Rejected => "rejected",
            Verdict::Ignored => "ignored",
            Verdict::NotChecked => "not_checked",
        }
    }
}

/// A finding with its place in the user's document.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The kind of fault.
    pub rule: &'static Rule,
    /// How loud, after the user's `-A`, `-W` and `-D`.
    pub severity: Severity,
    /// In the client's notation.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// One action that the reader can take.
    pub help: Option<String>,
    /// Where; `None` if the document has no such place.
    pub place: Option<Place>,
}

/// A span of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The document.
    pub file: String,
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
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Resources by verdict.
    pub verdicts: BTreeMap<&'static str, usize>,
    /// Findings by severity.
    pub severities: BTreeMap<&'static str, usize>,
    /// Findings by effect.
    pub effects: BTreeMap<&'static str, usize>,
}

impl Findings {
    /// Every finding, with the resource it belongs to.
    pub fn all(&self) -> impl Iterator<Item = (Option<&ResourceReport>, &Finding)> {
        let of_resources = self
            .resources
            .iter()
            .flat_map(|r| r.findings.iter().map(move |f| (Some(r), f)));
        self.findings.iter().map(|f| (None, f)).chain(of_resources)
    }

    /// The loudest finding.
    pub fn worst(&self) -> Option<Severity> {
        self.all().map(|(_, f)| f.severity).max()
    }

    /// Counts everything.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for verdict in [
            Verdict::Accepted,
            Verdict::Rejected,
            Verdict::Ignored,
            Verdict::NotChecked,
        ] {
            summary.verdicts.insert(verdict.name(), 0);
        }
        for severity in [Severity::Error, Severity::Warning, Severity::Note] {
            summary.severities.insert(severity.name(), 0);
        }
        for effect in [
            Effect::Nack,
            Effect::Fails,
            Effect::Spec,
            Effect::Dropped,
            Effect::Ignored,
            Effect::Advice,
        ] {
            summary.effects.insert(effect.name(), 0);
        }
        for resource in &self.resources {
            *summary.verdicts.entry(resource.verdict.name()).or_default() += 1;
        }
        for (_, finding) in self.all() {
            *summary.severities.entry(finding.severity.name()).or_default() += 1;
            *summary.effects.entry(finding.rule.effect.name()).or_default() += 1;
        }
        summary
    }
}
