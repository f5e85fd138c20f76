//! Tests of what `validate --client` says about drops, fields and references: in each client's own
//! world, alone and among other clients.

use serde_json::Value;

use crate::cli::xdsctl;
use crate::support::root;

/// Returns `RULE at PATH` for all findings.
fn found(client: &str, env: &[&str], text: &str) -> Vec<String> {
    let client = format!("--client={client}");
    let mut args = vec!["validate", "-", &client, "--format=json", "--min-severity=note"];
    args.extend(env.iter().flat_map(|env| ["--env", env]));
    let report = xdsctl(&args, text).json();
    let resources = report["resources"].as_array().unwrap().iter();
    let findings = resources.flat_map(|resource| resource["findings"].as_array().unwrap());
    let lines = findings.map(|found| format!("{} at {}", found["rule"], found["path"]).replace('"', ""));
    lines.collect()
}

fn messages(client: &str, text: &str) -> String {
    let client = format!("--client={client}");
    xdsctl(
        &["validate", "-", &client, "--format=concise", "--min-severity=note"],
        text,
    )
    .out
}

fn cluster(more: &str) -> String {
    format!(
        r#"{{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
            "eds_cluster_config": {{"eds_config": {{"ads": {{}}}}}}{more}}}"#
    )
}

#[test]
fn a_field_that_one_family_reads_is_none_that_it_never_reads() {
    let text = cluster(
        r#", "transport_socket_matches": [], "common_lb_config": {"override_host_status": {"statuses": ["HEALTHY"]}}"#,
    );
    assert_eq!(found("cpp", &[], &text), [""; 0]);
    for (client, name) in [("go", "grpc-go"), ("java", "grpc-java")] {
        assert_eq!(
            found(client, &[], &text),
            ["field-ignored at common_lb_config.override_host_status"]
        );
        assert!(messages(client, &text).contains(&format!("{name} does not read `override_host_status`")));
    }
}

#[test]
fn a_field_is_read_from_a_version_on_or_under_a_switch() {
    let socket = r#", "transport_socket": {"name": "t", "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "sni": "s",
        "common_tls_context": {"validation_context": {"ca_certificate_provider_instance": {"instance_name": "i"}}}}}"#;
    let text = cluster(socket);
    let bootstrap = r#"{"xds_servers": [{"server_uri": "a:1", "channel_creds": [{"type": "insecure"}]}],
        "certificate_providers": {"i": {"plugin_name": "file_watcher", "config": {"ca_certificate_file": "/ca.pem"}}}}"#;
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-world-bootstrap.json");
    std::fs::write(&file, bootstrap).unwrap();
    let run = |client: &str, env: &[&str]| {
        let client = format!("--client={client}");
        let mut args = vec![
            "validate",
            "-",
            &client,
            "--format=concise",
            "--bootstrap",
            file.to_str().unwrap(),
        ];
        args.extend(env.iter().flat_map(|env| ["--env", env]));
        let out = xdsctl(&args, &text).out;
        out.contains("client-field-ignored")
    };
    assert_eq!((run("java@1.72", &[]), run("java@1.85.1", &[])), (true, false));
    let on = ["GRPC_EXPERIMENTAL_XDS_SNI=true"];
    assert_eq!((run("go", &[]), run("go", &on)), (true, false));
}

#[test]
fn a_reference_to_what_the_client_rejects_fails_for_that_client() {
    let routes = r#"{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r", "virtual_hosts":
        [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": "c"}}]}]}"#;
    // C-core rejects LEAST_REQUEST, and grpc-go accepts it.
    let text = format!(
        r#"{{"resources": [{routes}, {}]}}"#,
        cluster(r#", "lb_policy": "LEAST_REQUEST""#)
    );
    let rejected = "reference-to-rejected at virtual_hosts[0].routes[0].route.cluster".to_owned();
    assert!(found("cpp", &[], &text).contains(&rejected));
    assert!(!found("go", &[], &text).contains(&rejected));
    assert!(found("go@1.70.0", &[], &text).contains(&rejected));
}

#[test]
fn an_endpoint_that_is_draining_is_dropped_without_sessions() {
    let text = r#"{"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c",
        "endpoints": [{"locality": {}, "load_balancing_weight": 1, "lb_endpoints": [
            {"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}}}},
            {"health_status": "DRAINING",
             "endpoint": {"address": {"socket_address": {"address": "10.0.0.2", "port_value": 80}}}}]}]}"#;
    let dropped = ["eds-endpoint-health-unsupported at endpoints[0].lb_endpoints[1].health_status"];
    assert_eq!(found("go", &[], text), dropped);
    assert_eq!(found("java", &[], text), dropped);
    assert_eq!(found("cpp", &[], text), [""; 0]);
}

#[test]
fn a_process_that_dies_of_a_resource_is_told_apart_from_a_rejection() {
    let policy = r#", "load_balancing_policy": {"policies": [{"typed_extension_config": {"name": "n", "typed_config": {
        "@type": "type.googleapis.com/xds.type.v3.TypedStruct",
        "type_url": "type.googleapis.com/xds_cluster_impl_experimental", "value": {"cluster": "c"}}}}]}"#;
    let report = xdsctl(&["validate", "-", "--client=go", "--format=json"], cluster(policy)).json();
    let resource = &report["resources"][0];
    assert_eq!(resource["clients"]["go@1.85.0"]["verdict"], "dies");
    assert_eq!(resource["findings"][0]["effect"], "fails");
}

