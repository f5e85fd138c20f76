//! Tells whether bytes are a message in wire format, and reads its fields.

use xdsctl_proto::tables::{Cardinality, Field, Kind};

use crate::proto::wire::{MAX_DEPTH, Raw, WireReader};

/// A field on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item<'b> {
    /// The number of the field.
    pub number: u32,
    /// The value of the field.
    pub value: WireValue<'b>,
    /// The offset at which the tag starts.
    pub start: usize,
    /// The offset at which the value starts, after its length if it has one.
    pub body: usize,
    /// The offset at which the next field starts.
    pub end: usize,
}

/// A value on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireValue<'b> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1.
    Fixed64(u64),
    /// Wire type 2.
    Bytes(&'b [u8]),
    /// Wire type 5.
    Fixed32(u32),
    /// Wire types 3 and 4. The fields in the group are skipped.
    Group,
}

impl<'b> WireValue<'b> {
    #[inline(always)]
    fn of(raw: &Raw<'b>) -> WireValue<'b> {
        match (raw.wire_type, raw.payload) {
            (0, _) => WireValue::Varint(raw.varint),
            (1, &[a, b, c, d, e, f, g, h]) => WireValue::Fixed64(u64::from_le_bytes([a, b, c, d, e, f, g, h])),
            (2, payload) => WireValue::Bytes(payload),
            (5, &[a, b, c, d]) => WireValue::Fixed32(u32::from_le_bytes([a, b, c, d])),
            _ => WireValue::Group,
        }
    }

    /// Says whether the value has the wire type of this kind.
    pub const fn is_of(self, kind: Kind) -> bool {
        match kind {
            Kind::Message(_) | Kind::String | Kind::Bytes => matches!(self, WireValue::Bytes(_)),
            Kind::Fixed32 | Kind::Sfixed32 | Kind::Float => matches!(self, WireValue::Fixed32(_)),
            Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => matches!(self, WireValue::Fixed64(_)),
            _ => matches!(self, WireValue::Varint(_)),
        }
    }

    /// Says whether the value has the wire type of the field. A list of numbers may be packed.
    pub fn fits(self, field: &Field) -> bool {
        self.is_of(field.kind) || field.cardinality != Cardinality::Singular && matches!(self, WireValue::Bytes(_))
    }
}

/// Reads the first element of a packed list. Returns it and the rest of the list.
pub fn unpack(kind: Kind, packed: &[u8]) -> Option<(WireValue<'_>, &[u8])> {
    match kind {
        Kind::Fixed32 | Kind::Sfixed32 | Kind::Float => packed
            .split_first_chunk()
            .map(|(head, rest)| (WireValue::Fixed32(u32::from_le_bytes(*head)), rest)),
        Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => packed
            .split_first_chunk()
            .map(|(head, rest)| (WireValue::Fixed64(u64::from_le_bytes(*head)), rest)),
        _ => {
            let mut reader = WireReader { rest: packed };
            let (value, _) = reader.varint(10).ok()?;
            Some((WireValue::Varint(value), reader.rest))
        }
    }
}

/// Reads the fields of a message one by one, with their places.
///
/// The iterator must be inlined into its user. Otherwise, each item is written to memory in small
/// pieces and read in large ones, which stalls the processor for a third of the time that printing
/// a message takes (`cargo bench -p xdsctl-net`).
#[derive(Debug, Clone)]
pub struct WireFields<'b> {
    reader: WireReader<'b>,
    length: usize,
}

impl<'b> WireFields<'b> {
    /// Returns an iterator that starts at the first byte.
    pub const fn new(bytes: &'b [u8]) -> Self {
        WireFields {
            reader: WireReader { rest: bytes },
            length: bytes.len(),
        }
    }
}

impl<'b> Iterator for WireFields<'b> {
    /// `Err` is the offset of a field that cannot be read. It is always the last item.
    type Item = Result<Item<'b>, usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let start = self.length - self.reader.rest.len();
        let raw = match self.reader.next(MAX_DEPTH) {
            Ok(None) => return None,
            Ok(Some(raw)) if !raw.overlong => raw,
            Ok(Some(_)) | Err(_) => {
                self.reader.rest = b"";
                return Some(Err(start));
            }
        };
        let end = self.length - self.reader.rest.len();
        Some(Ok(Item {
            number: raw.number,
            value: WireValue::of(&raw),
            start,
            body: if raw.wire_type == 2 {
                end - raw.payload.len()
            } else {
                start
            },
            end,
        }))
    }
}

/// Says whether `bytes` can be a message: they are fields up to the end, or up to a point at which
/// a message of several fields was cut off.
pub fn is_message(bytes: &[u8]) -> bool {
    let mut fields = 0;
    for field in WireFields::new(bytes) {
        match field {
            Ok(item) if item.number > MAX_LIKELY_NUMBER => return false,
            Ok(_) => fields += 1,
            Err(_) => return fields > 1,
        }
    }
    fields > 0
}

/// Says whether the field at `start` has a tag and a length and extends beyond the end of `bytes`.
pub fn is_cut(bytes: &[u8], start: usize) -> bool {
    let rest = bytes.get(start..).unwrap_or_default();
    let mut reader = WireReader { rest };
    let has_length = reader.tag().is_ok_and(|(_, wire_type)| wire_type == 2);
    has_length
        && reader
            .varint(10)
            .is_ok_and(|(length, _)| length > reader.rest.len() as u64)
}

/// Says whether `bytes` begin with a field and could be the first part of a message.
pub fn starts_message(bytes: &[u8]) -> bool {
    let first = WireFields::new(bytes).next();
    first.is_some_and(|field| match field {
        Ok(item) => item.number <= MAX_LIKELY_NUMBER,
        Err(start) => is_cut(bytes, start),
    })
}

/// Says whether `bytes` are fields from start to end.
pub fn is_whole_message(bytes: &[u8]) -> bool {
    WireFields::new(bytes).all(|field| field.is_ok_and(|item| item.number <= MAX_LIKELY_NUMBER))
}

/// Field numbers above this are unlikely in xDS messages; the largest is below 20,000.
const MAX_LIKELY_NUMBER: u32 = 30_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_with_their_places() {
        let bytes = b"\x08\x96\x01\x12\x02hi\x1d\x01\0\0\0\x23\x08\x01\x24";
        let items: Vec<_> = WireFields::new(bytes)
            .map(|item| item.unwrap())
            .map(|i| (i.number, i.value, i.body, i.end))
            .collect();
        assert_eq!(
            items,
            [
                (1, WireValue::Varint(150), 0, 3),
                (2, WireValue::Bytes(b"hi"), 5, 7),
                (3, WireValue::Fixed32(1), 7, 12),
                (4, WireValue::Group, 12, 16),
            ]
        );
    }

    #[test]
    fn a_field_that_goes_on_behind_the_end_is_cut() {
        for (bytes, cut) in [
            (&b"\x08\x01\x12\x05hi"[..], true),
            (b"\x08\x01\x12\x02hi", false),
            (b"\x08\x01\x0f\x05", false),
            (b"\x08\x01\x12", false),
        ] {
            assert_eq!(is_cut(bytes, 2), cut, "{bytes:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_an_error_at_its_field() {
        for bytes in [
            &b"\x08\x01\x12\x05hi"[..],
            b"\x08\x01\x0f",
            b"\x08\x01\x00",
            b"\x08\x01\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            b"\x08\x01\x23\x2c",
            b"\x08\x01\x24",
        ] {
            let read: Vec<_> = WireFields::new(bytes).collect();
            assert_eq!(read.last(), Some(&Err(2)), "{bytes:?}");
        }
    }
}
