//! Tests of `route`, `pick`, `retry` and `tree` for several clients: which agree, and where the
//! others differ.

use serde_json::Value;

use crate::cli::xdsctl;
use crate::run::Run;
use crate::support::root;

fn example(name: &str) -> String {
    root().join("fixtures/examples").join(name).display().to_string()
}

/// Makes a channel whose only endpoint is `10.0.0.1:80`, with this match of its first route.
fn world(first: &str) -> String {
    let listener = r#"{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "shop", "api_listener": {"api_listener": {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "rds": {"route_config_name": "rc", "config_source": {"ads": {}}},
        "http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}}"#;
    let cluster = |name: &str, port: u16| {
        format!(
            r#"{{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "{name}", "type": "EDS",
            "eds_cluster_config": {{"eds_config": {{"ads": {{}}}}}}}},
            {{"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "{name}", "endpoints": [
            {{"locality": {{"zone": "z"}}, "load_balancing_weight": 1, "lb_endpoints": [
            {{"endpoint": {{"address": {{"socket_address": {{"address": "10.0.0.1", "port_value": {port}}}}}}}}}]}}]}}"#
        )
    };
    let (a, b) = (cluster("a", 80), cluster("b", 81));
    format!(
        r#"{{"resources": [{listener},
        {{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "rc", "virtual_hosts": [{{"domains": ["*"], "routes": [
            {{"match": {first}, "route": {{"cluster": "a"}}}}, {{"match": {{"prefix": ""}}, "route": {{"cluster": "b"}}}}]}}]}}, {a}, {b}]}}"#
    )
}

/// A header name that C-core looks up in upper case, and Go and Java in lower case.
const UPPER: &str = r#"{"prefix": "", "headers": [{"name": "X-Tier", "exact_match": "gold"}]}"#;

fn ask(command: &str, args: &[&str], text: &str) -> Run {
    xdsctl(
        &[&[command, "-", "--method=/s/m", "--header=x-tier=gold"], args].concat(),
        text,
    )
}

