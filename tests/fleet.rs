//! Tests of several clients at once: the matrix, the clients that a dump names, and whose findings
//! fail a run.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::xdsctl;
use crate::run::Run;
use crate::support::root;
use xdsctl_model::profile::Family;

/// An old and a new C-core, an old and a new Go, and a Go that was never measured, between two
/// versions that differ.
const ASKED: &str = "--client=cpp@1.56,cpp@1.85,go@1.72,go@1.79.1,go@1.85.0";

fn example() -> String {
    root().join("fixtures/examples/fleet.yaml").display().to_string()
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fleet-{name}"));
    fs::write(&path, text).unwrap();
    path
}

/// Returns the words of the line that begins with `start`.
fn words<'r>(run: &'r Run, start: &str) -> Vec<&'r str> {
    let line = run.out.lines().find(|line| line.starts_with(start));
    let line = line.unwrap_or_else(|| panic!("no line `{start}` in\n{}{}", run.out, run.err));
    line[start.len()..].split_whitespace().collect()
}

#[test]
fn the_matrix_has_a_sign_for_each_resource_and_client() {
    let run = xdsctl(&["validate", "--matrix", ASKED, &example()], "");
    assert_eq!(run.code, Some(2));
    assert!(run.out.is_ascii(), "{}", run.out);
    for (row, signs) in [
        ("Listener shop.example.com", "x + x x x"),
        // The cluster that the route leads to is rejected.
        ("RouteConfiguration shop", "! ! ! + +"),
        ("Cluster cart", "x x x + !"),
        ("Cluster stock", "x + + + +"),
        ("ClusterLoadAssignment cart", "+ + + ? x"),
        ("rejected", "3 1 2 1 2"),
        ("failing", "1 1 1 0 1"),
        ("not known", "0 0 0 1 0"),
    ] {
        assert_eq!(words(&run, row).join(" "), signs, "{row}");
    }
    for reason in [
        "cds-lb-policy-unsupported: nack in cpp, go <1.79.1\n  Cluster `cart`: ",
        "eds-endpoint-weight-sum: nack in go >=1.85\n",
        "reference-to-rejected: fails in cpp, go <1.79.1\n  RouteConfiguration `shop`: Cluster `cart` is rejected",
        "reference-to-rejected: fails in go >=1.85\n  Cluster `cart`: ClusterLoadAssignment `cart` is rejected",
        "? go@1.79.1: never asked; 1.79.0 and 1.80.0, which were, do not do the same",
    ] {
        assert!(run.out.contains(reason), "{reason}\n{}", run.out);
    }
}

#[test]
fn json_has_the_same_for_each_resource() {
    let run = xdsctl(&["validate", "--matrix", "--format=json", ASKED, &example()], "");
    let report = run.json();
    let verdict = |resource: &Value, client: &str| resource["clients"][client]["verdict"].as_str().unwrap().to_owned();
    let clients = ["cpp@1.56.2", "cpp@1.85.1", "go@1.72.0", "go@1.79.1", "go@1.85.0"];
    let resources = report["resources"].as_array().unwrap().iter();
    let rows: Vec<String> = resources
        .map(|resource| clients.map(|client| verdict(resource, client)).join(" "))
        .collect();
    assert_eq!(
        rows,
        [
            "rejected accepted rejected rejected rejected",
            "accepted accepted accepted accepted accepted",
            "rejected rejected rejected accepted accepted",
            "rejected accepted accepted accepted accepted",
            "accepted accepted accepted not_known rejected",
        ]
    );
    let endpoints = &report["resources"][4]["clients"];
    assert_eq!(endpoints["go@1.85.0"]["effect"], "nack");
    assert_eq!(endpoints["go@1.85.0"]["rules"][0], "eds-endpoint-weight-sum");
    assert_eq!(endpoints["cpp@1.85.1"].get("effect"), None);
}

#[test]
fn many_versions_that_say_the_same_share_a_column() {
    let run = xdsctl(&["validate", "--matrix", "--client=all", &example()], "");
    let versions = words(&run, "RESOURCE");
    assert!(versions.contains(&"1.73.0..1.79.0"), "{versions:?}");
    assert!(versions.len() < 18, "{versions:?}");
}

#[test]
fn the_matrix_alone_asks_the_current_clients() {
    let run = xdsctl(&["validate", "--matrix", &example()], "");
    assert_eq!(
        run.out.lines().next().unwrap().split_whitespace().collect::<Vec<_>>(),
        ["cpp", "go", "java", "node", "rust"]
    );
}

