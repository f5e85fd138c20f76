//! The Common Expression Language: text to tree ([`syntax`]), tree to program ([`compile`]),
//! program to value ([`evaluate`]).
//!
//! Evaluator and parser are written for this crate: the crate `cel` (0.15) counts no steps, knows
//! no types, and its parser ends the process at 95 brackets inside each other. This is the
//! language's core: there are no timestamps, bytes, protobuf messages or optionals, and whole
//! numbers are all `int`.

mod budget;
mod compile;
mod evaluate;
mod functions;
mod kept;
mod kinds;
mod syntax;
mod token;
mod value;

pub use budget::{Budget, MAX_STEPS, Work};
pub use compile::{Program, Roots, Scope};
pub use evaluate::{Evaluation, EvaluationStop, Failure, Scratch};
pub use functions::FUNCTIONS;
pub(crate) use kept::{address, duration, filter_config};
pub use syntax::{MAX_BYTES, MAX_DEPTH};
pub use token::one_line;
pub use value::{Text, Value, View, nanoseconds};

use std::ops::Range;

/// What is wrong with an expression, and where in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// A lower-case sentence.
    pub message: String,
    /// The bytes of the expression that it is about.
    pub span: Range<usize>,
}

impl Fault {
    fn new(span: &Range<usize>, message: impl Into<String>) -> Fault {
        Fault {
            message: message.into(),
            span: span.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
