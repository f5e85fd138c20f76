//! The events of the recorded timelines: what the client's policies did, and when.
//!
//! Compared are, for each row: what priority does; what override_host does but for its picks; the last pick of a cookie before an RPC
//! ended; the states of the connection to each address; the waits before retries. Between the addresses, and between instances, the order is the network's.

use std::collections::BTreeMap;

use serde_json::Value;
use xdsctl::lb::log::Told;
use xdsctl::lb::policy::TreePath;
use xdsctl::sim::script::{Player, Step};

use super::picks::{channel_with, read_step};
use super::world::{Row, rows};

/// What passes before the step after a stop, in milliseconds: a refusal takes up to 2.
const STOP_MS: i64 = 3;

/// An event: its name and details, when it came, and after how many steps of the row.
#[derive(Debug, Clone, PartialEq)]
struct Event {
    what: String,
    at: i64,
    step: usize,
}

/// Events by instance.
type Streams = BTreeMap<String, Vec<Event>>;

/// Events that stand for each other, whatever else is logged.
fn is_compared(event: &str) -> bool {
    // What the recorder logs of wrappers tells no more than what becomes of the entry.
    !matches!(event, "wrapper_orphaned")
}

/// `name key=value key=value`, the keys in order.
fn words(event: &str, details: impl Iterator<Item = (String, String)>) -> String {
    let mut details: Vec<(String, String)> = details.collect();
    details.sort();
    let details: Vec<String> = details.iter().map(|(key, value)| format!(" {key}={value}")).collect();
    format!("{event}{}", details.concat())
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Takes reports out that say what the one before of the same child said.
fn without_repeats(events: Vec<Event>) -> Vec<Event> {
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    events
        .into_iter()
        .filter(|event| {
            let Some((head, state)) = event.what.split_once(" state=") else {
                return true;
            };
            last.insert(head.to_owned(), state.to_owned()).as_deref() != Some(state)
        })
        .collect()
}

fn recorded(row: &Row, kind: &str) -> Streams {
    let mut streams = Streams::new();
    let mut step = 0;
    for event in &row.events {
        let policy = event["policy"].as_str().unwrap();
        let name = event["event"].as_str().unwrap();
        if (policy, name) == ("test", "step") {
            step += 1;
        }
        let Some((of, _)) = policy.split_once('#').filter(|(of, _)| *of == kind) else {
            continue;
        };
        let _ = of;
        if !is_compared(name) {
            continue;
        }
        let details = event["what"].as_object().unwrap();
        let details = details.iter().map(|(key, value)| (key.clone(), text(value)));
        streams.entry(policy.to_owned()).or_default().push(Event {
            what: words(name, details),
            at: event["t_ms"].as_i64().unwrap(),
            step,
        });
    }
    streams
}

/// Plays a row; what is told, with the number of the steps that had begun.
fn played(row: &Row, seed: u64) -> Vec<(usize, Told)> {
    let mut channel = channel_with(row, seed, |options| options.log = true).unwrap();
    let mut player = Player::default();
    let mut all = Vec::new();
    for (number, step) in row.steps.iter().enumerate() {
        let step = read_step(step);
        player.play(&step, &mut channel, &mut |_| true).unwrap();
        // A step of the recorder takes a moment: the client hears that a backend has gone before it is there again.
        let next = row.steps.get(number + 1).map(read_step);
        if let (Step::Stop(_), Some(Step::Start(_))) = (&step, next) {
            channel.sleep(STOP_MS).unwrap();
        }
        all.extend(channel.take_log().0.into_iter().map(|told| (number + 1, told)));
    }
    all
}

fn simulated(told: &[(usize, Told)], kind: &str) -> Streams {
    let mut streams = Streams::new();
    let mut numbers: BTreeMap<TreePath, usize> = BTreeMap::new();
    for (step, told) in told.iter().filter(|(_, told)| told.layer == kind) {
        // Those that the recording has without their instance are compared elsewhere.
        if matches!(told.what, "subchannel_created" | "became_owned" | "released") {
            continue;
        }
        let next = numbers.len() + 1;
        let number = *numbers.entry(told.place.clone()).or_insert(next);
        let details = told
            .details
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.to_string()));
        streams.entry(format!("{kind}#{number}")).or_default().push(Event {
            what: words(told.what, details),
            at: told.at,
            step: *step,
        });
    }
    streams
}

/// A time in the words of an event.
fn without_time(what: &str) -> (String, Option<i64>) {
    let Some((head, ms)) = what.split_once(" duration=") else {
        return (what.to_owned(), None);
    };
    (format!("{head} duration"), ms.trim_end_matches("ms").parse().ok())
}

