//! The `xdsctl` command: real streams and arguments into [`xdsctl_cli::run`].

use std::process::ExitCode;

use mimalloc::MiMalloc;
use xdsctl_cli::{Io, run};

/// Validation and the simulator make many small values: an eighth of the time of the one and a quarter of the other were the
/// system's allocator. The library and its tests keep whatever their program has.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    run(std::env::args_os(), &mut Io::real())
}
