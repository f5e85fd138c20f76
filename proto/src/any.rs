//! `google.protobuf.Any` that shares the bytes it was decoded from.

use bytes::Bytes;

/// A packed message: its type URL and its wire bytes.
///
/// Decoded from a [`Bytes`], `value` is a slice of that buffer and nothing is copied; the type in `prost-types`
/// would allocate for each level of nesting.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Any {
    /// `<anything>/<full.message.Name>`; kept as received.
    #[prost(string, tag = "1")]
    pub type_url: String,
    /// Wire bytes of the message.
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
}

impl prost::Name for Any {
    const NAME: &'static str = "Any";
    const PACKAGE: &'static str = "google.protobuf";
}
