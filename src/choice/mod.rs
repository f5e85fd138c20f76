//! What a reader chooses to hear: how loud a rule is, and which findings are known.
//!
//! [`Severities`] makes a rule, a family of rules, an effect or single fields of a rule an error, a warning, a note or nothing. Everything
//! here is decided after the findings were made, and changes nothing of what the client does. Knows nothing of files and clocks.

mod selector;

pub use selector::{Selector, Severities};
