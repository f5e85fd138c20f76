//! The LB configs and the tree of grpc-java: a priority policy is directly below cds, and each
//! priority has its own limits.
//!
//! Outlier detection stands above the limits if a cluster has it, and there are no sessions. A
//! priority without a usable endpoint is left out. Follows grpc-java `CdsLoadBalancer2`; the names
//! of the policies are those of its registry.

use serde_json::{Map, Value, json};

use super::build;
use super::form::TreeForm;
use super::names::{child_name, rename_fields};
use super::node::{NodeKind, TreeNode};
use super::service_config::ServiceConfig;
use crate::client::config::Leaf;
use xdsctl_lb::{cluster_impl, cluster_manager, outlier_detection, wrr_locality};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::resource::endpoints::Locality;
use xdsctl_model::resource::lb_policy::{
    LbConfig, NamedClusterConfig, OutlierDetectionConfig, PriorityChild, PriorityConfig,
};
use xdsctl_model::status::Status;

/// The policies that have another name in grpc-java than in C-core.
const NAMES: [(&str, &str); 3] = [
    (cluster_manager::NAME, "cluster_manager_experimental"),
    (cluster_impl::NAME, "cluster_impl_experimental"),
    (wrr_locality::NAME, "wrr_locality_experimental"),
];

/// The form of grpc-java.
pub(super) static FORM: TreeForm = TreeForm {
    leaf_config,
    leaf_json,
    aggregate_json: build::aggregate_json,
    child_name: |cluster, number| format!("{cluster}[child{}]", number.saturating_add(1)),
    rename_nodes,
    service_config,
    is_of_all_versions: true,
    limits_priorities: true,
    has_sessions: false,
};

/// The name that a policy has in grpc-java.
pub fn policy_name(name: &str) -> &str {
    let renamed = NAMES.iter().find(|(core, _)| *core == name);
    renamed.map_or(name, |(_, java)| java)
}

/// Says whether a locality has an endpoint.
fn is_used(locality: &Locality) -> bool {
    locality.endpoints.iter().next().is_some()
}

/// The index of each priority that has endpoints, with the name of its child policy. `numbers` has
/// one number per priority.
pub fn priorities(cluster: &str, leaf: &Leaf, numbers: &[u64]) -> Vec<(usize, String)> {
    let lists = leaf.endpoints.iter().flat_map(|endpoints| &endpoints.priorities);
    let used = lists.zip(numbers).enumerate();
    used.filter(|(_, (localities, _))| localities.iter().any(is_used))
        .map(|(place, (_, number))| (place, child_name(cluster, *number, Family::Java)))
        .collect()
}

/// Says why a cluster without a usable endpoint fails; `None` if it has one.
pub fn no_endpoint(cluster: &str, leaf: &Leaf) -> Option<Status> {
    let lists = leaf.endpoints.iter().flat_map(|endpoints| &endpoints.priorities);
    (!lists.flatten().any(is_used)).then(|| Status::unavailable(format!("No usable endpoint from cluster: {cluster}")))
}

/// The config below the cds policy of a leaf cluster.
pub fn leaf_config(cluster: &str, leaf: &Leaf, numbers: &[u64], lb_policy: &LbConfig) -> LbConfig {
    let limits = LbConfig::ClusterImpl(NamedClusterConfig {
        cluster_name: cluster.to_owned(),
        child_policy: Box::new(lb_policy.clone()),
    });
    let child = match &leaf.cluster.outlier_detection {
        Some(detection) => LbConfig::OutlierDetection(OutlierDetectionConfig {
            detection: detection.clone(),
            child_policy: Box::new(limits),
        }),
        None => limits,
    };
    let priorities: Vec<String> = names(priorities(cluster, leaf, numbers));
    let children = priorities.iter().map(|name| {
        let child = PriorityChild {
            config: Box::new(child.clone()),
            ignore_reresolution_requests: is_eds(leaf),
        };
        (name.clone(), child)
    });
    LbConfig::Priority(PriorityConfig {
        children: children.collect(),
        priorities,
    })
}

fn names(priorities: Vec<(usize, String)>) -> Vec<String> {
    priorities.into_iter().map(|(_, name)| name).collect()
}

fn is_eds(leaf: &Leaf) -> bool {
    matches!(leaf.cluster.discovery, Discovery::Eds { .. })
}

/// [`leaf_config`] as JSON in the style of a service config; grpc-java itself writes none.
pub fn leaf_json(cluster: &str, leaf: &Leaf, numbers: &[u64], lb_policy: &Value) -> Value {
    let limits = json!([{ policy_name(cluster_impl::NAME): { "cluster": cluster, "childPolicy": lb_policy } }]);
    let child = match &leaf.cluster.outlier_detection {
        Some(detection) => {
            let mut fields = outlier_detection::fields_to_json(detection);
            fields["childPolicy"] = limits;
            json!([{ outlier_detection::NAME: fields }])
        }
        None => limits,
    };
    let names = names(priorities(cluster, leaf, numbers));
    let of_child = json!({ "config": child, "ignoreReresolution": is_eds(leaf) });
    let children: Map<String, Value> = names.iter().map(|name| (name.clone(), of_child.clone())).collect();
    let mut written = json!([{ xdsctl_lb::priority::NAME: { "children": children, "priorities": names } }]);
    rename_policies(&mut written);
    written
}

/// Gives the policies in a config the names that they have in grpc-java.
pub fn rename_policies(value: &mut Value) {
    rename_fields(value, &|name| policy_name(&name).to_owned());
}

/// Gives the policies of a tree the names that they have in grpc-java.
pub fn rename_nodes(node: &mut TreeNode) {
    if !matches!(node.kind, NodeKind::Endpoint | NodeKind::Failure | NodeKind::Channel) {
        node.name = policy_name(&node.name).to_owned();
    }
    node.children.iter_mut().for_each(rename_nodes);
}

/// The service config as grpc-java writes it.
pub fn service_config(generated: &ServiceConfig) -> Value {
    let children: Map<String, Value> = generated
        .policies()
        .map(|(key, policy)| (key.clone(), json!({ "lbPolicy": policy })))
        .collect();
    let manager = policy_name(cluster_manager::NAME);
    json!({ "loadBalancingConfig": [{ manager: { "childPolicy": children } }] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::service_config::ManagerChild;

    #[test]
    fn the_service_config_is_written_as_by_java() {
        let generated = ServiceConfig {
            children: [("cluster:c".to_owned(), ManagerChild::Cluster("c".to_owned()))].into(),
        };
        let java = json!({"loadBalancingConfig": [{"cluster_manager_experimental": {"childPolicy": {
            "cluster:c": {"lbPolicy": [{"cds_experimental": {"cluster": "c"}}]}
        }}}]});
        assert_eq!(service_config(&generated), java);
    }

    #[test]
    fn policies_are_renamed_wherever_they_stand() {
        let mut config = json!([{"xds_wrr_locality_experimental": {"childPolicy": [{"round_robin": {}}]}}]);
        rename_policies(&mut config);
        assert_eq!(
            config,
            json!([{"wrr_locality_experimental": {"childPolicy": [{"round_robin": {}}]}}])
        );
        assert_eq!(policy_name("pick_first"), "pick_first");
    }
}
