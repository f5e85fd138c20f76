//! Tests of suites for a fleet: each client alone, and all RPCs by their shares.

use serde_json::Value;

use crate::cli_tree::run;

/// Returns the name, the result and the first failure of each test.
fn played(text: &str) -> Vec<(String, String, Value)> {
    let text = text.replace("WORLD", "fixtures/suites/world/parting.yaml");
    let ran = run("test --format json -", &text);
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err));
    let tests = report["suites"][0]["tests"].as_array().cloned().unwrap_or_default();
    let of = |test: &Value| {
        let text = |member: &str| test[member].as_str().unwrap_or_default().to_owned();
        (text("name"), text("result"), test["failures"][0]["happened"].clone())
    };
    tests.iter().map(of).collect()
}

fn names_and_results(played: &[(String, String, Value)]) -> Vec<String> {
    played
        .iter()
        .map(|(name, result, _)| format!("{name}: {result}"))
        .collect()
}

const PICK: &str = "- pick: {method: /shop.Cart/Get, headers: {x-tier: gold}, count: 100}\n";

#[test]
fn each_client_of_a_fleet_is_asked_alone() {
    let text = format!("world: WORLD\nfleet: {{cpp: 60%, java: 40%}}\nsteps:\n{PICK}  expect: {{cluster: stock}}\n");
    let played = played(&text);
    assert_eq!(
        names_and_results(&played),
        ["cpp@1.85.1: passed", "java@1.85.1: failed"]
    );
    assert!(played[1].2.as_str().unwrap().contains("10.0.0.1:8080"), "{played:?}");
}

#[test]
fn shares_are_of_all_rpcs() {
    let text = |share: &str| {
        format!(
            "world: WORLD\nfleet: {{cpp: 70%, java: 0.3}}\ntests:\n- name: tiers\n  steps:\n  {PICK}    of_all: {{shares: {{cart: {share}}}, status: OK}}\n"
        )
    };
    let right = played(&text("30%"));
    assert_eq!(
        names_and_results(&right),
        [
            "tiers (cpp@1.85.1): passed",
            "tiers (java@1.85.1): passed",
            "tiers (all by their shares): passed"
        ]
    );
    let wrong = played(&text("60%"));
    assert_eq!(wrong[2].1, "failed", "{wrong:?}");
}

#[test]
fn a_test_says_where_the_clients_of_a_fleet_start() {
    let text = |target: &str| {
        format!(
            "world: WORLD\nfleet: {{cpp: 50%, java: 50%}}\ntests:\n- name: tiers\n  target: xds:///{target}\n  steps:\n  {PICK}    expect: {{status: OK}}\n"
        )
    };
    let (right, wrong) = (played(&text("shop.example.com")), played(&text("nothing.example.com")));
    let results =
        |played: &[(String, String, Value)]| played.iter().map(|(_, result, _)| result.clone()).collect::<Vec<_>>();
    assert_eq!(results(&right), ["passed", "passed"], "{right:?}");
    assert!(!results(&wrong).contains(&"passed".to_owned()), "{wrong:?}");
}

#[test]
fn a_step_may_be_for_one_client_of_a_fleet() {
    let text = format!(
        "world: WORLD\nfleet: {{cpp: 50%, java: 50%}}\nsteps:\n{PICK}  client: java@1.85.1\n  expect: {{cluster: cart}}\n{PICK}  client: cpp@1.85.1\n  expect: {{cluster: stock}}\n"
    );
    assert_eq!(
        names_and_results(&played(&text)),
        ["cpp@1.85.1: passed", "java@1.85.1: passed"]
    );
}

#[test]
fn what_is_wrong_with_a_fleet_is_told_at_its_place() {
    let cases = [
        (
            "fleet: {cpp: 50%, java: 40%}",
            "",
            "the shares of a fleet are 90.0000% together, and must be 100%",
        ),
        ("fleet: {cpp: 50%, cpp@1.85: 50%}", "", "`fleet` has cpp@1.85.1 twice"),
        (
            "fleet: {cpp: 100%, java: 0}",
            "",
            "java@1.85.1 has no share of the RPCs",
        ),
        ("fleet: {kpp: 100%}", "", "`fleet`: "),
        ("fleet: []", "", "an object of shares by client"),
        ("fleet: {cpp: 100%}\nclients: {a: null}", "", "`clients`"),
        (
            "kind: cpp",
            "  of_all: {status: OK}\n",
            "`of_all` is expected of all RPCs of a `fleet`, and the test has none",
        ),
    ];
    for (members, more, why) in cases {
        let world = "world: fixtures/suites/world/parting.yaml";
        let run = run("test -", &format!("{world}\n{members}\nsteps:\n{PICK}{more}"));
        assert_eq!(run.code, Some(2), "{members}: {}", run.out);
        assert!(run.out.contains(why), "{members}: {}", run.out);
    }
}
