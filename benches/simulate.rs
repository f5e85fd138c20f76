//! Measures one RPC on a channel with very many endpoints, and updates and RPCs on a running
//! channel, by size. The ratio to the size before shows how the cost grows.
//!
//! Run it with `cargo bench --bench simulate [-- SHAPE [SIZE...]]`, where SHAPE may also be
//! `running`, `changing` or `channels`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Client, Edits, EndpointChange, Start};
use xdsctl_channel::sim::{Channel, ChannelOptions, Network, Reachability, Rpc};

/// The numbers of endpoints, or of clusters in an aggregate.
const SIZES: [usize; 4] = [12_500, 25_000, 50_000, 100_000];

/// The shape of a channel.
struct Shape {
    name: &'static str,
    clusters: fn(usize) -> usize,
    localities: fn(usize) -> usize,
    /// The cluster's `load_balancing_policy` as TypedStruct, or `lb_policy`.
    policy: fn() -> Value,
    /// Whether one endpoint has all addresses.
    is_one_endpoint: bool,
}

fn round_robin() -> Value {
    json!({"lb_policy": "ROUND_ROBIN"})
}

fn custom(name: &str, config: &Value) -> Value {
    json!({"load_balancing_policy": {"policies": [{"typed_extension_config": {"typed_config": {
        "@type": "type.googleapis.com/xds.type.v3.TypedStruct", "type_url": format!("x/{name}"), "value": config,
    }}}]}})
}

const PLAIN: Shape = Shape {
    name: "round_robin, one locality",
    clusters: |_| 1,
    localities: |_| 1,
    policy: round_robin,
    is_one_endpoint: false,
};

fn shapes() -> Vec<Shape> {
    vec![
        PLAIN,
        Shape {
            name: "round_robin, localities of 100",
            localities: |size| size / 100,
            ..PLAIN
        },
        Shape {
            name: "round_robin, localities of 1",
            localities: |size| size,
            ..PLAIN
        },
        Shape {
            name: "aggregate of clusters of 100",
            clusters: |size| size / 100,
            ..PLAIN
        },
        Shape {
            name: "aggregate of clusters of 10",
            clusters: |size| size / 10,
            ..PLAIN
        },
        Shape {
            name: "ring_hash",
            policy: || json!({"lb_policy": "RING_HASH"}),
            ..PLAIN
        },
        Shape {
            name: "weighted_round_robin",
            policy: || custom("weighted_round_robin", &json!({})),
            ..PLAIN
        },
        Shape {
            name: "pick_first",
            policy: || custom("pick_first", &json!({})),
            ..PLAIN
        },
        Shape {
            name: "pick_first, one endpoint",
            policy: || custom("pick_first", &json!({})),
            is_one_endpoint: true,
            ..PLAIN
        },
        Shape {
            name: "outlier_detection",
            policy: || {
                let mut cluster = round_robin();
                cluster["outlier_detection"] = json!({"success_rate_minimum_hosts": 1});
                cluster
            },
            ..PLAIN
        },
    ]
}

fn address(index: usize) -> Value {
    let ip = format!("10.{}.{}.{}", index >> 16, index >> 8 & 255, index & 255);
    json!({"socket_address": {"address": ip, "port_value": 80}})
}

