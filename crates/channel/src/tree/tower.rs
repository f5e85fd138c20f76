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
use super::node::{NodeKind, TreeNode};
use crate::rpc::CLUSTER_PREFIX;
use xdsctl_lb::{cds, cluster_manager, p2c};

/// The form of tonic-xds.
pub(super) static FORM: TreeForm = TreeForm {
    leaf_config: |_, _, _, lb_policy| lb_policy.clone(),
    leaf_json: |_, _, _, _| Value::Array(Vec::new()),
    rename_nodes,
    service_config: |_| Value::Null,
    is_of_all_versions: true,
    ..build::FORM
};

/// The layers around the service that has the clusters, from the outermost inwards.
const LAYERS: [&str; 2] = ["XdsRoutingLayer", "RetryLayer"];

/// The client's own names for what stands in the place of C-core's policies.
const NAMES: [(&str, &str); 3] = [
    (cluster_manager::NAME, "XdsLbService"),
    (cds::NAME, "ClusterChannel"),
    (p2c::NAME, "ClusterBalancer (p2c)"),
];

fn rename_nodes(node: &mut TreeNode) {
    let is_channel = node.kind == NodeKind::Channel;
    if !is_channel && !matches!(node.kind, NodeKind::Endpoint | NodeKind::Failure) {
        let own = NAMES.iter().find(|(name, _)| *name == node.name);
        if let Some((_, own)) = own {
            node.name = (*own).to_owned();
        }
    }
    if let Some(edge) = node.edge.strip_prefix(&format!("\"{CLUSTER_PREFIX}")) {
        node.edge = format!("\"{edge}");
    }
    node.children.iter_mut().for_each(rename_nodes);
    if is_channel {
        let layer = |below: Vec<TreeNode>, name: &&str| {
            let mut layer = TreeNode::new(NodeKind::Frame, *name);
            layer.children = below;
            vec![layer]
        };
        node.children = LAYERS.iter().rev().fold(std::mem::take(&mut node.children), layer);
    }
}
