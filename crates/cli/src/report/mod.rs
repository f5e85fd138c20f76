//! Reports, and the formats that print them: only this module knows colours and JSON schemas.

pub mod channel;
mod comments;
pub mod diff;
pub mod edge;
mod examples;
pub mod explain;
pub mod findings;
pub mod masks;
pub mod paths;
mod place;
pub mod profiles;
mod snippet;
pub mod suite;
pub mod who;
pub mod wrap;

pub use place::{Snippet, SourcePlace};

/// The first of them, and how many more there are.
pub fn listed(items: impl ExactSizeIterator<Item = String>, shown: usize) -> String {
    let rest = items.len().saturating_sub(shown);
    let items = items.take(shown).collect::<Vec<_>>().join(", ");
    match rest {
        0 => items,
        rest => format!("{items} and {rest} more"),
    }
}

/// `1 error`, `2 errors`.
pub fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
