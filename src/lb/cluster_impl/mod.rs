//! xds_cluster_impl: circuit breaking, drops and load reports of one cluster (A27, A32).
//!
//! Everything else is looked up by the cluster's name.

mod machine;

pub use super::config::named_cluster::{Config, from_json};
pub use machine::Machine;

use super::PolicyType;

/// The registered name.
pub const NAME: &str = "xds_cluster_impl_experimental";

/// The policy's place in the registry.
pub(crate) static TYPE: PolicyType = PolicyType {
    name: NAME,
    message: None,
    from_json: |config, profile| from_json(config, profile).map(super::Config::ClusterImpl),
    machine: |at, cx| Box::new(Machine::new(&at, cx)),
};
