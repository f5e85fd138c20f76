//! What became of RPCs in live channels of other clients: our control plane, our backends, their program.
//!
//! The recorder gives the first call of a client more time than the row says, and calls that were late again and again less. What a
//! share of many calls got is chance: its distribution is compared.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::others::{answers, is_followed};
use super::picks::{chi_square, differences_in, play, player};
use super::world::{Row, channel};
use crate::support::{compares_all, root, sample};
use xdsctl_channel::tree::{build, service_config};

/// Calls of one step from which on shares are compared, not each call.
const SHARED: usize = 100;

/// Seeds tried to reach what a client reached by chance: of eight endpoints, the one that was connected first is drawn.
const SEEDS: usize = 2000;

/// [`SEEDS`], or fewer for a look at rows that differ (`XDSCTL_SEEDS=20`).
fn seeds() -> usize {
    let wanted = std::env::var("XDSCTL_SEEDS").ok();
    wanted.and_then(|seeds| seeds.parse().ok()).unwrap_or(SEEDS)
}

/// Seeds whose calls are added up for the shares.
const SHARE_SEEDS: u64 = 10;

/// Seconds of a call unless its step says otherwise.
const TIMEOUT: f64 = 5.0;

/// Seconds that the first call of a client has at least.
const COLD: f64 = 8.0;

/// Steps after which the recorder waits as long as the row says again.
const CHANGES: [&str; 9] = [
    "update", "remove", "stop", "start", "drop", "silence", "speak", "sleep", "at",
];

/// How long the recorder waits for one call: it gives a cold start its time, and does not wait again and again for what was late.
struct Patience {
    late: usize,
    /// Seconds that the first call has at least; `None` after it.
    cold: Option<f64>,
}

impl Patience {
    /// Seconds for the next call, of which the row says `wanted`.
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

/// The steps of a row with one call each, as they were made, and their answers.
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

/// Which worlds of `fixtures/clients/live`, and who answered them.
struct Recording {
    questions: &'static str,
    /// The client as the file names it, and as xdsctl does.
    client: (&'static str, &'static str),
    /// Addresses that are silent in a world refused connections.
    silent_refused: bool,
    /// Of so many rows one is compared by unoptimised code.
    one_in: usize,
}

/// Of so many rows of a newest version, or of an older one, one is compared by unoptimised code.
const NEWEST_ONE_IN: usize = 4;
const OLDER_ONE_IN: usize = 24;

/// A recording of a client that is named alike.
const fn recording(questions: &'static str, client: (&'static str, &'static str)) -> Recording {
    Recording {
        questions,
        client,
        silent_refused: false,
        one_in: NEWEST_ONE_IN,
    }
}

/// A recording of an older version.
const fn older(questions: &'static str, client: &'static str) -> Recording {
    Recording {
        one_in: OLDER_ONE_IN,
        ..recording(questions, (client, client))
    }
}

/// The worlds, as a real channel of a client answered them.
fn live(recording: &Recording) -> Vec<Row> {
    let (questions, (file, client)) = (recording.questions, recording.client);
    // What an older version was asked and is not there, it answered as the newest.
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

/// Where a call went, or its code.
fn fate<'a>(code: &'a str, backend: Option<&'a str>) -> String {
    backend.unwrap_or(code).to_owned()
}

/// Compares how often calls had each fate; those of several seeds are added up.
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

/// Holds live channels' answers against ours: they agree in each row but those of `differ`. What is refused is wrong, too.
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

/// What differs: a parser that panics says no name, and the client waits for the resource (`TPF/hcm-abort`).
#[test]
fn live_channels_of_go_answer_so() {
    compare_live(&recording("common", GO), &["TPF/hcm-abort"]);
}

/// Holds an older version against ours, but for the rows of `differ`.
fn compare_older<const N: usize>(client: &'static str, differ: [(&'static str, &[&str]); N]) {
    for (questions, differ) in differ {
        compare_live(&older(questions, client), differ);
    }
}

/// What differs: an endpoint whose address is none and that is a target all the same (`ADR-3/port-in-brackets-text-wins`); and of a
/// ring with two endpoints that cannot be reached, which other one is tried (`tl-ring-two-tf`).
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

/// What differs: the same endpoint and the same ring.
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

/// What differs: the same ring; and an RPC whose endpoint was lost waits for it in vain, although another one of its ring is connected
/// (`tl-ring-reconnect`).
#[test]
fn live_channels_of_go_1_54_answer_so() {
    compare_older(
        "go@1.54.0",
        [("common", &[]), ("timelines", &["tl-ring-reconnect", "tl-ring-two-tf"])],
    );
}

