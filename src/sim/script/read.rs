//! Steps out of their JSON. Nothing that stands there is passed over.

use std::net::SocketAddr;

use serde_json::{Map, Value};

use super::check::canonical;
use super::fault::{hint, listed, shown, wrong};
use super::{MAX_COUNT, MAX_UNDER_WAY, Step, StepError, load_reports, once};
use crate::client::Sent;
use crate::model::ResourceType;
use crate::sim::Rpc;

/// Time from the start of RPCs to the next step.
const SETTLE_MS: i64 = 300;

/// What a step can do.
pub(super) const VERBS: [&str; 11] = [
    "pick", "begin", "finish", "sleep", "stop", "start", "silence", "speak", "orca", "update", "remove",
];

/// Members of `pick`.
const PICK: [&str; 5] = ["method", "headers", "count", "timeout", "wait_for_ready"];

/// Members of `begin`.
const BEGIN: [&str; 7] = [
    "method",
    "headers",
    "count",
    "timeout",
    "wait_for_ready",
    "name",
    "settle",
];

/// The object of a verb, all of whose members are known.
pub(super) fn members<'v>(
    place: &'static str,
    value: &'v Value,
    known: &[&str],
) -> Result<&'v Map<String, Value>, StepError> {
    let map = value.as_object().ok_or_else(|| wrong(place, value, "an object"))?;
    match map.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(map),
        Some(name) => Err(StepError::Unknown {
            place,
            name: name.clone(),
            hint: hint(name, known),
        }),
    }
}

impl Step {
    /// Reads a step from a line of a script.
    ///
    /// # Errors
    /// What is wrong with it; a key that stands twice in any of its objects is.
    pub fn read(line: &str) -> Result<Step, StepError> {
        let json = serde_json::from_str(line).map_err(|error| StepError::NotJson(error.to_string()))?;
        match once::repeated(line) {
            Some(key) => Err(StepError::Twice(key)),
            None => Step::from_json(&json),
        }
    }

    /// Reads a step.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_json(json: &Value) -> Result<Step, StepError> {
        let map = json.as_object().filter(|map| !map.is_empty());
        let map = map.ok_or_else(|| StepError::NoStep { found: shown(json) })?;
        if map.len() > 1 {
            let names: Vec<&str> = map.keys().map(String::as_str).collect();
            return Err(match names.iter().find(|name| !VERBS.contains(name)) {
                Some(name) => unknown_verb(name),
                None => StepError::Several(listed(&names)),
            });
        }
        let (key, value) = map
            .iter()
            .next()
            .ok_or_else(|| StepError::NoStep { found: shown(json) })?;
        Ok(match key.as_str() {
            "pick" => {
                let map = members("pick", value, &PICK)?;
                Step::Pick {
                    rpc: rpc(map)?,
                    count: count(map, MAX_COUNT, "a number up to 10,000,000")?,
                }
            }
            "begin" => {
                let map = members("begin", value, &BEGIN)?;
                let name = map.get("name").map_or(Some(""), Value::as_str);
                Step::Begin {
                    name: name
                        .ok_or_else(|| wrong("name", value.get("name").unwrap_or(&Value::Null), "a text"))?
                        .to_owned(),
                    rpc: rpc(map)?,
                    count: count(map, MAX_UNDER_WAY, "a number up to 100,000")?,
                    settle_ms: seconds(map, "settle")?.unwrap_or(SETTLE_MS),
                }
            }
            "finish" => match value.as_str() {
                Some(name) => Step::Finish(name.to_owned()),
                None => return Err(wrong("finish", value, "the name of a `begin`")),
            },
            "sleep" => Step::Sleep(a_time("sleep", value)?),
            "stop" => Step::Stop(address("stop", value)?),
            "start" => Step::Start(address("start", value)?),
            "silence" => Step::Silence(address("silence", value)?),
            "speak" => Step::Stop(address("speak", value)?),
            "orca" => Step::Load(load_reports(value)?),
            "update" => {
                let list = value.as_array().filter(|list| list.iter().all(is_resource));
                list.ok_or_else(|| wrong("update", value, "a list of resources, each an object with an `@type`"))?;
                Step::Update {
                    sent: Sent::of(value),
                    addresses: addresses_in(value),
                }
            }
            "remove" => {
                let names = value.as_array().and_then(|list| list.iter().map(removed).collect());
                Step::Remove(names.ok_or_else(|| wrong("remove", value, "a list of pairs of type URL and name"))?)
            }
            _ => return Err(unknown_verb(key)),
        })
    }
}

