//! p2c: draws two endpoints at random, and picks the one with fewer RPCs in flight. tonic-xds runs
//! tower's `Balance` for every cluster.
//!
//! No resource can ask for this policy, and no other client has it.

mod machine;

pub use machine::P2cPolicy;
pub use xdsctl_model::resource::lb_policy::P2cConfig;

use serde_json::{Value, json};

use super::PolicyType;

/// The policy's name in xdsctl. The client has no registry.
pub const NAME: &str = "p2c";

/// The policy's entry in the registry.
pub static TYPE: PolicyType = PolicyType {
    name: NAME,
    message: None,
    from_json: |_, _| Ok(super::LbConfig::P2c(P2cConfig {})),
    machine: |at, cx| Box::new(P2cPolicy::new(at, cx)),
};

/// Returns the config, which is empty.
pub fn to_json(_: &P2cConfig) -> Value {
    json!({})
}
