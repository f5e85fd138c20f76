//! cds: stands for one cluster, and generates the policies below it from the cluster's resource (A27, A37, A74).
//!
//! Only the config is here; what it generates is the business of the tree.

mod machine;

pub use machine::CdsPolicy;

use serde_json::{Map, Value, json};

use super::json::{self, At, Faults};
use super::{PolicyType, done};
use xdsctl_model::profile::Profile;

/// The registered name.
pub const NAME: &str = "cds_experimental";

/// The policy's place in the registry.
pub static TYPE: PolicyType = PolicyType {
    name: NAME,
    message: None,
    from_json: |config, profile| from_json(config, profile).map(super::LbConfig::Cds),
    machine: |at, _| Box::new(CdsPolicy::new(at)),
};

/// The config of cds (C-core cds.cc `CdsLbConfig`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CdsConfig {
    /// The cluster's name; may be empty as far as the loader is concerned.
    pub cluster: String,
    /// The cluster is not in the routes but named by an RLS answer; default false.
    pub is_dynamic: bool,
}

/// Reads the JSON config.
///
/// # Errors
/// A missing `cluster`, fields of the wrong type.
pub fn from_json(config: &Map<String, Value>, _profile: &Profile) -> Result<CdsConfig, Faults> {
    let mut faults = Faults::new();
    let at = At::TOP;
    let cluster = json::required_text(config, "cluster", &at, &mut faults).unwrap_or_default();
    let config = CdsConfig {
        cluster: cluster.to_owned(),
        is_dynamic: json::optional_bool(config, "isDynamic", &at, &mut faults),
    };
    done(config, faults)
}

impl CdsConfig {
    /// The config in the client's form.
    pub fn to_json(&self) -> Value {
        let mut config = json!({ "cluster": self.cluster });
        if let Value::Object(map) = &mut config
            && self.is_dynamic
        {
            map.insert("isDynamic".to_owned(), Value::Bool(true));
        }
        config
    }
}