/// Nodes as clients and other programs send them.
const NODES: &str = r#"{"config": [
    {"node": {"id": "a", "user_agent_name": "gRPC C-core linux Python", "user_agent_version": "C-core 43.0.0 Python 1.66.2"}},
    {"node": {"id": "b", "userAgentName": "gRPC Go", "userAgentVersion": "1.71.2"}},
    {"node": {"id": "c", "userAgentName": "envoy", "userAgentBuildVersion": {"version": {"majorNumber": 1}}}},
    {"node": {"id": "d", "userAgentName": "gRPC Java", "userAgentVersion": "1.33.0-SNAPSHOT"}},
    {"node": {"id": "e", "userAgentName": "gRPC Go", "userAgentVersion": "devel"}},
    {"node": {"id": "f"}}]}"#;

#[test]
fn a_dump_says_who_is_to_be_asked() {
    let nodes = file("nodes.json", NODES);
    let from = format!("--client-from={}", nodes.display());
    let run = xdsctl(&["validate", "--matrix", &from, &example()], "");
    assert_eq!(run.code, Some(2));
    let unread = "not checked: `gRPC Go` `devel`: everything, its version is not known; java@1.33.0: the verdict on 5 resources, \
                  the first is Listener `shop.example.com`;";
    assert!(run.out.contains(unread), "{}", run.out);
    assert_eq!(words(&run, "RESOURCE"), ["1.66.2", "1.71.2", "1.33.0"]);
    assert_eq!(words(&run, "Cluster cart"), ["x", "x", "?"]);
    let told: Vec<&str> = run
        .err
        .lines()
        .map(|line| line.split_once(".json: ").unwrap().1)
        .collect();
    assert_eq!(
        told,
        [
            "a node without a user agent: its client is not known",
            "`envoy` is not a gRPC client, so xdsctl does not ask it",
            "`gRPC Go` `devel` is grpc-go at an unknown version, so xdsctl does not ask it",
        ]
    );
    assert!(run.out.contains(&format!(
        "asked: cpp@1.66.2, go@1.71.2 (as 1.71.0 and 1.72.0 answer), java@1.33.0 (from {})",
        nodes.display()
    )));
}

#[test]
fn nodes_are_read_in_every_shape_and_format() {
    let yaml = "config:\n- node: {id: b, user_agent_name: gRPC Go, user_agent_version: 1.71.2}\n";
    let request = r#"{"node": {"userAgentName": "gRPC Go", "userAgentVersion": "1.71.2"}, "resourceNames": ["a"], "typeUrl": "type.googleapis.com/envoy.config.cluster.v3.Cluster"}"#;
    let text = "config { node { user_agent_name: \"gRPC Go\" user_agent_version: \"1.71.2\" } }";
    for (name, text) in [
        ("nodes.yaml", yaml),
        ("request.json", request),
        ("nodes.textproto", text),
    ] {
        let from = format!("--client-from={}", file(name, text).display());
        let run = xdsctl(&["validate", "--matrix", &from, &example()], "");
        assert_eq!(words(&run, "RESOURCE"), ["1.71.2"], "{name}: {}", run.err);
    }
}

#[test]
fn a_dump_without_a_client_is_no_answer() {
    let envoy = file("envoy.json", r#"{"config": [{"node": {"userAgentName": "envoy"}}]}"#);
    let run = xdsctl(
        &["validate", &format!("--client-from={}", envoy.display()), &example()],
        "",
    );
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(run.err.contains("names no gRPC client"), "{}", run.err);
}

#[test]
fn clients_that_only_warn_do_not_fail_the_run() {
    let of = |args: &[&str]| {
        let example = example();
        let args: Vec<&str> = ["validate", "--client=cpp,go"]
            .iter()
            .chain(args)
            .copied()
            .chain([example.as_str()])
            .collect();
        xdsctl(&args, "")
    };
    let all = of(&["-A", "cds", "-A", "reference"]);
    assert_eq!(all.code, Some(1), "{}", all.out);
    assert!(all.out.contains("\n2 errors, 0 warnings"), "{}", all.out);
    let cpp = of(&["-A", "cds", "-A", "reference", "--fail-on=cpp"]);
    assert_eq!(cpp.code, Some(0), "{}", cpp.out);
    assert!(cpp.out.contains("\n0 errors, 2 warnings"), "{}", cpp.out);
    assert!(
        cpp.out.contains("asked: cpp@1.85.1, go@1.85.0; only warns: go\n"),
        "{}",
        cpp.out
    );
    assert_eq!(
        of(&["-A", "cds", "-A", "reference", "--fail-on=warning,cpp"]).code,
        Some(0)
    );
    assert_eq!(of(&["-A", "cds", "-A", "reference", "--fail-on=go"]).code, Some(1));
    assert_eq!(of(&["--fail-on=cpp"]).code, Some(1), "C-core rejects the cluster");
    let unasked = of(&["--fail-on=java"]);
    assert_eq!(unasked.code, Some(2));
    assert!(
        unasked
            .err
            .contains("`java` is not asked, asked are cpp@1.85.1, go@1.85.0"),
        "{}",
        unasked.err
    );
}

/// A route that asks for a header, beside an upper-case domain: clients compare both differently.
const ROUTES: &str = r#"{"resources": [
    {"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "svc", "api_listener": {"api_listener": {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "rds": {"route_config_name": "rc", "config_source": {"ads": {}}},
        "http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}},
    {"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "rc", "virtual_hosts": [
        {"name": "upper", "domains": ["SVC"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": "upper"}}]},
        {"name": "any", "domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": "any",
            "retry_policy": {"retry_on": "unavailable", "num_retries": 9}}}]}]},
    {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "any", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}},
    {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "upper", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}, "lb_policy": "LEAST_REQUEST"}]}"#;

