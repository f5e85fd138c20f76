//! Retries (A44, A6): the defaults and limits of a retry policy, and why the client's loader
//! rejects one.
//!
//! The client writes each route's policy as service config JSON and reads it back. If its own
//! loader rejects the policy, the whole update is an error. `validate` reports that, `snapshot`
//! lets the channel fail because of it, and `rpc` counts attempts with the policy. Follows C-core
//! `RouteConfigData::CreateMethodConfig` (xds_resolver.cc), `RetryMethodConfig`
//! (retry_service_config.cc) and `LoadDuration` (json_object_loader.cc).

use super::route::{RetryBounds, RetryOn, RetryPolicy};
use super::{MAX_DURATION_SECONDS, Millis};
use crate::profile::Feature;
use crate::status::Code;

/// The number of retries where `num_retries` is absent.
pub const DEFAULT_NUM_RETRIES: u32 = 1;

/// The `base_interval` where `retry_back_off` is absent.
pub const DEFAULT_BASE_INTERVAL: Millis = Millis(25);

/// The `max_interval` as a multiple of the base interval, where only `max_interval` is absent.
const MAX_INTERVAL_FACTOR: i64 = 10;

/// The most attempts of one RPC, including the first, whatever `num_retries` says (A6).
pub const MAX_ATTEMPTS: u32 = 5;

/// The factor from one back-off to the next.
pub const BACKOFF_MULTIPLIER: u32 = 2;

impl RetryOn {
    /// Returns the condition with this word, which is compared byte by byte.
    pub fn from_token(token: &str) -> Option<RetryOn> {
        Self::ALL.into_iter().find(|on| on.token() == token)
    }

    /// Returns the condition that a client with these features reads in a word of `retry_on`.
    pub fn of_word(word: &str, has: impl Fn(Feature) -> bool) -> Option<RetryOn> {
        if !has(Feature::RetryOnTrimmed) {
            return Self::from_token(word);
        }
        let plain = word.trim().to_ascii_lowercase();
        match has(Feature::RetryOnUnderscored) {
            true => Self::from_token(&plain.replace('_', "-")),
            false => Self::from_token(&plain),
        }
    }

    /// Returns the status code of the condition.
    pub const fn code(self) -> Code {
        match self {
            RetryOn::Cancelled => Code::Cancelled,
            RetryOn::DeadlineExceeded => Code::DeadlineExceeded,
            RetryOn::Internal => Code::Internal,
            RetryOn::ResourceExhausted => Code::ResourceExhausted,
            RetryOn::Unavailable => Code::Unavailable,
        }
    }
}

/// Returns the `max_interval` where it is absent: ten times the base, without a limit.
pub fn default_max_interval(base: Millis) -> Millis {
    Millis(base.0.saturating_mul(MAX_INTERVAL_FACTOR))
}

/// A field of the method config that the client's loader rejects, so that every RPC of the channel
/// fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// `initialBackoff` is 0.
    BaseZero,
    /// `initialBackoff` is longer than a Duration can be.
    BaseTooLong,
    /// `maxAttempts` does not fit into a signed 32-bit number.
    AttemptsTooMany,
    /// `maxAttempts` is below 2.
    AttemptsTooFew,
    /// `maxBackoff` is 0.
    MaxZero,
    /// `maxBackoff` is longer than a Duration can be.
    MaxTooLong,
}

impl Unusable {
    /// Returns the field in the method config.
    pub const fn field(self) -> &'static str {
        match self {
            Unusable::BaseZero | Unusable::BaseTooLong => "initialBackoff",
            Unusable::AttemptsTooMany | Unusable::AttemptsTooFew => "maxAttempts",
            Unusable::MaxZero | Unusable::MaxTooLong => "maxBackoff",
        }
    }

    /// Returns the client's own error text.
    pub const fn error(self) -> &'static str {
        match self {
            Unusable::BaseZero | Unusable::MaxZero => "must be greater than 0",
            Unusable::BaseTooLong | Unusable::MaxTooLong => "seconds must be in the range [0, 315576000000]",
            Unusable::AttemptsTooMany => "failed to parse number",
            Unusable::AttemptsTooFew => "must be at least 2",
        }
    }
}

impl RetryPolicy {
    /// Returns `maxAttempts` as the client writes it: `num_retries + 1`. It wraps around at 32 bits
    /// if the client limits the attempts, and saturates otherwise.
    pub const fn written_attempts(&self) -> u32 {
        match self.bounds.is_unlimited() || matches!(self.bounds, RetryBounds::Attempts) {
            true => self.num_retries.saturating_add(1),
            false => self.num_retries.wrapping_add(1),
        }
    }

