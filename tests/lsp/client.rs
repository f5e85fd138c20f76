//! A client of the protocol, written only from the specification.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use xdsctl_cli::Io;

/// A server and the streams to and from it.
pub struct Client {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    server: Option<JoinHandle<ExitCode>>,
    next: i32,
    /// The last findings of each document, with the version that they belong to.
    pub published: BTreeMap<String, (Option<i64>, Vec<Value>)>,
    /// The other notifications of the server.
    pub told: Vec<Value>,
}

/// Returns the URI of a file. The tests use names that need no escape.
pub fn uri(file: &Path) -> String {
    format!("file://{}", file.display())
}

/// Makes an empty directory.
pub fn directory(name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("xdsctl-lsp-{name}-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path.canonicalize().unwrap()
}

impl Client {
    /// Starts a server with these arguments, without a message to it.
    pub fn raw(arguments: &[&str]) -> Client {
        let (input, to) = std::io::pipe().unwrap();
        let (from, output) = std::io::pipe().unwrap();
        let mut line: Vec<String> = ["xdsctl", "lsp"].map(str::to_owned).to_vec();
        line.extend(arguments.iter().map(|&one| one.to_owned()));
        let server = std::thread::spawn(move || {
            let io = Io::piped(input, output, std::io::sink());
            xdsctl_cli::run(line, io)
        });
        Client {
            to: Some(to),
            from: BufReader::new(from),
            server: Some(server),
            next: 0,
            published: BTreeMap::new(),
            told: Vec::new(),
        }
    }

    /// Starts a server that has this directory open.
    pub fn open(directory: &Path) -> Client {
        let mut client = Client::raw(&[]);
        let folder = json!([{"uri": uri(directory), "name": "x"}]);
        let capabilities = json!({
            "textDocument": {
                "hover": {"contentFormat": ["markdown"]},
                "publishDiagnostics": {"relatedInformation": true},
            },
        });
        let params =
            json!({"processId": null, "rootUri": null, "workspaceFolders": folder, "capabilities": capabilities});
        client.ask("initialize", params).unwrap();
        client.tell("initialized", json!({}));
        client
    }

    pub fn send(&mut self, text: &str) {
        let to = self.to.as_mut().unwrap();
        write!(to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        to.flush().unwrap();
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        let _ = self.to.as_mut().unwrap().write_all(bytes);
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request and returns its number.
    pub fn request(&mut self, method: &str, params: Value) -> i32 {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}).to_string());
        self.next
    }

    /// Reads the next message; `None` at the end.
    pub fn read(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", text)) => length = text.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.from.read_exact(&mut text).unwrap();
        let message: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(message["jsonrpc"], "2.0");
        if message["method"] == "textDocument/publishDiagnostics" {
            let params = &message["params"];
            let document = params["uri"].as_str().unwrap().to_owned();
            let findings = params["diagnostics"].as_array().unwrap().clone();
            self.published.insert(document, (params["version"].as_i64(), findings));
        } else if message.get("method").is_some() {
            self.told.push(message.clone());
        }
        Some(message)
    }

    /// Waits for the answer to a request.
    pub fn answer(&mut self, number: i32) -> Result<Value, Value> {
        loop {
            let message = self.read().expect("the server is there");
            if message["id"] == number && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let number = self.request(method, params);
        self.answer(number)
    }

    /// Asks about a place in a document.
    pub fn at(&mut self, method: &str, file: &Path, (line, character): (usize, usize)) -> Result<Value, Value> {
        let params = json!({"textDocument": {"uri": uri(file)}, "position": {"line": line, "character": character}});
        self.ask(method, params)
    }

    pub fn did_open(&mut self, file: &Path, text: &str) {
        let document = json!({"uri": uri(file), "languageId": "yaml", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Sends the whole text of a new version.
    pub fn change(&mut self, file: &Path, version: i64, text: &str) {
        let document = json!({"uri": uri(file), "version": version});
        let changes = json!([{"text": text}]);
        self.tell(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": changes}),
        );
    }

    /// Waits for the findings of a version of a document.
    pub fn findings(&mut self, file: &Path, version: i64) -> Vec<Value> {
        let document = uri(file);
        loop {
            if let Some((Some(published), findings)) = self.published.get(&document) {
                assert!(*published <= version, "a version that there is not yet");
                if *published == version {
                    return findings.clone();
                }
            }
            self.read().expect("the server is there");
        }
    }

    /// Ends the server as the protocol demands.
    pub fn end(mut self) -> ExitCode {
        self.ask("shutdown", Value::Null).unwrap();
        self.tell("exit", Value::Null);
        self.leave()
    }

    /// Closes the stream without `shutdown`.
    pub fn leave(mut self) -> ExitCode {
        self.to = None;
        while self.read().is_some() {}
        self.server.take().unwrap().join().expect("the server does not panic")
    }
}

/// Returns the number of whole lines before a place, and of UTF-16 units before it in its line.
pub fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count(), before[start..].encode_utf16().count())
}

/// Returns the place of a word in a text, one character into the word.
pub fn inside(text: &str, word: &str) -> (usize, usize) {
    place(
        text,
        text.find(word).unwrap_or_else(|| panic!("{word} is not there")) + 1,
    )
}

/// Returns the text after the edits of a document.
pub fn edited(text: &str, edits: &Value) -> String {
    let mut edits: Vec<(usize, usize, String)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            let offset = |end: &str| {
                let line = edit["range"][end]["line"].as_u64().unwrap() as usize;
                let units = edit["range"][end]["character"].as_u64().unwrap() as usize;
                let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
                let mut before = 0;
                let inside = text[start..].char_indices().find(|(_, c)| {
                    let is_there = before >= units;
                    before += c.len_utf16();
                    is_there
                });
                start + inside.map_or(text.len() - start, |(at, _)| at)
            };
            (
                offset("start"),
                offset("end"),
                edit["newText"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    edits.sort();
    let mut text = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, &new);
    }
    text
}
