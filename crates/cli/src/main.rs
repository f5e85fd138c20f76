//! The `xdsctl` command: passes the real streams and arguments to [`xdsctl_cli::run`].

use std::process::ExitCode;

use xdsctl_cli::{Io, run};

#[cfg(not(target_family = "wasm"))]
#[global_allocator]
static ALLOCATOR: xdsctl_cli::allocator::Split = xdsctl_cli::allocator::Split;

fn main() -> ExitCode {
    run(std::env::args_os(), Io::real())
}
