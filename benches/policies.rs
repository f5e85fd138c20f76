//! Measures the cost of policies: `xdsctl validate` with fifty of them beside `validate` alone, on
//! the clean dump of 106 MB.
//!
//! Run it with `cargo bench --bench policies`. The two run in turns, as processes. The CPU time of
//! all their threads is compared pair by pair, and the median of the ratios is the result: on a
//! busy machine a single time says nothing. `support/policies.toml` has the policies.

#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/dump.rs"]
mod dump;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use cpu::ended_cpu;
use dump::Kind;

const XDSCTL: &str = env!("CARGO_BIN_EXE_xdsctl");

/// The number of pairs of runs.
const PAIRS: usize = 11;

const POLICIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/support/policies.toml");

fn main() {
    // `cargo test --benches` only checks that the bench starts.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let file = std::env::temp_dir().join(format!("xdsctl-bench-policies-{}.json", std::process::id()));
    let mut out = BufWriter::new(File::create(&file).expect("a file for the dump"));
    dump::write(&mut out, Kind::Clean, Kind::Clean.scale(106.0)).expect("the dump can be written");
    out.flush().expect("the dump can be written");
    drop(out);
    let mut pairs: Vec<(u64, u64)> = (0..PAIRS)
        .map(|_| {
            (
                cpu_ms(&file, "--no-config"),
                cpu_ms(&file, &format!("--config={POLICIES}")),
            )
        })
        .collect();
    fs::remove_file(&file).expect("the dump can be removed");
    let ratio = |(alone, with): &(u64, u64)| *with as f64 / (*alone).max(1) as f64;
    pairs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let (alone, with) = pairs[PAIRS / 2];
    let median = ratio(&pairs[PAIRS / 2]);
    println!("validate, 106 MB {alone:>6} ms of CPU; with 50 policies {with:>6} ms, {median:.2} times (at most 2)");
}

/// Measures the CPU time of a run, all its threads together.
fn cpu_ms(file: &Path, config: &str) -> u64 {
    let before = ended_cpu();
    let status = Command::new(XDSCTL)
        .args(["validate", config])
        .arg(file)
        .stdout(Stdio::null())
        .status()
        .expect("xdsctl starts");
    assert!(status.success(), "the dump is clean, and the policies hold");
    (ended_cpu() - before) * 10
}
