//! Retries of one RPC (A44, A6): whether another attempt follows, and when.
//!
//! Follows C-core retry_filter_legacy_call_data.cc: before retry k the client waits for `min(base *
//! 2^(k-1), max)` times a factor between 0.8 and 1.2. There is no throttling in xDS. A wait of 0 ms
//! never ends: the timer of posix_engine.cc runs at once and has no handle, so that the client
//! takes it for a cancelled one.

use std::str::FromStr;

use xdsctl_model::backoff::{Backoff, Growth, range_ms};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::retry::BACKOFF_MULTIPLIER;
use xdsctl_model::resource::route::{RetryBounds, RetryPolicy};
use xdsctl_model::status::Code;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptEnd {
    /// The status code with which the attempt ended.
    pub code: Code,
    /// `grpc-retry-pushback-ms`, if the server sent one; negative or unreadable for "do not retry".
    pub pushback: Option<i64>,
    /// Whether response headers were received before, so that the RPC belongs to this attempt.
    pub is_committed: bool,
    /// Whether there was no connection.
    pub is_unconnected: bool,
}

/// Reads `grpc-retry-pushback-ms`. A text that is no number counts as "do not retry".
pub fn pushback(text: &str) -> i64 {
    text.parse().unwrap_or(-1)
}

impl FromStr for AttemptEnd {
    type Err = String;

    /// Reads `UNAVAILABLE` or, with a pushback of the server in milliseconds, `UNAVAILABLE:250`.
    fn from_str(text: &str) -> Result<AttemptEnd, String> {
        let (name, wish) = text.split_once(':').map_or((text, None), |(name, ms)| (name, Some(ms)));
        let code = Code::from_name(&name.to_ascii_uppercase().replace('-', "_"));
        let code = code.or_else(|| name.parse().ok().and_then(Code::from_number));
        Ok(AttemptEnd {
            code: code.ok_or_else(|| format!("`{name}` is not a gRPC status code"))?,
            pushback: wish.map(pushback),
            is_committed: false,
            is_unconnected: false,
        })
    }
}

/// Why no other attempt follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryStop {
    /// The attempt ended with OK.
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
    /// The wait is 0 ms, which never ends: the RPC hangs until its deadline.
    LostTimer,
}

/// The retries of one RPC.
#[derive(Debug, Clone)]
pub struct Retries {
    /// The policy, if it retries anything, and how its waits grow.
    policy: Option<(RetryPolicy, Backoff)>,
    attempts: u32,
}

/// How the waits of a policy grow.
fn growth(policy: &RetryPolicy) -> Growth {
    Growth {
        initial_ms: policy.base_interval.0,
        multiplier: f64::from(BACKOFF_MULTIPLIER),
        max_ms: policy.max_interval.0,
    }
}

impl Retries {
    /// The state before the first attempt.
    pub fn new(policy: Option<&RetryPolicy>) -> Retries {
        let policy = policy.filter(|policy| policy.retries()).map(|policy| {
            // The lost tokens of `retry_on` decide nothing, and may be long.
            let kept = RetryPolicy {
                retry_on: policy.retry_on.clone(),
                lost_tokens: Vec::new(),
                ..*policy
            };
            (kept, Backoff::new(growth(policy)))
        });
        Retries { policy, attempts: 0 }
    }

    /// How many attempts ended with a code that the policy retries.
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Returns how long to wait after an attempt before the next one. `unit` draws a number from
    /// `[0, 1)`, and is called only if there is something to draw for.
    ///
    /// # Errors
    /// Why no other attempt follows.
    pub fn after(&mut self, end: AttemptEnd, unit: impl FnOnce() -> f64) -> Result<Millis, RetryStop> {
        if end.code == Code::Ok {
            return Err(RetryStop::Ok);
        }
        let (policy, backoff) = self.policy.as_mut().ok_or(RetryStop::NoPolicy)?;
        // grpc-java obeys a pushback with a delay whatever the code is
        // (`RetriableStream.makeRetryDecision`).
        let is_wished = policy.bounds == RetryBounds::Rpc && end.pushback.is_some_and(|ms| ms >= 0);
        let reads_wishes = policy.bounds != RetryBounds::Unconnected;
        let is_unconnected = end.is_unconnected && !reads_wishes;
        if !is_wished && !is_unconnected && !policy.retry_on.iter().any(|on| on.code() == end.code) {
            return Err(RetryStop::NotRetryable);
        }
        if end.is_committed {
            return Err(RetryStop::Committed);
        }
        self.attempts += 1;
        if self.attempts >= policy.max_attempts() {
            return Err(RetryStop::Exhausted);
        }
        let wait = match end.pushback.filter(|_| reads_wishes) {
            Some(..0) => return Err(RetryStop::Pushback),
            Some(ms) => {
                backoff.reset();
                ms
            }
            None if policy.bounds == RetryBounds::UnlimitedFromZero => {
                // The clock of the simulation counts whole milliseconds.
                (backoff.nominal_ms() as f64 * unit()) as i64
            }
            None => backoff.next_ms(unit()),
        };
        if wait == 0 && policy.bounds == RetryBounds::Channel {
            return Err(RetryStop::LostTimer);
        }
        Ok(Millis(wait))
    }
}

