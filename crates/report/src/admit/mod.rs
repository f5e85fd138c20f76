//! The answer of `admit`: what each layer of a server did with a connection and an RPC, as a tree
//! of sentences.
//!
//! `layers` makes the tree, and `conditions` has the words for policies; the formats print them.
//! `cells` has the words for whom a server lets in; `table` and `table_json` print them.

pub(crate) mod cells;
mod conditions;
pub mod json;
mod layers;
pub mod svg;
pub mod table;
pub mod table_json;
mod text;

pub use cells::AdmittedAnswer;
pub use layers::{AdmitAnswer, told};
pub use text::write;

use serde::Serialize;

/// What a layer, or a part of it, decides about the connection or the RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The connection or RPC passes.
    Yes,
    /// The connection or RPC does not pass.
    No,
    /// Nothing is decided; this is only information.
    Told,
}

/// A sentence, with the sentences that explain it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sentence {
    /// The layer or part that the sentence is about: `filter chain`, `policies[admins]`.
    pub part: String,
    /// What the layer or part decides.
    pub outcome: Outcome,
    /// The sentence in words.
    pub what: String,
    /// The sentences that explain this one.
    pub parts: Vec<Sentence>,
}

impl Sentence {
    fn new(part: impl Into<String>, outcome: Outcome, what: impl Into<String>) -> Sentence {
        Sentence {
            part: part.into(),
            outcome,
            what: what.into(),
            parts: Vec::new(),
        }
    }

    fn with(mut self, parts: Vec<Sentence>) -> Sentence {
        self.parts = parts;
        self
    }
}
