//! The `xdsctl` command: real streams and arguments into [`xdsctl_cli::run`].

use std::process::ExitCode;

#[cfg(not(target_family = "wasm"))]
use xdsctl_cli::allocator::Split;
use xdsctl_cli::{Io, run};

#[cfg(not(target_family = "wasm"))]
#[global_allocator]
static ALLOCATOR: Split = Split;

fn main() -> ExitCode {
    run(std::env::args_os(), &mut Io::real())
}
