//! Scripts: steps in JSON, one an object, played on one channel.
//!
//! `{"pick": {"method", "headers", "count", "timeout", "wait_for_ready"}}` sends RPCs one after the other, `{"begin":
//! {..., "name"}}` and `{"finish": name}` at the same time, `{"sleep": seconds}` lets time pass, `{"stop": address}` and
//! `{"start": address}` take a backend away and bring it back, `{"silence": address}` and `{"speak": address}` do so with one
//! that takes connections and never speaks, `{"orca": {address: report}}` sets load reports, `{"update": [resource]}` and
//! `{"remove": [[type, name]]}` change what the control plane sends.
//!
//! A step that says something else than this is refused, so that no word of a script is passed over.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Channel, LimitReached, Outcome, Reach, Rpc, RpcId};
use crate::lb::policy::LoadReport;
use crate::model::ResourceType;
use crate::text;

/// Deadline of an RPC that says nothing about it.
pub const DEFAULT_TIMEOUT_MS: i64 = 5000;

/// Time from the start of RPCs to the next step.
const SETTLE_MS: i64 = 300;

/// Most RPCs of one step.
pub const MAX_COUNT: u64 = 10_000_000;

/// Most RPCs under way at a time: each is kept in memory until it has ended.
pub const MAX_UNDER_WAY: u64 = 100_000;

/// What a step can do.
const VERBS: [&str; 11] = [
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

/// Members of a load report, named as in `xds.data.orca.v3.OrcaLoadReport`.
const REPORT: [&str; 7] = [
    "cpu_utilization",
    "mem_utilization",
    "application_utilization",
    "rps_fractional",
    "eps",
    "named_metrics",
    "utilization",
];

/// A step of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// RPCs one after the other.
    Pick {
        /// What is sent.
        rpc: Rpc,
        /// How often.
        count: u64,
    },
    /// RPCs at the same time.
    Begin {
        /// Identifies them.
        name: String,
        /// What is sent.
        rpc: Rpc,
        /// How many.
        count: u64,
        /// Time until the next step.
        settle_ms: i64,
    },
    /// Waits for RPCs.
    Finish(String),
    /// Lets time pass.
    Sleep(i64),
    /// A backend goes away.
    Stop(SocketAddr),
    /// A backend is there.
    Start(SocketAddr),
    /// An address takes connections and never speaks.
    Silence(SocketAddr),
    /// The control plane sends these resources.
    Update(Value),
    /// The control plane no longer sends these.
    Remove(Vec<(ResourceType, String)>),
    /// Load reports by address.
    Load(BTreeMap<String, Arc<LoadReport>>),
}

