//! The main loop: it reads messages, and writes answers and findings that always belong to the
//! version that the editor has.
//!
//! One thread reads messages, another one checks projects, and this one knows the state of the
//! editor. A change is stored at once and makes the project stale. The project is checked again as
//! soon as the checking thread is free, so that many keystrokes cost only one check. A request
//! waits until its project is fresh. If its document changes before that, it is answered with
//! `ContentModified`, because its places are in the old text.

mod begin;
mod errands;
mod requests;
mod work;

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::scope;

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    CancelParams, Diagnostic, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    NumberOrString, PublishDiagnosticsParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::project::{Host, OpenText, OpenTexts, ProjectFinding, Snapshot};
use crate::view::Editor;
use crate::wire::{self, Incoming};
use crate::{diagnostics, text, uri};
use errands::Errand;
use requests::Reply;
use work::{Done, Job, do_job};

/// Longest text of a document that is checked, in bytes.
pub const MAX_TEXT_BYTES: usize = 32 << 20;

/// Most documents that can be open at the same time.
pub const MAX_OPEN: usize = 1_000;

/// Most requests that can wait at the same time.
const MAX_WAITING: usize = 1_000;

/// An event of the main loop.
enum Event {
    Read(Incoming),
    /// The stream has ended, or can no longer be split into messages.
    End(Option<io::Error>),
    Done(Done),
}

/// A request that waits for its project.
struct Waiting {
    id: RequestId,
    method: String,
    params: Value,
    file: PathBuf,
}

/// A project, and the version that was checked last.
#[derive(Default)]
struct Project {
    snapshot: Option<Arc<Snapshot>>,
    /// The stamp of the last change; `looked` is the stamp of the version that was checked.
    changed: u64,
    looked: u64,
    /// What the editor shows: the findings of each document, and the diagnostics that were made of
    /// them.
    published: BTreeMap<PathBuf, (Vec<ProjectFinding>, Vec<Diagnostic>)>,
}

struct Server<'o> {
    out: &'o mut dyn Write,
    is_plain: fn(char) -> bool,
    jobs: Sender<Job>,
    is_busy: bool,
    editor: Editor,
    open: OpenTexts,
    /// The project of each open document; `None` until it is known.
    places: BTreeMap<PathBuf, Option<PathBuf>>,
    projects: BTreeMap<PathBuf, Project>,
    waiting: VecDeque<Waiting>,
    /// Requests that wait for another answer of the checking thread than a snapshot.
    errands: Vec<Errand>,
    stamp: u64,
    /// Whether files may have changed since the last check.
    with_files: bool,
    begun: Begun,
}

/// The phase of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    Not,
    Yes,
    ShutDown,
}

/// Serves an editor until it sends `exit` or the stream ends. Returns whether it ended as the
/// protocol requires, that is, after `shutdown`. Characters for which `is_plain` is false are
/// escaped in the JSON.
///
/// # Errors
/// If reading or writing fails, or if the input can no longer be split into messages.
pub fn serve(
    input: impl Read + Send,
    out: &mut dyn Write,
    host: &mut dyn Host,
    is_plain: fn(char) -> bool,
) -> io::Result<bool> {
    let (events, inbox) = channel();
    let (jobs, work) = channel();
    scope(|scope| {
        let done = events.clone();
        scope.spawn(move || {
            for job in work {
                if done.send(Event::Done(do_job(job, host))).is_err() {
                    return;
                }
            }
        });
        scope.spawn(move || read_all(input, &events));
        let mut server = Server {
            out,
            is_plain,
            jobs,
            is_busy: false,
            editor: Editor::default(),
            open: OpenTexts::new(),
            places: BTreeMap::new(),
            projects: BTreeMap::new(),
            waiting: VecDeque::new(),
            errands: Vec::new(),
            stamp: 0,
            with_files: false,
            begun: Begun::Not,
        };
        server.run(&inbox)
    })
}

