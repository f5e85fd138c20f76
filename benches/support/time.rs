//! Measures work that is done several times.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The number of runs of each measurement.
pub const RUNS: usize = 7;

/// Returns the best time of [`RUNS`] runs: other work of the machine can only make a run longer.
pub fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    });
    times.min().unwrap_or_default()
}
