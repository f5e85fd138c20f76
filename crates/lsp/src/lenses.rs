//! Lines above resources and tests: how many references lead to a resource, the command to run a
//! test, and where the RPCs of a target go.

use lsp_types::{CodeLens, Command};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::outline;
use crate::project::names::Named;
use crate::view::{DocumentView, RUN_TEST};
use xdsctl_document::source::Span;
use xdsctl_model::resource::ResourceType;

/// Most lenses of each kind in one document.
const MAX_LENSES: usize = 2_000;

/// Returns the lenses of a document.
pub fn lenses(view: &DocumentView<'_>) -> Vec<CodeLens> {
    let names = view.snapshot.names();
    let mut lenses = Vec::new();
    let given = names
        .places
        .iter()
        .filter(|place| place.is_given && place.source == view.id);
    for place in given.take(MAX_LENSES) {
        let (Named::Resource(kind), word) = (place.named, word(place.named)) else {
            continue;
        };
        if kind == ResourceType::Listener {
            continue;
        }
        let count = names
            .like(place.named, &place.name, place.resource)
            .filter(|other| !other.is_given)
            .count();
        let title = match count {
            0 => format!("no {word} leads here"),
            1 => format!("1 {word} leads here"),
            count => format!("{count} {word}s lead here"),
        };
        let range = view.range(place.span);
        let uri = view.editor.uri(view.file).map(|uri| uri.to_string());
        let position = json!({"line": range.start.line, "character": range.start.character});
        lenses.push(CodeLens {
            range,
            command: Some(Command {
                title,
                // This command is part of the editor's extension; an editor without it shows only
                // the title.
                command: "xdsctl.showReferences".to_owned(),
                arguments: Some(vec![Value::from(uri), position]),
            }),
            data: None,
        });
    }
    if view.snapshot.configuration.contains(&view.id) {
        let tests = outline::tests(view.source).into_iter().take(MAX_LENSES);
        let uri = view.editor.uri(view.file).map(|uri| uri.to_string());
        lenses.extend(tests.map(|(name, _, own)| {
            let mut arguments = vec![Value::from(uri.clone())];
            if !name.is_empty() {
                arguments.push(Value::from(name));
            }
            CodeLens {
                range: view.range(own),
                command: Some(Command {
                    title: "Run this test".to_owned(),
                    command: RUN_TEST.to_owned(),
                    arguments: Some(arguments),
                }),
                data: None,
            }
        }));
        // Where an RPC goes is computed only when the lens is visible, because the world of a suite
        // may be large.
        let uri = view.editor.uri(view.file).map(|uri| uri.to_string());
        let targets = outline::targets(view.source).into_iter().take(MAX_LENSES);
        lenses.extend(targets.map(|(target, own)| {
            CodeLens {
                range: view.range(own),
                command: None,
                data: serde_json::to_value(LensTarget {
                    uri: uri.clone().unwrap_or_default(),
                    start: own.start,
                    end: own.end,
                    target,
                })
                .ok(),
            }
        }));
    }
    lenses
}

/// The data of a lens that says where an RPC goes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LensTarget {
    /// URI of the suite.
    pub uri: String,
    /// Offset of the first byte of the target.
    pub start: usize,
    /// Offset one past the last byte of the target.
    pub end: usize,
    /// The text of the target.
    pub target: String,
}

impl LensTarget {
    /// Returns the place of the target, if the text still has the target there.
    pub fn place(&self, text: &str) -> Option<Span> {
        let is_there = text.get(self.start..self.end)?.contains(self.target.as_str());
        is_there.then(|| Span::new(self.start, self.end))
    }
}

/// Returns the word for what refers to such a name.
const fn word(named: Named) -> &'static str {
    match named {
        Named::Resource(ResourceType::RouteConfiguration) => "listener",
        Named::Resource(ResourceType::Cluster) => "route",
        Named::Resource(ResourceType::Endpoints) => "cluster",
        Named::Resource(ResourceType::Listener) | Named::Provider => "reference",
    }
}
