//! The LB configs and the tree of grpc-java: a priority policy is directly below cds, and each
//! priority has its own limits.
//!
//! Outlier detection stands above the limits if a cluster has it, and there are no sessions. A
//! priority without a usable endpoint is left out. Follows grpc-java `CdsLoadBalancer2`; the names
//! of the policies are those of its registry.

use serde_json::{Map, Value, json};

use super::build;
use super::form::TreeForm;
use super::layers::{JsonForm, Layer};
use super::names::rename_fields;
use super::service_config::ServiceConfig;
use crate::client::config::Leaf;
use xdsctl_lb::{cluster_impl, cluster_manager, wrr_locality};
use xdsctl_model::resource::endpoints::Locality;
use xdsctl_model::status::Status;

/// The policies that have another name in grpc-java than in C-core.
const NAMES: [(&str, &str); 3] = [
    (cluster_manager::NAME, "cluster_manager_experimental"),
    (cluster_impl::NAME, "cluster_impl_experimental"),
    (wrr_locality::NAME, "wrr_locality_experimental"),
];

/// The form of grpc-java.
pub(super) static FORM: TreeForm = TreeForm {
    layers: &[Layer::Priority, Layer::OwnOutlierDetection, Layer::ClusterImpl],
    has_child: |leaf, place| {
        let priority = leaf.endpoints.as_ref().and_then(|all| all.priorities.get(place));
        priority.is_some_and(|localities| localities.iter().any(is_used))
    },
    shows_childless: false,
    child_name: |cluster, number| format!("{cluster}[child{}]", number.saturating_add(1)),
    // In the style of a service config: grpc-java itself writes none.
    json: JsonForm {
        cluster: "cluster",
        ignores: "ignoreReresolution",
        ignores_of_dns: Some(false),
        lb_policy: |mut json| {
            rename_policies(&mut json);
            json
        },
        policy_name,
        ..build::FORM.json
    },
    service_config,
    is_of_all_versions: true,
    ..build::FORM
};

/// The name that a policy has in grpc-java.
fn policy_name(name: &str) -> &str {
    let renamed = NAMES.iter().find(|(core, _)| *core == name);
    renamed.map_or(name, |(_, java)| java)
}

/// Says whether a locality has an endpoint.
fn is_used(locality: &Locality) -> bool {
    locality.endpoints.iter().next().is_some()
}

/// Says why a cluster without a usable endpoint fails; `None` if it has one.
pub fn no_endpoint(cluster: &str, leaf: &Leaf) -> Option<Status> {
    let lists = leaf.endpoints.iter().flat_map(|endpoints| &endpoints.priorities);
    (!lists.flatten().any(is_used)).then(|| Status::unavailable(format!("No usable endpoint from cluster: {cluster}")))
}

/// Gives the policies in a config the names that they have in grpc-java.
fn rename_policies(value: &mut Value) {
    rename_fields(value, &|name| policy_name(&name).to_owned());
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
