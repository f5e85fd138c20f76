//! Makes random steps for the world of the suites: events of its backends and endpoints, and RPCs
//! in between.

use serde_json::{Value, json};
use xdsctl_model::rng::Rng;

/// The addresses of the world, and some that no endpoint has at first.
const HOSTS: [&str; 12] = [
    "10.1.0.1:8080",
    "10.1.0.2:8080",
    "10.1.0.3:8080",
    "10.2.0.1:8080",
    "10.2.0.2:8080",
    "10.2.1.1:8080",
    "10.3.0.1:8080",
    "10.3.0.2:8080",
    "10.4.0.1:8080",
    "10.5.0.1:8080",
    "10.5.0.2:8080",
    "10.6.0.1:8080",
];

fn one<'a>(chance: &mut Rng, list: &[&'a str]) -> &'a str {
    list[chance.index(list.len())]
}

fn rpc(chance: &mut Rng) -> Value {
    let methods = [
        "/shop.Search/Find",
        "/shop.Cart/Add",
        "/shop.Checkout/Pay",
        "/shop.Pay/Charge",
        "/shop.Stock/Count",
        "/a.B/C",
    ];
    let mut rpc = json!({"method": one(chance, &methods), "timeout": 1 + chance.below(8)});
    match chance.below(5) {
        0 => rpc["jar"] = json!(one(chance, &["ann", "bob"])),
        1 => rpc["wait_for_ready"] = json!(true),
        2 => rpc["headers"] = json!({"x-fail": "UNAVAILABLE:2", "user": "ann"}),
        3 => rpc["count"] = json!(chance.below(6)),
        _ => {}
    }
    if chance.below(4) == 0 {
        rpc["rate"] = json!(1 + chance.below(40));
    }
    rpc
}

/// Makes a random step; `open` names the RPCs that are under way.
pub fn step(chance: &mut Rng, open: &mut Vec<String>, number: usize) -> Value {
    let host = one(chance, &HOSTS);
    match chance.below(17) {
        0..=3 => json!({"pick": rpc(chance)}),
        4 => {
            let mut rpc = rpc(chance);
            let name = format!("begin {number}");
            rpc["name"] = json!(name);
            open.push(name);
            json!({"begin": rpc})
        }
        5 if !open.is_empty() => json!({"finish": open.remove(chance.index(open.len()))}),
        6 => json!({"stop": host}),
        7 => json!({"start": host}),
        8 => json!({"silence": host}),
        9 => json!({"drop": host}),
        10 => json!({"drain": host}),
        11 => json!({"health": {host: one(chance, &["HEALTHY", "UNHEALTHY", "DRAINING", "UNKNOWN"])}}),
        12 => json!({"weight": {host: chance.below(4)}}),
        13 => json!({"remove": host}),
        14 => json!({"scale": {one(chance, &["pay", "search", "eu/b", "us/a"]): chance.below(6)}}),
        15 => {
            let backend = json!({"status": "UNAVAILABLE", "share": "50%", "latency": 0.2});
            json!({"backend": {host: if chance.below(2) == 0 { backend } else { json!({}) }}})
        }
        _ => {
            let seconds = [0.0, 0.01, 1.0, 12.0, 70.0, 1000.0];
            json!({"sleep": seconds[chance.index(seconds.len())]})
        }
    }
}

/// Makes `count` random steps, and the steps that end everything.
pub fn steps(seed: u64, count: usize) -> Vec<Value> {
    let mut chance = Rng::stream(seed, "steps");
    let mut open = Vec::new();
    let mut steps: Vec<Value> = (0..count).map(|number| step(&mut chance, &mut open, number)).collect();
    steps.extend(open.into_iter().map(|name| json!({"finish": name})));
    // Only back-offs and idle children are left then.
    steps.push(json!({"remove": [["type.googleapis.com/envoy.config.listener.v3.Listener", "shop"]]}));
    steps.push(json!({"sleep": 1000}));
    steps
}
