//! Tests of dumps in every shape: each must have the resources that a reader of the file would
//! list.
//!
//! `fixtures/dumps/NAME` is a document, and `NAME.out` the result of `validate`: the exit code, a
//! line for each resource (world, section, type, name, verdict, and the rules of its findings that
//! are about the dump), and a line for each such finding on a document. `XDSCTL_BLESS=1` rewrites
//! the `.out` files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::root;

fn directory() -> PathBuf {
    root().join("fixtures/dumps")
}

/// Returns the documents. The files in folders belong to one of them.
fn documents() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".out") && !name.ends_with(".md"))
        .collect();
    names.sort();
    names
}

/// Runs `validate --format json` on a file in the directory, or on standard input. Returns the exit
/// code and the report.
fn validate(args: &[&str], input: &[u8]) -> (Option<i32>, Value) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_xdsctl"))
        .args(["validate", "--format", "json"])
        .args(args)
        .current_dir(directory())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Without a file the command reads its input; with one it may end before.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

fn rule(finding: &Value) -> &str {
    finding["rule"].as_str().unwrap()
}

/// Returns the result for a document, in lines.
fn outcome(name: &str) -> String {
    let (code, report) = validate(&[name], b"");
    let mut text = format!("exit {}\n", code.unwrap());
    let is_about_the_dump = |finding: &&Value| rule(finding).starts_with("dump-") || rule(finding).starts_with("live-");
    for resource in report["resources"].as_array().unwrap() {
        let columns = ["world", "section", "type", "name", "verdict"].map(|key| resource[key].as_str().unwrap_or("-"));
        write!(text, "{}", columns.join(" | ")).unwrap();
        for finding in resource["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(is_about_the_dump)
        {
            write!(text, " | {}", rule(finding)).unwrap();
        }
        text.push('\n');
    }
    for finding in report["findings"].as_array().unwrap().iter().filter(is_about_the_dump) {
        let (file, line) = (finding["file"].as_str().unwrap(), &finding["line"]);
        writeln!(text, "{} at {file}:{line}", rule(finding)).unwrap();
    }
    text
}

#[test]
fn every_document_yields_its_resources() {
    let mut wrong = Vec::new();
    for name in documents() {
        let golden = directory().join(format!("{name}.out"));
        let found = outcome(&name);
        if std::env::var_os("XDSCTL_BLESS").is_some() {
            fs::write(&golden, &found).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{name}:\n{found}-- expected:\n{expected}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "XDSCTL_BLESS=1 writes these anew:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn no_golden_is_an_orphan() {
    let documents = documents();
    for entry in fs::read_dir(directory()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(document) = name.strip_suffix(".out") {
            assert!(documents.iter().any(|name| name == document), "{name}");
        }
    }
}

/// Returns the findings by resource, in order, without places.
fn findings(report: &Value) -> Vec<(String, Vec<String>)> {
    let one = |finding: &Value| {
        format!("{} {} {}", rule(finding), finding["path"], finding["message"]).replace("x.yaml:", "x.json:")
    };
    let list = |findings: &Value| findings.as_array().unwrap().iter().map(one).collect();
    let of_resources = report["resources"].as_array().unwrap().iter().map(|resource| {
        let key = ["type", "name", "section", "verdict"].map(|key| resource[key].as_str().unwrap_or_default());
        (key.join(" "), list(&resource["findings"]))
    });
    of_resources
        .chain([(String::new(), list(&report["findings"]))])
        .collect()
}

#[test]
fn json_and_its_yaml_form_have_equal_findings() {
    let mut compared = BTreeMap::new();
    for name in documents().into_iter().filter(|name| name.ends_with(".json")) {
        let text = fs::read_to_string(directory().join(&name)).unwrap();
        if serde_json::from_str::<Value>(&text).is_err() {
            // The file has several values, which YAML would separate.
            continue;
        }
        let (_, json) = validate(&["--stdin-filename", "x.json", "-"], text.as_bytes());
        // JSON is YAML in flow style; the comment prevents it from being read as JSON.
        let (_, yaml) = validate(
            &["--stdin-filename", "x.yaml", "-"],
            format!("{text}# end\n").as_bytes(),
        );
        assert_eq!(findings(&json), findings(&yaml), "{name}");
        compared.insert(name, json);
    }
    assert!(compared.len() > 15);
}
