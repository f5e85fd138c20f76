//! `outlier_detection` (A50).
//!
//! Follows C-core `CdsResourceParse` (xds_cluster_parser.cc). An algorithm exists only while its
//! enforcement percentage is set and not 0. The client checks the failure percentage threshold by
//! mistake against the enforcement percentage; the outlier_detection policy then rejects what this
//! lets through.

use crate::shared::outlier_detection::durations;
use crate::shared::read::{self, OutlierWays};
use crate::shared::rules::{PERCENTAGE_ABOVE_100, THRESHOLD_ABOVE_100};
use xdsctl_document::proto::duration;
use xdsctl_document::proto::pb::envoy::config::cluster::v3 as pb;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::cluster::OutlierDetection;

rules! {
    /// failure_percentage_threshold is above 100 and enforced, so the LB policy rejects its config and RPCs fail.
    THRESHOLD_FAILS = "cds-outlier-threshold-fails", Cluster, Fails, "C-core outlier_detection.cc, OutlierDetectionLbConfig";
    /// A field of an outlier detection algorithm is set that is not enforced.
    ALGORITHM_NOT_ENFORCED = "cds-outlier-algorithm-not-enforced", Cluster, Ignored, "gRFC A50; C-core CdsResourceParse",
        also [Go Java Node] "an algorithm that is enforced for 0 % of the cases ejects nothing (A50)";
    /// Outlier detection has no algorithm in this client, others have one by default.
    WITHOUT_ALGORITHM = "cds-outlier-without-algorithm", Cluster, Advice, "gRFC A50; C-core CdsResourceParse, grpc-go unmarshal_cds.go, grpc-java XdsClusterResource.java";
}

/// The default of max_ejection_time. A50 says 300 s, or the base time if that is longer; the client
/// uses the default of its struct.
pub const DEFAULT_MAX_EJECTION_TIME: Millis = Millis(30_000);

/// Converts the message at `at`; on an `aggregate` cluster the config never reaches a policy.
pub(super) fn outlier_detection(
    pb: &pb::OutlierDetection,
    aggregate: bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> OutlierDetection {
    for (field, value) in durations(pb) {
        if let Some(value) = value {
            // Parsed for its findings only; the value is made below.
            duration::parse(value, &at.field(field), cx);
        }
    }
    percentage(pb.max_ejection_percent, "max_ejection_percent", at, cx);
    check_success_rate(pb, at, cx);
    check_failure_percentage(pb, aggregate, at, cx);
    let algorithm = pb.enforcing_success_rate.or(pb.enforcing_failure_percentage);
    let why = "neither enforcing_success_rate nor enforcing_failure_percentage is set, nothing is ejected";
    cx.required(algorithm, &WITHOUT_ALGORITHM, at, why);
    let ways = OutlierWays {
        zero_is_default: false,
        success_rate_by_default: false,
        max_ejection_time: DEFAULT_MAX_EJECTION_TIME,
    };
    read::outlier_detection(pb, ways)
}

/// The largest percentage.
const MAX_PERCENT: u32 = 100;

fn percentage(value: Option<u32>, field: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let value = value.unwrap_or(0);
    let why = format_args!("{field} is {value}, must be at most {MAX_PERCENT}");
    cx.check(value <= MAX_PERCENT, &PERCENTAGE_ABOVE_100, &at.field(field), why);
}

fn check_success_rate(pb: &pb::OutlierDetection, at: &Path<'_>, cx: &mut Validation<'_>) {
    let switch = ("enforcing_success_rate", pb.enforcing_success_rate);
    let (field, share) = switch;
    percentage(share, field, at, cx);
    let fields = [
        ("success_rate_minimum_hosts", pb.success_rate_minimum_hosts),
        ("success_rate_request_volume", pb.success_rate_request_volume),
        ("success_rate_stdev_factor", pb.success_rate_stdev_factor),
    ];
    not_enforced(&fields, switch, at, cx);
}

fn check_failure_percentage(pb: &pb::OutlierDetection, aggregate: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    let switch = ("enforcing_failure_percentage", pb.enforcing_failure_percentage);
    let (field, share) = switch;
    percentage(share, field, at, cx);
    threshold(pb, aggregate, at, cx);
    let volume = pb.failure_percentage_request_volume;
    let fields = [
        ("failure_percentage_threshold", pb.failure_percentage_threshold),
        ("failure_percentage_minimum_hosts", pb.failure_percentage_minimum_hosts),
        ("failure_percentage_request_volume", volume),
    ];
    not_enforced(&fields, switch, at, cx);
}

/// Reports what the client does with the threshold: if the enforcement percentage is above 100 it
/// rejects any threshold, and it never rejects a threshold for its own value.
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

/// Reports the fields of an algorithm that is not enforced. If the enforcement percentage is not
/// set, the finding is C-core's alone: other clients then eject by success rate.
fn not_enforced(
    fields: &[(&str, Option<u32>)],
    (switch, value): (&str, Option<u32>),
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let shared: &[Family] = match value {
        Some(0) => &[Family::Go, Family::Java, Family::Node],
        Some(_) => return,
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
