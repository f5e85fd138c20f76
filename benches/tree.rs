//! Measures trees of large configurations (resolve, generate the configs, make the nodes), and the
//! config selector.
//!
//! Run it with `cargo bench --bench tree`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Client, Start};
use xdsctl_channel::rpc::{ChannelFacts, Request, Selector};
use xdsctl_channel::tree::show::{ShownTree, tree};
use xdsctl_channel::tree::{build, service_config};

/// The number of clusters in the configuration.
const CLUSTERS: usize = 10_000;

/// The number of selections in a row.
const SELECTIONS: u32 = 1_000_000;

const TYPE: &str = "type.googleapis.com/envoy";

/// Makes a cluster with its endpoints.
fn cluster(number: usize) -> [Value; 2] {
    let [_, a, b, c] = u32::try_from(number).unwrap().to_be_bytes();
    let address = format!("{}.{b}.{c}.1", 10 + a);
    let endpoint = |port: u16| json!({"health_status": "HEALTHY", "endpoint": {"address": {"socket_address": {"address": address, "port_value": port}}}});
    let name = format!("cluster-{number}");
    [
        json!({"@type": format!("{TYPE}.config.cluster.v3.Cluster"), "name": name, "type": "EDS",
            "eds_cluster_config": {"eds_config": {"ads": {}}}}),
        json!({"@type": format!("{TYPE}.config.endpoint.v3.ClusterLoadAssignment"), "cluster_name": name,
            "endpoints": [{"locality": {}, "load_balancing_weight": 1, "lb_endpoints": [endpoint(80), endpoint(81)]}]}),
    ]
}

/// Makes a listener with one route for each cluster, or with one route for an aggregate of all
/// clusters.
fn resources(is_aggregate: bool) -> Value {
    let mut resources: Vec<Value> = (0..CLUSTERS).flat_map(cluster).collect();
    let routes: Vec<Value> = if is_aggregate {
        let names: Vec<String> = (0..CLUSTERS).map(|i| format!("cluster-{i}")).collect();
        resources.push(
            json!({"@type": format!("{TYPE}.config.cluster.v3.Cluster"), "name": "all", "cluster_type": {
            "name": "envoy.clusters.aggregate", "typed_config": {
                "@type": format!("{TYPE}.extensions.clusters.aggregate.v3.ClusterConfig"), "clusters": names}}}),
        );
        vec![json!({"match": {"prefix": "/"}, "route": {"cluster": "all"}})]
    } else {
        let route = |i| json!({"match": {"path": format!("/svc{i}/m")}, "route": {"cluster": format!("cluster-{i}")}});
        (0..CLUSTERS).map(route).collect()
    };
    resources.push(json!({"@type": format!("{TYPE}.config.listener.v3.Listener"), "name": "svc", "api_listener": {"api_listener": {
        "@type": format!("{TYPE}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
        "http_filters": [{"name": "router", "typed_config": {"@type": format!("{TYPE}.extensions.filters.http.router.v3.Router")}}],
        "route_config": {"virtual_hosts": [{"domains": ["*"], "routes": routes}]}}}}));
    resources.into()
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = black_box(work());
    println!("{what:40} {:8.1} ms", start.elapsed().as_secs_f64() * 1000.0);
    result
}

fn main() {
    for is_aggregate in [false, true] {
        let mut client = Client {
            node_id: "node".to_owned(),
            ..Client::default()
        };
        client.update(&resources(is_aggregate));
        println!(
            "{CLUSTERS} clusters, {}",
            if is_aggregate {
                "one aggregate"
            } else {
                "one route each"
            }
        );
        let target = Start::Target(Target::of_listener("svc", None));
        let start = Instant::now();
        let config = Arc::new(timed("resolve", || client.resolve(&target).unwrap()));
        let service_config = timed("service config", || service_config::generate(&config).unwrap());
        timed("LB configs", || {
            build::generate(&config, &service_config, &client.profile)
        });
        println!("{:40} {:8.1} ms", "all of that", start.elapsed().as_secs_f64() * 1000.0);
        let shown = ShownTree {
            config: &config,
            service_config: &service_config,
            profile: &client.profile,
            resources: &client.resources,
        };
        timed("nodes", || tree(&shown));
        let selector = Selector::new(config);
        let path = if is_aggregate { "/svc0/m" } else { "/svc5/m" };
        let request = Request {
            path,
            headers: &[],
            timeout: None,
        };
        let start = Instant::now();
        for _ in 0..SELECTIONS {
            let selection = selector.select(black_box(&request), ChannelFacts::default(), &mut |_, _| 0, None);
            black_box(selection.unwrap().key);
        }
        let ns = start.elapsed().as_secs_f64() * 1e9 / f64::from(SELECTIONS);
        println!("{:40} {ns:8.1} ns", "selection");
    }
}
