//! How protobuf.js reads a message, which is not how other parsers do.
//!
//! Its generated decoders look at the number of a field and never at the wire type: a known field
//! is read as the type that it is declared with, whatever is there. A string that is cut off ends
//! where the bytes end, bad UTF-8 becomes U+FFFD, and a second part of a message replaces the
//! first. Of several members of a oneof all are kept, and the one with the highest number counts as
//! set. Bytes without any of that are read alike by every parser. All others are written again
//! here, so that prost reads what the client reads.
//!
//! Facts of protobuf.js 7.6 (decoder.js, reader.js, reader_buffer.js, converter.js `toObject`).

mod plain;
mod reader;
mod unknown;

use std::collections::BTreeMap;

use bytes::Bytes;
use prost::encoding::encode_varint;

use self::reader::Reader;
use xdsctl_document::proto::pb::tables::{self, Cardinality, Field, Kind, Message};

/// How many levels of messages are read below the first (`util.recursionLimit`).
const MAX_DEPTH: u32 = 100;

/// Members of a oneof that the client reads without asking which member is set. It uses the first
/// of them that is there.
const READ_WITHOUT_ASKING: &[(&str, &[&str])] = &[
    ("envoy.config.core.v3.ConfigSource", &["self", "ads"]),
    ("envoy.config.core.v3.Address", &["socket_address"]),
    ("envoy.config.core.v3.TransportSocket", &["typed_config"]),
    ("envoy.config.endpoint.v3.LbEndpoint", &["endpoint"]),
    ("envoy.config.listener.v3.Filter", &["typed_config"]),
    (
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter",
        &["typed_config"],
    ),
    ("envoy.config.cluster.v3.Cluster", &["ring_hash_lb_config"]),
];

/// Why the decoder throws an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Thrown {
    /// The bytes end inside a field.
    #[error("the bytes end inside a field")]
    OutOfRange,
    /// A number of 64 bits has more than ten bytes.
    #[error("a number is too long")]
    Varint,
    /// An unknown field has a wire type that does not exist, or ends a group.
    #[error("a tag has an unknown wire type")]
    WireType,
    /// Messages are nested more than [`MAX_DEPTH`] levels deep.
    #[error("messages are nested more than {MAX_DEPTH} levels deep")]
    Depth,
    /// The entry of a map of messages has a key but no value.
    #[error("the entry of a map has no value")]
    MapValue,
}

/// Reads the bytes of a message; `None` if prost reads them in the same way.
///
/// # Errors
/// The exception that the client's decoder throws.
pub(super) fn read(bytes: &Bytes, message: &'static Message) -> Result<Option<Bytes>, Thrown> {
    if plain::is_plain(bytes, message, MAX_DEPTH) {
        return Ok(None);
    }
    let mut reader = Reader::new(bytes);
    let read = decode(&mut reader, bytes.len(), message, 0)?;
    if read.throws_later {
        return Err(Thrown::MapValue);
    }
    Ok(Some(read.bytes.into()))
}

/// A message in the form that prost reads.
#[derive(Default)]
struct PlainMessage {
    bytes: Vec<u8>,
    /// A message is missing that the conversion to an object needs; it throws an exception unless a
    /// later value replaces this one.
    throws_later: bool,
}

impl PlainMessage {
    fn extend(&mut self, other: &PlainMessage) {
        self.bytes.extend_from_slice(&other.bytes);
        self.throws_later |= other.throws_later;
    }
}

/// The values that were read of a field.
enum FieldValue {
    /// One value, or all values of a list, with their tags.
    Values(PlainMessage),
    /// The entries of a map by the bytes of their keys.
    Entries(BTreeMap<Vec<u8>, PlainMessage>),
}

/// Decodes the message that ends at `end`.
fn decode(reader: &mut Reader<'_>, end: usize, message: &'static Message, depth: u32) -> Result<PlainMessage, Thrown> {
    if depth > MAX_DEPTH {
        return Err(Thrown::Depth);
    }
    let mut found: BTreeMap<u32, FieldValue> = BTreeMap::new();
    while reader.pos < end {
        let tag = reader.uint32()?;
        let field = message.field(tag >> 3);
        match field.filter(|field| !unknown::is_unknown(message.full_name, field.number)) {
            Some(field) => value(reader, end, field, tag & 7, &mut found, depth)?,
            None => reader.skip(tag & 7, depth)?,
        }
    }
    let throws_later = found.values().any(|found| match found {
        FieldValue::Values(read) => read.throws_later,
        FieldValue::Entries(entries) => entries.values().any(|read| read.throws_later),
    });
    keep_one_member(message, &mut found);
    let mut read = PlainMessage::default();
    for (number, found) in found {
        if !message.field(number).is_some_and(|field| field.generated) {
            continue;
        }
        match found {
            FieldValue::Values(values) => read.extend(&values),
            FieldValue::Entries(entries) => {
                for entry in entries.values() {
                    put_bytes(&mut read.bytes, number, &entry.bytes);
                }
            }
        }
    }
    read.throws_later = throws_later;
    Ok(read)
}

