//! The first exchange: the capabilities of the editor and of the server.

use std::io;
use std::path::PathBuf;

use lsp_server::RequestId;
use serde_json::{Value, json};

use super::work::Job;
use super::{Server, file_of};
use crate::text::Encoding;
use crate::view::{Editor, OPEN_RULE, RUN_TEST};

impl Server<'_> {
    /// Stores the editor's capabilities. The answer follows when the host knows the directories.
    pub(super) fn begin(&mut self, id: RequestId, params: &Value) -> io::Result<()> {
        let has = |pointer: &str| params.pointer(pointer).and_then(Value::as_bool) == Some(true);
        let lists = |pointer: &str, wanted: &str| {
            let list = params.pointer(pointer).and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|one| one == wanted))
        };
        self.editor = Editor {
            encoding: match lists("/capabilities/general/positionEncodings", "utf-8") {
                true => Encoding::Utf8,
                false => Encoding::Utf16,
            },
            takes_markdown: lists("/capabilities/textDocument/hover/contentFormat", "markdown"),
            shows_documents: has("/capabilities/window/showDocument/support"),
            takes_related: has("/capabilities/textDocument/publishDiagnostics/relatedInformation"),
            uris: std::mem::take(&mut self.editor.uris),
        };
        let folders = params.get("workspaceFolders").and_then(Value::as_array);
        let folders = folders
            .into_iter()
            .flatten()
            .filter_map(|folder| folder.get("uri")?.as_str());
        let mut folders: Vec<PathBuf> = folders.map(file_of).collect();
        if folders.is_empty() {
            folders.extend(params.get("rootUri").and_then(Value::as_str).map(file_of));
        }
        let arguments = params
            .pointer("/initializationOptions/arguments")
            .and_then(Value::as_array);
        let arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
        let _ = self.jobs.send(Job::Begin {
            id,
            folders,
            arguments: arguments.map(str::to_owned).collect(),
        });
        Ok(())
    }
}

/// Returns the capabilities of the server.
pub(super) fn result(editor: &Editor) -> Value {
    let encoding = match editor.encoding {
        Encoding::Utf16 => "utf-16",
        Encoding::Utf8 => "utf-8",
    };
    json!({
        "capabilities": {
            "positionEncoding": encoding,
            "textDocumentSync": {"openClose": true, "change": 2, "save": true},
            "hoverProvider": true,
            "completionProvider": {"triggerCharacters": ["\"", ":", " ", "/", "."]},
            "definitionProvider": true,
            "referencesProvider": true,
            "renameProvider": {"prepareProvider": true},
            "documentSymbolProvider": true,
            "foldingRangeProvider": true,
            "selectionRangeProvider": true,
            "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll"]},
            "codeLensProvider": {"resolveProvider": true},
            "executeCommandProvider": {"commands": [RUN_TEST, OPEN_RULE]},
        },
        "serverInfo": {"name": "xdsctl", "version": env!("CARGO_PKG_VERSION")},
    })
}
