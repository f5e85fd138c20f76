//! grpclb: asks a balancer for backends. Registered, and so accepted in a TypedStruct; without balancer addresses it is its
//! child policy.

use serde_json::{Map, Value, json};

use super::json::{self, At, Faults};
use super::{PolicyType, child_list, done, round_robin};
use xdsctl_model::profile::Profile;

/// The registered name.
pub const NAME: &str = "grpclb";

/// The policy's place in the registry.
pub static TYPE: PolicyType = PolicyType {
    name: NAME,
    message: None,
    from_json: |config, profile| from_json(config, profile).map(super::LbConfig::Grpclb),
    machine: |at, _| Box::new(super::run::unsimulated::UnsimulatedPolicy::new(at)),
};

/// The config of grpclb (C-core grpclb.cc `GrpcLbConfig`).
#[derive(Debug, Clone, PartialEq)]
pub struct GrpclbConfig {
    /// The policy for the backends; default round_robin.
    pub child_policy: Box<super::LbConfig>,
    /// Name sent to the balancer instead of the target; empty for none.
    pub service_name: String,
}

/// Reads the JSON config.
///
/// # Errors
/// A rejected `childPolicy` (null included), a `serviceName` that is no text.
pub fn from_json(config: &Map<String, Value>, profile: &Profile) -> Result<GrpclbConfig, Faults> {
    let mut faults = Faults::new();
    let at = At::TOP;
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

impl GrpclbConfig {
    /// The config in the client's form.
    pub fn to_json(&self) -> Value {
        let mut config = json!({ "childPolicy": self.child_policy.to_json() });
        if let Value::Object(map) = &mut config
            && !self.service_name.is_empty()
        {
            map.insert("serviceName".to_owned(), Value::String(self.service_name.clone()));
        }
        config
    }
}
