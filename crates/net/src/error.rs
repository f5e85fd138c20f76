//! Why a fetch or a server stops.

use std::io;

use crate::Address;

/// Why a fetch or a server stops.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address or the options ask for something impossible.
    #[error("{0}")]
    Usage(String),
    /// There is no connection to the server.
    #[error("cannot reach `{address}`: {why}")]
    Unreachable {
        /// The address that was asked.
        address: String,
        /// The message of the system or of TLS.
        why: String,
    },
    /// The server answers with an error, or the connection breaks.
    #[error("`{address}` gives no answer: {why}")]
    NoAnswer {
        /// The address that was asked.
        address: String,
        /// The reason: the server's message, or what is wrong with its answer.
        why: String,
    },
    /// The answer is not what was asked for.
    #[error("`{address}`: {why}")]
    Malformed {
        /// The address that was asked.
        address: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// A certificate or key cannot be used.
    #[error("TLS: {0}")]
    Tls(String),
    /// The time limit was reached.
    #[error("`{address}` has not said everything within {seconds} s: {missing}")]
    Late {
        /// The address that was asked.
        address: String,
        /// The time limit, in seconds.
        seconds: f64,
        /// What has not arrived.
        missing: String,
    },
    /// A limit of xdsctl was reached.
    #[error("{0}")]
    Limit(String),
    /// Ctrl-C was pressed, or SIGTERM was sent.
    #[error("interrupted")]
    Interrupted,
    /// The dump cannot be written.
    #[error("cannot write the dump: {0}")]
    Output(io::Error),
    /// The system provides no runtime or no socket.
    #[error("cannot start: {0}")]
    Start(io::Error),
}

impl Error {
    /// Returns the error for a server that answers with an error, or whose connection breaks.
    pub(crate) fn no_answer(address: &Address, why: String) -> Error {
        let address = address.text.clone();
        Error::NoAnswer { address, why }
    }

    /// Returns the error for an answer that is not what was asked for.
    pub(crate) fn malformed(address: &Address, why: String) -> Error {
        let address = address.text.clone();
        Error::Malformed { address, why }
    }
}
