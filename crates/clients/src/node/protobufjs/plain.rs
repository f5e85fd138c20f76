//! Tells whether bytes are as a serializer writes them, so that every parser reads them alike.

use xdsctl_document::proto::pb::tables::{Cardinality, Field, Kind, Message};
use xdsctl_document::proto::wire::wire_type_of;

/// Says whether protobuf.js reads a message as prost does, without fault.
pub(super) fn is_plain(bytes: &[u8], message: &'static Message, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let mut rest = bytes;
    let (mut fields, mut oneofs) = (0u128, 0u64);
    while !rest.is_empty() {
        let Some((number, wire_type, payload)) = next(&mut rest) else {
            return false;
        };
        let Some(field) = message.field(number) else {
            continue;
        };
        if field.cardinality == Cardinality::Singular {
            let Some(position) = 1u128
                .checked_shl(position(message, field))
                .filter(|bit| fields & bit == 0)
            else {
                return false;
            };
            fields |= position;
        }
        if let Some(oneof) = field.oneof {
            let Some(bit) = 1u64.checked_shl(oneof.into()).filter(|bit| oneofs & bit == 0) else {
                return false;
            };
            oneofs |= bit;
        }
        let is_fine = match field.cardinality {
            Cardinality::Map { key, value } => wire_type == 2 && is_plain_entry(payload, key, value, depth),
            Cardinality::Repeated if wire_type == 2 && wire_type_of(field.kind) != 2 => {
                is_plain_run(payload, field.kind)
            }
            Cardinality::Repeated | Cardinality::Singular => is_plain_value(payload, wire_type, field.kind, depth),
        };
        if !is_fine {
            return false;
        }
    }
    true
}

/// Returns the index of a field among those of its message.
fn position(message: &'static Message, field: &'static Field) -> u32 {
    let index = message.fields.partition_point(|other| other.number < field.number);
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn is_plain_value(payload: &[u8], wire_type: u8, kind: Kind, depth: u32) -> bool {
    wire_type == wire_type_of(kind)
        && match kind {
            Kind::String => std::str::from_utf8(payload).is_ok(),
            Kind::Message(_) => kind.message().is_some_and(|inner| is_plain(payload, inner, depth)),
            Kind::Int32 | Kind::Enum(_) => payload.len() <= 5 || payload.len() == 10,
            Kind::Uint32 | Kind::Sint32 | Kind::Bool => payload.len() <= 5,
            Kind::Int64 | Kind::Uint64 | Kind::Sint64 => true,
            Kind::Float
            | Kind::Double
            | Kind::Fixed32
            | Kind::Fixed64
            | Kind::Sfixed32
            | Kind::Sfixed64
            | Kind::Bytes => true,
        }
}

/// Says whether an entry of a map is plain: a key, and then a value.
fn is_plain_entry(bytes: &[u8], key: Kind, value: Kind, depth: u32) -> bool {
    let mut rest = bytes;
    let mut next_number = 1;
    while !rest.is_empty() {
        let Some((number, wire_type, payload)) = next(&mut rest) else {
            return false;
        };
        let kind = match number {
            1 => key,
            2 => value,
            _ => return false,
        };
        if number < next_number || !is_plain_value(payload, wire_type, kind, depth) {
            return false;
        }
        next_number = number + 1;
    }
    next_number == 3 || value.message().is_none()
}

/// Says whether a run of packed values is plain.
fn is_plain_run(bytes: &[u8], kind: Kind) -> bool {
    let mut rest = bytes;
    match wire_type_of(kind) {
        0 => {
            while !rest.is_empty() {
                let Some(payload) = varint(&mut rest) else { return false };
                if !is_plain_value(payload, 0, kind, 0) {
                    return false;
                }
            }
            true
        }
        1 => bytes.len().is_multiple_of(8),
        _ => bytes.len().is_multiple_of(4),
    }
}

/// Reads the next field: its number, wire type and payload.
fn next<'b>(rest: &mut &'b [u8]) -> Option<(u32, u8, &'b [u8])> {
    let tag = number(varint(rest)?)?;
    let wire_type = u8::try_from(tag & 7).ok()?;
    let payload = match wire_type {
        0 => varint(rest)?,
        1 => take(rest, 8)?,
        2 => {
            let len = number(varint(rest)?)?;
            take(rest, usize::try_from(len).ok()?)?
        }
        5 => take(rest, 4)?,
        _ => return None,
    };
    Some((tag >> 3, wire_type, payload)).filter(|(number, _, _)| *number > 0)
}

fn take<'b>(rest: &mut &'b [u8], len: usize) -> Option<&'b [u8]> {
    let (taken, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(taken)
}

/// Returns the bytes of a number of at most 64 bits.
fn varint<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let len = rest.iter().take(10).position(|byte| *byte < 0x80)? + 1;
    let bytes = take(rest, len)?;
    // The tenth byte holds one bit.
    (len < 10 || bytes.last() == Some(&1)).then_some(bytes)
}

/// Returns the value of a tag or a length, of at most 32 bits.
fn number(bytes: &[u8]) -> Option<u32> {
    if bytes.len() > 5 {
        return None;
    }
    let value = bytes
        .iter()
        .rev()
        .fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
    u32::try_from(value).ok()
}
