//! Compares the lists in `docs/architecture.md` of files that a change touches with the sources: to
//! add a subcommand or a report format, the list names every place, and no other file has to
//! change.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The most files that a new subcommand touches.
const MAX_TOUCHED: usize = 5;

/// Files outside of the list that name a subcommand: they read arguments that only it has.
const KNOW_ONE: &[(&str, &str)] = &[
    ("Completions", "commands/generate.rs"),
    ("Fetch", "io/live/connect.rs"),
    ("Serve", "io/live/connect.rs"),
    ("Tree", "commands/serve.rs"),
    ("Validate", "commands/lsp/mod.rs"),
];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/cli/src")
}

fn read(file: &str) -> String {
    fs::read_to_string(sources().join(file)).unwrap()
}

/// Returns the files of the list for a change, as they are in its row.
fn listed(change: &str) -> Vec<String> {
    let text = read("../../../docs/architecture.md");
    let row = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("| {change} | ")));
    let files = row.unwrap().split('`').skip(1).step_by(2);
    files.filter(|file| file.ends_with(".rs")).map(str::to_owned).collect()
}

/// Finds the files below `folder` whose text has one of these words as a whole word.
fn naming(words: &[String], folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            naming(words, &entry, found);
            continue;
        }
        let text = fs::read_to_string(&entry).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let is_named = |word: &String| {
            let in_word = |c: char| c.is_alphanumeric() || c == '_';
            text.match_indices(word.as_str()).any(|(at, _)| {
                let (before, after) = (&text[..at], &text[at + word.len()..]);
                !before.ends_with(in_word) && !after.starts_with(in_word)
            })
        };
        if words.iter().any(is_named) {
            let file = entry.strip_prefix(sources()).unwrap();
            found.insert(file.to_string_lossy().replace('\\', "/"));
        }
    }
}

/// Returns the variants of an enum in a file, each with the text in its brackets.
fn variants(file: &str, name: &str) -> Vec<(String, String)> {
    let text = read(file);
    let body = text.split_once(&format!("pub enum {name} {{\n")).unwrap().1;
    let lines = body.lines().take_while(|line| *line != "}").map(str::trim);
    let lines = lines.filter(|line| line.starts_with(char::is_uppercase));
    let variant = |line: &str| {
        let line = line.trim_end_matches(',');
        let (name, held) = line.split_once('(').unwrap_or((line, ""));
        (name.to_owned(), held.trim_end_matches(')').to_owned())
    };
    lines.map(variant).collect()
}

#[test]
fn a_subcommand_touches_the_files_that_the_architecture_lists() {
    let listed = listed("a subcommand");
    let needed: Vec<&String> = listed
        .iter()
        .filter(|file| !file.starts_with("crates/report/"))
        .collect();
    assert!(listed.len() <= MAX_TOUCHED, "{listed:?}");
    let commands = variants("args.rs", "Command");
    assert!(commands.len() > 15, "{commands:?}");
    for (name, held) in commands {
        let arguments = held.trim_start_matches("Box<").trim_end_matches('>').to_owned();
        let words = [
            format!("Command::{name}"),
            arguments,
            format!("examples::{}", name.to_uppercase()),
        ];
        let mut found = BTreeSet::new();
        naming(&words, &sources(), &mut found);
        if read("args/examples.rs").contains(&format!("pub const {}: &str", name.to_uppercase())) {
            found.insert("args/examples.rs".to_owned());
        }
        let lower = name.to_lowercase();
        let is_listed = |file: &&String| {
            let own = [format!("commands/{lower}.rs"), format!("commands/{lower}/")];
            let is_own = file.as_str() == own[0] || file.starts_with(&own[1]);
            // Arguments of one kind share a file, which `args.rs` names.
            let is_known = listed.contains(file) || file.starts_with("args/");
            is_own || is_known || KNOW_ONE.contains(&(name.as_str(), file.as_str()))
        };
        let others: Vec<&String> = found.iter().filter(|file| !is_listed(file)).collect();
        assert!(
            others.is_empty(),
            "`{lower}` is known to {others:?}, which the list does not have"
        );
        let is_there = |file: &str| found.contains(&file.replace("NAME", &lower));
        let is_hidden = ["Generate", "Completions", "Mask"].contains(&name.as_str());
        let missing = needed
            .iter()
            .filter(|file| !is_hidden && !file.contains("NAME") && !is_there(file));
        assert_eq!(missing.count(), 0, "`{lower}` is in {found:?}, the list is {listed:?}");
    }
}

#[test]
fn a_report_format_touches_the_files_that_the_architecture_lists() {
    let listed: BTreeSet<String> = listed("a report format of `validate`").into_iter().collect();
    let formats = variants("args/format.rs", "ReportFormat");
    assert!(formats.len() > 8, "{formats:?}");
    let mut known = BTreeSet::new();
    for (name, _) in &formats {
        let mut found = BTreeSet::new();
        naming(&[format!("ReportFormat::{name}")], &sources(), &mut found);
        let module = format!("pub mod {};", name.to_lowercase());
        if read("../../report/src/findings/mod.rs").contains(&module) {
            found.insert("crates/report/src/findings/mod.rs".to_owned());
            found.insert("crates/report/src/findings/NAME.rs".to_owned());
        }
        known.insert((name.clone(), found));
    }
    // A file that knows each format has a `match` over all of them, which the compiler checks.
    // Other files ask for single formats.
    let has_all = |file: &String| {
        let having = known.iter().filter(|(_, files)| files.contains(file)).count();
        having == formats.len() || file.starts_with("crates/report/src/findings/")
    };
    let all: BTreeSet<String> = known
        .iter()
        .flat_map(|(_, files)| files)
        .filter(|file| has_all(file))
        .cloned()
        .collect();
    assert_eq!(all, listed);
}
