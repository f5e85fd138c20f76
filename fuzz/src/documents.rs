//! Reads documents: loads, validates, finds every place, prints.
//!
//! The assertions check that all places are in the document.

use serde_json::Value;
use xdsctl_cli::Io;

/// Reads a document as JSON.
pub fn json(data: &[u8]) {
    validate(data, "fuzz.json");
}

/// Reads a document as YAML.
pub fn yaml(data: &[u8]) {
    validate(data, "fuzz.yaml");
}

/// Reads a document as text format.
pub fn textproto(data: &[u8]) {
    validate(data, "fuzz.textproto");
}

/// Reads a document as wire format.
pub fn binary(data: &[u8]) {
    validate(data, "fuzz.binpb");
}

/// Gives any bytes to `xdsctl validate -`, which detects the format.
pub fn any_bytes_to_validate(data: &[u8]) {
    validate(data, "-");
}

/// Reads a document of this name as `xdsctl validate` does, and prints everything in both forms.
fn validate(data: &[u8], name: &str) {
    let name = format!("--stdin-filename={name}");
    let common = ["xdsctl", "validate", "--min-severity=note", &name];
    run(&[&common[..], &["--all", "-"]].concat(), data);
    let report = run(&[&common[..], &["--format=json", "--show=parsed", "-"]].concat(), data);
    if !report.is_empty() {
        check_places(&report, data.len());
    }
}

fn run(args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let io = Io::piped(input, &mut out, std::io::sink());
    xdsctl_cli::run(args, io);
    out
}

/// Checks that the report is JSON and that every place is in the document.
fn check_places(report: &[u8], len: usize) {
    let report: Value = serde_json::from_slice(report).expect("the report is JSON");
    let empty = Vec::new();
    let lists = report["resources"].as_array().unwrap_or(&empty).iter();
    for list in lists.map(|r| &r["findings"]).chain([&report["findings"]]) {
        for finding in list.as_array().unwrap_or(&empty) {
            let (start, end) = (finding["byte_start"].as_u64(), finding["byte_end"].as_u64());
            assert!(start <= end, "{finding}");
            // A binary resource is shown, and located, as text.
            let is_decoded = finding["file"].as_str().is_some_and(|file| file.ends_with("(decoded)"));
            assert!(is_decoded || end.unwrap_or(0) <= len as u64, "{finding}");
        }
    }
}
