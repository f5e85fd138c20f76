//! Executes the rules' pages: every example goes through `xdsctl validate` and must have the
//! findings that it names, and no others.
//!
//! A page has the sections of [`SECTIONS`], `## In a log` where a client logs something, and
//! `## Clients` where other clients differ. The examples are the fenced blocks of `Rejected` and
//! `Accepted`. Comments at their start say how to run them and what to expect:
//! `# expect: RULE PATH` (`-` for an empty path), `# related: RULE PATH` for a consequence that
//! belongs to a finding, `# env: NAME=VALUE`, `# as: TYPE`, `# target: xds:///NAME`,
//! `# listen: HOST:PORT`, `# clients: LIST` (for `--client`), `# complete: true`,
//! `# baseline: JSON` with the entry of a baseline, `# policy: TABLE` of TOML,
//! `# line: LINE OF A LOG`, and `# bootstrap: JSON`. The `server_features` of that JSON replace
//! those of the server in the default bootstrap, and its other keys are added to the bootstrap.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xdsctl_model::diag::Rule;

use crate::run::run;
use crate::support::root;

/// The sections that every page has, in this order.
const SECTIONS: [&str; 5] = ["What the client does", "Why", "Rejected", "Accepted", "Specification"];

/// The sections that may be anywhere between the first and the last.
const OPTIONAL: [&str; 2] = ["Clients", "In a log"];

/// Rules and paths of findings (`expect`) and of their consequences (`related`).
type Findings = BTreeSet<(&'static str, String, String)>;

/// A fenced block with its directives.
#[derive(Debug, Default)]
struct Example {
    language: String,
    text: String,
    expect: Findings,
    env: Vec<String>,
    bootstrap: Option<Value>,
    as_type: Option<String>,
    target: Option<String>,
    listen: Option<String>,
    clients: Option<String>,
    is_complete: bool,
    baseline: Option<String>,
    policy: Option<String>,
    line: Option<String>,
}

/// Splits a page into sections with their lines.
fn sections(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        match (line.strip_prefix("## "), sections.last_mut()) {
            (Some(title), _) if !is_code => sections.push((title, Vec::new())),
            (_, Some((_, lines))) => lines.push(line),
            (_, None) => sections.push(("", vec![line])),
        }
    }
    sections
}

/// Returns what is wrong with the form of a page.
fn faults_of_form(page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let sections = sections(page);
    let titles: Vec<&str> = sections.iter().map(|(title, _)| *title).collect();
    let required: Vec<&str> = titles.iter().copied().filter(|t| !OPTIONAL.contains(t)).collect();
    let is_optional = |title: Option<&&str>| title.is_some_and(|title| OPTIONAL.contains(title));
    if required != SECTIONS || is_optional(titles.first()) || is_optional(titles.last()) {
        faults.push(format!("sections {titles:?}"));
        return faults;
    }
    for (title, lines) in &sections {
        if lines.iter().all(|line| line.trim().is_empty()) {
            faults.push(format!("`{title}` is empty"));
        }
        let fences = lines.iter().filter(|line| line.starts_with("```")).count();
        let has_examples = matches!(*title, "Rejected" | "Accepted");
        if fences % 2 != 0 || has_examples && fences == 0 {
            faults.push(format!("`{title}` has {fences} fences"));
        }
        for line in lines.iter().filter(|_| has_examples) {
            if let Some(language) = line.strip_prefix("```")
                && !matches!(language, "" | "yaml" | "json" | "textproto" | "hex")
            {
                faults.push(format!("`{title}`: unknown language `{language}`"));
            }
        }
    }
    faults
}

/// Returns the examples of a section.
fn examples(page: &str, wanted: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    for (_, lines) in sections(page).into_iter().filter(|(title, _)| *title == wanted) {
        let mut open: Option<Vec<&str>> = None;
        let mut language = "";
        for line in lines {
            match (line.strip_prefix("```"), open.take()) {
                (Some(info), None) => {
                    language = info;
                    open = Some(Vec::new());
                }
                (Some(_), Some(block)) => examples.push(example(language, &block)),
                (None, Some(mut block)) => {
                    block.push(line);
                    open = Some(block);
                }
                (None, None) => {}
            }
        }
    }
    examples
}

