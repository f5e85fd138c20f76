//! The commands that get every input. To add one, add a line.

use std::path::{Path, PathBuf};

/// Returns the file of an input of half the size.
pub fn other(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("other-{name}"))
}

/// Returns the arguments of a command for a file, and for the world that a script is played on.
pub fn arguments(command: &[&str], file: &Path, world: Option<&Path>) -> Vec<String> {
    let path = file.display().to_string();
    let other = other(file).display().to_string();
    let put = |word: &&str| word.replace("FILE", &path).replace("OTHER", &other);
    let mut args: Vec<String> = command.iter().map(put).collect();
    let has_file = command.iter().any(|word| word.contains("FILE"));
    if world.is_some() || !has_file {
        args.push(world.unwrap_or(file).display().to_string());
    }
    args
}

/// The arguments of commands. The input's file follows, or replaces `FILE`. `OTHER` is an input
/// like it of half the size.
pub const COMMANDS: &[&[&str]] = &[
    &["validate"],
    &["validate", "--all", "--min-severity=note", "--color=always"],
    &["validate", "--format=json"],
    &["validate", "--format=json", "--min-severity=note", "--show=parsed"],
    &["validate", "--show=parsed", "--target=xds:///l"],
    &["validate", "--format=sarif"],
    &["validate", "--format=github"],
    &["validate", "--format=junit"],
    &["validate", "--format=markdown"],
    &["validate", "--format=gitlab"],
    &["validate", "--format=concise"],
    &["validate", "--format=jsonl"],
    &["validate", "--client=all", "--format=json"],
    &["validate", "--matrix", "--client=all"],
    &["validate", "--fix", "--diff", "FILE"],
    &["diff", "FILE", "FILE"],
    &["diff", "OTHER", "FILE"],
    &["diff", "FILE", "OTHER", "--all", "--format=json"],
    &["who", "c"],
    &["who", "c", "--all", "--format=json"],
    &["validate", "--as=bootstrap"],
    &["validate", "--bootstrap=FILE"],
    &["tree"],
    &["tree", "--all", "--layout=a37", "--color=always"],
    &["tree", "--format=json"],
    &["tree", "--format=dot"],
    &["tree", "--format=mermaid"],
    &["tree", "--format=svg"],
    &["tree", "--cluster=c"],
    &["route"],
    &["route", "--format=json"],
    &["pick"],
    &["pick", "--explain", "--format=json"],
    &["pick", "--count=1000"],
    &["pick", "--down=c", "--count=3"],
    &["pick", "--address=10.0.0.1:80"],
    &["pick", "--bootstrap=FILE"],
    &["test", "--init"],
    &["test", "--record"],
    &["retry"],
    &["retry", "--format=json"],
];

/// The arguments of the commands that play suites. The file of the suite follows.
pub const PLAYED: &[&[&str]] = &[
    &["test"],
    &["test", "--explain", "--coverage", "--color=always"],
    &["test", "--format=json", "--coverage"],
    &["test", "--format=junit"],
    &["test", "--format=github"],
    &["simulate"],
    &["simulate", "--chart", "--only=step,rpc"],
    &["simulate", "--format=jsonl"],
    &["simulate", "--format=svg"],
];

/// The arguments of `validate` for settings of a project, which replace `FILE`. The world follows.
pub const CONFIGURED: &[&[&str]] = &[
    &["validate", "--config=FILE", "--format=json"],
    &["validate", "--config=FILE"],
];

/// The arguments of `validate` for a baseline, which replaces `FILE`. The world follows.
pub const KNOWN: &[&[&str]] = &[&["validate", "--no-config", "--baseline=FILE"]];

/// The arguments for a log on standard input.
pub const TOLD: &[&[&str]] = &[&["explain", "-", "<FILE"], &["explain", "--format=json", "-", "<FILE"]];

/// Returns the arguments of a run without a last one that begins with `<`, and the bytes of the
/// file that it names, which are for standard input.
pub fn standard_input(args: &[String]) -> (&[String], Vec<u8>) {
    match args.split_last() {
        Some((last, args)) if last.starts_with('<') => {
            let bytes = std::fs::read(&last[1..]);
            (args, bytes.unwrap_or_default())
        }
        _ => (args, Vec::new()),
    }
}

/// The arguments of `pick` for a script, which replaces `FILE`.
pub const SCRIPTED: &[&[&str]] = &[
    &["pick", "--requests=FILE"],
    &["pick", "--requests=FILE", "--format=json"],
];