/// Reads the value of a field, whatever wire type it has.
fn value(
    reader: &mut Reader<'_>,
    end: usize,
    field: &'static Field,
    wire_type: u32,
    found: &mut BTreeMap<u32, FieldValue>,
    depth: u32,
) -> Result<(), Thrown> {
    let number = field.number;
    match field.cardinality {
        Cardinality::Map { key, value } => {
            let (key, entry) = map_entry(reader, end, (key, value), depth)?;
            let entries = found
                .entry(number)
                .or_insert_with(|| FieldValue::Entries(BTreeMap::new()));
            if let FieldValue::Entries(entries) = entries {
                entries.insert(key, entry);
            }
        }
        Cardinality::Repeated => {
            let list = found
                .entry(number)
                .or_insert_with(|| FieldValue::Values(PlainMessage::default()));
            let FieldValue::Values(list) = list else { return Ok(()) };
            if wire_type == 2 && is_packable(field.kind) {
                let run_end = reader.enter()?;
                while reader.pos < run_end {
                    list.extend(&single(reader, number, field.kind, depth)?);
                }
                reader.leave(run_end, end)?;
            } else {
                list.extend(&single(reader, number, field.kind, depth)?);
            }
        }
        Cardinality::Singular => {
            let value = single(reader, number, field.kind, depth)?;
            found.insert(number, FieldValue::Values(value));
        }
    }
    Ok(())
}

/// Reads an entry of a map: the bytes of its key, and the entry as a message.
fn map_entry(
    reader: &mut Reader<'_>,
    end: usize,
    (key_kind, value_kind): (Kind, Kind),
    depth: u32,
) -> Result<(Vec<u8>, PlainMessage), Thrown> {
    let entry_end = reader.enter()?;
    let (mut key, mut value) = (PlainMessage::default(), PlainMessage::default());
    // If the value is missing, the conversion throws an exception at its first field.
    value.throws_later = value_kind.message().is_some_and(|message| !message.fields.is_empty());
    while reader.pos < entry_end {
        let tag = reader.uint32()?;
        match tag >> 3 {
            1 => key = single(reader, 1, key_kind, depth)?,
            2 => value = single(reader, 2, value_kind, depth)?,
            _ => reader.skip(tag & 7, depth)?,
        }
    }
    reader.leave(entry_end, end)?;
    let mut entry = PlainMessage::default();
    entry.extend(&key);
    entry.extend(&value);
    Ok((key.bytes, entry))
}

/// Reads one value and writes it with its tag.
fn single(reader: &mut Reader<'_>, number: u32, kind: Kind, depth: u32) -> Result<PlainMessage, Thrown> {
    let mut read = PlainMessage::default();
    let out = &mut read.bytes;
    match kind {
        Kind::Int32 | Kind::Enum(_) => {
            #[expect(
                clippy::cast_possible_wrap,
                reason = "the client takes the low 32 bits as a signed number"
            )]
            let value = i64::from(reader.uint32()? as i32);
            put_varint(out, number, value.cast_unsigned());
        }
        Kind::Uint32 | Kind::Sint32 => put_varint(out, number, reader.uint32()?.into()),
        Kind::Bool => put_varint(out, number, u64::from(reader.uint32()? != 0)),
        Kind::Int64 | Kind::Uint64 | Kind::Sint64 => put_varint(out, number, reader.uint64()?),
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => put_fixed(out, number, 5, reader.take(4)?),
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => put_fixed(out, number, 1, reader.take(8)?),
        Kind::String => {
            let text = String::from_utf8_lossy(reader.text()?);
            put_bytes(out, number, text.as_bytes());
        }
        Kind::Bytes => {
            let len = reader.uint32()?;
            put_bytes(out, number, reader.take(len as usize)?);
        }
        Kind::Message(index) => {
            let end = reader.end();
            let inner_end = reader.enter()?;
            let inner = decode(reader, inner_end, &tables::MESSAGES[usize::from(index)], depth + 1)?;
            reader.leave(inner_end, end)?;
            put_bytes(out, number, &inner.bytes);
            read.throws_later = inner.throws_later;
        }
    }
    Ok(read)
}

/// Says whether several values of a kind may be packed in one run.
fn is_packable(kind: Kind) -> bool {
    !matches!(kind, Kind::String | Kind::Bytes | Kind::Message(_))
}

/// Removes all members of each oneof but the one that the client uses.
fn keep_one_member(message: &'static Message, found: &mut BTreeMap<u32, FieldValue>) {
    let of = |number: u32| message.field(number).and_then(|field| field.oneof);
    for oneof in 0..message.oneofs.len() {
        let is_of = |number: &u32| of(*number).map(usize::from) == Some(oneof);
        let members: Vec<u32> = found.keys().copied().filter(is_of).collect();
        if members.len() < 2 {
            continue;
        }
        let preferred = READ_WITHOUT_ASKING
            .iter()
            .filter(|(name, _)| *name == message.full_name)
            .flat_map(|(_, fields)| *fields)
            .filter_map(|name| message.field_by_name(name))
            .map(|field| field.number)
            .find(|number| members.contains(number));
        let kept = preferred.or(members.last().copied());
        found.retain(|number, _| !is_of(number) || Some(*number) == kept);
    }
}

fn put_varint(out: &mut Vec<u8>, number: u32, value: u64) {
    encode_varint(u64::from(number << 3), out);
    encode_varint(value, out);
}

fn put_fixed(out: &mut Vec<u8>, number: u32, wire_type: u32, value: &[u8]) {
    encode_varint(u64::from(number << 3 | wire_type), out);
    out.extend_from_slice(value);
}

fn put_bytes(out: &mut Vec<u8>, number: u32, value: &[u8]) {
    encode_varint(u64::from(number << 3 | 2), out);
    encode_varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests;
