//! Checks that a cause and its consequence are one finding, that configuration for other programs
//! is not judged, and that clean configuration has no finding.

use std::fs;

use serde_json::Value;

use super::{Project, cluster};
use crate::support::root;

/// Returns `severity rule path` for every finding.
fn all(text: &str, args: &[&str]) -> Vec<String> {
    let project = Project::new("noise", &[("a.yaml", text)]);
    let args: Vec<&str> = args.iter().copied().chain(["a.yaml"]).collect();
    let report = project.validate(&args).json();
    let lists = report["resources"].as_array().unwrap().iter().chain([&report]);
    let found = lists.flat_map(|of| of["findings"].as_array().unwrap()).map(|f| {
        let text = |key: &str| f[key].as_str().unwrap();
        format!("{} {} {}", text("severity"), text("rule"), text("path"))
    });
    found.collect()
}

fn endpoints(localities: &str) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\ncluster_name: c\nendpoints: [{localities}]\n"
    )
}

const ENDPOINT: &str = "lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]";

#[test]
fn weights_that_are_missing_everywhere_are_one_finding() {
    let none = format!("{{locality: {{region: a}}, {ENDPOINT}}}, {{locality: {{region: b}}, {ENDPOINT}}}");
    let found = all(&endpoints(&none), &[]);
    assert_eq!(
        found,
        ["error eds-without-localities endpoints[0].load_balancing_weight"]
    );
    let one = format!("{{locality: {{region: a}}, load_balancing_weight: 1, {ENDPOINT}}}, {{locality: {{region: b}}}}");
    let found = all(&endpoints(&one), &[]);
    assert_eq!(
        found,
        ["warning eds-locality-without-weight endpoints[1].load_balancing_weight"]
    );
}

#[test]
fn a_number_that_cannot_be_read_is_not_missing_too() {
    let bad = format!(
        "{{locality: {{region: a}}, load_balancing_weight: 1, {ENDPOINT}}}, {{locality: {{region: b}}, load_balancing_weight: x, {ENDPOINT}}}"
    );
    let found = all(&endpoints(&bad), &[]);
    assert_eq!(found, ["error dump-bad-value endpoints[1].load_balancing_weight"]);
}

fn retry(policy: &str) -> Vec<String> {
    let text = format!(
        "\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: r\nvirtual_hosts: [{{domains: ['*'], retry_policy: {{{policy}}}, routes: [{{match: {{prefix: ''}}, route: {{cluster: c}}}}]}}]\n"
    );
    all(&text, &[])
}

#[test]
fn a_retry_policy_has_one_finding_on_its_conditions() {
    let at = "virtual_hosts[0].retry_policy.retry_on";
    assert_eq!(
        retry("retry_on: 'gateway-error,5xx'"),
        [format!("warning rds-retry-policy-without-codes {at}")]
    );
    // This is Traffic Director's default.
    let default = format!("note rds-retry-on-unsupported {at}");
    assert_eq!(retry("retry_on: gateway-error, num_retries: 1"), [default.as_str()]);
    assert_eq!(retry("retry_on: 'unavailable,5xx'"), [default.as_str()]);
}

#[test]
fn unsupported_policies_are_named_with_those_that_would_do() {
    let policy = "{typed_extension_config: {name: m, typed_config: {'@type': type.googleapis.com/envoy.extensions.load_balancing_policies.maglev.v3.Maglev}}}";
    let project = Project::new(
        "policies",
        &[(
            "a.yaml",
            &format!("{}load_balancing_policy: {{policies: [{policy}]}}\n", cluster("c")),
        )],
    );
    let out = project.run(&["validate", "a.yaml"]).out;
    assert!(
        out.contains("the only listed policy, `Maglev`, is not supported"),
        "{out}"
    );
    assert!(out.contains("RoundRobin, PickFirst, RingHash"), "{out}");
}

