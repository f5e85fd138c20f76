//! Finds and reads the fixtures.

use std::io::Read as _;
use std::path::Path;

/// Returns the root of the repository, for the tests of any package.
pub fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|dir| dir.join("fixtures").is_dir()).unwrap()
}

/// Returns the lines of `fixtures/conformance/NAME.jsonl.gz`.
pub fn recorded(name: &str) -> String {
    let path = root().join(format!("fixtures/conformance/{name}.jsonl.gz"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}

/// Says whether a tool exists that a test needs. In CI, where `CI` is set, it must exist.
#[allow(dead_code, reason = "not every test binary needs a tool")]
pub fn has_tool(name: &str) -> bool {
    let is_there = std::process::Command::new(name).arg("--version").output().is_ok();
    assert!(is_there || std::env::var_os("CI").is_none(), "there is no {name}");
    is_there
}

/// Says whether every recorded row is compared, as in `.ci/run`: with `XDSCTL_ALL=1`, and without a
/// selection by `XDSCTL_ROWS`. That takes minutes, and so `cargo test` alone compares a sample.
#[allow(dead_code, reason = "not every test binary compares rows")]
pub fn compares_all() -> bool {
    std::env::var_os("XDSCTL_ALL").is_some() && std::env::var_os("XDSCTL_ROWS").is_none()
}

/// Returns all rows, or one of `one_in`.
#[allow(dead_code, reason = "not every test binary compares rows")]
pub fn sample<T>(rows: Vec<T>, one_in: usize) -> Vec<T> {
    let step = if compares_all() { 1 } else { one_in };
    rows.into_iter().step_by(step).collect()
}
