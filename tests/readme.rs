//! The README's transcript is what the command prints.

use std::process::Command;

#[test]
fn the_transcript_is_real() {
    let root = env!("CARGO_MANIFEST_DIR");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).unwrap();
    let shown = readme.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let line = readme.lines().find(|line| line.starts_with("$ cargo run")).unwrap();
    let args = line.split_once("-- ").unwrap().1.split_whitespace();
    let output = Command::new(env!("CARGO_BIN_EXE_xdsctl"))
        .args(args)
        .current_dir(root)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), shown, "update README.md");
}