/// A listener with an address and routes by RDS.
const LISTENER: &str = "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: l\naddress: {socket_address: {address: 0.0.0.0, port_value: 80}}\nfilter_chains: [{filters: [{typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, rds: {config_source: {ads: {}}, route_config_name: r}, http_filters: [{name: router, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]}}]}]\n";

#[test]
fn what_was_made_for_a_proxy_is_the_wrong_input_and_says_why() {
    let world = format!("{LISTENER}---\n{}---\n{}", super::routes("r", &["c"]), cluster("c"));
    let other = format!("{}connect_timeout: 7s\n", cluster("c"));
    let project = Project::new("proxy", &[("a.yaml", &world), ("clean.yaml", &other)]);
    let run = project.run(&["validate", "a.yaml"]);
    assert_eq!(run.code, Some(2));
    assert!(run.out.starts_with("dump-made-for-proxy (advice)"), "{}", run.out);
    assert!(run.out.contains("the routes of `r` lead to clusters"), "{}", run.out);
    assert!(
        run.out
            .contains("0 rejected, 0 ignored, 3 not checked\n0 errors, 1 warning"),
        "{}",
        run.out
    );
    assert!(
        run.err
            .contains("nothing to check: the configuration was made for a proxy"),
        "{}",
        run.err
    );
    // Another file was checked.
    assert_eq!(project.run(&["validate", "a.yaml", "clean.yaml"]).code, Some(0));
    let judged = project.run(&["validate", "--all", "a.yaml"]);
    assert!(judged.out.contains("3 accepted"), "{}", judged.out);
}

#[test]
fn a_server_with_a_fault_is_no_proxy() {
    let broken = LISTENER.replace("rds: {config_source: {ads: {}}, route_config_name: r}, ", "");
    let project = Project::new("server", &[("a.yaml", &broken)]);
    let run = project.run(&["validate", "a.yaml"]);
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("counts as a gRPC server's listener"), "{}", run.out);
}

#[test]
fn what_a_proxy_has_of_its_own_is_not_judged_beside_what_it_was_sent() {
    let dump = "configs:\n- '@type': type.googleapis.com/envoy.admin.v3.ClustersConfigDump\n  static_clusters:\n  - cluster: {'@type': type.googleapis.com/envoy.config.cluster.v3.Cluster, name: agent, type: STATIC}\n";
    let sent = "  dynamic_active_clusters:\n  - cluster: {'@type': type.googleapis.com/envoy.config.cluster.v3.Cluster, name: c, type: STATIC}\n";
    assert_eq!(all(dump, &[]), ["error cds-discovery-unsupported type"]);
    assert_eq!(
        all(&format!("{dump}{sent}"), &[]),
        ["error cds-discovery-unsupported type", "note dump-static-not-judged "]
    );
}

#[test]
fn a_bootstrap_is_said_to_be_checked() {
    let project = Project::new("bootstrap", &[]);
    let bootstrap =
        r#"{"xds_servers": [{"server_uri": "xds:443", "channel_creds": [{"type": "insecure"}]}], "node": {"id": "n"}}"#;
    project.write("bootstrap.json", bootstrap);
    let run = project.run(&["validate", "bootstrap.json"]);
    assert!(run.out.starts_with("1 bootstrap checked\n0 errors"), "{}", run.out);
}

#[test]
fn clean_configurations_have_no_warning_from_any_client() {
    let directory = root().join("fixtures/examples/clean");
    let mut count = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        for clients in ["cpp", "go"] {
            let project = Project::new("clean", &[]);
            let client = format!("--client={clients}");
            let run = project.validate(&["--complete", "--min-severity=warning", &client, path.to_str().unwrap()]);
            let report: Value = run.json();
            assert_eq!(run.named_findings(), [""; 0], "{clients}: {}", path.display());
            let accepted = &report["summary"]["resources"]["accepted"];
            assert_eq!(
                accepted.as_u64().unwrap(),
                report["resources"].as_array().unwrap().len() as u64
            );
            count += 1;
        }
    }
    assert!(count >= 8, "{count}");
}
