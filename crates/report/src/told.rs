//! Where the answer for one client goes: it is printed, or kept to be compared with the answers for
//! other clients.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

/// The destination of an answer.
#[derive(Debug)]
pub enum Told {
    /// The answer is printed to standard output.
    Printed {
        /// Whether the answer is printed as JSON; if not, as text for people.
        is_json: bool,
    },
    /// The answer is kept for a comparison of several clients.
    Kept(KeptAnswer),
}

/// An answer for one client.
#[derive(Debug, Default)]
pub struct KeptAnswer {
    /// The text for people.
    pub text: Vec<u8>,
    /// The document of `--format json`; null if there is no answer.
    pub json: Value,
}

impl Told {
    /// Prints or keeps the answer: `document` makes its JSON, and `write_text` writes its text for
    /// people.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn tell<D: Serialize>(
        &mut self,
        out: &mut dyn Write,
        document: impl FnOnce() -> D,
        write_text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Told::Printed { is_json: true } => crate::write_json(&document(), out),
            Told::Printed { is_json: false } => write_text(out),
            Told::Kept(kept) => {
                kept.json = serde_json::to_value(document())?;
                write_text(&mut kept.text)
            }
        }
    }
}
