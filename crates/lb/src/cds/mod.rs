//! cds: stands for one cluster, and generates the policies below it from the cluster's resource
//! (A27, A37, A74).
//!
//! The config is here. The tree decides what the policy generates.

mod machine;

pub use machine::CdsPolicy;
pub use xdsctl_model::resource::lb_policy::CdsConfig;

use serde_json::{Map, Value, json};

use super::done;
use super::json::{self, ConfigPlace, Faults};
use xdsctl_model::profile::{Feature, Profile};

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "cds_experimental";

/// Returns the name of the field that says that the policy itself subscribes to the cluster.
pub fn dynamic_field(profile: &Profile) -> &'static str {
    match profile.has(Feature::StaticClusterInternal) {
        true => "is_dynamic",
        false => "isDynamic",
    }
}

/// Reads the JSON config.
///
/// # Errors
/// Fails if `cluster` is missing or a field has the wrong type.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<CdsConfig, Faults> {
    let mut faults = Faults::new();
    let at = ConfigPlace::TOP;
    let cluster = json::required_text(config, "cluster", &at, &mut faults).unwrap_or_default();
    let config = CdsConfig {
        cluster: cluster.to_owned(),
        is_dynamic: json::optional_bool(config, dynamic_field(profile), &at, &mut faults),
    };
    done(config, faults)
}

/// Writes the config as the client does.
pub fn to_json(config: &CdsConfig) -> Value {
    let mut written = json!({ "cluster": config.cluster });
    if config.is_dynamic {
        written["isDynamic"] = true.into();
    }
    written
}
