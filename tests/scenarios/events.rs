//! Compares the events of the recorded timelines: what the client's policies did, and when.
//!
//! For each row, the tests compare what priority, override_host and outlier_detection do; the
//! weights of weighted_round_robin; the last pick of a cookie before an RPC ended; the states of
//! the connection to each address and of the endpoints of a list; the waits before retries; and
//! lookups with their answers. The network decides the order between addresses and between
//! instances.

use std::collections::{BTreeMap, BTreeSet};

use super::chance::AGREEING;
use super::picks::World;
use super::timeline::{Event, played, recorded};
use super::world::{Row, rows};

/// How many seeds are tried first; all must lead to what the client did.
const STEADY: u64 = 3;

/// How many seeds are tried otherwise; [`AGREEING`] of them must do so. A few rows depend on where
/// the client begins to connect, or on how long it waits.
const SEEDS: usize = 50;

/// The connection to the lookup service of the recordings, which is not simulated.
const LOOKUP_SERVICE: &str = "connection#127.0.9.1:9000";

/// Events whose order is compared, by what they belong to.
type Streams = BTreeMap<String, Vec<Event>>;

/// Returns the rows of all timelines that xdsctl can play.
fn timelines() -> Vec<Row> {
    let mut all = rows("timelines");
    all.extend(rows("families"));
    all
}

/// Says whether the developer has not selected rows.
fn are_all() -> bool {
    std::env::var_os("XDSCTL_ROWS").is_none()
}

