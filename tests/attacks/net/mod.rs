//! Tests: servers and addresses that mean harm.
//!
//! `XDSCTL_ATTACK_RUNS` and `XDSCTL_ATTACK_SEED` say how many of the generated ones are tried, and which is the first.

#[path = "../../worlds/chance.rs"]
#[allow(dead_code, reason = "the tests of the worlds use more of it")]
mod chance;
mod hostile;
mod plane;
mod token;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::channel;
use std::time::Duration;

use chance::Chance;

use crate::{Address, Error, FetchOptions, Fetched};

/// Inputs of a kind that are tried where nothing is said.
const RUNS: u64 = 100;

/// A fetch that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// Tries generated inputs, each with its own seed; the seed of one that succeeds is printed.
fn attack(kind: &str, try_one: impl Fn(&mut Chance)) {
    let variable = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let first = variable("XDSCTL_ATTACK_SEED").unwrap_or(1);
    for number in 0..variable("XDSCTL_ATTACK_RUNS").unwrap_or(RUNS) {
        let seed = first.wrapping_add(number);
        let tried = catch_unwind(AssertUnwindSafe(|| try_one(&mut Chance::new(seed))));
        if let Err(panic) = tried {
            eprintln!(
                "again with XDSCTL_ATTACK_SEED={seed} XDSCTL_ATTACK_RUNS=1 cargo test -p xdsctl-net --features live {kind}"
            );
            resume_unwind(panic);
        }
    }
}

/// What a fetch comes to, and its dump.
#[track_caller]
fn fetched(address: &str, options: FetchOptions) -> (Result<Fetched, Error>, String) {
    let address = Address::parse(address).unwrap();
    let (say, said) = channel();
    std::thread::spawn(move || {
        let mut dump = Vec::new();
        let fetched = crate::fetch(&address, &options, &mut dump, &mut |_| ());
        // Who has lost patience hears nothing more.
        let _ = say.send((fetched, String::from_utf8(dump).unwrap()));
    });
    said.recv_timeout(PATIENCE).expect("the fetch does not end")
}
