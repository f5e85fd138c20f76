//! Makes random worlds that are well formed: every reference leads somewhere, and every value is
//! within its limits.

use serde_json::{Map, Value, json};

use super::chance::Chance;
use super::policies;
use super::routes;

pub const TYPE: &str = "type.googleapis.com/";
pub const LISTENER: &str = "type.googleapis.com/envoy.config.listener.v3.Listener";
pub const ROUTES: &str = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
pub const CLUSTER: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
pub const ENDPOINTS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const AGGREGATE: &str = "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig";
const MANAGER: &str =
    "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/// The cookies that session filters use.
pub const COOKIES: [&str; 2] = ["sid", "cart"];

/// A world with the steps in it, in the form of the recordings, without an answer.
#[derive(Debug, Clone, Default)]
pub struct World {
    pub id: String,
    pub target: String,
    pub authority: Option<String>,
    pub env: Map<String, Value>,
    pub bootstrap: Option<Value>,
    pub resources: Vec<Value>,
    /// The addresses at which servers listen.
    pub backends: Vec<String>,
    pub steps: Vec<Value>,
}

impl World {
    pub fn to_json(&self) -> Value {
        let mut row = json!({
            "id": self.id,
            "target": self.target,
            "resources": self.resources,
            "backends": self.backends,
            "steps": self.steps,
        });
        if let Some(authority) = &self.authority {
            row["authority"] = json!(authority);
        }
        if !self.env.is_empty() {
            row["env"] = json!(self.env);
        }
        if let Some(bootstrap) = &self.bootstrap {
            row["bootstrap"] = bootstrap.clone();
        }
        row
    }

    /// Returns the names of the resources of a type.
    pub fn names(&self, type_url: &str) -> Vec<String> {
        self.resources
            .iter()
            .filter(|resource| resource["@type"] == type_url)
            .filter_map(|resource| name_of(resource).map(str::to_owned))
            .collect()
    }
}

pub fn name_of(resource: &Value) -> Option<&str> {
    let field = if resource["@type"] == ENDPOINTS {
        "cluster_name"
    } else {
        "name"
    };
    resource[field].as_str()
}

/// Sets a field unless the value is null.
pub fn set(object: &mut Value, field: &str, value: Value) {
    if !value.is_null() {
        object[field] = value;
    }
}

/// Makes a value in `percent` of 100 cases, otherwise null.
pub fn sometimes(chance: &mut Chance, percent: usize, value: impl FnOnce(&mut Chance) -> Value) -> Value {
    if chance.percent(percent) {
        value(chance)
    } else {
        Value::Null
    }
}

/// The addresses of a world's endpoints. Each is used once, most of the time.
struct Addresses {
    port: u16,
    next: usize,
}

impl Addresses {
    fn take(&mut self, chance: &mut Chance) -> Value {
        let number = if self.next > 0 && chance.percent(4) {
            chance.below(self.next)
        } else {
            self.next += 1;
            self.next - 1
        };
        json!({"socket_address": {"address": format!("127.0.{}.{}", 1 + number / 9, 1 + number % 9), "port_value": self.port}})
    }
}

fn endpoint(chance: &mut Chance, addresses: &mut Addresses) -> Value {
    let mut endpoint = json!({"endpoint": {"address": addresses.take(chance)}});
    if chance.percent(8) {
        endpoint["endpoint"]["additional_addresses"] = json!([{"address": addresses.take(chance)}]);
    }
    let health = sometimes(chance, 25, |chance| {
        json!(chance.one(&["HEALTHY", "UNHEALTHY", "DRAINING", "DEGRADED", "TIMEOUT"]))
    });
    set(&mut endpoint, "health_status", health);
    let weight = sometimes(chance, 30, |chance| json!(chance.between(1, 4)));
    set(&mut endpoint, "load_balancing_weight", weight);
    if chance.percent(6) {
        let key = chance.one(&["a", "b", ""]);
        endpoint["metadata"] = json!({"filter_metadata": {"envoy.lb": {"hash_key": key}}});
    }
    endpoint
}

fn load_assignment(chance: &mut Chance, name: &str, addresses: &mut Addresses) -> Value {
    let mut localities = Vec::new();
    let priorities = [1, 1, 1, 2, 2, 3][chance.below(6)];
    for priority in 0..priorities {
        for zone in 0..chance.between(1, 2) {
            let endpoints: Vec<Value> = (0..chance.of(&[1, 1, 2, 2, 3]))
                .map(|_| endpoint(chance, addresses))
                .collect();
            localities.push(json!({
                "locality": {"region": "r", "zone": format!("z{priority}{zone}")},
                "load_balancing_weight": chance.between(1, 3),
                "priority": priority,
                "lb_endpoints": endpoints,
            }));
        }
    }
    let mut assignment = json!({"@type": ENDPOINTS, "cluster_name": name, "endpoints": localities});
    if chance.percent(8) {
        let numerator = chance.of(&[0, 30, 50, 100]);
        assignment["policy"] = json!({"drop_overloads": [
            {"category": "load", "drop_percentage": {"numerator": numerator, "denominator": "HUNDRED"}}]});
    }
    assignment
}