/// What differs: the same ring.
#[test]
fn live_channels_of_go_1_48_answer_so() {
    compare_older("go@1.48.0", [("common", &[]), ("timelines", &["tl-ring-two-tf"])]);
}

/// What differs: the same ring; and a priority whose endpoints were all gone does not come back (`tl-draining-p0-failover`).
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

/// An RPC that takes longer than the idle_timeout of the connection manager, and one on a connection that was idle for longer than that
/// of the cluster: neither client reads them.
#[test]
fn idle_timeouts_end_nothing() {
    compare_live(&recording("idle", GO), &[]);
    compare_live(&recording("idle", JAVA), &[]);
}

/// Worlds made to see where the order of events decides: a connection that is lost, a priority that comes back, a cluster that goes.
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

/// What differs: in 1.54 and 1.69, a priority whose time runs out as the deadline of an RPC comes.
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

/// Resources that are rejected, or over which a parser throws an exception, and a num_retries of 0: who waits, for how long, and who fails.
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

/// Scenarios drawn from a seed that nobody had seen while the rules were written. In `fresh-aggregate-157` the client may send an
/// older list of clusters after a newer one; the control plane that obeys it takes a cluster away for a moment.
#[test]
fn fresh_channels_of_go_answer_so() {
    compare_live(&recording("fresh", GO), &["fresh-aggregate-157"]);
}

/// As above, with kinds in which features meet or resources change. In two rows a server is back at the moment at which the client
/// connects again, 1 s after it was refused.
#[test]
fn fresh_mixed_channels_of_go_answer_so() {
    compare_live(&recording("fresh-2", GO), &["fresh-idle-32", "fresh-idle-65"]);
}

/// The same kinds with another seed.
#[test]
fn fresher_mixed_channels_of_go_answer_so() {
    compare_live(&recording("fresh-3", GO), &[]);
}

/// The same kinds again.
#[test]
fn freshest_mixed_channels_of_go_answer_so() {
    compare_live(&recording("fresh-5", GO), &[]);
}

/// Faults whose overrides stand at several places, and programs that bring RLS, beside the same kinds.
#[test]
fn fresh_overriding_channels_of_go_answer_so() {
    compare_live(&recording("fresh-9", GO), &[]);
}

#[test]
fn fresh_overriding_channels_of_java_answer_so() {
    compare_live(&recording("fresh-9", JAVA), &[]);
}

/// What headers ask the fault filter for, codes that are none, shares that do not fit, and how many RPCs are delayed at once.
#[test]
fn faults_are_those_that_headers_ask_for() {
    for client in [GO, JAVA, NODE, ("go@1.54.0", "go@1.54.0")] {
        compare_live(&recording("faults", client), &[]);
    }
}

/// A cluster is taken away while RPCs are made, before any, and while its endpoints cannot be reached. grpc-go goes on with it until 1.57,
/// drops its connections until 1.79, and keeps them since. What differs is the endpoint of a ring that was lost (`tl-ring-reconnect`).
#[test]
fn clusters_of_go_that_are_taken_away_end_so() {
    compare_live(&recording("removed", ("go@1.54.0", "go@1.54.0")), &["cds-ring"]);
    for client in ["go@1.60.0", "go@1.72.0"] {
        compare_live(&recording("removed", (client, client)), &[]);
    }
    compare_live(&recording("removed", GO), &[]);
}

/// The rows of a later draw that showed something: headers of faults, and in older versions clusters that are taken away, resolvers that
/// hang, and routes that are rejected.
#[test]
fn what_the_last_fresh_channels_showed_holds() {
    for client in [GO, JAVA, ("go@1.54.0", "go@1.54.0"), ("java@1.63.0", "java@1.63.0")] {
        compare_live(&recording("fresh-10", client), &[]);
    }
}

/// A category drops every RPC while the endpoints are gone, down or up, alone and in an aggregate cluster. Only C-core calls such a
/// cluster READY; in the other clients the aggregate goes on to its next cluster when no endpoint is left.
#[test]
fn a_cluster_that_drops_everything_is_left_for_the_next_one() {
    for client in [GO, JAVA, NODE] {
        compare_live(&recording("drops", client), &[]);
    }
}

