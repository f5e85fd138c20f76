//! The answer of `admit`: what each layer of a server did with a connection and an RPC, as a tree
//! of sentences.
//!
//! `layers` makes the tree, `conditions` has the words for policies; the formats print it. `cells`
//! has the words for whom a server lets in, which `table` and `table_json` print.

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

/// What a layer, or a part of it, says of the connection or the RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It goes on.
    Yes,
    /// It does not.
    No,
    /// It only tells.
    Told,
}

/// A sentence, and what stands below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sentence {
    /// Which layer or part speaks: `filter chain`, `policies[admins]`.
    pub part: String,
    /// What it says.
    pub outcome: Outcome,
    /// In words.
    pub what: String,
    /// What it rests on.
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

    fn followed_by(mut self, part: Option<Sentence>) -> Sentence {
        self.parts.extend(part);
        self
    }
}