fn same(recorded: &Event, ours: &Event) -> bool {
    let ((a, a_ms), (b, b_ms)) = (without_time(&recorded.what), without_time(&ours.what));
    let near = match (a_ms, b_ms) {
        // Last use and now are real.
        (Some(a), Some(b)) => (a - b).abs() <= 40,
        (None, None) => true,
        _ => false,
    };
    a == b && near
}

/// The first difference of two streams.
fn difference(row: &Row, name: &str, recorded: &[Event], ours: &[Event]) -> Option<String> {
    for index in 0..recorded.len().max(ours.len()) {
        let (a, b) = (recorded.get(index), ours.get(index));
        if let (Some(a), Some(b)) = (a, b)
            && same(a, b)
        {
            let Some(before) = index.checked_sub(1) else { continue };
            // Between two events pass the same times but for what real steps cost.
            let passed = |events: &[Event], event: &Event| event.at - events[before].at;
            let steps = i64::try_from(a.step - recorded[before].step).unwrap();
            // What was tried again after a back-off came up to a fifth sooner or later.
            let backoff = passed(recorded, a) / 4;
            if (passed(recorded, a) - passed(ours, b)).abs() > 60 + 25 * steps + backoff {
                let text = format!(
                    "client {a:?} after {:?}, xdsctl {b:?} after {:?}",
                    recorded[before], ours[before]
                );
                return Some(format!("{} {name} [{index}]: time: {text}", row.id));
            }
            continue;
        }
        let around = |events: &[Event]| {
            let from = index.saturating_sub(3);
            let list: Vec<String> = events
                .iter()
                .skip(from)
                .take(7)
                .map(|event| format!("\n      {} {}", event.at, event.what))
                .collect();
            list.concat()
        };
        return Some(format!(
            "{} {name} [{index}]\n    client{}\n    xdsctl{}",
            row.id,
            around(recorded),
            around(ours)
        ));
    }
    None
}

