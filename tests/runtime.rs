//! Compares `fails` findings with the real client, for configurations that it accepts and on which
//! it then fails.
//!
//! `runtime.jsonl` has whole configurations with picks, recorded from gRPC C-core 1.85.1. The
//! client's own words say whether a configuration failed by itself. A row whose outcome depends on
//! the request, on a backend, on DNS or on time decides nothing. The CRASH rows of the single
//! resources, and their neighbours, are checked in the same way.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use serde::Deserialize;
use serde_json::Value;

use crate::run::run;
use crate::support::{recorded, root};

/// Returns the ids of the `fails` findings on a document.
fn failures(document: &str) -> BTreeSet<String> {
    let bootstrap = root().join("fixtures/conformance/bootstrap.json");
    let args = [
        "validate",
        "--format=json",
        "--bootstrap",
        bootstrap.to_str().unwrap(),
        "-",
    ];
    let (out, err) = run(args, document.as_bytes());
    let report: Value = serde_json::from_slice(&out).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&err)));
    let of_resources = report["resources"].as_array().unwrap().iter();
    of_resources
        .flat_map(|r| r["findings"].as_array().unwrap())
        .filter(|f| f["effect"] == "fails")
        .map(|f| f["rule"].as_str().unwrap().to_owned())
        .collect()
}

#[derive(Deserialize)]
struct Row {
    id: String,
    resources: Vec<Value>,
    steps: Vec<Value>,
    answer: Answer,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    picks: Vec<Vec<Pick>>,
    #[serde(default)]
    crash: bool,
}

#[derive(Deserialize)]
struct Pick {
    /// Absent in a histogram, whose picks succeeded.
    code: Option<String>,
    #[serde(default)]
    details: String,
    #[serde(default)]
    attempts: Vec<String>,
}

/// What a pick says about the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The configuration works, as far as this pick shows.
    Works,
    /// Something other than the configuration decided.
    Undecided,
    /// The configuration failed by itself.
    Fails,
}

/// The client's words, in the order in which they are searched.
const WORDS: [(&str, Verdict); 9] = [
    // The row's request made the backend, or the fault filter, answer so.
    ("scripted", Verdict::Works),
    ("Fault injected", Verdict::Works),
    ("No matching route found", Verdict::Works),
    // Another authority may have a virtual host. Without any virtual host, no authority has one.
    ("could not find VirtualHost", Verdict::Undecided),
    // Nothing listens at the address in this recording.
    ("connections to all backends failing", Verdict::Undecided),
    ("DNS resolution failed", Verdict::Undecided),
    // The resource may still come.
    ("does not exist", Verdict::Undecided),
    ("has no leaf clusters", Verdict::Fails),
    ("Deadline Exceeded", Verdict::Undecided),
];

fn verdict_of(pick: &Pick, row: &Row) -> Verdict {
    let is_ok = pick.code.as_deref().is_none_or(|code| code == "OK");
    if is_ok {
        return Verdict::Works;
    }
    let is_scripted = row.steps.iter().any(|step| step.to_string().contains("x-fail"));
    if pick.details == "Deadline Exceeded" && is_scripted && !pick.attempts.is_empty() {
        // An attempt failed, and no retry followed.
        return Verdict::Fails;
    }
    if pick.details.contains("could not find VirtualHost") && has_no_virtual_host(&row.resources) {
        return Verdict::Fails;
    }
    WORDS
        .iter()
        .find(|(words, _)| pick.details.contains(words))
        .map_or(Verdict::Fails, |(_, verdict)| *verdict)
}

fn has_no_virtual_host(resources: &[Value]) -> bool {
    !resources.iter().any(|r| r.to_string().contains(r#""domains""#))
}

/// A rule about a fault that loses about every other retry. The other retries prove nothing.
const BY_CHANCE: &str = "rds-retry-back-off-1ms-fails";

#[test]
fn what_fails_by_itself_is_flagged_and_what_works_is_not() {
    let mut wrong = Vec::new();
    let (mut failing, mut working) = (0, 0);
    for line in recorded("runtime").lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let picks = row.answer.picks.iter().flatten();
        let verdict = match picks.map(|pick| verdict_of(pick, &row)).max() {
            _ if row.answer.crash => Verdict::Fails,
            Some(verdict) => verdict,
            None => Verdict::Undecided,
        };
        let document = serde_json::json!({ "resources": row.resources }).to_string();
        let mut found = failures(&document);
        let ok = match verdict {
            Verdict::Undecided => true,
            Verdict::Fails => {
                failing += 1;
                !found.is_empty()
            }
            Verdict::Works => {
                working += 1;
                found.remove(BY_CHANCE);
                found.is_empty()
            }
        };
        if !ok {
            wrong.push(format!("{}: {verdict:?}, but flagged {found:?}", row.id));
        }
    }
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(
        failing >= 30 && working >= 70,
        "{failing} failing, {working} working rows"
    );
}

#[derive(Deserialize)]
struct ResourceRow {
    id: String,
    rule: String,
    kind: String,
    verdict: String,
    any_b64: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// The rules that announce the death of the client process.
const CRASHES: [&str; 3] = [
    "cds-dns-crash",
    "lb-weighted-target-zero",
    "rbac-authenticated-crashes-tracing",
];

/// The row has the fault, but its endpoints never came, so that the client survived.
const LUCKY: &str = "RT-LB-WT0/weight-0-without-endpoints-yet";

#[test]
fn every_crash_is_flagged_and_its_accepted_neighbours_are_not() {
    let recorded = ["rules-lds", "rules-rds", "rules-cds-eds"].map(recorded);
    let rows: Vec<ResourceRow> = recorded
        .iter()
        .flat_map(|text| text.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let rules: BTreeSet<&str> = rows
        .iter()
        .filter(|r| r.verdict == "CRASH")
        .map(|r| r.rule.as_str())
        .collect();
    assert_eq!(rules.len(), 3);
    let mut wrong = Vec::new();
    let mut crashes = 0;
    for row in rows
        .iter()
        .filter(|r| rules.contains(r.rule.as_str()) && r.verdict != "NACK")
    {
        let found: BTreeSet<String> = fails_of(row);
        let is_flagged = found.iter().any(|rule| CRASHES.contains(&rule.as_str()));
        crashes += usize::from(is_flagged);
        if is_flagged != (row.verdict == "CRASH") && row.id != LUCKY {
            wrong.push(format!("{}: {}, but flagged {found:?}", row.id, row.verdict));
        }
    }
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(crashes >= 29);
}

fn fails_of(row: &ResourceRow) -> BTreeSet<String> {
    use xdsctl_model::diag::Effect;
    use xdsctl_model::resource::ResourceType;
    let mut profile = xdsctl_model::profile::Profile::default();
    for (name, value) in &row.env {
        profile.set_env(name, value).unwrap();
    }
    let bytes = base64::engine::general_purpose::STANDARD.decode(&row.any_b64).unwrap();
    let any = <xdsctl_document::proto::pb::Any as prost::Message>::decode(bytes.as_slice()).unwrap();
    let resource_type = match row.kind.as_str() {
        "lds" => ResourceType::Listener,
        "rds" => ResourceType::RouteConfiguration,
        "cds" => ResourceType::Cluster,
        _ => ResourceType::Endpoints,
    };
    let validated = xdsctl_clients::judge::validate(resource_type, &any.value, &profile, &Default::default());
    let failures = validated.diagnostics.iter().filter(|d| d.effect == Effect::Fails);
    failures.map(|d| d.rule.id.to_owned()).collect()
}