fn example(language: &str, lines: &[&str]) -> Example {
    let mut example = Example {
        language: language.to_owned(),
        ..Example::default()
    };
    let is_directive = |line: &&&str| {
        [
            "# expect: ",
            "# related: ",
            "# env: ",
            "# bootstrap: ",
            "# as: ",
            "# target: ",
            "# listen: ",
            "# clients: ",
            "# complete: ",
            "# baseline: ",
            "# policy: ",
            "# line: ",
        ]
        .iter()
        .any(|d| line.starts_with(d))
    };
    let directives = lines.iter().take_while(is_directive).count();
    for line in &lines[..directives] {
        let (name, value) = line["# ".len()..].split_once(": ").unwrap();
        match name {
            "expect" | "related" => {
                let role = if name == "expect" { "expect" } else { "related" };
                let (rule, path) = value.split_once(' ').unwrap_or_else(|| panic!("no path in `{line}`"));
                let path = if path == "-" { "" } else { path };
                example.expect.insert((role, rule.to_owned(), path.to_owned()));
            }
            "env" => example.env.push(value.to_owned()),
            "as" => example.as_type = Some(value.to_owned()),
            "target" => example.target = Some(value.to_owned()),
            "listen" => example.listen = Some(value.to_owned()),
            "clients" => example.clients = Some(value.to_owned()),
            "complete" => example.is_complete = true,
            "baseline" => example.baseline = Some(value.to_owned()),
            "policy" => example.policy = Some(value.to_owned()),
            "line" => example.line = Some(value.to_owned()),
            _ => example.bootstrap = Some(serde_json::from_str(value).unwrap()),
        }
    }
    example.text = lines[directives..].join("\n") + "\n";
    example
}

/// Writes the default bootstrap with an example's additions to a file.
fn bootstrap_file(name: &str, additions: Option<&Value>) -> PathBuf {
    let default = root().join("fixtures/conformance/bootstrap.json");
    let mut bootstrap: Value = serde_json::from_str(&fs::read_to_string(default).unwrap()).unwrap();
    bootstrap["server_listener_resource_name_template"] = "server?%s".into();
    for (key, value) in additions.and_then(Value::as_object).into_iter().flatten() {
        if key == "server_features" {
            bootstrap["xds_servers"][0][key] = value.clone();
        } else {
            bootstrap[key] = value.clone();
        }
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("explain-{name}.json"));
    fs::write(&path, bootstrap.to_string()).unwrap();
    path
}

fn bytes_of(example: &Example) -> Vec<u8> {
    if example.language != "hex" {
        return example.text.clone().into_bytes();
    }
    let lines = example.text.lines().filter(|line| !line.starts_with('#'));
    let digits: String = lines.flat_map(str::split_whitespace).collect();
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap())
        .collect()
}

/// Returns the findings of an example, or what stopped the command.
fn findings(name: &str, example: &Example) -> Result<Findings, String> {
    let mut args = vec!["validate".to_owned(), "--format=json".into()];
    let is_bootstrap = example.as_type.as_deref() == Some("bootstrap");
    if !is_bootstrap {
        let file = bootstrap_file(name, example.bootstrap.as_ref());
        args.extend(["--bootstrap".into(), file.display().to_string()]);
    }
    let ending = match example.language.as_str() {
        "hex" => "binpb",
        other => other,
    };
    args.push(format!("--stdin-filename=example.{ending}"));
    args.extend(example.env.iter().map(|setting| format!("--env={setting}")));
    args.extend(example.as_type.iter().map(|name| format!("--as={name}")));
    args.extend(example.clients.iter().map(|list| format!("--client={list}")));
    args.extend(example.target.iter().map(|uri| format!("--target={uri}")));
    args.extend(example.listen.iter().map(|address| format!("--listen={address}")));
    args.extend(example.is_complete.then(|| "--complete".to_owned()));
    if let Some(entry) = &example.baseline {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("explain-{name}-baseline.json"));
        let text = format!(r#"{{"schema": "xdsctl.baseline/v1", "findings": [{entry}]}}"#);
        fs::write(&path, text).unwrap();
        args.extend(["--baseline".into(), path.display().to_string()]);
    }
    if let Some(table) = &example.policy {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("explain-{name}-policy.toml"));
        fs::write(&path, format!("policy = [{table}]\n")).unwrap();
        args.push(format!("--config={}", path.display()));
    }
    args.extend(example.line.iter().map(|line| format!("--explain-error={line}")));
    args.push("-".into());
    let (out, err) = run(args, &bytes_of(example));
    let report: Value = serde_json::from_slice(&out).map_err(|_| String::from_utf8_lossy(&err).into_owned())?;
    let of_resources = report["resources"].as_array().unwrap().iter();
    let lists = of_resources.map(|r| &r["findings"]).chain([&report["findings"]]);
    let mut all = Findings::new();
    for finding in lists.flat_map(|list| list.as_array().unwrap()) {
        let field = |of: &Value, name: &str| of[name].as_str().unwrap().to_owned();
        all.insert(("expect", field(finding, "rule"), field(finding, "path")));
        let related = finding["related"].as_array().into_iter().flatten();
        let follows = related.filter(|related| related["rule"].is_string());
        all.extend(follows.map(|related| ("related", field(related, "rule"), field(related, "path"))));
    }
    Ok(all)
}

