//! Runs the command, in process and as a program, and provides directories for the files of tests.
#![allow(dead_code, reason = "not every test binary uses all of it")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;
use xdsctl_cli::Io;

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}\n{}\n{}", self.out, self.err))
    }

    /// Returns every finding as `rule path`, in the order of the report.
    pub fn findings(&self) -> Vec<String> {
        let report = self.json();
        let of_resources = report["resources"].as_array().unwrap().iter();
        of_resources
            .map(|r| &r["findings"])
            .chain([&report["findings"]])
            .flat_map(|list| list.as_array().unwrap())
            .map(|f| {
                format!("{} {}", f["rule"].as_str().unwrap(), f["path"].as_str().unwrap())
                    .trim()
                    .to_owned()
            })
            .collect()
    }

    /// Returns `rule name` for every finding, sorted; findings on documents have no name.
    pub fn named_findings(&self) -> Vec<String> {
        let report = self.json();
        let mut found = Vec::new();
        for resource in report["resources"].as_array().unwrap().iter().chain([&report]) {
            let name = resource["name"].as_str().unwrap_or("-");
            for finding in resource["findings"].as_array().unwrap() {
                found.push(format!("{} {name}", finding["rule"].as_str().unwrap()));
            }
        }
        found.sort();
        found
    }
}

/// Returns what `xdsctl ARGS` writes to standard output and standard error when it reads `input`,
/// without a terminal.
pub fn run<T: Into<std::ffi::OsString> + Clone>(args: impl IntoIterator<Item = T>, input: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (_, out, err) = run_with_exit(args, input);
    (out, err)
}

/// Returns the exit code and what [`run`] returns.
pub fn run_with_exit<T: Into<std::ffi::OsString> + Clone>(
    args: impl IntoIterator<Item = T>,
    input: &[u8],
) -> (ExitCode, Vec<u8>, Vec<u8>) {
    run_on(args, input, |_| {})
}

fn run_on<T: Into<std::ffi::OsString> + Clone>(
    args: impl IntoIterator<Item = T>,
    input: &[u8],
    change: impl FnOnce(&mut Io<'_>),
) -> (ExitCode, Vec<u8>, Vec<u8>) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = std::iter::once("xdsctl".into()).chain(args.into_iter().map(Into::into));
    let mut io = Io::piped(input, &mut out, &mut err);
    change(&mut io);
    let exit = xdsctl_cli::run(args, io);
    (exit, out, err)
}

/// Runs a command in this process, with streams and surroundings that `change` may modify.
pub fn in_process(args: &[&str], input: impl AsRef<[u8]>, change: impl FnOnce(&mut Io<'_>)) -> Run {
    let (exit, out, err) = run_on(args, input.as_ref(), change);
    Run {
        code: (0..=2).find(|code| ExitCode::from(*code) == exit).map(i32::from),
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
    }
}

/// Returns the program, in an environment that does not describe a terminal.
pub fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xdsctl"));
    command.args(args);
    for name in ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

/// Runs a program with this standard input.
pub fn spawned(mut command: Command, input: impl AsRef<[u8]>) -> Run {
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A usage error ends the command before it reads anything.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Makes an empty directory for a test of a module.
pub fn directory(module: &str, test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(module).join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}
