//! The `xdsctl` command: real streams and arguments into [`xdsctl_cli::run`].

use std::process::ExitCode;

use xdsctl_cli::{Io, run};

fn main() -> ExitCode {
    run(std::env::args_os(), &mut Io::real())
}
