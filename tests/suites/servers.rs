//! Tests of suites for servers: what differs from the expectation, and what such a suite cannot
//! express.

use serde_json::Value;

use crate::cli_tree::run;
use crate::run::Run;

const SERVER: &str = "world: fixtures/suites/world/orders.yaml\nbootstrap: fixtures/suites/world/orders-bootstrap.json\n\
    server: {listen: 0.0.0.0:8443}\n";

const LISTENER: &str = r#"[type.googleapis.com/envoy.config.listener.v3.Listener, "grpc/server?address=0.0.0.0:8443"]"#;

/// Makes the Listener of a server that lets in carts, with mTLS.
fn strict() -> String {
    let text = std::fs::read_to_string(crate::support::root().join("fixtures/examples/server/rbac.yaml")).unwrap();
    let (_, listener) = text.split_once("resources:\n").unwrap();
    listener.lines().map(|line| format!("  {line}\n")).collect()
}

fn answer(arguments: &str, text: &str) -> Value {
    let Run { out, err, .. } = run(&format!("test {arguments} --format json -"), text);
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"))
}

/// Checks what happened instead, expectation by expectation.
#[track_caller]
fn check(arguments: &str, steps: &str, wanted: &[&str]) {
    let answer = answer(arguments, &format!("{SERVER}steps:\n{steps}"));
    let test = &answer["suites"][0]["tests"][0];
    assert_eq!(test["error"], Value::Null, "{answer}");
    let failures = test["failures"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let happened: Vec<&str> = failures.iter().map(|one| one["happened"].as_str().unwrap()).collect();
    assert_eq!(happened, wanted, "{answer}");
}

/// Checks the fault of a suite.
#[track_caller]
fn fault(text: &str, wanted: &str) {
    let answer = answer("", text);
    let faults = answer["suites"][0]["faults"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"));
    let said: Vec<&str> = faults.iter().map(|one| one["message"].as_str().unwrap()).collect();
    assert_eq!(said, [wanted], "{answer}");
}

#[test]
fn a_failure_says_what_decided() {
    check(
        "",
        "- connect: {name: a, tls: true}\n  expect: {ends: connected}\n- connect: {name: b}\n  expect: {chain: 'filter_chains[0]'}\n\
         - call: {method: /shop.Carts/Get}\n  expect: {ends: served, route: 0, policy: carts, connections: {b: draining}}\n",
        &[
            "handshake failed: the client speaks TLS",
            "it was default_filter_chain: connected",
            "refused, UNAVAILABLE: UNAVAILABLE:no route matched",
            "there was none: refused, UNAVAILABLE: UNAVAILABLE:no route matched",
            "no policy decided: refused, UNAVAILABLE: UNAVAILABLE:no route matched",
            "`b` is open",
        ],
    );
    let steps = format!(
        "- update:\n{}- connect: {{name: web, san: 'uri:spiffe://shop/sa/web'}}\n- call: {{method: /shop.Orders/Place}}\n  \
         expect: {{ends: [served, denied by carts]}}\n",
        strict()
    );
    check(
        "",
        &steps,
        &["denied, of `who` none of `carts`, `probes` matches: PERMISSION_DENIED"],
    );
}

#[test]
fn a_server_without_a_listener_does_not_serve() {
    let steps =
        format!("- remove: [{LISTENER}]\n  expect: {{serves: true}}\n- connect: {{}}\n  expect: {{ends: closed}}\n");
    let why = "`grpc/server?address=0.0.0.0:8443` is not there, so a server at 0.0.0.0:8443 does not serve";
    check("", &steps, &[why, why]);
}

/// A Go server has no grace period, and a Java server uses the old certificate until the roots are
/// written again.
#[test]
fn servers_differ_over_time() {
    let drained = format!(
        "- connect: {{name: a}}\n- begin: {{name: long, method: /shop.Orders/Place}}\n- remove: [{LISTENER}]\n- sleep: 6000\n  \
         expect: {{connections: {{a: draining}}}}\n- finish: long\n  expect: {{ends: served}}\n"
    );
    check("--client go", &drained, &[]);
    check(
        "",
        &drained,
        &[
            "`a` is closed",
            "refused, UNAVAILABLE: Drain grace time expired. Closing connection immediately.",
        ],
    );
    let rotated = format!(
        "- update:\n{}- rotate: {{mesh: {{identity: two}}}}\n- connect: {{san: 'uri:spiffe://shop/sa/cart', issuer: ca}}\n  \
         expect: {{shows: two}}\n- rotate: {{mesh: {{roots: ca}}}}\n- connect: {{name: b, san: 'dns:b', issuer: ca}}\n  \
         expect: {{shows: two}}\n",
        strict()
    );
    let server = SERVER.replace("8443}", "8443, certificates: {mesh: {identity: one, roots: ca}}}");
    for (client, wanted) in [("cpp", &[][..]), ("java", &["it shows `one`: connected"][..])] {
        let answer = answer(&format!("--client {client}"), &format!("{server}steps:\n{rotated}"));
        let failures = answer["suites"][0]["tests"][0]["failures"].as_array().unwrap();
        let happened: Vec<&str> = failures.iter().map(|one| one["happened"].as_str().unwrap()).collect();
        assert_eq!(happened, wanted, "{client}: {answer}");
    }
}

#[test]
fn chains_routes_and_policies_are_covered() {
    let steps = format!(
        "- update:\n{}- connect: {{san: 'uri:spiffe://shop/sa/cart'}}\n- call: {{method: /shop.Orders/Place}}\n",
        strict()
    );
    let answer = answer("--coverage", &format!("{SERVER}steps:\n{steps}"));
    let coverage = &answer["coverage"];
    let missed = |kind: &str| {
        let list = coverage[kind]["missed"].as_array().unwrap();
        let list = list.iter().map(|name| name.as_str().unwrap().to_owned());
        (coverage[kind]["total"].as_u64().unwrap(), list.collect::<Vec<_>>())
    };
    let chain = "grpc/server?address=0.0.0.0:8443 default_filter_chain";
    assert_eq!(missed("filter_chains"), (1, Vec::new()), "{answer}");
    assert_eq!(
        missed("policies"),
        (2, vec![format!("{chain} `who` policy `probes`")]),
        "{answer}"
    );
    assert_eq!(
        missed("routes"),
        (2, vec![format!("{chain} `orders` routes[1]")]),
        "{answer}"
    );
}

#[test]
fn what_a_test_of_a_server_cannot_say_is_a_fault() {
    let steps = "steps:\n- connect: {}\n";
    fault(
        &format!("{SERVER}never: {{fails: true}}\n{steps}"),
        "`never` is about channels, and the test is of a `server`",
    );
    fault(
        &format!("{SERVER}steps:\n- call: {{method: /a/b}}\n"),
        "`call` is `{\"method\":\"/a/b\"}`, must be behind a `connect`: an RPC needs a connection",
    );
    fault(
        &format!("{SERVER}{steps}  expect: {{policy: carts}}\n"),
        "nothing can be expected here: the step waits for no RPC: `call` and `finish` do",
    );
    fault(
        &format!("{SERVER}{steps}  expect: {{ends: dropped}}\n"),
        "ends has no `dropped`, there are `connected`, `served`, `denied`, `refused`, `reset`, `handshake failed`, `closed`, \
         `program ended`, `not serving`, `denied by POLICY`",
    );
    fault(
        &format!("world: fixtures/suites/world/orders.yaml\nserver: {{}}\n{steps}"),
        "a server has `listen`, the address that it listens on, as in 0.0.0.0:8443",
    );
}

#[test]
fn a_test_of_a_server_has_no_timeline() {
    let Run { code, err, .. } = run("simulate fixtures/suites/server.yaml --run STRICT", "");
    assert_eq!(code, Some(2));
    assert!(err.contains("the test is of a server, which has no timeline"), "{err}");
}
