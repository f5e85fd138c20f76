//! Running systems as inputs: `csds://`, `ads://`, `envoy://`. Without the feature `net` they are known, and what is missing is said.

#[cfg(feature = "net")]
mod connect;
pub(super) mod fetch;
pub(super) mod serve;
pub(super) mod watch;

use super::Error;
use super::args::InputArgs;
use std::io::Write;
use xdsctl_net::Address;

/// Says whether an input is a running system, and no file.
pub(super) fn is_address(text: &str) -> bool {
    Address::is_one(text)
}

/// An address of a form that nobody asks.
pub(super) fn unknown(address: &str) -> Error {
    Error::Usage(format!(
        "`{address}` is no running system, expected csds://HOST:PORT, ads://HOST:PORT or envoy://HOST:PORT"
    ))
}

/// Fetches a running system as a document.
///
/// # Errors
/// It cannot be fetched, or this binary cannot.
#[cfg(feature = "net")]
pub(super) fn read(text: &str, args: &InputArgs, err: &mut dyn Write) -> Result<Vec<u8>, Error> {
    let asked = connect::Asked::of_input(text, args)?;
    let mut bytes = Vec::new();
    let fetched = xdsctl_net::fetch(&asked.address, &asked.options, &mut bytes, &mut |_| {}).map_err(connect::live)?;
    if let Some(trouble) = fetched.trouble {
        return Err(connect::live(trouble));
    }
    for note in fetched.notes {
        say!(err, "xdsctl: {note}")?;
    }
    Ok(bytes)
}

#[cfg(not(feature = "net"))]
pub(super) fn read(text: &str, _: &InputArgs, _: &mut dyn Write) -> Result<Vec<u8>, Error> {
    Err(missing(text))
}

/// What a binary without the feature says.
#[cfg(not(feature = "net"))]
fn missing(what: &str) -> Error {
    Error::Live(format!(
        "`{what}` needs the network, and this xdsctl was built without it: `cargo install --path crates/cli --features net`; \
         the wheel, the npm package, the container and the archives have it"
    ))
}

/// Writes a file in one step: whoever reads it meanwhile sees all of the old or all of the new. What is no regular file, such as a
/// pipe, is written to.
#[cfg(feature = "net")]
fn replace(path: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::fs;
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::write(path, bytes);
    }
    // Beside the file, not beside a link to it: only there is renaming one step.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.xdsctl", std::process::id()));
    let done = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, &path));
    if done.is_err() {
        // What failed is said; a file that is left over says itself whose it is.
        let _ = fs::remove_file(&beside);
    }
    done
}
