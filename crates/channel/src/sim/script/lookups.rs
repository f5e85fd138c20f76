//! What lookup services (RLS) answer, as the step `lookups` says.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::code;
use super::value::{Located, contradict, members, object, one_or_more, seconds, text, wrong};
use crate::sim::{LookupReply, Lookups};
use xdsctl_document::source::node::JsonNode;
use xdsctl_lb::policy::LookupAnswer;
use xdsctl_model::status::{Code, Status};

const MEMBERS: [&str; 7] = [
    "service",
    "keys",
    "targets",
    "header_data",
    "delay",
    "status",
    "message",
];

/// Reads what lookup services answer.
///
/// # Errors
/// What is wrong, and where.
pub fn lookups(node: &JsonNode) -> Result<Lookups, Located> {
    let list = node.list().ok_or_else(|| wrong("lookups", node, "a list of answers"))?;
    Ok(Lookups(list.iter().map(reply).collect::<Result<_, Located>>()?))
}

fn reply(node: &JsonNode) -> Result<LookupReply, Located> {
    members("lookups", node, &MEMBERS)?;
    let result = match (node.get("status"), node.get("targets")) {
        (Some(status), Some(_)) => return Err(contradict("status", "targets", status)),
        (None, None) => return Err(wrong("lookups", node, "answers with `targets`, or a `status`")),
        (Some(status), None) => Err(failure(node, status)?),
        (None, Some(targets)) => answer(node, targets)?,
    };
    Ok(LookupReply {
        service: text(node, "service")?,
        keys: node.get("keys").map(keys).transpose()?.unwrap_or_default(),
        after_ms: seconds(node, "delay")?,
        result: Arc::new(result),
    })
}

fn failure(node: &JsonNode, status: &JsonNode) -> Result<Status, Located> {
    let code = code("status", status)?;
    if code == Code::Ok {
        return Err(wrong("status", status, "a code other than OK, or `targets`"));
    }
    if let Some(data) = node.get("header_data") {
        return Err(contradict("header_data", "status", data));
    }
    let message = text(node, "message")?;
    Ok(Status::new(code, message.unwrap_or_else(|| "scripted".to_owned())))
}

/// Reads an answer. One without a target makes the lookup fail.
fn answer(node: &JsonNode, targets: &JsonNode) -> Result<Result<LookupAnswer, Status>, Located> {
    if let Some(message) = node.get("message") {
        return Err(wrong("message", message, "beside a `status`"));
    }
    let targets: Vec<Arc<str>> = one_or_more(targets, |one| {
        one.text()
            .map(Arc::from)
            .ok_or_else(|| wrong("targets", one, "names of clusters"))
    })?;
    if targets.is_empty() {
        let text = "RLS response has no target entry";
        return Ok(Err(Status::new(Code::InvalidArgument, text)));
    }
    let header_data = text(node, "header_data")?.unwrap_or_default().into();
    Ok(Ok(LookupAnswer { targets, header_data }))
}

fn keys(node: &JsonNode) -> Result<BTreeMap<String, String>, Located> {
    let map = object("keys", node, "an object of texts by key")?;
    let pair = |value: &JsonNode| {
        value
            .word()
            .map(str::to_owned)
            .ok_or_else(|| wrong("keys", value, "a text"))
    };
    map.iter()
        .map(|member| Ok((member.name.clone(), pair(&member.node)?)))
        .collect()
}
