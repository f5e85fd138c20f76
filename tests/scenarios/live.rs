//! Compares RPCs in live channels of other clients: their program, with the recorder's control
//! plane and backends.
//!
//! The recorder gives the first call of a client more time than the row says, and calls that are
//! late again and again less. How many calls go where is random if a step has many calls, so the
//! distribution is compared.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::others::{answers, is_followed};
use super::picks::{chi_square, differences_in, play, player};
use super::world::{Row, channel};
use crate::support::{compares_all, root, sample};
use xdsctl_channel::tree::{build, service_config};

/// The number of calls in a step from which on shares are compared, not each call.
const SHARED: usize = 100;

/// The number of seeds with which xdsctl tries to reach what a client reached by random draws: of
/// eight endpoints, the one that was connected first is drawn.
const SEEDS: usize = 2000;

/// Returns [`SEEDS`], or fewer to look at rows that differ (`XDSCTL_SEEDS=20`).
fn seeds() -> usize {
    let wanted = std::env::var("XDSCTL_SEEDS").ok();
    wanted.and_then(|seeds| seeds.parse().ok()).unwrap_or(SEEDS)
}

/// The number of seeds whose calls are added up for the shares.
const SHARE_SEEDS: u64 = 10;

/// The time of a call in seconds, unless its step says otherwise.
const TIMEOUT: f64 = 5.0;

/// The least time in seconds for the first call of a client.
const COLD: f64 = 8.0;

/// Steps after which the recorder waits again as long as the row says.
const CHANGES: [&str; 9] = [
    "update", "remove", "stop", "start", "drop", "silence", "speak", "sleep", "at",
];

/// How long the recorder waits for one call. It gives a cold start more time, and does not wait
/// again and again for late calls.
struct Patience {
    late: usize,
    /// The least time in seconds for the first call; `None` after it.
    cold: Option<f64>,
}

impl Patience {
    /// Returns the seconds for the next call; the row says `wanted`.
    fn next(&mut self, wanted: f64) -> f64 {
        if let Some(cold) = self.cold.take() {
            return wanted.max(cold);
        }
        match self.late {
            0 | 1 => wanted,
            2 | 3 => wanted.min(0.5),
            _ => wanted.min(0.1),
        }
    }

    fn note(&mut self, answer: &Value) {
        self.late = match answer["code"] == "DEADLINE_EXCEEDED" {
            true => self.late + 1,
            false => 0,
        };
    }
}

/// Returns the steps of a row with one call each, as the recorder made them, and their answers.
fn one_by_one(steps: &[Value], answers: &[Value]) -> (Vec<Value>, Vec<Value>) {
    let mut patience = Patience {
        late: 0,
        cold: Some(COLD),
    };
    let (mut made, mut answered) = (Vec::new(), Vec::new());
    let mut answers = answers.iter();
    for step in steps {
        let Some(pick) = step.get("pick") else {
            if step.get("finish").is_some() {
                answered.extend(answers.next().cloned());
            } else if CHANGES.iter().any(|verb| step.get(verb).is_some()) {
                patience.late = 0;
            }
            made.push(step.clone());
            continue;
        };
        for answer in answers.next().and_then(Value::as_array).into_iter().flatten() {
            let mut pick = pick.clone();
            pick["count"] = 1.into();
            pick["timeout"] = patience.next(pick["timeout"].as_f64().unwrap_or(TIMEOUT)).into();
            patience.note(answer);
            made.push(json!({ "pick": pick }));
            answered.push(json!([answer]));
        }
    }
    (made, answered)
}

/// A file of worlds in `fixtures/clients/live`, and the client that answered them.
struct Recording {
    questions: &'static str,
    /// The name of the client in the file name, and in xdsctl.
    client: (&'static str, &'static str),
    /// The addresses that are silent in a world refused connections in this recording.
    silent_refused: bool,
    /// Where not every row is compared, one of this many is.
    one_in: usize,
}

/// The number of rows of which one is compared where not every row is, for the newest version and for an
/// older one.
const NEWEST_ONE_IN: usize = 12;
const OLDER_ONE_IN: usize = 72;

/// Describes a recording of a client with the same name in both places.
const fn recording(questions: &'static str, client: (&'static str, &'static str)) -> Recording {
    Recording {
        questions,
        client,
        silent_refused: false,
        one_in: NEWEST_ONE_IN,
    }
}

/// Describes a recording of an older version.
const fn older(questions: &'static str, client: &'static str) -> Recording {
    Recording {
        one_in: OLDER_ONE_IN,
        ..recording(questions, (client, client))
    }
}

