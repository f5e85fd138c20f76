//! Compares lookups (RLS), out-of-band reports, calls that no server processed, and authorities:
//! `fixtures/conformance/machines.jsonl.gz`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::picks::{World, chi_square, compare, differences_in, play};
use super::world::{Row, rows};
use xdsctl_channel::sim::Outcome;
use xdsctl_channel::sim::script::Player;
use xdsctl_lb::log::LogEvent;

/// The number of seeds with which xdsctl tries to reach what the client reached by random draws.
const SEEDS: usize = 300;

fn of(family: &str) -> Vec<Row> {
    let mut rows = rows("machines");
    rows.retain(|row| row.family() == family);
    rows
}

/// Returns the lookups of a row: the keys and the reason of each, and how many there were after
/// each pause and at the end. A lookup that renews an answer may come a little later than its RPC.
fn lookups(row: &Row) -> (Vec<String>, Vec<usize>) {
    let world = World::of(row).unwrap();
    let mut channel = world.channel(1, |options| options.log = true);
    let mut player = Player::default();
    let (mut all, mut counts) = (Vec::new(), Vec::new());
    for step in &world.steps {
        player.play(step, &mut channel, &mut |_| true).unwrap();
        for told in channel.take_log().0 {
            if let LogEvent::LookupBegun { keys, reason, .. } = told.event {
                all.push(format!("{reason} {keys}"));
            }
        }
        counts.push(all.len());
    }
    let counts = at_rest(row, &counts);
    (all, counts)
}

fn at_rest(row: &Row, counts: &[usize]) -> Vec<usize> {
    let pauses = row
        .steps
        .iter()
        .zip(counts)
        .filter(|(step, _)| step.get("sleep").is_some());
    pauses.map(|(_, count)| *count).chain(counts.last().copied()).collect()
}

fn recorded_lookup(lookup: &Value) -> String {
    let mut keys: Vec<String> = lookup["keys"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap()))
        .collect();
    keys.sort();
    let reason = lookup["reason"].as_str().unwrap().to_ascii_lowercase();
    format!("{reason} {{{}}}", keys.join(","))
}

#[test]
fn lookups_lead_where_the_clients_do() {
    compare(&of("rls"), |row| differences_in(row, SEEDS));
}

#[test]
fn lookups_are_made_when_the_client_makes_them() {
    let mut rows = of("rls");
    // Throttling is random.
    rows.retain(|row| row.id != "rls-throttle" && row.answer.lookups.is_some());
    compare(&rows, |row| {
        let (ours, counts) = lookups(row);
        let recorded: Vec<String> = row.answer.lookups.iter().flatten().map(recorded_lookup).collect();
        match ours == recorded && counts == at_rest(row, &row.answer.asked) {
            true => Vec::new(),
            false => vec![format!(
                "{}: client {recorded:?} {:?}, xdsctl {ours:?} {counts:?}",
                row.id, row.answer.asked
            )],
        }
    });
}

#[test]
fn throttled_lookups_are_as_many_as_the_clients() {
    let row = of("rls").into_iter().find(|row| row.id == "rls-throttle").unwrap();
    let theirs = row.answer.lookups.as_ref().unwrap().len();
    // Of 40 lookups, 13 were made. Each is held back with a probability of n / (n + 8), so about 19
    // are expected, and nearly always 8 to 30.
    assert!((8..=30).contains(&theirs), "{theirs}");
    let ours = lookups(&row).0.len();
    assert!((8..=30).contains(&ours), "{ours}");
}

fn backends<'a>(all: impl Iterator<Item = Option<&'a str>>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for backend in all {
        *counts.entry(backend.unwrap_or_default().to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn weights_reported_out_of_band_share_as_the_clients() {
    compare(&of("oob"), |row| {
        let ours = play(row, 1);
        let steps = ours.iter().zip(&row.answer.picks);
        // The first RPCs are few, and are sent before there is a weight.
        let differences = steps.filter(|(ours, _)| ours.len() > 3).filter_map(|(ours, theirs)| {
            let ours = backends(ours.iter().map(|outcome| outcome.backend.as_deref()));
            let theirs = backends(
                theirs
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|answer| answer["backend"].as_str()),
            );
            let why = chi_square(&theirs, &ours)?;
            Some(format!("{}: {why}: client {theirs:?}, xdsctl {ours:?}", row.id))
        });
        differences.collect()
    });
}

#[test]
fn calls_that_no_server_processed_are_tried_again_as_the_clients() {
    let mut rows = of("unprocessed");
    // A script cannot reset a stream with any other code.
    rows.retain(|row| row.unprocessed.values().all(|script| script.calls != "reset"));
    compare(&rows, |row| differences_in(row, 1));
    compare(&rows, |row| {
        let details = |outcome: &Outcome| outcome.details.clone();
        let ours: Vec<String> = play(row, 1).iter().flatten().map(details).collect();
        let picks = row.answer.picks.iter().flat_map(|step| step.as_array().unwrap());
        let theirs: Vec<String> = picks
            .map(|pick| pick["details"].as_str().unwrap_or_default().to_owned())
            .collect();
        match ours == theirs {
            true => Vec::new(),
            false => vec![format!("{}: client {theirs:?}, xdsctl {ours:?}", row.id)],
        }
    });
}

#[test]
fn authorities_are_rewritten_as_the_clients() {
    compare(&of("authority"), |row| {
        // The backend of an RPC is random, so the authority of each backend is compared.
        let mut theirs = BTreeMap::new();
        for pick in row.answer.picks.iter().flat_map(|step| step.as_array().unwrap()) {
            theirs.insert(pick["backend"].as_str(), pick["authority"][0].as_str());
        }
        let ours = play(row, 1);
        let differs = ours.iter().flatten().find(|outcome| {
            let authority = outcome.authority.as_deref();
            theirs
                .get(&outcome.backend.as_deref())
                .is_some_and(|theirs| *theirs != authority)
        });
        let differs = differs.map(|outcome| {
            let (backend, authority) = (&outcome.backend, &outcome.authority);
            format!("{}: client {theirs:?}, xdsctl {authority:?} at {backend:?}", row.id)
        });
        differs.into_iter().collect()
    });
}

#[test]
fn a_session_cookie_names_the_endpoint_of_the_first_leaf_of_the_aggregate() {
    let row = of("leaf").remove(0);
    let theirs = row.answer.picks[0][0]["set_cookie"][0].as_str().unwrap();
    let channel = World::of(&row).unwrap().channel(1, |_| {});
    let address = row.backends[0].parse().unwrap();
    let ours = channel
        .session_cookie(&xdsctl_channel::sim::Rpc::default(), &address)
        .unwrap();
    assert_eq!(theirs.split(';').next(), Some(ours.as_str()));
}
