//! Tests of suites with clients of several languages.

use serde_json::json;

use crate::cli_tree::run;

/// Makes a suite of three languages that use one route, whose domain is in upper case.
fn suite(steps: &str) -> String {
    let world = json!([
        {
            "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "shop",
            "api_listener": {"api_listener": {
                "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                "rds": {"config_source": {"ads": {}}, "route_config_name": "r"},
                "http_filters": [{"name": "router", "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}},
        },
        {
            "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r",
            "virtual_hosts": [{"name": "v", "domains": ["SHOP"],
                "routes": [{"match": {"prefix": ""}, "route": {"cluster": "c"}}]}],
        },
        {
            "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
            "eds_cluster_config": {"eds_config": {"ads": {}}},
        },
        endpoints(1),
    ]);
    format!("world: {world}\nclients:\n  web: {{kind: go}}\n  batch: {{kind: java}}\n  edge:\nsteps:\n{steps}")
}

/// Makes the endpoints of the cluster. Go rejects weights whose sum does not fit into 32 bits.
fn endpoints(weight: u32) -> serde_json::Value {
    let endpoint = |port: u32| {
        json!({"load_balancing_weight": weight,
            "endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": port}}}})
    };
    json!({
        "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c",
        "endpoints": [{"locality": {"region": "a"}, "load_balancing_weight": 1,
            "lb_endpoints": [endpoint(1), endpoint(2)]}],
    })
}

#[test]
fn each_client_of_a_fleet_does_what_its_language_does() {
    let rpc = "- pick: {method: /shop.Cart/Get}\n";
    let update = endpoints(u32::MAX);
    let suite = suite(&format!(
        "{rpc}  client: web\n  expect: {{status: UNAVAILABLE}}\n\
         {rpc}  client: batch\n  expect: {{status: OK}}\n\
         {rpc}  client: edge\n  expect: {{status: OK}}\n\
         - update: [{update}]\n  client: web\n  expect: {{nack: eds-endpoint-weight-sum}}\n"
    ));
    let ran = run("test -", &suite);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    // A client without a kind is the one that the command line names.
    let as_go = run("test --client go --format json -", &suite.replace("kind: java", ""));
    let answer: serde_json::Value = serde_json::from_str(&as_go.out).unwrap();
    let failures = answer["suites"][0]["tests"][0]["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 2, "{answer}");
}

/// C-core has no such policy; grpc-java registers it as `least_request_experimental`.
#[test]
fn a_tree_may_have_a_policy_that_only_this_client_has() {
    let suite = suite("- pick: {method: /shop.Cart/Get}\n  client: batch\n  expect: {tree: least_request}\n");
    let eds = r#""type":"EDS""#;
    assert_eq!(suite.matches(eds).count(), 1);
    let suite = suite.replace(eds, r#""type":"EDS","lb_policy":"LEAST_REQUEST""#);
    let ran = run(
        "test -",
        &suite.replace("  web: {kind: go}\n", "").replace("  edge:\n", ""),
    );
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn a_kind_that_is_no_client_is_refused_at_its_place() {
    let suite = suite("- pick: {}\n");
    for (kind, words) in [
        ("jawa", "`kind`: no client `jawa`"),
        ("'go,cpp'", "`kind`: `go,cpp` are 2 clients, a channel has one"),
        ("go@1.2", "`kind`: `go@1.2` is not known: it is older"),
        ("[go]", "`kind` is `[\"go\"]`, must be a text"),
    ] {
        let ran = run("test -", &suite.replace("kind: java", &format!("kind: {kind}")));
        assert_eq!(ran.code, Some(2), "{kind}: {}{}", ran.out, ran.err);
        assert!(
            ran.out.contains(words) && ran.out.contains("-:4:"),
            "{kind}: {}{}",
            ran.out,
            ran.err
        );
    }
}
