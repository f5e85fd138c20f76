//! Writes what happened in the form of an expectation, for recording.
//!
//! What an RPC, an update or a channel did is recorded. What is wanted (`within`, `shares`,
//! `fails`, and what must never happen) is for the user to say.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::channel;
use super::check::{CheckKind, RpcCheck, StatePlace};
use super::expect::NONE;
use super::judge::{Ended, Watched, session};
use xdsctl_channel::client::Updated;
use xdsctl_channel::sim::Channel;

/// The most different values in a list.
const MAX_VALUES: usize = 10;

/// What the RPCs of a step did.
#[derive(Debug, Default)]
pub(super) struct StepValues {
    /// The different values, in the order in which they occurred.
    values: Vec<Value>,
    why_not: Option<&'static str>,
}

impl StepValues {
    /// Records what an RPC did.
    pub fn rpc(&mut self, what: &RpcCheck, ended: &Ended<'_>) {
        match of_rpc(what, ended) {
            Ok(value) if self.values.contains(&value) => {}
            Ok(_) if self.values.len() >= MAX_VALUES => self.why_not = Some("there are more than 10 different ones"),
            Ok(value) => self.values.push(value),
            Err(why) => self.why_not = Some(why),
        }
    }

    /// Returns the value that the expectation would need, or why there is none.
    pub fn value(
        &self,
        watched: &Watched<'_>,
        updates: &[(usize, Updated)],
        channels: &[Channel],
    ) -> Result<Value, &'static str> {
        let (backends, count) = watched.counts();
        match &watched.check.what {
            CheckKind::Backends(_) => Ok(backends.into()),
            CheckKind::Count(_) => Ok(count.into()),
            CheckKind::Shares(_) => Err("shares are your decision, a run shows only what chance made of them"),
            CheckKind::Has(_) | CheckKind::Lacks(_) => Err("policies are what is wanted"),
            CheckKind::Nack(_) => same(updates.iter().map(|(_, updated)| rules(updated))),
            CheckKind::States(states) => same(channels.iter().map(|found| {
                let of = states.keys().map(|place| {
                    let state = channel::state(*place, found).map_or(NONE, |state| state.name());
                    (place_name(*place), Value::from(state))
                });
                Value::Object(of.collect())
            })),
            CheckKind::Priority(clusters) => {
                let all: Result<Vec<Value>, &str> = channels
                    .iter()
                    .map(|found| priorities(clusters.keys(), found))
                    .collect();
                same(all?.into_iter())
            }
            CheckKind::Rpc(what) => match (self.why_not, self.values.as_slice(), what) {
                (Some(why), ..) => Err(why),
                (None, [], _) => Err("there was no RPC"),
                (None, [value], _) => Ok(value.clone()),
                (None, values, RpcCheck::Attempts(_)) => Ok(range(values)),
                (None, _, RpcCheck::AttemptsAt(_) | RpcCheck::Cookie(_) | RpcCheck::Message(_)) => {
                    Err("the RPCs differ")
                }
                (None, values, _) => Ok(Value::from(values.to_vec())),
            },
        }
    }
}

/// Returns what an RPC did.
fn of_rpc(what: &RpcCheck, ended: &Ended<'_>) -> Result<Value, &'static str> {
    let outcome = ended.rpc.outcome;
    let name = |name: Option<&str>, why| name.filter(|name| !name.is_empty()).map(Value::from).ok_or(why);
    match what {
        RpcCheck::Status(_) => Ok(outcome.code.name().into()),
        RpcCheck::Message(_) => name(Some(&outcome.details), "an RPC has no message"),
        RpcCheck::Address(_) => name(outcome.backend.as_deref(), "an RPC failed, and has no address"),
        RpcCheck::Cluster(_) => {
            let leaf = outcome.place.as_ref().map(|place| &*place.cluster);
            name(leaf.or(outcome.cluster.as_deref()), "an RPC has no cluster")
        }
        RpcCheck::VirtualHost(_) => name(outcome.virtual_host.as_deref(), "an RPC has no virtual host"),
        RpcCheck::Authority(_) => name(outcome.authority.as_deref(), "an RPC has no authority"),
        RpcCheck::Locality(_) => {
            let locality = outcome.place.as_ref().map(|place| &*place.locality);
            name(locality, "an RPC has no locality")
        }
        RpcCheck::Route(_) => {
            let number = outcome.route.ok_or("no route takes an RPC")?;
            let route = outcome.route_name.as_deref().filter(|name| !name.is_empty());
            Ok(route.map_or_else(|| number.into(), Value::from))
        }
        RpcCheck::Attempts(_) => Ok(outcome.attempts.len().into()),
        RpcCheck::AttemptsAt(_) => Ok(outcome.attempts.clone().into()),
        RpcCheck::Cookie(_) => {
            let set: Option<String> = outcome.set_cookie.first().and_then(|header| {
                let addresses = session(header)?.addresses;
                addresses.split(',').next().map(str::to_owned)
            });
            Ok(set.map_or_else(|| NONE.into(), Value::from))
        }
        RpcCheck::Fails(_) => Err("whether RPCs may fail is your decision"),
        RpcCheck::Within(_) => Err("how long RPCs may take is your decision"),
        RpcCheck::Moves(_) => Err("whether sessions may move is your decision"),
        RpcCheck::That(_) => Err("an expression is your decision"),
    }
}

/// Returns the value that all clients have.
fn same(mut values: impl Iterator<Item = Value>) -> Result<Value, &'static str> {
    let first = values.next().ok_or("nothing happened")?;
    match values.all(|value| value == first) {
        true => Ok(first),
        false => Err("the clients differ"),
    }
}

/// Returns the rules by which an update is rejected.
fn rules(updated: &Updated) -> Value {
    let faults = updated.nacked.iter().flat_map(|nacked| &nacked.faults);
    let ids: BTreeSet<&str> = faults.map(|(rule, _)| rule.id).collect();
    let ids: Vec<Value> = ids.into_iter().map(Value::from).collect();
    match ids.as_slice() {
        [] => NONE.into(),
        [id] => id.clone(),
        _ => ids.into(),
    }
}

fn priorities<'c>(clusters: impl Iterator<Item = &'c String>, found: &Channel) -> Result<Value, &'static str> {
    let known = channel::priorities(found);
    let of = clusters.map(|cluster| {
        let used: Vec<&Option<u64>> = known.get(cluster).into_iter().flatten().collect();
        match used.as_slice() {
            [Some(number)] => Ok((cluster.clone(), Value::from(*number))),
            [None] => Ok((cluster.clone(), Value::from(NONE))),
            [] if channel::has_cluster(cluster, found) => Ok((cluster.clone(), Value::from(NONE))),
            [] => Err("there is no such cluster"),
            _ => Err("a cluster stands at several places, which differ"),
        }
    });
    of.collect::<Result<Map<String, Value>, _>>().map(Value::Object)
}

fn place_name(place: StatePlace) -> String {
    match place {
        StatePlace::Channel => "channel".to_owned(),
        StatePlace::Address(address) => address.to_string(),
    }
}

/// Writes the range of some numbers as a text.
fn range(values: &[Value]) -> Value {
    let numbers = || values.iter().filter_map(Value::as_u64);
    let (least, most) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
    format!("{least}..{most}").into()
}
