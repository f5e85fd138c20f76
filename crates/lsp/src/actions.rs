//! The actions for a finding: apply its fix, suppress it by a comment with a reason, or open its
//! rule's page.

use std::borrow::Cow;
use std::collections::HashMap;

use lsp_types::{CodeAction, CodeActionKind, CodeActionParams, Command, TextEdit, Uri, WorkspaceEdit};
use serde_json::Value;

use crate::diagnostics;
use crate::project::ProjectFinding;
use crate::view::{DocumentView, OPEN_RULE};
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_document::source::{Source, SourceMap, Span, yaml};
use xdsctl_lint::catalogue;
use xdsctl_lint::choice::comments;
use xdsctl_model::text::beginning;

/// Most actions for one place.
const MAX_ACTIONS: usize = 50;

/// The text of a new suppression that the user is to replace by a reason.
const REASON: &str = "say why";

/// Returns the actions for the findings in a range.
pub fn actions(view: &DocumentView<'_>, params: &CodeActionParams) -> Vec<CodeAction> {
    let (start, end) = (view.offset(params.range.start), view.offset(params.range.end));
    let wants = |kind: &CodeActionKind| {
        let only = params.context.only.as_ref();
        only.is_none_or(|only| only.iter().any(|wanted| kind.as_str().starts_with(wanted.as_str())))
    };
    let of_document = view
        .snapshot
        .findings
        .iter()
        .filter(|finding| finding.source == view.id);
    let mut actions = Vec::new();
    if wants(&CodeActionKind::QUICKFIX) {
        let here = of_document.clone().filter(|finding| {
            let touches = |span: Span| span.start <= end && start <= span.end;
            finding.span.is_some_and(touches)
        });
        for finding in here {
            actions.extend(fix(view, finding));
            actions.extend(suppress(view, finding));
            actions.extend(open(view, finding));
        }
    }
    if wants(&CodeActionKind::SOURCE_FIX_ALL) {
        let mut edits: Vec<_> = of_document.filter_map(|finding| finding.fix.clone()).collect();
        edits.sort();
        edits.dedup();
        let mut free = 0;
        edits.retain(|edit| {
            let is_free = edit.span.start >= free;
            free = if is_free { edit.span.end } else { free };
            is_free
        });
        let count = edits.len();
        let edits = edits
            .into_iter()
            .map(|edit| text_edit(view, edit.span, edit.text))
            .collect();
        if count > 0 {
            actions.extend(action(
                view,
                format!("xdsctl: make {count} certain fixes"),
                CodeActionKind::SOURCE_FIX_ALL,
                edits,
            ));
        }
    }
    actions.truncate(MAX_ACTIONS);
    actions
}

fn text_edit(view: &DocumentView<'_>, span: Span, new_text: String) -> TextEdit {
    TextEdit {
        range: view.range(span),
        new_text,
    }
}

#[expect(
    clippy::mutable_key_type,
    reason = "the type that the protocol's crate has for a WorkspaceEdit"
)]
fn action(view: &DocumentView<'_>, title: String, kind: CodeActionKind, edits: Vec<TextEdit>) -> Option<CodeAction> {
    let changes: HashMap<Uri, Vec<TextEdit>> = HashMap::from([(view.editor.uri(view.file)?, edits)]);
    Some(CodeAction {
        title,
        kind: Some(kind),
        edit: Some(WorkspaceEdit::new(changes)),
        ..CodeAction::default()
    })
}

fn fix(view: &DocumentView<'_>, finding: &ProjectFinding) -> Option<CodeAction> {
    let edit = finding.fix.clone()?;
    let old = view.text(edit.span);
    let title = match (edit.text.trim(), old.trim()) {
        ("", old) => format!("Remove `{}`", short(old)),
        (new, old) => format!("Replace `{}` with `{}`", short(old), short(new)),
    };
    let edits = vec![text_edit(view, edit.span, edit.text)];
    let action = action(view, title, CodeActionKind::QUICKFIX, edits)?;
    Some(CodeAction {
        diagnostics: Some(diagnostics::shown(view.file, &[finding], view.snapshot, view.editor)),
        is_preferred: Some(true),
        ..action
    })
}

fn short(text: &str) -> Cow<'_, str> {
    beginning(text.lines().next().unwrap_or_default(), 40)
}

/// Suppresses a finding by a comment in the line above it, if that comment applies to the node that
/// begins there.
fn suppress(view: &DocumentView<'_>, finding: &ProjectFinding) -> Option<CodeAction> {
    let rule = finding.rule?;
    if view.source.format() != Some(DocumentFormat::Yaml) {
        return None;
    }
    let start = finding.span?.start;
    let text = std::str::from_utf8(view.source.bytes()).ok()?;
    let line = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let of_line = text.get(line..)?;
    let indent = of_line.len() - of_line.trim_start_matches(' ').len();
    let comment = format!("{}# xdsctl: ignore[{}] {REASON}\n", " ".repeat(indent), rule.id);
    if !is_comment(view.source, text, line, &comment) {
        return None;
    }
    let edits = vec![text_edit(view, Span::new(line, line), comment)];
    let title = format!("Suppress {} here, with a reason", rule.id);
    let action = action(view, title, CodeActionKind::QUICKFIX, edits)?;
    Some(CodeAction {
        diagnostics: Some(diagnostics::shown(view.file, &[finding], view.snapshot, view.editor)),
        ..action
    })
}

/// Says whether inserting the line at `at` adds a comment that xdsctl understands, and changes
/// nothing else in the document.
fn is_comment(source: &Source, text: &str, at: usize, comment: &str) -> bool {
    let mut changed = text.to_owned();
    changed.insert_str(at, comment);
    let rules: Vec<_> = catalogue::rules().collect();
    let changed = Source::of(source.name(), changed.into_bytes());
    changed.set_format(DocumentFormat::Yaml);
    let view = changed.set_view(yaml::view_bytes(changed.bytes()));
    let is_same = source.view().is_some_and(|before| before.json == view.json);
    let count = |source: &Source| {
        let mut sources = SourceMap::new();
        let id = sources.add("", Vec::new());
        let (found, faults) = comments(id, source, &rules);
        (found.len(), faults.len())
    };
    let (before, after) = (count(source), count(&changed));
    is_same && after == (before.0 + 1, before.1)
}

fn open(view: &DocumentView<'_>, finding: &ProjectFinding) -> Option<CodeAction> {
    let rule = finding.rule?;
    let page = finding.page.as_deref().filter(|_| view.editor.shows_documents)?;
    let title = format!("Open the page of {}", rule.id);
    let diagnostics = diagnostics::shown(view.file, &[finding], view.snapshot, view.editor);
    Some(CodeAction {
        title: title.clone(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(diagnostics),
        command: Some(Command {
            title,
            command: OPEN_RULE.to_owned(),
            arguments: Some(vec![Value::from(page)]),
        }),
        ..CodeAction::default()
    })
}
