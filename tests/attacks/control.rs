//! Attacks by names and values that would move a terminal's cursor, or begin a line of their own:
//! no command prints one as it is.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use xdsctl_report::edge::is_plain;

use crate::attack;
use crate::chance::Chance;
use crate::run::{Run, directory, in_process};
use crate::world;

/// The beginning of a line that is somebody's text, not a report's.
const LINE: &str = "::error::";

/// Pieces of names.
const PIECES: [&str; 18] = [
    "\u{1b}[31m",
    "\u{1b}]0;t\u{7}",
    "\r",
    "\r\n::error::",
    "\n::error::",
    "\n",
    "\u{85}::error::",
    "\u{2028}::error::",
    "\u{202e}",
    "\u{2066}",
    "\u{9b}31m",
    "\u{0}",
    "\u{b}",
    "\u{7f}",
    "\t",
    "\u{fdd0}",
    "`",
    "%0A",
];

fn name(chance: &mut Chance) -> String {
    let pieces: String = (0..chance.between(1, 2)).map(|_| chance.one(&PIECES)).collect();
    format!("{}{pieces}{}", chance.one(&["", "n", "é"]), chance.one(&["", "z"]))
}

/// Puts hostile names into the strings and keys of a value.
fn spoil(value: &mut Value, chance: &mut Chance) {
    match value {
        Value::Object(fields) => {
            let old = std::mem::take(fields);
            for (mut key, mut value) in old {
                if key != "@type" {
                    spoil(&mut value, chance);
                    if chance.percent(3) {
                        key += &name(chance);
                    }
                }
                fields.insert(key, value);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| spoil(value, chance)),
        Value::String(text) if chance.percent(10) => *text += &name(chance),
        _ => {}
    }
}

/// Fails if a part of the output is not text that a person can trust.
#[track_caller]
fn check(args: &[&str], run: &Run) {
    assert!(matches!(run.code, Some(0..=2)), "{args:?}: {:?}", run.code);
    let is_patch = args.contains(&"--diff");
    for text in [&run.out, &run.err] {
        // A patch keeps the characters that `patch` compares.
        let of_patch = |c: char| is_patch && matches!(c, '\t' | '\u{feff}');
        let text = if is_patch {
            text.replace("\r\n", "\n")
        } else {
            text.clone()
        };
        let raw = text.chars().find(|c| !is_plain(*c) && !of_patch(*c));
        assert!(raw.is_none(), "{args:?} prints {raw:?}\n{text}");
        let begins = text.lines().any(|line| line.starts_with(LINE));
        assert!(!begins, "{args:?} begins a line with a name\n{text}");
    }
}

/// Writes a file whose name is as hostile as the system allows.
fn file(directory: &Path, chance: &mut Chance, ending: &str, text: &str) -> String {
    let file = directory.join(format!("{}.{ending}", name(chance).replace(['\0', '/'], "_")));
    let file = match fs::write(&file, text) {
        Ok(()) => file,
        Err(_) => {
            let plain = directory.join(format!("plain.{ending}"));
            fs::write(&plain, text).unwrap();
            plain
        }
    };
    file.to_str().unwrap().to_owned()
}

fn document(chance: &mut Chance) -> Value {
    let mut document = world::document(chance.below(3));
    spoil(&mut document, chance);
    match chance.below(4) {
        0 => json!({ "apiVersion": "v1", "kind": name(chance), "data": { name(chance): document.to_string() } }),
        1 => json!({ "config": [{ "node": { "id": name(chance) }, "generic_xds_configs": [{
            "type_url": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": name(chance), "version_info": name(chance),
            "client_status": "NACKED", "error_state": { "details": name(chance) }, "xds_config": document["resources"][1],
        }] }] }),
        _ => document,
    }
}

#[test]
fn settings_are_shown_on_lines_of_their_own() {
    let directory = directory("attacks", "control-settings");
    let text =
        "[[ignore]]\nrule = \"all\"\nreason = \"a\\n::error::b\\u001b[31m\"\nresource = \"\\n::error::x\"\n\n[rules]\n";
    let settings = directory.join("xdsctl.toml");
    fs::write(&settings, text).unwrap();
    let args = ["config", "show", "--config", settings.to_str().unwrap()];
    let run = in_process(&args, b"", |_| {});
    assert_eq!(run.code, Some(0), "{}", run.err);
    check(&args, &run);
}

#[test]
fn a_file_that_is_not_fixed_is_named_on_one_line() {
    let directory = directory("attacks", "control-fix");
    let mut document = world::document(0);
    let manager = &mut document["resources"][0]["api_listener"]["api_listener"];
    let route = &mut manager["route_config"]["virtual_hosts"][0]["routes"][0];
    route["match"]["headers"] = json!([{ "name": "X-User", "present_match": true }]);
    let file = directory.join("a\n::error::x.json");
    let log = format!("I0000 00:00:00.000000 1 xds_client.cc:1] [xds_client 0x1] received response: {document}\n");
    fs::write(&file, log).unwrap();
    for option in ["--diff", "--fix"] {
        let args = ["validate", "--no-config", option, file.to_str().unwrap()];
        let run = in_process(&args, b"", |_| {});
        assert!(run.err.contains("is not fixed: it is a log"), "{}", run.err);
        check(&args, &run);
    }
}

#[test]
fn an_argument_that_is_wrong_is_quoted_on_one_line() {
    for args in [
        ["no\u{1b}[31m\n::error::x"].as_slice(),
        &["validate", "--no\u{1b}[31m\n::error::x"],
        &["validate", "--format=no\u{1b}[31m\n::error::x"],
        &["validate", "--client", "no\u{1b}[31m\n::error::x"],
        &["clients", "no\u{1b}[31m\n::error::x"],
    ] {
        let run = in_process(args, b"", |_| {});
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(run.err.contains(r"no\u001b[31m\n::error::x"), "{args:?}: {}", run.err);
        check(args, &run);
    }
}

#[test]
fn control() {
    attack("control", |chance: &mut Chance, directory| {
        let (mut input, file) = {
            let document = document(chance);
            match chance.percent(50) {
                true => (
                    document.to_string(),
                    file(directory, chance, "json", &document.to_string()),
                ),
                false => (
                    world::yaml(&document),
                    file(directory, chance, "yaml", &world::yaml(&document)),
                ),
            }
        };
        let settings = directory.join("xdsctl.toml");
        let value = || Value::from(name(&mut Chance::new(input.len() as u64)));
        let text = match chance.below(8) {
            0 => format!("[[ignore]]\nrule = \"spec\"\nreason = {0}\nresource = {0}\n", value()),
            1 => format!("[rules]\n{} = \"off\"\n", value()),
            2 => format!("baseline = {}\n", value()),
            3 => format!("clients = [{}]\n", value()),
            4 => format!("{} = 1\n", value()),
            _ => String::new(),
        };
        fs::write(&settings, text).unwrap();
        let settings = settings.to_str().unwrap();
        let suite = json!({
            "world": Path::new(&file).file_name().unwrap().to_str().unwrap(), "target": format!("xds:///{}", name(chance)),
            "name": name(chance), "steps": [{ "pick": { "method": name(chance) }, "expect": { "cluster": name(chance) } }, { name(chance): 1 }],
        });
        let mut suite = suite.to_string();
        if chance.percent(50) {
            suite = suite.replace(r#","target":"#, r#","cluster":"a","was":"#);
        }
        let suite = self::file(directory, chance, "yaml", &suite);
        let format = format!(
            "--format={}",
            chance.one(&[
                "human", "json", "concise", "sarif", "github", "markdown", "junit", "gitlab", "jsonl"
            ])
        );
        let whole = directory.to_str().unwrap().to_owned();
        let word = name(chance).replace('\0', "");
        let args: Vec<&str> = match chance.below(14) {
            0..=4 => {
                let more = chance.one(&[
                    "--all",
                    "--min-severity=note",
                    "--client=go,java",
                    "--statistics",
                    "--matrix",
                    "--show=parsed",
                ]);
                vec![
                    "validate",
                    "--config",
                    settings,
                    &format,
                    more,
                    chance.one(&[file.as_str(), &whole]),
                ]
            }
            5 => vec!["validate", "--no-config", "--diff", &file],
            6 => vec![
                "tree",
                chance.one(&["--format=human", "--format=json", "--format=dot", "--format=svg"]),
                &file,
            ],
            7 => vec![chance.one(&["route", "pick", "retry"]), &file],
            8 => vec!["who", "--", &word, &file],
            9 => vec![
                "diff",
                chance.one(&[
                    "--format=human",
                    "--format=json",
                    "--format=github",
                    "--format=markdown",
                ]),
                &file,
                &whole,
            ],
            10 => vec![
                "test",
                chance.one(&[
                    "--explain",
                    "--coverage",
                    "--format=junit",
                    "--format=github",
                    "--format=markdown",
                    "--update",
                ]),
                &suite,
            ],
            11 => vec![
                "simulate",
                chance.one(&["--format=human", "--format=jsonl", "--chart"]),
                &suite,
            ],
            12 => vec!["test", chance.one(&["--init", "--record"]), &file],
            _ => {
                input = input.replace("\\n", "\n");
                vec!["validate", "--no-config", &format, "--stdin-filename", &word, "-"]
            }
        };
        check(&args, &in_process(&args, &input, |_| {}));
    });
}
