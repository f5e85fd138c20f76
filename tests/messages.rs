//! Checks that the client's words lead to the rule that xdsctl finds. The messages are recorded, in
//! the forms in which people paste them.
//!
//! `messages` has a rejected resource for each message of the client, and for each place where it
//! occurred. The rules are not recorded: they are those of the findings that xdsctl has on the
//! resource, at the paths that the client names. The pages say more about the client's words under
//! `In a log`.
//!
//! `XDSCTL_ROWS_FILE=a.jsonl` (with `words`) also measures the rows of other files.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use xdsctl_lint::recognise::{Recognised, recognised};
use xdsctl_model::diag::{Diagnostic, Effect};

use crate::conformance::{Row, findings, rows};
use crate::support::{compares_all, recorded};

/// The percentage of messages that must lead to their rule among the first three.
const SHARE: usize = 99;

/// A form in which a message is pasted.
type Form = (&'static str, fn(&Row) -> String);

const FORMS: [Form; 9] = [
    ("alone", |row| row.words.clone()),
    ("log", |row| line(row)),
    ("quoted", |row| {
        serde_json::json!({"log": format!("{}\n", line(row)), "stream": "stderr"}).to_string()
    }),
    ("quoted twice", |row| {
        let inner = serde_json::json!({"level": "error", "msg": line(row)}).to_string();
        serde_json::json!({"log": inner}).to_string()
    }),
    ("wrapped", |row| {
        let line: Vec<char> = line(row).chars().collect();
        line.chunks(79)
            .map(|part| part.iter().collect::<String>() + "\n")
            .collect()
    }),
    ("journald", |row| {
        format!("Nov 22 04:20:52 host shop[812]: {}", line(row))
    }),
    ("kubectl", |row| {
        format!("[pod/shop-7d9f/app] 2026-11-22T04:20:52.149618Z stderr F {}", line(row))
    }),
    ("klog", |row| {
        format!(
            "E1122 04:20:52.149618       1 xds.go:42] \"rejected\" err=\"{}\"",
            row.words
        )
    }),
    ("RPC", |row| {
        format!(
            "rpc error: code = Unavailable desc = CDS resource x: {} (node ID:n)",
            row.words
        )
    }),
];

/// Returns the line in the client's log for a rejected resource.
fn line(row: &Row) -> String {
    let kind = match row.kind.as_str() {
        "lds" => "listener.v3.Listener",
        "rds" => "route.v3.RouteConfiguration",
        "cds" => "cluster.v3.Cluster",
        _ => "endpoint.v3.ClusterLoadAssignment",
    };
    let words = row.words.trim_start_matches("invalid resource: ");
    format!(
        "E1122 04:20:52.149618    6092 xds_client.cc:1335] [xds_client 0x7f1e0c003be0] xds server 127.0.0.1:41369: \
         ADS response invalid for resource type envoy.config.{kind} version 2, will NACK: nonce=2 status=UNAVAILABLE: \
         xDS response validation errors: [resource index 0: {}: INVALID_ARGUMENT: {words}]",
        row.id
    )
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The paths that the client names, with the rules of xdsctl's findings there.
type Expected = BTreeSet<(String, &'static str)>;

fn expected(row: &Row) -> Expected {
    let findings = findings(row);
    let nacks = findings.iter().filter(|d| d.effect == Effect::Nack);
    let said = nacks.flat_map(Diagnostic::said);
    said.map(|(rule, path)| (squeezed(&path.to_string()), rule.id))
        .collect()
}

/// Returns the expected rules that were not reported.
fn missed<'e>(expected: &'e Expected, recognised: &[Recognised]) -> Vec<&'e (String, &'static str)> {
    let is_told = |(path, id): &(String, &'static str)| {
        let is_there =
            |one: &Recognised| squeezed(one.path.as_deref().unwrap_or_default()) == *path && one.leads_to(id);
        recognised.iter().any(is_there)
    };
    expected.iter().filter(|one| !is_told(one)).collect()
}

#[track_caller]
fn check(rows: &[Row]) {
    let expected: Vec<Expected> = rows.iter().map(expected).collect();
    for (number, (form, paste)) in FORMS.into_iter().enumerate() {
        // Every row has two forms, and some rows have the others, unless all are compared.
        let step = if number < 2 || compares_all() { 1 } else { 16 };
        let of_form: Vec<_> = rows.iter().zip(&expected).skip(number % step).step_by(step).collect();
        let mut wrong = Vec::new();
        for &(row, expected) in &of_form {
            let recognised = recognised(&paste(row));
            let missed = missed(expected, &recognised);
            if !missed.is_empty() {
                wrong.push(format!("{}: {missed:?} of {}", row.id, row.words));
            }
            if form == "log"
                && recognised
                    .iter()
                    .any(|one| one.resource_name.as_deref() != Some(row.id.trim()))
            {
                wrong.push(format!("{}: name of {:?}", row.id, recognised.first()));
            }
        }
        let right = of_form.len() - wrong.len();
        assert!(
            right * 100 >= of_form.len() * SHARE,
            "{form}: {right} of {} lead to all of their rules\n{}",
            of_form.len(),
            wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n")
        );
    }
}

#[test]
fn recorded_messages_lead_to_their_rules_however_they_are_pasted() {
    let rows = rows("messages");
    // A selection of rows may leave none.
    assert!(
        rows.len() > 600 || std::env::var("XDSCTL_ROWS").is_ok(),
        "{}",
        rows.len()
    );
    check(&rows);
}

#[test]
fn messages_of_other_files_lead_to_their_rules() {
    let files = std::env::var("XDSCTL_ROWS_FILE").unwrap_or_default();
    for file in files.split(',').filter(|file| !file.is_empty()) {
        let mut rows = rows(file);
        rows.retain(|row| row.verdict == "NACK" && !row.words.is_empty());
        check(&rows);
    }
}

#[derive(Deserialize)]
struct RpcRow {
    id: String,
    details: String,
}

/// The errors of RPCs that were recorded for this test lead to a rule or a symptom.
#[test]
fn what_rpcs_print_leads_to_a_rule_or_a_symptom() {
    let expected: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("ssl-plain-backend", &["tls-handshake-failing"][..]),
        ("ssl-untrusted", &["tls-handshake-failing"]),
        ("ssl-wrong-name", &["tls-handshake-failing"]),
        ("plain-to-tls", &["connections-failing"]),
        ("xds-tls", &["tls-handshake-failing"]),
        ("unreachable", &["connections-failing"]),
        ("listener-missing", &["target-listener-missing"]),
        ("listener-missing-short", &["deadline-exceeded"]),
        ("cluster-missing-20", &["rds-cluster-missing"]),
        ("eds-missing-20", &["cds-endpoints-missing"]),
        ("not-api", &["target-listener-not-api"]),
        ("novh", &["target-without-virtual-host"]),
        ("noroute", &["deadline-exceeded"]),
        ("no-plane", &["control-plane-unreachable"]),
        ("no-plane-long", &["control-plane-unreachable"]),
        ("no-bootstrap", &["bootstrap-not-found"]),
    ]);
    let text = recorded("rpc-messages");
    let rows: Vec<RpcRow> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), expected.len());
    for row in rows {
        let recognised = recognised(&row.details);
        for id in expected[row.id.as_str()] {
            assert!(
                recognised.iter().any(|one| one.leads_to(id)),
                "{}: {id}, {recognised:?}",
                row.id
            );
        }
    }
}

