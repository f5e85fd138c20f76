//! Exponential back-off in the client's arithmetic, for retries and for connections.
//!
//! The client counts whole milliseconds and multiplies them as a double number of seconds.
//! Fractions of a millisecond are cut off, both in the growth and in the jitter. Follows C-core
//! `BackOff::NextAttemptDelay` (backoff.cc) and `Duration::FromSecondsAsDouble` (time.h).

/// The share by which a wait may be longer or shorter (C-core retry_filter.h, subchannel.cc).
pub const JITTER: f64 = 0.2;

/// How the waits between attempts to connect grow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// The first wait in milliseconds, before jitter.
    pub initial_ms: i64,
    /// The factor from one wait to the next.
    pub multiplier: f64,
    /// The longest wait in milliseconds, before jitter.
    pub max_ms: i64,
}

/// A sequence of waits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    growth: Growth,
    /// The last wait before jitter; `None` before the first.
    last_ms: Option<i64>,
}

impl Backoff {
    /// Returns the back-off before its first wait.
    pub const fn new(growth: Growth) -> Backoff {
        Backoff { growth, last_ms: None }
    }

    /// Returns the back-off after a wait of `last_ms` milliseconds, before jitter; `None` before
    /// the first wait.
    pub const fn after(growth: Growth, last_ms: Option<i64>) -> Backoff {
        Backoff { growth, last_ms }
    }

    /// Returns the next wait before jitter, in milliseconds.
    pub fn nominal_ms(&mut self) -> i64 {
        let Growth {
            initial_ms,
            multiplier,
            max_ms,
        } = self.growth;
        let grown = self.last_ms.map_or(initial_ms, |last| times(last, multiplier));
        let nominal = grown.min(max_ms);
        self.last_ms = Some(nominal);
        nominal
    }

    /// Returns the next wait in milliseconds; `unit` is a random number in `[0, 1)`.
    pub fn next_ms(&mut self, unit: f64) -> i64 {
        times(self.nominal_ms(), 1.0 - JITTER + 2.0 * JITTER * unit)
    }

    /// Makes the next wait the first one again.
    pub const fn reset(&mut self) {
        self.last_ms = None;
    }
}

/// Returns the shortest and the longest wait, in milliseconds, that jitter makes of a wait.
pub fn range_ms(nominal_ms: i64) -> (i64, i64) {
    (times(nominal_ms, 1.0 - JITTER), times(nominal_ms, 1.0 + JITTER))
}

/// Multiplies as the client does, by way of seconds.
fn times(ms: i64, factor: f64) -> i64 {
    // `as` cuts off the fraction and keeps the result in the range of the type.
    (ms as f64 * factor / 1000.0 * 1000.0) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(initial_ms: i64, multiplier: f64, max_ms: i64, expected: &[i64]) {
        let growth = Growth {
            initial_ms,
            multiplier,
            max_ms,
        };
        let mut backoff = Backoff::new(growth);
        let waits: Vec<i64> = expected.iter().map(|_| backoff.nominal_ms()).collect();
        assert_eq!(waits, expected);
    }

    #[test]
    fn waits_of_connections_grow_to_two_minutes_in_whole_milliseconds() {
        // 4096 * 1.6 is 6553.6, which is cut to 6553, and so on.
        let expected = [
            1000, 1600, 2560, 4096, 6553, 10_484, 16_774, 26_838, 42_940, 68_704, 109_926, 120_000, 120_000,
        ];
        check(1000, 1.6, 120_000, &expected);
    }

    #[test]
    fn the_maximum_holds_for_the_first_wait_too() {
        check(300, 2.0, 200, &[200, 200]);
        check(25, 2.0, 250, &[25, 50, 100, 200, 250]);
    }

    #[test]
    fn jitter_is_a_fifth_and_cuts_off() {
        assert_eq!(range_ms(25), (20, 30));
        assert_eq!(range_ms(1), (0, 1));
        let growth = Growth {
            initial_ms: 27,
            multiplier: 2.0,
            max_ms: 1000,
        };
        // The waits are 27 and 54 ms before jitter: 0.9 * 27 is 24.3, and 1.1 * 54 is 59.4. The
        // shortest is 0.8 * 27, which is 21.6.
        let mut backoff = Backoff::new(growth);
        assert_eq!((backoff.next_ms(0.25), backoff.next_ms(0.75)), (24, 59));
        backoff.reset();
        assert_eq!(backoff.next_ms(0.0), 21);
    }

    #[test]
    fn seconds_in_between_may_cost_a_millisecond() {
        // 1001 / 1000 * 1000 is 1000.9999999999999 in double precision.
        assert_eq!(times(1001, 1.0), 1000);
        assert_eq!(times(i64::MAX, 2.0), i64::MAX);
    }
}