fn compare(kind: &str) {
    let mut rows = rows("timelines");
    // Whatever differed between two recordings.
    rows.retain(|row| !row.varies.iter().any(|varies| varies == kind));
    let mut wrong = Vec::new();
    let mut compared = 0;
    for row in &rows {
        let recorded = recorded(row, kind);
        let mut first = None;
        // The order of first connections is drawn.
        for seed in 1..=50 {
            let ours = simulated(&played(row, seed), kind);
            let names: std::collections::BTreeSet<&String> = recorded.keys().chain(ours.keys()).collect();
            let found = names.into_iter().find_map(|name| {
                let of = |streams: &Streams| without_repeats(streams.get(name).cloned().unwrap_or_default());
                difference(row, name, &of(&recorded), &of(&ours))
            });
            if found.is_none() {
                first = None;
                break;
            }
            first = first.or(found);
        }
        compared += recorded.values().map(Vec::len).sum::<usize>();
        wrong.extend(first);
    }
    assert!(compared > 300, "{compared} events");
    assert!(
        wrong.is_empty(),
        "{} of {} rows differ\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

#[test]
fn priority_does_what_the_clients_did() {
    compare("priority");
}

#[test]
fn override_host_does_what_the_clients_did() {
    compare("override_host");
}

/// What became of entries and subchannels of a step, in no order: recorded without their instance.
fn unordered(row: &Row, seed: u64) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    const NAMES: [&str; 3] = ["subchannel_created", "became_owned", "released"];
    let mut recorded = vec![Vec::new(); row.steps.len() + 1];
    let mut step = 0;
    for event in &row.events {
        let name = event["event"].as_str().unwrap();
        match event["policy"].as_str().unwrap() {
            "test" if name == "step" => step += 1,
            "override_host" if NAMES.contains(&name) => {
                let details = event["what"].as_object().unwrap().values();
                recorded[step].push(format!("{name} {}", details.map(text).collect::<String>()));
            }
            _ => {}
        }
    }
    let mut ours = vec![Vec::new(); row.steps.len() + 1];
    for (step, told) in played(row, seed) {
        if told.layer == "override_host" && NAMES.contains(&told.what) {
            ours[step].push(format!("{} {}", told.what, told.details[0].1));
        }
    }
    for list in recorded.iter_mut().chain(&mut ours) {
        list.sort();
    }
    (recorded, ours)
}

#[test]
fn entries_get_and_lose_subchannels_as_the_clients_did() {
    let mut rows = rows("timelines");
    rows.retain(|row| !row.varies.iter().any(|varies| varies == "override_host"));
    let mut wrong = Vec::new();
    for row in &rows {
        let all = |lists: &[Vec<String>]| -> Vec<String> {
            // An update is a moment; what it leads to may be logged after the next step began.
            let mut all = lists.concat();
            all.sort();
            all
        };
        let seeds = (1..=50).map(|seed| unordered(row, seed));
        let differs = seeds.map(|(recorded, ours)| (all(&recorded), all(&ours)));
        let first = differs
            .take_while(|(recorded, ours)| recorded != ours)
            .collect::<Vec<_>>();
        if let (50, Some((recorded, ours))) = (first.len(), first.first()) {
            wrong.push(format!("{}\n    client {recorded:?}\n    xdsctl {ours:?}", row.id));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} rows differ\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

/// What the cookie of each RPC led to at last.
#[test]
fn cookies_lead_where_they_led_the_clients() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for row in rows("timelines") {
        let is_at_once = |step: &Value| step.get("begin").is_some();
        if row.varies.iter().any(|varies| varies == "picks") || row.steps.iter().any(is_at_once) {
            continue;
        }
        let mut recorded = Vec::new();
        let mut last = String::new();
        for event in &row.events {
            let name = event["event"].as_str().unwrap();
            match event["policy"].as_str().unwrap() {
                "test" if name == "rpc" => last.clear(),
                "test" if name == "rpc_done" => recorded.push(std::mem::take(&mut last)),
                "override_host" if name.starts_with("pick_") => {
                    let details = event["what"].as_object().unwrap();
                    last = words(name, details.iter().map(|(key, value)| (key.clone(), text(value))));
                }
                _ => {}
            }
        }
        let ours = |seed: u64| {
            let mut ours = Vec::new();
            let mut last = String::new();
            for (_, told) in played(&row, seed) {
                match (told.layer, told.what) {
                    ("rpc", "begin") => last.clear(),
                    ("rpc", "end") => ours.push(std::mem::take(&mut last)),
                    ("session", what) => {
                        let details = told.details.iter().filter(|(key, _)| *key != "rpc");
                        // The recording does not say for which address.
                        let details = details.filter(|_| what != "pick_creates");
                        last = words(what, details.map(|(key, value)| ((*key).to_owned(), value.to_string())));
                    }
                    _ => {}
                }
            }
            ours
        };
        compared += recorded.iter().filter(|last| !last.is_empty()).count();
        if (1..=50).all(|seed| ours(seed) != recorded) {
            wrong.push(format!("{}\n    client {recorded:?}\n    xdsctl {:?}", row.id, ours(1)));
        }
    }
    assert!(compared > 30, "{compared}");
    assert!(wrong.is_empty(), "{} rows differ\n{}", wrong.len(), wrong.join("\n"));
}

/// The states of the connections to each address, one after the other.
fn connections(row: &Row, seed: u64) -> (Streams, Streams) {
    let mut recorded = Streams::new();
    let mut step = 0;
    for event in &row.events {
        let name = event["event"].as_str().unwrap();
        let policy = event["policy"].as_str().unwrap();
        if (policy, name) == ("test", "step") {
            step += 1;
        }
        let what = &event["what"];
        if let ("subchannel_state", Some(sub)) = (name, what["sub"].as_str().filter(|sub| sub.contains(':'))) {
            let stream = recorded.entry(sub.to_owned()).or_default();
            stream.push(Event {
                what: what["state"].as_str().unwrap().to_owned(),
                at: event["t_ms"].as_i64().unwrap(),
                step,
            });
        }
    }
    let mut ours = Streams::new();
    for (step, told) in played(row, seed) {
        if told.layer != "connection" || told.what == "let_go" {
            continue;
        }
        let state = told.details.iter().find(|(key, _)| *key == "state");
        let stream = ours.entry(told.details[0].1.to_string()).or_default();
        stream.push(Event {
            what: state.map_or_else(|| "IDLE".to_owned(), |(_, state)| state.to_string()),
            at: told.at,
            step,
        });
    }
    // What override_host has made itself is logged by a number.
    for event in row.events.iter().filter(|event| event["event"] == "owned_created") {
        recorded.remove(event["what"]["address"].as_str().unwrap());
    }
    // Several policies watch one connection, and are told its state when they begin.
    for stream in recorded.values_mut().chain(ours.values_mut()) {
        stream.dedup_by(|next, before| next.what == before.what);
    }
    (recorded, ours)
}

#[test]
fn connections_change_as_the_clients_did() {
    let rows = rows("timelines");
    let mut wrong = Vec::new();
    let mut compared = 0;
    for row in &rows {
        let mut first = None;
        for seed in 1..=50 {
            let (recorded, ours) = connections(row, seed);
            let found = recorded.iter().find_map(|(address, recorded)| {
                let none = Vec::new();
                difference(row, address, recorded, ours.get(address).unwrap_or(&none))
            });
            compared += recorded.values().map(Vec::len).sum::<usize>();
            if found.is_none() {
                first = None;
                break;
            }
            first = first.or(found);
        }
        wrong.extend(first);
    }
    assert!(compared > 300, "{compared}");
    assert!(
        wrong.is_empty(),
        "{} of {} rows differ\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

#[test]
fn retries_wait_as_long_as_the_clients_did() {
    let mut compared = 0;
    for row in rows("timelines") {
        let waits = row.events.iter().filter(|event| event["event"] == "retry_in");
        let waits: Vec<f64> = waits.map(|event| event["what"]["ms"].as_f64().unwrap()).collect();
        let told = played(&row, 1);
        let ours = told.iter().filter(|(_, told)| told.what == "retry_in");
        let ours: Vec<f64> = ours
            .map(|(_, told)| {
                told.details
                    .iter()
                    .find(|(key, _)| *key == "ms")
                    .unwrap()
                    .1
                    .to_string()
                    .parse()
                    .unwrap()
            })
            .collect();
        assert_eq!(waits.len(), ours.len(), "{}", row.id);
        for (client, ours) in waits.iter().zip(&ours) {
            // Both are a fifth off at most, and whole milliseconds.
            assert!(
                (client - ours).abs() <= 0.5 * client.max(*ours) + 1.0,
                "{}: {client} {ours}",
                row.id
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 9);
}

/// The states of each endpoint of each list of round_robin, in the order of the lists; which policy is which is not compared.
fn endpoint_states(row: &Row, seed: u64) -> (Vec<String>, Vec<String>) {
    let mut recorded: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in row.events.iter().filter(|event| event["event"] == "endpoint_state") {
        let (policy, what) = (event["policy"].as_str().unwrap(), &event["what"]);
        if policy.starts_with("round_robin#") {
            let key = format!("{policy} {} {}", what["list"], what["index"]);
            let words = format!("{}>{}", text(&what["from"]), text(&what["state"]));
            recorded.entry(key).or_default().push(words);
        }
    }
    let mut ours: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, told) in played(row, seed) {
        if told.what == "endpoint_state" {
            let detail = |name: &str| told.details.iter().find(|(key, _)| *key == name).unwrap().1.to_string();
            let key = format!("{:?} {} {}", told.place, detail("list"), detail("index"));
            ours.entry(key)
                .or_default()
                .push(format!("{}>{}", detail("from"), detail("state")));
        }
    }
    let lists = |states: BTreeMap<String, Vec<String>>| {
        let of_list = states.into_iter().map(|(key, states)| {
            let (_, list) = key.rsplit_once(' ').unwrap().0.rsplit_once(' ').unwrap();
            format!("list {list}: {}", states.join(" "))
        });
        let mut lists: Vec<String> = of_list.collect();
        lists.sort();
        lists
    };
    (lists(recorded), lists(ours))
}

/// Says whether a policy makes a connection to an address that override_host has made one to for a session. The client does not
/// share them, as their channel arguments differ; the simulator does (docs/simulation.md).
fn shares_with_a_session(row: &Row) -> bool {
    let mut own: Vec<&Value> = Vec::new();
    row.events.iter().any(|event| {
        let address = &event["what"]["address"];
        match event["event"].as_str() {
            Some("owned_created") => own.push(address),
            Some("subchannel_created") => return own.contains(&address),
            _ => {}
        }
        false
    })
}

#[test]
fn endpoints_report_what_the_clients_did() {
    let mut rows = rows("timelines");
    let all = rows.len();
    rows.retain(|row| !shares_with_a_session(row));
    assert!(rows.len() + 3 > all, "{} of {all}", rows.len());
    let mut wrong = Vec::new();
    let mut compared = 0;
    for row in &rows {
        let mut seeds = (1..=50).map(|seed| endpoint_states(row, seed));
        let (recorded, ours) = seeds.next().unwrap();
        compared += recorded.len();
        if recorded != ours && !seeds.any(|(recorded, ours)| recorded == ours) {
            wrong.push(format!("{}\n    client {recorded:?}\n    xdsctl {ours:?}", row.id));
        }
    }
    assert!(compared > 60, "{compared}");
    assert!(
        wrong.is_empty(),
        "{} of {} rows differ\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}
