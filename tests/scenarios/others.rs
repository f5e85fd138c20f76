//! Compares RPCs in other clients and versions, which were asked the same questions.

use std::collections::BTreeMap;
use std::io::Read as _;

use serde_json::Value;

use super::picks::{compare, differences_in};
use super::world::{Row, load, rows};
use crate::support::root;

/// The number of seeds with which xdsctl tries to reach what a client reached by random draws.
const SEEDS: usize = 60;

fn differences(row: &Row) -> Vec<String> {
    if is_followed(row) {
        differences_in(row, SEEDS)
    } else {
        Vec::new()
    }
}

/// The rows that differ in Go, and why.
const DIFFERENT: [(&str, &str); 7] = [
    (
        "panic.0",
        "a parser that panics says no name: the client waits 15 s for the resource",
    ),
    ("TPF/hcm-abort", "as above"),
    (
        "byname.8",
        "a cluster manager without a child has nothing to report: RPCs wait there, and are INTERNAL here",
    ),
    (
        "LB-WRR-DUR/zero",
        "the backend was asked twice, as out-of-band reports began",
    ),
    ("LB-WRR-DUR/huge", "as above"),
    (
        "E13.0",
        "the address of an endpoint is a host name, which the client resolves as it connects",
    ),
    (
        "upper.0",
        "the build that was asked is older than 1.85.0, which makes names of header matchers lower case",
    ),
];

fn is_different(row: &Row) -> bool {
    DIFFERENT.iter().any(|(id, _)| *id == row.id)
}

/// Compares the rows that are not listed, and reports which of the listed rows agree now.
fn compare_all(rows: Vec<Row>) {
    let (listed, rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(is_different);
    compare(&rows, differences);
    let agreeing: Vec<&str> = listed
        .iter()
        .filter(|row| is_followed(row) && differences(row).is_empty())
        .map(|row| row.id.as_str())
        .collect();
    assert!(agreeing.is_empty(), "need not be listed: {agreeing:?}");
}

/// Says whether it is known what the client keeps of each resource of a row.
pub(super) fn is_followed(row: &Row) -> bool {
    let (client, _) = load(row);
    client.resources.rejected().iter().all(|rejected| !rejected.is_unknown)
}

/// Returns the answers of `fixtures/clients/NAME.jsonl.gz`.
pub(super) fn answers(name: &str) -> Vec<Value> {
    let file = std::fs::File::open(root().join(format!("fixtures/clients/{name}.jsonl.gz"))).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the recorded scenarios with the answers of another client.
fn scenarios(name: &str, wanted: impl Fn(&Row) -> bool) -> Vec<Row> {
    let mut all = Vec::new();
    for file in ["scenarios", "runtime"] {
        let mut questions: BTreeMap<String, Row> = rows(file).into_iter().map(|row| (row.id.clone(), row)).collect();
        for answer in answers(name).iter().filter(|answer| answer["file"] == file) {
            let Some(mut row) = questions.remove(answer["id"].as_str().unwrap()) else {
                continue;
            };
            row.client = answer["client"].as_str().map(str::to_owned);
            row.answer.picks = answer["picks"].as_array().unwrap().clone();
            all.extend(Some(row).filter(|row| wanted(row)));
        }
    }
    all
}

#[test]
fn picks_are_those_of_go() {
    compare_all(scenarios("go-picks", |row| row.family() != "weights"));
}

/// The number of probes for which it is known what the client keeps. In the others, C-core rejects
/// a resource.
const FOLLOWED: usize = 226;

/// Compares whole configurations that were made to see how Go differs.
#[test]
fn probes_are_answered_as_by_go() {
    let wanted = std::env::var("XDSCTL_ROWS").unwrap_or_default();
    let rows: Vec<Row> = answers("go-probes")
        .into_iter()
        .map(|row| serde_json::from_value::<Row>(row).unwrap())
        .filter(|row| wanted.split(',').any(|prefix| row.id.starts_with(prefix)))
        .collect();
    let followed = rows.iter().filter(|row| is_followed(row)).count();
    assert!(
        followed >= FOLLOWED || !wanted.is_empty(),
        "{followed} of {} probes are followed",
        rows.len()
    );
    compare_all(rows);
}

/// A resource that kills the process of Go has a finding that says so.
#[test]
fn what_kills_go_is_known() {
    let rows: Vec<Row> = answers("go-probes")
        .into_iter()
        .map(|row| serde_json::from_value::<Row>(row).unwrap())
        .filter(|row| row.answer.crash)
        .collect();
    assert!(rows.len() >= 5);
    for row in rows {
        let (client, _) = load(&row);
        let rejected = client.resources.rejected();
        assert!(
            rejected
                .iter()
                .any(|rejected| rejected.why.contains("the process dies of it")),
            "{}: {:?}",
            row.id,
            rejected.iter().map(|r| r.why).collect::<Vec<_>>()
        );
    }
}

#[test]
fn picks_are_those_of_older_cores() {
    compare(&scenarios("cpp-picks", |_| true), differences);
}
