//! What a channel with many of something costs: not many more looks at the children of a policy
//! than there are children.

use serde_json::{Value, json};

use super::{Channel, ChannelOptions, Network, Reachability, Rpc};
use crate::client::{Client, Start};
use xdsctl_lb::run::looks;

const EDS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const RDS: &str = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
const LDS: &str = "type.googleapis.com/envoy.config.listener.v3.Listener";

/// The numbers of children: few, and how many times as many.
const FEW: usize = 60;
const TIMES: usize = 4;

/// With `TIMES` as many children, more than this many times the looks are too many. It leaves room
/// for twice a logarithm besides the children.
const MOST: u64 = 7;

fn endpoint(i: usize) -> Value {
    let ip = format!("10.0.{}.{}", i >> 8, i & 255);
    json!({"endpoint": {"address": {"socket_address": {"address": ip, "port_value": 80}}}})
}

fn locality(name: usize, priority: usize, endpoints: impl Iterator<Item = usize>) -> Value {
    let endpoints: Vec<Value> = endpoints.map(endpoint).collect();
    json!({"locality": {"zone": name.to_string()}, "load_balancing_weight": 1, "priority": priority, "lb_endpoints": endpoints})
}

fn cluster(name: &str, more: &Value) -> Value {
    let mut cluster =
        json!({"@type": CDS, "name": name, "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}});
    for (key, value) in more.as_object().into_iter().flatten() {
        cluster[key] = value.clone();
    }
    cluster
}

fn assignment(name: &str, localities: impl Iterator<Item = Value>) -> Value {
    json!({"@type": EDS, "cluster_name": name, "endpoints": localities.collect::<Vec<_>>()})
}

/// One locality of `count` endpoints below a cluster of some kind.
fn one_locality(count: usize, more: &Value) -> Vec<Value> {
    vec![
        cluster("c", more),
        assignment("c", std::iter::once(locality(0, 0, 0..count))),
    ]
}

/// A listener whose RPCs have sessions, with a route for each of `clusters` clusters.
fn listener(clusters: usize) -> [Value; 2] {
    const FILTERS: &str = "type.googleapis.com/envoy.extensions.filters.http.";
    let route = |i: usize| json!({"match": {"path": format!("/a.B/{i}")}, "route": {"cluster": format!("c{i}")}});
    let routes: Vec<Value> = (0..clusters).map(route).collect();
    let session = json!({"@type": format!("{FILTERS}stateful_session.v3.StatefulSession"), "session_state": {"name": "s", "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState",
        "cookie": {"name": "sid", "ttl": "120s"},
    }}});
    let manager = json!({
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "rds": {"route_config_name": "r", "config_source": {"ads": {}}},
        "http_filters": [{"name": "s", "typed_config": session},
            {"name": "router", "typed_config": {"@type": format!("{FILTERS}router.v3.Router")}}],
    });
    [
        json!({"@type": LDS, "name": "l", "api_listener": {"api_listener": manager}}),
        json!({"@type": RDS, "name": "r", "virtual_hosts": [{"domains": ["*"], "routes": routes}]}),
    ]
}

/// Counts the looks at children while a channel connects, answers RPCs, loses its backends and
/// finds them again.
fn looks_of(resources: &[Value], default: Reachability) -> u64 {
    let mut client = Client::default();
    client.update(&json!(resources));
    let start = match resources.iter().any(|resource| resource["@type"] == LDS) {
        true => Start::Target(crate::client::target::Target::of_listener("l", None)),
        false => Start::Cluster("c".to_owned()),
    };
    let network = Network {
        default,
        ..Network::default()
    };
    let rpc = Rpc {
        method: "/a.B/0".to_owned(),
        timeout_ms: Some(5_000),
        wait_for_ready: true,
        ..Rpc::default()
    };
    looks::during(|| {
        let mut channel = Channel::new(client, start, network, ChannelOptions::default());
        for _ in 0..3 {
            channel.call(rpc.clone()).unwrap();
        }
        channel.network_mut().default = Reachability::Refuses;
        let addresses: Vec<_> = channel.config().iter().flat_map(|config| config.addresses()).collect();
        addresses.iter().for_each(|address| channel.disconnect(address));
        channel.call(rpc.clone()).unwrap();
        channel.network_mut().default = Reachability::Accepts;
        channel.sleep(10_000).unwrap();
        channel.call(rpc).unwrap();
    })
}

type MakeWorld = fn(usize) -> Vec<Value>;

/// A name, and a function that makes a world with a number of something.
const WORLDS: &[(&str, MakeWorld)] = &[
    ("round_robin endpoints", |count| one_locality(count, &json!({}))),
    ("ring_hash endpoints", |count| {
        one_locality(count, &json!({"lb_policy": "RING_HASH"}))
    }),
    ("weighted_round_robin endpoints", |count| {
        let policy = json!({"@type": "type.googleapis.com/envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin"});
        let policies = json!({"policies": [{"typed_extension_config": {"name": "p", "typed_config": policy}}]});
        one_locality(count, &json!({"load_balancing_policy": policies}))
    }),
    ("endpoints that outlier detection watches", |count| {
        one_locality(
            count,
            &json!({"outlier_detection": {"interval": "1s", "enforcing_failure_percentage": 100}}),
        )
    }),
    ("endpoints of sessions", |count| {
        let one = json!({"@type": EDS, "cluster_name": "c0", "endpoints": [locality(0, 0, 0..count)]});
        [&listener(1)[..], &[cluster("c0", &json!({})), one]].concat()
    }),
    ("localities", |count| {
        let localities = (0..count).map(|i| locality(i, 0, i..i + 1));
        vec![cluster("c", &json!({})), assignment("c", localities)]
    }),
    ("priorities", |count| {
        let localities = (0..count).map(|i| locality(i, i, i..i + 1));
        vec![cluster("c", &json!({})), assignment("c", localities)]
    }),
    ("clusters of an aggregate", |count| {
        let names: Vec<String> = (0..count).map(|i| format!("leaf{i}")).collect();
        let config = json!({"@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters": names});
        let aggregate = json!({"@type": CDS, "name": "c", "cluster_type": {"typed_config": config}});
        let leaves = names.iter().enumerate().flat_map(|(i, name)| {
            [
                cluster(name, &json!({})),
                assignment(name, std::iter::once(locality(0, 0, i..i + 1))),
            ]
        });
        std::iter::once(aggregate).chain(leaves).collect()
    }),
    ("clusters of routes", |count| {
        let clusters = (0..count).flat_map(|i| {
            let name = format!("c{i}");
            [
                cluster(&name, &json!({})),
                assignment(&name, std::iter::once(locality(0, 0, i..i + 1))),
            ]
        });
        listener(count).into_iter().chain(clusters).collect()
    }),
];

#[test]
fn a_change_of_one_child_costs_no_look_at_all_of_them() {
    let mut wrong = Vec::new();
    for (name, world) in WORLDS {
        for default in [Reachability::Accepts, Reachability::Refuses] {
            let [few, many] = [FEW, FEW * TIMES].map(|count| looks_of(&world(count), default));
            assert!(few >= 1, "{name}: nothing is counted");
            if many > MOST * few {
                wrong.push(format!(
                    "{name}, {default:?} at first: {few} looks at {FEW}, {many} at {}",
                    FEW * TIMES
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
