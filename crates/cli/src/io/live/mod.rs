//! Running systems as inputs: `csds://`, `ads://`, `envoy://`. Without the feature `net`, they are
//! recognised, and the error names the feature.

#[cfg(feature = "net")]
pub mod connect;
#[cfg(feature = "net")]
pub mod replace;

use super::input::InputPlan;
use crate::Error;
use xdsctl_net::Address;

/// Says whether an input is a running system, rather than a file.
pub(crate) fn is_address(text: &str) -> bool {
    Address::is_one(text)
}

/// Returns the error for an address with an unknown scheme.
pub(crate) fn unknown(address: &str) -> Error {
    Error::Usage(format!(
        "`{address}` is no running system, expected csds://HOST:PORT, ads://HOST:PORT or envoy://HOST:PORT"
    ))
}

/// Fetches a running system as a document. Also returns notes on it.
///
/// # Errors
/// The system cannot be fetched, or this binary has no feature `net`.
#[cfg(feature = "net")]
pub(crate) fn read(text: &str, plan: &InputPlan) -> Result<(Vec<u8>, Vec<String>), Error> {
    let asked = connect::ConnectRequest::of_input(text, plan)?;
    let mut bytes = Vec::new();
    let fetched = xdsctl_net::fetch(&asked.address, &asked.options, &mut bytes, &mut |_| {}).map_err(connect::live)?;
    if let Some(failure) = fetched.failure {
        return Err(connect::live(failure));
    }
    Ok((bytes, fetched.notes))
}

#[cfg(not(feature = "net"))]
pub(crate) fn read(text: &str, _: &InputPlan) -> Result<(Vec<u8>, Vec<String>), Error> {
    Err(missing(text))
}

/// Returns the error of a binary without the feature `net`.
#[cfg(not(feature = "net"))]
pub(crate) fn missing(what: &str) -> Error {
    Error::Live(format!(
        "`{what}` needs the network, and this xdsctl was built without it: `cargo install --path crates/cli --features net`; \
         the wheel, the npm package, the container and the archives have it"
    ))
}
