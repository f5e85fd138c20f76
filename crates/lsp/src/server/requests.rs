//! The requests about a document, and the functions that answer them.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::project::Snapshot;
use crate::view::{DocumentView, Editor};
use crate::{actions, completion, definition, hover, lenses, outline, rename};

/// The reply to a request.
pub enum Reply {
    /// The answer.
    Value(Value),
    /// The parameters of the request are invalid.
    Invalid(String),
    /// The request cannot be fulfilled.
    Failed(String),
}

/// A function that answers a request about a document from the request's parameters.
type Handler = fn(&DocumentView<'_>, Value) -> Reply;

/// The handler of every request about a document.
static HANDLERS: &[(&str, Handler)] = &[
    ("textDocument/hover", |view, params| {
        with(params, |params| hover::hover(view, &params))
    }),
    ("textDocument/completion", |view, params| {
        with(params, |params| completion::completion(view, &params))
    }),
    ("textDocument/definition", |view, params| {
        with(params, |params| definition::definition(view, &params))
    }),
    ("textDocument/references", |view, params| {
        with(params, |params| definition::references(view, &params))
    }),
    ("textDocument/prepareRename", |view, params| {
        with(params, |params| rename::prepare(view, &params))
    }),
    ("textDocument/rename", |view, params| match read(params) {
        Ok(params) => match rename::rename(view, &params) {
            Ok(edit) => value(edit),
            Err(why) => Reply::Failed(why),
        },
        Err(invalid) => invalid,
    }),
    ("textDocument/documentSymbol", |view, _| value(outline::symbols(view))),
    ("textDocument/foldingRange", |view, _| value(outline::folds(view))),
    ("textDocument/selectionRange", |view, params| {
        with(params, |params| outline::selections(view, &params))
    }),
    ("textDocument/codeAction", |view, params| {
        with(params, |params| actions::actions(view, &params))
    }),
    ("textDocument/codeLens", |view, _| value(lenses::lenses(view))),
];

/// Says whether there is a handler for this method.
pub fn is_known(method: &str) -> bool {
    HANDLERS.iter().any(|(name, _)| *name == method)
}

/// Answers a request about the document of `file`.
pub fn answer(method: &str, params: Value, snapshot: &Snapshot, editor: &Editor, file: &Path) -> Reply {
    let handler = HANDLERS.iter().find(|(name, _)| *name == method);
    match (handler, DocumentView::of(snapshot, editor, file)) {
        (Some((_, handler)), Some(view)) => handler(&view, params),
        // The project cannot be checked, so there is no answer.
        _ => Reply::Value(Value::Null),
    }
}

fn read<P: DeserializeOwned>(params: Value) -> Result<P, Reply> {
    serde_json::from_value(params).map_err(|error| Reply::Invalid(error.to_string()))
}

fn value(answer: impl serde::Serialize) -> Reply {
    match serde_json::to_value(answer) {
        Ok(value) => Reply::Value(value),
        Err(error) => Reply::Failed(error.to_string()),
    }
}

/// Parses the parameters, and replies with the answer as JSON.
fn with<P: DeserializeOwned, A: serde::Serialize>(params: Value, answer: impl FnOnce(P) -> A) -> Reply {
    match read(params) {
        Ok(params) => value(answer(params)),
        Err(invalid) => invalid,
    }
}
