//! Converters of messages that several resources and extensions share: matchers, addresses, TLS contexts, metadata.
//!
//! Each takes the protobuf message, the path of its field and the [`Cx`](crate::diag::Cx), reports what the client would,
//! and returns the validated value of `model`, or `None` where there is none.

pub mod address;
pub(crate) mod cidr;
pub(crate) mod credentials;
pub mod dns_name;
pub(crate) mod grpc_service;
pub(crate) mod header_value;
pub(crate) mod health;
pub(crate) mod matcher;
pub(crate) mod metadata;
pub(crate) mod nested;
pub mod resource_name;
pub(crate) mod switch;
pub(crate) mod tls;
