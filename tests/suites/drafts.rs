//! Tests of drafts of suites: from a client's log (`--record`), and from a dump (`--init`).

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::cli_tree::{run, run_args};
use crate::run::{Run, directory};
use crate::support::root;

/// The number of lines of the log that contain a few RPCs of each kind.
const SOME: usize = 3200;

/// Returns the lines that `wanted` selects from the first `most` lines of a client's log, which
/// `tests/oracle/capture.py` recorded.
fn log(most: usize, wanted: impl Fn(&str) -> bool) -> String {
    let packed = fs::File::open(root().join("fixtures/captures/shop.log.gz")).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let lines = text.lines().take(most).filter(|line| wanted(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Returns the suite of a log, its file, and standard error.
fn recorded(test: &str, log: &str) -> (String, PathBuf, String) {
    let directory = directory("drafts", test);
    let file = directory.join("client.log");
    fs::write(&file, log).unwrap();
    let Run { code, out, err } = run_args(&["test", "--record", file.to_str().unwrap()], "");
    assert_eq!(code, Some(0), "{err}");
    let suite = directory.join("suite.yaml");
    fs::write(&suite, &out).unwrap();
    (out, suite, err)
}

/// Returns for each step with RPCs their number, and the addresses that are expected if all of them
/// have one.
fn steps(suite: &str) -> Vec<(usize, Option<BTreeSet<String>>)> {
    let mut steps: Vec<(usize, Option<BTreeSet<String>>)> = Vec::new();
    for line in suite.lines() {
        if line.starts_with("- pick:") || line.starts_with("- begin:") {
            let count = line
                .split_once("count: ")
                .map_or(1, |(_, rest)| rest.split(['}', ',']).next().unwrap().parse().unwrap());
            steps.push((count, None));
        } else if let Some(rest) = line.strip_prefix("  expect: {address: ") {
            let list = rest.strip_prefix('[').map_or_else(
                || rest.split(['}', ',']).next().unwrap(),
                |rest| rest.split(']').next().unwrap(),
            );
            steps.last_mut().unwrap().1 = Some(list.split(", ").map(str::to_owned).collect());
        }
    }
    steps
}

#[test]
fn a_log_becomes_a_suite_that_passes_and_expects_what_the_client_had() {
    let (suite, file, said) = recorded("shop", &log(usize::MAX, |_| true));
    let Run { code, out, .. } = run_args(&["test", file.to_str().unwrap()], "");
    assert_eq!(code, Some(0), "{out}{said}");
    assert!(out.contains(" (39 RPCs in "), "{out}");
    let answers = fs::read_to_string(root().join("fixtures/captures/shop.answers.jsonl")).unwrap();
    let answers = answers.lines().flat_map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        row["answers"].as_array().unwrap().clone()
    });
    let mut answers = answers.map(|answer| answer.as_str().unwrap().to_owned());
    let mut compared = 0;
    for (count, expected) in steps(&suite) {
        let had: BTreeSet<String> = answers.by_ref().take(count).collect();
        if let Some(expected) = expected {
            assert_eq!(expected, had, "{suite}");
            compared += count;
        }
    }
    assert_eq!(answers.next(), None);
    assert!(compared >= 20, "{compared}");
    for words in [
        "target: xds:///shop\nbackends:\n  10.6.0.2:8080: {reach: refuse}\n",
        "    lb_policy: MAGLEV\n  expect: {nack: cds-lb-policy-unsupported}\n",
        "        health_status: DRAINING\n",
        "headers: {x-fail: UNAVAILABLE:1}}\n  expect: {address: 10.6.0.1:8080, attempts: 2}\n",
        "- pick: {method: /shop.Nobody/Serves}\n  expect: {status: UNAVAILABLE, attempts: 0}\n",
        "  expect: {status: DEADLINE_EXCEEDED}\n",
        ", method: /shop.Checkout/Pay, count: 8}\n- finish: rpcs-1\n",
        "- stop: [10.3.0.1:8080, 10.3.0.2:8080]\n",
        "- start: ",
        "- remove: [[type.googleapis.com/envoy.config.cluster.v3.Cluster, stock]]\n",
        "# also sent: `tier`, whose value the log does not show; then the log has `address: 10.1.1.1:8080`\n",
    ] {
        assert!(suite.contains(words), "{words}\nis not in\n{suite}");
    }
    let words =
        "note: the client does not log the values of the headers `cookie`, `tier`, `user`, `x-fail`, `x-hold`: ";
    assert!(said.contains(words), "{said}");
}

#[test]
fn a_log_whose_resources_stand_one_by_one_is_checked_as_responses() {
    let file = directory("drafts", "validate").join("client.log");
    fs::write(&file, log(usize::MAX, |_| true)).unwrap();
    let Run { code, out, err } = run_args(
        &["validate", "--no-config", "--format", "json", file.to_str().unwrap()],
        "",
    );
    assert_eq!(code, Some(1), "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let verdicts = &report["summary"]["resources"];
    // These are a Listener, routes in two versions, nine clusters of which one is rejected once,
    // and eight EDS resources, one of them in two versions.
    assert_eq!(
        (&verdicts["rejected"], &verdicts["accepted"]),
        (&1.into(), &17.into()),
        "{verdicts}"
    );
    let rules = &report["summary"]["rules"];
    assert_eq!(rules["cds-lb-policy-unsupported"], 1, "{rules}");
    assert_eq!(rules["live-resource-removed"], 9, "{rules}");
}

#[test]
fn what_a_log_does_not_show_is_said() {
    let (suite, _, said) = recorded("retry", &log(SOME, |line| !line.contains("retry_filter")));
    assert!(
        said.contains(" of the RPCs ended is not in the log: it needs the trace retry\n"),
        "{said}"
    );
    assert!(suite.contains("- pick: {method: /shop.Cart/Add}\n"), "{suite}");
    let (suite, _, said) = recorded("channel", &log(SOME, |line| !line.contains("client_channel_filter")));
    assert!(said.contains("note: the log shows no RPC that ended"), "{said}");
    assert!(
        suite.contains("\nsteps:\n- update:\n") && suite.contains("\nworld:\n- "),
        "{suite}"
    );
    let (_, _, said) = recorded("subchannel", &log(SOME, |line| !line.contains("subchannel.cc")));
    assert!(said.contains("note: where RPCs went is not in the log"), "{said}");
    let Run { code, err, .. } = run("test --record README.md", "");
    assert_eq!(code, Some(2));
    assert!(
        err.contains("no response of a control plane is in this log: it needs GRPC_VERBOSITY=debug"),
        "{err}"
    );
}

#[test]
fn logs_of_other_clients_give_their_world() {
    for (log, words) in [
        ("grpc-go", "  name: greeter.example\n"),
        (
            "grpc-cpp",
            "- \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\n",
        ),
        (
            "grpc-java",
            "- \"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\n",
        ),
    ] {
        let Run { code, out, err } = run(&format!("test --record fixtures/dumps/{log}.log"), "");
        assert!(out.contains(words), "{log} {code:?} {out}{err}");
        assert!(err.contains("the log shows no RPC that ended"), "{err}");
    }
}

#[test]
fn a_dump_becomes_a_suite_with_its_routes() {
    let Run { code, out, err } = run("test --init fixtures/suites/world/shop.yaml", "");
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let expected = "# yaml-language-server: $schema=scenario.json
# (`xdsctl test --schema > scenario.json` tells an editor what a suite may say)
# a step for each route: make the RPCs yours, and what is expected of them
world: fixtures/suites/world/shop.yaml
target: xds:///shop
steps:
- pick: {method: /shop.Search/Method, headers: {tier: beta}}
  expect: {route: beta, cluster: search-next}
- pick: {method: /shop.Search/Method}
  expect: {route: search, cluster: search}
- pick: {method: /shop.Cart/Method}
  expect: {route: cart, cluster: cart}
- pick: {method: /shop.Checkout/Method}
  expect: {route: checkout, cluster: checkout-eu}
- pick: {method: /shop.Pay/Method}
  expect: {route: pay}
- pick: {method: /shop.Stock/Method}
  expect: {route: stock, cluster: stock}
";
    assert_eq!(out, expected);
    assert_eq!(run("test -q -", &out).code, Some(0));
    let nothing = run(
        "test --init fixtures/tree/hosts.yaml fixtures/examples/checkout.yaml",
        "",
    );
    assert_eq!(nothing.code, Some(0), "{}", nothing.err);
    let clients = "clients:\n  xds:///";
    assert!(nothing.out.contains(clients), "{}", nothing.out);
    assert_eq!(run("test -q -", &nothing.out).code, Some(0), "{}", nothing.out);
    let none = run("test --init fixtures/suites/drain.yaml", "");
    assert_eq!(none.code, Some(2));
}

#[test]
fn of_many_channels_some_get_steps() {
    let listener = |number: usize| {
        format!(
            r#"{{"@type":"type.googleapis.com/envoy.config.listener.v3.Listener","name":"l{number}","api_listener":{{"api_listener":{{"@type":"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","rds":{{"route_config_name":"r","config_source":{{"ads":{{}}}}}},"http_filters":[{{"name":"router","typed_config":{{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}}}]}}}}}}"#
        )
    };
    let resources: Vec<String> = (0..23).map(listener).collect();
    let file = directory("drafts", "channels").join("many.json");
    fs::write(&file, format!(r#"{{"resources":[{}]}}"#, resources.join(","))).unwrap();
    let Run { code, out, err } = run(&format!("test --init {}", file.display()), "");
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("3 more channels have no step: 20 of a dump do"), "{err}");
    assert_eq!(out.matches("- pick:").count(), 20, "{out}");
}

#[test]
fn the_schema_is_the_one_that_is_published() {
    let schema = fs::read_to_string(root().join("crates/suite/scenario.json")).unwrap();
    assert_eq!(run("test --schema", "").out, schema);
    assert_eq!(run("test", "").code, Some(2));
    assert_eq!(run("test --schema a.yaml", "").code, Some(2));
}

#[test]
fn a_route_that_a_credential_is_sent_to_gets_no_step() {
    let file = directory("drafts", "credentials").join("world.yaml");
    let listener = r#"{"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: l, api_listener: {api_listener: {"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, route_config: {name: r, virtual_hosts: [{name: v, domains: ["*"], routes: ROUTES}]}, http_filters: [{name: r, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]}}}"#;
    let routes = r#"[{match: {prefix: /a/, headers: [{name: x-auth-token, string_match: {exact: hunter2}}]}, route: {cluster: c}}, {match: {prefix: /b/, headers: [{name: x-env, string_match: {exact: "Bearer hunter2hunter2"}}]}, route: {cluster: c}}, {match: {prefix: /c/}, route: {cluster: c}}]"#;
    fs::write(&file, listener.replace("ROUTES", routes)).unwrap();
    let Run { code, out, err } = run(&format!("test --init {}", file.display()), "");
    let told = "no step for 2 routes that a credential is sent to; --show-secrets writes such steps\n";
    assert!(
        code == Some(0) && out.contains(&format!("# {told}")) && err.contains(told),
        "{out}{err}"
    );
    assert!(
        !out.contains("hunter2") && !out.contains("**") && out.contains("/c/"),
        "{out}"
    );
    let all = run(&format!("test --init --show-secrets {}", file.display()), "");
    assert_eq!(all.out.matches("hunter2").count(), 3, "{}", all.out);
}

#[test]
fn steps_that_expect_a_failure_are_named() {
    let file = directory("drafts", "failing").join("a.yaml");
    let world = fs::read_to_string(root().join("fixtures/examples/checkout.yaml")).unwrap();
    fs::write(&file, world.replace("cluster: checkout", "cluster: chekout")).unwrap();
    let run = run_args(&["test", "--init", file.to_str().unwrap()], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(
        run.err,
        "note: 2 of 2 steps expect a failure, because the files lead to one: step 1 UNAVAILABLE, step 2 UNAVAILABLE; `xdsctl validate` may \
         say why\n"
    );
    let run = run_args(&["test", "--init", "fixtures/examples/checkout.yaml"], "");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
}
