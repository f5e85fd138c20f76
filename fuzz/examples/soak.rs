//! Runs targets without a fuzzer's counters: ten times as many runs, none of them aimed at anything.
//!
//! `cargo run --release -p xdsctl-fuzz --example soak -- SECONDS SEED TARGET...` takes the targets by turns and prints how many
//! inputs each had: random bytes, or of a target with files in `fuzz/corpus` (`fuzz/seed.sh`) what becomes of those by a few
//! changes. The input that is being run is in the file that `XDSCTL_FUZZ_LAST` names.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs of a target before the next one's turn.
const TURN: usize = 200;

/// Bytes of an input at most: what they leave open is decided by a hash of them all.
const BYTES: usize = 24;

/// SplitMix64 (Steele, Lea and Flood).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Changes that are made to a file at most.
const CHANGES: usize = 4;

/// Bytes that a change takes out or copies at most.
const PIECE: usize = 64;

/// Values on which readers of numbers, times and names come to grief.
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

/// What the corpus has for a target.
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

/// A short piece of some bytes.
fn piece(bytes: &[u8], state: &mut u64) -> Range<usize> {
    let start = below(state, bytes.len() + 1);
    let end = (start + below(state, PIECE)).min(bytes.len());
    start..end
}

/// One of the seeds with a few changes, or random bytes if there is none.
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
        // As often something comes in as something goes.
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
