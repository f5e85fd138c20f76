//! How long a subchannel waits between attempts to connect.
//!
//! Follows C-core backoff.cc with the constants of subchannel.cc.

/// Wait before the second attempt, counted from the start of the first one.
pub const INITIAL_MS: f64 = 1000.0;

/// Growth from one attempt to the next.
pub const MULTIPLIER: f64 = 1.6;

/// Longest wait before jitter.
pub const MAX_MS: f64 = 120_000.0;

/// Share by which a wait may be longer or shorter.
pub const JITTER: f64 = 0.2;

/// Time that an attempt gets at least; a longer back-off gives it more.
pub const ATTEMPT_TIMEOUT_MS: i64 = 20_000;

/// The back-off of one subchannel.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Backoff {
    /// The nominal wait of the last attempt; `None` before the first and after a success.
    nominal_ms: Option<f64>,
}

impl Backoff {
    /// The wait from the start of this attempt to the next one; `unit` is from `[0, 1)`.
    pub fn next_ms(&mut self, unit: f64) -> i64 {
        let nominal = self
            .nominal_ms
            .map_or(INITIAL_MS, |before| (before * MULTIPLIER).min(MAX_MS));
        self.nominal_ms = Some(nominal);
        let factor = 1.0 - JITTER + 2.0 * JITTER * unit;
        (nominal * factor).round() as i64
    }

    /// Starts over after a success.
    pub fn reset(&mut self) {
        self.nominal_ms = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_two_minutes() {
        let mut backoff = Backoff::default();
        let waits: Vec<i64> = (0..13).map(|_| backoff.next_ms(0.5)).collect();
        assert_eq!(
            waits,
            [
                1000, 1600, 2560, 4096, 6554, 10486, 16777, 26844, 42950, 68719, 109_951, 120_000, 120_000
            ]
        );
        backoff.reset();
        assert_eq!((backoff.next_ms(0.0), backoff.next_ms(1.0)), (800, 1920));
    }
}