/// Compares what `streams` makes of the client's events with what it makes of xdsctl's, in each row
/// that has such events. At least `least` rows must have some.
fn compare(rows: &[Row], least: usize, streams: impl Fn(&[Event]) -> Streams) {
    let mut compared = 0;
    let mut by_chance = Vec::new();
    let mut wrong = Vec::new();
    for row in rows {
        let recorded = streams(&recorded(row));
        let count = recorded.values().map(Vec::len).sum::<usize>();
        if count == 0 {
            continue;
        }
        compared += count;
        let world = World::of(row).unwrap();
        let differs = |seed: u64| {
            let ours = streams(&played(row, &world, seed));
            let names: BTreeSet<&String> = recorded.keys().chain(ours.keys()).collect();
            names.into_iter().find_map(|name| {
                let of = |streams: &Streams| streams.get(name).cloned().unwrap_or_default();
                difference(row, name, &of(&recorded), &of(&ours))
            })
        };
        let Some(first) = (1..=STEADY).find_map(differs) else {
            continue;
        };
        let agreeing = (1..=SEEDS as u64).filter(|seed| differs(*seed).is_none());
        if agreeing.take(AGREEING).count() < AGREEING {
            wrong.push(first);
        } else {
            by_chance.push(row.id.as_str());
        }
    }
    if std::env::var_os("XDSCTL_VERBOSE").is_some() {
        let count = rows.len();
        eprintln!("{compared} events of {count} rows, by chance in {by_chance:?}");
    }
    assert!(
        wrong.is_empty(),
        "{} of {} rows differ\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
    if are_all() {
        assert!(compared >= least, "{compared} events");
        assert!(by_chance.len() * 6 <= rows.len(), "by chance: {by_chance:?}");
    }
}

/// Returns the first difference between two streams.
fn difference(row: &Row, name: &str, recorded: &[Event], ours: &[Event]) -> Option<String> {
    for index in 0..recorded.len().max(ours.len()) {
        let why = match (recorded.get(index), ours.get(index)) {
            (Some(a), Some(b)) if is_same(a, b, row.slack_ms()) => match late((row, name), index, recorded, ours) {
                None => continue,
                Some(why) => why,
            },
            _ => "another event".to_owned(),
        };
        let around = |events: &[Event]| {
            let from = index.saturating_sub(3);
            let list = events.iter().skip(from).take(7);
            let list = list.map(|event| format!("\n      {} +{} {}", event.at, event.since, event.words()));
            list.collect::<String>()
        };
        return Some(format!(
            "{} {name} [{index}] {why}\n    client{}\n    xdsctl{}",
            row.id,
            around(recorded),
            around(ours)
        ));
    }
    None
}

/// Says whether two events are equal, apart from their times.
fn is_same(a: &Event, b: &Event, slack_ms: i64) -> bool {
    let without_time = |event: &Event| {
        let mut details = event.details.clone();
        details.remove("duration");
        details
    };
    let is_near = match (a.detail("duration"), b.detail("duration")) {
        ("", "") => true,
        ("", _) | (_, "") => false,
        // The last use and the current time are real times.
        _ => (a.ms("duration") - b.ms("duration")).abs() <= IDLE_MS + slack_ms,
    };
    a.name == b.name && is_near && without_time(a) == without_time(b)
}

/// How much the rest of an idle timeout may differ, in milliseconds.
const IDLE_MS: i64 = 15;

/// How long after the first step the first configuration may come, in milliseconds: process,
/// channel and stream have to start.
const FIRST_MS: i64 = 80;

/// How soon an event must follow the event from outside that causes it, in milliseconds.
const PROMPT_MS: i64 = 20;

/// How late a timer may fire, in milliseconds.
const TIMER_MS: i64 = 5;

/// Returns what is wrong with the times of two equal events.
fn late((row, name): (&Row, &str), index: usize, recorded: &[Event], ours: &[Event]) -> Option<String> {
    let (a, b) = (&recorded[index], &ours[index]);
    let slack = row.slack_ms();
    if a.is_timer() {
        let elapsed = |events: &[Event]| {
            let event = &events[index];
            let is_start = |before: &&Event| {
                matches!(
                    before.name.as_str(),
                    "failover_timer_start" | "idle_timer_start" | "timer_start" | "deactivate"
                ) && before.detail("child") == event.detail("child")
            };
            let start = events[..index].iter().rev().find(is_start)?;
            let set = ["ms", "duration", "in"]
                .into_iter()
                .find(|key| !start.detail(key).is_empty())?;
            Some((event.at - start.at, start.ms(set)))
        };
        let ((took, set), (our_took, our_set)) = (elapsed(recorded)?, elapsed(ours)?);
        let in_time = (0..=TIMER_MS + slack).contains(&(took - set)) && our_took == our_set;
        return (!in_time).then(|| format!("timer of {set} ms after {took} ms, ours of {our_set} after {our_took}"));
    }
    if name == IN_NO_ORDER {
        return None;
    }
    if a.kind() == "connection" {
        let passed = |events: &[Event]| index.checked_sub(1).map(|before| events[index].at - events[before].at);
        let (Some(theirs), Some(ours)) = (passed(recorded), passed(ours)) else {
            return None;
        };
        // A back-off differs from its nominal time by a fifth at most, in the client and in xdsctl;
        // and each step of the recorder takes a moment.
        let steps = i64::try_from(a.step - recorded[index - 1].step).unwrap();
        let allowed = theirs.max(ours) / 3 + PROMPT_MS + 5 * steps + slack;
        return ((theirs - ours).abs() > allowed).then(|| format!("{theirs} ms later, ours {ours}"));
    }
    let allowed = if a.step <= 1 { FIRST_MS } else { PROMPT_MS } + slack;
    let in_time = a.since <= allowed && b.since <= PROMPT_MS;
    (!in_time).then(|| format!("{} ms after what led to it, ours {}", a.since, b.since))
}

/// Groups events by the instance of a policy.
fn by_instance<'e>(events: impl Iterator<Item = &'e Event>) -> Streams {
    let mut streams = Streams::new();
    for event in events {
        streams.entry(event.of.clone()).or_default().push(event.clone());
    }
    streams
}

/// Removes reports that repeat the last report of the same child.
fn without_repeats(mut streams: Streams) -> Streams {
    for events in streams.values_mut() {
        let mut last: BTreeMap<String, String> = BTreeMap::new();
        events.retain(|event| {
            let (child, state) = (event.detail("child").to_owned(), event.detail("state").to_owned());
            event.name != "child_state" || last.insert(child, state.clone()) != Some(state)
        });
    }
    streams
}

/// Returns the rows in which the instances of a policy have the same numbers as in xdsctl.
fn told_apart() -> Vec<Row> {
    let mut rows = timelines();
    // In `rls-stale`, the network decides whether the answer to the first lookup comes before the
    // default target's cluster. In `rls-expiry`, a policy has the number of one that was destroyed
    // before it.
    rows.retain(|row| !matches!(row.id.as_str(), "rls-stale" | "rls-expiry"));
    rows
}

