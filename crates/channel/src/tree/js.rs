//! The LB configs and the tree of grpc-js-xds: outlier detection and limits above the priorities,
//! and no sessions.
//!
//! Follows grpc-js-xds `CdsLoadBalancer` and `XdsResolver`; the names of the policies are those of
//! its registry.

use serde_json::{Map, Value, json};

use super::build;
use super::form::TreeForm;
use super::layers::{JsonForm, Layer, own_detection};
use super::names::rename_fields;
use super::service_config::ServiceConfig;
use crate::rpc::CLUSTER_PREFIX;

/// The end of a policy's name in C-core, which the client leaves out.
const SUFFIX: &str = "_experimental";

/// The form of grpc-js-xds.
pub(super) static FORM: TreeForm = TreeForm {
    layers: &[Layer::OutlierDetection, Layer::ClusterImpl, Layer::Priority],
    // Without endpoints there is no priority.
    has_child: |leaf, place| leaf.endpoints.iter().any(|all| place < all.priorities.len()),
    child_name: |cluster, number| format!("cluster={cluster}, child_number={number}"),
    json: JsonForm {
        cluster: "cluster",
        child_policy: "child_policy",
        ignores_of_dns: Some(false),
        ignores_of_aggregate: Some(false),
        detection: |leaf| renamed(own_detection(leaf)),
        lb_policy: renamed,
        policy_name,
        ..build::FORM.json
    },
    has_bare_keys: true,
    service_config,
    is_of_all_versions: true,
    ..build::FORM
};

/// The name that a policy has in grpc-js.
fn policy_name(name: &str) -> &str {
    name.strip_suffix(SUFFIX).unwrap_or(name)
}

/// Renames policies and fields as grpc-js does: `minRingSize` becomes `min_ring_size`.
fn renamed(mut value: Value) -> Value {
    rename_fields(&mut value, &|name| match name.as_str() {
        "shuffleAddressList" => name,
        other => with_underscores(policy_name(other)),
    });
    value
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

/// The service config as grpc-js-xds makes it.
fn service_config(generated: &ServiceConfig) -> Value {
    let children: Map<String, Value> = generated
        .policies()
        .map(|(key, policy)| {
            let name = key.strip_prefix(CLUSTER_PREFIX).unwrap_or(key);
            (name.to_owned(), renamed(json!({ "childPolicy": policy })))
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
