//! Reads fields in wire format by the rules of the client's parser.

use super::{MAX_DEPTH, MAX_LEN, Malformed, START_GROUP};

/// Returns the fields of a checked message. Stops at bytes that are not a field.
#[inline(always)]
pub fn fields(bytes: &[u8]) -> impl Iterator<Item = Raw<'_>> {
    let mut reader = WireReader { rest: bytes };
    std::iter::from_fn(move || reader.next(MAX_DEPTH).ok().flatten())
}

/// Returns the keys of all maps in a checked message whose only fields are maps with string keys.
pub fn map_keys(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    fields(bytes)
        .flat_map(|entry| fields(entry.payload))
        .filter(|field| field.number == 1)
        .map(|key| key.payload)
}

/// One field in wire format.
pub struct Raw<'b> {
    /// The field number.
    pub number: u32,
    /// The wire type, 0 to 5.
    pub wire_type: u8,
    /// The payload of a length-delimited field, else empty.
    pub payload: &'b [u8],
    /// The value of a varint.
    pub varint: u64,
    /// Whether the value is a varint of ten bytes whose last byte has bits beyond 64.
    pub(crate) overlong: bool,
}

/// Reads fields from a byte slice.
#[derive(Debug, Clone)]
pub(crate) struct WireReader<'b> {
    pub(crate) rest: &'b [u8],
}

impl<'b> WireReader<'b> {
    /// Reads the next field if it is of one of the most frequent kinds: a tag of one byte with a
    /// varint of up to three bytes (as every port has) or with a length as the loaders write it.
    /// For any other field, returns `None` and reads nothing.
    #[inline(always)]
    fn plain(&mut self) -> Option<Raw<'b>> {
        let (&tag, rest) = self.rest.split_first()?;
        if !(8..0x80).contains(&tag) {
            return None;
        }
        let wire_type = tag & 7;
        let (&first, after) = rest.split_first()?;
        let mut varint = u64::from(first);
        let (payload, rest) = match wire_type {
            0 if first < 0x80 => (&[][..], after),
            0 => {
                let (&second, after) = after.split_first()?;
                varint = varint & 0x7f | u64::from(second & 0x7f) << 7;
                if second < 0x80 {
                    (&[][..], after)
                } else {
                    let (&third, after) = after.split_first()?;
                    if third >= 0x80 {
                        return None;
                    }
                    varint |= u64::from(third) << 14;
                    (&[][..], after)
                }
            }
            2 if first < 0x80 => after.split_at_checked(first.into())?,
            2 => {
                let ([a, b, c, d], after) = rest.split_first_chunk::<4>()?;
                if a & b & c & 0x80 == 0 || d & 0x80 != 0 {
                    return None;
                }
                let [a, b, c, d] = [a, b, c, d].map(|byte| usize::from(byte & 0x7f));
                after.split_at_checked(a | b << 7 | c << 14 | d << 21)?
            }
            _ => return None,
        };
        self.rest = rest;
        Some(Raw {
            number: u32::from(tag >> 3),
            wire_type,
            payload,
            varint,
            overlong: false,
        })
    }

    #[inline(always)]
    pub(crate) fn varint(&mut self, max_bytes: usize) -> Result<(u64, bool), Malformed> {
        match self.rest.split_first() {
            Some((&byte, rest)) if byte < 0x80 => {
                self.rest = rest;
                Ok((byte.into(), false))
            }
            _ => self.long_varint(max_bytes),
        }
    }

    fn long_varint(&mut self, max_bytes: usize) -> Result<(u64, bool), Malformed> {
        let mut value = 0u64;
        for (i, &byte) in self.rest.iter().take(max_bytes).enumerate() {
            value |= u64::from(byte & 0x7f).wrapping_shl(7 * i as u32);
            if byte & 0x80 == 0 {
                self.rest = self.rest.get(i + 1..).unwrap_or_default();
                return Ok((value, i == 9 && byte > 1));
            }
        }
        Err(if self.rest.len() < max_bytes {
            Malformed::Truncated
        } else {
            Malformed::Varint
        })
    }

    #[inline(always)]
    pub(crate) fn tag(&mut self) -> Result<(u32, u8), Malformed> {
        let (tag, _) = self.varint(5)?;
        let tag = u32::try_from(tag).map_err(|_| Malformed::Varint)?;
        if tag >> 3 == 0 && tag & 7 != 4 {
            return Err(Malformed::Tag);
        }
        Ok((tag >> 3, (tag & 7) as u8))
    }

    #[inline(always)]
    fn take(&mut self, len: usize) -> Result<&'b [u8], Malformed> {
        let (head, tail) = self.rest.split_at_checked(len).ok_or(Malformed::Truncated)?;
        self.rest = tail;
        Ok(head)
    }

    /// Reads the next field; returns `None` at the end. `depth` more levels may be opened.
    #[inline(always)]
    pub(crate) fn next(&mut self, depth: u32) -> Result<Option<Raw<'b>>, Malformed> {
        if let Some(raw) = self.plain() {
            return Ok(Some(raw));
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        // The parts are copied one by one, so that a plain field stays in registers. Writing them
        // to memory and reading the whole struct would take as long as finding the field.
        let raw = self.other(depth)?;
        Ok(Some(Raw { ..raw }))
    }

    /// Reads the next field of any kind.
    fn other(&mut self, depth: u32) -> Result<Raw<'b>, Malformed> {
        let (number, wire_type) = self.tag()?;
        let mut raw = Raw {
            number,
            wire_type,
            payload: &[],
            varint: 0,
            overlong: false,
        };
        match wire_type {
            0 => (raw.varint, raw.overlong) = self.varint(10)?,
            1 => raw.payload = self.take(8)?,
            2 => {
                let (len, _) = self.varint(5)?;
                if len > MAX_LEN {
                    return Err(Malformed::Varint);
                }
                raw.payload = self.take(usize::try_from(len).map_err(|_| Malformed::Varint)?)?;
            }
            START_GROUP => self.skip_group(number, depth)?,
            4 => return Err(Malformed::Group),
            5 => raw.payload = self.take(4)?,
            _ => return Err(Malformed::Tag),
        }
        Ok(raw)
    }

    fn skip_group(&mut self, number: u32, depth: u32) -> Result<(), Malformed> {
        let limit = usize::try_from(depth).unwrap_or(usize::MAX);
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            if open.len() > limit {
                return Err(Malformed::Depth);
            }
            if self.rest.is_empty() {
                return Err(Malformed::Group);
            }
            // Inside a group, the parser accepts field number 0.
            let (tag, _) = self.varint(5)?;
            let tag = u32::try_from(tag).map_err(|_| Malformed::Varint)?;
            let (number, wire_type) = (tag >> 3, (tag & 7) as u8);
            match wire_type {
                0 => _ = self.varint(10)?,
                1 => _ = self.take(8)?,
                2 => {
                    let (len, _) = self.varint(5)?;
                    _ = self.take(usize::try_from(len).map_err(|_| Malformed::Varint)?)?;
                }
                START_GROUP => open.push(number),
                4 if number == innermost => _ = open.pop(),
                4 => return Err(Malformed::Group),
                5 => _ = self.take(4)?,
                _ => return Err(Malformed::Tag),
            }
        }
        Ok(())
    }
}
