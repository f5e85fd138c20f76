//! What stops a fetch or a server.

use std::io;

/// What stops a fetch.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address or the options ask for what cannot be.
    #[error("{0}")]
    Usage(String),
    /// There is no connection to the server.
    #[error("cannot reach `{address}`: {why}")]
    Unreachable {
        /// The address that was asked.
        address: String,
        /// The system's or TLS's words.
        why: String,
    },
    /// The other side answers with an error, or breaks off.
    #[error("`{address}` gives no answer: {why}")]
    Refused {
        /// The address that was asked.
        address: String,
        /// What the server said.
        why: String,
    },
    /// What came is not what was asked for.
    #[error("`{address}`: {why}")]
    Malformed {
        /// The address that was asked.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// A certificate or key that cannot be used.
    #[error("TLS: {0}")]
    Tls(String),
    /// The time is over.
    #[error("`{address}` has not said everything within {seconds} s: {missing}")]
    Late {
        /// The address that was asked.
        address: String,
        /// How long was waited, in seconds.
        seconds: f64,
        /// What is not there.
        missing: String,
    },
    /// A limit of xdsctl.
    #[error("{0}")]
    Limit(String),
    /// Ctrl-C or SIGTERM.
    #[error("interrupted")]
    Interrupted,
    /// What was fetched cannot be written.
    #[error("cannot write the dump: {0}")]
    Output(io::Error),
    /// The system gives no runtime or no socket.
    #[error("cannot start: {0}")]
    Start(io::Error),
}