#[test]
fn a_channel_is_that_of_the_client() {
    let of = |args: &[&str]| xdsctl(&[args, &["-"]].concat(), ROUTES);
    let core = of(&["route"]);
    assert!(core.out.contains("cluster       upper"), "{}", core.out);
    let go = of(&["route", "--client=go"]);
    assert!(go.out.contains("cluster       any"), "{}{}", go.out, go.err);
    assert!(go.err.contains("as grpc-go 1.85.0"), "{}", go.err);
    // C-core rejects the cluster and Go accepts it.
    let pick = of(&["pick", "--client=go", "--cluster=upper"]);
    assert!(
        pick.out.contains("least_request_experimental"),
        "{}{}",
        pick.out,
        pick.err
    );
    let retry = of(&["retry", "--client=go"]);
    assert!(
        retry.out.contains("attempts  10: num_retries 9") && !retry.out.contains("capped"),
        "{}",
        retry.out
    );
    let arguments = xdsctl(
        &["retry", "--client=go", "--retry-on=unavailable", "--num-retries=9"],
        "",
    );
    assert!(arguments.out.contains("attempts  10: "), "{}", arguments.out);
}

#[test]
fn what_is_not_known_of_a_channel_is_said_and_not_made_up() {
    for (args, words) in [
        (
            &["route", "--client=node@1.10.1"][..],
            "RPCs were sent with 1.13.0, 1.14.1",
        ),
        (
            &["pick", "--client=cpp@1.55"],
            "RPCs were sent with 1.62.3, 1.72.2, 1.85.1",
        ),
        (&["route", "--client=goo"], "did you mean `go`?"),
        (
            &["tree", "--client=cpp@1.62"],
            "the LB policies that gRPC C-core 1.62.3 builds are not known",
        ),
    ] {
        let run = xdsctl(&[args, &["-"]].concat(), ROUTES);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args:?}: {}", run.err);
        assert!(run.err.contains(words), "{args:?}: {}", run.err);
    }
}

/// A label is as long as the name, but a format width ends at 65,535.
#[test]
fn a_long_name_moves_its_own_row_only() {
    let name = "n".repeat(70_000);
    let cluster = |name: &str| {
        format!(
            r#"{{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"{name}","type":"EDS","eds_cluster_config":{{"eds_config":{{"ads":{{}}}}}}}}"#
        )
    };
    let text = format!(r#"{{"resources":[{},{}]}}"#, cluster(&name), cluster("c"));
    let run = xdsctl(&["validate", "--matrix", "-"], &text);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(words(&run, &format!("Cluster {name}")), ["+"; 5]);
    assert_eq!(words(&run, "Cluster c"), ["+"; 5]);
    assert!(run.out.len() < 2 * name.len(), "{}", run.out.len());
}

/// Two faults of one kind in one place are two findings, even if every client has both.
#[test]
fn what_every_client_says_twice_is_there_twice() {
    let text = r#"{"@type":"type.googleapis.com/envoy.config.listener.v3.Listener","name":"l","api_listener":{"api_listener":{"@type":"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","route_config":{"virtual_hosts":[{"name":"v","domains":["a","b"],"routes":[{"match":{"prefix":""},"route":{"cluster":"c"}}]},{"name":"w","domains":["a","b"],"routes":[{"match":{"prefix":""},"route":{"cluster":"c"}}]}]},"http_filters":[{"name":"router","typed_config":{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}}"#;
    let findings = |clients: &str| {
        let run = xdsctl(&["validate", "--format=json", clients, "-"], text);
        let report = run.json();
        report["resources"][0]["findings"].as_array().unwrap().len()
    };
    assert!(findings("--client=cpp@1.85") > 1);
    assert_eq!(
        findings("--client=cpp@1.85,cpp@1.84,cpp@1.83"),
        findings("--client=cpp@1.85")
    );
    assert_eq!(findings("--client=all,go@1.79.1"), findings("--client=all"));
}

/// Makes a dump of a client with a Cluster that C-core accepts, and grpc-go before 1.74 does not.
fn dump_of(agent: &str, version: &str) -> String {
    format!(
        r#"{{"config": [{{"node": {{"id": "n", "userAgentName": "{agent}", "userAgentVersion": "{version}"}},
            "genericXdsConfigs": [{{"typeUrl": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c",
            "xdsConfig": {{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
            "edsClusterConfig": {{"edsConfig": {{"ads": {{}}}}}}, "lbPolicy": "LEAST_REQUEST"}}}}]}}]}}"#
    )
}

