//! The README's transcripts are what the commands print.
//!
//! A transcript is a ` ```text ` block below the comment that names this file; its command is the last `$` line before it.

use std::process::Command;

use crate::support::root;

/// Stands before every transcript.
const MARK: &str = "<!-- tests/readme.rs compares this with what the command prints -->\n```text\n";

#[test]
fn transcripts_are_real() {
    let root = root();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let transcripts: Vec<(usize, &str)> = readme.match_indices(MARK).collect();
    assert!(transcripts.len() > 5, "the README has lost its transcripts");
    for (at, mark) in transcripts {
        let shown = readme[at + mark.len()..].split("```").next().unwrap();
        let line = readme[..at].lines().rfind(|line| line.starts_with("$ ")).unwrap();
        let args = line
            .strip_prefix("$ cargo run -- ")
            .or_else(|| line.strip_prefix("$ xdsctl "))
            .unwrap_or_else(|| panic!("`{line}` is no command of xdsctl"));
        let output = Command::new(env!("CARGO_BIN_EXE_xdsctl"))
            .args(args.split_whitespace())
            .current_dir(root)
            .env("NO_COLOR", "1")
            .env_remove("COLUMNS")
            .output()
            .unwrap();
        let code = if args.starts_with("validate") { 1 } else { 0 };
        assert_eq!(output.status.code(), Some(code), "{line}");
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            shown,
            "update README.md: {line}"
        );
    }
}