/// All kinds with a seed of their own, the last ones: what was found before holds for rows that nobody had seen. In
/// `fresh-routes_move-62`, the timer of a missing cluster runs out at about the time of an RPC.
#[test]
fn channels_of_go_and_java_answer_a_new_draw_so() {
    compare_live(&recording("fresh-11", GO), &[]);
    compare_live(&recording("fresh-11", JAVA), &["fresh-routes_move-62"]);
}

/// In the rows of tonic-xds the deadline of the recorder and that of the client end at once; the client was a little earlier (CANCELLED).
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

/// Localities that do not stand in the order of their names, below policies that take the first endpoint. Only C-core goes by the names.
/// grpc-java keeps a locality where it was named first.
#[test]
fn localities_stand_as_they_are_written() {
    compare_live(&recording("order", GO), &[]);
    compare_live(&recording("order", JAVA), &[]);
}

/// Endpoints that move, that clusters share, that pick_first has below each locality and loses; resources that go and come back, or are
/// rejected for a while; a header that a ring is told to hash.
#[test]
fn clusters_in_motion_answer_so() {
    compare_live(&recording("clusters", GO), &[]);
    compare_live(&recording("clusters", JAVA), &[]);
    compare_live(&recording("clusters", NODE), &[]);
}

/// Routes, clusters and endpoints change under an RPC that waits for a connection: its cluster stays for it while the channel has routes,
/// and in tonic-xds in any case.
#[test]
fn an_rpc_that_waits_holds_its_cluster() {
    for client in [GO, JAVA, NODE, RUST] {
        compare_live(&recording("held", client), &[]);
    }
}

/// A domain that is empty, or begins or ends with a dot, makes grpc-java panic, unless the authority itself stands before it.
#[test]
fn domains_with_dots_are_panics_of_java() {
    compare_live(&recording("dots", JAVA), &[]);
}

/// Hash policies that rewrite a header: groups by number and name, those that the pattern has not, and what else stands in a substitution.
#[test]
fn rewritten_headers_have_each_clients_groups() {
    for client in [GO, JAVA, NODE] {
        compare_live(&recording("rewrites", client), &[]);
    }
}

/// Metadata that a client refuses or sees in its own way: control characters, names that are none, headers of one connection, headers
/// that C-core keeps as values of a type, and numbers with signs and spaces.
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

/// Worlds made to see the ways of grpc-js-xds: fields that lose their defaults, back-offs of whole seconds, weights of 0, what holds up a
/// channel, what kills the process, what comes back after it was taken away, updates that only add something.
#[test]
fn ways_of_node_are_so() {
    compare_live(&recording("ways", NODE), &[]);
}

#[test]
fn fresh_channels_of_node_answer_so() {
    compare_live(&recording("fresh", NODE), &[]);
}

/// All kinds but RLS, in words that every client takes. At first look the rows differed in which a cluster comes back as it was.
#[test]
fn fresh_mixed_channels_of_node_answer_so() {
    compare_live(&recording("fresh-4", NODE), &[]);
}

/// The same, with drops that come and go below weights, aggregates and retries. In `fresh-routes_move-93` routes whose one cluster is
/// not there give way to others after an update was rejected: the client uses the new ones, and xdsctl goes on with the old.
#[test]
fn fresher_mixed_channels_of_node_answer_so() {
    compare_live(&recording("fresh-6", NODE), &["fresh-routes_move-93"]);
}

/// In both rows the deadline of the recorder and that of the client end at once; the client was a little earlier (CANCELLED).
#[test]
fn fresher_mixed_channels_of_rust_answer_so() {
    compare_live(&recording("fresh-6", RUST), &["fresh-timeouts-16", "fresh-timeouts-49"]);
}

/// What differs: weights of clusters that add up to more than `total_weight`, of which the last are never drawn. Weights that add up to
/// less kill the process, and its rows end there. Of the timelines, one in which a cluster gets another LB policy (`tl-lb-policy-change`).
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

/// In two rows a server is back at the moment at which the client connects again.
#[test]
fn fresh_mixed_channels_of_java_answer_so() {
    compare_live(&recording("fresh-2", JAVA), &["fresh-idle-32", "fresh-idle-65"]);
}

#[test]
fn fresher_mixed_channels_of_java_answer_so() {
    compare_live(&recording("fresh-3", JAVA), &[]);
}

/// In `fresh-timeouts-122` the recorder's deadline and that which the client takes from the header of the RPC end at once; the client
/// was a little earlier (CANCELLED).
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

/// Silent addresses stayed silent in this recording, where those of the other clients refused (`tl-failover-hung-3s`,
/// `tl-rr-replace-with-hung`, `tl-pf-happy-eyeballs`).
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