fn unknown_verb(name: &str) -> StepError {
    StepError::Unknown {
        place: "a step",
        name: name.to_owned(),
        hint: hint(name, &VERBS),
    }
}

fn is_resource(value: &Value) -> bool {
    value.get("@type").is_some_and(Value::is_string)
}

fn removed(pair: &Value) -> Option<(ResourceType, String)> {
    let [url, name] = pair.as_array()?.as_slice() else {
        return None;
    };
    let resource_type = ResourceType::from_type_name(url.as_str()?.rsplit('/').next()?)?;
    Some((resource_type, name.as_str()?.to_owned()))
}

fn address(member: &'static str, value: &Value) -> Result<SocketAddr, StepError> {
    let parsed = value.as_str().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| wrong(member, value, "an address like 10.0.0.1:80"))
}

/// A number of seconds as milliseconds.
fn a_time(member: &'static str, value: &Value) -> Result<i64, StepError> {
    let seconds = value.as_f64().filter(|seconds| (0.0..=1e9).contains(seconds));
    let seconds = seconds.ok_or_else(|| wrong(member, value, "a number of seconds from 0 to 1e9"))?;
    Ok((seconds * 1000.0).round() as i64)
}

fn seconds(map: &Map<String, Value>, member: &'static str) -> Result<Option<i64>, StepError> {
    match map.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => a_time(member, value).map(Some),
    }
}

fn count(map: &Map<String, Value>, most: u64, wanted: &'static str) -> Result<u64, StepError> {
    match map.get("count") {
        None | Some(Value::Null) => Ok(1),
        Some(number) => number
            .as_u64()
            .filter(|count| *count <= most)
            .ok_or_else(|| wrong("count", number, wanted)),
    }
}

fn rpc(map: &Map<String, Value>) -> Result<Rpc, StepError> {
    let mut rpc = Rpc::default();
    if let Some(method) = map.get("method") {
        let text = method.as_str().filter(|text| text.starts_with('/'));
        text.ok_or_else(|| wrong("method", method, "a path like /package.Service/Method"))?
            .clone_into(&mut rpc.method);
    }
    if let Some(headers) = map.get("headers") {
        let pairs = headers
            .as_array()
            .and_then(|pairs| pairs.iter().map(pair).collect::<Option<Vec<_>>>());
        rpc.headers = pairs.ok_or_else(|| wrong("headers", headers, "a list of pairs of texts"))?;
    }
    if let Some(ms) = seconds(map, "timeout")? {
        rpc.timeout_ms = Some(ms);
    }
    match map.get("wait_for_ready") {
        None | Some(Value::Null) => {}
        Some(flag) => {
            rpc.wait_for_ready = flag
                .as_bool()
                .ok_or_else(|| wrong("wait_for_ready", flag, "true or false"))?;
        }
    }
    Ok(rpc)
}

fn pair(pair: &Value) -> Option<(String, String)> {
    match pair.as_array()?.as_slice() {
        [name, value] => Some((name.as_str()?.to_ascii_lowercase(), value.as_str()?.to_owned())),
        _ => None,
    }
}

/// The socket addresses anywhere in resources.
fn addresses_in(value: &Value) -> Vec<SocketAddr> {
    let mut found = Vec::new();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(list) => left.extend(list),
            Value::Object(map) => {
                let port = map.get("port_value").or_else(|| map.get("portValue"));
                let ip = map
                    .get("address")
                    .and_then(Value::as_str)
                    .and_then(|text| text.parse().ok());
                if let (Some(ip), Some(port)) = (ip, port.and_then(Value::as_u64)) {
                    let port = u16::try_from(port).unwrap_or(0);
                    found.push(canonical(SocketAddr::new(ip, port)));
                }
                left.extend(map.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found.shrink_to_fit();
    found
}
