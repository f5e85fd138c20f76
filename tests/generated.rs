//! Checks that `man/` and `completions/` are what `xdsctl generate` writes, that help ends with
//! valid examples, and that completions know rules.

use std::collections::BTreeMap;

use clap_complete::Shell;
use xdsctl_cli::command;
use xdsctl_cli::generate::{completion_scripts, completions, man_pages};

use crate::run::run;
use crate::support::root;

/// Compares the files of a directory with `wanted`. With XDSCTL_BLESS it first writes them.
#[track_caller]
fn check_current(directory: &str, wanted: Vec<(String, Vec<u8>)>) {
    let wanted: BTreeMap<String, Vec<u8>> = wanted.into_iter().collect();
    let path = root().join(directory);
    if std::env::var_os("XDSCTL_BLESS").is_some() {
        for (name, text) in &wanted {
            std::fs::write(path.join(name), text).unwrap();
        }
    }
    let committed: BTreeMap<String, Vec<u8>> = std::fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    let stale: Vec<&String> = wanted
        .keys()
        .chain(committed.keys())
        .filter(|name| committed.get(*name) != wanted.get(*name))
        .collect();
    assert!(
        stale.is_empty(),
        "{stale:?} are not current: run `cargo run -- generate {directory}`"
    );
}

#[test]
fn man_pages_are_current() {
    check_current("man", man_pages().unwrap());
}

#[test]
fn completion_scripts_are_current() {
    check_current("completions", completion_scripts());
}

#[test]
fn man_pages_name_values_and_show_examples() {
    for (name, page) in man_pages().unwrap() {
        let page = String::from_utf8(page).unwrap();
        assert_eq!(page.matches(".SH EXAMPLES\n.nf\nxdsctl ").count(), 1, "{name}");
        assert!(!page.contains(".SH EXTRA"), "{name}");
    }
    let pages: BTreeMap<String, Vec<u8>> = man_pages().unwrap().into_iter().collect();
    let validate = String::from_utf8(pages["xdsctl-validate.1"].clone()).unwrap();
    assert!(validate.contains("gitlab: GitLab"), "{validate}");
    assert!(!validate.contains("cds\\-lb\\-policy"), "every rule would be listed");
}

#[test]
fn help_ends_with_three_examples_that_parse() {
    let mut root = command();
    root.build();
    let commands = root
        .get_subcommands()
        .filter(|c| !c.is_hide_set() && c.get_name() != "help");
    let mut count = 0;
    for command in commands.chain([&root]) {
        let name = command.get_name();
        let args: &[&str] = if name == "xdsctl" {
            &["--help"]
        } else {
            &[name, "--help"]
        };
        let help = String::from_utf8(run(args, b"").0).unwrap();
        let (_, examples) = help
            .split_once("\nExamples:\n")
            .unwrap_or_else(|| panic!("{name}: no examples"));
        let examples: Vec<&str> = examples.lines().collect();
        assert_eq!(examples.len(), 3, "{name}");
        for example in examples {
            let example = example.trim().split(" > ").next().unwrap();
            let mut words = Vec::new();
            for (number, part) in example.split('\'').enumerate() {
                match number % 2 {
                    0 => words.extend(part.split_whitespace()),
                    _ => words.push(part),
                }
            }
            assert!(name == "xdsctl" || words[1] == name, "{example}");
            let parsed = <xdsctl_cli::Args as clap::Parser>::try_parse_from(&words);
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            count += 1;
        }
    }
    assert!(count >= 27, "{count}");
}

#[test]
fn completions_know_rules_and_files() {
    for shell in [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
        let (out, err) = run(["completions", &shell.to_string()], b"");
        assert!(err.is_empty());
        assert_eq!(out, completions(shell));
        let script = String::from_utf8(out).unwrap();
        // Elvish and PowerShell only complete flags.
        let names_values = matches!(shell, Shell::Bash | Shell::Fish | Shell::Zsh);
        assert_eq!(script.contains("eds-locality-without-weight"), names_values, "{shell}");
    }
    assert!(String::from_utf8(completions(Shell::Zsh)).unwrap().contains(":_files"));
}

#[test]
fn the_version_names_the_client() {
    let version = String::from_utf8(run(["--version"], b"").0).unwrap();
    let client = xdsctl_model::profile::Profile::default().name();
    assert_eq!(version, format!("xdsctl {} ({client})\n", env!("CARGO_PKG_VERSION")));
}

/// The schemas of input files.
const INPUTS: [&str; 2] = ["policy", "scenario"];

#[test]
fn every_json_answer_has_a_schema() {
    let page = std::fs::read_to_string(root().join("docs/json.md")).unwrap();
    let pages: std::collections::BTreeSet<&str> = page
        .split("## `xdsctl.")
        .skip(1)
        .map(|rest| rest.split('/').next().unwrap())
        .collect();
    let mut schemas = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(root().join("docs/schemas")).unwrap() {
        let path = entry.unwrap().path();
        let schema: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if INPUTS.contains(&name.as_str()) {
            continue;
        }
        assert_eq!(schema["properties"]["schema"]["const"], format!("xdsctl.{name}/v1"));
        schemas.insert(name);
    }
    assert!(
        schemas.iter().map(String::as_str).eq(pages),
        "docs/json.md and docs/schemas/"
    );
}

/// The line before the table of features in `docs/clients.md`; the table ends at the page's next
/// heading.
const FEATURES: &str = "<!-- tests/generated.rs writes this table with XDSCTL_BLESS=1 -->\n";

/// Returns the table of features in Markdown, from the output of `xdsctl clients`.
pub fn feature_table() -> String {
    let printed = String::from_utf8(run(["clients"], b"").0).unwrap();
    let table = printed.split("\n\n").nth(1).unwrap();
    let head: Vec<char> = table.lines().next().unwrap().chars().collect();
    let begins = |at: usize| head[at] != ' ' && (at == 0 || head[at - 1] == ' ');
    let starts: Vec<usize> = (0..head.len()).filter(|at| begins(*at)).collect();
    let row = |line: &str| {
        let line: Vec<char> = line.chars().collect();
        let ends = starts.iter().skip(1).copied().chain([usize::MAX]);
        let cells = starts.iter().zip(ends).map(|(start, end)| {
            let cell: String = line[(*start).min(line.len())..end.min(line.len())].iter().collect();
            cell.trim().replace('|', "\\|").replace('<', "&lt;")
        });
        let cells: Vec<String> = cells.collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut lines = table.lines();
    let mut out = row(&lines.next().unwrap().to_lowercase());
    out.push_str(&format!("|{}\n", "---|".repeat(starts.len())));
    lines.for_each(|line| out.push_str(&row(line)));
    out
}

#[test]
fn the_table_of_features_is_current() {
    let path = root().join("docs/clients.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(FEATURES).unwrap();
    let after = &rest[rest.find("\n## ").unwrap()..];
    let wanted = format!("{before}{FEATURES}{}{after}", feature_table());
    if std::env::var_os("XDSCTL_BLESS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page == wanted, "run this test with XDSCTL_BLESS=1");
}
