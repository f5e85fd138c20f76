//! Tests of many small resources with many findings each: the number of listed findings is limited,
//! and no count, verdict or rule is lost.

use std::collections::BTreeSet;

use serde_json::Value;
use xdsctl_channel::client::{Keep, Reading, Store, ValidationInput};
use xdsctl_document::envelope::LoadOptions;

use crate::run::{Run, in_process};

/// Makes a RouteConfiguration with `routes` routes that lead nowhere.
fn rejected(number: usize, routes: usize) -> String {
    let routes = vec![r#"{"match":{"prefix":"/x"},"route":{"cluster":""}}"#; routes].join(",");
    format!(
        r#"{{"@type":"type.googleapis.com/envoy.config.route.v3.RouteConfiguration","name":"r{number}","virtual_hosts":[{{"domains":["*"],"routes":[{routes}]}}]}}"#
    )
}

/// Makes a Cluster with `fields` unknown fields.
fn misspelt(number: usize, fields: usize) -> String {
    let fields: String = (0..fields).map(|i| format!(r#","naem{i}":1"#)).collect();
    format!(
        r#"{{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"r{number}","type":"EDS","eds_cluster_config":{{"eds_config":{{"ads":{{}}}}}}{fields}}}"#
    )
}

fn document(count: usize, resource: impl Fn(usize) -> String) -> String {
    let resources: Vec<String> = (0..count).map(resource).collect();
    format!(r#"{{"resources":[{}]}}"#, resources.join(","))
}

fn validate(words: &[&str], document: &str) -> Run {
    in_process(&[&["validate"], words, &["-"]].concat(), document, |_| {})
}

fn of_resources(report: &Value) -> &[Value] {
    report["resources"].as_array().unwrap()
}

fn findings(resource: &Value) -> &[Value] {
    resource["findings"].as_array().unwrap()
}

/// Returns the findings that have a place, in the order of the document. A finding that stands for
/// others has none.
fn placed(resource: &Value) -> impl Iterator<Item = &Value> {
    findings(resource).iter().filter(|finding| finding["path"] != "")
}

fn rules(resource: &Value) -> BTreeSet<&str> {
    let rules = findings(resource)
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap());
    rules.collect()
}

#[test]
fn every_rejected_resource_is_told_and_every_error_counted() {
    let text = document(1_000, |number| rejected(number, 10));
    let run = validate(&["--format=json"], &text);
    assert_eq!(run.code, Some(1));
    let report = run.json();
    let alone = validate(&["--format=json"], &rejected(0, 10)).json();
    let alone = &of_resources(&alone)[0];
    let errors = findings(alone).len();
    assert!(errors >= 10, "{alone}");
    assert_eq!(report["summary"]["severities"]["error"], 1_000 * errors);
    assert_eq!(report["summary"]["resources"]["rejected"], 1_000);
    let mut listed = 0;
    for resource in of_resources(&report) {
        assert_eq!(resource["verdict"], "rejected");
        assert_eq!(rules(resource), rules(alone));
        // The first finding has its place.
        assert_eq!(placed(resource).next().unwrap()["path"], findings(alone)[0]["path"]);
        let list = findings(resource)
            .iter()
            .map(|finding| finding["message"].as_str().unwrap());
        let more = list.filter_map(|said| {
            said.strip_suffix(&format!(
                " more findings of this rule are not listed, after {}",
                placed(resource).count()
            ))
        });
        let more: usize = more.map(|count| count.parse::<usize>().unwrap()).sum();
        assert_eq!(placed(resource).count() + more, errors);
        listed += findings(resource).len();
    }
    // The first findings are listed, and the number of the others.
    assert!(listed < 2 * 1_000 + 500 + text.len() / 64, "{listed}");
}

#[test]
fn every_form_of_the_report_names_every_rejected_resource() {
    let text = document(600, |number| rejected(number, 10));
    for format in ["human", "json", "jsonl", "concise", "sarif", "junit", "gitlab"] {
        let run = validate(
            &[&format!("--format={format}"), "--all-findings", "--fail-on=error"],
            &text,
        );
        assert_eq!(run.code, Some(1), "{format}");
        let words: BTreeSet<&str> = run.out.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        let missing = (0..600).filter(|number| !words.contains(format!("r{number}").as_str()));
        assert_eq!(missing.count(), 0, "{format}");
    }
}

#[test]
fn what_is_noticed_while_they_are_read_is_counted_too() {
    let text = document(2_000, |number| misspelt(number, 12));
    let report = validate(&["--format=json"], &text).json();
    assert_eq!(report["summary"]["rules"]["dump-unknown-field"], 2_000 * 12);
    let listed: usize = of_resources(&report)
        .iter()
        .map(|resource| findings(resource).len())
        .sum();
    assert!(listed < 2 * 2_000 + 500 + text.len() / 64, "{listed}");
    for resource in of_resources(&report) {
        assert_eq!(placed(resource).next().unwrap()["path"], "naem0");
    }
}

#[test]
fn other_clients_are_cut_in_the_same_way() {
    let text = document(400, |number| rejected(number, 10));
    let words = ["--format=json", "--client=cpp,cpp@1.60,go,java,node"];
    let report = validate(&words, &text).json();
    let alone = validate(&words, &rejected(0, 10)).json();
    let alone = &of_resources(&alone)[0];
    for resource in of_resources(&report) {
        assert_eq!(resource["clients"], alone["clients"]);
        let who = |finding: &Value| {
            (
                finding["path"].clone(),
                finding["effect"].clone(),
                finding["who"].clone(),
            )
        };
        assert_eq!(who(placed(resource).next().unwrap()), who(&findings(alone)[0]));
    }
}

#[test]
fn the_number_of_threads_and_of_documents_makes_no_difference() {
    let one = [document(3_000, |number| rejected(number, 10))];
    let many: Vec<String> = (0..3_000).map(|number| rejected(number, 10)).collect();
    let read = |documents: &[String], threads| {
        let mut store = Store::default();
        let texts = documents.iter().map(|text| text.as_bytes().to_vec());
        let ids: Vec<_> = texts.map(|text| store.sources.add("-", text)).collect();
        let against = ValidationInput {
            profile: &store.profile,
            others: &[],
            server: &store.server,
            keep: Keep::Findings,
        };
        let mut reading = Reading::default();
        reading.read(Some(threads), &against, |loader, emit| {
            for id in ids {
                let source = store.sources.get(id).unwrap();
                loader.document(id, source, LoadOptions::default(), emit);
            }
        });
        let world_set = reading.finish(&against, false);
        let resources = world_set.resources.into_iter();
        resources.map(|checked| checked.diagnostics).collect::<Vec<_>>()
    };
    let first = read(&one, 1);
    let listed = first.iter().map(Vec::len).sum::<usize>();
    assert!(listed < 20_000, "{listed}");
    assert_eq!(first, read(&one, 2));
    assert_eq!(first, read(&one, 5));
    let first = read(&many, 1);
    let listed = first.iter().map(Vec::len).sum::<usize>();
    assert!(listed < 20_000, "{listed}");
    assert_eq!(first, read(&many, 3));
}
