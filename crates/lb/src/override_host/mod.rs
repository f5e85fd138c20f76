//! xds_override_host: an RPC with a session cookie goes to the host named in it (A55).
//!
//! Statuses and idle timeout are looked up by the cluster's name.

mod entry;
mod machine;

pub use super::config::named_cluster::{from_json, to_json};
pub use machine::OverrideHostPolicy;

/// The name under which gRPC registers the policy, and which configs use.
pub const NAME: &str = "xds_override_host_experimental";
