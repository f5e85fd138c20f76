//! Converters of messages that several resources and extensions share: matchers, addresses, TLS
//! contexts, metadata.
//!
//! Each converter takes the protobuf message, the path of its field and the
//! [`Validation`](xdsctl_model::diag::Validation), reports what the client would, and returns the
//! validated value of `model`, or `None` if there is none.

pub mod address;
pub mod cidr;
pub mod credentials;
pub mod dns_name;
pub mod grpc_service;
pub mod header_value;
pub mod health;
pub mod matcher;
pub mod metadata;
pub mod nested;
pub mod resource_name;
pub mod switch;
pub mod tls;
