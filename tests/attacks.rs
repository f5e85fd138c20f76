//! Hostile inputs, and what no command may do about them: one module a kind of attack.
//!
//! Each module has the attacks that once succeeded, and a generator of others like them. `XDSCTL_ATTACK_RUNS` says how many of those
//! are tried, `XDSCTL_ATTACK_SEED` which is the first: docs/fuzzing.md.

#[path = "attacks/admit.rs"]
mod admit;
#[path = "worlds/chance.rs"]
mod chance;
#[path = "attacks/control.rs"]
mod control;
#[cfg(unix)]
#[path = "attacks/files.rs"]
mod files;
#[path = "attacks/hides.rs"]
mod hides;
#[path = "attacks/policy.rs"]
mod policy;
#[path = "support/rbac.rs"]
mod rbac;
#[path = "support/run.rs"]
mod run;
#[path = "support/server.rs"]
mod server;
#[path = "attacks/time.rs"]
mod time;
#[path = "attacks/unread.rs"]
mod unread;
#[path = "attacks/world.rs"]
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use chance::Chance;

/// Inputs of a kind that are tried where nothing is said: as many as keep `cargo test` quick.
const RUNS: u64 = 40;

fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| {
        text.parse().unwrap_or_else(|why| panic!("{name}: {why}"))
    })
}

/// Tries inputs of one kind, each with its own seed and in the same empty directory; the seed of one that succeeds is printed.
pub fn attack(kind: &str, try_one: impl Fn(&mut Chance, &Path)) {
    let first = variable("XDSCTL_ATTACK_SEED", 1);
    for number in 0..variable("XDSCTL_ATTACK_RUNS", RUNS) {
        let seed = first.wrapping_add(number);
        let directory = run::directory("attacks", kind);
        let tried = catch_unwind(AssertUnwindSafe(|| try_one(&mut Chance::new(seed), &directory)));
        if let Err(panic) = tried {
            let thread = std::thread::current();
            let test = thread.name().unwrap_or_default();
            eprintln!(
                "again with XDSCTL_ATTACK_SEED={seed} XDSCTL_ATTACK_RUNS=1 cargo test -p xdsctl-cli --test attacks {test}"
            );
            resume_unwind(panic);
        }
    }
}
