//! Checks that the transcripts in the README and in `docs/` are what the commands print.
//!
//! A transcript is a ` ```text ` block below a comment that names this file. Its command is the
//! last `$` line before it.

use std::path::PathBuf;
use std::process::Command;

use crate::support::root;

/// The line before a transcript of all that a command prints.
const WHOLE: &str = "<!-- tests/readme.rs compares this with what the command prints -->\n```text\n";

/// The line before some lines of what a command prints, in their order.
const PART: &str = "<!-- tests/readme.rs finds this in what the command prints -->\n```text\n";

/// The most lines of the README.
const README_LINES: usize = 250;

/// The most columns of a line of prose.
const PROSE_COLUMNS: usize = 100;

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages.push(root().join("README.md"));
    pages
}

/// Splits a command line into words, some of which are in single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Returns what a line like `$ xdsctl tree FILE` prints, run from the root of the project.
fn printed(line: &str) -> String {
    let args = line
        .strip_prefix("$ cargo run -- ")
        .or_else(|| line.strip_prefix("$ xdsctl "))
        .unwrap_or_else(|| panic!("`{line}` is no command of xdsctl"));
    let (args, input) = args
        .split_once(" < ")
        .map_or((args, "/dev/null"), |(args, file)| (args, file));
    let output = Command::new(env!("CARGO_BIN_EXE_xdsctl"))
        .args(words(args))
        .stdin(std::fs::File::open(root().join(input)).unwrap())
        .current_dir(root())
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let code = match (args.starts_with("validate"), printed.contains(": the verdict on ")) {
        (true, true) => 2,
        (true, false) => 1,
        // The last line of `admit` says how it ends.
        (false, _) if args.starts_with("admit --who") => 0,
        (false, _) if args.starts_with("admit") => i32::from(!printed.ends_with("\nserved\n")),
        (false, _) => 0,
    };
    assert_eq!(output.status.code(), Some(code), "{line}");
    printed
}

#[test]
fn transcripts_are_real() {
    let mut checked = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for mark in [WHOLE, PART] {
            for (at, _) in text.match_indices(mark) {
                let shown = text[at + mark.len()..].split("```").next().unwrap();
                let line = text[..at].lines().rfind(|line| line.starts_with("$ ")).unwrap();
                let printed = printed(line);
                checked += 1;
                if mark == WHOLE {
                    assert_eq!(printed, shown, "update {}: {line}", page.display());
                } else {
                    let is_there = printed.starts_with(shown) || printed.contains(&format!("\n{shown}"));
                    assert!(
                        is_there,
                        "update {}: {line} prints\n{printed}and not\n{shown}",
                        page.display()
                    );
                }
            }
        }
    }
    assert!(checked > 10, "the pages have lost their transcripts");
}

#[test]
fn links_between_pages_lead_somewhere() {
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let target = page.parent().unwrap().join(link.split('#').next().unwrap());
            assert!(target.exists(), "{}: nothing is at {link}", page.display());
        }
    }
}

/// Only code, tables and words without a space may be longer.
#[test]
fn prose_wraps_at_a_hundred_columns() {
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let mut in_code = false;
        for (number, line) in (1..).zip(text.lines()) {
            let is_fence = line.trim_start().starts_with("```");
            in_code ^= is_fence;
            let is_prose = !in_code && !is_fence && !line.trim_start().starts_with(['|', '#', '<']);
            let can_break = line.trim().contains(' ');
            assert!(
                !is_prose || !can_break || line.chars().count() <= PROSE_COLUMNS,
                "{}:{number}: more than {PROSE_COLUMNS} columns",
                page.display()
            );
        }
    }
}

#[test]
fn the_readme_is_short() {
    let lines = std::fs::read_to_string(root().join("README.md"))
        .unwrap()
        .lines()
        .count();
    assert!(
        lines <= README_LINES,
        "{lines} lines, at most {README_LINES}: move some to docs/"
    );
}

/// The README has the sections that a newcomer needs, in the order in which they are needed.
#[test]
fn the_readme_says_how_to_get_a_dump_install_and_run_in_ci() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let wanted = ["Install", "Get a dump", "In CI"];
    let found: Vec<&str> = headings
        .into_iter()
        .filter(|heading| wanted.contains(heading))
        .collect();
    assert_eq!(found, wanted);
    // Each section has something to paste, or a link to it.
    for heading in wanted {
        let section = text.split(&format!("## {heading}\n")).nth(1).unwrap();
        let section = section.split("\n## ").next().unwrap();
        assert!(section.contains('`') && section.len() > 100, "{heading}: {section}");
    }
}
