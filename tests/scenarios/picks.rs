//! What became of every RPC: code, backend, attempts, cookies, as the real client had it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use xdsctl::lb::runtime::Settings;
use xdsctl::sim::script::{self, Player, Step};
use xdsctl::sim::{Channel, Network, Options, Outcome, Reach, Start, World};

use crate::world::{Row, load, rows, target};

/// Seeds tried to reach what the client reached by chance.
const SEEDS: u64 = 60;

/// One RPC in the form of the recordings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Answer {
    code: String,
    backend: Option<String>,
    cookies: Vec<String>,
    attempts: Vec<String>,
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.map(|text| text.as_str().unwrap().to_owned()).collect()
}

impl Answer {
    fn recorded(json: &Value) -> Answer {
        let trailing = texts(&json["set_cookie_trailing"]);
        Answer {
            code: json["code"].as_str().unwrap().to_owned(),
            backend: json["backend"].as_str().map(str::to_owned),
            cookies: if trailing.is_empty() {
                texts(&json["set_cookie"])
            } else {
                trailing
            },
            attempts: texts(&json["attempts"]),
        }
    }

    fn simulated(outcome: &Outcome) -> Answer {
        Answer {
            code: outcome.code.name().to_owned(),
            backend: outcome.backend.clone(),
            cookies: outcome.set_cookie.clone(),
            attempts: outcome.attempts.clone(),
        }
    }
}

fn channel(row: &Row, seed: u64, traces: bool) -> Option<Channel> {
    let (profile, bootstrap, resources, dns) = load(row);
    let target = target(row, &bootstrap).ok()?;
    let mut network = Network::only(row.backends.iter().map(|address| address.parse().unwrap()));
    let silent = row
        .silent
        .iter()
        .map(|address| (address.parse().unwrap(), Reach::Hangs));
    network.addresses.extend(silent);
    if let Some(reports) = &row.orca {
        network.load = script::load(reports).unwrap();
    }
    let mut settings = Settings::default();
    for (name, value) in &row.channel_args {
        match name.as_str() {
            "grpc.priority_failover_timeout_ms" => settings.priority_failover_ms = *value,
            "grpc.lb.ring_hash.ring_size_cap" => settings.ring_size_cap = u64::try_from(*value).unwrap(),
            _ => {}
        }
    }
    let world = World {
        resources,
        node_id: bootstrap.node_id.clone(),
        dns,
        profile,
        start: Start::Target(target),
    };
    let options = Options {
        seed,
        settings,
        waits_for_missing: true,
        traces,
    };
    Some(Channel::new(world, network, options))
}

/// Plays a row's steps; the outcomes of each pick step.
fn play(row: &Row, seed: u64) -> Vec<Vec<Outcome>> {
    let Some(mut channel) = channel(row, seed, false) else {
        return Vec::new();
    };
    let mut player = Player::default();
    let mut all = Vec::new();
    for step in &row.steps {
        let step = Step::from_json(step).unwrap();
        let mut outcomes = Vec::new();
        player.play(&step, &mut channel, &mut |outcome| outcomes.push(outcome));
        if matches!(step, Step::Pick { .. } | Step::Finish(_)) {
            all.push(outcomes);
        }
    }
    all
}

fn trace(row: &Row, pick: usize) -> String {
    let mut channel = channel(row, 1, true).unwrap();
    let mut player = Player::default();
    let mut outcomes = Vec::new();
    for step in &row.steps {
        player.play(&Step::from_json(step).unwrap(), &mut channel, &mut |outcome| {
            outcomes.push(outcome)
        });
    }
    let Some(outcome) = outcomes.get(pick) else {
        return String::new();
    };
    let steps = outcome
        .trace
        .iter()
        .map(|step| format!("\n      {}: {}", step.layer, step.what));
    format!("\n    details {}{}", outcome.details, steps.collect::<String>())
}

/// Compares every pick; where the client drew lots, some seed must lead to its answer.
fn differences(row: &Row) -> Vec<String> {
    let recorded: Vec<&Value> = row
        .answer
        .picks
        .iter()
        .flat_map(|step| step.as_array())
        .flatten()
        .collect();
    let mut open: BTreeMap<usize, Answer> = recorded.into_iter().map(Answer::recorded).enumerate().collect();
    let mut seen: BTreeMap<usize, BTreeSet<Answer>> = BTreeMap::new();
    for seed in 1..=SEEDS {
        let flat: Vec<Answer> = play(row, seed).iter().flatten().map(Answer::simulated).collect();
        open.retain(|index, wanted| match flat.get(*index) {
            Some(ours) if ours == wanted => false,
            Some(ours) => {
                seen.entry(*index).or_default().insert(ours.clone());
                true
            }
            None => true,
        });
        if open.is_empty() {
            return Vec::new();
        }
    }
    open.iter()
        .map(|(index, wanted)| {
            let ours = seen.get(index).into_iter().flatten().take(3);
            let ours: Vec<String> = ours.map(|answer| format!("{answer:?}")).collect();
            format!(
                "{} pick {index}: client {wanted:?}\n    xdsctl {}{}",
                row.id,
                ours.join("\n           "),
                trace(row, *index)
            )
        })
        .collect()
}

fn compare(rows: &[Row]) {
    let mut wrong = 0;
    let mut texts = Vec::new();
    for row in rows {
        let differences = differences(row);
        if !differences.is_empty() {
            wrong += 1;
            texts.extend(differences.into_iter().take(2));
        }
    }
    assert!(
        texts.is_empty(),
        "{wrong} of {} rows differ\n{}",
        rows.len(),
        texts.join("\n")
    );
}

#[test]
fn picks_are_the_clients() {
    let families = ["route", "ring", "session", "tree", "depth", "retry", "failover"];
    let mut rows = rows("scenarios");
    rows.retain(|row| families.contains(&row.family()));
    compare(&rows);
}
