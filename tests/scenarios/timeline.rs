//! Timelines of the client and of xdsctl, in one vocabulary: what happened, when, and how long
//! after its cause.

use std::collections::BTreeMap;

use serde_json::Value;
use xdsctl_channel::sim::script::{Player, Step};
use xdsctl_lb::log::LogEntry;
use xdsctl_lb::policy::TreePath;

use super::picks::World;
use super::world::Row;

/// The time before the step after a stop, in milliseconds: a refusal takes up to 2.
const STOP_MS: i64 = 3;

/// An event that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The instance of a policy, such as `priority#2`, or another subject.
    pub of: String,
    pub name: String,
    /// The details, in the order of their keys.
    pub details: BTreeMap<String, String>,
    /// The time in milliseconds.
    pub at: i64,
    /// The milliseconds since the last event from outside: a step, an RPC, a timer, the network.
    pub since: i64,
    /// The number of steps that had begun.
    pub step: usize,
    /// Whether a connection repeats the state that it has already: several policies watch a
    /// connection, and get its state when they begin.
    pub is_echo: bool,
}

impl Event {
    pub fn kind(&self) -> &str {
        self.of.split('#').next().unwrap_or_default()
    }

    pub fn detail(&self, key: &str) -> &str {
        self.details.get(key).map_or("", String::as_str)
    }

    pub fn ms(&self, key: &str) -> i64 {
        self.detail(key).trim_end_matches("ms").parse().unwrap()
    }

    /// Writes `name key=value key=value`.
    pub fn words(&self) -> String {
        let details = self.details.iter().map(|(key, value)| format!(" {key}={value}"));
        format!("{}{}", self.name, details.collect::<String>())
    }

    /// Says whether the event comes by itself, at its time.
    pub fn is_timer(&self) -> bool {
        let timers = ["failover_timer_fired", "deactivation_timer_fired", "sweep", "tick"];
        timers.contains(&self.name.as_str())
    }

    fn is_cause(&self) -> bool {
        let is_answer = self.kind() == "rls" && matches!(self.name.as_str(), "response" | "answered" | "lookup_failed");
        is_answer || self.is_timer() || matches!(self.kind(), "test" | "rpc" | "connection" | "retry")
    }
}

/// Fills in how long each event came after its cause, and which events are echoes.
fn related(mut events: Vec<Event>) -> Vec<Event> {
    let mut states: BTreeMap<String, String> = BTreeMap::new();
    let mut cause = 0;
    for event in &mut events {
        if event.kind() == "connection" {
            let state = event.detail("state").to_owned();
            event.is_echo = states.insert(event.of.clone(), state.clone()) == Some(state);
        }
        if event.is_cause() && !event.is_echo {
            cause = event.at;
        }
        event.since = event.at - cause;
    }
    events
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The numbers of policies by kind and place, in the order in which they appear.
type Numbers = BTreeMap<(&'static str, TreePath), usize>;

/// Returns the addresses to which override_host made a connection itself: the client logs such a
/// connection by a number.
fn owned(row: &Row) -> Vec<&str> {
    let made = row.events.iter().filter(|event| event["event"] == "owned_created");
    made.map(|event| event["what"]["address"].as_str().unwrap()).collect()
}

/// Returns what the client did.
pub fn recorded(row: &Row) -> Vec<Event> {
    let own = owned(row);
    let mut step = 0;
    let events = row.events.iter().filter_map(|json| {
        let mut name = json["event"].as_str().unwrap();
        let mut of = json["policy"].as_str().unwrap().to_owned();
        let what = json["what"].as_object().unwrap();
        let mut details: BTreeMap<String, String> =
            what.iter().map(|(key, value)| (key.clone(), text(value))).collect();
        match (of.as_str(), name) {
            ("test", "step") => step += 1,
            ("test", "rpc") => (of, name) = ("rpc".to_owned(), "begin"),
            ("test", "rpc_done") => (of, name) = ("rpc".to_owned(), "end"),
            (_, "subchannel_state") => {
                let address = details.remove("sub").filter(|sub| sub.contains(':'))?;
                if own.contains(&address.as_str()) {
                    return None;
                }
                (of, name) = (format!("connection#{address}"), "state");
            }
            _ => {}
        }
        if of == "rpc" {
            details.clear();
        }
        Some(Event {
            of,
            name: name.to_owned(),
            details,
            at: json["t_ms"].as_i64().unwrap(),
            since: 0,
            step,
            is_echo: false,
        })
    });
    related(events.collect())
}

/// Returns what xdsctl does in the world of a row.
pub fn played(row: &Row, world: &World, seed: u64) -> Vec<Event> {
    let mut channel = world.channel(seed, |options| options.log = true);
    let mut player = Player::default();
    let mut all = Vec::new();
    let mut numbers = Numbers::new();
    let own = owned(row);
    for (number, step) in world.steps.iter().enumerate() {
        all.push(Event {
            of: "test".to_owned(),
            name: "step".to_owned(),
            details: BTreeMap::new(),
            at: channel.now(),
            since: 0,
            step: number + 1,
            is_echo: false,
        });
        player.play(step, &mut channel, &mut |_| true).unwrap();
        // A step of the recorder takes a moment: the client learns that a backend has gone before
        // it is there again.
        if let (Step::Stop(_), Some(Step::Start(_))) = (step, world.steps.get(number + 1)) {
            channel.sleep(STOP_MS).unwrap();
        }
        let told = channel.take_log().0;
        all.extend(
            told.iter()
                .filter_map(|told| simulated(told, number + 1, &own, &mut numbers)),
        );
    }
    related(all)
}

/// Translates a log entry into the words of the recordings.
fn simulated(told: &LogEntry, step: usize, own: &[&str], numbers: &mut Numbers) -> Option<Event> {
    let mut details: BTreeMap<String, String> = told
        .event
        .details()
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.to_string()))
        .collect();
    let mut name = told.event.name();
    let of = match told.event.layer() {
        "connection" => {
            if name == "let_go" {
                return None;
            }
            let address = details
                .remove("address")
                .filter(|address| !own.contains(&address.as_str()))?;
            details.remove("why");
            // The client's log identifies connections by their address.
            details.remove("cluster");
            details.entry("state".to_owned()).or_insert_with(|| "IDLE".to_owned());
            name = "state";
            format!("connection#{address}")
        }
        "session" => {
            details.remove("rpc");
            "override_host".to_owned()
        }
        "rpc" => {
            details.clear();
            "rpc".to_owned()
        }
        // The recordings do not name the instance.
        "override_host" if matches!(name, "subchannel_created" | "became_owned" | "released") => {
            "override_host".to_owned()
        }
        layer => {
            let layer = if layer == "endpoints" { "round_robin" } else { layer };
            let next = 1 + numbers.keys().filter(|(kind, _)| *kind == layer).count();
            let number = *numbers.entry((layer, told.place.clone())).or_insert(next);
            format!("{layer}#{number}")
        }
    };
    Some(Event {
        of,
        name: name.to_owned(),
        details,
        at: told.at,
        since: 0,
        step,
        is_echo: false,
    })
}
