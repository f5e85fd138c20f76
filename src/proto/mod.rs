//! Protobuf: bytes in, typed messages out, with everything that the client's own parser would notice.
//!
//! [`wire`] checks every field of the bytes against the descriptor tables, read by gRPC or not; [`any`] opens
//! `google.protobuf.Any`; [`duration`] checks Durations; [`transcode`] turns JSON text into bytes. The generated types hold only the fields that gRPC reads.
//! This is the only module that names the generated crate to the loaders; validators use its re-exports.

pub mod any;
pub mod duration;
pub mod transcode;
pub mod wire;

pub use xdsctl_proto as pb;
