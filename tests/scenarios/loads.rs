//! Compares how weighted_round_robin distributes RPCs by the reports of endpoints, in real channels
//! of each client.
//!
//! It is random where a schedule begins, and in grpc-js also its order. In each step, an endpoint
//! must have as many RPCs as with some seeds.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::others::answers;
use super::picks::player;
use super::world::Row;
use crate::support::sample;

/// The number of seeds that give the least and the most RPCs of an endpoint.
const SEEDS: u64 = 60;

/// How many RPCs of a step went to each endpoint, or ended with each code.
type Shares = BTreeMap<String, usize>;

fn shares(fates: impl Iterator<Item = String>) -> Shares {
    let mut shares = Shares::new();
    fates.for_each(|fate| *shares.entry(fate).or_default() += 1);
    shares
}

fn recorded(step: &Value) -> Shares {
    let fate = |rpc: &Value| rpc.get("backend").unwrap_or(&rpc["code"]).as_str().unwrap().to_owned();
    shares(step.as_array().unwrap().iter().map(fate))
}

/// Returns what differs in the steps of a row. The first step is left out: its RPCs go where a
/// connection is first ready.
fn differences(row: &Row) -> Vec<String> {
    let play = player(row);
    let ours: Vec<Vec<Shares>> = (1..=SEEDS)
        .map(|seed| {
            let steps = play(seed).into_iter();
            let fate = |outcome: xdsctl_channel::sim::Outcome| {
                outcome.backend.unwrap_or_else(|| outcome.code.name().to_owned())
            };
            steps.map(|step| shares(step.into_iter().map(fate))).collect()
        })
        .collect();
    let mut wrong = Vec::new();
    for (number, theirs) in row.answer.picks.iter().map(recorded).enumerate().skip(1) {
        let ours: Vec<&Shares> = ours.iter().filter_map(|steps| steps.get(number)).collect();
        let fates: BTreeSet<&String> = theirs
            .keys()
            .chain(ours.iter().flat_map(|shares| shares.keys()))
            .collect();
        for fate in fates {
            let of = |shares: &Shares| shares.get(fate).copied().unwrap_or(0);
            let count = of(&theirs);
            let counts = || ours.iter().map(|shares| of(shares));
            let range = counts().min()..=counts().max();
            if !range.contains(&Some(count)) {
                wrong.push(format!("{} pick {number}: {count} of {fate}, xdsctl {range:?}", row.id));
            }
        }
    }
    wrong
}

/// Compares a client's answers with those of xdsctl.
fn compare(file: &str, client: &str) {
    let answered = answers(&format!("live/{file}-loads-1")).into_iter();
    let mut answered: BTreeMap<String, Value> = answered
        .map(|answer| (answer["id"].as_str().unwrap().to_owned(), answer["picks"].clone()))
        .collect();
    let rows = answers("live/loads-1").into_iter().filter_map(|mut row| {
        row["answer"] = json!({ "picks": answered.remove(row["id"].as_str().unwrap())? });
        row["client"] = client.into();
        Some(serde_json::from_value::<Row>(row).unwrap())
    });
    let rows = sample(rows.collect(), 16);
    assert!(!rows.is_empty());
    let wrong: Vec<String> = rows.iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{client}: {}", wrong.join("\n"));
}

#[test]
fn rpcs_go_by_weights_as_in_core() {
    compare("cpp@1.85.1", "cpp");
}

#[test]
fn rpcs_go_by_weights_as_in_go() {
    compare("go@1.85.0", "go");
}

#[test]
fn rpcs_go_by_weights_as_in_java() {
    compare("java@1.85.1", "java");
}

#[test]
fn rpcs_go_by_weights_as_in_node() {
    compare("node@1.14.1", "node");
}
