//! xDS messages as gRPC reads them.
//!
//! Three views of one checked-in descriptor set (`proto/xds.binpb`, see `proto/PROVENANCE.md`):
//!
//! * Rust types for every message that gRPC C-core reads, with the fields that it reads and no others
//!   ([`envoy`], [`xds`], [`udpa`], [`grpc`], [`google`]). Decoding skips the rest on the wire.
//! * [`tables`]: every message, field and enum of the set as static data, for code that walks messages by
//!   descriptor. Nothing is decoded at run time.
//! * [`DESCRIPTOR_SET`]: the bytes, for reflection libraries.
//!
//! [`named`] has the names of all message types of the xDS APIs.
//!
//! `reads.txt` decides which fields the types have and which ones [`tables::Field::read`] calls read.

mod any;
pub mod named;
pub mod tables;

#[allow(clippy::all, clippy::pedantic, missing_docs, rustdoc::all)]
mod types {
    include!(concat!(env!("OUT_DIR"), "/types.rs"));
}

pub use any::Any;
/// Struct, Value, Duration, Timestamp and the other well-known types.
pub use prost_types as well_known;
pub use types::*;

/// The `FileDescriptorSet`, without source info: files in dependency order, imports included.
pub static DESCRIPTOR_SET: &[u8] = include_bytes!("../proto/xds.binpb");
