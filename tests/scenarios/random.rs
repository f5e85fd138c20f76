//! Random steps on a real world: RPCs are conserved, nothing is left over, and two runs are the same.

use serde_json::{Value, json};
use xdsctl::client::Start;
use xdsctl::client::target::Target;
use xdsctl::rng::Rng;
use xdsctl::sim::script::{Player, Step};
use xdsctl::sim::{Channel, Network, Options};

/// Steps of a run.
const STEPS: usize = 40;

/// Runs; with XDSCTL_RUNS as many as that.
const RUNS: u64 = 12;

/// Addresses of the world, and some that no endpoint has at first.
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

fn world() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/suites/world/shop.yaml");
    std::fs::read_to_string(path).unwrap()
}

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

/// A random step; `open` are the RPCs that are under way.
fn step(chance: &mut Rng, open: &mut Vec<String>, number: usize) -> Value {
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

/// Plays a random script to its end: how each RPC ended, in the order of their ends.
fn play(seed: u64) -> Vec<String> {
    let client = xdsctl::hold(world()).unwrap();
    let start = Start::Target(Target::of_listener("shop", None));
    let options = Options {
        seed,
        waits_for_missing: true,
        log: true,
        ..Options::default()
    };
    let mut channel = Channel::new(client, start, Network::default(), options);
    let mut chance = Rng::stream(seed, "steps");
    let mut player = Player::default();
    let mut open = Vec::new();
    let mut taken = 0;
    let mut steps: Vec<Value> = (0..STEPS).map(|number| step(&mut chance, &mut open, number)).collect();
    steps.extend(open.into_iter().map(|name| json!({"finish": name})));
    // What is left then are back-offs and idle children.
    steps.push(json!({"remove": [["type.googleapis.com/envoy.config.listener.v3.Listener", "shop"]]}));
    steps.push(json!({"sleep": 1000}));
    let (mut begun, mut ends) = (0, Vec::new());
    for json in &steps {
        let step = Step::from_json(json).unwrap_or_else(|error| panic!("{error}: {json}"));
        player
            .play(&step, &mut channel, &mut |_| {
                taken += 1;
                true
            })
            .unwrap();
        for told in channel.take_log().0.iter().filter(|told| told.layer == "rpc") {
            match told.what {
                "begin" => begun += 1,
                _ => ends.push(format!("{} {:?}", told.at, told.details)),
            }
        }
    }
    assert_eq!(
        (begun, taken),
        (ends.len(), ends.len()),
        "seed {seed}: RPCs that began, were taken, ended"
    );
    let runtime = channel.runtime();
    assert_eq!(
        (runtime.pool.len(), runtime.pending()),
        (0, 0),
        "seed {seed}: connections and events that are left"
    );
    ends
}

#[test]
fn random_steps_lose_no_rpc_and_leave_nothing_behind() {
    let runs = std::env::var("XDSCTL_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let mut rpcs = 0;
    for seed in 0..runs {
        let ends = play(seed);
        rpcs += ends.len();
        if seed % 8 == 0 {
            assert_eq!(play(seed), ends, "seed {seed}");
        }
    }
    assert!(rpcs as u64 > 10 * runs, "{rpcs}");
}
