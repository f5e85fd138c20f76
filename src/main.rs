//! The `xdsctl` command: real streams and arguments into [`xdsctl::cli::run`].

use std::process::ExitCode;

use xdsctl::cli::{Io, run};

fn main() -> ExitCode {
    run(std::env::args_os(), &mut Io::real())
}
