//! Makes `docs/features.md`, which says what each family does with the features of the gRFCs, from
//! the recordings.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;

use serde_json::Value;
use xdsctl_model::profile::Family;

use crate::generated::feature_table;
use crate::support::{recorded, root};

/// The verdict of each family on each row, by file and id.
type Verdicts = BTreeMap<(String, String), BTreeMap<Family, String>>;

const FILES: [&str; 3] = ["rules-lds", "rules-rds", "rules-cds-eds"];

fn verdicts() -> Verdicts {
    let mut verdicts = Verdicts::new();
    let mut add = |family: Family, file: &str, row: &Value| {
        let text = |member: &str| row[member].as_str().unwrap_or_default().to_owned();
        let of_row = verdicts.entry((file.to_owned(), text("id"))).or_default();
        let put_right = ["unmasked_verdict", "unmasked_java"]
            .into_iter()
            .find(|member| row.get(member).is_some());
        of_row.insert(family, text(put_right.unwrap_or("verdict")));
    };
    for file in FILES {
        for line in recorded(file).lines() {
            add(Family::Cpp, file, &serde_json::from_str(line).unwrap());
        }
    }
    for family in Family::ALL.into_iter().filter(|family| *family != Family::Cpp) {
        let path = root().join(format!("fixtures/clients/{family}.jsonl.gz"));
        let mut text = String::new();
        flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
            .read_to_string(&mut text)
            .unwrap();
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            add(family, row["file"].as_str().unwrap(), &row);
        }
    }
    verdicts
}

/// Writes a verdict for a cell, and marks one that the gRFC does not want.
fn cell(verdict: Option<&String>, wanted: &str) -> String {
    let Some(verdict) = verdict else {
        return "not asked".to_owned();
    };
    let word = match verdict.as_str() {
        "ACK" => "takes it",
        "NACK" => "rejects it",
        "CRASH" => "dies",
        other => panic!("verdict {other}"),
    };
    match wanted == "-" || wanted == verdict {
        true => word.to_owned(),
        false => format!("**{word}**"),
    }
}

/// Returns the rows that name a gRFC, from the table of who has what.
fn since(grfc: &str) -> Vec<String> {
    let is_about = |line: &&str| {
        let mut parts = line.split(['(', ',', ')', ' ']);
        parts.any(|word| word == grfc)
    };
    feature_table().lines().filter(is_about).map(str::to_owned).collect()
}

fn page() -> String {
    let verdicts = verdicts();
    let list = std::fs::read_to_string(root().join("fixtures/features.txt")).unwrap();
    let names = Family::ALL.map(|family| family.to_string());
    let mut out = String::from(
        "# Features: what each family does with the gRFCs

<!-- tests/features.rs writes this page with XDSCTL_BLESS=1: change fixtures/features.txt -->

Everything here was asked of the newest measured version of each family, without switches, but for
the tables that say since which version a client has something ([who has
what](clients.md#who-has-what) explains these). A row is a resource that was given to all of them.
Go and Java reject names of network filters, aggregates and transport sockets that C-core never
reads. They were given such rows with these names put right, so that it is the row that counts.
The column *gRFC* has what the text demands, if it says anything; what a family does instead is
bold. To try a row, take it out of the recording and ask whom you like:

```console
$ zcat fixtures/conformance/rules-rds.jsonl.gz | jq 'select(.id == \"RTY-NUM/zero\").resource' |
    xdsctl validate --matrix --client all -
```
",
    );
    let mut has_table = false;
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        if let Some((grfc, title)) = line.split_once(' ').filter(|(first, _)| first.starts_with('A')) {
            has_table = false;
            writeln!(out, "\n## {grfc}: {title}").unwrap();
            let table = feature_table();
            let rows = since(grfc);
            if !rows.is_empty() {
                let head: Vec<&str> = table.lines().take(2).collect();
                writeln!(out, "\n{}\n{}", head.join("\n"), rows.join("\n")).unwrap();
            }
        } else if let Some(text) = line.strip_prefix("> ") {
            writeln!(out, "\n{text}").unwrap();
        } else {
            let (file, rest) = line.split_once(' ').unwrap();
            let (id, rest) = rest.split_once(' ').unwrap();
            let (wanted, what) = rest.split_once(' ').unwrap();
            assert!(["ACK", "NACK", "-"].contains(&wanted), "{line}");
            let of_row = verdicts.get(&(file.to_owned(), id.to_owned()));
            let of_row = of_row.unwrap_or_else(|| panic!("no row {file} {id}"));
            if !std::mem::replace(&mut has_table, true) {
                writeln!(out, "\n| row | what it has | gRFC | {} |", names.join(" | ")).unwrap();
                writeln!(out, "|{}", "---|".repeat(names.len() + 3)).unwrap();
            }
            let says = match wanted {
                "ACK" => "take it",
                "NACK" => "reject it",
                _ => "",
            };
            let cells = Family::ALL.map(|family| cell(of_row.get(&family), wanted));
            writeln!(out, "| `{file}` `{id}` | {what} | {says} | {} |", cells.join(" | ")).unwrap();
        }
    }
    out
}

#[test]
fn the_page_of_features_is_current() {
    let path = root().join("docs/features.md");
    let wanted = page();
    if std::env::var_os("XDSCTL_BLESS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(page == wanted, "run this test with XDSCTL_BLESS=1");
}

#[test]
fn a_verdict_against_the_text_is_marked() {
    let verdict = "ACK".to_owned();
    assert_eq!(cell(Some(&verdict), "NACK"), "**takes it**");
    assert_eq!(cell(Some(&verdict), "ACK"), "takes it");
    assert_eq!(cell(Some(&verdict), "-"), "takes it");
    assert_eq!(cell(None, "ACK"), "not asked");
}
