//! Patterns that were found good lately: a dump has the same few in thousands of routes.

use std::cell::RefCell;
use std::collections::HashSet;

use super::{Regex, RegexError};

/// Patterns that a thread remembers.
const MAX_PATTERNS: usize = 256;

/// Longest pattern that is remembered, in bytes.
const MAX_PATTERN_BYTES: usize = 256;

thread_local! {
    static GOOD: RefCell<HashSet<Box<str>>> = RefCell::default();
}

/// Checks the pattern, unless this thread has lately.
pub(super) fn check(pattern: &str) -> Result<(), RegexError> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Regex::check(pattern);
    }
    GOOD.with_borrow_mut(|good| {
        if good.contains(pattern) {
            return Ok(());
        }
        Regex::check(pattern)?;
        if good.len() >= MAX_PATTERNS {
            good.clear();
        }
        good.insert(pattern.into());
        Ok(())
    })
}
