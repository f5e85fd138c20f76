//! `outlier_detection` (A50).
//!
//! Follows C-core `CdsResourceParse` (xds_cluster_parser.cc). An algorithm exists only while its
//! enforcement percentage is set and not 0. The client checks the failure percentage threshold by
//! mistake against the enforcement percentage; the outlier_detection policy then rejects what this
//! lets through.

use prost_types::Duration;

use crate::shared::rules::{PERCENTAGE_ABOVE_100, THRESHOLD_ABOVE_100};
use xdsctl_document::proto::duration;
use xdsctl_document::proto::pb::envoy::config::cluster::v3 as pb;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::cluster::{FailurePercentageEjection, OutlierDetection, SuccessRateEjection};

rules! {
    /// failure_percentage_threshold is above 100 and enforced, so the LB policy rejects its config and RPCs fail.
    THRESHOLD_FAILS = "cds-outlier-threshold-fails", Cluster, Fails, "C-core outlier_detection.cc, OutlierDetectionLbConfig";
    /// A field of an outlier detection algorithm is set that is not enforced.
    ALGORITHM_NOT_ENFORCED = "cds-outlier-algorithm-not-enforced", Cluster, Ignored, "gRFC A50; C-core CdsResourceParse",
        also [Go Java Node] "an algorithm that is enforced for 0 % of the cases ejects nothing (A50)";
    /// Outlier detection has no algorithm in this client, others have one by default.
    WITHOUT_ALGORITHM = "cds-outlier-without-algorithm", Cluster, Advice, "gRFC A50; C-core CdsResourceParse, grpc-go unmarshal_cds.go, grpc-java XdsClusterResource.java";
}

/// `interval` when it is not set.
pub const DEFAULT_INTERVAL: Millis = Millis(10_000);
/// `base_ejection_time` when it is not set.
pub const DEFAULT_BASE_EJECTION_TIME: Millis = Millis(30_000);
/// A50 says 300 s, or the base time if that is longer; the client takes the default of its struct.
pub const DEFAULT_MAX_EJECTION_TIME: Millis = Millis(30_000);
/// `max_ejection_percent` when it is not set.
pub const DEFAULT_MAX_EJECTION_PERCENT: u32 = 10;
/// `minimum_hosts` of either algorithm when it is not set.
pub const DEFAULT_MINIMUM_HOSTS: u32 = 5;
/// `success_rate_request_volume` when it is not set.
pub const DEFAULT_SUCCESS_RATE_VOLUME: u32 = 100;
/// `success_rate_stdev_factor` when it is not set, in thousandths.
pub const DEFAULT_STDEV_FACTOR: u32 = 1900;
/// `failure_percentage_threshold` when it is not set.
pub const DEFAULT_THRESHOLD: u32 = 85;
/// `failure_percentage_request_volume` when it is not set.
pub const DEFAULT_FAILURE_PERCENTAGE_VOLUME: u32 = 50;