/// Passes on every message, up to `exit`.
fn read_all(input: impl Read, events: &Sender<Event>) {
    let mut input = BufReader::new(input);
    loop {
        let event = match wire::read(&mut input) {
            Ok(Some(read)) => Event::Read(read),
            Ok(None) => Event::End(None),
            Err(error) => Event::End(Some(error)),
        };
        let is_last = match &event {
            Event::Read(Incoming::Message(Message::Notification(told))) => told.method == "exit",
            Event::End(_) => true,
            _ => false,
        };
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

impl Server<'_> {
    fn run(&mut self, inbox: &Receiver<Event>) -> io::Result<bool> {
        loop {
            let Ok(mut event) = inbox.recv() else {
                return Ok(false);
            };
            // All events that have arrived are handled before the next check: many keystrokes cost
            // only one.
            loop {
                match event {
                    Event::Read(Incoming::Message(Message::Notification(told))) if told.method == "exit" => {
                        return Ok(self.begun == Begun::ShutDown);
                    }
                    Event::Read(Incoming::Message(message)) => self.message(message)?,
                    Event::Read(Incoming::Refused(response)) => self.send(response)?,
                    Event::End(None) => return Ok(self.begun == Begun::ShutDown),
                    Event::End(Some(error)) => return Err(error),
                    Event::Done(done) => self.done(done)?,
                }
                match inbox.try_recv() {
                    Ok(next) => event = next,
                    Err(_) => break,
                }
            }
            self.look();
            self.answer_waiting()?;
        }
    }

    fn send(&mut self, message: impl Into<Message>) -> io::Result<()> {
        wire::write(&message.into(), self.is_plain, self.out)
    }

    fn tell(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.send(Notification {
            method: method.to_owned(),
            params,
        })
    }

    /// Writes a warning to the editor's log.
    fn log(&mut self, message: &str) -> io::Result<()> {
        self.tell("window/logMessage", json!({"type": 2, "message": message}))
    }

    fn refuse(&mut self, id: RequestId, code: ErrorCode, why: &str) -> io::Result<()> {
        self.send(Response::new_err(id, code as i32, why.to_owned()))
    }

    fn message(&mut self, message: Message) -> io::Result<()> {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(told) => self.notification(told),
            // The server does not depend on the editor's responses.
            Message::Response(_) => Ok(()),
        }
    }

    fn request(&mut self, request: Request) -> io::Result<()> {
        let Request { id, method, params } = request;
        match (self.begun, method.as_str()) {
            (Begun::Not, "initialize") => return self.begin(id, &params),
            (Begun::Not, _) => {
                return self.refuse(id, ErrorCode::ServerNotInitialized, "`initialize` comes first");
            }
            (Begun::ShutDown, _) => return self.refuse(id, ErrorCode::InvalidRequest, "the server is shut down"),
            (Begun::Yes, "initialize") => {
                return self.refuse(id, ErrorCode::InvalidRequest, "`initialize` comes once");
            }
            (Begun::Yes, "shutdown") => {
                self.begun = Begun::ShutDown;
                let waiting = self.waiting.drain(..).map(|waiting| waiting.id);
                let all: Vec<RequestId> = waiting.chain(self.errands.drain(..).map(|errand| errand.id)).collect();
                for id in all {
                    self.refuse(id, ErrorCode::RequestCanceled, "the server is shut down")?;
                }
                return self.send(Response::new_ok(id, Value::Null));
            }
            (Begun::Yes, "workspace/executeCommand") => return self.command(id, &params),
            (Begun::Yes, "codeLens/resolve") => return self.lens(id, params),
            (Begun::Yes, _) => {}
        }
        if !requests::is_known(&method) {
            return self.refuse(id, ErrorCode::MethodNotFound, &format!("there is no `{method}`"));
        }
        let document = params.get("textDocument").and_then(|document| document.get("uri"));
        let Some(document) = document.and_then(Value::as_str) else {
            return self.refuse(id, ErrorCode::InvalidParams, "no `textDocument.uri`");
        };
        let file = file_of(document);
        if !self.open.contains_key(&file) {
            // The document was not accepted: it is too large, or too many are open.
            return self.send(Response::new_ok(id, Value::Null));
        }
        if self.waiting.len() >= MAX_WAITING {
            return self.refuse(id, ErrorCode::RequestFailed, "too many requests wait");
        }
        self.waiting.push_back(Waiting {
            id,
            method,
            params,
            file,
        });
        Ok(())
    }

    fn notification(&mut self, told: Notification) -> io::Result<()> {
        match told.method.as_str() {
            "$/cancelRequest" => {
                let Some(CancelParams { id }) = params(told.params) else {
                    return Ok(());
                };
                let id = match id {
                    NumberOrString::Number(number) => RequestId::from(number),
                    NumberOrString::String(text) => RequestId::from(text),
                };
                let waited = self.waiting.len();
                self.waiting.retain(|waiting| waiting.id != id);
                match self.waiting.len() < waited || self.end_errand(&id).is_some() {
                    true => self.refuse(id, ErrorCode::RequestCanceled, "cancelled"),
                    false => Ok(()),
                }
            }
            _ if self.begun != Begun::Yes => Ok(()),
            "textDocument/didOpen" => match params::<DidOpenTextDocumentParams>(told.params) {
                Some(opened) => {
                    let document = opened.text_document;
                    self.opened(document.uri.as_str(), document.text, document.version)
                }
                None => Ok(()),
            },
            "textDocument/didChange" => match params::<DidChangeTextDocumentParams>(told.params) {
                Some(changed) => self.changed(&changed),
                None => Ok(()),
            },
            "textDocument/didClose" => match params::<DidCloseTextDocumentParams>(told.params) {
                Some(closed) => self.closed(&file_of(closed.text_document.uri.as_str())),
                None => Ok(()),
            },
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" | "workspace/didChangeConfiguration" => {
                self.with_files = true;
                let all: Vec<PathBuf> = self.projects.keys().cloned().collect();
                all.iter().for_each(|project| self.stale(project));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn opened(&mut self, uri: &str, text: String, version: i32) -> io::Result<()> {
        let file = file_of(uri);
        if self.open.len() >= MAX_OPEN && !self.open.contains_key(&file) {
            let message = format!("more than {MAX_OPEN} documents are open: xdsctl does not look at {uri}");
            return self.log(&message);
        }
        if text.len() > MAX_TEXT_BYTES {
            return self.log(&too_large(uri));
        }
        self.modified(&file)?;
        self.editor.uris.insert(file.clone(), uri.to_owned());
        self.open.insert(
            file.clone(),
            OpenText {
                text: text.into(),
                version,
            },
        );
        self.place(&file);
        Ok(())
    }

    /// Asks for the project of a file. The project will be stale when it is known.
    fn place(&mut self, file: &Path) {
        self.places.insert(file.to_owned(), None);
        let _ = self.jobs.send(Job::Place(file.to_owned()));
    }

    fn changed(&mut self, changed: &DidChangeTextDocumentParams) -> io::Result<()> {
        let uri = changed.text_document.uri.as_str();
        let file = file_of(uri);
        let Some(open) = self.open.get_mut(&file) else {
            return Ok(());
        };
        let text = text::changed(&open.text, &changed.content_changes, self.editor.encoding);
        open.version = changed.text_document.version;
        if text.len() > MAX_TEXT_BYTES {
            self.closed(&file)?;
            return self.log(&too_large(uri));
        }
        open.text = text.into();
        self.modified(&file)?;
        if let Some(Some(project)) = self.places.get(&file).cloned() {
            self.stale(&project);
        }
        Ok(())
    }

    fn closed(&mut self, file: &Path) -> io::Result<()> {
        if self.open.remove(file).is_none() {
            return Ok(());
        }
        self.modified(file)?;
        let project = self.places.remove(file).flatten();
        self.with_files = true;
        let Some(project) = project else {
            self.editor.uris.remove(file);
            return Ok(());
        };
        let is_last = !self.places.values().flatten().any(|other| *other == project);
        if !is_last {
            self.editor.uris.remove(file);
            self.stale(&project);
            return Ok(());
        }
        let published = self.projects.remove(&project).map(|project| project.published);
        for (file, (findings, _)) in published.into_iter().flatten() {
            if !findings.is_empty() {
                self.publish(&file, None, Vec::new())?;
            }
        }
        self.editor.uris.remove(file);
        Ok(())
    }

    /// Refuses the requests that wait for a document that has changed.
    fn modified(&mut self, file: &Path) -> io::Result<()> {
        let (gone, stay): (VecDeque<Waiting>, VecDeque<Waiting>) =
            self.waiting.drain(..).partition(|waiting| waiting.file == file);
        self.waiting = stay;
        let gone = gone.into_iter().map(|waiting| waiting.id);
        let gone: Vec<RequestId> = gone.chain(self.end_errands_about(file)).collect();
        for id in gone {
            self.refuse(id, ErrorCode::ContentModified, "the document has changed")?;
        }
        Ok(())
    }

    fn stale(&mut self, project: &Path) {
        self.stamp += 1;
        self.projects.entry(project.to_owned()).or_default().changed = self.stamp;
    }

    /// Starts the check of the next stale project, if no check is running.
    fn look(&mut self) {
        if self.is_busy {
            return;
        }
        let stale = self
            .projects
            .iter()
            .find(|(_, project)| project.looked < project.changed);
        let Some((path, project)) = stale else { return };
        self.is_busy = true;
        let of_project = |file: &Path| self.places.get(file).is_some_and(|place| place.as_ref() == Some(path));
        let open = self.open.iter().filter(|(file, _)| of_project(file));
        let job = Job::Look {
            project: path.clone(),
            open: open.map(|(file, open)| (file.clone(), open.clone())).collect(),
            stamp: project.changed,
            with_files: std::mem::take(&mut self.with_files),
        };
        let _ = self.jobs.send(job);
    }

    fn done(&mut self, done: Done) -> io::Result<()> {
        match done {
            Done::Begun { id, fault } => {
                self.begun = Begun::Yes;
                self.send(Response::new_ok(id, begin::result(&self.editor)))?;
                match fault {
                    Some(fault) => self.tell(
                        "window/showMessage",
                        json!({"type": 1, "message": format!("xdsctl: {fault}")}),
                    ),
                    None => Ok(()),
                }
            }
            Done::Placed { file, project } => {
                if let Some(place) = self.places.get_mut(&file) {
                    *place = Some(project.clone());
                    self.stale(&project);
                }
                Ok(())
            }
            Done::Played { id, told } => self.played(id, told),
            Done::Led { id, told } => self.led(id, told),
            Done::Looked {
                project,
                snapshot,
                versions,
                stamp,
            } => {
                self.is_busy = false;
                let Some(known) = self.projects.get_mut(&project) else {
                    return Ok(());
                };
                known.looked = stamp;
                let before = known.snapshot.replace(Arc::clone(&snapshot));
                let trouble = snapshot
                    .trouble
                    .clone()
                    .filter(|trouble| before.as_ref().and_then(|before| before.trouble.as_ref()) != Some(trouble));
                if let Some(trouble) = trouble {
                    self.tell(
                        "window/showMessage",
                        json!({"type": 1, "message": format!("xdsctl: {trouble}")}),
                    )?;
                }
                self.publish_all(&project, &snapshot, &versions)
            }
        }
    }

    /// Publishes the findings of those documents whose findings have changed.
    fn publish_all(
        &mut self,
        project: &Path,
        snapshot: &Snapshot,
        versions: &BTreeMap<PathBuf, i32>,
    ) -> io::Result<()> {
        let Some(known) = self.projects.get_mut(project) else {
            return Ok(());
        };
        let mut before = std::mem::take(&mut known.published);
        let mut published = BTreeMap::new();
        let mut news: Vec<(PathBuf, Option<i32>, Vec<Diagnostic>)> = Vec::new();
        for (file, findings) in diagnostics::by_file(snapshot) {
            let version = versions.get(&file).copied();
            let is_current = self.open.get(&file).map(|open| open.version) == version;
            let earlier = before.remove(&file);
            let is_open = version.is_some();
            if !is_current || !is_open && findings.is_empty() && earlier.is_none() {
                // A newer version will be checked next.
                published.extend(earlier.map(|earlier| (file, earlier)));
                continue;
            }
            let shown = diagnostics::shown(&file, &findings, snapshot, &self.editor);
            let findings: Vec<ProjectFinding> = findings.into_iter().cloned().collect();
            // For an open document every version is published, so that the editor knows which one
            // was checked.
            if is_open || earlier.as_ref().is_none_or(|(_, before)| *before != shown) {
                news.push((file.clone(), version, shown.clone()));
            }
            published.insert(file, (findings, shown));
        }
        for (file, (findings, _)) in before {
            if !findings.is_empty() {
                news.push((file, None, Vec::new()));
            }
        }
        known.published = published;
        for (file, version, shown) in news {
            self.publish(&file, version, shown)?;
        }
        Ok(())
    }

    fn publish(&mut self, file: &Path, version: Option<i32>, diagnostics: Vec<Diagnostic>) -> io::Result<()> {
        let Some(uri) = self.editor.uri(file) else {
            return Ok(());
        };
        let params = PublishDiagnosticsParams {
            uri,
            diagnostics,
            version,
        };
        self.tell("textDocument/publishDiagnostics", serde_json::to_value(params)?)
    }

    /// Answers the waiting requests whose project is fresh.
    fn answer_waiting(&mut self) -> io::Result<()> {
        let mut still = VecDeque::new();
        while let Some(waiting) = self.waiting.pop_front() {
            let project = self.places.get(&waiting.file).and_then(Option::as_ref);
            let project = project.and_then(|project| self.projects.get(project));
            let fresh = project.filter(|project| project.looked == project.changed);
            let Some(snapshot) = fresh.and_then(|project| project.snapshot.clone()) else {
                still.push_back(waiting);
                continue;
            };
            let Waiting {
                id,
                method,
                params,
                file,
            } = waiting;
            let answer = AssertUnwindSafe(|| requests::answer(&method, params, &snapshot, &self.editor, &file));
            let response = match catch_unwind(answer) {
                Ok(Reply::Value(value)) => Response::new_ok(id, value),
                Ok(Reply::Invalid(why)) => Response::new_err(id, ErrorCode::InvalidParams as i32, why),
                Ok(Reply::Failed(why)) => Response::new_err(id, ErrorCode::RequestFailed as i32, why),
                Err(_) => {
                    let why = "xdsctl has a fault of its own".to_owned();
                    Response::new_err(id, ErrorCode::InternalError as i32, why)
                }
            };
            self.send(response)?;
        }
        self.waiting = still;
        Ok(())
    }
}

/// Returns the file of a document; a text without a file is identified by its URI.
fn file_of(document: &str) -> PathBuf {
    uri::path(document).unwrap_or_else(|| PathBuf::from(document))
}

/// Returns what the editor's log says of a document that is too large.
fn too_large(uri: &str) -> String {
    format!("{uri} has more than {MAX_TEXT_BYTES} bytes: xdsctl does not look at it")
}

fn params<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}
