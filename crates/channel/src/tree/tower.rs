//! The tree of tonic-xds, which has no LB policies of gRPC: layers of tower, a channel for each
//! cluster, and below it the endpoints.
//!
//! Follows tonic-xds `assemble_channel_stack` (client/channel.rs), client/lb.rs and
//! client/cluster.rs: an `XdsLbService` keeps a `ClusterChannel` for each cluster that a route has
//! led to, and each has a balancer of its own. There are no priorities and localities, no limits,
//! no outlier detection and no service config.

use serde_json::Value;

use super::build;
use super::form::TreeForm;
use super::layers::JsonForm;
use xdsctl_lb::{cds, cluster_manager, p2c};

/// The form of tonic-xds.
pub(super) static FORM: TreeForm = TreeForm {
    layers: &[],
    json: JsonForm {
        lb_policy: |_| Value::Array(Vec::new()),
        policy_name: |name| {
            let own = NAMES.iter().find(|(core, _)| *core == name);
            own.map_or(name, |(_, own)| own)
        },
        ..build::FORM.json
    },
    has_bare_keys: true,
    around: &["XdsRoutingLayer", "RetryLayer"],
    service_config: |_| Value::Null,
    is_of_all_versions: true,
    ..build::FORM
};

/// The client's own names for what stands in the place of C-core's policies.
const NAMES: [(&str, &str); 3] = [
    (cluster_manager::NAME, "XdsLbService"),
    (cds::NAME, "ClusterChannel"),
    (p2c::NAME, "ClusterBalancer (p2c)"),
];
