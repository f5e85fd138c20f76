//! Checks that findings are the command line's, for every fixture: rule, severity, message and
//! bytes.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xdsctl_cli::Io;

use crate::client::{Client, directory, place, uri};

/// A finding of the command line: document, rule, severity, message, first and last byte.
type Said = (String, String, u64, String, (u64, u64), (u64, u64));

fn command_line(project: &Path) -> Vec<Said> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let line = ["xdsctl", "validate", "--format", "json", "--config"];
    let config = project.join("xdsctl.toml");
    let line = line
        .map(Into::into)
        .into_iter()
        .chain([config.into_os_string(), project.into()]);
    let io = Io::piped(std::io::empty(), &mut out, &mut err);
    xdsctl_cli::run(line, io);
    if out.is_empty() {
        return Vec::new();
    }
    let report: Value =
        serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out)));
    let of_resources = report["resources"].as_array().unwrap().iter();
    let of_resources = of_resources.flat_map(|resource| {
        let file = resource["file"].as_str().unwrap().to_owned();
        resource["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(move |row| (file.clone(), row))
    });
    let of_documents = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (String::new(), row));
    let mut said: Vec<Said> = of_resources
        .chain(of_documents)
        .filter_map(|(file, row)| {
            let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let severity = ["", "error", "warning", "note"]
                .iter()
                .position(|word| *word == text("severity"))?;
            let written = text("file");
            let is_decoded = written.ends_with(" (decoded)");
            let document = if written.is_empty() {
                file
            } else {
                written.trim_end_matches(" (decoded)").to_owned()
            };
            let bytes = fs::read(&document).ok()?;
            let source = String::from_utf8(bytes).ok();
            let at = |key: &str| match (&source, row[key].as_u64().filter(|_| !is_decoded)) {
                (Some(source), Some(offset)) => place(source, (offset as usize).min(source.len())),
                _ => (0, 0),
            };
            let pair = |(line, column): (usize, usize)| (line as u64, column as u64);
            Some((
                document,
                text("rule"),
                severity as u64,
                text("message"),
                pair(at("byte_start")),
                pair(at("byte_end")),
            ))
        })
        .collect();
    // A suite is not configuration: its shape is not reported, but its faults as a suite are.
    for file in fs::read_dir(project).unwrap().map(|entry| entry.unwrap().path()) {
        if let Some(faults) = suite(&file) {
            let name = file.display().to_string();
            said.retain(|said| {
                said.0 != name || !["dump-unknown-shape", "dump-no-resource", "dump-empty"].contains(&&*said.1)
            });
            said.extend(
                faults
                    .into_iter()
                    .map(|(place, message)| (name.clone(), String::new(), 1, message, place, (0, 0))),
            );
        }
    }
    said.sort();
    said
}

/// Returns the faults of a suite, each with its place; `None` if the file is not a suite.
fn suite(file: &Path) -> Option<Vec<((u64, u64), String)>> {
    let text = fs::read_to_string(file).ok()?;
    let begins = |line: &str| line.starts_with("steps:") || line.starts_with("tests:");
    if !text.lines().any(begins) {
        return None;
    }
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let io = Io::piped(std::io::empty(), &mut out, &mut err);
    let line = ["xdsctl", "test", "--format", "json", "--"].map(Into::into).into_iter();
    xdsctl_cli::run(line.chain([file.as_os_str().to_owned()]), io);
    let report: Value = serde_json::from_slice(&out).unwrap();
    let faults = report["suites"][0]["faults"].as_array().unwrap().iter();
    let faults = faults.map(|fault| {
        let place = |key: &str| fault[key].as_u64().unwrap() - 1;
        (
            (place("line"), place("column")),
            fault["message"].as_str().unwrap().to_owned(),
        )
    });
    Some(faults.collect())
}

fn server(client: &Client, project: &Path) -> Vec<Said> {
    let mut said = Vec::new();
    for (document, (_, findings)) in &client.published {
        let file = document.strip_prefix("file://").unwrap().to_owned();
        if !Path::new(&file).starts_with(project) {
            continue;
        }
        for finding in findings {
            let at = |end: &str| {
                let place = &finding["range"][end];
                (place["line"].as_u64().unwrap(), place["character"].as_u64().unwrap())
            };
            let rule = finding["code"].as_str().unwrap_or_default();
            said.push((
                file.clone(),
                rule.to_owned(),
                finding["severity"].as_u64().unwrap(),
                finding["message"].as_str().unwrap().to_owned(),
                at("start"),
                // The command line gives only the beginning of a suite's fault.
                if rule.is_empty() { (0, 0) } else { at("end") },
            ));
        }
    }
    said.sort();
    said
}

/// Returns the text of a file for the editor. Editors count a lone `\r` as a line, so texts with
/// one are left out.
fn is_editable(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let is_long = text.len() > 2 << 20;
    (!is_long && !text.replace("\r\n", "").contains('\r') && !text.starts_with('\u{feff}')).then_some(text)
}

