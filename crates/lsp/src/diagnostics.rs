//! Findings for an editor: those of the command line, with the same rule, message and place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location,
    NumberOrString, Range, Uri,
};
use serde_json::json;

use crate::project::{ProjectFinding, Snapshot};
use crate::text::Lines;
use crate::view::Editor;
use xdsctl_document::source::SourceId;
use xdsctl_model::diag::{Effect, Severity};

/// Most findings of one document that an editor gets; the last one says how many more there are.
pub const MAX_PUBLISHED: usize = 2_000;

/// Name of the source that the editor shows with a finding.
pub const SOURCE: &str = "xdsctl";

/// Words that occur only in xDS configuration. A document with one of them is meant as
/// configuration, even if it cannot be parsed.
const WORDS: [&[u8]; 10] = [
    b"type.googleapis.com/envoy.",
    b"envoy.config.",
    b"virtual_hosts",
    b"virtualHosts",
    b"lb_endpoints",
    b"lbEndpoints",
    b"load_assignment",
    b"eds_cluster_config",
    b"api_listener",
    b"xds_servers",
];

/// Returns the findings of each document, including documents without findings.
pub fn by_file(snapshot: &Snapshot) -> BTreeMap<PathBuf, Vec<&ProjectFinding>> {
    let mut by_file: BTreeMap<SourceId, Vec<&ProjectFinding>> = BTreeMap::new();
    for finding in &snapshot.findings {
        by_file.entry(finding.source).or_default().push(finding);
    }
    let files = snapshot.documents.iter().map(|(file, id)| {
        let findings = by_file.remove(id).filter(|_| is_said(snapshot, *id));
        (file.clone(), findings.unwrap_or_default())
    });
    files.collect()
}

/// Says whether the findings on a document are shown: it must be configuration, or its project must
/// declare all its documents to be configuration.
fn is_said(snapshot: &Snapshot, id: SourceId) -> bool {
    if snapshot.is_declared || snapshot.configuration.contains(&id) {
        return true;
    }
    let bytes = snapshot
        .sources
        .get(id)
        .map(|source| source.bytes())
        .unwrap_or_default();
    WORDS.iter().any(|word| memchr::memmem::find(bytes, word).is_some())
}

/// Returns the findings of one document in the form that the editor expects.
pub fn shown(file: &Path, findings: &[&ProjectFinding], snapshot: &Snapshot, editor: &Editor) -> Vec<Diagnostic> {
    let Some((_, source)) = snapshot.document(file) else {
        return Vec::new();
    };
    let mut lines: BTreeMap<SourceId, Lines> = BTreeMap::new();
    let own = Lines::of(source.bytes());
    let mut shown: Vec<Diagnostic> = Vec::new();
    for finding in findings.iter().take(MAX_PUBLISHED) {
        let range = match finding.span {
            Some(span) => own.range(source.bytes(), span.range(), editor.encoding),
            None => Range::default(),
        };
        let mut related = Vec::new();
        if editor.takes_related {
            for place in &finding.related {
                let Some(source) = snapshot.sources.get(place.source) else {
                    continue;
                };
                let lines = lines.entry(place.source).or_insert_with(|| Lines::of(source.bytes()));
                let Some(uri) = editor.uri(Path::new(source.name())) else {
                    continue;
                };
                related.push(DiagnosticRelatedInformation {
                    location: Location {
                        uri,
                        range: lines.range(source.bytes(), place.span.range(), editor.encoding),
                    },
                    message: place.message.clone(),
                });
            }
            if let (Some(help), Some(uri)) = (&finding.help, editor.uri(file)) {
                related.push(DiagnosticRelatedInformation {
                    location: Location { uri, range },
                    message: format!("help: {help}"),
                });
            }
        }
        shown.push(diagnostic(finding, range, related));
    }
    if let Some(more) = findings.len().checked_sub(MAX_PUBLISHED).filter(|more| *more > 0) {
        shown.push(Diagnostic {
            severity: Some(DiagnosticSeverity::INFORMATION),
            source: Some(SOURCE.to_owned()),
            message: format!("{more} more findings are not shown, `xdsctl validate` has all"),
            ..Diagnostic::default()
        });
    }
    shown
}

fn diagnostic(finding: &ProjectFinding, range: Range, related: Vec<DiagnosticRelatedInformation>) -> Diagnostic {
    let page = finding.page.as_deref().and_then(|page| Uri::from_str(page).ok());
    let is_unread = finding.effect == Some(Effect::Ignored);
    let effect = finding.effect.map(|effect| match &*finding.who {
        "" => effect.name(),
        who => who,
    });
    Diagnostic {
        range,
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: finding.rule.map(|rule| NumberOrString::String(rule.id.to_owned())),
        code_description: page.map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message: finding.message.clone(),
        related_information: (!related.is_empty()).then_some(related),
        tags: is_unread.then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: effect.map(|effect| json!({"effect": effect, "path": finding.path})),
    }
}
