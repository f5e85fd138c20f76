//! Fields that an aggregate cluster sets in vain, because each leaf has its own (A75). Older
//! versions use the LB policy of the aggregate for its leaves, but nothing else of it.

use super::fields::set_of;
use super::rules::AGGREGATE_FIELD_UNUSED;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::{Cluster, cluster::LbPolicy};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// Reports the fields that are set in vain.
pub(crate) fn unused(message: &Cluster, cx: &mut Validation<'_>) {
    let has_policy = !cx.has(Feature::AggregateClusterBackwardCompat);
    let is_listed = message.load_balancing_policy.is_some();
    // Other values are rejected.
    let has_enum = match LbPolicy::try_from(message.lb_policy) {
        Ok(LbPolicy::RingHash) => true,
        Ok(LbPolicy::LeastRequest) => cx.has(Feature::LeastRequest),
        _ => false,
    };
    let fields = [
        ("lb_policy", has_policy && !is_listed && has_enum),
        ("load_balancing_policy", has_policy && is_listed),
        ("transport_socket", message.transport_socket.is_some()),
        ("lrs_server", message.lrs_server.is_some()),
        (
            "lrs_report_endpoint_metrics",
            !message.lrs_report_endpoint_metrics.is_empty(),
        ),
        ("upstream_config", message.upstream_config.is_some()),
        ("circuit_breakers", message.circuit_breakers.is_some()),
        ("outlier_detection", message.outlier_detection.is_some()),
        ("common_lb_config", message.common_lb_config.is_some()),
    ];
    for field in set_of(fields) {
        let why = format_args!("not used on an aggregate cluster, its leaf clusters use their own");
        cx.report(&AGGREGATE_FIELD_UNUSED, &Path::ROOT.field(field), why);
    }
}