/// Runs every example of a section and returns what differs.
fn differences(rule: &Rule, section: &str) -> Vec<String> {
    let mut differences = Vec::new();
    for (number, example) in examples(rule.page, section).iter().enumerate() {
        let name = format!("{} {section} {}", rule.id, number + 1);
        // The first rejected example shows the rule; others may show related rules.
        let has_own = example.expect.iter().any(|(_, id, _)| id == rule.id);
        if has_own && section == "Accepted" || !has_own && section == "Rejected" && number == 0 {
            differences.push(format!("{name}: expects its own rule: {has_own}"));
        }
        match findings(&format!("{}-{section}-{number}", rule.id), example) {
            Err(error) => differences.push(format!("{name}: {}", error.trim())),
            Ok(found) if found != example.expect => {
                let list = |set: Vec<&(&str, String, String)>| {
                    let lines: Vec<String> = set
                        .iter()
                        .map(|(role, rule, path)| format!("{role} {rule} {path}"))
                        .collect();
                    lines.join(", ")
                };
                differences.push(format!(
                    "{name}:\n    missing: {}\n    surplus: {}",
                    list(example.expect.difference(&found).collect()),
                    list(found.difference(&example.expect).collect())
                ));
            }
            Ok(_) => {}
        }
    }
    differences
}

#[test]
fn every_page_has_its_sections() {
    let faults: BTreeMap<&str, Vec<String>> = xdsctl_lint::catalogue::rules()
        .map(|rule| (rule.id, faults_of_form(rule.page)))
        .filter(|(_, faults)| !faults.is_empty())
        .collect();
    assert!(faults.is_empty(), "{} pages: {faults:#?}", faults.len());
}

/// The clients themselves say which versions break a rule, with the first example. Prose about
/// versions would become outdated.
#[test]
fn no_page_names_a_version_of_a_client() {
    let version = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_digit());
        let parts = word.split_once('.');
        parts.is_some_and(|(major, minor)| {
            major == "1" && minor.len() >= 2 && minor.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    for rule in xdsctl_lint::catalogue::rules() {
        for (_, lines) in sections(rule.page).into_iter().filter(|(title, _)| *title == "Clients") {
            let words = lines.iter().flat_map(|line| line.split_whitespace());
            let named: Vec<&str> = words.filter(|word| version(word)).collect();
            assert!(named.is_empty(), "{}: {named:?}", rule.id);
        }
    }
}

#[test]
fn a_page_says_what_each_client_does_with_the_example() {
    let (out, _) = run(["explain", "eds-endpoint-weight-sum"].map(str::to_owned).to_vec(), b"");
    let out = String::from_utf8(out).unwrap();
    let line = out
        .lines()
        .find(|line| line.starts_with("clients, with the first rejected example: "))
        .unwrap();
    assert!(
        line.contains("nack in go >=1.80; resource accepted by cpp, go <1.80"),
        "{line}"
    );
}

fn check(section: &str) {
    let differences: Vec<String> = xdsctl_lint::catalogue::rules()
        .flat_map(|rule| differences(rule, section))
        .collect();
    assert!(
        differences.is_empty(),
        "{} examples differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn rejected_examples_have_exactly_the_findings_that_they_name() {
    check("Rejected");
}

#[test]
fn accepted_examples_do_not_have_the_finding_of_their_page() {
    check("Accepted");
}
