//! Scripts: steps in JSON, one an object, played on one channel.
//!
//! `{"pick": {"method", "headers", "count", "timeout", "wait_for_ready"}}` sends RPCs one after the other, `{"begin":
//! {..., "name"}}` and `{"finish": name}` at the same time, `{"sleep": seconds}` lets time pass, `{"stop": address}` and
//! `{"start": address}` take a backend away and bring it back, `{"silence": address}` and `{"speak": address}` do so with one
//! that takes connections and never speaks, `{"orca": {address: report}}` sets load reports, `{"update": [resource]}` and
//! `{"remove": [[type, name]]}` change what the control plane sends.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;

use super::{Channel, Outcome, Reach, Rpc, RpcId};
use crate::lb::policy::LoadReport;
use crate::model::ResourceType;

/// Deadline of an RPC that says nothing about it.
pub const DEFAULT_TIMEOUT_MS: i64 = 5000;

/// Time from the start of RPCs to the next step.
const SETTLE_MS: i64 = 300;

/// Most RPCs of one step.
pub const MAX_COUNT: u64 = 10_000_000;

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
    /// Not an object with exactly one known key.
    #[error(
        "a step is an object with one of `pick`, `begin`, `finish`, `sleep`, `stop`, `start`, `silence`, `speak`, `orca`, `update`, `remove`, not `{0}`"
    )]
    Unknown(String),
    /// A member of the wrong kind.
    #[error("`{member}` is `{value}`, must be {wanted}")]
    Member {
        /// Its name.
        member: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        wanted: &'static str,
    },
}

fn wrong(member: &'static str, value: &Value, wanted: &'static str) -> StepError {
    StepError::Member {
        member,
        value: value.to_string(),
        wanted,
    }
}

impl Step {
    /// Reads a step.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_json(json: &Value) -> Result<Step, StepError> {
        let unknown = || StepError::Unknown(json.to_string());
        let (key, value) = json.as_object().and_then(|map| map.iter().next()).ok_or_else(unknown)?;
        Ok(match key.as_str() {
            "pick" => Step::Pick {
                rpc: rpc(value)?,
                count: count(value)?,
            },
            "begin" => Step::Begin {
                name: value.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
                rpc: rpc(value)?,
                count: count(value)?,
                settle_ms: seconds(value, "settle")?.unwrap_or(SETTLE_MS),
            },
            "finish" => match value.as_str() {
                Some(name) => Step::Finish(name.to_owned()),
                None => return Err(wrong("finish", value, "the name of a `begin`")),
            },
            "sleep" => Step::Sleep(seconds(json, "sleep")?.unwrap_or(0)),
            "stop" => Step::Stop(address("stop", value)?),
            "start" => Step::Start(address("start", value)?),
            "silence" => Step::Silence(address("silence", value)?),
            "speak" => Step::Stop(address("speak", value)?),
            "orca" => Step::Load(load(value)?),
            "update" => Step::Update(value.clone()),
            "remove" => {
                let names = value.as_array().and_then(|list| list.iter().map(removed).collect());
                Step::Remove(names.ok_or_else(|| wrong("remove", value, "a list of pairs of type URL and name"))?)
            }
            _ => return Err(unknown()),
        })
    }
}

fn removed(pair: &Value) -> Option<(ResourceType, String)> {
    let url = pair.get(0)?.as_str()?;
    let resource_type = ResourceType::from_type_name(url.rsplit('/').next()?)?;
    Some((resource_type, pair.get(1)?.as_str()?.to_owned()))
}

fn address(member: &'static str, value: &Value) -> Result<SocketAddr, StepError> {
    let parsed = value.as_str().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| wrong(member, value, "an address like 10.0.0.1:80"))
}

/// A number of seconds as milliseconds.
fn seconds(map: &Value, member: &'static str) -> Result<Option<i64>, StepError> {
    match map.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64().filter(|seconds| (0.0..=1e9).contains(seconds)) {
            Some(seconds) => Ok(Some((seconds * 1000.0).round() as i64)),
            None => Err(wrong(member, value, "a number of seconds from 0 to 1e9")),
        },
    }
}

fn count(value: &Value) -> Result<u64, StepError> {
    match value.get("count") {
        None | Some(Value::Null) => Ok(1),
        Some(number) => number
            .as_u64()
            .filter(|count| *count <= MAX_COUNT)
            .ok_or_else(|| wrong("count", number, "a number up to 10,000,000")),
    }
}

fn rpc(value: &Value) -> Result<Rpc, StepError> {
    let mut rpc = Rpc::default();
    if let Some(method) = value.get("method") {
        let text = method.as_str().filter(|text| text.starts_with('/'));
        text.ok_or_else(|| wrong("method", method, "a path like /package.Service/Method"))?
            .clone_into(&mut rpc.method);
    }
    if let Some(headers) = value.get("headers") {
        let pairs = headers
            .as_array()
            .and_then(|pairs| pairs.iter().map(pair).collect::<Option<Vec<_>>>());
        rpc.headers = pairs.ok_or_else(|| wrong("headers", headers, "a list of pairs of texts"))?;
    }
    if let Some(ms) = seconds(value, "timeout")? {
        rpc.timeout_ms = Some(ms);
    }
    match value.get("wait_for_ready") {
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
    Ok(reports
        .iter()
        .map(|(address, report)| {
            let number = |name: &str| report.get(name).and_then(Value::as_f64).unwrap_or(0.0);
            let numbers = |name: &str| {
                let map = report.get(name).and_then(Value::as_object).into_iter().flatten();
                map.filter_map(|(key, value)| Some((key.clone(), value.as_f64()?)))
                    .collect()
            };
            let report = LoadReport {
                cpu_utilization: number("cpu_utilization"),
                mem_utilization: number("mem_utilization"),
                application_utilization: number("application_utilization"),
                qps: number("rps_fractional"),
                eps: number("eps"),
                named_metrics: numbers("named_metrics"),
                utilization: numbers("utilization"),
            };
            (address.clone(), Arc::new(report))
        })
        .collect())
}

/// Plays steps on a channel.
#[derive(Debug, Default)]
pub struct Player {
    under_way: BTreeMap<String, Vec<RpcId>>,
}

impl Player {
    /// Plays one step; what came of its RPCs goes to `take`, in order.
    pub fn play(&mut self, step: &Step, channel: &mut Channel, take: &mut dyn FnMut(Outcome)) {
        match step {
            Step::Pick { rpc, count } => {
                for _ in 0..*count {
                    if let Some(outcome) = channel.call(rpc.clone()) {
                        take(outcome);
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
                channel.sleep(*settle_ms);
            }
            Step::Finish(name) => {
                for id in self.under_way.remove(name).into_iter().flatten() {
                    if let Some(outcome) = channel.finish(id) {
                        take(outcome);
                    }
                }
            }
            Step::Sleep(ms) => channel.sleep(*ms),
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
                channel.client_mut().update(resources);
                channel.resolve();
            }
            Step::Remove(names) => {
                for (resource_type, name) in names {
                    // Only for these two does silence mean removal (state of the world).
                    if matches!(resource_type, ResourceType::Listener | ResourceType::Cluster) {
                        channel.client_mut().resources.remove(*resource_type, name);
                        channel.note_removed(*resource_type, name);
                    }
                }
                channel.resolve();
            }
            Step::Load(reports) => channel.network_mut().load.extend(reports.clone()),
        }
    }
}
