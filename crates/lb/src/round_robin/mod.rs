//! round_robin: RPCs go to all connected endpoints in turn. The config has no fields.

mod machine;

pub use machine::RoundRobinPolicy;
pub use xdsctl_model::resource::lb_policy::RoundRobinConfig;

use serde_json::{Map, Value};

use super::json::Faults;
use super::xds::PolicyEntry;
use xdsctl_document::proto::pb::envoy::extensions::load_balancing_policies::round_robin::v3::RoundRobin;
use xdsctl_model::diag::Validation;
use xdsctl_model::profile::Profile;

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "round_robin";

pub(crate) fn from_proto(entry: &mut PolicyEntry<'_, '_>, cx: &mut Validation<'_>) -> Option<Value> {
    // The client does not even parse the message: bad bytes are fine, the fields in good ones are
    // ignored.
    entry.note_ignored::<RoundRobin>(cx);
    Some(to_json(&RoundRobinConfig {}))
}

/// Reads the JSON config, in which every field is ignored.
///
/// # Errors
/// Never fails: any object is accepted.
pub fn from_json(_config: &Map<String, Value>, _profile: &Profile) -> Result<RoundRobinConfig, Faults> {
    Ok(RoundRobinConfig {})
}

/// Writes the config as the client does.
pub fn to_json(_config: &RoundRobinConfig) -> Value {
    Value::Object(Map::new())
}
