//! The fuzz targets: what is done with the fuzzer's bytes.
//!
//! A target fails if it panics, takes more than a few seconds, or uses much more memory than its
//! input has bytes. Each target is a function of bytes: the binaries in `fuzz_targets/` give it the
//! fuzzer's bytes, `tests/seeds.rs` those of `fixtures/`.

mod commands;
mod differential;
mod documents;
mod play;
mod steps;
mod suites;
mod values;

// The generator of worlds, which the tests use too.
#[path = "../../tests/worlds/chance.rs"]
mod chance;
#[allow(dead_code, reason = "some of it is for the tests alone")]
#[path = "../../tests/worlds/generate.rs"]
mod generate;
#[allow(dead_code, reason = "some of it is for the tests alone")]
#[path = "../../tests/worlds/make.rs"]
mod make;
#[path = "../../tests/worlds/mutate.rs"]
mod mutate;
#[path = "../../tests/worlds/policies.rs"]
mod policies;
#[path = "../../tests/support/rbac.rs"]
mod rbac;
#[path = "../../tests/worlds/routes.rs"]
mod routes;
#[allow(dead_code, reason = "some of it is for the tests alone")]
#[path = "../../tests/support/server.rs"]
mod server;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Longer inputs are ignored: a KiB of a document takes 0.7 to 1 ms with the fuzzer's counters, and
/// a shorter input can go wrong in the same ways.
pub const MAX_BYTES: usize = 8 << 10;

/// The environment variable that names the file with the input of the current run.
pub const LAST_INPUT: &str = "XDSCTL_FUZZ_LAST";

/// A function that runs on an input.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("admit", commands::admit),
    ("any_bytes_to_validate", documents::any_bytes_to_validate),
    ("binary", documents::binary),
    ("bootstrap", values::bootstrap),
    ("command", commands::command),
    ("cookie", values::cookie),
    ("json", documents::json),
    ("lb_json", values::lb_json),
    ("lb_xds", values::lb_xds),
    ("pick", commands::pick),
    ("recorded_world", play::recorded_world),
    ("regex", values::regex),
    ("requests", play::requests),
    ("retry", commands::retry),
    ("route", commands::route),
    ("simulation", play::simulation),
    ("suite", suites::suite),
    ("suite_text", suites::suite_text),
    ("textproto", documents::textproto),
    ("transcode_differential", differential::transcode_differential),
    ("tree", commands::tree),
    ("world", play::world),
    ("yaml", documents::yaml),
];

static LAST: LazyLock<Option<Mutex<File>>> = LazyLock::new(|| {
    let path = std::env::var_os(LAST_INPUT)?;
    File::create(path).ok().map(Mutex::new)
});

/// Keeps an input in the file that [`LAST_INPUT`] names. It is still there after a stack overflow,
/// a killed process or exhausted memory.
fn keep(data: &[u8]) {
    let Some(file) = &*LAST else { return };
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    let written = file
        .rewind()
        .and_then(|()| file.set_len(0))
        .and_then(|()| file.write_all(data));
    written.expect("the last input can be kept");
}

/// Runs the target with this name.
///
/// # Panics
///
/// Panics if there is no such target, or if the target finds a fault.
pub fn run(name: &str, data: &[u8]) {
    let (_, target) = TARGETS
        .iter()
        .find(|(known, _)| *known == name)
        .expect("fuzz_targets/ and TARGETS have the same names");
    if data.len() <= MAX_BYTES {
        keep(data);
        target(data);
    }
}
