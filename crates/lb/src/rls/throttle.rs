//! How rls holds back lookups from a service that does not answer them.
//!
//! The more of the last lookups failed, the more likely the next one is held back. A lookup that
//! was held back counts as failed. Follows C-core rls.cc `RlsChannel::Throttle`.

use std::collections::VecDeque;

use crate::runtime::Time;

/// How long a lookup counts (C-core `kDefaultThrottleWindowSize`).
const WINDOW_MS: i64 = 30_000;

/// How many lookups in all one successful lookup makes up for (C-core
/// `kDefaultThrottleRatioForSuccesses`).
const RATIO_FOR_SUCCESSES: f64 = 2.0;

/// Lookups that are added to those that were made, so that a few failures do not count for much
/// (C-core `kDefaultThrottlePadding`).
const PADDING: f64 = 8.0;

/// The lookups of the last 30 seconds.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    requests: VecDeque<Time>,
    failures: VecDeque<Time>,
}

impl Throttle {
    /// Says whether a lookup is held back; `unit` is drawn from `[0, 1)`.
    pub fn refuses(&mut self, now: Time, unit: f64) -> bool {
        for times in [&mut self.requests, &mut self.failures] {
            while times.front().is_some_and(|first| now - first > WINDOW_MS) {
                times.pop_front();
            }
        }
        let requests = self.requests.len() as f64;
        let successes = requests - self.failures.len() as f64;
        let probability = (requests - successes * RATIO_FOR_SUCCESSES) / (requests + PADDING);
        let refuses = unit < probability;
        if refuses {
            self.note(now, false);
        }
        refuses
    }

    /// Notes a lookup that has ended or was held back.
    pub fn note(&mut self, now: Time, is_ok: bool) {
        self.requests.push_back(now);
        if !is_ok {
            self.failures.push_back(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_make_it_likely_that_lookups_are_held_back() {
        let mut throttle = Throttle::default();
        assert!(!throttle.refuses(0, 0.0));
        (0..8).for_each(|_| throttle.note(0, false));
        // 8 of 8 failed: (8 - 0) / (8 + 8).
        assert!(!throttle.refuses(0, 0.5));
        assert!(throttle.refuses(0, 0.49));
        // 9 of 9 failed. After half a minute only the last of them counts: 1 / 9.
        assert!(throttle.refuses(30_000, 0.52));
        assert!(!throttle.refuses(30_001, 0.12));
    }

    #[test]
    fn half_of_them_may_fail() {
        let mut throttle = Throttle::default();
        (0..100).for_each(|number| throttle.note(0, number % 2 == 0));
        assert!(!throttle.refuses(0, 0.0));
    }
}