/// Returns the worlds with the answers of a client's real channel.
fn live(recording: &Recording) -> Vec<Row> {
    let (questions, (file, client)) = (recording.questions, recording.client);
    // If a row of an older version is missing, its answer equals the newest version's.
    let newest = match questions {
        "common" | "timelines" if file.starts_with("go@") => answers(&format!("live/{}-{questions}", GO.0)),
        "common" if file.starts_with("java@") => answers(&format!("live/{}-{questions}", JAVA.0)),
        _ => Vec::new(),
    };
    let mut recorded: BTreeMap<String, Value> = newest
        .into_iter()
        .chain(answers(&format!("live/{file}-{questions}")))
        .map(|answer| (answer["id"].as_str().unwrap().to_owned(), answer))
        .collect();
    let wanted = std::env::var("XDSCTL_ROWS").unwrap_or_default();
    let rows = answers(&format!("live/{questions}")).into_iter();
    rows.filter_map(|mut row| {
        let answer = recorded.remove(row["id"].as_str().unwrap())?;
        let (steps, picks) = one_by_one(row["steps"].as_array().unwrap(), answer["picks"].as_array().unwrap());
        row["steps"] = steps.into();
        if recording.silent_refused {
            row["silent"] = json!([]);
        }
        row["answer"] = json!({ "picks": picks });
        row["client"] = client.into();
        Some(serde_json::from_value::<Row>(row).unwrap())
    })
    .filter(|row| wanted.split(',').any(|prefix| row.id.starts_with(prefix)))
    .collect()
}

/// Returns where a call went, or its code.
fn fate<'a>(code: &'a str, backend: Option<&'a str>) -> String {
    backend.unwrap_or(code).to_owned()
}

/// Compares how often calls had each fate; the calls of several seeds are added up.
fn share_differences(row: &Row) -> Vec<String> {
    let mut recorded: BTreeMap<String, u64> = BTreeMap::new();
    for answer in row.answer.picks.iter().flat_map(|step| step.as_array().unwrap()) {
        let fate = fate(answer["code"].as_str().unwrap(), answer["backend"].as_str());
        *recorded.entry(fate).or_default() += 1;
    }
    let mut ours: BTreeMap<String, u64> = BTreeMap::new();
    for outcome in (1..=SHARE_SEEDS).flat_map(player(row)).flatten() {
        let fate = fate(outcome.code.name(), outcome.backend.as_deref());
        *ours.entry(fate).or_default() += 1;
    }
    let why = chi_square(&recorded, &ours);
    let told = |why| format!("{}: {why}: client {recorded:?}, xdsctl {ours:?}", row.id);
    why.map(told).into_iter().collect()
}

fn differences(row: &Row) -> Vec<String> {
    let calls = row.answer.picks.len();
    match calls >= SHARED {
        true => share_differences(row),
        false => differences_in(row, seeds()),
    }
}

/// Compares the answers of live channels with those of xdsctl: they must agree in each row except
/// those of `differ`. A row that xdsctl refuses is wrong, too.
fn compare_live(recording: &Recording, differ: &[&str]) {
    let (questions, client) = (recording.questions, recording.client.1);
    let rows = sample(live(recording), recording.one_in);
    let mut wrong = BTreeMap::new();
    for row in &rows {
        let difference = match is_followed(row) {
            true => differences(row).into_iter().next(),
            false => Some(format!("{}: refused", row.id)),
        };
        wrong.extend(difference.map(|difference| (row.id.as_str(), difference)));
    }
    let told = format!("{client}: {} of {} {questions} differ", wrong.len(), rows.len());
    if std::env::var_os("XDSCTL_VERBOSE").is_some() {
        eprintln!("{told}: {:#?}", wrong.values());
    }
    if compares_all() {
        let agrees = differ.iter().find(|id| !wrong.contains_key(**id));
        assert_eq!(agrees, None, "{told}; this row does not");
    }
    wrong.retain(|id, _| !differ.contains(id));
    let wrong: Vec<String> = wrong.into_values().collect();
    assert!(wrong.is_empty(), "{told}; not listed:\n{}", wrong.join("\n"));
}

const CPP: (&str, &str) = ("cpp@1.85.1", "cpp");
const GO: (&str, &str) = ("go@1.85.0", "go");
const JAVA: (&str, &str) = ("java@1.85.1", "java");
const NODE: (&str, &str) = ("node@1.14.1", "node");
const RUST: (&str, &str) = ("rust@0.1.0-alpha.4", "rust");

