//! What a client does for an RPC besides routing it: its deadline and its retries.

use std::collections::BTreeMap;
use std::fmt;

use super::table::Sent;
use super::tables::Goes;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::route::{RetryBounds, RetryOn, RetryPolicy, RouteAction};
use xdsctl_model::text::share_of_one;

/// The deadline and the retries of the RPCs that a route sends to a cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Care {
    /// `max_stream_duration` of the route, or else of the listener; `None` if there is no deadline.
    pub deadline: Option<Millis>,
    /// The retry policy; `None` if no RPC is retried.
    pub retries: Option<RetryCare>,
}

/// The parts of a retry policy that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RetryCare {
    /// Which of [`RetryOn::ALL`] are retried.
    on: [bool; RetryOn::ALL.len()],
    /// Whether attempts without a connection are retried, whatever the codes are.
    on_no_connection: bool,
    attempts: u32,
    base_interval: Millis,
    max_interval: Millis,
}

impl Care {
    /// Returns the deadline and the retries of a route. `default` is the listener's deadline, 0 for
    /// none.
    pub(super) fn of(action: &RouteAction, default: Millis) -> Care {
        let deadline = action.max_stream_duration.unwrap_or(default);
        let policy = action.retry_policy.as_ref().filter(|policy| policy.max_attempts() > 1);
        Care {
            deadline: Some(deadline).filter(|deadline| deadline.0 != 0),
            retries: policy.map(RetryCare::of),
        }
    }

    /// Returns the deadline in words.
    pub fn deadline_words(&self) -> String {
        self.deadline
            .map_or_else(|| "none".to_owned(), |deadline| deadline.to_string())
    }

    /// Returns the retries in words.
    pub fn retry_words(&self) -> String {
        self.retries
            .map_or_else(|| "none".to_owned(), |retries| retries.to_string())
    }
}

impl RetryCare {
    fn of(policy: &RetryPolicy) -> RetryCare {
        RetryCare {
            on: RetryOn::ALL.map(|on| policy.retry_on.contains(&on)),
            on_no_connection: policy.bounds == RetryBounds::Unconnected,
            attempts: policy.max_attempts(),
            base_interval: policy.base_interval,
            max_interval: policy.max_interval,
        }
    }
}

impl fmt::Display for RetryCare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tokens = RetryOn::ALL.into_iter().zip(self.on).filter(|(_, is_on)| *is_on);
        let tokens = tokens.map(|(on, _)| on.token());
        let on: Vec<&str> = tokens.chain(self.on_no_connection.then_some("no connection")).collect();
        let RetryCare {
            attempts,
            base_interval,
            max_interval,
            ..
        } = self;
        write!(
            f,
            "up to {attempts} attempts on {}, back-off {base_interval} to {max_interval}",
            on.join(", ")
        )
    }
}

/// Returns the deadlines and retries of those RPCs of a kind that do not fail, with the share of
/// each.
pub(super) fn of_all(sent: &[(Sent, f64)]) -> Vec<(Care, f64)> {
    let going = || sent.iter().filter(|(sent, _)| sent.goes != Goes::Fails);
    let sum: f64 = going().map(|(_, share)| share).sum();
    let mut shares = BTreeMap::new();
    for (sent, share) in going() {
        *shares.entry(sent.care).or_default() += share / sum;
    }
    shares.into_iter().collect()
}

/// Returns deadlines or retries with their shares in words: `5s`, or `50 % none; 50 % 5s`.
pub fn words(shares: &[(Care, f64)], of: fn(&Care) -> String) -> String {
    let mut by_words: Vec<(String, f64)> = Vec::new();
    for (care, share) in shares {
        let words = of(care);
        match by_words.iter_mut().find(|(known, _)| *known == words) {
            Some((_, sum)) => *sum += share,
            None => by_words.push((words, *share)),
        }
    }
    match by_words.as_slice() {
        [(words, _)] => words.clone(),
        several => {
            let part = |(words, share): &(String, f64)| format!("{} {words}", share_of_one(*share));
            several.iter().map(part).collect::<Vec<_>>().join("; ")
        }
    }
}