/// Returns the findings of all documents, once they are those of the command line.
fn check(project: &Path) -> Vec<Said> {
    let expected = command_line(project);
    let mut client = Client::open(project);
    let mut files: Vec<PathBuf> = fs::read_dir(project)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.retain(|file| file.is_file() && !file.ends_with("xdsctl.toml"));
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .filter_map(|file| Some((file.clone(), is_editable(&file)?)))
        .collect();
    for (file, text) in &texts {
        client.did_open(file, text);
    }
    let last = texts.last();
    for (file, _) in &texts {
        client.findings(file, 1);
    }
    // Each check publishes all documents; the last one has seen all of them.
    if let Some((file, text)) = last {
        client.change(file, 2, text);
        client.findings(file, 2);
    }
    client
        .ask(
            "textDocument/foldingRange",
            serde_json::json!({"textDocument": {"uri": uri(&last.unwrap().0)}}),
        )
        .unwrap();
    let is_same_document = |one: &Said, other: &Said| one.0 == other.0;
    let found = server(&client, project);
    for said in &expected {
        assert!(
            found.contains(said),
            "not said: {said:?}; said of it: {:?}",
            found
                .iter()
                .filter(|other| is_same_document(said, other))
                .collect::<Vec<_>>()
        );
    }
    assert_eq!(found, expected, "{}", project.display());
    assert_eq!(client.end(), std::process::ExitCode::SUCCESS);
    found
}

