//! Hostile inputs, and what no command may do when it reads them: one module for each kind of
//! attack.
//!
//! Each module has the attacks that once succeeded, and a generator of similar ones.
//! `XDSCTL_ATTACK_RUNS` sets how many of those are tried, `XDSCTL_ATTACK_SEED` sets the first:
//! docs/fuzzing.md.

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

/// The default number of inputs of a kind: so many that `cargo test` stays quick.
const RUNS: u64 = 40;

fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| {
        text.parse().unwrap_or_else(|why| panic!("{name}: {why}"))
    })
}

/// Tries inputs of one kind, each with its own seed and all in the same empty directory. If one
/// succeeds, its seed is printed.
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
