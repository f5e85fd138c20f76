//! What prost rejects and C-core's parser accepts: a known field with another wire type, and text
//! that is not UTF-8, anywhere in a message.
//!
//! The generated types in xdsctl only have the fields that some client reads. The client's own
//! types have all fields, so this check walks the descriptor tables.

use xdsctl_document::proto::pb::tables::{Cardinality, Field, Kind, MESSAGES, Message};
use xdsctl_document::proto::wire;

/// How many levels of messages are read below the first (prost `RECURSION_LIMIT`).
const MAX_DEPTH: u32 = 100;

/// Why prost rejects the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum StrictFault {
    /// A field has another wire type than its kind.
    #[error("`{0}` has another wire type")]
    WireType(&'static str),
    /// A text is not UTF-8.
    #[error("`{0}` is not UTF-8")]
    Text(&'static str),
    /// Messages are nested too deep.
    #[error("messages are nested more than {MAX_DEPTH} levels deep")]
    Depth,
}

/// Checks the bytes of a message, which C-core's parser accepts.
pub(super) fn check(bytes: &[u8], message: &'static Message) -> Result<(), StrictFault> {
    within(bytes, message, 0)
}

fn within(bytes: &[u8], message: &'static Message, depth: u32) -> Result<(), StrictFault> {
    if depth > MAX_DEPTH {
        return Err(StrictFault::Depth);
    }
    for raw in wire::fields(bytes) {
        let place = message.fields.binary_search_by_key(&raw.number, |field| field.number);
        let Some(field) = place.ok().and_then(|place| message.fields.get(place)) else {
            continue;
        };
        if !fits(field, raw.wire_type) {
            return Err(StrictFault::WireType(field.name));
        }
        match field.kind {
            Kind::String if std::str::from_utf8(raw.payload).is_err() => return Err(StrictFault::Text(field.name)),
            Kind::Message(index) => {
                if let Some(inner) = MESSAGES.get(usize::from(index)) {
                    within(raw.payload, inner, depth + 1)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Says whether a field may be written with a wire type. Numbers in a list may be packed.
fn fits(field: &Field, wire_type: u8) -> bool {
    const LENGTH: u8 = 2;
    wire_type == wire::wire_type_of(field.kind) || wire_type == LENGTH && field.cardinality == Cardinality::Repeated
}

#[cfg(test)]
mod tests {
    use super::{StrictFault, check};
    use xdsctl_document::proto::pb::tables;

    #[test]
    fn a_known_field_has_its_wire_type_and_text_is_utf_8() {
        let listener = tables::message("envoy.config.listener.v3.Listener").unwrap();
        // Field 1 is the name, field 99 is unknown.
        assert_eq!(check(b"\x0a\x01a", listener), Ok(()));
        assert_eq!(check(b"\x9a\x06\x01\xff", listener), Ok(()));
        assert_eq!(check(b"\x0a\x01\xff", listener), Err(StrictFault::Text("name")));
        assert_eq!(check(b"\x08\x01", listener), Err(StrictFault::WireType("name")));
    }
}
