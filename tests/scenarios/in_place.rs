//! Compares endpoint lists that are changed in place with lists that are rebuilt: a run with a
//! listener rebuilds every list, as the client does.

use super::random::steps;
use serde_json::{Value, json};
use xdsctl_channel::client::Start;
use xdsctl_channel::client::target::Target;
use xdsctl_channel::sim::script::{Player, Step};
use xdsctl_channel::sim::{Channel, ChannelOptions, Network, Outcome};
use xdsctl_model::rng::Rng;

/// Returns the number of runs: XDSCTL_RUNS, or `few`.
fn runs(few: u64) -> u64 {
    std::env::var("XDSCTL_RUNS").map_or(few, |runs| runs.parse().unwrap())
}

/// Writes the outcome of an RPC, without its way.
fn end(outcome: &Outcome) -> String {
    let Outcome {
        began,
        ended,
        code,
        details,
        attempts,
        set_cookie,
        ..
    } = outcome;
    format!("{began} {ended} {code:?} {details} {attempts:?} {set_cookie:?}")
}

/// Plays steps. Returns how each RPC ended, and the number of connections after each step.
fn play(name: &str, world: &str, (seed, listens): (u64, bool), steps: &[Value]) -> Vec<String> {
    let client = xdsctl::hold(world.to_owned()).unwrap();
    let start = Start::Target(Target::of_listener(name, None));
    let options = ChannelOptions {
        seed,
        waits_for_missing: true,
        log: listens,
        ..ChannelOptions::default()
    };
    let mut channel = Channel::new(client, start, Network::default(), options);
    channel.sleep(100).unwrap();
    let mut player = Player::default();
    let mut ends = Vec::new();
    for json in steps {
        let step = Step::read(&json.to_string()).unwrap_or_else(|error| panic!("{error}: {json}"));
        let told = player.play(&step, &mut channel, &mut |outcome| {
            ends.push(end(&outcome));
            true
        });
        told.unwrap();
        channel.take_log();
        let connections = channel.runtime().pool.len();
        ends.push(format!("{json}: {connections} connections"));
    }
    ends
}

#[track_caller]
fn check(name: &str, world: &str, seed: u64, steps: &[Value]) {
    let [anew, in_place] = [true, false].map(|listens| play(name, world, (seed, listens), steps));
    let first = anew.iter().zip(&in_place).position(|(one, other)| one != other);
    if let Some(first) = first {
        let before = first.saturating_sub(8);
        panic!(
            "seed {seed}:\n{}\n!= {}",
            anew[before..=first].join("\n"),
            in_place[first]
        );
    }
}

#[test]
fn whoever_listens_changes_nothing() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/suites/world/shop.yaml");
    let world = std::fs::read_to_string(path).unwrap();
    for seed in 0..runs(12) {
        check("shop", &world, seed, &steps::steps(seed, 40));
    }
}

/// The number of endpoints in the busy world.
const BUSY: usize = 12;

fn busy_host(index: usize) -> String {
    format!("10.9.0.{}:80", index + 1)
}

/// Makes a cluster whose endpoints come and go.
fn busy_world(policy: &str, outliers: bool) -> String {
    let endpoint = |index: usize| {
        let (ip, _) = busy_host(index)
            .split_once(':')
            .map(|(ip, port)| (ip.to_owned(), port.to_owned()))
            .unwrap();
        json!({"endpoint": {"address": {"socket_address": {"address": ip, "port_value": 80}}}})
    };
    let group = |name: &str, range: std::ops::Range<usize>, priority: u32| {
        let list: Vec<Value> = range.map(endpoint).collect();
        json!({"locality": {"region": name}, "load_balancing_weight": 1, "priority": priority, "lb_endpoints": list})
    };
    let policy = json!({"policies": [{"typed_extension_config": {"typed_config": {
        "@type": format!("type.googleapis.com/envoy.extensions.load_balancing_policies.{policy}")}}}]});
    let mut cluster = json!({
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "busy", "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}}, "load_balancing_policy": policy,
        "common_lb_config": {"override_host_status": {"statuses": ["HEALTHY", "UNKNOWN", "DRAINING"]}},
    });
    if outliers {
        cluster["outlier_detection"] = json!({"interval": "2s", "base_ejection_time": "3s", "failure_percentage_request_volume": 1,
            "failure_percentage_minimum_hosts": 1, "enforcing_failure_percentage": 100, "max_ejection_percent": 50});
    }
    let world = json!({"resources": [
        {"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "busy", "api_listener": {"api_listener": {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
            "route_config": {"virtual_hosts": [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": "busy"}}]}]},
        }}},
        cluster,
        {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "busy",
            "endpoints": [group("a", 0..7, 0), group("b", 7..10, 0), group("c", 10..BUSY, 1)]},
    ]});
    world.to_string()
}

fn busy_step(chance: &mut Rng, number: usize) -> Value {
    let host = busy_host(chance.index(BUSY));
    let other = busy_host(chance.index(BUSY));
    match chance.below(24) {
        0..=5 => json!({"pick": {"count": 1 + chance.below(5), "timeout": 30}}),
        6 => json!({"pick": {"rate": 100, "for": 0.1, "timeout": 5}}),
        7..=9 => json!({"drain": [host, other]}),
        10..=12 => json!({"health": {host: "HEALTHY", other: "UNKNOWN"}}),
        13 => {
            let health = ["HEALTHY", "UNHEALTHY"];
            json!({"health": {host: health[chance.index(health.len())]}})
        }
        14 | 15 => json!({"weight": {host: 1 + chance.below(4)}}),
        16 if number > 20 => json!({"remove": host}),
        17 => {
            let names = ["a", "b", "c"];
            json!({"scale": {names[chance.index(names.len())]: 2 + chance.below(5)}})
        }
        18 => json!({"stop": host}),
        19 => json!({"start": [host, other]}),
        20 => json!({"silence": host}),
        21 => json!({"drop": host}),
        22 => json!({"backend": {host: {"status": "UNAVAILABLE", "share": "50%"}}}),
        _ => {
            let seconds = [0.001, 0.002, 0.003, 0.3, 5.0];
            json!({"sleep": seconds[chance.index(seconds.len())]})
        }
    }
}

#[test]
fn lists_that_are_changed_in_place_are_lists_that_are_made_anew() {
    for seed in 0..runs(48) {
        let policies = [
            "round_robin.v3.RoundRobin",
            "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin",
            "ring_hash.v3.RingHash",
        ];
        let world = busy_world(policies[seed as usize % 3], seed % 2 == 0);
        let mut chance = Rng::stream(seed, "steps");
        let steps: Vec<Value> = (0..120).map(|number| busy_step(&mut chance, number)).collect();
        check("busy", &world, seed, &steps);
    }
}