/// What is wrong with a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// Not an object with one member.
    #[error("a step is an object with one of {}, not {found}", listed(&VERBS))]
    NoStep {
        /// What stands there.
        found: String,
    },
    /// Two verbs.
    #[error("a step has one verb, this one has {0}: write a line for each")]
    Several(String),
    /// A member that there is not.
    #[error("{place} has no `{name}`{hint}")]
    Unknown {
        /// `a step`, `pick`.
        place: &'static str,
        /// As written.
        name: String,
        /// What was meant, or what there is.
        hint: String,
    },
    /// A member of the wrong kind.
    #[error("`{member}` is {value}, must be {wanted}")]
    Member {
        /// Its name.
        member: String,
        /// Its value.
        value: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// `finish` without `begin`.
    #[error("`finish` names `{name}`, which no `begin` before it has{hint}")]
    FinishUnknown {
        /// As written.
        name: String,
        /// What was meant, or what there is.
        hint: String,
    },
    /// `begin` again before `finish`.
    #[error("`begin` names `{0}`, whose RPCs are under way already: finish them first, or name these otherwise")]
    BeginTwice(String),
    /// `begin` without `finish`.
    #[error("no `finish` waits for the RPCs `{0}` of this `begin`, so nothing would be said of them")]
    NeverFinished(String),
    /// Too many at a time.
    #[error("{0} RPCs would be under way at a time, the limit is {MAX_UNDER_WAY}")]
    TooMany(u64),
    /// An address that no resource has.
    #[error("`{verb}` names {address}, which is no address of the channel or of an `update`{hint}")]
    NoAddress {
        /// The step's verb.
        verb: &'static str,
        /// As written.
        address: String,
        /// What was meant.
        hint: String,
    },
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// What was probably meant by a name, or what there is.
fn hint(name: &str, names: &[&str]) -> String {
    match text::nearest(name, names.iter().copied()) {
        Some(near) => format!(", did you mean `{near}`?"),
        None if names.is_empty() => String::new(),
        None => format!("; there is {}", listed(names)),
    }
}

/// A value for a message, not longer than a line.
fn shown(value: &Value) -> String {
    const MOST: usize = 80;
    let text = value.to_string();
    if text.chars().count() <= MOST {
        return format!("`{text}`");
    }
    let start: String = text.chars().take(MOST).collect();
    format!("`{start}...`")
}

fn wrong(member: impl Into<String>, value: &Value, wanted: &'static str) -> StepError {
    StepError::Member {
        member: member.into(),
        value: shown(value),
        wanted,
    }
}

/// The object of a verb, all of whose members are known.
fn members<'v>(place: &'static str, value: &'v Value, known: &[&str]) -> Result<&'v Map<String, Value>, StepError> {
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
            "orca" => Step::Load(load(value)?),
            "update" => {
                let list = value.as_array().filter(|list| list.iter().all(is_resource));
                list.ok_or_else(|| wrong("update", value, "a list of resources, each an object with an `@type`"))?;
                Step::Update(value.clone())
            }
            "remove" => {
                let names = value.as_array().and_then(|list| list.iter().map(removed).collect());
                Step::Remove(names.ok_or_else(|| wrong("remove", value, "a list of pairs of type URL and name"))?)
            }
            _ => return Err(unknown_verb(key)),
        })
    }

    /// The addresses that the step is about, with its verb.
    fn addresses(&self) -> (&'static str, Vec<SocketAddr>) {
        match self {
            Step::Stop(address) => ("stop", vec![*address]),
            Step::Start(address) => ("start", vec![*address]),
            Step::Silence(address) => ("silence", vec![*address]),
            Step::Load(reports) => ("orca", reports.keys().filter_map(|text| text.parse().ok()).collect()),
            Step::Pick { .. }
            | Step::Begin { .. }
            | Step::Finish(_)
            | Step::Sleep(_)
            | Step::Update(_)
            | Step::Remove(_) => ("", Vec::new()),
        }
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

/// Reads load reports by address, fields named as in `xds.data.orca.v3.OrcaLoadReport`.
///
/// # Errors
/// What is wrong.
pub fn load(value: &Value) -> Result<BTreeMap<String, Arc<LoadReport>>, StepError> {
    let reports = value
        .as_object()
        .ok_or_else(|| wrong("orca", value, "an object of reports by address"))?;
    reports
        .iter()
        .map(|(address, report)| {
            if address.parse::<SocketAddr>().is_err() {
                let name = Value::String(address.clone());
                return Err(wrong("orca", &name, "reports by addresses like 10.0.0.1:80"));
            }
            let map = members("orca", report, &REPORT)?;
            let report = LoadReport {
                cpu_utilization: number(map, "cpu_utilization")?,
                mem_utilization: number(map, "mem_utilization")?,
                application_utilization: number(map, "application_utilization")?,
                qps: number(map, "rps_fractional")?,
                eps: number(map, "eps")?,
                named_metrics: numbers(map, "named_metrics")?,
                utilization: numbers(map, "utilization")?,
            };
            Ok((address.clone(), Arc::new(report)))
        })
        .collect()
}

fn number(map: &Map<String, Value>, member: &'static str) -> Result<f64, StepError> {
    map.get(member).map_or(Ok(0.0), |value| {
        value.as_f64().ok_or_else(|| wrong(member, value, "a number"))
    })
}

fn numbers<T: FromIterator<(String, f64)>>(map: &Map<String, Value>, member: &'static str) -> Result<T, StepError> {
    let Some(value) = map.get(member) else {
        return Ok(std::iter::empty().collect());
    };
    let numbers = value.as_object().and_then(|map| {
        map.iter()
            .map(|(name, value)| Some((name.clone(), value.as_f64()?)))
            .collect::<Option<T>>()
    });
    numbers.ok_or_else(|| wrong(member, value, "an object of numbers by name"))
}

/// Looks at whole scripts: what a step alone does not tell.
///
/// `known` are the addresses of the channel before the first step.
///
/// # Errors
/// The number of the first faulty step, counted from 0, and what is wrong with it.
pub fn check(steps: &[Step], known: &[SocketAddr]) -> Result<(), (usize, StepError)> {
    let mut known: Vec<SocketAddr> = known.iter().copied().map(canonical).collect();
    for step in steps {
        if let Step::Update(resources) = step {
            addresses_in(resources, &mut known);
        }
    }
    known.sort_unstable();
    known.dedup();
    let mut under_way: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for (number, step) in steps.iter().enumerate() {
        let (verb, addresses) = step.addresses();
        for address in addresses {
            if known.binary_search(&canonical(address)).is_err() {
                let texts: Vec<String> = known.iter().map(ToString::to_string).collect();
                let near = text::nearest(&address.to_string(), texts.iter().map(String::as_str))
                    .map(|near| format!(", did you mean {near}?"));
                let error = StepError::NoAddress {
                    verb,
                    address: address.to_string(),
                    hint: near.unwrap_or_default(),
                };
                return Err((number, error));
            }
        }
        match step {
            Step::Begin { name, count, .. } => {
                if under_way.insert(name, (number, *count)).is_some() {
                    return Err((number, StepError::BeginTwice(name.clone())));
                }
                let total: u64 = under_way.values().map(|(_, count)| count).sum();
                if total > MAX_UNDER_WAY {
                    return Err((number, StepError::TooMany(total)));
                }
            }
            Step::Finish(name) if under_way.remove(name.as_str()).is_none() => {
                let names: Vec<&str> = under_way.keys().copied().collect();
                let error = StepError::FinishUnknown {
                    name: name.clone(),
                    hint: hint(name, &names),
                };
                return Err((number, error));
            }
            _ => {}
        }
    }
    match under_way.into_iter().min_by_key(|(_, (number, _))| *number) {
        Some((name, (number, _))) => Err((number, StepError::NeverFinished(name.to_owned()))),
        None => Ok(()),
    }
}

/// `::ffff:1.2.3.4` leads to the same backend as `1.2.3.4`.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The socket addresses anywhere in resources.
fn addresses_in(value: &Value, found: &mut Vec<SocketAddr>) {
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
}

/// Plays steps on a channel.
#[derive(Debug, Default)]
pub struct Player {
    under_way: BTreeMap<String, Vec<RpcId>>,
}

impl Player {
    /// Plays one step; what came of its RPCs goes to `take`, in order, until that wants no
    /// more. Returns what a client carries on from and people
    /// should hear of: rejected updates, removals of nothing.
    ///
    /// # Errors
    /// The step takes too long.
    pub fn play(
        &mut self,
        step: &Step,
        channel: &mut Channel,
        take: &mut dyn FnMut(Outcome) -> bool,
    ) -> Result<Vec<String>, LimitReached> {
        let mut notes = Vec::new();
        match step {
            Step::Pick { rpc, count } => {
                for _ in 0..*count {
                    if let Some(outcome) = channel.call(rpc.clone())?
                        && !take(outcome)
                    {
                        break;
                    }
                }
            }
            Step::Begin {
                name,
                rpc,
                count,
                settle_ms,
            } => {
                let ids = (0..*count).map(|_| channel.begin(rpc.clone())).collect();
                self.under_way.insert(name.clone(), ids);
                channel.sleep(*settle_ms)?;
            }
            Step::Finish(name) => {
                for id in self.under_way.remove(name).into_iter().flatten() {
                    if let Some(outcome) = channel.finish(id)?
                        && !take(outcome)
                    {
                        break;
                    }
                }
            }
            Step::Sleep(ms) => channel.sleep(*ms)?,
            Step::Stop(address) => {
                channel.network_mut().addresses.insert(*address, Reach::Refuses);
                channel.stop(address);
            }
            Step::Start(address) => {
                channel.network_mut().addresses.insert(*address, Reach::Accepts);
            }
            Step::Silence(address) => {
                channel.network_mut().addresses.insert(*address, Reach::Hangs);
            }
            Step::Update(resources) => {
                notes = channel.client_mut().update(resources).notes;
                channel.resolve();
            }
            Step::Remove(names) => {
                for (resource_type, name) in names {
                    notes.extend(remove(*resource_type, name, channel));
                }
                channel.resolve();
            }
            Step::Load(reports) => channel.network_mut().load.extend(reports.clone()),
        }
        Ok(notes)
    }
}

/// Takes a resource away; says if that does nothing.
fn remove(resource_type: ResourceType, name: &str, channel: &mut Channel) -> Option<String> {
    let kind = resource_type.short_name();
    // Only for these two does silence mean removal (state of the world).
    if !matches!(resource_type, ResourceType::Listener | ResourceType::Cluster) {
        return Some(format!(
            "{kind} `{name}` stays in use: that it is no longer sent does not take it away"
        ));
    }
    let resources = &channel.client_mut().resources;
    let is_held = match resource_type {
        ResourceType::Listener => resources.listeners.contains_key(name),
        _ => resources.clusters.contains_key(name),
    };
    channel.client_mut().resources.remove(resource_type, name);
    channel.note_removed(resource_type, name);
    (!is_held).then(|| format!("{kind} `{name}` is not there to be removed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads and checks a script; the line and words of the first fault.
    fn fault(lines: &[&str]) -> Option<(usize, String)> {
        let mut steps = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            match Step::from_json(&serde_json::from_str(line).unwrap()) {
                Ok(step) => steps.push(step),
                Err(error) => return Some((number, error.to_string())),
            }
        }
        let known = ["10.0.0.1:80".parse().unwrap()];
        check(&steps, &known)
            .err()
            .map(|(number, error)| (number, error.to_string()))
    }

    #[track_caller]
    fn check_fault(lines: &[&str], number: usize, words: &str) {
        assert_eq!(fault(lines), Some((number, words.to_owned())), "{lines:?}");
    }

    #[test]
    fn a_step_says_one_thing_that_there_is() {
        check_fault(&[r#"{"pik": {}}"#], 0, "a step has no `pik`, did you mean `pick`?");
        check_fault(
            &[r#"{"pick": {}, "sleep": 1}"#],
            0,
            "a step has one verb, this one has `pick`, `sleep`: write a line for each",
        );
        check_fault(
            &[r#"{"pick": {"metod": "/a/b"}}"#],
            0,
            "pick has no `metod`, did you mean `method`?",
        );
        check_fault(
            &[r#"{"pick": {"name": "a"}}"#],
            0,
            "pick has no `name`; there is `method`, `headers`, `count`, `timeout`, `wait_for_ready`",
        );
        check_fault(&[r#"{"pick": 3}"#], 0, "`pick` is `3`, must be an object");
        check_fault(
            &["[]"],
            0,
            "a step is an object with one of `pick`, `begin`, `finish`, `sleep`, `stop`, `start`, `silence`, `speak`, \
             `orca`, `update`, `remove`, not `[]`",
        );
    }

    #[test]
    fn members_have_their_types() {
        for (line, words) in [
            (
                r#"{"pick": {"count": -1}}"#,
                "`count` is `-1`, must be a number up to 10,000,000",
            ),
            (
                r#"{"begin": {"count": 1000000}}"#,
                "`count` is `1000000`, must be a number up to 100,000",
            ),
            (r#"{"begin": {"name": 1}}"#, "`name` is `1`, must be a text"),
            (
                r#"{"sleep": "1"}"#,
                "`sleep` is `\"1\"`, must be a number of seconds from 0 to 1e9",
            ),
            (
                r#"{"sleep": null}"#,
                "`sleep` is `null`, must be a number of seconds from 0 to 1e9",
            ),
            (
                r#"{"stop": "a"}"#,
                "`stop` is `\"a\"`, must be an address like 10.0.0.1:80",
            ),
            (
                r#"{"update": {}}"#,
                "`update` is `{}`, must be a list of resources, each an object with an `@type`",
            ),
            (
                r#"{"orca": {"10.0.0.1:80": {"qps": 1}}}"#,
                "orca has no `qps`, did you mean `eps`?",
            ),
            (
                r#"{"orca": {"10.0.0.1:80": {"eps": "1"}}}"#,
                "`eps` is `\"1\"`, must be a number",
            ),
            (
                r#"{"remove": [["a"]]}"#,
                "`remove` is `[[\"a\"]]`, must be a list of pairs of type URL and name",
            ),
        ] {
            check_fault(&[line], 0, words);
        }
    }

    #[test]
    fn what_begins_is_finished_once() {
        let begin = r#"{"begin": {"name": "a"}}"#;
        assert_eq!(fault(&[begin, r#"{"finish": "a"}"#, begin, r#"{"finish": "a"}"#]), None);
        check_fault(
            &[begin, r#"{"finish": "b"}"#],
            1,
            "`finish` names `b`, which no `begin` before it has; there is `a`",
        );
        check_fault(
            &[begin, begin],
            1,
            "`begin` names `a`, whose RPCs are under way already: finish them first, or name these otherwise",
        );
        check_fault(
            &[r#"{"pick": {}}"#, begin],
            1,
            "no `finish` waits for the RPCs `a` of this `begin`, so nothing would be said of them",
        );
        check_fault(
            &[
                r#"{"begin": {"name": "a", "count": 99999}}"#,
                r#"{"begin": {"name": "b", "count": 2}}"#,
            ],
            1,
            "100001 RPCs would be under way at a time, the limit is 100000",
        );
    }

    #[test]
    fn addresses_are_the_channels_or_of_an_update() {
        check_fault(
            &[r#"{"stop": "10.0.0.1:8"}"#],
            0,
            "`stop` names 10.0.0.1:8, which is no address of the channel or of an `update`, did you mean 10.0.0.1:80?",
        );
        let update = r#"{"update": [{"@type": "x", "a": [{"address": "10.0.0.2", "port_value": 81}]}]}"#;
        assert_eq!(fault(&[r#"{"stop": "[::ffff:10.0.0.2]:81"}"#, update]), None);
    }
}
