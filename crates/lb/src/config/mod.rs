//! How the configs of LB policies are read. Each policy's folder says what its own fields mean.
//!
//! [`xds`] turns xDS messages into gRPC's JSON, [`json`] reads JSON as the client's loader does,
//! and [`usable`] knows which configs are accepted and then do not work. [`rejected`] turns what
//! the loader rejects into findings.

pub mod json;
pub mod named_cluster;
pub mod number;
pub mod rejected;
pub mod usable;
pub mod xds;
