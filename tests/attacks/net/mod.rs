//! Tests of servers and addresses that are hostile.
//!
//! `XDSCTL_ATTACK_RUNS` sets how many generated inputs are tried, and `XDSCTL_ATTACK_SEED` sets the
//! first.

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

/// The default number of inputs of a kind.
const RUNS: u64 = 100;

/// How long a fetch may take; a longer one hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// Tries generated inputs, each with its own seed. If one succeeds, its seed is printed.
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

/// Fetches from an address. Returns the result and the dump.
#[track_caller]
fn fetched(address: &str, options: FetchOptions) -> (Result<Fetched, Error>, String) {
    let address = Address::parse(address).unwrap();
    let (say, said) = channel();
    std::thread::spawn(move || {
        let mut dump = Vec::new();
        let fetched = crate::fetch(&address, &options, &mut dump, &mut |_| ());
        // The test may have stopped waiting.
        let _ = say.send((fetched, String::from_utf8(dump).unwrap()));
    });
    said.recv_timeout(PATIENCE).expect("the fetch does not end")
}