    /// Says whether anything is retried.
    pub fn retries(&self) -> bool {
        !self.retry_on.is_empty() || self.bounds == RetryBounds::Unconnected
    }

    /// Returns the most attempts that the client makes, including the first.
    pub fn max_attempts(&self) -> u32 {
        if !self.retries() {
            1
        } else if self.bounds.is_unlimited() {
            self.written_attempts()
        } else {
            self.written_attempts().min(MAX_ATTEMPTS)
        }
    }

    /// Says whether the method config of an RPC cannot hold the policy, so that the RPC fails
    /// (grpc-java `ManagedChannelServiceConfig.MethodInfo.retryPolicy`).
    pub fn fails_rpcs(&self) -> bool {
        let attempts = self.written_attempts().cast_signed();
        self.bounds == RetryBounds::Rpc && !self.retry_on.is_empty() && attempts < 2
    }

    /// Returns what the client's loader rejects in the policy, in the order in which the client
    /// sorts the field names.
    ///
    /// A policy without a retryable code is not written at all, so nothing is rejected.
    pub fn unusable(&self) -> Vec<Unusable> {
        if self.retry_on.is_empty() || self.bounds != RetryBounds::Channel {
            return Vec::new();
        }
        let interval = |millis: Millis, zero, too_long| match millis.0 {
            ..=0 => Some(zero),
            ms if ms / 1000 > MAX_DURATION_SECONDS => Some(too_long),
            _ => None,
        };
        let attempts = match i32::try_from(self.written_attempts()) {
            Err(_) => Some(Unusable::AttemptsTooMany),
            Ok(..2) => Some(Unusable::AttemptsTooFew),
            Ok(_) => None,
        };
        let base = interval(self.base_interval, Unusable::BaseZero, Unusable::BaseTooLong);
        let max = interval(self.max_interval, Unusable::MaxZero, Unusable::MaxTooLong);
        base.into_iter().chain(attempts).chain(max).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[track_caller]
    fn check(num_retries: u32, base: i64, max: i64, expected: &[Unusable]) {
        let policy = RetryPolicy {
            retry_on: BTreeSet::from([RetryOn::Unavailable]),
            num_retries,
            base_interval: Millis(base),
            max_interval: Millis(max),
            lost_tokens: Vec::new(),
            bounds: RetryBounds::Channel,
        };
        assert_eq!(policy.unusable(), expected);
    }

    #[test]
    fn words_are_read_as_written_or_loosely() {
        let read = |word: &str, features: &[Feature]| RetryOn::of_word(word, |one| features.contains(&one)).is_some();
        let go: &[Feature] = &[Feature::RetryOnTrimmed];
        let java: &[Feature] = &[Feature::RetryOnTrimmed, Feature::RetryOnUnderscored];
        for (word, by) in [
            ("deadline-exceeded", [true, true, true]),
            (" Deadline-Exceeded", [false, true, true]),
            ("DEADLINE_EXCEEDED", [false, false, true]),
            ("5xx", [false, false, false]),
        ] {
            assert_eq!([read(word, &[]), read(word, go), read(word, java)], by, "{word}");
        }
    }

    #[test]
    fn too_many_attempts_fail_the_rpcs_of_a_route() {
        let policy = |num_retries, bounds| RetryPolicy {
            retry_on: BTreeSet::from([RetryOn::Unavailable]),
            num_retries,
            base_interval: Millis(25),
            max_interval: Millis(250),
            lost_tokens: Vec::new(),
            bounds,
        };
        assert!(policy(2_147_483_647, RetryBounds::Rpc).fails_rpcs());
        assert!(!policy(2_147_483_646, RetryBounds::Rpc).fails_rpcs());
        assert!(!policy(2_147_483_647, RetryBounds::Channel).fails_rpcs());
        assert_eq!(policy(2_147_483_647, RetryBounds::Rpc).unusable(), []);
    }

    #[test]
    fn the_loader_refuses_what_is_zero_too_many_or_no_duration() {
        check(1, 25, 250, &[]);
        check(1, 0, 0, &[Unusable::BaseZero, Unusable::MaxZero]);
        check(2_147_483_646, 25, 250, &[]);
        check(2_147_483_647, 25, 250, &[Unusable::AttemptsTooMany]);
        check(u32::MAX, 25, 250, &[Unusable::AttemptsTooFew]);
    }

    #[test]
    fn ten_times_a_long_base_is_no_duration_any_more() {
        let max = |base| default_max_interval(Millis(base)).0;
        check(1, 31_557_600_000_099, max(31_557_600_000_099), &[]);
        let base = 31_557_600_000_100;
        check(1, base, max(base), &[Unusable::MaxTooLong]);
        check(1, base, base, &[]);
    }
}
