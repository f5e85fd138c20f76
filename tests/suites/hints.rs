//! Tests of the notes beside a suite's result: unknown names, expectations that are met whatever
//! happens, and every fault of a file.

use serde_json::Value;

use super::{answer, suite};
use crate::cli_tree::run;
use crate::run::Run;

/// Returns the notes of all tests in a suite: line and text.
fn notes(text: &str) -> Vec<(u64, String)> {
    let answer = answer(text);
    let tests = answer["suites"][0]["tests"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"));
    let of = |note: &Value| {
        (
            note["line"].as_u64().unwrap(),
            note["message"].as_str().unwrap().to_owned(),
        )
    };
    let notes = tests.iter().flat_map(|test| test["notes"].as_array().unwrap());
    notes.map(of).collect()
}

fn told(notes: &[(u64, String)]) -> Vec<(u64, &str)> {
    notes.iter().map(|(line, words)| (*line, words.as_str())).collect()
}

#[test]
fn names_that_nobody_has_are_told() {
    let text = "steps:\n\
        - pick: {method: /shop.Pay/Charge, count: 100}\n\
        \x20 expect:\n\
        \x20   cluster: [pay, pay-canary, pay-cannary]\n\
        \x20   virtual_host: [shop, shopp]\n\
        \x20   route: [pay, payy]\n\
        \x20   locality: [eu/a, eu/b, eu/zzzzzzzz, '']\n\
        \x20   address: [10.5.0.1:8080, 10.5.0.2:8080, 10.5.1.1:8080, 10.5.0.11:8080]\n\
        \x20   shares: {pay-canary: 10%, pay-canari: 0%, UNAVAILABLE: 0%}\n";
    let mut found = notes(text);
    found.sort();
    let words: Vec<(u64, &str)> = told(&found);
    let expected = [
        (5, "there is no cluster `pay-cannary`, did you mean `pay-canary`?"),
        (6, "there is no virtual host `shopp`, did you mean `shop`?"),
        (7, "there is no route `payy`, did you mean `pay`?"),
        (
            9,
            "no endpoint has the address 10.5.0.11:8080, did you mean 10.5.0.1:8080?",
        ),
        (
            10,
            "there is no address, cluster, locality or status `pay-canari`, did you mean `pay-canary`?",
        ),
    ];
    for one in expected {
        assert!(words.contains(&one), "{one:?} is not in {words:#?}");
    }
    assert!(
        words
            .iter()
            .any(|(line, words)| *line == 8 && words.starts_with("there is no locality `eu/zzzzzzzz`"))
    );
    // A `never` with such a name is always met.
    let never = notes("never: {address: 10.5.0.9:8080}\nsteps:\n- pick: {method: /shop.Pay/Charge}\n");
    assert!(
        matches!(told(&never)[..], [(2, words)] if words.starts_with("no endpoint has the address 10.5.0.9:8080")),
        "{never:?}"
    );
}

#[test]
fn names_that_come_with_an_update_are_known() {
    let text = "steps:\n\
        - pick: {method: /shop.Pay/Charge}\n\
        - update:\n\
        \x20 - '@type': type.googleapis.com/envoy.config.route.v3.RouteConfiguration\n\
        \x20   name: shop-routes\n\
        \x20   virtual_hosts:\n\
        \x20   - {name: later, domains: [shop], routes: [{match: {prefix: /}, route: {cluster: pay}}]}\n\
        - pick: {method: /shop.Pay/Charge}\n\
        \x20 expect: {virtual_host: [later, shop], route: 0, cluster: pay}\n";
    assert_eq!(notes(text), []);
}

#[test]
fn backends_that_nobody_has_are_told_once() {
    let tests = "tests:\n- {name: a, steps: [{pick: {method: /shop.Pay/Charge}}]}\n- {name: b, steps: [{pick: {method: /shop.Pay/Charge}}]}\n";
    let found = notes(&format!(
        "backends:\n  10.5.0.1:8080: {{latency: 1}}\n  10.5.0.22:8080: {{latency: 1}}\n{tests}"
    ));
    assert_eq!(
        told(&found),
        [(
            4,
            "no endpoint has the address 10.5.0.22:8080, did you mean 10.5.0.2:8080?"
        )]
    );
}

#[test]
fn what_holds_whatever_happens_is_told() {
    let without =
        "never: {moves: true}\nsteps:\n- pick: {method: /shop.Cart/Add, count: 3}\n  expect: {moves: false}\n";
    assert_eq!(
        told(&notes(without)),
        [
            (
                5,
                "`moves` compares the RPCs of a `jar`, and those of the step have none: it is never true"
            ),
            (
                2,
                "`moves` compares the RPCs of a `jar`, and no RPC has one: it is never true"
            ),
        ]
    );
    let with =
        "never: {moves: true}\nsteps:\n- pick: {method: /shop.Cart/Add, count: 3, jar: j}\n  expect: {moves: false}\n";
    assert_eq!(notes(with), []);
    // There is no note about a `never` for all tests, one of which has a cookie jar.
    let shared = "never: {moves: true}\ntests:\n\
        - {name: a, steps: [{pick: {method: /shop.Cart/Add}}]}\n\
        - {name: b, steps: [{pick: {method: /shop.Cart/Add, jar: j}}]}\n";
    assert_eq!(notes(shared), []);
    let few = |count: u32| {
        notes(&format!(
            "steps:\n- pick: {{method: /shop.Pay/Charge, count: {count}}}\n  expect: {{shares: {{pay: 50%, pay-canary: 50%}}, tolerance: 60%}}\n"
        ))
    };
    assert!(
        told(&few(100))[0].1.ends_with("the `tolerance` is too large"),
        "{:?}",
        few(100)
    );
    let few = "steps:\n- pick: {method: /shop.Pay/Charge, count: 3}\n  expect: {shares: {pay: 90%, pay-canary: 10%}}\n";
    let found = notes(few);
    // 4 of 4 at 10 % give 4 * ln(10) = 9.2, more than ln(2000) = 7.6; 3 of 3 give 6.9.
    assert_eq!(
        told(&found),
        [(
            4,
            "`shares` of 3 RPCs cannot fail, whatever they do: from 4 RPCs on they can"
        )]
    );
    assert_eq!(notes(&few.replace("count: 3", "count: 4")), []);
}

#[test]
fn every_fault_of_a_file_is_told() {
    let text = "sed: 3\nbackends: {nowhere: {}}\nsteps:\n\
        - pick: {method: /shop.Pay/Charge, cuont: 3}\n\
        \x20 expect: {status: OKAY, code: OK, within: soon}\n\
        - slep: 1\n\
        - sleep: 1\n\
        \x20 expect: {status: OK}\n\
        - sleep: long\n";
    let answer = answer(text);
    let faults = answer["suites"][0]["faults"].as_array().unwrap();
    let told: Vec<(u64, String)> = faults
        .iter()
        .map(|fault| {
            (
                fault["line"].as_u64().unwrap(),
                fault["message"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let begins = [
        (2, "a suite has no `sed`, did you mean `seed`?"),
        (3, "`backend` is `\"nowhere\"`"),
        (5, "pick has no `cuont`, did you mean `count`?"),
        (6, "`status` is "),
        (6, "expect has no `code`, did you mean `status`?"),
        (6, "`within` is "),
        (7, "a step has no `slep`, did you mean `sleep`?"),
        (9, "nothing can be expected here: the step waits for no RPC"),
        (10, "`sleep` is "),
    ];
    assert_eq!(told.len(), begins.len(), "{told:#?}");
    for ((line, message), (at, begin)) in told.iter().zip(begins) {
        assert!(
            *line == at && message.starts_with(begin),
            "{line} {message}, not {at} {begin}"
        );
    }
    // Of very many faults, only the first are listed.
    let many: String = (0..150).map(|_| "- sleep: long\n").collect();
    let Run { out, code, .. } = suite("", &format!("steps:\n{many}"));
    assert_eq!(code, Some(2));
    assert_eq!(out.matches("`sleep` is").count(), 100, "{out}");
    assert!(out.contains("50 more faults are not shown, the limit is 100"), "{out}");
}

#[test]
fn a_note_on_the_world_is_told_once_a_file() {
    let text = "world: fixtures/examples/checkout.yaml\ntests:\n\
        - {name: a, steps: [{pick: {method: /shop.Checkout/Pay}}]}\n\
        - {name: b, steps: [{pick: {method: /shop.Checkout/Pay}}]}\n";
    let Run { out, .. } = run("test -", text);
    assert_eq!(out.matches("Cluster `spare` is left out").count(), 1, "{out}");
}
