//! The method config that the client makes of a retry policy, and why it may break the channel (A44).
//!
//! The client writes each route's policy as service config JSON and reads it back; what its own loader refuses makes the
//! whole update an error. Follows C-core `RouteConfigData::CreateMethodConfig` (xds_resolver.cc) and
//! `RetryMethodConfig::JsonPostLoad` (retry_service_config.cc).

use crate::model::Millis;
use crate::model::route::{Action, RetryPolicy, VirtualHost};

/// Attempts that the client allows at most, the first one included.
pub const MAX_ATTEMPTS: u32 = 5;

/// `maxAttempts` as written: `num_retries + 1` in 32 bits.
pub fn written_attempts(policy: &RetryPolicy) -> u32 {
    policy.num_retries.wrapping_add(1)
}

/// Attempts that the client makes at most, the first one included.
pub fn max_attempts(policy: &RetryPolicy) -> u32 {
    if policy.retry_on.is_empty() {
        1
    } else {
        written_attempts(policy).min(MAX_ATTEMPTS)
    }
}

/// What the client's loader says against the method config of a policy; empty if it is fine.
///
/// A policy without a retryable code is not written at all.
pub fn faults(policy: &RetryPolicy) -> Vec<(&'static str, &'static str)> {
    let mut faults = Vec::new();
    if policy.retry_on.is_empty() {
        return faults;
    }
    let positive = |millis: Millis| millis.0 > 0;
    // In the order of the field names, as the client sorts them.
    if !positive(policy.base_interval) {
        faults.push(("initialBackoff", "must be greater than 0"));
    }
    let attempts = written_attempts(policy);
    if i32::try_from(attempts).is_err() {
        faults.push(("maxAttempts", "failed to parse number"));
    } else if attempts < 2 {
        faults.push(("maxAttempts", "must be at least 2"));
    }
    if !positive(policy.max_interval) {
        faults.push(("maxBackoff", "must be greater than 0"));
    }
    faults
}

/// The note of a channel whose virtual host has a retry policy that the client cannot use.
pub fn broken_method_config(host: &VirtualHost) -> Option<String> {
    host.routes.iter().find_map(|route| {
        let Action::Route(action) = &route.action else {
            return None;
        };
        let faults = faults(action.retry_policy.as_ref()?);
        if faults.is_empty() {
            return None;
        }
        let list: Vec<String> = faults
            .iter()
            .map(|(field, error)| format!("field:methodConfig[0].retryPolicy.{field} error:{error}"))
            .collect();
        Some(format!(
            "could not create ConfigSelector: errors validating service config: [{}]",
            list.join("; ")
        ))
    })
}
