//! xds_cluster_manager: the root of the tree, with one child for every cluster of the routes (A31).

mod machine;

pub use machine::ClusterManagerPolicy;
pub use xdsctl_model::resource::lb_policy::ClusterManagerConfig;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::json::{self, ConfigPlace, Faults};
use super::{child, done};
use xdsctl_model::profile::Profile;

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "xds_cluster_manager_experimental";

/// Reads the JSON config.
///
/// # Errors
/// Fails if `children` is missing, or a child's `childPolicy` is missing or rejected.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<ClusterManagerConfig, Faults> {
    let mut faults = Faults::new();
    let at = ConfigPlace::TOP;
    let at_children = at.field("children");
    let listed = json::required(config, "children", &at, &mut faults)
        .and_then(|value| json::object(value, &at_children, &mut faults));
    let mut children = BTreeMap::new();
    for (name, value) in listed.into_iter().flatten() {
        let at = at_children.key(name);
        let policy =
            json::object(value, &at, &mut faults).and_then(|map| child(map, "childPolicy", &at, profile, &mut faults));
        if let Some(policy) = policy {
            children.insert(name.clone(), *policy);
        }
    }
    done(ClusterManagerConfig { children }, faults)
}

/// Writes the config as the client does.
pub fn to_json(config: &ClusterManagerConfig) -> Value {
    let children: Map<String, Value> = config
        .children
        .iter()
        .map(|(name, child)| (name.clone(), json!({ "childPolicy": super::to_json(child) })))
        .collect();
    json!({ "children": children })
}