/// The page says of which versions the channels were asked: those of the files.
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
        // All minor numbers have two digits.
        versions.sort();
        let (last, before) = versions.split_last().unwrap();
        let wanted = format!("({count} channels each of {} and {last}", before.join(", "));
        assert!(page.contains(&wanted), "{wanted}");
    }
}

/// How the service config and what the cds policies build differ from what a client logged.
fn tree_differences(row: &Row, recorded: &Value) -> Option<String> {
    let channel = channel(row);
    let config = channel.config.ok();
    // The client waits for what is not there.
    let generated = config.filter(|config| config.missing.is_empty()).and_then(|config| {
        let ours = service_config::generate(&config).ok()?;
        let children = build::generate(&config, &ours, &channel.client.profile).children;
        Some((ours.to_json(), json!(children)))
    });
    let (config, children) = generated.unwrap_or((Value::Null, json!({})));
    let differs = config != recorded["service_config"] || children != recorded["cds_children"];
    differs.then(|| format!("{}: {config} {children}\n    recorded {recorded}", row.id))
}

/// Rows whose trees differ: a duration that is cut off in nanoseconds, and a cluster that a route and an aggregate name, where chance
/// decides which of the two walks counts in the client.
const OTHER_TREES: usize = 2;

/// What grpc-go logs of the policies that it builds (`generated service config`, `Built child policy config`).
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

/// Rows in which a failure has other words: a cluster that a policy names and nobody asked for, a ring that is refused, an address
/// that is none, an aggregate that loses a leaf.
const OTHER_WORDS: usize = 5;

/// Codes and words of failures, where the code is the client's and chance has no part in the words.
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
            // Which of several endpoints is asked is drawn, and why a resource is rejected is in our words.
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

/// Endpoints with an address that is none: a port that is too large or missing, a pipe, brackets, blanks. Go takes them all, and
/// connects to none.
#[test]
fn what_is_no_address_gets_no_rpc() {
    compare_live(&recording("addresses", GO), &[]);
    compare_live(&recording("addresses", NODE), &[]);
}

/// An RPC waits for endpoints, while the deadline of its route runs or does not yet; and pick_first loses its address.
#[test]
fn deadlines_and_lost_addresses_are_those_of_each_client() {
    for client in [GO, JAVA, NODE, RUST] {
        compare_live(&recording("late", client), &[]);
    }
}

/// grpc-js takes a connection that another cluster has, and the RPC that asked for it does not hear of that. It waits for the next
/// news, which may never come.
#[test]
fn connections_of_node_are_shared_by_clusters() {
    compare_live(&recording("pooled", NODE), &[]);
}

/// A cluster that the routes leave and a locality that is no longer listed come back; an endpoint moves to another locality.
#[test]
fn what_comes_back_is_what_each_client_has_kept_of_it() {
    for client in [GO, JAVA, NODE] {
        compare_live(&recording("kept", client), &[]);
    }
}

/// Worlds in which all is drawn at once and changes again and again.
#[test]
fn channels_in_which_all_changes_answer_so() {
    for client in [GO, JAVA] {
        compare_live(&recording("fresh-13", client), &[]);
    }
    compare_live(&recording("fresh-14", NODE), &[]);
    compare_live(&recording("fresh-15", GO), &[]);
}

/// The leaf in use of an aggregate cluster has a name of its own, and others below share one.
#[test]
fn an_aggregate_with_twins_that_are_not_in_use_fails() {
    compare_live(&recording("twins", GO), &[]);
}

/// Worlds in which the Listener changes, too, with sessions and faults, and with resources that are rejected.
#[test]
fn channels_whose_listener_changes_answer_so() {
    compare_live(&recording("turns-1", GO), &[]);
    for client in [JAVA, NODE] {
        compare_live(&recording("turns-2", client), &[]);
    }
}

/// A new channel hears nothing before its first RPC; names with authorities, and endpoints that report how they do.
#[test]
fn new_channels_begin_with_their_first_rpc() {
    compare_live(&recording("starts-1", GO), &[]);
    for client in [JAVA, NODE] {
        compare_live(&recording("starts-2", client), &[]);
    }
}

/// A channel without an RPC for the application's idle timeout begins anew with the next RPC.
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

/// Lookups whose answers, routes and clusters change. What is left out: in grpc-go, moments and a default target that is another one
/// again; in grpc-java, moments and caches that are too small for one entry.
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
