//! xds_cluster_impl: circuit breaking, drops and load reports of one cluster (A27, A32).
//!
//! Everything else is looked up by the cluster's name.

mod machine;

pub use machine::Machine;

use serde_json::{Map, Value, json};

use super::json::{self, At, Faults};
use super::{PolicyType, child};
use crate::profile::Profile;

/// The registered name.
pub const NAME: &str = "xds_cluster_impl_experimental";

/// The policy's place in the registry.
pub(crate) static TYPE: PolicyType = PolicyType {
    name: NAME,
    message: None,
    from_json: |config, profile| from_json(config, profile).map(super::Config::ClusterImpl),
};

/// The config of xds_cluster_impl (C-core xds_cluster_impl.cc `XdsClusterImplLbConfig`).
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The cluster whose resources are used; may be empty as far as the loader is concerned.
    pub cluster_name: String,
    /// The policy below.
    pub child_policy: Box<super::Config>,
}

/// Reads the JSON config.
///
/// # Errors
/// A missing `clusterName`, a `childPolicy` that is missing or rejected.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<Config, Faults> {
    let mut faults = Faults::new();
    let at = At::TOP;
    let cluster_name = json::required_text(config, "clusterName", &at, &mut faults);
    let child_policy = child(config, "childPolicy", &at, profile, &mut faults);
    match (cluster_name, child_policy) {
        (Some(cluster_name), Some(child_policy)) => Ok(Config {
            cluster_name: cluster_name.to_owned(),
            child_policy,
        }),
        (_, _) => Err(faults),
    }
}

impl Config {
    /// The config in the client's form.
    pub fn to_json(&self) -> Value {
        json!({ "clusterName": self.cluster_name, "childPolicy": self.child_policy.to_json() })
    }
}