#[test]
fn priority_does_what_the_clients_did() {
    compare(&told_apart(), 1500, |events| {
        without_repeats(by_instance(events.iter().filter(|event| event.kind() == "priority")))
    });
}

#[test]
fn override_host_does_what_the_clients_did() {
    compare(&told_apart(), 1000, |events| {
        let of = events.iter().filter(|event| event.of.starts_with("override_host#"));
        // The recorder's events about wrappers say no more than those about the entry.
        by_instance(of.filter(|event| event.name != "wrapper_orphaned"))
    });
}

/// Entries and subchannels are compared in no order, because they were recorded without their
/// instance.
#[test]
fn entries_get_and_lose_subchannels_as_the_clients_did() {
    compare(&timelines(), 100, |events| {
        let names = ["subchannel_created", "became_owned", "released"];
        let of = events.iter().filter(|event| names.contains(&event.name.as_str()));
        in_no_order(of.cloned().collect())
    });
}

/// The name of a stream of events whose order and times the network decides.
const IN_NO_ORDER: &str = "in no order";

fn in_no_order(mut events: Vec<Event>) -> Streams {
    events.sort_by_key(|event| (event.of.clone(), event.words()));
    Streams::from([(IN_NO_ORDER.to_owned(), events)])
}

/// Compares where the cookie of each RPC led in the end.
#[test]
fn cookies_lead_where_they_led_the_clients() {
    let mut rows = timelines();
    // The RPCs run one after the other.
    rows.retain(|row| !row.sends_at_once());
    compare(&rows, 30, |events| {
        let mut last: Option<Event> = None;
        let mut found = Vec::new();
        for event in events {
            match (event.of.as_str(), event.name.as_str()) {
                ("rpc", "begin") => last = None,
                ("rpc", "end") => found.extend(last.take()),
                ("override_host", name) if name.starts_with("pick_") => {
                    let mut event = event.clone();
                    // The time of the last try does not count.
                    event.since = 0;
                    if name == "pick_creates" {
                        // The recording does not say for which address.
                        event.details.clear();
                    }
                    last = Some(event);
                }
                _ => {}
            }
        }
        Streams::from([("cookies".to_owned(), found)])
    });
}

#[test]
fn connections_change_as_the_clients_did() {
    let mut rows = timelines();
    rows.retain(|row| !row.has_clusters_with_one_address());
    compare(&rows, 300, |events| {
        by_instance(
            events
                .iter()
                .filter(|event| event.kind() == "connection" && event.of != LOOKUP_SERVICE && !event.is_echo),
        )
    });
}

/// The log does not distinguish connections to one address, so their states are compared in no
/// order.
#[test]
fn clusters_have_connections_of_their_own() {
    let mut rows = timelines();
    rows.retain(Row::has_clusters_with_one_address);
    compare(&rows, 20, |events| {
        // A policy that begins to watch an idle connection gets a report of that state.
        let is_change = |event: &&Event| event.kind() == "connection" && event.detail("state") != "IDLE";
        in_no_order(events.iter().filter(is_change).cloned().collect())
    });
}

#[test]
fn retries_wait_as_long_as_the_clients_did() {
    let mut compared = 0;
    for row in timelines() {
        let waits = |events: Vec<Event>| -> Vec<f64> {
            let waits = events.iter().filter(|event| event.name == "retry_in");
            waits.map(|event| event.ms("ms") as f64).collect()
        };
        let world = World::of(&row).unwrap();
        let (theirs, ours) = (waits(recorded(&row)), waits(played(&row, &world, 1)));
        assert_eq!(theirs.len(), ours.len(), "{}", row.id);
        for (client, ours) in theirs.iter().zip(&ours) {
            // Both differ from the nominal time by a fifth at most, and are whole milliseconds.
            let is_near = (client - ours).abs() <= 0.5 * client.max(*ours) + 1.0;
            assert!(is_near, "{}: {client} {ours}", row.id);
            compared += 1;
        }
    }
    assert!(compared >= 9 || !are_all(), "{compared}");
}

