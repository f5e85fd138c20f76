//! Documents: load, validate, find every place, print.
//!
//! The assertions are about places that are not in the document.

use serde_json::Value;
use xdsctl_cli::Io;

/// A document that is taken for JSON.
pub fn json(data: &[u8]) {
    validate(data, "fuzz.json");
}

/// A document that is taken for YAML.
pub fn yaml(data: &[u8]) {
    validate(data, "fuzz.yaml");
}

/// A document that is taken for text format.
pub fn textproto(data: &[u8]) {
    validate(data, "fuzz.textproto");
}

/// A document that is taken for wire format.
pub fn binary(data: &[u8]) {
    validate(data, "fuzz.binpb");
}

/// Any bytes to `xdsctl validate -`: the format is found out.
pub fn any_bytes_to_validate(data: &[u8]) {
    validate(data, "-");
}

/// Reads a document of that name as `xdsctl validate` does, and prints all that there is to say, in both forms.
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
    let mut io = Io::piped(input, &mut out, std::io::sink());
    xdsctl_cli::run(args, &mut io);
    drop(io);
    out
}

/// Every place is in the document, and the report is JSON.
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
