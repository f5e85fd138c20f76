//! Rewrites messages that prost would read differently from the client.
//!
//! Removes fields with another wire type, unknown fields, map entries with an unknown field, and
//! elements beyond the limit. Cuts off the bits of numbers beyond 64.

use std::collections::BTreeMap;

use xdsctl_proto::tables::{self, Cardinality, Kind, Message};

use super::reader::{Raw, WireReader};
use super::{FieldCounts, Fit, MAX_DEPTH, fit, is_beyond, wire_type_of};

/// Rewrites a checked message so that prost reads what the client reads.
#[cold]
pub(super) fn normalize(bytes: &[u8], message: &'static Message) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    // Messages that are kept as bytes, by field number. All parts of a message are joined.
    let mut lazy: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    let mut reader = WireReader { rest: bytes };
    let mut seen = FieldCounts::default();
    let mut start = 0;
    while let Ok(Some(raw)) = reader.next(MAX_DEPTH) {
        let before = std::mem::replace(&mut start, bytes.len() - reader.rest.len());
        let Ok(position) = message.fields.binary_search_by_key(&raw.number, |f| f.number) else {
            continue;
        };
        let field = &message.fields[position];
        if !field.generated {
            continue;
        }
        let fit = fit(field, raw.wire_type);
        let mut index = || seen.index(position, message, bytes.get(..before).unwrap_or_default());
        match fit {
            Fit::Foreign => {}
            Fit::Single if is_beyond(field, index()) => {}
            Fit::Packed if wire_type_of(field.kind) == 0 => {
                let mut values = WireReader { rest: raw.payload };
                while let Ok((value, _)) = values.varint(10) {
                    put_varint_field(&mut out, raw.number, value);
                }
            }
            Fit::Packed => put_bytes_field(&mut out, raw.number, raw.payload),
            Fit::Single => match (field.cardinality, field.kind) {
                (Cardinality::Map { key, value }, _) => {
                    if let Some(entry) = normalize_entry(raw.payload, key, value) {
                        put_bytes_field(&mut out, raw.number, &entry);
                    }
                }
                (cardinality, Kind::Message(m)) => {
                    let inner_type = &tables::MESSAGES[usize::from(m)];
                    let inner = normalize(raw.payload, inner_type);
                    if inner_type.lazy && cardinality == Cardinality::Singular {
                        lazy.entry(raw.number).or_default().extend_from_slice(&inner);
                    } else {
                        put_bytes_field(&mut out, raw.number, &inner);
                    }
                }
                _ => put_raw(&mut out, &raw),
            },
        }
    }
    for (number, message) in lazy {
        put_bytes_field(&mut out, number, &message);
    }
    out
}

/// Rewrites a map entry. Returns `None` if the client does not accept it as an entry.
fn normalize_entry(bytes: &[u8], key: Kind, value: Kind) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut reader = WireReader { rest: bytes };
    while let Ok(Some(raw)) = reader.next(MAX_DEPTH) {
        let kind = match raw.number {
            1 => key,
            2 => value,
            _ => return None,
        };
        if raw.wire_type != wire_type_of(kind) {
            return None;
        }
        match kind {
            Kind::Message(m) => {
                let inner = normalize(raw.payload, &tables::MESSAGES[usize::from(m)]);
                put_bytes_field(&mut out, raw.number, &inner);
            }
            _ => put_raw(&mut out, &raw),
        }
    }
    Some(out)
}

fn put_raw(out: &mut Vec<u8>, raw: &Raw<'_>) {
    match raw.wire_type {
        0 => put_varint_field(out, raw.number, raw.varint),
        2 => put_bytes_field(out, raw.number, raw.payload),
        wire_type => {
            prost::encoding::encode_varint(u64::from(raw.number << 3) | u64::from(wire_type), out);
            out.extend_from_slice(raw.payload);
        }
    }
}

fn put_varint_field(out: &mut Vec<u8>, number: u32, value: u64) {
    prost::encoding::encode_varint(u64::from(number << 3), out);
    prost::encoding::encode_varint(value, out);
}

fn put_bytes_field(out: &mut Vec<u8>, number: u32, payload: &[u8]) {
    prost::encoding::encode_varint(u64::from(number << 3) | 2, out);
    prost::encoding::encode_varint(payload.len() as u64, out);
    out.extend_from_slice(payload);
}
