//! The config of the policies that take a cluster's name and a child: xds_cluster_impl and
//! xds_override_host.
//!
//! Both look up everything else by that name, so their configs, and the client's loaders for them,
//! are alike.

use serde_json::{Map, Value, json};

use super::json::{self, ConfigPlace, Faults};
use crate::child;
use xdsctl_model::profile::Profile;
pub use xdsctl_model::resource::lb_policy::NamedClusterConfig;

/// Reads the JSON config.
///
/// # Errors
/// Fails if `clusterName` is missing, or `childPolicy` is missing or rejected.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<NamedClusterConfig, Faults> {
    let mut faults = Faults::new();
    let at = ConfigPlace::TOP;
    let cluster_name = json::required_text(config, "clusterName", &at, &mut faults);
    let child_policy = child(config, "childPolicy", &at, profile, &mut faults);
    match (cluster_name, child_policy) {
        (Some(cluster_name), Some(child_policy)) => Ok(NamedClusterConfig {
            cluster_name: cluster_name.to_owned(),
            child_policy,
        }),
        (_, _) => Err(faults),
    }
}

/// Writes the config as the client does.
pub fn to_json(config: &NamedClusterConfig) -> Value {
    json!({ "clusterName": config.cluster_name, "childPolicy": crate::to_json(&config.child_policy) })
}
