//! Patterns that were found good lately: a dump has the same few in thousands of routes.

use std::cell::RefCell;
use std::collections::HashSet;

use super::PatternSyntax;

/// Patterns that a thread remembers.
const MAX_PATTERNS: usize = 256;

/// Longest pattern that is remembered, in bytes.
const MAX_PATTERN_BYTES: usize = 256;

thread_local! {
    static GOOD: RefCell<HashSet<(PatternSyntax, Box<str>)>> = RefCell::default();
}

/// Checks the pattern, unless this thread has lately.
pub(super) fn check<E>(
    syntax: PatternSyntax,
    pattern: &str,
    check: impl FnOnce(&str) -> Result<(), E>,
) -> Result<(), E> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return check(pattern);
    }
    GOOD.with_borrow_mut(|good| {
        let key = (syntax, Box::from(pattern));
        if good.contains(&key) {
            return Ok(());
        }
        check(pattern)?;
        if good.len() >= MAX_PATTERNS {
            good.clear();
        }
        good.insert(key);
        Ok(())
    })
}