/// What differs: after a panic, the parser names no resource, and the client waits for it
/// (`TPF/hcm-abort`).
#[test]
fn live_channels_of_go_answer_so() {
    compare_live(&recording("common", GO), &["TPF/hcm-abort"]);
}

/// Compares an older version with xdsctl, except for the rows of `differ`.
fn compare_older<const N: usize>(client: &'static str, differ: [(&'static str, &[&str]); N]) {
    for (questions, differ) in differ {
        compare_live(&older(questions, client), differ);
    }
}

/// What differs: an endpoint whose invalid address is nevertheless a target
/// (`ADR-3/port-in-brackets-text-wins`), and in a ring with two unreachable endpoints, which other
/// endpoint is tried (`tl-ring-two-tf`).
#[test]
fn live_channels_of_go_1_62_answer_so() {
    compare_older(
        "go@1.62.0",
        [
            ("common", &["ADR-3/port-in-brackets-text-wins"]),
            ("timelines", &["tl-ring-two-tf"]),
        ],
    );
}

/// What differs: the same endpoint and the same ring as in 1.62.
#[test]
fn live_channels_of_go_1_60_answer_so() {
    compare_older(
        "go@1.60.0",
        [
            ("common", &["ADR-3/port-in-brackets-text-wins"]),
            ("timelines", &["tl-ring-two-tf"]),
        ],
    );
}

/// What differs: the same ring as in 1.62; and an RPC that waits in vain for a lost endpoint,
/// although another endpoint of its ring is connected (`tl-ring-reconnect`).
#[test]
fn live_channels_of_go_1_54_answer_so() {
    compare_older(
        "go@1.54.0",
        [("common", &[]), ("timelines", &["tl-ring-reconnect", "tl-ring-two-tf"])],
    );
}

/// What differs: the same ring as in 1.62.
#[test]
fn live_channels_of_go_1_48_answer_so() {
    compare_older("go@1.48.0", [("common", &[]), ("timelines", &["tl-ring-two-tf"])]);
}

/// What differs: the same ring as in 1.62; and a priority that does not come back after all its
/// endpoints were gone (`tl-draining-p0-failover`).
#[test]
fn live_channels_of_go_1_42_answer_so() {
    compare_older(
        "go@1.42.0",
        [
            ("common", &[]),
            ("timelines", &["tl-draining-p0-failover", "tl-ring-two-tf"]),
        ],
    );
}

#[test]
fn live_channels_of_go_1_41_answer_so() {
    compare_older("go@1.41.0", [("common", &[])]);
}

/// One RPC takes longer than the idle_timeout of the connection manager, another one uses a
/// connection that was idle for longer than the cluster's idle_timeout. Neither client reads these
/// fields.
#[test]
fn idle_timeouts_end_nothing() {
    compare_live(&recording("idle", GO), &[]);
    compare_live(&recording("idle", JAVA), &[]);
}

/// These worlds were made to see where the order of events decides: a connection is lost, a
/// priority comes back, a cluster goes.
#[test]
fn live_probes_of_go_answer_so() {
    compare_live(&recording("probes", GO), &[]);
}

#[test]
fn live_channels_of_java_answer_so() {
    compare_live(&recording("common", JAVA), &[]);
}

#[test]
fn live_channels_of_java_1_63_answer_so() {
    compare_older("java@1.63.0", [("common", &[]), ("timelines", &[])]);
}

