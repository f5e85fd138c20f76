//! p2c: draws two endpoints at random, and picks the one with fewer RPCs in flight. tonic-xds runs
//! tower's `Balance` for every cluster.
//!
//! No resource can ask for this policy, and no other client has it.

mod machine;

pub use machine::P2cPolicy;
pub use xdsctl_model::resource::lb_policy::P2cConfig;

use serde_json::{Map, Value, json};

use super::json::Faults;
use xdsctl_model::profile::Profile;

/// The policy's name in xdsctl. The client has no registry.
pub const NAME: &str = "p2c";

/// Returns the config, which is empty.
///
/// # Errors
/// Never fails: no list of policies can name the policy.
pub fn from_json(_: &Map<String, Value>, _: &Profile) -> Result<P2cConfig, Faults> {
    Ok(P2cConfig {})
}

/// Writes the config, which is empty.
pub fn to_json(_: &P2cConfig) -> Value {
    json!({})
}
