//! The `xdsctl` command: real streams and arguments into [`xdsctl_cli::run`].

use std::process::ExitCode;

use xdsctl_cli::allocator::Split;
use xdsctl_cli::{Io, run};

#[global_allocator]
static ALLOCATOR: Split = Split;

fn main() -> ExitCode {
    run(std::env::args_os(), &mut Io::real())
}
