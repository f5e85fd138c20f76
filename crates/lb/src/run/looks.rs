//! Counts, in tests, at how many children policies look.
//!
//! A policy with many children gets an event for each of their changes. It must not look at all
//! children for one change: with 20,000 endpoints that took 18 s. The tests of the simulator count
//! looks, because counts are exact and times are not.

use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Counts looks at children; does nothing without debug assertions.
#[inline]
pub fn look(count: usize) {
    if cfg!(debug_assertions) {
        COUNT.set(COUNT.get() + count as u64);
    }
}

/// Returns at how many children the work looks.
pub fn during(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}
