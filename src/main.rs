//! The `xdsctl` command: real stdio and arguments into [`xdsctl::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::SUCCESS
}
