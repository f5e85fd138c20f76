//! xds_cluster_impl: circuit breaking, drops and load reports of one cluster (A27, A32).
//!
//! Everything else is looked up by the cluster's name.

mod machine;

pub use super::config::named_cluster::{NamedClusterConfig, to_json};
pub use machine::ClusterImplPolicy;

use serde_json::{Map, Value};

use super::config::named_cluster;
use super::json::{self, ConfigPlace, Faults};
use xdsctl_model::profile::{Feature, Profile};

/// The field with the drops, required in versions that do not look them up by the cluster's name.
const DROP_CATEGORIES: &str = "dropCategories";

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "xds_cluster_impl_experimental";

/// Reads the JSON config.
///
/// # Errors
/// Fails if `clusterName` is missing, `childPolicy` is missing or rejected, or `dropCategories` is
/// missing in a version that reads it from here.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<NamedClusterConfig, Faults> {
    let mut read = named_cluster::from_json(config, profile);
    if !profile.has(Feature::ClusterImplByName) && !config.contains_key(DROP_CATEGORIES) {
        let mut faults = read.err().unwrap_or_default();
        json::missing(&ConfigPlace::TOP.field(DROP_CATEGORIES), &mut faults);
        read = Err(faults);
    }
    read
}