/// Returns the files of resources below these directories of the fixtures.
fn fixtures(names: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut files = Vec::new();
    let mut directories: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if path.is_dir() {
                directories.push(path);
            } else if ENDINGS.contains(&ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The extensions of documents.
const ENDINGS: [&str; 7] = ["json", "yaml", "jsonl", "textproto", "binpb", "yml", "pb"];

/// All directories with documents. `suites` also has suites.
const ALL: [&str; 9] = [
    "captures",
    "conformance",
    "dumps",
    "examples",
    "parsed",
    "router_check",
    "servers",
    "suites",
    "tree",
];

/// Checks each document alone.
#[test]
fn findings_are_those_of_the_command_line_document_by_document() {
    let mut count = 0;
    let mut documents = 0;
    for file in fixtures(&ALL) {
        if is_editable(&file).is_none() {
            continue;
        }
        let project = directory("one");
        fs::write(project.join("xdsctl.toml"), "").unwrap();
        fs::copy(&file, project.join(file.file_name().unwrap())).unwrap();
        count += check(&project).len();
        documents += 1;
        fs::remove_dir_all(&project).unwrap();
    }
    assert!(documents > 60 && count > 100, "{documents} documents, {count} findings");
}

/// Checks many documents together, which may be one world.
#[test]
fn findings_are_those_of_the_command_line_in_a_project() {
    let mut count = 0;
    for name in ALL {
        let project = directory("all");
        fs::write(project.join("xdsctl.toml"), "clients = [\"cpp\", \"go\", \"java\"]\n").unwrap();
        for file in fixtures(&[name]) {
            fs::copy(&file, project.join(file.file_name().unwrap())).unwrap();
        }
        count += check(&project).len();
        fs::remove_dir_all(&project).unwrap();
    }
    assert!(count > 100, "{count} findings");
}

/// Checks the rejected and accepted examples of every rule's page.
#[test]
fn findings_are_those_of_the_command_line_on_every_page() {
    let mut pages: Vec<&'static xdsctl_model::diag::Rule> = xdsctl_lint::catalogue::rules().collect();
    pages.sort_by_key(|rule| rule.id);
    let mut count = 0;
    for part in pages.chunks(60) {
        let project = directory("pages");
        fs::write(project.join("xdsctl.toml"), "worlds = \"file\"\n").unwrap();
        for rule in part {
            let examples = rule.page.split("```").skip(1).step_by(2);
            for (number, example) in examples.enumerate() {
                if let Some(text) = example.strip_prefix("yaml\n") {
                    fs::write(project.join(format!("{}-{number}.yaml", rule.id)), text).unwrap();
                }
            }
        }
        count += check(&project).len();
        fs::remove_dir_all(&project).unwrap();
    }
    assert!(count > 250, "{count} findings");
}

/// Checks what a team's own rules find in the cases of all policies, for several clients.
#[test]
fn findings_of_policies_are_those_of_the_command_line() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/policies");
    let mut files: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for worlds in ["file", "all"] {
        let project = directory("policies");
        fs::create_dir(project.join("policies")).unwrap();
        let settings = format!("worlds = \"{worlds}\"\npolicies = [\"policies\"]\nclients = [\"cpp\", \"go\"]\n");
        fs::write(project.join("xdsctl.toml"), settings).unwrap();
        let mut ids = 0;
        for file in &files {
            let text = fs::read_to_string(file).unwrap();
            let name = file.file_name().unwrap();
            fs::write(project.join("policies").join(name), &text).unwrap();
            ids += text.matches("[[policy]]").count();
            let table: toml::Table = toml::from_str(&text).unwrap();
            let policies = table["policy"].as_array().unwrap().iter();
            let cases = policies.flat_map(|policy| ["accepted", "rejected"].map(|kind| policy.get(kind)));
            let cases = cases.flatten().flat_map(|cases| cases.as_array().unwrap());
            let texts = cases.filter_map(|case| case.get("yaml")?.as_str());
            for (number, text) in texts.enumerate() {
                fs::write(project.join(format!("{}-{number:02}.yaml", name.display())), text).unwrap();
            }
        }
        let found = check(&project);
        let of_team = found.iter().filter(|said| said.1.starts_with("team-"));
        let rules: std::collections::BTreeSet<&str> = of_team.map(|said| said.1.as_str()).collect();
        // Some policies are about connected resources, and find nothing in a world of one document,
        // or of all.
        assert!(
            ids > 20 && rules.len() * 2 > ids,
            "{} of {ids} policies find something",
            rules.len()
        );
        fs::remove_dir_all(&project).unwrap();
    }
}

/// Checks the faults of suites.
#[test]
fn faults_of_suites_are_those_of_the_command_line() {
    let mut count = 0;
    for text in [
        "world: .\nsteps:\n- nonsense: 2\n- pick: {coutn: 1}\n  expect: {status: WHAT}\n",
        "world: .\ntests:\n- name: a\n  steps: 1\n- name: a\n  step: []\n",
        "world: .\nsteps:\n- pick: {\n",
        "world: .\nsteps: []\nworld: ..\n",
    ] {
        let project = directory("suites");
        fs::write(project.join("xdsctl.toml"), "").unwrap();
        fs::write(project.join("suite.yaml"), text).unwrap();
        count += check(&project).len();
        fs::remove_dir_all(&project).unwrap();
    }
    assert!(count > 5, "{count} faults");
}

/// Checks the faults of settings, or of a file of policies that they name. The command line can
/// then report nothing else; an editor still reports what is true without them.
#[test]
fn faults_of_settings_are_those_of_the_command_line() {
    const POLICY: &str = "[[policy]]\nid = \"team-a\"\nmatch = \"cluster\"\nmessage = \"m\"\n";
    let named = "policies = [\"own\"]\n";
    for (settings, policies) in [
        ("worlds = \"nowhere\"\n", String::new()),
        ("clients = [\"cpp\", \"pascal\"]\n", String::new()),
        ("complete = 1\n", String::new()),
        ("[rules]\n\"no-such-rule\" = \"off\"\n", String::new()),
        ("[[ignore]]\nrule = \"cds-dns\"\n", String::new()),
        ("= 1\n", String::new()),
        (named, format!("{POLICY}expression = \"parsed.nam == 'a'\"\n")),
        (named, POLICY.replace("cluster", "clusters") + "expression = \"true\"\n"),
        (named, format!("{POLICY}expression = \"true\"\nother = 1\n")),
    ] {
        let project = directory("settings");
        fs::create_dir(project.join("own")).unwrap();
        let (config, own) = (project.join("xdsctl.toml"), project.join("own/a.toml"));
        fs::write(&config, settings).unwrap();
        fs::write(&own, &policies).unwrap();
        let endpoints = project.join("eds.yaml");
        fs::write(&endpoints, include_str!("shop/eds.yaml")).unwrap();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let io = Io::piped(std::io::empty(), &mut out, &mut err);
        let line: Vec<std::ffi::OsString> = [
            "xdsctl".into(),
            "validate".into(),
            "--config".into(),
            config.clone().into(),
            project.clone().into(),
        ]
        .into();
        xdsctl_cli::run(line, io);
        let printed = String::from_utf8(err).unwrap();
        let mut client = Client::open(&project);
        client.did_open(&config, settings);
        client.did_open(&own, &policies);
        client.did_open(&endpoints, include_str!("shop/eds.yaml"));
        let (faulty, text) = if policies.is_empty() {
            (&config, settings)
        } else {
            (&own, &*policies)
        };
        client.findings(&endpoints, 1);
        client.change(faulty, 2, text);
        let found = client.findings(faulty, 2);
        assert_eq!(found.len(), 1, "{settings}{policies}: {found:?}");
        let start = &found[0]["range"]["start"];
        let place = |key: &str| start[key].as_u64().unwrap() + 1;
        let said = format!(
            "xdsctl: {}:{}:{}: {}\n",
            faulty.display(),
            place("line"),
            place("character"),
            found[0]["message"].as_str().unwrap()
        );
        assert!(printed.starts_with(&said), "{printed} is not {said}");
        // The server still answers for the other documents.
        let found = client.findings(&endpoints, 1);
        let rules: Vec<&Value> = found.iter().map(|finding| &finding["code"]).collect();
        assert!(
            rules.contains(&&Value::from("eds-locality-without-weight")),
            "{settings}: {rules:?}"
        );
        client.end();
        fs::remove_dir_all(&project).unwrap();
    }
}
