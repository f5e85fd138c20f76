//! Protobuf: bytes in, typed messages out, with everything that the client's own parser would
//! notice.
//!
//! [`wire`] checks every field of the bytes against the descriptor tables, read by gRPC or not;
//! [`any`] opens `google.protobuf.Any`; [`duration`] checks Durations; [`transcode`] turns JSON
//! text into bytes. The generated types hold only the fields that gRPC reads. This is the only
//! module that names the generated crate to the loaders; validators use its re-exports.

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
/// The enclosing message was validated together with these bytes; other bytes that do not decode
/// give the default.
pub fn kept<T: prost::Message + Default>(bytes: &bytes::Bytes) -> T {
    T::decode(bytes.clone()).unwrap_or_default()
}

/// The bytes of a message as the generated types keep it; see [`kept`].
pub fn keep(message: &impl prost::Message) -> bytes::Bytes {
    message.encode_to_vec().into()
}

/// Says whether some message has a field of this name; `Err` has the nearest name that one has.
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
