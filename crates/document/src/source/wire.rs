//! Wire bytes: whether they are a message at all.

/// Groups inside groups that [`is_message`] follows.
const MAX_GROUPS: usize = 100;

/// A field on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item<'b> {
    /// The field's number.
    pub number: u32,
    /// What it holds.
    pub value: WireValue<'b>,
    /// Where the tag starts.
    pub start: usize,
    /// Where the value starts: behind the length, if it has one.
    pub body: usize,
    /// Where the next field starts.
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
    /// Wire types 3 and 4: the fields in between are passed, not kept.
    Group,
}

/// Reads the fields of a message one by one.
///
/// In one piece with its user: an item that is handed over in memory is written in small pieces and read in large ones, which stalls the
/// processor for a third of the time that a message takes to print (`cargo bench -p xdsctl-net`).
#[derive(Debug, Clone)]
pub struct Fields<'b> {
    bytes: &'b [u8],
    pos: usize,
}

impl<'b> Fields<'b> {
    /// Starts at the first byte.
    pub const fn new(bytes: &'b [u8]) -> Self {
        Fields { bytes, pos: 0 }
    }

    #[inline(always)]
    fn varint(&mut self) -> Option<u64> {
        match self.bytes.get(self.pos) {
            Some(byte) if *byte < 0x80 => {
                self.pos += 1;
                Some(u64::from(*byte))
            }
            _ => self.long_varint(),
        }
    }

    #[inline(never)]
    fn long_varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = *self.bytes.get(self.pos)?;
            self.pos += 1;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return (shift < 63 || byte < 2).then_some(value);
            }
        }
        None
    }

    #[inline(always)]
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let end = self.pos.checked_add(count)?;
        let bytes = self.bytes.get(self.pos..end)?;
        self.pos = end;
        Some(bytes)
    }

    /// Reads a tag: number and wire type.
    #[inline(always)]
    fn tag(&mut self) -> Option<(u32, u64)> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3)
            .ok()
            .filter(|number| (1..1 << 29).contains(number))?;
        Some((number, tag & 7))
    }

    #[inline(always)]
    fn value(&mut self, number: u32, wire_type: u64) -> Option<WireValue<'b>> {
        Some(match wire_type {
            0 => WireValue::Varint(self.varint()?),
            1 => WireValue::Fixed64(u64::from_le_bytes(*self.take(8)?.first_chunk()?)),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                WireValue::Bytes(self.take(length)?)
            }
            3 => self.group(number)?,
            5 => WireValue::Fixed32(u32::from_le_bytes(*self.take(4)?.first_chunk()?)),
            _ => return None,
        })
    }

    /// Passes fields up to the end of the group `number`.
    #[cold]
    fn group(&mut self, number: u32) -> Option<WireValue<'b>> {
        let mut open = vec![number];
        while let Some(innermost) = open.last() {
            match self.tag()? {
                (number, 4) if number == *innermost => _ = open.pop(),
                (number, 3) if open.len() < MAX_GROUPS => open.push(number),
                (_, 3 | 4) => return None,
                (number, wire_type) => _ = self.value(number, wire_type)?,
            }
        }
        Some(WireValue::Group)
    }
}

impl<'b> Iterator for Fields<'b> {
    /// `Err` is the offset of the field that cannot be read; nothing follows it.
    type Item = Result<Item<'b>, usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.pos >= self.bytes.len() {
            return None;
        }
        let start = self.pos;
        let read = self.tag().and_then(|(number, wire_type)| {
            let value = self.value(number, wire_type)?;
            Some((number, value))
        });
        let Some((number, value)) = read else {
            self.pos = self.bytes.len();
            return Some(Err(start));
        };
        let body = match value {
            WireValue::Bytes(bytes) => self.pos - bytes.len(),
            _ => start,
        };
        Some(Ok(Item {
            number,
            value,
            start,
            body,
            end: self.pos,
        }))
    }
}

/// Says whether `bytes` can be a message: fields up to the end, or up to where a long one was cut off.
pub fn is_message(bytes: &[u8]) -> bool {
    let mut fields = 0;
    for field in Fields::new(bytes) {
        match field {
            Ok(item) if item.number > MAX_LIKELY_NUMBER => return false,
            Ok(_) => fields += 1,
            Err(_) => return fields > 1,
        }
    }
    fields > 0
}

/// Says whether the field at `start` has a tag and a length, and goes on behind the end of `bytes`.
pub fn is_cut(bytes: &[u8], start: usize) -> bool {
    let mut fields = Fields { bytes, pos: start };
    let has_length = fields.tag().is_some_and(|(_, wire_type)| wire_type == 2);
    let length = fields.varint().and_then(|length| usize::try_from(length).ok());
    let rest = bytes.len().saturating_sub(fields.pos);
    has_length && length.is_some_and(|length| length > rest)
}

/// Says whether `bytes` begin with a field and could be the first part of a message.
pub fn starts_message(bytes: &[u8]) -> bool {
    let first = Fields::new(bytes).next();
    first.is_some_and(|field| match field {
        Ok(item) => item.number <= MAX_LIKELY_NUMBER,
        Err(start) => is_cut(bytes, start),
    })
}

/// Says whether `bytes` are fields from start to end.
pub fn is_whole_message(bytes: &[u8]) -> bool {
    Fields::new(bytes).all(|field| field.is_ok_and(|item| item.number <= MAX_LIKELY_NUMBER))
}

/// Field numbers above this are unlikely in xDS messages; the largest is below 20,000.
const MAX_LIKELY_NUMBER: u32 = 30_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_with_their_places() {
        let bytes = b"\x08\x96\x01\x12\x02hi\x1d\x01\0\0\0\x23\x08\x01\x24";
        let items: Vec<_> = Fields::new(bytes)
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
            let read: Vec<_> = Fields::new(bytes).collect();
            assert_eq!(read.last(), Some(&Err(2)), "{bytes:?}");
        }
    }
}
