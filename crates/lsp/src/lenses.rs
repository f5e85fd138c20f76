//! Lines above resources and tests: how many lead there, a test that can be run, and where the RPCs of a target go.

use lsp_types::{CodeLens, Command};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::outline;
use crate::project::names::Named;
use crate::view::{DocumentView, RUN_TEST};
use xdsctl_document::source::Span;
use xdsctl_model::resource::ResourceType;

/// Lenses of one document.
const MAX_LENSES: usize = 2_000;

/// The lenses of a document.
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
                // The editors' own; one that does not have it shows the words.
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
        // Where an RPC goes is found out when the lens is seen: the world of a suite may be large.
        let uri = view.editor.uri(view.file).map(|uri| uri.to_string());
        let targets = outline::targets(view.source).into_iter().take(MAX_LENSES);
        lenses.extend(targets.map(|(target, own)| {
            CodeLens {
                range: view.range(own),
                command: None,
                data: serde_json::to_value(Lead {
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

/// What a lens has to remember that says where an RPC goes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Lead {
    /// The suite.
    pub uri: String,
    /// The first byte of the target, and the one after its last.
    pub start: usize,
    /// See there.
    pub end: usize,
    /// The target.
    pub target: String,
}

impl Lead {
    /// Its place, if it is still there in the text.
    pub fn place(&self, text: &str) -> Option<Span> {
        let is_there = text.get(self.start..self.end)?.contains(self.target.as_str());
        is_there.then(|| Span::new(self.start, self.end))
    }
}

/// What refers to such a thing.
const fn word(named: Named) -> &'static str {
    match named {
        Named::Resource(ResourceType::RouteConfiguration) => "listener",
        Named::Resource(ResourceType::Cluster) => "route",
        Named::Resource(ResourceType::Endpoints) => "cluster",
        Named::Resource(ResourceType::Listener) | Named::Provider => "reference",
    }
}
