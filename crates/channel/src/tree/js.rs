//! The LB configs and the tree of grpc-js-xds: outlier detection and limits above the priorities,
//! and no sessions.
//!
//! Follows grpc-js-xds `CdsLoadBalancer` and `XdsResolver`; the names of the policies are those of
//! its registry.

use serde_json::{Map, Value, json};

use super::build::is_dns;
use super::form::TreeForm;
use super::names::{child_name, rename_fields};
use super::node::{NodeKind, TreeNode};
use super::service_config::ServiceConfig;
use crate::client::config::Leaf;
use crate::rpc::CLUSTER_PREFIX;
use xdsctl_lb::outlier_detection;
use xdsctl_model::profile::Family;
use xdsctl_model::resource::lb_policy::{
    LbConfig, NamedClusterConfig, OutlierDetectionConfig, PriorityChild, PriorityConfig,
};

/// The end of a policy's name in C-core, which the client leaves out.
const SUFFIX: &str = "_experimental";

/// The form of grpc-js-xds.
pub(super) static FORM: TreeForm = TreeForm {
    leaf_config,
    leaf_json,
    aggregate_json,
    child_name: |cluster, number| format!("cluster={cluster}, child_number={number}"),
    rename_nodes,
    service_config,
    is_of_all_versions: true,
    limits_priorities: false,
    has_sessions: false,
};

/// The name that a policy has in grpc-js.
fn policy_name(name: &str) -> &str {
    name.strip_suffix(SUFFIX).unwrap_or(name)
}

fn names(cluster: &str, numbers: &[u64]) -> Vec<String> {
    let names = numbers.iter().map(|number| child_name(cluster, *number, Family::Node));
    names.collect()
}

/// The numbers of the priorities. Without endpoints there is no priority.
fn used<'n>(leaf: &Leaf, numbers: &'n [u64]) -> &'n [u64] {
    let count = leaf
        .endpoints
        .as_ref()
        .map_or(0, |endpoints| endpoints.priorities.len());
    numbers.get(..count).unwrap_or(numbers)
}

/// The config below the cds policy of a leaf cluster.
pub fn leaf_config(cluster: &str, leaf: &Leaf, numbers: &[u64], lb_policy: &LbConfig) -> LbConfig {
    let priorities = names(cluster, used(leaf, numbers));
    let children = priorities.iter().map(|name| {
        let child = PriorityChild {
            config: Box::new(lb_policy.clone()),
            ignore_reresolution_requests: !is_dns(leaf),
        };
        (name.clone(), child)
    });
    let failover = LbConfig::Priority(PriorityConfig {
        children: children.collect(),
        priorities,
    });
    let limits = LbConfig::ClusterImpl(NamedClusterConfig {
        cluster_name: cluster.to_owned(),
        child_policy: Box::new(failover),
    });
    LbConfig::OutlierDetection(OutlierDetectionConfig {
        detection: leaf.outlier_detection(),
        child_policy: Box::new(limits),
    })
}

/// [`leaf_config`] as the client writes it.
pub fn leaf_json(cluster: &str, leaf: &Leaf, numbers: &[u64], lb_policy: &Value) -> Value {
    let names = names(cluster, used(leaf, numbers));
    let mut policy = lb_policy.clone();
    rename(&mut policy);
    let child = json!({ "config": policy, "ignore_reresolution_requests": !is_dns(leaf) });
    let children: Map<String, Value> = names.iter().map(|name| (name.clone(), child.clone())).collect();
    let failover = json!([{ "priority": { "children": children, "priorities": names } }]);
    let limits = json!([{ "xds_cluster_impl": { "cluster": cluster, "child_policy": failover } }]);
    let mut detection = match &leaf.cluster.outlier_detection {
        Some(detection) => outlier_detection::fields_to_json(detection),
        None => json!({}),
    };
    rename(&mut detection);
    detection["child_policy"] = limits;
    json!([{ "outlier_detection": detection }])
}

/// The config below the cds policy of an aggregate cluster, as the client writes it.
pub fn aggregate_json(leaves: &[String]) -> Value {
    let child = |leaf: &String| {
        let config = json!([{ "cds": { "cluster": leaf } }]);
        (
            leaf.clone(),
            json!({ "config": config, "ignore_reresolution_requests": false }),
        )
    };
    let children: Map<String, Value> = leaves.iter().map(child).collect();
    json!([{ "priority": { "children": children, "priorities": leaves } }])
}

/// Renames policies and fields as grpc-js does: `minRingSize` becomes `min_ring_size`.
fn rename(value: &mut Value) {
    rename_fields(value, &|name| match name.as_str() {
        "shuffleAddressList" => name,
        other => with_underscores(policy_name(other)),
    });
}

fn with_underscores(name: &str) -> String {
    let mut written = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            written.push('_');
        }
        written.push(letter.to_ascii_lowercase());
    }
    written
}

/// Gives the policies of a tree the names that they have in grpc-js.
pub fn rename_nodes(node: &mut TreeNode) {
    if !matches!(node.kind, NodeKind::Endpoint | NodeKind::Failure | NodeKind::Channel) {
        node.name = policy_name(&node.name).to_owned();
    }
    if let Some(edge) = node.edge.strip_prefix(&format!("\"{CLUSTER_PREFIX}")) {
        node.edge = format!("\"{edge}");
    }
    node.children.iter_mut().for_each(rename_nodes);
}

/// The service config as grpc-js-xds makes it.
pub fn service_config(generated: &ServiceConfig) -> Value {
    let children: Map<String, Value> = generated
        .policies()
        .map(|(key, policy)| {
            let name = key.strip_prefix(CLUSTER_PREFIX).unwrap_or(key);
            let mut child = json!({ "childPolicy": policy });
            rename(&mut child);
            (name.to_owned(), child)
        })
        .collect();
    json!({ "methodConfig": [], "loadBalancingConfig": [{ "xds_cluster_manager": { "children": children } }] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::service_config::ManagerChild;

    #[test]
    fn the_service_config_is_that_of_node() {
        let generated = ServiceConfig {
            children: [("cluster:c".to_owned(), ManagerChild::Cluster("c".to_owned()))].into(),
        };
        let node = json!({"methodConfig": [], "loadBalancingConfig": [{"xds_cluster_manager": {"children": {
            "c": {"child_policy": [{"cds": {"cluster": "c"}}]}
        }}}]});
        assert_eq!(service_config(&generated), node);
    }
}
