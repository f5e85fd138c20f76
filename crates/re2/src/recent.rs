//! Remembers patterns that were found valid recently: a dump has the same few in thousands of
//! routes.

use std::cell::RefCell;
use std::collections::HashSet;

use super::PatternSyntax;

/// The most patterns that a thread remembers.
const MAX_PATTERNS: usize = 256;

/// The longest pattern that is remembered, in bytes.
const MAX_PATTERN_BYTES: usize = 256;

thread_local! {
    /// The valid patterns of RE2, and those of the crate `regex`.
    static GOOD: [RefCell<HashSet<Box<str>>>; 2] = Default::default();
}

/// Checks the pattern, unless this thread has done so recently.
pub(super) fn check<E>(
    syntax: PatternSyntax,
    pattern: &str,
    check: impl FnOnce(&str) -> Result<(), E>,
) -> Result<(), E> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return check(pattern);
    }
    GOOD.with(|good| {
        let mut good = match syntax {
            PatternSyntax::Re2 => good[0].borrow_mut(),
            PatternSyntax::Rust => good[1].borrow_mut(),
        };
        if good.contains(pattern) {
            return Ok(());
        }
        check(pattern)?;
        if good.len() >= MAX_PATTERNS {
            good.clear();
        }
        good.insert(pattern.into());
        Ok(())
    })
}
