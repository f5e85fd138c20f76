//! grpclb: asks a balancer for backends. The client registers it, and so accepts it in a
//! TypedStruct. Without balancer addresses it behaves like its child policy.

use serde_json::{Map, Value, json};
pub use xdsctl_model::resource::lb_policy::GrpclbConfig;

use super::json::{self, ConfigPlace, Faults};
use super::{child_list, done, round_robin};
use xdsctl_model::profile::Profile;

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "grpclb";

/// Reads the JSON config.
///
/// # Errors
/// Fails if `childPolicy` is rejected (null is) or `serviceName` is not a text.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<GrpclbConfig, Faults> {
    let mut faults = Faults::new();
    let at = ConfigPlace::TOP;
    let service_name = json::optional(config, "serviceName")
        .and_then(|value| json::text(value, &at.field("serviceName"), &mut faults))
        .unwrap_or_default();
    let child_policy = config
        .get("childPolicy")
        .and_then(|list| child_list(list, &at.field("childPolicy"), profile, &mut faults))
        .unwrap_or_else(|| Box::new(super::LbConfig::RoundRobin(round_robin::RoundRobinConfig {})));
    let config = GrpclbConfig {
        child_policy,
        service_name: service_name.to_owned(),
    };
    done(config, faults)
}

/// Writes the config as the client does.
pub fn to_json(config: &GrpclbConfig) -> Value {
    let mut written = json!({ "childPolicy": super::to_json(&config.child_policy) });
    if !config.service_name.is_empty() {
        written["serviceName"] = config.service_name.as_str().into();
    }
    written
}
