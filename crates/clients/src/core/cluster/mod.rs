//! Cluster (A27, A37, A52, A55, A75).
//!
//! Follows C-core `CdsResourceParse` (xds_cluster_parser.cc), in its order and without
//! short-circuits between the parts: discovery, LB policy, transport socket, load reporting,
//! upstream_config, circuit breakers, outlier detection, override_host_status, metadata. Rules
//! about use (`Fails`) assume that a route uses the cluster: only `client` knows whether one does.

use std::collections::BTreeSet;

use crate::core::convert::health::health_status_name;
use crate::core::convert::metadata;
use crate::core::convert::switch::report_off;
use crate::shared::aggregate;
use crate::shared::fields;
use crate::shared::read::{METRICS, is_reported};
use crate::shared::rules::LRS_SERVER_NOT_SELF;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::{self as pb, Cluster as Pb};
use xdsctl_document::proto::pb::envoy::config::core::v3 as core;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::{Family, Feature};
use xdsctl_model::resource::cluster::{Cluster, DEFAULT_MAX_CONCURRENT_REQUESTS, Discovery, HealthStatus};
use xdsctl_model::resource::{Resource, cluster};

pub mod discovery;
pub mod lb_policy;
pub mod logical_dns;
pub mod outlier_detection;
pub mod transport_socket;
pub mod upstream_config;

rules! {
    /// A name in lrs_report_endpoint_metrics is not one that the client reports.
    LRS_METRIC_UNKNOWN = "cds-lrs-metric-unknown", Cluster, Dropped, "gRFC A85; C-core CdsResourceParse";
    /// Circuit breaker thresholds are not read: only the first entry with priority DEFAULT is.
    THRESHOLDS_UNREAD = "cds-circuit-breaker-thresholds-unread", Cluster, Ignored, "gRFC A32; C-core CdsResourceParse",
        also [Go Java Node] "all read the thresholds for DEFAULT alone; of several, Java and Node take the last";
    /// The circuit breaker admits no request, so every RPC to the cluster fails.
    MAX_REQUESTS_ZERO = "cds-circuit-breaker-zero", Cluster, Fails, "gRFC A32; C-core xds_cluster_impl.cc",
        also [Go Java Node] "they refuse an RPC if as many as the limit are under way; of several entries for DEFAULT, Java and Node take the last";
    /// A status in override_host_status is not one that gRPC uses.
    OVERRIDE_STATUS_UNSUPPORTED = "cds-override-host-status-unsupported", Cluster, Dropped, "gRFC A55; C-core XdsHealthStatus::FromUpb";
    /// override_host_status has no status that gRPC uses, so no session keeps its endpoint.
    OVERRIDE_STATUS_EMPTY = "cds-override-host-status-empty", Cluster, Advice, "gRFC A55; C-core xds_override_host.cc";
}

/// The rules of this folder's other files.
pub static PART_RULES: &[&[&xdsctl_model::diag::Rule]] = &[
    discovery::RULES,
    lb_policy::RULES,
    logical_dns::RULES,
    outlier_detection::RULES,
    upstream_config::RULES,
];

/// Converts the resource.
pub fn convert(message: &Pb, cx: &mut Validation<'_>) -> Option<Resource> {
    let discovery = discovery::discovery(message, cx);
    let aggregate = matches!(discovery, Some(Discovery::Aggregate { .. }));
    let lb_policy = lb_policy::lb_policy(message, aggregate, cx);
    let socket = message.transport_socket.as_ref();
    let (use_http_connect, tls) = socket
        .map(|socket| transport_socket::transport_socket(socket, &Path::ROOT.field("transport_socket"), cx))
        .unwrap_or_default();
    lrs_server(message.lrs_server.as_ref(), cx);
    let lrs_metrics = lrs_metrics(&message.lrs_report_endpoint_metrics, cx);
    let connection_idle_timeout = upstream_config::idle_timeout(message.upstream_config.as_ref(), cx);
    let max_concurrent_requests = circuit_breakers(message.circuit_breakers.as_ref(), aggregate, cx);
    let outlier_detection = message
        .outlier_detection
        .as_ref()
        .map(|pb| outlier_detection::outlier_detection(pb, aggregate, &Path::ROOT.field("outlier_detection"), cx));
    let override_host_statuses = override_host_statuses(message.common_lb_config.as_ref(), cx);
    let metadata = message
        .metadata
        .as_ref()
        .filter(|_| cx.has(Feature::ClusterMetadata))
        .map(|pb| metadata::metadata(pb, &Path::ROOT.field("metadata"), cx))
        .unwrap_or_default();
    if aggregate {
        aggregate::unused(message, cx);
    }
    discovery.zip(lb_policy).map(|(discovery, lb_policy)| {
        Resource::Cluster(Cluster {
            discovery,
            lb_policy,
            lrs_self: message.lrs_server.is_some(),
            lrs_metrics,
            use_http_connect,
            tls,
            connection_idle_timeout,
            max_concurrent_requests,
            outlier_detection,
            override_host_statuses,
            metadata,
        })
    })
}

