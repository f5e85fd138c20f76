//! Retry policies, as tonic-xds reads them (xds/resource/route_config.rs `RouteRetryConfig`,
//! client/retry.rs).

use std::collections::BTreeSet;

use crate::shared::rules::{BACK_OFF_NOT_POSITIVE, BASE_INTERVAL_MISSING, NUM_RETRIES_ZERO};
use crate::shared::{Checked, is_valid, reject};
use xdsctl_document::proto::pb::envoy::config::route::v3::RetryPolicy as Pb;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::retry::{DEFAULT_BASE_INTERVAL, DEFAULT_NUM_RETRIES, default_max_interval};
use xdsctl_model::resource::route::{RetryBounds, RetryOn, RetryPolicy};

/// Converts the policy of a route or a virtual host.
pub(super) fn policy(message: Option<&Pb>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Option<RetryPolicy>> {
    let Some(message) = message else {
        return Ok(None);
    };
    if message.num_retries == Some(0) {
        let why = format_args!("num_retries is 0, must be at least 1");
        return Err(reject(&NUM_RETRIES_ZERO, &at.field("num_retries"), why, cx));
    }
    let mut base_interval = DEFAULT_BASE_INTERVAL;
    let mut max_interval = None;
    if let Some(back_off) = &message.retry_back_off {
        let at = at.field("retry_back_off");
        let base_at = at.field("base_interval");
        let Some(base) = &back_off.base_interval else {
            let why = format_args!("missing, must be above 0");
            return Err(reject(&BASE_INTERVAL_MISSING, &base_at, why, cx));
        };
        base_interval = interval(base, &base_at, cx)?;
        if let Some(max) = &back_off.max_interval {
            max_interval = Some(interval(max, &at.field("max_interval"), cx)?);
        }
    }
    let mut retry_on = BTreeSet::new();
    let mut lost_tokens = Vec::new();
    let words = message.retry_on.split(',').map(str::trim);
    for word in words.filter(|word| !word.is_empty()) {
        match RetryOn::from_token(word) {
            Some(code) => _ = retry_on.insert(code),
            None => lost_tokens.push(word.to_owned()),
        }
    }
    if retry_on.is_empty() {
        // The client then uses its default policy.
        return Ok(Some(RetryPolicy {
            lost_tokens,
            ..default_policy()
        }));
    }
    Ok(Some(RetryPolicy {
        retry_on,
        num_retries: message.num_retries.unwrap_or(DEFAULT_NUM_RETRIES),
        base_interval,
        max_interval: max_interval.map_or_else(|| default_max_interval(base_interval), |max| max.max(base_interval)),
        lost_tokens,
        bounds: RetryBounds::Unconnected,
    }))
}

/// Returns the policy of a client without any other: an attempt that finds no connection is tried
/// again once.
pub(super) fn default_policy() -> RetryPolicy {
    RetryPolicy {
        retry_on: BTreeSet::new(),
        num_retries: DEFAULT_NUM_RETRIES,
        base_interval: DEFAULT_BASE_INTERVAL,
        max_interval: default_max_interval(DEFAULT_BASE_INTERVAL),
        lost_tokens: Vec::new(),
        bounds: RetryBounds::Unconnected,
    }
}

/// Converts an interval, which must be above 0 and at most ten thousand years; an interval below a
/// millisecond counts as one.
fn interval(duration: &prost_types::Duration, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Millis> {
    let prost_types::Duration { seconds, nanos } = *duration;
    if !is_valid(duration) || seconds < 0 || nanos < 0 || (seconds, nanos) == (0, 0) {
        let why = format_args!("is {seconds} s and {nanos} ns, must be above 0");
        return Err(reject(&BACK_OFF_NOT_POSITIVE, at, why, cx));
    }
    let millis = seconds
        .saturating_mul(1000)
        .saturating_add(i64::from(nanos) / 1_000_000);
    Ok(Millis(millis.max(1)))
}
