//! How long a subchannel waits between attempts to connect (C-core subchannel.cc).

use xdsctl_model::backoff::{Backoff, Growth};

/// The wait from the start of one attempt to that of the next.
const GROWTH: Growth = Growth {
    initial_ms: 1000,
    multiplier: 1.6,
    max_ms: 120_000,
};

/// The shortest time that an attempt gets; a longer back-off gives it more.
pub const ATTEMPT_TIMEOUT_MS: i64 = 20_000;

/// What a subchannel keeps of its back-off: the last wait before jitter, in milliseconds; 0 before
/// the first attempt.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waits(u32);

impl Waits {
    /// Returns the next wait in milliseconds; `unit` is from `[0, 1)`.
    pub fn next_ms(&mut self, unit: f64) -> i64 {
        let last_ms = (self.0 > 0).then(|| i64::from(self.0));
        let nominal_ms = Backoff::after(GROWTH, last_ms).nominal_ms();
        // The wait is at most the longest one, so it fits.
        self.0 = nominal_ms as u32;
        Backoff::after(GROWTH, last_ms).next_ms(unit)
    }

    /// Makes the next wait the first one again.
    pub const fn reset(&mut self) {
        self.0 = 0;
    }
}
