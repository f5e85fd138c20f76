//! The command in process, without a terminal.

use xdsctl_cli::Io;

/// What `xdsctl ARGS` writes to standard output and standard error when it reads `input`.
pub fn run<T: Into<std::ffi::OsString> + Clone>(args: impl IntoIterator<Item = T>, input: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = std::iter::once("xdsctl".into()).chain(args.into_iter().map(Into::into));
    xdsctl_cli::run(args, &mut Io::piped(input, &mut out, &mut err));
    (out, err)
}
