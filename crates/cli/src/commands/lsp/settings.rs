//! A fault of `xdsctl.toml` as a finding with its place.

use std::sync::Arc;

use crate::Error;
use xdsctl_document::secret;
use xdsctl_document::source::{SourceId, Span};
use xdsctl_lsp::Snapshot;
use xdsctl_lsp::project::ProjectFinding;
use xdsctl_model::diag::Severity;

/// Adds what an error says of a place in the settings; says whether it does.
pub(super) fn place(error: &Error, id: SourceId, name: &str, text: &str, snapshot: &mut Snapshot) -> bool {
    let Error::Marked { message, mark, .. } = error else {
        return false;
    };
    let rest = message.strip_prefix(name).and_then(|rest| rest.strip_prefix(':'));
    let Some((line, column, said)) = rest.and_then(parts) else {
        return false;
    };
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let of_line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
    let byte = |characters: usize| {
        of_line
            .char_indices()
            .nth(characters)
            .map_or(of_line.len(), |(at, _)| at)
    };
    let width = mark.trim_start().chars().count();
    let from = column.saturating_sub(1);
    let span = Span::new(start + byte(from), start + byte(from + width));
    snapshot.findings.push(ProjectFinding {
        source: id,
        span: Some(span),
        rule: None,
        effect: None,
        who: Arc::from(""),
        severity: Severity::Error,
        message: secret::hide(said).into_owned(),
        help: None,
        path: String::new(),
        related: Vec::new(),
        fix: None,
        page: None,
    });
    true
}

/// `LINE:COLUMN: what`.
fn parts(text: &str) -> Option<(usize, usize, &str)> {
    let (line, rest) = text.split_once(':')?;
    let (column, said) = rest.split_once(": ")?;
    Some((line.parse().ok()?, column.parse().ok()?, said))
}
