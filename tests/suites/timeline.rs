//! Tests of what timelines and traces say about RPCs (route, cluster, weight), and of charts for
//! several clients and clusters.

use super::{WORLD, suite};
use crate::cli_tree::run;
use crate::run::Run;

#[test]
fn the_way_of_an_rpc_has_the_weight_of_its_cluster() {
    let Run { out, .. } = suite(
        "",
        "steps:\n- pick: {method: /shop.Pay/Charge}\n  expect: {status: INTERNAL}\n",
    );
    assert!(out.contains("takes it to cluster:pay, with 90 of 100\n"), "{out}");
}

#[test]
fn a_timeline_tells_route_and_cluster() {
    let text = format!("{WORLD}steps:\n- pick: {{method: /shop.Pay/Charge}}\n");
    let Run { out, .. } = run("simulate --only rpc,connection -", &text);
    assert!(
        out.contains("  end  rpc 1  code OK  ms 3  route 4  route_name pay  cluster pay  backend 10.5.0."),
        "{out}"
    );
    assert!(out.contains("  made  cluster pay  address 10.5.0.1:8080\n"), "{out}");
}

#[test]
fn a_chart_has_a_row_for_each_client_and_cluster() {
    let steps = "steps:\n- pick: {method: /shop.Pay/Charge, count: 4}\n";
    let rows = |text: &str| -> Vec<String> {
        let Run { out, err, .. } = run("simulate --only config --chart -", text);
        let connections = out
            .split("\nconnections, ")
            .nth(1)
            .unwrap_or_else(|| panic!("{out}{err}"));
        let rows = connections
            .lines()
            .skip(1)
            .filter(|line| line.contains("10.5.0.1:8080"));
        rows.map(|line| line.split("  ").nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(rows(&format!("{WORLD}{steps}")), ["10.5.0.1:8080"]);
    assert_eq!(
        rows(&format!("{WORLD}clients: {{ann: , bob: }}\n{steps}")),
        ["10.5.0.1:8080 ann", "10.5.0.1:8080 bob"]
    );
    // The same address in another cluster is another connection.
    let second = "steps:\n- update:\n  - '@type': type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\n    \
        cluster_name: cart\n    endpoints:\n    - locality: {region: eu}\n      load_balancing_weight: 1\n      lb_endpoints:\n      \
        - endpoint: {address: {socket_address: {address: 10.5.0.1, port_value: 8080}}}\n- pick: {method: /shop.Pay/Charge, count: 4}\n";
    let found = rows(&format!("{WORLD}{second}"));
    assert_eq!(found, ["10.5.0.1:8080 cart", "10.5.0.1:8080 pay"]);
}

#[test]
fn a_long_timeline_says_how_it_becomes_shorter() {
    let of = |args: &str, count: usize| {
        let text = format!("{WORLD}steps:\n- pick: {{method: /shop.Pay/Charge, count: {count}}}\n");
        let Run { code, out, err } = run(&format!("simulate {args} -"), &text);
        assert_eq!(code, Some(0), "{err}");
        (out.lines().count(), err)
    };
    let (lines, err) = of("--format human", 100);
    let said = format!("note: {lines} lines, --only step,rpc shows the steps and the RPCs, ");
    assert!(lines > 200 && err.starts_with(&said), "{err}");
    for (args, count) in [
        ("--format human", 1),
        ("--only rpc,connection", 100),
        ("--format jsonl", 100),
    ] {
        assert_eq!(of(args, count).1, "", "{args} {count}");
    }
}
