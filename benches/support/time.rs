//! Times of work that is done several times.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Runs of each measurement.
pub const RUNS: usize = 7;

/// The best time of [`RUNS`]: what else the machine does only ever makes it longer.
pub fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    });
    times.min().unwrap_or_default()
}
