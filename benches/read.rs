//! Loading and validating a dump that is read, beside the same of one that is mapped: what it costs that a file which another
//! program cuts short ends no run with a signal.
//!
//! `cargo bench --bench read`. Both are done in turn in one process, from opening the file to the last verdict, each so often that
//! the best time of each tells; the file is in the system's cache. The time that all threads have worked says more where other
//! programs work too.

#[path = "support/dump.rs"]
mod dump;

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use dump::Kind;
use xdsctl_clients::judge::validate;
use xdsctl_document::load;
use xdsctl_document::source::{SourceId, SourceMap};
use xdsctl_model::profile::{Profile, ServerFacts};

/// Sizes of the dumps.
const MEGABYTES: [f64; 3] = [30.0, 106.0, 307.0];

/// Runs of each.
const RUNS: usize = 15;

fn main() {
    // `cargo test --benches` wants to know that it starts, no more.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let file = std::env::temp_dir().join(format!("xdsctl-read-{}.json", std::process::id()));
    println!("{:>8}{:>24}{:>24}{:>14}", "MB", "mapped", "read", "read / mapped");
    for megabytes in MEGABYTES {
        let mut out = BufWriter::new(File::create(&file).expect("a file for the dump"));
        dump::write(&mut out, Kind::Clean, Kind::Clean.scale(megabytes)).expect("the dump can be written");
        out.flush().expect("the dump can be written");
        drop(out);
        measure(&file);
    }
    fs::remove_file(&file).expect("the dump can be removed");
}

/// What a run took.
#[derive(Clone, Copy)]
struct Took {
    time: Duration,
    /// Of all threads, in hundredths of a second.
    cpu: u64,
}

fn measure(file: &Path) {
    let (mut mapped, mut read) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        mapped.push(took(|| from_map(file)));
        read.push(took(|| from_read(file)));
    }
    let best = |runs: &[Took]| runs.iter().map(|took| took.time).min().unwrap_or_default();
    let cpu = |runs: &[Took]| runs.iter().map(|took| took.cpu).sum::<u64>() as f64 * 10.0 / RUNS as f64;
    let shown = |runs: &[Took]| format!("{:.0} ms, CPU {:.0} ms", best(runs).as_secs_f64() * 1e3, cpu(runs));
    println!(
        "{:>8.0}{:>24}{:>24}{:>14}",
        fs::metadata(file).expect("the dump").len() as f64 / 1e6,
        shown(&mapped),
        shown(&read),
        format!(
            "{:.2}, {:.2}",
            best(&read).as_secs_f64() / best(&mapped).as_secs_f64(),
            cpu(&read) / cpu(&mapped)
        )
    );
}

fn took(work: impl FnOnce() -> usize) -> Took {
    let (start, before) = (Instant::now(), cpu());
    black_box(work());
    Took {
        time: start.elapsed(),
        cpu: cpu() - before,
    }
}

fn from_read(file: &Path) -> usize {
    let mut sources = SourceMap::new();
    let id = sources.add_file(file).expect("the dump");
    validated(id, sources.get(id).expect("it was added").bytes())
}

fn from_map(file: &Path) -> usize {
    let mut sources = SourceMap::new();
    let id = sources.add("map", Vec::new());
    let file = File::open(file).expect("the dump");
    // SAFETY: nobody else writes to the file.
    #[expect(unsafe_code, reason = "this is what is compared with")]
    let bytes = unsafe { memmap2::Mmap::map(&file) }.expect("the dump");
    validated(id, &bytes)
}

/// Reads and validates all resources.
fn validated(id: SourceId, bytes: &[u8]) -> usize {
    let (profile, server) = (Profile::default(), ServerFacts::default());
    let loaded = load::run(
        None,
        |loader, emit| loader.json(id, bytes, Default::default(), emit),
        |raw| {
            Some(
                validate(raw.resource_type?, &raw.bytes?, &profile, &server)
                    .diagnostics
                    .len(),
            )
        },
    );
    loaded.results.into_iter().flatten().count()
}

/// CPU time of this process so far, in hundredths of a second.
fn cpu() -> u64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let both = fields.skip(11).take(2);
    both.filter_map(|field| field.parse::<u64>().ok()).sum()
}
