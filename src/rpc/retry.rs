//! Retries of one RPC (A44, A6): whether another attempt follows, and when.
//!
//! Follows C-core retry_filter_legacy_call_data.cc and backoff.cc: before retry k the client waits for
//! `min(base * 2^(k-1), max)` times a factor between 0.8 and 1.2. There is no throttling in xDS.

use std::str::FromStr;

use crate::client::retry::max_attempts;
use crate::model::Millis;
use crate::model::route::{RetryOn, RetryPolicy};
use crate::status::Code;

/// Least factor of the back-off.
pub const JITTER_MIN: f64 = 0.8;

/// The factor of the back-off stays below.
pub const JITTER_MAX: f64 = 1.2;

/// Each back-off is this much longer than the one before.
const MULTIPLIER: i64 = 2;

/// What `retry_on` calls the codes that it can name.
pub const TOKENS: [(&str, RetryOn); 5] = [
    ("cancelled", RetryOn::Cancelled),
    ("deadline-exceeded", RetryOn::DeadlineExceeded),
    ("internal", RetryOn::Internal),
    ("resource-exhausted", RetryOn::ResourceExhausted),
    ("unavailable", RetryOn::Unavailable),
];

/// The status code that a policy names.
pub const fn code(on: RetryOn) -> Code {
    match on {
        RetryOn::Cancelled => Code::Cancelled,
        RetryOn::DeadlineExceeded => Code::DeadlineExceeded,
        RetryOn::Internal => Code::Internal,
        RetryOn::ResourceExhausted => Code::ResourceExhausted,
        RetryOn::Unavailable => Code::Unavailable,
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptEnd {
    /// The code.
    pub code: Code,
    /// `grpc-retry-pushback-ms`, if the server sent one; negative or unreadable for "do not retry".
    pub pushback: Option<i64>,
    /// Response headers were received before, so that the RPC belongs to this attempt.
    pub is_committed: bool,
}

impl FromStr for AttemptEnd {
    type Err = String;

    /// Reads `UNAVAILABLE` or, with a wish of the server, `UNAVAILABLE:250`.
    fn from_str(text: &str) -> Result<AttemptEnd, String> {
        let (name, pushback) = text.split_once(':').map_or((text, None), |(name, ms)| (name, Some(ms)));
        let code = Code::from_name(&name.to_ascii_uppercase().replace('-', "_"));
        let code = code.or_else(|| name.parse().ok().and_then(Code::from_number));
        Ok(AttemptEnd {
            code: code.ok_or_else(|| format!("`{name}` is not a gRPC status code"))?,
            pushback: pushback.map(|ms| ms.parse().unwrap_or(-1)),
            is_committed: false,
        })
    }
}

/// Why no other attempt follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It worked.
    Ok,
    /// There is no policy, or it names no code.
    NoPolicy,
    /// The policy does not name the code.
    NotRetryable,
    /// The response had begun.
    Committed,
    /// All attempts are used up.
    Exhausted,
    /// The server asked not to retry.
    Pushback,
}

/// The retries of one RPC.
#[derive(Debug, Clone)]
pub struct Retries<'p> {
    policy: Option<&'p RetryPolicy>,
    attempts: u32,
    backoff: Millis,
}

impl<'p> Retries<'p> {
    /// Before the first attempt.
    pub fn new(policy: Option<&'p RetryPolicy>) -> Retries<'p> {
        let policy = policy.filter(|policy| !policy.retry_on.is_empty());
        Retries {
            policy,
            attempts: 0,
            backoff: policy.map_or(Millis(0), |policy| policy.base_interval),
        }
    }

    /// Says how long to wait after an attempt before the next one. `jitter` is from 0.8 to 1.2.
    ///
    /// # Errors
    /// Why there is none.
    pub fn after(&mut self, end: AttemptEnd, jitter: f64) -> Result<Millis, Stop> {
        if end.code == Code::Ok {
            return Err(Stop::Ok);
        }
        let policy = self.policy.ok_or(Stop::NoPolicy)?;
        if !policy.retry_on.iter().any(|on| code(*on) == end.code) {
            return Err(Stop::NotRetryable);
        }
        if end.is_committed {
            return Err(Stop::Committed);
        }
        self.attempts += 1;
        if self.attempts >= max_attempts(policy) {
            return Err(Stop::Exhausted);
        }
        match end.pushback {
            Some(..0) => Err(Stop::Pushback),
            Some(ms) => {
                self.backoff = policy.base_interval;
                Ok(Millis(ms))
            }
            None => {
                let nominal = self.backoff.0.min(policy.max_interval.0);
                self.backoff = Millis(nominal.saturating_mul(MULTIPLIER));
                Ok(Millis((nominal as f64 * jitter) as i64))
            }
        }
    }
}

/// The nominal back-off before retry `k`, from 1.
pub fn nominal_backoff(policy: &RetryPolicy, k: u32) -> Millis {
    let doubled = (1..k).fold(policy.base_interval.0, |backoff, _| backoff.saturating_mul(MULTIPLIER));
    Millis(doubled.min(policy.max_interval.0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn policy(num_retries: u32, base: i64, max: i64) -> RetryPolicy {
        RetryPolicy {
            retry_on: BTreeSet::from([RetryOn::Unavailable]),
            num_retries,
            base_interval: Millis(base),
            max_interval: Millis(max),
            lost_tokens: Vec::new(),
        }
    }

    /// Waits between attempts until there is no other.
    #[track_caller]
    fn check(policy: &RetryPolicy, script: &[&str], waits: &[i64], stop: Stop) {
        let mut retries = Retries::new(Some(policy));
        let mut found = Vec::new();
        let mut script = script.iter().map(|text| text.parse::<AttemptEnd>().unwrap());
        let mut end = script.next().unwrap();
        let found_stop = loop {
            match retries.after(end, 1.0) {
                Ok(wait) => found.push(wait.0),
                Err(stop) => break stop,
            }
            end = script.next().unwrap_or(end);
        };
        assert_eq!((found.as_slice(), found_stop), (waits, stop));
    }

    #[test]
    fn attempts_are_capped_at_five_and_waits_at_the_maximum() {
        check(
            &policy(9, 25, 250),
            &["UNAVAILABLE"],
            &[25, 50, 100, 200],
            Stop::Exhausted,
        );
        check(
            &policy(3, 100, 150),
            &["UNAVAILABLE"],
            &[100, 150, 150],
            Stop::Exhausted,
        );
        check(&policy(1, 300, 200), &["UNAVAILABLE"], &[200], Stop::Exhausted);
        assert_eq!(nominal_backoff(&policy(9, 25, 250), 4), Millis(200));
        assert_eq!(nominal_backoff(&policy(9, 25, 250), 5), Millis(250));
    }

    #[test]
    fn the_server_may_ask_for_a_delay_or_for_none() {
        let script = ["UNAVAILABLE", "unavailable:7", "14"];
        check(&policy(9, 25, 250), &script, &[25, 7, 25, 50], Stop::Exhausted);
        check(&policy(9, 25, 250), &["UNAVAILABLE:x"], &[], Stop::Pushback);
        check(&policy(9, 25, 250), &["INTERNAL"], &[], Stop::NotRetryable);
        check(&policy(9, 25, 250), &["UNAVAILABLE", "OK"], &[25], Stop::Ok);
    }
}
