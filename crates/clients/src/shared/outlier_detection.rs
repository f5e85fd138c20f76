//! The checks of outlier detection that families have in common.

use super::rules::{PERCENTAGE_ABOVE_100, THRESHOLD_ABOVE_100};
use super::{Checked, is_valid, reject};
use prost_types::Duration;
use xdsctl_document::proto::duration::DURATION_OUT_OF_RANGE;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::OutlierDetection;
use xdsctl_model::diag::{Path, Rule, Validation};

/// Returns the durations that are checked, with the names of their fields.
pub(crate) const fn durations(message: &OutlierDetection) -> [(&'static str, &Option<Duration>); 3] {
    [
        ("interval", &message.interval),
        ("base_ejection_time", &message.base_ejection_time),
        ("max_ejection_time", &message.max_ejection_time),
    ]
}

/// Returns the percentages, each with the name of its field and the rule about values above 100.
pub(crate) const fn percentages(message: &OutlierDetection) -> [(&'static str, Option<u32>, &'static Rule); 4] {
    let (ejected, rate) = (message.max_ejection_percent, message.enforcing_success_rate);
    let (threshold, percentage) = (
        message.failure_percentage_threshold,
        message.enforcing_failure_percentage,
    );
    [
        ("max_ejection_percent", ejected, &PERCENTAGE_ABOVE_100),
        ("enforcing_success_rate", rate, &PERCENTAGE_ABOVE_100),
        ("failure_percentage_threshold", threshold, &THRESHOLD_ABOVE_100),
        ("enforcing_failure_percentage", percentage, &PERCENTAGE_ABOVE_100),
    ]
}

/// Says whether a duration is valid and not negative (`validateNonnegativeDuration`).
pub(crate) fn is_nonnegative(duration: &Duration) -> bool {
    is_valid(duration) && (duration.seconds, duration.nanos) >= (0, 0)
}

/// Checks durations and percentages, and stops at the first fault; `is_above` says whether a
/// percentage is above 100.
pub(crate) fn check(
    message: &OutlierDetection,
    is_above: fn(u32) -> bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    for (field, duration) in durations(message) {
        if let Some(duration) = duration.filter(|duration| !is_nonnegative(duration)) {
            let (seconds, nanos) = (duration.seconds, duration.nanos);
            let why = format_args!("{field} is {seconds} s and {nanos} ns, must be a duration of 0 or more");
            return Err(reject(&DURATION_OUT_OF_RANGE, &at.field(field), why, cx));
        }
    }
    for (field, value, rule) in percentages(message) {
        if let Some(value) = value.filter(|value| is_above(*value)) {
            let why = format_args!("{field} is {value}, must be at most 100");
            return Err(reject(rule, &at.field(field), why, cx));
        }
    }
    Ok(())
}
