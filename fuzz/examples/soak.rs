//! Runs targets without a fuzzer's counters: ten times as many runs, but without guidance.
//!
//! `cargo run --release -p xdsctl-fuzz --example soak -- SECONDS SEED TARGET...` takes the targets
//! in turns and prints how many inputs each had. An input is random bytes; for a target with files
//! in `fuzz/corpus` (`fuzz/seed.sh`) it is one of these files with a few changes. The file that
//! `XDSCTL_FUZZ_LAST` names has the input of the current run.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// The number of runs of a target before it is the next one's turn.
const TURN: usize = 200;

/// The most bytes of a random input: a hash of all bytes decides what they leave open.
const BYTES: usize = 24;

/// Returns the next number of SplitMix64 (Steele, Lea and Flood).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The most changes that are made to a file.
const CHANGES: usize = 4;

/// The most bytes that a change removes or copies.
const PIECE: usize = 64;

/// Values on which readers of numbers, times and names may fail.
const ODD: &[&str] = &[
    "-1",
    "0",
    "1e999",
    "-0",
    "0.5",
    "4294967296",
    "18446744073709551615",
    "null",
    "\"\"",
    "{}",
    "[]",
    "\"1s\"",
    "\"-0.5s\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"@type\":",
    "true",
];

/// Reads the files of the corpus for a target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    files.iter().filter_map(|file| std::fs::read(file).ok()).collect()
}

fn below(state: &mut u64, bound: usize) -> usize {
    next(state) as usize % bound.max(1)
}

/// Returns the range of a short piece of some bytes.
fn piece(bytes: &[u8], state: &mut u64) -> Range<usize> {
    let start = below(state, bytes.len() + 1);
    let end = (start + below(state, PIECE)).min(bytes.len());
    start..end
}

/// Makes an input: one of the seeds with a few changes, or random bytes if there is no seed.
fn input(seeds: &[Vec<u8>], state: &mut u64) -> Vec<u8> {
    let Some(seed) = seeds.get(below(state, seeds.len())) else {
        let length = 8 + below(state, BYTES - 8);
        return (0..length).map(|_| next(state) as u8).collect();
    };
    let mut bytes = seed.clone();
    for _ in 0..=below(state, CHANGES) {
        let here = piece(&bytes, state);
        let put = match below(state, 5) {
            0 => Vec::new(),
            1 => vec![next(state) as u8],
            2 => ODD[below(state, ODD.len())].as_bytes().to_vec(),
            3 => bytes[piece(&bytes, state)].to_vec(),
            _ => {
                let other = &seeds[below(state, seeds.len())];
                other[piece(other, state)].to_vec()
            }
        };
        // Half of the changes only insert bytes; the others replace or remove a piece.
        let here = if below(state, 2) == 0 {
            here.start..here.start
        } else {
            here
        };
        bytes.splice(here, put);
    }
    bytes
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [seconds, seed, targets @ ..] = args.as_slice() else {
        eprintln!("usage: soak SECONDS SEED TARGET...");
        std::process::exit(2);
    };
    let seconds = Duration::from_secs(seconds.parse().expect("SECONDS is a number"));
    let mut state: u64 = seed.parse().expect("SEED is a number");
    let mut runs: BTreeMap<&str, (usize, Duration, Duration)> = BTreeMap::new();
    let seeds: Vec<Vec<Vec<u8>>> = targets.iter().map(|target| seeds(target)).collect();
    let start = Instant::now();
    while start.elapsed() < seconds {
        for (target, seeds) in targets.iter().zip(&seeds) {
            for _ in 0..TURN {
                let data = input(seeds, &mut state);
                let began = Instant::now();
                xdsctl_fuzz::run(target, &data);
                let took = began.elapsed();
                let (count, total, longest) = runs.entry(target).or_default();
                *count += 1;
                *total += took;
                *longest = took.max(*longest);
            }
        }
    }
    for (target, (count, total, longest)) in runs {
        println!("{target:<24} {count:>10} runs in {total:.1?}, the longest {longest:.1?}");
    }
}