/// Adds the fields that clusters of every kind have.
fn cluster_extras(chance: &mut Chance, cluster: &mut Value) {
    policies::choose(chance, cluster);
    let outliers = sometimes(chance, 12, |chance| {
        chance.of(&[
            json!({}),
            json!({"interval": "1s", "enforcing_success_rate": 100, "success_rate_stdev_factor": 1900}),
            json!({"interval": "10s", "enforcing_failure_percentage": 50, "failure_percentage_threshold": 85}),
            json!({"base_ejection_time": "30s", "max_ejection_time": "300s", "max_ejection_percent": 50}),
        ])
    });
    set(cluster, "outlier_detection", outliers);
    let breakers = sometimes(chance, 10, |chance| {
        let max = chance.of(&[1, 87, 1024]);
        json!({"thresholds": [{"priority": chance.one(&["DEFAULT", "HIGH"]), "max_requests": max}]})
    });
    set(cluster, "circuit_breakers", breakers);
    let statuses = sometimes(chance, 15, |chance| {
        let statuses = chance.of(&[
            json!(["UNKNOWN", "HEALTHY", "DRAINING"]),
            json!(["HEALTHY"]),
            json!(["DRAINING"]),
            json!([]),
        ]);
        json!({"override_host_status": {"statuses": statuses}})
    });
    set(cluster, "common_lb_config", statuses);
    let server = sometimes(chance, 8, |_| json!({"self": {}}));
    set(cluster, "lrs_server", server);
}

fn cluster_name(chance: &mut Chance, number: usize, federated: bool) -> String {
    if federated && chance.percent(50) {
        format!("xdstp://xds/envoy.config.cluster.v3.Cluster/c{number}")
    } else {
        format!("c{number}")
    }
}

fn leaf(chance: &mut Chance, name: &str, addresses: &mut Addresses) -> Vec<Value> {
    let mut cluster = json!({"@type": CLUSTER, "name": name});
    if chance.percent(8) {
        cluster["type"] = json!("LOGICAL_DNS");
        cluster["load_assignment"] =
            json!({"endpoints": [{"lb_endpoints": [{"endpoint": {"address": addresses.take(chance)}}]}]});
        cluster_extras(chance, &mut cluster);
        return vec![cluster];
    }
    cluster["type"] = json!("EDS");
    cluster["eds_cluster_config"] =
        json!({"eds_config": chance.of(&[json!({"ads": {}}), json!({"ads": {}}), json!({"self": {}})])});
    let mut service = name.to_owned();
    if name.starts_with("xdstp:") {
        service = name.replace(
            "envoy.config.cluster.v3.Cluster",
            "envoy.config.endpoint.v3.ClusterLoadAssignment",
        );
    } else if chance.percent(20) {
        service = format!("e-{name}");
    }
    if service != name {
        cluster["eds_cluster_config"]["service_name"] = json!(service);
    }
    cluster_extras(chance, &mut cluster);
    let endpoints = load_assignment(chance, &service, addresses);
    vec![cluster, endpoints]
}

fn aggregate(chance: &mut Chance, name: &str, known: &[String]) -> Value {
    let count = chance.between(1, 3.min(known.len()));
    let children: Vec<&String> = (0..count).map(|_| &known[chance.below(known.len())]).collect();
    let mut cluster = json!({"@type": CLUSTER, "name": name, "cluster_type": {
        "name": "envoy.clusters.aggregate", "typed_config": {"@type": AGGREGATE, "clusters": children}}});
    if chance.percent(10) {
        cluster_extras(chance, &mut cluster);
    }
    cluster
}

/// Makes a world without faults, except that hosts may be unhealthy and RPCs may be dropped.
pub fn world(chance: &mut Chance, port: u16) -> World {
    let federated = chance.percent(6);
    let mut addresses = Addresses { port, next: 0 };
    let mut resources = Vec::new();
    let mut clusters = Vec::new();
    for number in 0..chance.of(&[1, 1, 2, 2, 3, 4]) {
        let name = cluster_name(chance, number, federated);
        resources.extend(leaf(chance, &name, &mut addresses));
        clusters.push(name);
    }
    for number in 0..chance.of(&[0, 0, 1, 1, 2]) {
        let name = format!("a{number}");
        resources.push(aggregate(chance, &name, &clusters));
        clusters.push(name);
    }
    let mut manager = json!({"@type": MANAGER});
    let filters = routes::filters(chance);
    let timeout = sometimes(
        chance,
        5,
        |chance| json!({"max_stream_duration": chance.one(&["5s", "300s", "315576000000s"])}),
    );
    set(&mut manager, "common_http_protocol_options", timeout);
    let mut route_config = routes::configuration(chance, &clusters, &filters);
    manager["http_filters"] = json!(filters);
    if chance.percent(50) {
        let name = if federated {
            "xdstp://xds/envoy.config.route.v3.RouteConfiguration/rc"
        } else {
            "rc"
        };
        route_config["@type"] = json!(ROUTES);
        route_config["name"] = json!(name);
        manager["rds"] =
            json!({"config_source": chance.of(&[json!({"ads": {}}), json!({"self": {}})]), "route_config_name": name});
        resources.insert(0, route_config);
    } else {
        manager["route_config"] = route_config;
    }
    resources.insert(
        0,
        json!({"@type": LISTENER, "name": "svc", "api_listener": {"api_listener": manager}}),
    );
    World {
        target: "svc".to_owned(),
        authority: sometimes(chance, 10, |chance| {
            json!(chance.one(&["foo.com", "svc.local", "a.b.foo.com"]))
        })
        .as_str()
        .map(str::to_owned),
        bootstrap: federated.then(|| json!({"authorities": {"xds": {}}})),
        resources,
        ..World::default()
    }
}
