//! Where the answer of a command about one client goes: it is printed, or kept to be compared with
//! the answers of other clients.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

/// Who takes the answer.
#[derive(Debug)]
pub enum Told {
    /// Standard output, as people read it or as JSON.
    Printed {
        /// As JSON.
        is_json: bool,
    },
    /// A comparison of several clients.
    Kept(KeptAnswer),
}

/// An answer of one client.
#[derive(Debug, Default)]
pub struct KeptAnswer {
    /// What people read.
    pub text: Vec<u8>,
    /// The document of `--format json`; null if there is no answer.
    pub json: Value,
}

impl Told {
    /// Takes the answer: its document, and how it is written for people.
    ///
    /// # Errors
    /// Those of `out`.
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