fn last_line(run: &Run) -> &str {
    run.out.lines().last().unwrap_or_default()
}

#[test]
fn without_a_name_the_sender_of_a_dump_is_asked() {
    let sent = |name: &str, agent: &str, version: &str, more: &[&str]| {
        let path = file(name, &dump_of(agent, version));
        let run = xdsctl(&[&["validate", path.to_str().unwrap()], more].concat(), "");
        (last_line(&run).replace(path.to_str().unwrap(), "DUMP"), run.code)
    };
    let go = |more: &[&str]| sent("go.json", "gRPC Go", "1.70.0", more);
    assert_eq!(go(&[]), ("asked: go@1.70.0 (from DUMP)".to_owned(), Some(1)));
    assert_eq!(go(&["--client=go@1.74.2"]), ("asked: go@1.74.2".to_owned(), Some(0)));
    let beyond = "asked: java@1.34.1 (from DUMP, whose java@1.2.0 is older than every version that was measured)";
    assert_eq!(sent("java.json", "gRPC Java", "1.2.0", &[]).0, beyond);
    let odd = format!(
        "asked: go@{} (from DUMP, whose `gRPC Go` `devel` is of no known version)",
        Family::Go.newest()
    );
    assert_eq!(sent("odd.json", "gRPC Go", "devel", &[]).0, odd);
    for (name, agent, version) in [
        ("envoy.json", "envoy", ""),
        ("core.json", "gRPC C-core linux", "C-core 58.0.0 Python 1.85.1"),
    ] {
        assert_eq!(
            sent(name, agent, version, &[]).0,
            "asked: gRPC C-core 1.85.1",
            "{agent}"
        );
    }
}

#[test]
fn a_log_is_its_writers() {
    let response = r#"ADS response received: {
  "typeUrl": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  "resources": [{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
    "edsClusterConfig": {"edsConfig": {"ads": {}}}}]
}"#;
    let path = file(
        "go.log",
        &format!("2026/11/24 01:16:34 INFO: [xds] [xds-client 0xc0001] {response}\n"),
    );
    let run = xdsctl(&["validate", path.to_str().unwrap()], "");
    let from = format!("{}, a log of grpc-go at an unknown version", path.display());
    assert_eq!(
        last_line(&run),
        format!("asked: go@{} (from {from})", Family::Go.newest())
    );
}

#[test]
fn a_channel_is_that_of_the_sender() {
    let newest = Family::Go.picked().last().unwrap().to_string();
    let says = |version: &str, more: &[&str]| {
        let path = file(&format!("channel-{version}.json"), &dump_of("gRPC Go", version));
        let arguments = ["pick", "--cluster=c", "--method=/s/m", path.to_str().unwrap()];
        let run = xdsctl(&[&arguments, more].concat(), "");
        let note = run
            .err
            .lines()
            .find(|line| line.starts_with("note: as ") && line.contains("the sender of"));
        note.unwrap_or("no note").replace(path.to_str().unwrap(), "DUMP")
    };
    assert_eq!(says(&newest, &[]), format!("note: as go@{newest}, the sender of DUMP"));
    assert_eq!(says(&newest, &["--client=cpp"]), "no note");
    let beyond = says("1.999.0", &[]);
    let nearest = "whose go@1.999.0 is newer than every version that was measured";
    assert!(beyond.contains(nearest), "{beyond}");
}
