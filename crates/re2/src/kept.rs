//! Compiled patterns that are kept for the next match, up to a number of bytes for the whole
//! process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::PatternSyntax;
use super::matcher::Full;

/// The most bytes of all compiled patterns that are kept; beyond it a pattern is compiled for each
/// match.
const MAX_KEPT_BYTES: usize = 256 << 20;

static KEPT: AtomicUsize = AtomicUsize::new(0);

/// A pattern that is compiled at its first match against a whole text.
#[derive(Debug, Default)]
pub(super) struct Kept(OnceLock<Full>);

impl Kept {
    /// Says whether the whole text matches.
    pub(super) fn is_match(&self, syntax: PatternSyntax, pattern: &str, text: &str) -> bool {
        if let Some(full) = self.0.get() {
            return full.is_match(text);
        }
        let full = match syntax {
            PatternSyntax::Re2 => Full::new(pattern),
            PatternSyntax::Rust => Full::of_rust(&format!(r"\A(?:{pattern})\z")),
        };
        let answer = full.is_match(text);
        let bytes = full.bytes();
        if KEPT.fetch_add(bytes, Ordering::Relaxed) > MAX_KEPT_BYTES || self.0.set(full).is_err() {
            KEPT.fetch_sub(bytes, Ordering::Relaxed);
        }
        answer
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let bytes = self.0.get().map_or(0, Full::bytes);
        KEPT.fetch_sub(bytes, Ordering::Relaxed);
    }
}
