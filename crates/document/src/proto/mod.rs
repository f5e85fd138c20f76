//! Protobuf: turns bytes into typed messages, with every check of the client's own parser.
//!
//! [`wire`] checks every field of the bytes against the descriptor tables, whether gRPC reads it or
//! not. [`any`] opens `google.protobuf.Any`, [`duration`] checks Durations, and [`transcode`] turns
//! JSON text into bytes. The generated types hold only the fields that gRPC reads. The loaders use
//! the generated crate only through this module; validators use its re-exports.

pub mod any;
pub mod duration;
pub mod meant;
pub mod message_type;
pub mod place;
pub mod print;
pub mod transcode;
pub mod wire;

pub use xdsctl_proto as pb;

/// Decodes a message that the generated types keep as bytes (`lazy` in `proto/reads.txt`).
///
/// The bytes were checked together with the enclosing message. Other bytes that cannot be decoded
/// give the default.
pub fn kept<T: prost::Message + Default>(bytes: &bytes::Bytes) -> T {
    T::decode(bytes.clone()).unwrap_or_default()
}

/// Returns the bytes of a message as the generated types keep it; see [`kept`].
pub fn keep(message: &impl prost::Message) -> bytes::Bytes {
    message.encode_to_vec().into()
}

/// Says whether any message has a field of this name. `Err` holds the most similar name of a field,
/// if there is one.
pub fn known_field(name: &str) -> Result<(), Option<&'static str>> {
    let names = || {
        pb::tables::MESSAGES
            .iter()
            .flat_map(|message| message.fields)
            .map(|field| field.name)
    };
    if names().any(|known| known == name) {
        return Ok(());
    }
    Err(xdsctl_model::text::nearest(name, names()))
}
