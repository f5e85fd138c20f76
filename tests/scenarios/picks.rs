//! Compares every RPC with the real client: code, backend, attempts, cookies.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Client, Start};
use xdsctl_channel::sim::script::{self, Player, Step};
use xdsctl_channel::sim::{Channel, ChannelOptions, Loss, Network, Outcome, Reachability, Unprocessed};
use xdsctl_document::source::node::JsonNode;
use xdsctl_lb::runtime::LbOptions;

use super::chance::unmet;
use super::world::{Row, load, rows, target};
use crate::support::sample;

/// The number of seeds with which xdsctl tries to reach what the client reached by random draws.
const SEEDS: usize = 1000;

/// The answer to one RPC, in the form of the recordings.
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
            code: match json["code"].as_str().unwrap() {
                // An exception that the call throws has no status.
                "THROWN" => "UNKNOWN".to_owned(),
                code => code.to_owned(),
            },
            backend: json["backend"].as_str().map(str::to_owned),
            cookies: if trailing.is_empty() {
                texts(&json["set_cookie"])
            } else {
                trailing
            },
            attempts: texts(&json["attempts"]),
        }
    }

    /// Removes what was not recorded.
    fn without_unrecorded(mut self, json: &Value) -> Answer {
        if json.get("attempts").is_none() {
            self.attempts.clear();
        }
        self
    }

    /// Says whether both were cut off by a deadline after about as many attempts. How many retries
    /// fit in is random, so a quarter more or less is accepted.
    fn is_cut_off_like(&self, other: &Answer) -> bool {
        let [one, another] = [self, other].map(|answer| answer.attempts.len());
        let of_one_backend = |answer: &Answer| answer.attempts.iter().all(|at| Some(at) == self.attempts.first());
        let is_cut_off = self.code == "DEADLINE_EXCEEDED" && other.code == self.code;
        is_cut_off
            && one.min(another) >= 8
            && one.abs_diff(another) <= one / 4
            && [self, other].map(of_one_backend) == [true; 2]
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

/// The state with which each channel of a row begins, and the row's steps. They are read once, and
/// played with as many seeds as needed.
pub(super) struct World {
    client: Client,
    target: Target,
    network: Network,
    lb: LbOptions,
    idle_timeout_ms: Option<i64>,
    pub(super) steps: Vec<Step>,
}

impl World {
    /// Loads the world of a row; `None` without a target.
    pub(super) fn of(row: &Row) -> Option<World> {
        let (client, bootstrap) = load(row);
        Some(World {
            target: target(row, &bootstrap).ok()?,
            client,
            network: network(row),
            lb: lb_options(row),
            idle_timeout_ms: idle_timeout_ms(row),
            steps: row.steps.iter().map(read_step).collect(),
        })
    }

    /// Makes a channel, with options that `with` modifies.
    pub(super) fn channel(&self, seed: u64, with: impl FnOnce(&mut ChannelOptions)) -> Channel {
        let mut options = ChannelOptions {
            seed,
            lb: self.lb.clone(),
            waits_for_missing: true,
            shows_secrets: true,
            idle_timeout_ms: self.idle_timeout_ms,
            starts_idle: true,
            ..ChannelOptions::default()
        };
        with(&mut options);
        let start = Start::Target(self.target.clone());
        Channel::new(self.client.clone(), start, self.network.clone(), options)
    }

    /// Plays the steps. Returns the outcomes of each pick step.
    fn play(&self, seed: u64) -> Vec<Vec<Outcome>> {
        let mut channel = self.channel(seed, |options| options.traces = false);
        let mut player = Player::default();
        let mut all = Vec::new();
        for step in &self.steps {
            let mut outcomes = Vec::new();
            player
                .play(step, &mut channel, &mut |outcome| {
                    outcomes.push(outcome);
                    true
                })
                .unwrap();
            if matches!(step, Step::Pick(_) | Step::Finish(_)) {
                all.push(outcomes);
            }
        }
        all
    }
}

/// Returns a function that plays a row's steps with a seed. Without a target there are no outcomes.
pub(super) fn player(row: &Row) -> impl Fn(u64) -> Vec<Vec<Outcome>> + use<> {
    let world = World::of(row);
    move |seed| world.as_ref().map(|world| world.play(seed)).unwrap_or_default()
}

/// Plays a row's steps with one seed.
pub(super) fn play(row: &Row, seed: u64) -> Vec<Vec<Outcome>> {
    player(row)(seed)
}

fn network(row: &Row) -> Network {
    let mut network = Network::only(row.backends.iter().map(|address| address.parse().unwrap()));
    let silent = row
        .silent
        .iter()
        .map(|address| (address.parse().unwrap(), Reachability::Hangs));
    network.addresses.extend(silent);
    if let Some(reports) = &row.orca {
        let reports = JsonNode::of_json(&reports.to_string()).unwrap();
        network.load = script::load_reports(&reports).unwrap();
    }
    if let Some(answers) = &row.lookups {
        network.lookups = script::lookups(&JsonNode::of_json(&answers.to_string()).unwrap()).unwrap();
    }
    if let Some(streams) = &row.out_of_band {
        for address in &row.backends {
            let period = streams.get(address).map(|seconds| (seconds * 1000.0) as i64);
            let backend = network.backends.entry(address.parse().unwrap()).or_default();
            backend.reports.out_of_band = period;
        }
    }
    for (address, script) in &row.unprocessed {
        let address = address.parse().unwrap();
        network.addresses.insert(address, Reachability::Accepts);
        let by = match script.calls.as_str() {
            "goaway" => Loss::Goaway,
            "refuse" => Loss::RefusedStream,
            "close" => Loss::Close,
            _ => continue,
        };
        let left = script.times;
        network.backends.entry(address).or_default().unprocessed = Some(Unprocessed { by, left });
    }
    network
}

fn lb_options(row: &Row) -> LbOptions {
    let mut lb = LbOptions::default();
    // Only C-core has these arguments.
    for (name, value) in row.channel_args.iter().filter(|_| row.client.is_none()) {
        match name.as_str() {
            // No other client reads it.
            "grpc.priority_failover_timeout_ms" if row.client.is_none() => {
                lb.priority_failover_ms = value.as_i64().unwrap()
            }
            "grpc.lb.ring_hash.ring_size_cap" => lb.ring_size_cap = value.as_u64().unwrap(),
            _ => {}
        }
    }
    lb
}

/// Returns the idle timeout, which every client takes from its application.
fn idle_timeout_ms(row: &Row) -> Option<i64> {
    let mut args = row.channel_args.iter();
    let (_, value) = args.find(|(name, _)| name == "grpc.client_idle_timeout_ms")?;
    value.as_i64()
}

/// Reads a recorded step. `timed` tells the recorder to note times, and is not part of a script.
/// The recorder's RPCs have a deadline of 5 s unless a step says otherwise.
fn read_step(step: &Value) -> Step {
    let mut step = step.clone();
    for verb in ["pick", "begin"] {
        if let Some(rpc) = step.get_mut(verb).and_then(Value::as_object_mut) {
            rpc.remove("timed");
            rpc.remove("tells");
            rpc.entry("timeout").or_insert_with(|| 5.into());
        }
    }
    Step::read(&step.to_string()).unwrap()
}

fn trace(row: &Row, pick: usize) -> String {
    let world = World::of(row).unwrap();
    let mut channel = world.channel(1, |options| options.traces = true);
    let mut player = Player::default();
    let mut outcomes = Vec::new();
    for step in &world.steps {
        player
            .play(step, &mut channel, &mut |outcome| {
                outcomes.push(outcome);
                true
            })
            .unwrap();
    }
    let Some(outcome) = outcomes.get(pick) else {
        return String::new();
    };
    let steps = outcome.trace.iter().map(|step| format!("\n      {step}"));
    format!("\n    details {}{}", outcome.details, steps.collect::<String>())
}

/// Returns the recorded RPCs of a step that sent one after the other; none for a step with a rate.
fn of_step(step: &Value) -> impl Iterator<Item = &Value> {
    step.as_array().into_iter().flatten()
}

/// Says for each step with answers whether its RPCs began together in threads of the client, so
/// that they have no order.
fn are_unordered(row: &Row) -> Vec<bool> {
    let answered = |step: &&Value| step.get("pick").is_some() || step.get("finish").is_some();
    let steps = row.steps.iter().filter(answered);
    steps
        .map(|step| row.client.is_some() && step.get("finish").is_some())
        .collect()
}

/// Compares every pick. If the client's answer is random, several seeds must lead to it.
fn differences(row: &Row) -> Vec<String> {
    differences_in(row, SEEDS)
}

/// Compares every pick. If the client's answer is random, several of `seeds` seeds must lead to it.
pub fn differences_in(row: &Row, seeds: usize) -> Vec<String> {
    let are_unordered = are_unordered(row);
    let in_order = |answers: &mut Vec<Answer>, is_unordered: bool| {
        if is_unordered {
            answers.sort();
        }
    };
    let recorded = row
        .answer
        .picks
        .iter()
        .zip(&are_unordered)
        .flat_map(|(step, &is_unordered)| {
            let mut answers = of_step(step).map(Answer::recorded).collect();
            in_order(&mut answers, is_unordered);
            answers
        });
    let mut wanted: BTreeMap<usize, Answer> = recorded.enumerate().collect();
    wanted.retain(|_, wanted| !(may_hang(row) && wanted.code == "DEADLINE_EXCEEDED"));
    let play = player(row);
    let answers = |seed: u64| -> Vec<Answer> {
        let steps = play(seed).into_iter().zip(&row.answer.picks).zip(&are_unordered);
        let flat = steps.flat_map(|((ours, step), &is_unordered)| {
            let ours = ours.into_iter().zip(of_step(step));
            let mut answers = ours
                .map(|(ours, json)| Answer::simulated(&ours).without_unrecorded(json))
                .collect();
            in_order(&mut answers, is_unordered);
            answers
        });
        flat.collect()
    };
    let is_met = |wanted: &Answer, ours: Option<&Answer>| {
        ours.is_some_and(|ours| ours == wanted || wanted.is_cut_off_like(ours))
    };
    let unmet = unmet(wanted, seeds, answers, is_met);
    let told = unmet.into_iter().map(|(index, wanted, ours)| {
        let trace = trace(row, index);
        format!("{} pick {index}: client {wanted:?}\n    xdsctl {ours}{trace}", row.id)
    });
    told.collect()
}

/// Says whether nothing in a row is random: every seed gives the client's answers.
fn is_exact(row: &Row) -> bool {
    let text = serde_json::to_string(&row.resources).unwrap();
    match row.family() {
        "ring" | "depth" | "retry" => true,
        "route" => !text.contains("runtime_fraction") && !text.contains("weighted_clusters"),
        _ => false,
    }
}

/// Says whether a retry back-off of a few milliseconds makes some of this client's RPCs hang, now
/// and then.
fn may_hang(row: &Row) -> bool {
    let text = serde_json::to_string(&row.resources).unwrap();
    let short = |ms: u32| text.contains(&format!("_interval\":\"{}s\"", f64::from(ms) / 1000.0));
    (1..=10).any(short)
}

pub fn compare(rows: &[Row], find: impl Fn(&Row) -> Vec<String>) {
    let mut wrong = 0;
    let mut texts = Vec::new();
    for row in rows {
        if std::env::var_os("XDSCTL_VERBOSE").is_some() {
            eprintln!("{}", row.id);
        }
        let differences = find(row);
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
    compare(&rows, differences);
}

#[test]
fn policies_that_lead_back_to_their_own_cluster_hang_as_the_clients() {
    compare(&rows("loops"), differences);
}

#[test]
fn a_channel_that_builds_a_policy_inside_itself_says_so() {
    let rows = rows("loops");
    let told = |id: &str| trace(rows.iter().find(|row| row.id == id).unwrap(), 0);
    for id in [
        "loop-direct",
        "loop-wt-loc",
        "loop-cm-other",
        "loop-pr-loc",
        "loop-rls",
        "loop-mutual",
        "loop-agg",
    ] {
        assert!(told(id).contains("channel: the LB policy of cluster \""), "{id}");
    }
    assert!(
        told("loop-pr-dead")
            .ends_with("cds_experimental: cluster \"root\", inside its own policy: it is never connected")
    );
}

#[test]
fn where_chance_has_no_part_every_seed_leads_to_the_same() {
    let mut rows = rows("scenarios");
    rows.retain(|row| is_exact(row) && !may_hang(row));
    compare(&rows, |row| {
        let play = player(row);
        let first = play(1);
        let plain = |all: &[Vec<Outcome>]| all.iter().flatten().map(Answer::simulated).collect::<Vec<_>>();
        let differs = (2..=5).find(|seed| plain(&play(*seed)) != plain(&first));
        differs
            .map(|seed| format!("{}: seed {seed} differs from seed 1", row.id))
            .into_iter()
            .collect()
    });
}

fn recorded_codes(step: &Value) -> Vec<&str> {
    of_step(step).filter_map(|answer| answer["code"].as_str()).collect()
}

/// Compares only the codes, for configurations that were accepted and then failed, or did not.
pub fn code_differences(row: &Row) -> Vec<String> {
    if row.answer.crash {
        return Vec::new();
    }
    let play = player(row);
    let codes = |seed: u64| -> Vec<Vec<&'static str>> {
        let of_step = |outcomes: &Vec<Outcome>| outcomes.iter().map(|outcome| outcome.code.name()).collect();
        play(seed).iter().map(of_step).collect()
    };
    let recorded = row.answer.picks.iter().map(recorded_codes);
    let mut wanted: BTreeMap<usize, Vec<&str>> = recorded.enumerate().collect();
    // Whether a retry after 1 ms hangs is random, in the client as in xdsctl.
    wanted.retain(|_, recorded| !(may_hang(row) && recorded.contains(&"DEADLINE_EXCEEDED")));
    let seeds = if may_hang(row) { SEEDS } else { 1 };
    let is_met = |wanted: &Vec<&str>, ours: Option<&Vec<&str>>| ours.map_or(&[][..], Vec::as_slice) == wanted;
    let told = unmet(wanted, seeds, codes, is_met)
        .into_iter()
        .map(|(step, recorded, ours)| {
            let trace = trace(row, 0);
            format!("{} step {step}: client {recorded:?}, xdsctl {ours}{trace}", row.id)
        });
    told.collect()
}

#[test]
fn codes_at_run_time_are_the_clients() {
    let mut rows = rows("runtime");
    // In these rows, the client's answer depends on the moment.
    rows.retain(|row| !row.id.starts_with("RT-RETRY-1MS") && !row.id.starts_with("RT-MSD0"));
    compare(&rows, code_differences);
}

/// Returns the value that a chi-square statistic exceeds with a probability of 0.001 (Wilson and
/// Hilferty).
fn chi_square_limit(degrees: usize) -> f64 {
    const Z: f64 = 3.0902;
    let d = degrees as f64;
    let spread = 2.0 / (9.0 * d);
    d * (1.0 - spread + Z * spread.sqrt()).powi(3)
}

/// Compares two samples of the same shares. Returns `None` if they agree.
pub(super) fn chi_square(a: &BTreeMap<String, u64>, b: &BTreeMap<String, u64>) -> Option<String> {
    let total = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>() as f64;
    let (total_a, total_b) = (total(a), total(b));
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut statistic = 0.0;
    for key in &keys {
        let count = |counts: &BTreeMap<String, u64>| counts.get(*key).copied().unwrap_or(0) as f64;
        let (in_a, in_b) = (count(a), count(b));
        let difference = in_a * (total_b / total_a).sqrt() - in_b * (total_a / total_b).sqrt();
        statistic += difference.powi(2) / (in_a + in_b);
    }
    let limit = chi_square_limit(keys.len().saturating_sub(1).max(1));
    (statistic > limit).then(|| format!("chi-square {statistic:.1} above {limit:.1}"))
}

#[test]
fn shares_are_the_clients() {
    let mut rows = rows("scenarios");
    rows.retain(|row| row.family() == "weights");
    compare(&rows, |row| {
        let ours = play(row, 1);
        let mut differences = Vec::new();
        for (step, recorded) in row.answer.picks.iter().enumerate() {
            let Some(histogram) = recorded["histogram"].as_object() else {
                continue;
            };
            let recorded: BTreeMap<String, u64> = histogram
                .iter()
                .map(|(key, count)| (key.clone(), count.as_u64().unwrap()))
                .collect();
            let mut shares: BTreeMap<String, u64> = BTreeMap::new();
            for outcome in ours.get(step).into_iter().flatten() {
                let failure = || format!("{}: {}", outcome.code, outcome.details);
                *shares
                    .entry(outcome.backend.clone().unwrap_or_else(failure))
                    .or_default() += 1;
            }
            if recorded.contains_key("UNAVAILABLE") {
                // Some recordings have no messages.
                let failures: u64 = shares
                    .iter()
                    .filter(|(label, _)| label.starts_with("UNAVAILABLE"))
                    .map(|(_, n)| n)
                    .sum();
                shares.retain(|label, _| !label.starts_with("UNAVAILABLE"));
                shares.insert("UNAVAILABLE".to_owned(), failures);
            }
            if let Some(why) = chi_square(&recorded, &shares) {
                differences.push(format!(
                    "{} step {step}: {why}: client {recorded:?}, xdsctl {shares:?}",
                    row.id
                ));
            }
        }
        differences
    });
}

#[test]
fn picks_over_time_are_the_clients() {
    compare(&rows("timelines"), differences);
}

/// How many RPCs at a rate may go elsewhere, for each fate: the client begins at a random place in
/// a list or a schedule.
const ELSEWHERE: u64 = 3;

/// Counts the RPCs of a step at a rate by their fate: an address, or a code.
fn fates(histogram: &serde_json::Map<String, Value>) -> BTreeMap<String, u64> {
    let mut fates: BTreeMap<String, u64> = BTreeMap::new();
    for (fate, count) in histogram {
        // A code is followed by its words.
        let code = fate.split_once(": ").map_or(fate.as_str(), |(code, _)| code);
        *fates.entry(code.to_owned()).or_default() += count.as_u64().unwrap();
    }
    fates
}

/// Compares how many RPCs at a rate had each fate. Several seeds must lead to the client's numbers.
fn histogram_differences(row: &Row, seeds: usize) -> Vec<String> {
    let steps = row.answer.picks.iter().enumerate();
    let rated = steps.filter_map(|(index, step)| Some((index, fates(step["histogram"].as_object()?))));
    let fates_of = |outcomes: &Vec<Outcome>| {
        let mut ours: BTreeMap<String, u64> = BTreeMap::new();
        for outcome in outcomes {
            let fate = outcome.backend.as_deref().unwrap_or(outcome.code.name());
            *ours.entry(fate.to_owned()).or_default() += 1;
        }
        ours
    };
    let is_near = |recorded: &BTreeMap<String, u64>, ours: Option<&BTreeMap<String, u64>>| {
        let of = |counts: Option<&BTreeMap<String, u64>>, fate| {
            counts.and_then(|counts| counts.get(fate)).copied().unwrap_or(0)
        };
        let mut all = recorded.keys().chain(ours.into_iter().flatten().map(|(fate, _)| fate));
        all.all(|fate| of(Some(recorded), fate).abs_diff(of(ours, fate)) <= ELSEWHERE)
    };
    let play = player(row);
    let all_fates = |seed: u64| play(seed).iter().map(fates_of).collect();
    let told = unmet(rated.collect(), seeds, all_fates, is_near)
        .into_iter()
        .map(|(index, recorded, ours)| format!("{} step {index}: client {recorded:?}\n    xdsctl {ours}", row.id));
    told.collect()
}

#[test]
fn picks_of_families_are_the_clients() {
    let rows = rows("families");
    compare(&rows, |row| {
        let mut all = differences_in(row, FAMILY_SEEDS);
        all.extend(histogram_differences(row, FAMILY_SEEDS));
        all
    });
}

/// The number of seeds that are tried with the rows of families, which take longer than others.
const FAMILY_SEEDS: usize = 100;

#[test]
fn names_lead_where_the_clients_do() {
    compare(&rows("names"), differences);
}

#[test]
fn picks_after_changes_are_the_clients() {
    let mut rows = sample(rows("changes"), 8);
    rows.retain(|row| !row.answer.crash && !has_short_deadline(row));
    compare(&rows, differences);
}

/// In these rows the client's process died, and the simulation says so about the RPC that began
/// last.
#[test]
fn changes_that_kill_the_client_kill_it_here() {
    let mut rows = rows("changes");
    rows.retain(|row| row.answer.crash && row.id.starts_with("kind-"));
    let survivors = rows.iter().filter(|row| {
        // A `finish` returns RPCs that began earlier.
        let played = player(row)(1);
        let last = played.iter().flatten().max_by_key(|outcome| outcome.began).unwrap();
        !last.details.contains("process has died")
    });
    let survivors: Vec<&str> = survivors.map(|row| row.id.as_str()).collect();
    assert!(survivors.is_empty() && !rows.is_empty(), "{survivors:?}");
}

/// Returns the backends of each pick of a row.
fn backends(picks: impl Iterator<Item = Vec<Answer>>) -> Vec<BTreeSet<Option<String>>> {
    let of = |answers: Vec<Answer>| answers.into_iter().map(|answer| answer.backend).collect();
    picks.map(of).collect()
}

#[test]
fn what_is_ejected_stays_so_across_updates_as_in_the_client() {
    let mut wrong = Vec::new();
    let rows = rows("ejections");
    for row in &rows {
        let steps = row.answer.picks.iter().map(|step| step.as_array().unwrap());
        let recorded = backends(steps.map(|step| step.iter().map(Answer::recorded).collect()));
        // The next endpoint is random. Which endpoints are used at all is not, except with a random
        // hash in the end.
        let compared = match row.id.as_str() {
            "ejection-ring" => 4,
            _ => recorded.len(),
        };
        let play = player(row);
        for seed in 1..=5 {
            let played = play(seed).into_iter();
            let ours = backends(played.map(|step| step.iter().map(Answer::simulated).collect()));
            if ours[..compared] != recorded[..compared] {
                wrong.push(format!(
                    "{} seed {seed}: client {recorded:?}\n    xdsctl {ours:?}",
                    row.id
                ));
                break;
            }
        }
    }
    assert!(
        wrong.is_empty() && !rows.is_empty(),
        "{} of {} rows differ\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

/// Says whether a row has a deadline of a second or less. It fires early on some machines, so that
/// the RPC's outcome depends on the moment.
fn has_short_deadline(row: &Row) -> bool {
    fn is_short(value: &Value) -> bool {
        match value {
            Value::Object(fields) => fields.iter().any(|(name, inner)| {
                let is_deadline = matches!(name.as_str(), "max_stream_duration" | "grpc_timeout_header_max");
                let seconds = inner
                    .as_str()
                    .and_then(|text| text.strip_suffix('s')?.parse::<f64>().ok());
                is_deadline && seconds.is_some_and(|s| 0.0 < s && s <= 1.0) || is_short(inner)
            }),
            Value::Array(elements) => elements.iter().any(is_short),
            _ => false,
        }
    }
    row.resources.iter().any(is_short)
}

#[test]
fn picks_in_mutated_worlds_are_the_clients() {
    let mut rows = sample(rows("worlds"), 16);
    rows.retain(|row| !row.answer.crash && !has_short_deadline(row));
    compare(&rows, differences);
}
