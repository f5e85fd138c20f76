//! Runs targets on random bytes, without a fuzzer's counters: ten times as many runs, none of them aimed at anything.
//!
//! `cargo run --release -p xdsctl-fuzz --example soak -- SECONDS SEED TARGET...` takes the targets by turns and prints how many
//! inputs each had. It is made for those whose bytes are decisions of chance. The input that is being run is in the file that
//! `XDSCTL_FUZZ_LAST` names.

use std::collections::BTreeMap;
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

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [seconds, seed, targets @ ..] = args.as_slice() else {
        eprintln!("usage: soak SECONDS SEED TARGET...");
        std::process::exit(2);
    };
    let seconds = Duration::from_secs(seconds.parse().expect("SECONDS is a number"));
    let mut state: u64 = seed.parse().expect("SEED is a number");
    let mut runs: BTreeMap<&str, (usize, Duration, Duration)> = BTreeMap::new();
    let start = Instant::now();
    while start.elapsed() < seconds {
        for target in targets {
            for _ in 0..TURN {
                let length = 8 + next(&mut state) as usize % (BYTES - 8);
                let data: Vec<u8> = (0..length).map(|_| next(&mut state) as u8).collect();
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
