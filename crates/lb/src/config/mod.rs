//! How the configs of LB policies are read. What a policy's own fields mean is in the policy's
//! folder.
//!
//! [`xds`] turns xDS messages into gRPC's JSON, [`json`] has the habits of the client's JSON
//! loader, and [`usable`] knows which configs are accepted and then do not work. [`rejected`] makes
//! findings of what the loader does not take.

pub mod json;
pub mod named_cluster;
pub mod number;
pub mod rejected;
pub mod usable;
pub mod xds;