fn resources(shape: &Shape, size: usize) -> Value {
    let clusters = (shape.clusters)(size);
    let mut list = vec![json!({
        "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "svc", "api_listener": {"api_listener": {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
            "route_config": {"virtual_hosts": [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": "root"}}]}]},
        }},
    })];
    let name = |number: usize| {
        if clusters == 1 {
            "root".to_owned()
        } else {
            format!("leaf{number}")
        }
    };
    if clusters > 1 {
        let leaves: Vec<String> = (0..clusters).map(name).collect();
        list.push(json!({
            "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "root",
            "cluster_type": {"name": "a", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters": leaves}},
        }));
    }
    let each = size / clusters;
    let localities = (shape.localities)(size).max(1);
    for number in 0..clusters {
        let mut cluster = json!({
            "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": name(number), "type": "EDS",
            "eds_cluster_config": {"eds_config": {"ads": {}}},
        });
        if let (Value::Object(cluster), Value::Object(policy)) = (&mut cluster, (shape.policy)()) {
            cluster.extend(policy);
        }
        list.push(cluster);
        let addresses: Vec<usize> = (number * each..(number + 1) * each).collect();
        let groups: Vec<Value> = addresses
            .chunks(each / localities)
            .enumerate()
            .map(|(locality, addresses)| {
                let endpoints: Vec<Value> = if shape.is_one_endpoint {
                    let more: Vec<Value> = addresses[1..].iter().map(|i| json!({"address": address(*i)})).collect();
                    vec![json!({"endpoint": {"address": address(addresses[0]), "additional_addresses": more}})]
                } else {
                    addresses.iter().map(|i| json!({"endpoint": {"address": address(*i)}})).collect()
                };
                json!({"locality": {"region": locality.to_string()}, "load_balancing_weight": 1, "lb_endpoints": endpoints})
            })
            .collect();
        list.push(json!({
            "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": name(number),
            "endpoints": groups,
        }));
    }
    Value::Array(list)
}

fn client(shape: &Shape, size: usize) -> Client {
    let mut client = Client::default();
    client.update(&resources(shape, size));
    client
}

/// Measures from the first configuration to the end of one RPC with its trace, including everything
/// else that happens in the first 100 ms.
fn one_rpc(client: Client, reach: Reachability) -> Duration {
    let network = Network {
        default: reach,
        ..Network::default()
    };
    // An aggregate of small clusters has more LB policies and connections than the default limit.
    let options = ChannelOptions {
        traces: true,
        max_machines: Some(usize::MAX),
        ..ChannelOptions::default()
    };
    let target = Start::Target(Target::of_listener("svc", None));
    let start = Instant::now();
    let mut channel = Channel::new(client, target, network, options);
    black_box(channel.call(Rpc::default()).unwrap());
    channel.sleep(100).unwrap();
    start.elapsed()
}

/// Measures updates of one endpoint, and RPCs, on a channel that has long been connected: the time
/// of one.
fn running(size: usize) -> [(&'static str, Duration); 4] {
    const UPDATES: u32 = 10;
    const RPCS: u32 = 20_000;
    let mut sent = resources(&PLAIN, size);
    let target = Start::Target(Target::of_listener("svc", None));
    let mut channel = Channel::new(
        client(&PLAIN, size),
        target,
        Network::default(),
        ChannelOptions::default(),
    );
    channel.sleep(1000).unwrap();
    let [mut read, mut resolve, mut settle] = [Duration::ZERO; 3];
    for number in 0..UPDATES {
        sent[2]["endpoints"][0]["lb_endpoints"][size / 2]["load_balancing_weight"] = json!(2 + number);
        let update = json!([sent[2]]);
        let start = Instant::now();
        assert_eq!(channel.client_mut().update(&update).notes, Vec::<String>::new());
        read += start.elapsed();
        let start = Instant::now();
        channel.resolve();
        resolve += start.elapsed();
        let start = Instant::now();
        channel.sleep(1000).unwrap();
        settle += start.elapsed();
    }
    let start = Instant::now();
    for _ in 0..RPCS {
        black_box(channel.call(Rpc::default()).unwrap());
    }
    let rpc = start.elapsed() / RPCS;
    [
        ("read", read / UPDATES),
        ("resolve", resolve / UPDATES),
        ("settle", settle / UPDATES),
        ("RPC", rpc),
    ]
}

/// Measures updates in which one endpoint drains or comes back, sent to channels that have long
/// been connected: the time of one update on one channel.
fn changing(size: usize, channels: usize) -> Duration {
    const UPDATES: usize = 100;
    let held = client(&PLAIN, size);
    let target = Start::Target(Target::of_listener("svc", None));
    let channel = || {
        Channel::new(
            held.clone(),
            target.clone(),
            Network::default(),
            ChannelOptions::default(),
        )
    };
    let mut channels: Vec<Channel> = (0..channels).map(|_| channel()).collect();
    let health = |number: usize| {
        let index = number / 2 * 7919 % size;
        let address = format!("10.{}.{}.{}:80", index >> 16, index >> 8 & 255, index & 255);
        let health = ["DRAINING", "HEALTHY"][number % 2];
        EndpointChange::health(address.parse().unwrap(), health).unwrap()
    };
    let mut send = |number: usize| {
        let (changes, mut edits) = ([health(number)], Edits::default());
        for channel in &mut channels {
            let (_, unknown) = channel.change_endpoints(&changes, &mut edits);
            assert_eq!(unknown, []);
            channel.resolve();
            channel.sleep(1000).unwrap();
        }
    };
    // The first change has to read the resource.
    (0..4).for_each(&mut send);
    let start = Instant::now();
    (4..4 + UPDATES).for_each(&mut send);
    start.elapsed() / u32::try_from(UPDATES * channels.len()).unwrap()
}

/// Writes a line of times and their ratios.
fn line(sizes: &[usize], time: impl Fn(usize) -> Duration) -> String {
    let mut before: Option<f64> = None;
    let mut line = String::new();
    for size in sizes {
        let took = time(*size).as_secs_f64();
        let ratio = before
            .map(|before| format!(" (x{:.1})", took / before))
            .unwrap_or_default();
        line += &format!("  {size}: {:.1} us{ratio}", took * 1e6);
        before = Some(took);
    }
    line
}

fn main() {
    // `cargo test` also starts benches, to check that they run.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let wanted = arguments.first().map_or("", String::as_str);
    let sizes: Vec<usize> = arguments.iter().skip(1).filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    for shape in shapes().iter().filter(|shape| shape.name.contains(wanted)) {
        for (reach, word) in [(Reachability::Accepts, "reachable"), (Reachability::Refuses, "down")] {
            let mut before: Option<f64> = None;
            let mut line = String::new();
            for size in &sizes {
                let took = one_rpc(client(shape, *size), reach).as_secs_f64();
                let ratio = before
                    .map(|before| format!(" (x{:.1})", took / before))
                    .unwrap_or_default();
                line += &format!("  {size}: {:.0} ms{ratio}", took * 1e3);
                before = Some(took);
            }
            println!("{}, {word}:{line}", shape.name);
        }
    }
    if "running".contains(wanted) {
        for size in &sizes {
            let parts = running(*size).map(|(part, took)| format!("{part} {:.1} us", took.as_secs_f64() * 1e6));
            println!("running, {size}: {}", parts.join(", "));
        }
    }
    if "changing".contains(wanted) {
        println!("changing one endpoint of:{}", line(&sizes, |size| changing(size, 1)));
    }
    if "channels".contains(wanted) {
        let channels = [1, 2, 4, 8];
        println!(
            "changing one endpoint of 12500, on channels:{}",
            line(&channels, |count| changing(12_500, count))
        );
    }
}
