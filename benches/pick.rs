//! Measures picks: the ring beside a plain reference, and RPCs through a whole tree of policies.
//!
//! Run it with `cargo bench --bench pick`.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Client, Start};
use xdsctl_channel::sim::{Channel, ChannelOptions, Network, Rpc};
use xdsctl_lb::ring_hash::{Ring, Size, hash};
use xdsctl_lb::weighted_round_robin::{StaticStrideScheduler, StrideLimits};
use xdsctl_model::rng::Rng;

/// The number of picks in a row.
const PICKS: u32 = 1_000_000;

/// The number of rings in a row.
const RINGS: u32 = 100;

fn per(total: Duration, count: u32) -> String {
    let ns = total.as_nanos() as f64 / f64::from(count);
    if ns < 10_000.0 {
        format!("{ns:.0} ns")
    } else {
        format!("{:.2} ms", ns / 1e6)
    }
}

fn time(count: u32, mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..count {
        work();
    }
    start.elapsed()
}

/// Builds a ring in the simplest way: as an ordered map.
fn reference(endpoints: &[(String, u32)], size: u64) -> BTreeMap<u64, u32> {
    let each = size / endpoints.len() as u64;
    let mut ring = BTreeMap::new();
    for (index, (name, _)) in (0..).zip(endpoints) {
        for count in 0..each {
            ring.insert(hash(format!("{name}_{count}").as_bytes()), index);
        }
    }
    ring
}

fn rings() {
    let endpoints: Vec<(String, u32)> = (0..64).map(|i| (format!("10.0.0.{i}:80"), 1)).collect();
    let size = Size { min: 4096, max: 4096 };
    let build = time(RINGS, || {
        black_box(Ring::new(black_box(&endpoints), size));
    });
    let plain = time(RINGS, || {
        black_box(reference(black_box(&endpoints), 4096));
    });
    println!(
        "ring of 4,096 entries: {} (ordered map: {})",
        per(build, RINGS),
        per(plain, RINGS)
    );
    let ring = Ring::new(&endpoints, size);
    let map = reference(&endpoints, 4096);
    let mut rng = Rng::stream(1, "bench");
    let locate = time(PICKS, || {
        black_box(ring.locate(rng.next_u64()));
    });
    let plain = time(PICKS, || {
        let hash = rng.next_u64();
        black_box(map.range(hash..).next().or_else(|| map.first_key_value()));
    });
    println!(
        "place of a hash on it: {} (ordered map: {})",
        per(locate, PICKS),
        per(plain, PICKS)
    );
    let weights: Vec<f64> = (0..64).map(|i| 1.0 + f64::from(i)).collect();
    let scheduler = StaticStrideScheduler::new(&weights, StrideLimits::Hundredth).unwrap();
    let mut sequence = 0;
    let stride = time(PICKS, || {
        black_box(scheduler.pick(&mut sequence));
    });
    println!("stride scheduler of 64: {}", per(stride, PICKS));
}

fn resources(policy: &Value) -> Value {
    let endpoint = |i: u32| json!({"endpoint": {"address": {"socket_address": {"address": format!("10.0.0.{i}"), "port_value": 80}}}});
    let locality = |name: &str, first: u32| {
        let endpoints: Vec<Value> = (first..first + 16).map(endpoint).collect();
        json!({"locality": {"region": name}, "load_balancing_weight": 1, "lb_endpoints": endpoints})
    };
    json!([
        {"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "svc", "api_listener": {"api_listener": {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
            "route_config": {"virtual_hosts": [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": "c"}}]}]}}}},
        {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS", "lb_policy": policy,
            "eds_cluster_config": {"eds_config": {"ads": {}}}},
        {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c",
            "endpoints": [locality("a", 1), locality("b", 101)]}
    ])
}

fn channel(policy: &Value) -> Channel {
    let mut client = Client::default();
    client.update(&resources(policy));
    let start = Start::Target(Target::of_listener("svc", None));
    Channel::new(client, start, Network::default(), ChannelOptions::default())
}

fn trees() {
    for policy in ["ROUND_ROBIN", "RING_HASH"] {
        let mut channel = channel(&json!(policy));
        let rpc = Rpc::default();
        for _ in 0..2000 {
            channel.call(rpc.clone()).unwrap();
        }
        let calls = time(PICKS / 10, || {
            black_box(channel.call(rpc.clone()).unwrap());
        });
        println!("{policy}: whole RPC: {}", per(calls, PICKS / 10));
    }
}

fn main() {
    // `cargo test` also starts benches, to check that they run.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    rings();
    trees();
}