#[test]
fn clients_that_agree_have_one_answer() {
    let text = world(r#"{"prefix": "/s/"}"#);
    for command in ["pick", "route"] {
        let run = ask(command, &["--client=go,java,cpp"], &text);
        assert_eq!(run.code, Some(0), "{}", run.err);
        let (first, answer) = run.out.split_once('\n').unwrap();
        assert_eq!(first, "the same in go@1.85.0, java@1.85.1, cpp@1.85.1:");
        assert_eq!(answer, ask(command, &["--client=go"], &text).out);
    }
}

#[test]
fn it_is_said_at_which_layer_the_others_part() {
    let text = world(UPPER);
    let route = ask("route", &["--client=cpp,go,java"], &text);
    assert_eq!(route.code, Some(0), "{}", route.err);
    let end = "\ngo@1.85.0, java@1.85.1 parts from cpp@1.85.1 at routes[0]\n  cpp@1.85.1: does not take it: ";
    assert!(route.out.contains(end), "{}", route.out);
    assert!(
        route.out.ends_with("  go@1.85.0, java@1.85.1: takes it\n"),
        "{}",
        route.out
    );
    let pick = ask("pick", &["--client=cpp,go,java"], &text);
    assert!(
        pick.out.starts_with("cpp@1.85.1:\nOK from 10.0.0.1:81 "),
        "{}",
        pick.out
    );
    assert!(
        pick.out.contains("\ngo@1.85.0, java@1.85.1:\nOK from 10.0.0.1:80 "),
        "{}",
        pick.out
    );
    assert!(
        pick.out
            .contains("\ngo@1.85.0, java@1.85.1 parts from cpp@1.85.1 at route\n"),
        "{}",
        pick.out
    );
}

#[test]
fn a_channel_without_a_configuration_parts_there() {
    let run = xdsctl(
        &[
            "pick",
            "--client=cpp,go",
            "--method=/shop.Checkout/Pay",
            &example("checkout.yaml"),
        ],
        "",
    );
    // The RPCs of one client fail.
    assert_eq!(run.code, Some(1), "{}", run.err);
    let parting = "go@1.85.0 parts from cpp@1.85.1 at configuration\n  cpp@1.85.1: the client takes it\n  go@1.85.0: ";
    assert!(run.out.contains(parting), "{}", run.out);
    // A note about one client only names it.
    assert!(
        run.err.contains("note: go@1.85.0: Listener `checkout` is left out"),
        "{}",
        run.err
    );
}

#[test]
fn programs_get_each_answer_and_the_partings() {
    let report = ask("pick", &["--client=cpp,go,java", "--format=json"], &world(UPPER)).json();
    assert_eq!(
        (&report["schema"], &report["command"]),
        (&"xdsctl.several/v1".into(), &"pick".into())
    );
    assert_eq!(
        report["agreeing"],
        serde_json::json!([["cpp@1.85.1"], ["go@1.85.0", "java@1.85.1"]])
    );
    let backend = |number: usize| report["answers"][number]["answer"]["picks"][0]["backend"].clone();
    assert_eq!(
        [backend(0), backend(1), backend(2)],
        ["10.0.0.1:81", "10.0.0.1:80", "10.0.0.1:80"]
    );
    let parting = &report["partings"][0];
    assert_eq!(
        (&parting["layer"], &parting["clients"][1][0]),
        (&"route".into(), &"go@1.85.0".into())
    );
    assert_eq!(parting["what"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_client_that_is_not_followed_is_not_known() {
    let run = ask("pick", &["--client=cpp,cpp@1.56"], &world(r#"{"prefix": ""}"#));
    assert_eq!(run.code, Some(2), "{}", run.out);
    assert!(
        run.out
            .contains("\ncpp@1.56.2: not known: it is not known where RPCs of cpp@1.56.2 go"),
        "{}",
        run.out
    );
    let none = ask("pick", &["--client=cpp@1.56,cpp@1.57"], &world(r#"{"prefix": ""}"#));
    assert_eq!(none.code, Some(2));
    let wrong = ask("route", &["--client=cpp,gogo"], &world(r#"{"prefix": ""}"#));
    assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""));
    let many = ask(
        "pick",
        &["--client=cpp,go", "--count=10001"],
        &world(r#"{"prefix": ""}"#),
    );
    assert!(many.err.contains("--count is 10000 at most"), "{}", many.err);
}

#[test]
fn shares_and_scripts_are_compared_too() {
    let text = world(UPPER);
    let shares = ask("pick", &["--client=cpp,java", "--count=10"], &text);
    assert!(
        shares.out.contains("java@1.85.1 parts from cpp@1.85.1 at shares\n"),
        "{}",
        shares.out
    );
    let steps = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("several-steps.jsonl");
    let pick = r#"{"pick": {"method": "/s/m", "headers": {"x-tier": "VALUE"}}}"#;
    let script = ["silver", "gold"].map(|value| pick.replace("VALUE", value)).join("\n");
    std::fs::write(&steps, script).unwrap();
    let steps = format!("--requests={}", steps.display());
    let run = xdsctl(&["pick", "-", "--client=cpp,java", &steps], &text);
    assert!(run.out.contains("parts from cpp@1.85.1 at RPC 2\n"), "{}", run.out);
}

#[test]
fn policies_and_trees_are_compared_member_by_member() {
    let args = [
        "-",
        "--client=cpp,java",
        "--retry-on=unavailable,Cancelled",
        "--format=json",
    ];
    let report: Value = xdsctl(&[&["retry"], &args[..]].concat(), "").json();
    assert_eq!(report["command"], "retry");
    assert_eq!(report["answers"].as_array().map(Vec::len), Some(2));
    let tree = xdsctl(&["tree", "-", "--client=cpp,java"], world(r#"{"prefix": ""}"#));
    assert_eq!(tree.code, Some(0), "{}", tree.err);
    assert!(
        tree.out.starts_with("cpp@1.85.1:\n") && tree.out.contains("\njava@1.85.1:\n"),
        "{}",
        tree.out
    );
    let picture = xdsctl(&["tree", "-", "--client=cpp,java", "--format=dot"], "");
    assert!(picture.err.contains("a picture is of one client"), "{}", picture.err);
}