/// A wait before a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Number of the retry, from 1.
    pub retry: u32,
    /// The shortest delay.
    pub least: Millis,
    /// The delay without jitter.
    pub nominal: Millis,
    /// The longest delay.
    pub most: Millis,
}

/// The waits of a policy if no server sends a pushback.
pub fn schedule(policy: &RetryPolicy) -> impl Iterator<Item = Wait> {
    let mut backoff = Backoff::new(growth(policy));
    (1..policy.max_attempts()).map(move |retry| {
        let nominal = backoff.nominal_ms();
        let (least, most) = match policy.bounds {
            RetryBounds::UnlimitedFromZero => (0, nominal),
            RetryBounds::Channel
            | RetryBounds::Rpc
            | RetryBounds::Unlimited
            | RetryBounds::Attempts
            | RetryBounds::Unconnected => range_ms(nominal),
        };
        Wait {
            retry,
            least: Millis(least),
            nominal: Millis(nominal),
            most: Millis(most),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use xdsctl_model::resource::route::RetryOn;

    fn policy(num_retries: u32, base: i64, max: i64) -> RetryPolicy {
        RetryPolicy {
            retry_on: BTreeSet::from([RetryOn::Unavailable]),
            num_retries,
            base_interval: Millis(base),
            max_interval: Millis(max),
            lost_tokens: Vec::new(),
            bounds: RetryBounds::Channel,
        }
    }

    /// Waits between attempts until there is no other.
    #[track_caller]
    fn check(policy: &RetryPolicy, script: &[&str], waits: &[i64], stop: RetryStop) {
        let mut retries = Retries::new(Some(policy));
        let mut found = Vec::new();
        let mut script = script.iter().map(|text| text.parse::<AttemptEnd>().unwrap());
        let mut end = script.next().unwrap();
        let found_stop = loop {
            match retries.after(end, || 0.5) {
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
            RetryStop::Exhausted,
        );
        check(
            &policy(3, 100, 150),
            &["UNAVAILABLE"],
            &[100, 150, 150],
            RetryStop::Exhausted,
        );
        check(&policy(1, 300, 200), &["UNAVAILABLE"], &[200], RetryStop::Exhausted);
        let nominal: Vec<i64> = schedule(&policy(9, 25, 150)).map(|wait| wait.nominal.0).collect();
        assert_eq!(nominal, [25, 50, 100, 150]);
    }

    #[test]
    fn the_server_may_ask_for_a_delay_or_for_none() {
        let script = ["UNAVAILABLE", "unavailable:7", "14"];
        check(&policy(9, 25, 250), &script, &[25, 7, 25, 50], RetryStop::Exhausted);
        check(&policy(9, 25, 250), &["UNAVAILABLE:x"], &[], RetryStop::Pushback);
        check(&policy(9, 25, 250), &["INTERNAL"], &[], RetryStop::NotRetryable);
        check(&policy(9, 25, 250), &["UNAVAILABLE", "OK"], &[25], RetryStop::Ok);
    }

    #[test]
    fn a_client_may_obey_a_wish_for_a_delay_whatever_the_code() {
        let of_java = RetryPolicy {
            bounds: RetryBounds::Rpc,
            ..policy(2, 25, 250)
        };
        check(&of_java, &["UNKNOWN:50", "UNKNOWN"], &[50], RetryStop::NotRetryable);
        check(&of_java, &["UNKNOWN:50"], &[50, 50], RetryStop::Exhausted);
        check(&of_java, &["UNKNOWN:-1"], &[], RetryStop::NotRetryable);
        check(&policy(2, 25, 250), &["UNKNOWN:50"], &[], RetryStop::NotRetryable);
    }

    #[test]
    fn an_attempt_without_a_connection_may_be_retried_whatever_the_codes() {
        let of_tonic = |retry_on: BTreeSet<RetryOn>| RetryPolicy {
            bounds: RetryBounds::Unconnected,
            retry_on,
            ..policy(1, 25, 250)
        };
        let refused = AttemptEnd {
            is_unconnected: true,
            .."UNAVAILABLE".parse().unwrap()
        };
        let mut retries = Retries::new(Some(&of_tonic(BTreeSet::new())));
        assert_eq!(retries.after(refused, || 0.5), Ok(Millis(25)));
        assert_eq!(retries.after(refused, || 0.5), Err(RetryStop::Exhausted));
        check(
            &of_tonic(BTreeSet::new()),
            &["UNAVAILABLE"],
            &[],
            RetryStop::NotRetryable,
        );
        let by_code = of_tonic(BTreeSet::from([RetryOn::Unavailable]));
        check(&by_code, &["UNAVAILABLE:-1"], &[25], RetryStop::Exhausted);
    }

    #[test]
    fn a_wait_of_nothing_never_ends() {
        check(&policy(9, 25, 250), &["UNAVAILABLE:0"], &[], RetryStop::LostTimer);
        let mut retries = Retries::new(Some(&policy(9, 1, 250)));
        let end = "UNAVAILABLE".parse().unwrap();
        assert_eq!(retries.after(end, || 0.6), Ok(Millis(1)));
        let mut retries = Retries::new(Some(&policy(9, 1, 250)));
        assert_eq!(retries.after(end, || 0.4), Err(RetryStop::LostTimer));
    }
}