/// Converts the message at `at`; on an `aggregate` cluster the config never reaches a policy.
pub(super) fn outlier_detection(
    pb: &pb::OutlierDetection,
    aggregate: bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> OutlierDetection {
    let mut time = |value: &Option<Duration>, field, default| {
        value
            .as_ref()
            .map_or(default, |d| duration::parse(d, &at.field(field), cx))
    };
    let interval = time(&pb.interval, "interval", DEFAULT_INTERVAL);
    let base_ejection_time = time(&pb.base_ejection_time, "base_ejection_time", DEFAULT_BASE_EJECTION_TIME);
    let max_ejection_time = time(&pb.max_ejection_time, "max_ejection_time", DEFAULT_MAX_EJECTION_TIME);
    percentage(pb.max_ejection_percent, "max_ejection_percent", at, cx);
    let success_rate = success_rate(pb, at, cx);
    let failure_percentage = failure_percentage(pb, aggregate, at, cx);
    if pb.enforcing_success_rate.is_none() && pb.enforcing_failure_percentage.is_none() {
        cx.report(
            &WITHOUT_ALGORITHM,
            at,
            format_args!("neither enforcing_success_rate nor enforcing_failure_percentage is set, nothing is ejected"),
        );
    }
    OutlierDetection {
        interval,
        base_ejection_time,
        max_ejection_time,
        max_ejection_percent: pb.max_ejection_percent.unwrap_or(DEFAULT_MAX_EJECTION_PERCENT),
        success_rate,
        failure_percentage,
    }
}

/// Largest percentage.
const MAX_PERCENT: u32 = 100;

fn percentage(value: Option<u32>, field: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(value) = value.filter(|v| *v > MAX_PERCENT) {
        cx.report(
            &PERCENTAGE_ABOVE_100,
            &at.field(field),
            format_args!("{field} is {value}, must be at most {MAX_PERCENT}"),
        );
    }
}

/// The success rate algorithm, if it is enforced.
fn success_rate(pb: &pb::OutlierDetection, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<SuccessRateEjection> {
    percentage(pb.enforcing_success_rate, "enforcing_success_rate", at, cx);
    let Some(enforcement_percentage) = pb.enforcing_success_rate.filter(|p| *p != 0) else {
        let fields = [
            ("success_rate_minimum_hosts", pb.success_rate_minimum_hosts),
            ("success_rate_request_volume", pb.success_rate_request_volume),
            ("success_rate_stdev_factor", pb.success_rate_stdev_factor),
        ];
        not_enforced(&fields, ("enforcing_success_rate", pb.enforcing_success_rate), at, cx);
        return None;
    };
    Some(SuccessRateEjection {
        stdev_factor: pb.success_rate_stdev_factor.unwrap_or(DEFAULT_STDEV_FACTOR),
        enforcement_percentage,
        minimum_hosts: pb.success_rate_minimum_hosts.unwrap_or(DEFAULT_MINIMUM_HOSTS),
        request_volume: pb.success_rate_request_volume.unwrap_or(DEFAULT_SUCCESS_RATE_VOLUME),
    })
}

/// The failure percentage algorithm, if it is enforced.
fn failure_percentage(
    pb: &pb::OutlierDetection,
    aggregate: bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<FailurePercentageEjection> {
    percentage(pb.enforcing_failure_percentage, "enforcing_failure_percentage", at, cx);
    threshold(pb, aggregate, at, cx);
    let Some(enforcement_percentage) = pb.enforcing_failure_percentage.filter(|p| *p != 0) else {
        let fields = [
            ("failure_percentage_threshold", pb.failure_percentage_threshold),
            ("failure_percentage_minimum_hosts", pb.failure_percentage_minimum_hosts),
            (
                "failure_percentage_request_volume",
                pb.failure_percentage_request_volume,
            ),
        ];
        not_enforced(
            &fields,
            ("enforcing_failure_percentage", pb.enforcing_failure_percentage),
            at,
            cx,
        );
        return None;
    };
    Some(FailurePercentageEjection {
        threshold: pb.failure_percentage_threshold.unwrap_or(DEFAULT_THRESHOLD),
        enforcement_percentage,
        minimum_hosts: pb.failure_percentage_minimum_hosts.unwrap_or(DEFAULT_MINIMUM_HOSTS),
        request_volume: pb
            .failure_percentage_request_volume
            .unwrap_or(DEFAULT_FAILURE_PERCENTAGE_VOLUME),
    })
}

/// Reports what the client does with the threshold: any threshold is rejected beside an enforcement
/// percentage above 100, and none for its own value.
fn threshold(pb: &pb::OutlierDetection, aggregate: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(threshold) = pb.failure_percentage_threshold else {
        return;
    };
    let enforcing = pb.enforcing_failure_percentage.unwrap_or(0);
    let at = at.field("failure_percentage_threshold");
    if enforcing > MAX_PERCENT {
        cx.report(
            &PERCENTAGE_ABOVE_100,
            &at,
            format_args!("failure_percentage_threshold is blamed for enforcing_failure_percentage {enforcing}, which must be at most {MAX_PERCENT}"),
        );
        return;
    }
    if threshold <= MAX_PERCENT {
        return;
    }
    cx.report(
        &THRESHOLD_ABOVE_100,
        &at,
        format_args!("failure_percentage_threshold is {threshold}, must be at most {MAX_PERCENT} for other clients"),
    );
    if enforcing != 0 && !aggregate {
        cx.report(
            &THRESHOLD_FAILS,
            &at,
            format_args!(
                "threshold {threshold} is enforced, the outlier_detection policy rejects it and RPCs fail with INTERNAL"
            ),
        );
    }
}

/// What is not set differs: other clients than C-core eject by success rate then.
fn not_enforced(
    fields: &[(&str, Option<u32>)],
    (switch, value): (&str, Option<u32>),
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let shared: &[Family] = match value {
        Some(_) => &[Family::Go, Family::Java, Family::Node],
        None => &[],
    };
    for (field, _) in fields.iter().filter(|(_, value)| value.is_some()) {
        cx.report(
            &ALGORITHM_NOT_ENFORCED,
            &at.field(field),
            format_args!("{field} has no effect, {switch} is 0 or not set"),
        )
        .shared_with(shared);
    }
}
