//! Commands that an editor calls by name, and lenses that have become visible. The thread that
//! knows files finds the answers.

use std::io;
use std::path::{Path, PathBuf};

use lsp_server::{ErrorCode, Request, RequestId, Response};
use lsp_types::Command;
use serde_json::{Value, json};

use super::work::Job;
use super::{MAX_WAITING, Server, file_of};
use crate::lenses::LensTarget;
use crate::view::{OPEN_RULE, RUN_TEST};

/// A request that the other thread answers.
pub(super) struct Errand {
    pub id: RequestId,
    /// The lens that the request is about, and its document. If the text of the document changes,
    /// the request is refused.
    lens: Option<(Value, PathBuf)>,
}

impl Server<'_> {
    /// Executes a command of the editor. The answer follows when the command is done.
    pub(super) fn command(&mut self, id: RequestId, params: &Value) -> io::Result<()> {
        let argument = |number: usize| params.get("arguments")?.get(number)?.as_str();
        match (params.get("command").and_then(Value::as_str), argument(0)) {
            (Some(RUN_TEST), Some(uri)) => {
                let job = Job::Play {
                    id: id.clone(),
                    suite: file_of(uri),
                    test: argument(1).map(str::to_owned),
                    open: self.open.clone(),
                };
                self.send_for(Errand { id, lens: None }, job)
            }
            (Some(OPEN_RULE), Some(page)) => {
                if self.editor.shows_documents {
                    let params = json!({"uri": page, "external": false, "takeFocus": true});
                    self.send(Request {
                        id: RequestId::from("show".to_owned()),
                        method: "window/showDocument".to_owned(),
                        params,
                    })?;
                }
                self.send(Response::new_ok(id, Value::Null))
            }
            _ => self.refuse(id, ErrorCode::InvalidParams, "no such command"),
        }
    }

    /// Finds the text of a lens.
    pub(super) fn lens(&mut self, id: RequestId, lens: Value) -> io::Result<()> {
        let lead = lens.get("data").cloned().map(serde_json::from_value::<LensTarget>);
        let Some(Ok(lead)) = lead else {
            return self.refuse(id, ErrorCode::InvalidParams, "this lens has nothing more to say");
        };
        let file = file_of(&lead.uri);
        let place = self.open.get(&file).and_then(|open| lead.place(&open.text));
        let Some(target) = place else {
            return self.refuse(id, ErrorCode::ContentModified, "the document has changed");
        };
        let job = Job::Lead {
            id: id.clone(),
            suite: file.clone(),
            target,
            open: self.open.clone(),
        };
        let lens = Some((lens, file));
        self.send_for(Errand { id, lens }, job)
    }

    fn send_for(&mut self, errand: Errand, job: Job) -> io::Result<()> {
        if self.errands.len() >= MAX_WAITING {
            return self.refuse(errand.id, ErrorCode::RequestFailed, "too many requests wait");
        }
        self.errands.push(errand);
        // The receiver lives as long as this server.
        let _ = self.jobs.send(job);
        Ok(())
    }

    /// Removes a request from the list; `None` if nobody waits for it any more.
    pub(super) fn end_errand(&mut self, id: &RequestId) -> Option<Errand> {
        let at = self.errands.iter().position(|errand| errand.id == *id)?;
        Some(self.errands.remove(at))
    }

    /// Removes the requests about the text of a document from the list.
    pub(super) fn end_errands_about(&mut self, file: &Path) -> Vec<RequestId> {
        let is_about = |errand: &mut Errand| errand.lens.as_ref().is_some_and(|(_, of)| of == file);
        self.errands.extract_if(.., is_about).map(|errand| errand.id).collect()
    }

    /// Answers with the result of a suite.
    pub(super) fn played(&mut self, id: RequestId, told: String) -> io::Result<()> {
        self.tell("window/logMessage", json!({"type": 3, "message": told}))?;
        match self.end_errand(&id) {
            Some(_) => self.send(Response::new_ok(id, Value::String(told))),
            None => Ok(()),
        }
    }

    /// Answers with the text of a lens, which says where an RPC goes.
    pub(super) fn led(&mut self, id: RequestId, told: String) -> io::Result<()> {
        let Some((mut lens, _)) = self.end_errand(&id).and_then(|errand| errand.lens) else {
            return Ok(());
        };
        let command = Command {
            title: told,
            // The lens only shows its title: for an empty name the editor calls nothing.
            command: String::new(),
            arguments: None,
        };
        if let Some(members) = lens.as_object_mut() {
            members.insert("command".to_owned(), serde_json::to_value(command)?);
        }
        self.send(Response::new_ok(id, lens))
    }
}
