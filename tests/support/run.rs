//! The command in process, without a terminal.

use std::process::ExitCode;

use xdsctl_cli::Io;

/// What `xdsctl ARGS` writes to standard output and standard error when it reads `input`.
#[allow(dead_code, reason = "not every user of this file leaves the exit code alone")]
pub fn run<T: Into<std::ffi::OsString> + Clone>(args: impl IntoIterator<Item = T>, input: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (_, out, err) = run_with_exit(args, input);
    (out, err)
}

/// The same with the exit code.
pub fn run_with_exit<T: Into<std::ffi::OsString> + Clone>(
    args: impl IntoIterator<Item = T>,
    input: &[u8],
) -> (ExitCode, Vec<u8>, Vec<u8>) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = std::iter::once("xdsctl".into()).chain(args.into_iter().map(Into::into));
    let exit = xdsctl_cli::run(args, &mut Io::piped(input, &mut out, &mut err));
    (exit, out, err)
}