/// Makes a server's listener with one RBAC policy.
fn guarded(action: &str, permission: &str) -> String {
    let policy = format!(r#"{{"permissions": [{permission}], "principals": [{{"any": true}}]}}"#);
    let rbac = format!(
        r#"{{"name": "rbac", "typed_config": {{"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
            "rules": {{"action": "{action}", "policies": {{"p": {policy}}}}}}}}}"#
    );
    let router = r#"{"name": "router", "typed_config":
        {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}"#;
    format!(
        r#"{{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "l",
            "address": {{"socket_address": {{"address": "0.0.0.0", "port_value": 80}}}},
            "filter_chains": [{{"filters": [{{"name": "hcm", "typed_config": {{
                "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                "route_config": {{"virtual_hosts": [{{"domains": ["*"], "routes":
                    [{{"match": {{"prefix": ""}}, "non_forwarding_action": {{}}}}]}}]}},
                "http_filters": [{rbac}, {router}]}}}}]}}]}}"#
    )
}

#[test]
fn a_rule_that_is_not_applied_lets_somebody_in_or_keeps_somebody_out() {
    let effect = |client: &str, action: &str, permission: &str| {
        let client = format!("--client={client}");
        let args = ["validate", "-", &client, "--format=json"];
        let report = xdsctl(&args, guarded(action, permission)).json();
        let findings = report["resources"][0]["findings"].as_array().unwrap().clone();
        let found = findings.iter().find(|found| found["rule"] == "rbac-rule-not-applied");
        found.map(|found| (found["effect"].to_string(), found["severity"].to_string()))
    };
    let name = r#"{"requested_server_name": {"exact": "a"}}"#;
    let all = format!(r#"{{"and_rules": {{"rules": [{name}, {{"destination_port": 1}}]}}}}"#);
    let one = format!(r#"{{"or_rules": {{"rules": [{name}, {{"destination_port": 1}}]}}}}"#);
    let not_all = format!(r#"{{"not_rule": {all}}}"#);
    let open = Some(("\"open\"".to_owned(), "\"error\"".to_owned()));
    let dropped = Some(("\"dropped\"".to_owned(), "\"warning\"".to_owned()));
    assert_eq!(effect("go@1.80", "ALLOW", &all), open);
    assert_eq!(effect("go@1.80", "ALLOW", &one), dropped);
    assert_eq!(effect("go@1.80", "DENY", &all), dropped);
    assert_eq!(effect("go@1.80", "DENY", &one), open);
    assert_eq!(effect("go@1.80", "ALLOW", &not_all), dropped);
    // The condition is applied.
    assert_eq!(effect("go@1.83", "ALLOW", &all), None);
    assert_eq!(effect("go@1.80", "ALLOW", r#"{"destination_port": 1}"#), None);
}

#[test]
fn what_a_family_does_not_have_is_left_out_or_passed_over() {
    let session = r#"{"name": "s", "is_optional": true, "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.stateful_session.v3.StatefulSession"}}, {"name": "router""#;
    let text = guarded("ALLOW", r#"{"any": true}"#).replace("{\"name\": \"router\"", session);
    let rule = "hcm-optional-filter-dropped";
    let has =
        |client: &str, text: &str, rule: &str| found(client, &[], text).iter().any(|found| found.starts_with(rule));
    assert!(has("go", &text, rule) && has("java", &text, rule));
    let policy = |name: &str| {
        format!(
            r#"{{"typed_extension_config": {{"name": "n", "typed_config":
                {{"@type": "type.googleapis.com/envoy.extensions.load_balancing_policies.{name}"}}}}}}"#
        )
    };
    let list = |first: &str| {
        let policies = [policy(first), policy("round_robin.v3.RoundRobin")].join(",");
        cluster(&format!(r#", "load_balancing_policy": {{"policies": [{policies}]}}"#))
    };
    let least = list("least_request.v3.LeastRequest");
    assert!(has("cpp", &least, "lb-entry-skipped") && has("go@1.70.0", &least, "lb-entry-skipped"));
    assert!(!has("go", &least, "lb-entry-skipped") && !has("java", &least, "lb-entry-skipped"));
}

#[test]
fn an_lb_policy_that_a_version_never_reads_is_not_the_one_in_use() {
    let policy = r#", "load_balancing_policy": {"policies": [{"typed_extension_config": {"name": "n", "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash",
        "hash_function": "XX_HASH"}}}]}"#;
    let routes = r#"{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r", "virtual_hosts":
        [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": "c"}}]}]}"#;
    let text = format!(r#"{{"resources": [{routes}, {}]}}"#, cluster(policy));
    let unread = "client-field-ignored at load_balancing_policy".to_owned();
    let ring = "rds-ring-hash-without-hash-policy at virtual_hosts[0].routes[0].route".to_owned();
    let has = |client: &str| [&unread, &ring].map(|wanted| found(client, &[], &text).contains(wanted));
    assert_eq!(has("go@1.49"), [true, false]);
    assert_eq!(has("go@1.60"), [false, true]);
}

/// Clients that have their own worlds.
const FLEET: [&str; 8] = [
    "go@1.85.0",
    "java@1.85.1",
    "node@1.14.1",
    "node@1.10.1",
    "cpp@1.62.3",
    "go@1.60.1",
    "java@1.72.0",
    "cpp@1.85.1",
];

/// Returns what a client does with each resource of a file, and all its findings.
fn of_client(report: &Value, client: &str) -> Vec<String> {
    let resources = report["resources"].as_array().unwrap().iter();
    let line = |resource: &Value| {
        let said = &resource["clients"][client];
        format!("{} {}: {said}", resource["type"], resource["name"])
    };
    resources.map(line).collect()
}

#[test]
fn a_client_among_others_has_the_findings_that_it_has_alone() {
    let mut compared = 0;
    for folder in ["examples", "tree"] {
        let files = std::fs::read_dir(root().join("fixtures").join(folder)).unwrap();
        let files = files.map(|file| file.unwrap().path().display().to_string());
        for file in files.filter(|file| file.ends_with(".yaml")) {
            let report = |clients: &str| {
                let args = ["validate", "--all", "--format=json", "--client", clients, &file];
                let run = xdsctl(&args, "");
                (run.code != Some(2)).then(|| run.json())
            };
            let Some(all) = report(&FLEET.join(",")) else { continue };
            // A report on the reference alone has no list of clients.
            for client in &FLEET[..7] {
                let alone = report(client).unwrap();
                assert_eq!(
                    of_client(&all, client),
                    of_client(&alone, client),
                    "{client} and {file}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn each_client_keeps_the_version_that_it_takes() {
    let second = cluster(r#", "lb_policy": "LEAST_REQUEST""#);
    let text = format!(r#"{{"resources": [{}, {second}]}}"#, cluster(""));
    let report = xdsctl(&["validate", "-", "--client=cpp,java", "--format=json"], &text).json();
    let verdicts = |client: &str| {
        let of = |number: usize| report["resources"][number]["clients"][client]["verdict"].clone();
        [of(0), of(1)]
    };
    assert_eq!(verdicts("cpp@1.85.1"), ["accepted", "rejected"]);
    assert_eq!(verdicts("java@1.85.1"), ["ignored", "accepted"]);
}

#[test]
fn a_field_that_one_of_several_clients_reads_is_unread_by_the_others() {
    let text = cluster(r#", "common_lb_config": {"override_host_status": {"statuses": ["HEALTHY"]}}"#);
    let report = xdsctl(
        &[
            "validate",
            "-",
            "--client=cpp,go",
            "--format=json",
            "--min-severity=note",
        ],
        &text,
    )
    .json();
    let findings = report["resources"][0]["findings"].as_array().unwrap();
    let who: Vec<&str> = findings.iter().map(|found| found["who"].as_str().unwrap()).collect();
    assert_eq!(who, ["ignored in go"]);
}
