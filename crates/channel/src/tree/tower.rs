//! The tree of tonic-xds, which has no LB policies of gRPC: a service of tower for each cluster, and below it the endpoints.
//!
//! Follows tonic-xds `build_tonic_channel` (client/channel.rs), client/lb.rs and client/cluster.rs: an `XdsLbService` keeps a
//! `ClusterChannel` for each cluster that a route has led to, and each has a balancer of its own. There are no priorities and
//! localities, no limits, no outlier detection and no service config.

use serde_json::Value;

use super::build;
use super::form::TreeForm;
use super::node::{NodeKind, TreeNode};
use crate::rpc::CLUSTER_PREFIX;

/// The form of tonic-xds.
pub(super) static FORM: TreeForm = TreeForm {
    leaf_config: |_, _, _, lb_policy| lb_policy.clone(),
    leaf_json: |_, _, _, _| Value::Null,
    aggregate_json: |_| Value::Null,
    rename_nodes,
    service_config: |_| Value::Null,
    is_of_all_versions: true,
    ..build::FORM
};

/// The client's own names for what stands in the place of C-core's policies.
const NAMES: [(&str, &str); 3] = [
    ("xds_cluster_manager_experimental", "XdsLbService"),
    ("cds_experimental", "ClusterChannel"),
    ("p2c", "ClusterBalancer (p2c)"),
];

fn rename_nodes(node: &mut TreeNode) {
    let own = NAMES.iter().find(|(name, _)| *name == node.name);
    if let Some((_, own)) =
        own.filter(|_| !matches!(node.kind, NodeKind::Endpoint | NodeKind::Failure | NodeKind::Channel))
    {
        node.name = (*own).to_owned();
    }
    if let Some(edge) = node.edge.strip_prefix(&format!("\"{CLUSTER_PREFIX}")) {
        node.edge = format!("\"{edge}");
    }
    node.children.iter_mut().for_each(rename_nodes);
}
