//! Tests of the formats of `test` for code scanning, merge requests and comments.

use serde_json::Value;

use super::suite;
use crate::run::Run;

const BAD: &str = "tests:\n\
    - {name: 'a <b>', steps: [{pick: {method: /shop.Pay/Charge}, expect: {status: INTERNAL}}]}\n\
    - {name: never, never: {fails: false}, steps: [{pick: {method: /shop.Pay/Charge}}]}\n\
    - {name: step, steps: [{drain: 10.9.9.9:80}]}\n\
    - {name: good, steps: [{pick: {method: /shop.Pay/Charge}, expect: {status: OK}}]}\n";

fn written(format: &str, text: &str) -> String {
    let Run { code, out, err } = suite(&format!("--format {format}"), text);
    assert_eq!(err, "");
    assert_eq!(code, Some(if text == BAD { 2 } else { 0 }), "{out}");
    out
}

#[test]
fn code_scanning_gets_a_result_for_each_failure() {
    let sarif: Value = serde_json::from_str(&written("sarif", BAD)).unwrap();
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    let told: Vec<(&str, u64, &str)> = results
        .iter()
        .map(|result| {
            let id = result["ruleId"].as_str().unwrap();
            assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], id);
            let region = &result["locations"][0]["physicalLocation"]["region"];
            (
                id,
                region["startLine"].as_u64().unwrap(),
                result["message"]["text"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!((told[0].0, told[0].1), ("expectation", 3));
    assert!(
        told[0]
            .2
            .starts_with("a <b>: expected `status: INTERNAL`: OK from 10.5.0.")
    );
    assert_eq!((told[1].0, told[1].1), ("never", 4));
    assert_eq!((told[2].0, told[2].1), ("step", 5));
    let none: Value = serde_json::from_str(&written("sarif", "steps: [{sleep: 1}]\n")).unwrap();
    assert_eq!(none["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn a_merge_request_knows_a_failure_again_when_its_line_moves() {
    let prints = |text: &str| {
        let issues: Value = serde_json::from_str(&written("gitlab", text)).unwrap();
        let issues = issues.as_array().unwrap().iter();
        let of = |issue: &Value| {
            assert_eq!(issue["location"]["path"], "-");
            assert_eq!(issue["severity"], "critical");
            (
                issue["location"]["lines"]["begin"].as_u64().unwrap(),
                issue["fingerprint"].as_str().unwrap().to_owned(),
            )
        };
        issues.map(of).collect::<Vec<_>>()
    };
    let bad = prints(BAD);
    assert_eq!(bad.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 4, 5]);
    let mut different: Vec<&String> = bad.iter().map(|(_, print)| print).collect();
    different.dedup();
    assert_eq!(different.len(), 3);
    let run = suite("--format gitlab", &format!("\n\n{BAD}"));
    let moved: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(moved[0]["location"]["lines"]["begin"], 5);
    assert_eq!(moved[0]["fingerprint"], bad[0].1.as_str());
    assert_eq!(written("gitlab", "steps: [{sleep: 1}]\n"), "[]\n");
}

#[test]
fn a_comment_has_the_failures_and_nothing_of_them_is_markup() {
    let comment = written("markdown", BAD);
    assert!(
        comment.starts_with(
            "### xdsctl: 4 tests: 1 passed, 2 failed, 1 could not be run\n\n\
             - `-:3` **a &lt;b&gt;**: expected `status: INTERNAL`: OK from 10.5.0."
        ),
        "{comment}"
    );
    assert_eq!(comment.lines().count(), 5, "{comment}");
    let good = written("markdown", "steps: [{sleep: 1}]\n");
    assert_eq!(good, "### xdsctl: 1 test: 1 passed, 0 failed\n");
}
