//! The `xdsctl` command: real streams and arguments into [`xdsctl_cli::run`].

use std::process::ExitCode;

use xdsctl_cli::allocator::Split;
use xdsctl_cli::{Io, run};

#[global_allocator]
static ALLOCATOR: Split = Split;

fn main() -> ExitCode {
    run(std::env::args_os(), &mut Io::real())
}

/// What the C library of WASI does byte by byte.
///
/// # Safety
/// As C says: both have `count` bytes.
#[cfg(target_family = "wasm")]
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "it takes the place of a function of C")]
pub unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
    // SAFETY: the caller's promise.
    let [one, other] = [one, other].map(|begin| unsafe { std::slice::from_raw_parts(begin, count) });
    xdsctl_cli::compare::bytes(one, other)
}
