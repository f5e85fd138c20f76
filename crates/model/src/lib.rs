//! The words that every other crate of xdsctl uses.
//!
//! They are clients with their versions, features and switches ([`profile`]), findings and the
//! rules that they break ([`diag`]), resources as a gRPC client keeps them ([`resource`]), and
//! small parts of gRPC that need no message: status codes, cookies, back-off, random streams, and
//! the texts of addresses and targets. Nothing here knows protobuf messages, files or commands.

#[macro_use]
mod words;

pub mod backoff;
pub mod cookie;
pub mod host_port;
pub mod profile;
pub mod rng;
pub mod status;
pub mod target_uri;
pub mod text;
pub mod wildcard;

pub mod diag;

pub mod resource;
