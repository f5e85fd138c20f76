//! xds_override_host: an RPC with a session cookie goes to the host named in it (A55).
//!
//! Statuses and idle timeout are looked up by the cluster's name.

mod machine;

pub use machine::{MIN_SWEEP_MS, Machine};

use serde_json::{Map, Value, json};

use super::json::{self, At, Faults};
use super::{PolicyType, child};
use crate::profile::Profile;

/// What a session's cookie says, while a session filter is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionHosts<'a> {
    /// Addresses separated by commas, the most wanted first; empty without a usable cookie.
    pub addresses: &'a str,
}

/// The registered name.
pub const NAME: &str = "xds_override_host_experimental";

/// The policy's place in the registry.
pub(crate) static TYPE: PolicyType = PolicyType {
    name: NAME,
    message: None,
    from_json: |config, profile| from_json(config, profile).map(super::Config::OverrideHost),
};

/// The config of xds_override_host (C-core xds_override_host.cc `XdsOverrideHostLbConfig`).
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