/// Checks that `lrs_server` is `self`: load is reported to the server that sent the cluster, or not
/// at all.
fn lrs_server(pb: Option<&core::ConfigSource>, cx: &mut Validation<'_>) {
    let (is_self, at) = (pb.is_none_or(fields::is_self), Path::ROOT.field("lrs_server"));
    let why = "lrs_server is not `self`, the only source for load reports";
    cx.check(is_self, &LRS_SERVER_NOT_SELF, &at, why);
}

/// Returns the metrics that the client keeps: `cpu_utilization`, `mem_utilization`,
/// `application_utilization`, and `named_metrics.` with any key.
fn lrs_metrics(names: &[String], cx: &mut Validation<'_>) -> BTreeSet<String> {
    if names.is_empty() {
        return BTreeSet::new();
    }
    let at = Path::ROOT.field("lrs_report_endpoint_metrics");
    if !cx.has(Feature::OrcaLrsPropagation) {
        report_off(Feature::OrcaLrsPropagation, &at, cx);
        return BTreeSet::new();
    }
    let mut kept = BTreeSet::new();
    for (i, name) in names.iter().enumerate() {
        if is_reported(name) {
            kept.insert(name.clone());
            continue;
        }
        let near = xdsctl_model::text::nearest(name, METRICS.into_iter());
        let why = format_args!(
            "metric `{name}` is not reported: known are {} and named_metrics.*",
            METRICS.join(", ")
        );
        cx.report(&LRS_METRIC_UNKNOWN, &at.index(i), why)
            .with(|finding| finding.help = near.map(|near| format!("did you mean `{near}`?")));
    }
    kept
}

/// Returns `max_requests` of the first threshold with priority DEFAULT. 0 is allowed and admits no
/// request.
fn circuit_breakers(pb: Option<&pb::CircuitBreakers>, aggregate: bool, cx: &mut Validation<'_>) -> u32 {
    let Some(breakers) = pb else {
        return DEFAULT_MAX_CONCURRENT_REQUESTS;
    };
    let at = Path::ROOT.field("circuit_breakers");
    let at = at.field("thresholds");
    let is_default = |t: &pb::circuit_breakers::Thresholds| t.priority == core::RoutingPriority::Default as i32;
    let first = breakers.thresholds.iter().position(is_default);
    for (i, threshold) in breakers.thresholds.iter().enumerate() {
        if Some(i) != first {
            let (why, shared): (_, &[Family]) = if is_default(threshold) {
                ("an earlier entry has priority DEFAULT too", &[Family::Go])
            } else {
                ("its priority is not DEFAULT", &[Family::Go, Family::Java, Family::Node])
            };
            cx.report(
                &THRESHOLDS_UNREAD,
                &at.index(i),
                format_args!("thresholds are not read, {why}"),
            )
            .shared_with(shared);
        }
    }
    let Some((i, threshold)) = first.and_then(|i| Some((i, breakers.thresholds.get(i)?))) else {
        return DEFAULT_MAX_CONCURRENT_REQUESTS;
    };
    if threshold.max_requests == Some(0) && !aggregate {
        let is_one = breakers.thresholds.iter().filter(|t| is_default(t)).count() == 1;
        let shared: &[Family] = if is_one { &Family::ALL } else { &[Family::Go] };
        cx.report(
            &MAX_REQUESTS_ZERO,
            &at.index(i).field("max_requests"),
            format_args!("max_requests is 0, every RPC to the cluster fails"),
        )
        .shared_with(shared);
    }
    threshold.max_requests.unwrap_or(DEFAULT_MAX_CONCURRENT_REQUESTS)
}

/// Returns the states in which a session may keep its endpoint (A55). Of
/// `common_lb_config.override_host_status` the client keeps UNKNOWN, HEALTHY and DRAINING. Without
/// the message the states are UNKNOWN and HEALTHY; a message that lists none of the three leaves no
/// state.
fn override_host_statuses(
    pb: Option<&pb::cluster::CommonLbConfig>,
    cx: &mut Validation<'_>,
) -> BTreeSet<cluster::HealthStatus> {
    let Some(set) = pb.and_then(|c| c.override_host_status.as_ref()) else {
        return BTreeSet::from([HealthStatus::Unknown, HealthStatus::Healthy]);
    };
    let at = Path::ROOT.field("common_lb_config");
    let at = at.field("override_host_status");
    let mut kept = BTreeSet::new();
    for (i, &number) in set.statuses.iter().enumerate() {
        match fields::health_status(number) {
            Some(status) => {
                kept.insert(status);
            }
            None => {
                cx.report(
                    &OVERRIDE_STATUS_UNSUPPORTED,
                    &at.field("statuses").index(i),
                    format_args!(
                        "status {number} ({}) is ignored, gRPC uses UNKNOWN, HEALTHY and DRAINING",
                        health_status_name(number)
                    ),
                );
            }
        }
    }
    if kept.is_empty() {
        cx.report(
            &OVERRIDE_STATUS_EMPTY,
            &at,
            format_args!("no status is left, so no session keeps its endpoint"),
        )
        .help("leave override_host_status out for UNKNOWN and HEALTHY");
    }
    kept
}

#[cfg(test)]
mod tests;