/// Compares the states of each endpoint in each list of round_robin. It is not compared which
/// policy is which.
#[test]
fn endpoints_report_what_the_clients_did() {
    let mut rows = timelines();
    // The endpoints of weighted_round_robin are not recorded.
    rows.retain(|row| {
        !row.events
            .iter()
            .any(|event| event["policy"] == "weighted_round_robin#1")
    });
    compare(&rows, 60, |events| {
        let mut lists: BTreeMap<String, Event> = BTreeMap::new();
        for event in events
            .iter()
            .filter(|event| event.name == "endpoint_state" && event.kind() == "round_robin")
        {
            let list = event.detail("list");
            let key = format!("{} {list} {}", event.of, event.detail("index"));
            let states = lists.entry(key).or_insert_with(|| Event {
                of: String::new(),
                name: format!("list {list}:"),
                details: BTreeMap::new(),
                ..event.clone()
            });
            states.name += &format!(" {}>{}", event.detail("from"), event.detail("state"));
        }
        in_no_order(lists.into_values().collect())
    });
}

/// Compares ticks, ejections, and the endpoints that are taken back; their order within a tick does
/// not count.
#[test]
fn outlier_detection_does_what_the_clients_did() {
    compare(&timelines(), 180, |events| {
        let names = ["timer_start", "tick", "eject", "uneject"];
        let of = events
            .iter()
            .filter(|event| event.kind() == "outlier_detection" && names.contains(&event.name.as_str()));
        let mut streams = by_instance(of);
        for event in streams.values_mut().flatten() {
            match event.name.as_str() {
                "timer_start" => {
                    let ms = ["in", "ms"].iter().find_map(|key| event.details.remove(*key)).unwrap();
                    event
                        .details
                        .insert("ms".to_owned(), ms.trim_end_matches("ms").to_owned());
                }
                // The client names the endpoint by a pointer at most.
                "eject" => event.details.clear(),
                _ => {}
            }
        }
        streams
    });
}

/// Compares the weights of all endpoints, once all are connected: a number with six digits, as the
/// client writes it.
#[test]
fn weighted_round_robin_weighs_as_the_clients_did() {
    compare(&timelines(), 10, |events| {
        let is_weights = |event: &&Event| event.kind() == "weighted_round_robin" && event.name == "weights";
        let mut streams = by_instance(events.iter().filter(is_weights));
        for stream in streams.values_mut() {
            for event in stream.iter_mut() {
                // A timer that is not logged computes the weights again in every period.
                event.since = 0;
                let weights = event
                    .detail("weights")
                    .split(' ')
                    .map(|weight| weight.parse::<f64>().unwrap());
                let weights: Vec<String> = weights.map(|weight| format!("{weight:.2}")).collect();
                event.details.insert("weights".to_owned(), weights.join(" "));
            }
            stream.retain(|event| event.detail("weights").split(' ').any(|weight| weight != "0.00"));
        }
        streams
    });
}

/// Compares the requests to a lookup service, its answers, and the answers that are not kept.
#[test]
fn lookups_are_those_of_the_clients() {
    let mut rows = timelines();
    rows.retain(|row| row.lookups.is_some());
    compare(&rows, 80, |events| {
        let mut streams = Streams::new();
        for event in events.iter().filter(|event| event.kind() == "rls") {
            let response = event.detail("response");
            let targets = response
                .split_once("targets=[")
                .and_then(|(_, rest)| rest.split_once(']'));
            let (name, targets) = match event.name.as_str() {
                "request" | "lookup" => ("lookup", ""),
                "response" if response.starts_with("status=OK") => ("answered", targets.unwrap_or_default().0),
                "answered" => ("answered", event.detail("targets")),
                "response" | "lookup_failed" => ("lookup_failed", ""),
                "entry_evicted" | "evicted" => ("evicted", ""),
                _ => continue,
            };
            let details = [("keys", event.detail("keys")), ("targets", targets)];
            let details = details.map(|(key, text)| (key.to_owned(), text.trim_matches(['{', '}']).replace(", ", ",")));
            // The client logs an answer before it makes room for it.
            let stream = if name == "evicted" { "evicted" } else { "lookups" };
            streams.entry(stream.to_owned()).or_default().push(Event {
                name: name.to_owned(),
                details: details.into(),
                ..event.clone()
            });
        }
        streams
    });
}