/// What differs: in 1.54 and 1.69, a priority whose time runs out at the deadline of an RPC.
#[test]
fn live_channels_of_older_java_answer_so() {
    let clients: [(&'static str, &[&str]); 5] = [
        ("java@1.46.0", &[]),
        ("java@1.54.0", &["LB-CUSTOM/cds_experimental-not-subscribed"]),
        (
            "java@1.69.0",
            &[
                "CDS-OD-DUR/interval-huge",
                "RT-RETRYMAX/limit",
                "LB-CUSTOM/cds_experimental-not-subscribed",
                "LB-DEPTH/level-15",
            ],
        ),
        ("java@1.71.0", &[]),
        ("java@1.76.0", &[]),
    ];
    for (client, differ) in clients {
        compare_live(&older("common", client), differ);
    }
}

#[test]
fn live_timelines_of_older_java_are_so() {
    for client in ["java@1.46.0", "java@1.54.0"] {
        compare_live(&older("timelines", client), &[]);
    }
}

/// Resources are rejected or make a parser throw an exception, or num_retries is 0. The rows show
/// who waits, for how long, and which RPCs fail.
#[test]
fn rejections_of_java_end_so() {
    for client in [
        "java@1.46.0",
        "java@1.54.0",
        "java@1.63.0",
        "java@1.71.0",
        "java@1.76.0",
    ] {
        compare_live(&recording("rejected", (client, client)), &[]);
    }
    compare_live(&recording("rejected", JAVA), &[]);
}

#[test]
fn live_channels_of_rust_answer_so() {
    let recording = Recording {
        silent_refused: true,
        ..recording("common", RUST)
    };
    compare_live(&recording, &[]);
}

/// The scenarios are drawn from a seed that was not used while the rules were written. In
/// `fresh-aggregate-157`, the client may send an older list of clusters after a newer one, and the
/// control plane then takes a cluster away for a moment.
#[test]
fn fresh_channels_of_go_answer_so() {
    compare_live(&recording("fresh", GO), &["fresh-aggregate-157"]);
}

/// Further random scenarios, of kinds in which features meet or resources change. In two rows, a
/// server is back at the moment when the client connects again, 1 s after it was refused.
#[test]
fn fresh_mixed_channels_of_go_answer_so() {
    compare_live(&recording("fresh-2", GO), &["fresh-idle-32", "fresh-idle-65"]);
}

/// The kinds of `fresh-2` with another seed.
#[test]
fn fresher_mixed_channels_of_go_answer_so() {
    compare_live(&recording("fresh-3", GO), &[]);
}

/// The kinds of `fresh-2` with another seed.
#[test]
fn freshest_mixed_channels_of_go_answer_so() {
    compare_live(&recording("fresh-5", GO), &[]);
}

/// Besides the kinds of `fresh-2`, there are faults with overrides at several places, and programs
/// that use RLS.
#[test]
fn fresh_overriding_channels_of_go_answer_so() {
    compare_live(&recording("fresh-9", GO), &[]);
}

#[test]
fn fresh_overriding_channels_of_java_answer_so() {
    compare_live(&recording("fresh-9", JAVA), &[]);
}

/// Headers ask the fault filter for faults: the rows have invalid codes, shares that do not fit,
/// and limits on RPCs that are delayed at once.
#[test]
fn faults_are_those_that_headers_ask_for() {
    for client in [GO, JAVA, NODE, ("go@1.54.0", "go@1.54.0")] {
        compare_live(&recording("faults", client), &[]);
    }
}

/// A cluster is taken away while RPCs run, before any, and while its endpoints cannot be reached.
/// grpc-go goes on with it until 1.57, drops its connections until 1.79, and keeps them since. What
/// differs is the lost endpoint of a ring (see `tl-ring-reconnect`).
#[test]
fn clusters_of_go_that_are_taken_away_end_so() {
    compare_live(&recording("removed", ("go@1.54.0", "go@1.54.0")), &["cds-ring"]);
    for client in ["go@1.60.0", "go@1.72.0"] {
        compare_live(&recording("removed", (client, client)), &[]);
    }
    compare_live(&recording("removed", GO), &[]);
}

/// The rows of a later draw that showed an error: headers of faults, and in older versions clusters
/// that are taken away, resolvers that hang, and rejected routes.
#[test]
fn what_the_last_fresh_channels_showed_holds() {
    for client in [GO, JAVA, ("go@1.54.0", "go@1.54.0"), ("java@1.63.0", "java@1.63.0")] {
        compare_live(&recording("fresh-10", client), &[]);
    }
}

/// A drop category drops every RPC while the endpoints are gone, down or up, alone and in an
/// aggregate cluster. Only C-core reports such a cluster as READY; in other clients, the aggregate
/// goes on to its next cluster when no endpoint is left.
#[test]
fn a_cluster_that_drops_everything_is_left_for_the_next_one() {
    for client in [GO, JAVA, NODE] {
        compare_live(&recording("drops", client), &[]);
    }
}

/// All kinds with the last, new seed: the earlier results are also true of new rows. In
/// `fresh-routes_move-62`, the timer of a missing cluster runs out at about the time of an RPC.
#[test]
fn channels_of_go_and_java_answer_a_new_draw_so() {
    compare_live(&recording("fresh-11", GO), &[]);
    compare_live(&recording("fresh-11", JAVA), &["fresh-routes_move-62"]);
}

/// In the rows of tonic-xds that differ, the recorder's deadline and the client's end at the same
/// time; the client was a little earlier (CANCELLED).
#[test]
fn channels_of_node_and_rust_answer_a_new_draw_so() {
    compare_live(&recording("fresh-12", NODE), &[]);
    let late = [
        "fresh-failover-45",
        "fresh-failover-144",
        "fresh-timeouts-148",
        "fresh-failover-177",
    ];
    compare_live(&recording("fresh-12", RUST), &late);
}

/// The localities are not in the order of their names, below policies that use the first endpoint.
/// Only C-core sorts them by name. grpc-java keeps a locality where it was first named.
#[test]
fn localities_stand_as_they_are_written() {
    compare_live(&recording("order", GO), &[]);
    compare_live(&recording("order", JAVA), &[]);
}

/// Endpoints move, are shared by clusters, or are lost to pick_first below each locality. Resources
/// go and come back, or are rejected for a while. A ring hashes a header.
#[test]
fn clusters_in_motion_answer_so() {
    compare_live(&recording("clusters", GO), &[]);
    compare_live(&recording("clusters", JAVA), &[]);
    compare_live(&recording("clusters", NODE), &[]);
}

/// Routes, clusters and endpoints change while an RPC waits for a connection. Its cluster stays for
/// it as long as the channel has routes, and in tonic-xds in any case.
#[test]
fn an_rpc_that_waits_holds_its_cluster() {
    for client in [GO, JAVA, NODE, RUST] {
        compare_live(&recording("held", client), &[]);
    }
}

/// A domain that is empty, or begins or ends with a dot, makes grpc-java panic, unless the
/// authority itself comes before it.
#[test]
fn domains_with_dots_are_panics_of_java() {
    compare_live(&recording("dots", JAVA), &[]);
}

/// Hash policies rewrite a header: the substitutions have groups by number and name, groups that
/// the pattern does not have, and other text.
#[test]
fn rewritten_headers_have_each_clients_groups() {
    for client in [GO, JAVA, NODE] {
        compare_live(&recording("rewrites", client), &[]);
    }
}

/// Each client rejects or sees some metadata in its own way: control characters, invalid names,
/// headers of one connection, headers that C-core keeps as typed values, and numbers with signs and
/// spaces.
#[test]
fn metadata_is_refused_and_seen_as_by_each_client() {
    for client in [CPP, GO, JAVA, NODE, RUST] {
        compare_live(&recording("metadata", client), &[]);
    }
}

#[test]
fn live_channels_of_node_answer_so() {
    compare_live(&recording("common", NODE), &[]);
}

/// These worlds were made to show the behaviour of grpc-js-xds: fields that lose their defaults,
/// back-offs of whole seconds, weights of 0, what holds up a channel, what kills the process, what
/// comes back after it was taken away, and updates that only add something.
#[test]
fn ways_of_node_are_so() {
    compare_live(&recording("ways", NODE), &[]);
}

#[test]
fn fresh_channels_of_node_answer_so() {
    compare_live(&recording("fresh", NODE), &[]);
}

/// All kinds except RLS, in configurations that every client accepts. At first, the rows differed
/// in which a cluster comes back unchanged.
#[test]
fn fresh_mixed_channels_of_node_answer_so() {
    compare_live(&recording("fresh-4", NODE), &[]);
}

/// Like `fresh-4`, with drops that come and go below weights, aggregates and retries. In
/// `fresh-routes_move-93`, routes whose only cluster is missing are replaced after a rejected
/// update: the client uses the new routes, and xdsctl goes on with the old ones.
#[test]
fn fresher_mixed_channels_of_node_answer_so() {
    compare_live(&recording("fresh-6", NODE), &["fresh-routes_move-93"]);
}

/// In both rows that differ, the recorder's deadline and the client's end at the same time; the
/// client was a little earlier (CANCELLED).
#[test]
fn fresher_mixed_channels_of_rust_answer_so() {
    compare_live(&recording("fresh-6", RUST), &["fresh-timeouts-16", "fresh-timeouts-49"]);
}

/// What differs: weights of clusters that add up to more than `total_weight`, of which the last are
/// never drawn. Weights that add up to less kill the process, and such rows end there. Of the
/// timelines, the one differs in which a cluster gets another LB policy (`tl-lb-policy-change`).
#[test]
fn live_channels_of_node_1_13_answer_so() {
    let weights = &["weights-dev1-15", "weights-dev1-27", "weights-dev1-5"];
    let parts: [(&'static str, &[&str]); 3] = [
        ("common", weights),
        ("timelines", &["tl-lb-policy-change"]),
        ("ways", &[]),
    ];
    for (questions, differ) in parts {
        compare_live(&older(questions, "node@1.13.0"), differ);
    }
}

#[test]
fn live_timelines_of_node_are_so() {
    compare_live(&recording("timelines", NODE), &[]);
}

#[test]
fn fresh_channels_of_java_answer_so() {
    compare_live(&recording("fresh", JAVA), &[]);
}

/// In the two rows that differ, a server is back at the moment when the client connects again.
#[test]
fn fresh_mixed_channels_of_java_answer_so() {
    compare_live(&recording("fresh-2", JAVA), &["fresh-idle-32", "fresh-idle-65"]);
}

#[test]
fn fresher_mixed_channels_of_java_answer_so() {
    compare_live(&recording("fresh-3", JAVA), &[]);
}

/// In `fresh-timeouts-122`, the recorder's deadline and the one that the client takes from the
/// RPC's header end at the same time; the client was a little earlier (CANCELLED).
#[test]
fn fresh_channels_of_rust_answer_so() {
    let recording = Recording {
        silent_refused: true,
        ..recording("fresh", RUST)
    };
    compare_live(&recording, &["fresh-timeouts-122"]);
}

#[test]
fn live_timelines_of_go_are_so() {
    compare_live(&recording("timelines", GO), &[]);
}

/// In this recording, the silent addresses stayed silent; in those of other clients they refused
/// connections (`tl-failover-hung-3s`, `tl-rr-replace-with-hung`, `tl-pf-happy-eyeballs`).
#[test]
fn live_timelines_of_rust_are_so() {
    let silent = &["tl-failover-hung-3s", "tl-pf-happy-eyeballs", "tl-rr-replace-with-hung"];
    compare_live(&recording("timelines", RUST), silent);
}

#[test]
fn live_timelines_of_java_are_so() {
    let recording = Recording {
        silent_refused: true,
        ..recording("timelines", JAVA)
    };
    compare_live(&recording, &[]);
}

/// The page names the versions whose channels were asked: those of the files.
#[test]
fn the_page_names_the_versions_that_were_asked() {
    let page = std::fs::read_to_string(root().join("docs/clients.md")).unwrap();
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = answers("live/common").len();
    for family in ["go", "java", "node"] {
        let files = std::fs::read_dir(root().join("fixtures/clients/live")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut versions: Vec<String> = names
            .filter_map(|name| {
                let version = name.strip_prefix(family)?.strip_prefix('@')?;
                Some(version.strip_suffix("-common.jsonl.gz")?.to_owned())
            })
            .collect();
        // All minor numbers have two digits, so texts sort as versions do.
        versions.sort();
        let (last, before) = versions.split_last().unwrap();
        let wanted = format!("({count} channels each of {} and {last}", before.join(", "));
        assert!(page.contains(&wanted), "{wanted}");
    }
}

/// Returns how the service config and the policies below cds differ from a client's log.
fn tree_differences(row: &Row, recorded: &Value) -> Option<String> {
    let channel = channel(row);
    let config = channel.config.ok();
    // The client waits for missing resources.
    let generated = config.filter(|config| config.missing.is_empty()).and_then(|config| {
        let ours = service_config::generate(&config).ok()?;
        let children = build::generate(&config, &ours, &channel.client.profile).children;
        Some((ours.to_json(), json!(children)))
    });
    let (config, children) = generated.unwrap_or((Value::Null, json!({})));
    let differs = config != recorded["service_config"] || children != recorded["cds_children"];
    differs.then(|| format!("{}: {config} {children}\n    recorded {recorded}", row.id))
}

/// The number of rows whose trees differ: in one, a duration is cut off in nanoseconds; in the
/// other, a route and an aggregate name one cluster, and in the client it is random which of the
/// two walks counts.
const OTHER_TREES: usize = 2;

/// Compares what grpc-go logs about the policies that it builds (`generated service config`,
/// `Built child policy config`).
#[test]
fn trees_of_go_are_so() {
    let recorded: BTreeMap<String, Value> = answers("live/go@1.85.0-trees")
        .into_iter()
        .map(|answer| (answer["id"].as_str().unwrap().to_owned(), answer))
        .collect();
    let rows = live(&recording("common", GO));
    let rows: Vec<&Row> = rows.iter().filter(|row| recorded.contains_key(&row.id)).collect();
    assert_eq!(rows.len(), recorded.len());
    let (followed, refused): (Vec<&Row>, Vec<&Row>) = rows.into_iter().partition(|row| is_followed(row));
    let mut wrong: Vec<String> = refused.iter().map(|row| format!("{}: refused", row.id)).collect();
    wrong.extend(
        followed
            .iter()
            .filter_map(|row| tree_differences(row, &recorded[&row.id])),
    );
    assert!(
        wrong.len() <= OTHER_TREES,
        "{} trees of Go differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The number of rows in which a failure has other words: a policy names a cluster that nobody
/// asked for, a ring is rejected, an address is invalid, an aggregate loses a leaf.
const OTHER_WORDS: usize = 5;

/// Compares the codes and words of failures, where the code agrees with the client's and the words
/// do not depend on random draws.
#[test]
fn failures_of_go_have_its_words() {
    let rows = live(&recording("common", GO));
    let (mut told, mut wrong) = (0, Vec::new());
    for row in rows
        .iter()
        .filter(|row| is_followed(row) && row.answer.picks.len() < SHARED)
    {
        let ours = play(row, 1).into_iter().flatten();
        let recorded = row.answer.picks.iter().flat_map(|step| step.as_array().unwrap());
        let pairs = ours.zip(recorded).filter(|(ours, answer)| {
            let words = answer["details"].as_str().unwrap_or_default();
            ours.code.name() == answer["code"] && !words.is_empty()
        });
        let mut differing = pairs.inspect(|_| told += 1).filter(|(ours, answer)| {
            let words = answer["details"].as_str().unwrap();
            // It is random which of several endpoints is asked, and xdsctl has its own words for
            // why a resource is rejected.
            let (ours, rejection) = match ours.details.split_once("rejected, at ") {
                Some((before, _)) => (before, true),
                None => (ours.details.as_str(), false),
            };
            let of_any = |text: &str| text.split("dial tcp").next().unwrap_or_default().to_owned();
            match rejection {
                true => !words.starts_with(ours),
                false => of_any(ours) != of_any(words),
            }
        });
        if let Some((ours, answer)) = differing.next() {
            wrong.push(format!(
                "{}: {}\n    client {}",
                row.id, ours.details, answer["details"]
            ));
        }
    }
    assert!(told > 60, "{told} failures");
    assert!(wrong.len() <= OTHER_WORDS, "{} rows\n{}", wrong.len(), wrong.join("\n"));
}

/// The endpoints have invalid addresses: a port that is too large or missing, a pipe, brackets,
/// blanks. Go accepts them all, and connects to none.
#[test]
fn what_is_no_address_gets_no_rpc() {
    compare_live(&recording("addresses", GO), &[]);
    compare_live(&recording("addresses", NODE), &[]);
}

/// An RPC waits for endpoints before or while the deadline of its route runs; and pick_first loses
/// its address.
#[test]
fn deadlines_and_lost_addresses_are_those_of_each_client() {
    for client in [GO, JAVA, NODE, RUST] {
        compare_live(&recording("late", client), &[]);
    }
}

/// grpc-js uses a connection that another cluster has, but does not tell the RPC that asked for it.
/// The RPC waits for the next event, which may never come.
#[test]
fn connections_of_node_are_shared_by_clusters() {
    compare_live(&recording("pooled", NODE), &[]);
}

/// A cluster that the routes no longer name and a locality that is no longer listed come back; an
/// endpoint moves to another locality.
#[test]
fn what_comes_back_is_what_each_client_has_kept_of_it() {
    for client in [GO, JAVA, NODE] {
        compare_live(&recording("kept", client), &[]);
    }
}

/// In these worlds, everything is drawn at once and changes again and again.
#[test]
fn channels_in_which_all_changes_answer_so() {
    for client in [GO, JAVA] {
        compare_live(&recording("fresh-13", client), &[]);
    }
    compare_live(&recording("fresh-14", NODE), &[]);
    compare_live(&recording("fresh-15", GO), &[]);
}

/// The leaf in use of an aggregate cluster has a name of its own, but other leaves below it share
/// one.
#[test]
fn an_aggregate_with_twins_that_are_not_in_use_fails() {
    compare_live(&recording("twins", GO), &[]);
}

/// In these worlds, the Listener changes too, with sessions and faults, and with rejected
/// resources.
#[test]
fn channels_whose_listener_changes_answer_so() {
    compare_live(&recording("turns-1", GO), &[]);
    for client in [JAVA, NODE] {
        compare_live(&recording("turns-2", client), &[]);
    }
}

/// A new channel begins only with its first RPC. The rows also have names with authorities, and
/// endpoints that report their load.
#[test]
fn new_channels_begin_with_their_first_rpc() {
    compare_live(&recording("starts-1", GO), &[]);
    for client in [JAVA, NODE] {
        compare_live(&recording("starts-2", client), &[]);
    }
}

/// After the application's idle timeout without an RPC, a channel begins anew with the next RPC.
#[test]
fn idle_channels_begin_anew() {
    for client in [GO, JAVA, NODE, RUST] {
        compare_live(&recording("idle-channels", client), &[]);
    }
    compare_live(&recording("idle-1", GO), &[]);
    for client in [JAVA, NODE] {
        compare_live(&recording("idle-2", client), &[]);
    }
}

/// The answers, routes and clusters of lookups change. These are left out: in grpc-go, races and a
/// default target that changes and changes back; in grpc-java, races and caches that are too small
/// for one entry.
#[test]
fn lookups_that_change_answer_so() {
    compare_live(&recording("lookups-1", ("go+rls@1.85.0", "go")), &[]);
    compare_live(&recording("lookups-2", ("java+rls@1.85.1", "java")), &[]);
}

/// Aggregate clusters that name each other: chains about as deep as clients allow, ways back, clusters below several others. What differs:
/// a missing cluster that grpc-js-xds asks for anew, and waits for, because what leads to it now was not there before.
#[test]
fn graphs_of_aggregate_clusters_answer_so() {
    compare_live(&recording("graphs-1", GO), &[]);
    // One aggregate below another, and both named by routes: chance decides.
    compare_live(&recording("graphs-2", GO), &[]);
    compare_live(&recording("graphs-1", JAVA), &[]);
    compare_live(&recording("graphs-1", NODE), &["fresh-graph-32"]);
}

/// A leaf of one aggregate that is too deep below another: the process of grpc-go has died in these rows, but not each time.
#[test]
fn grpc_go_may_die_of_a_leaf_that_is_too_deep_elsewhere() {
    let rows = answers("live/graphs-1").into_iter().filter_map(|mut row| {
        let died = ["fresh-graph-37", "fresh-graph-40", "fresh-graph-44", "fresh-graph-54"];
        died.contains(&row["id"].as_str()?).then(|| {
            row["answer"] = json!({ "picks": [] });
            row["client"] = GO.1.into();
            serde_json::from_value::<Row>(row).unwrap()
        })
    });
    let mut count = 0;
    for row in rows {
        let play = player(&row);
        let dies = |seed| {
            play(seed)
                .into_iter()
                .flatten()
                .any(|outcome| outcome.details.contains("process has died"))
        };
        let deaths = (0..40).filter(|seed| dies(*seed)).count();
        assert!((1..40).contains(&deaths), "{}: {deaths} of 40", row.id);
        count += 1;
    }
    assert_eq!(count, 4);
}

/// A few aggregates that share leaves, and endpoints that come and go. What differs: grpc-go takes the answer to an older request for a
/// removal; in grpc-js-xds a rejected resource that comes again lets policies report, and their reports cover a failure.
#[test]
fn nested_aggregates_answer_so() {
    compare_live(&recording("nested-1", GO), &["fresh-nested-49"]);
    compare_live(&recording("nested-1", JAVA), &[]);
    compare_live(&recording("nested-1", NODE), &["fresh-nested-25"]);
}

/// What differs: in grpc-go, a missing cluster that another policy knows to be missing is waited for, and one that was removed is used again
/// with the next change of the graph; in grpc-java, a policy keeps parts of a graph that has changed.
#[test]
fn graphs_of_aggregate_clusters_answer_so_in_older_versions() {
    compare_live(&older("graphs-1", "go@1.60.0"), &["fresh-graph-0", "fresh-graph-16"]);
    let kept = ["1", "6", "16", "17", "27", "48", "51"].map(|number| format!("fresh-graph-{number}"));
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    compare_live(&older("graphs-1", "java@1.63.0"), &kept);
    let removed = ["9", "49", "50", "55"].map(|number| format!("fresh-nested-{number}"));
    let removed: Vec<&str> = removed.iter().map(String::as_str).collect();
    compare_live(&older("nested-1", "go@1.60.0"), &removed);
    compare_live(
        &older("nested-1", "java@1.63.0"),
        &["fresh-nested-13", "fresh-nested-25"],
    );
}