/// Finds the details of every failed RPC in a recorded answer.
fn details(answer: &serde_json::Value, found: &mut BTreeSet<String>) {
    match answer {
        serde_json::Value::Object(fields) => {
            if let Some(details) = fields.get("details").and_then(|d| d.as_str())
                && fields.get("code").is_some_and(|code| code != "OK")
            {
                found.insert(details.to_owned());
            }
            fields.values().for_each(|value| details(value, found));
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| details(value, found)),
        _ => {}
    }
}

#[test]
fn every_recorded_rpc_that_fails_by_the_client_is_recognised() {
    let mut found = BTreeSet::new();
    for name in ["scenarios", "runtime", "loops", "timelines"] {
        for line in recorded(name).lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            details(&row["answer"]["picks"], &mut found);
        }
    }
    // This is a text of the recordings' own backends.
    found.retain(|details| details != "scripted");
    let unknown: Vec<&String> = found
        .iter()
        .filter(|details| {
            let recognised = recognised(details);
            recognised.is_empty() || recognised.iter().any(|one| one.pages.is_empty())
        })
        .collect();
    assert!(found.len() > 60, "{}", found.len());
    assert!(
        unknown.len() * 100 <= found.len() * 5,
        "{} of {}: {unknown:#?}",
        unknown.len(),
        found.len()
    );
}
