//! Checks that `validate` and `pick` agree about RPCs for which something is missing, for each
//! client.

use serde_json::{Value, json};

use crate::cli::xdsctl;

const TYPE: &str = "type.googleapis.com/";

fn listener(routes: &Value) -> Value {
    let manager = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
    let mut manager = json!({"@type": format!("{TYPE}{manager}"), "http_filters": [{"name": "router",
        "typed_config": {"@type": format!("{TYPE}envoy.extensions.filters.http.router.v3.Router")}}]});
    let (member, value) = routes.as_object().unwrap().iter().next().unwrap();
    manager[member] = value.clone();
    json!({"@type": format!("{TYPE}envoy.config.listener.v3.Listener"), "name": "shop",
        "api_listener": {"api_listener": manager}})
}

fn inline(domain: &str) -> Value {
    listener(
        &json!({"route_config": {"name": "r", "virtual_hosts": [{"name": "v", "domains": [domain],
        "routes": [{"match": {"prefix": ""}, "route": {"cluster": "c"}}]}]}}),
    )
}

fn cluster() -> Value {
    json!({"@type": format!("{TYPE}envoy.config.cluster.v3.Cluster"), "name": "c", "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}}})
}

/// Makes an assignment that the client rejects: its endpoint has no address.
fn without_address() -> Value {
    json!({"@type": format!("{TYPE}envoy.config.endpoint.v3.ClusterLoadAssignment"), "cluster_name": "c",
        "endpoints": [{"locality": {}, "load_balancing_weight": 1, "lb_endpoints": [{"endpoint": {}}]}]})
}

/// Returns the words of `validate` for how RPCs end, by what `pick` says about one.
fn words(ended: &str) -> [&'static str; 2] {
    match ended {
        "UNAVAILABLE" => ["fail with UNAVAILABLE", "fails with UNAVAILABLE"],
        "UNKNOWN" => ["fail with UNKNOWN", "fails with UNKNOWN"],
        "DEADLINE_EXCEEDED" => ["wait until their deadline", "waits until its deadline"],
        other => panic!("an RPC ends with {other}"),
    }
}

/// Checks a dump with each of these clients; the finding must be of the rule.
fn check(rule: &str, resources: &[Value], clients: &[&str]) {
    let text = json!({ "resources": resources }).to_string();
    for client in clients {
        let client = format!("--client={client}");
        let common = ["--target=xds:///shop", &client, "-"];
        let picked = xdsctl(&[&["pick", "--method=/a.B/C"], &common[..]].concat(), &text);
        let ended = picked.out.split(':').next().unwrap();
        let report = xdsctl(&[&["validate", "--format=concise"], &common[..]].concat(), &text);
        let finding = report.out.lines().find(|line| line.contains(&format!(" {rule}: ")));
        let finding = finding.unwrap_or_else(|| panic!("no {rule} with {client}:\n{}{}", report.out, report.err));
        assert!(
            words(ended).iter().any(|words| finding.contains(words)),
            "{client} ends with {ended}, and validate says: {finding}"
        );
    }
}

const ALL: [&str; 5] = ["cpp", "go", "go@1.61.0", "java", "rust"];

#[test]
fn what_is_missing_ends_rpcs_as_in_the_client() {
    let rds = listener(&json!({"rds": {"route_config_name": "r", "config_source": {"ads": {}}}}));
    check("reference-to-nothing", &[rds], &ALL);
    check("target-without-virtual-host", &[inline("other"), cluster()], &ALL);
    check("reference-to-nothing", &[inline("*"), cluster()], &ALL);
}

#[test]
fn what_is_rejected_ends_rpcs_as_in_the_client() {
    // grpc-go accepts an endpoint without an address.
    let clients = ["cpp", "java", "rust"];
    check(
        "reference-to-rejected",
        &[inline("*"), cluster(), without_address()],
        &clients,
    );
}
