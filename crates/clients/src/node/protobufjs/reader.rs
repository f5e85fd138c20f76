//! Reads numbers and runs of bytes as protobuf.js does (reader.js, reader_buffer.js).

use super::{MAX_DEPTH, Thrown};

/// Wire types that are skipped.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LEN: u32 = 2;
const START_GROUP: u32 = 3;
const END_GROUP: u32 = 4;
const FIXED32: u32 = 5;

/// Reads from a buffer, up to the end of the current message.
pub(super) struct Reader<'b> {
    buf: &'b [u8],
    /// The position of the next byte; it may be one behind the end.
    pub(super) pos: usize,
    len: usize,
}

impl<'b> Reader<'b> {
    pub(super) fn new(buf: &'b [u8]) -> Self {
        let len = buf.len();
        Reader { buf, pos: 0, len }
    }

    /// Returns the end of the current message.
    pub(super) fn end(&self) -> usize {
        self.len
    }

    /// Reads a length and enters what has this length; returns where that ends.
    pub(super) fn enter(&mut self) -> Result<usize, Thrown> {
        let len = self.uint32()? as usize;
        let end = self.pos.saturating_add(len);
        if end > self.len {
            return Err(Thrown::OutOfRange);
        }
        self.len = end;
        Ok(end)
    }

    /// Leaves a message that ends at `inner` for the message around it, which ends at `outer`.
    pub(super) fn leave(&mut self, inner: usize, outer: usize) -> Result<(), Thrown> {
        if self.pos != inner {
            return Err(Thrown::OutOfRange);
        }
        self.len = outer;
        Ok(())
    }

    fn left(&self) -> usize {
        self.len.saturating_sub(self.pos)
    }

    /// Returns the next byte, also beyond the end of the message; beyond the end of the buffer it
    /// is 0.
    fn byte(&mut self) -> u8 {
        let byte = self.buf.get(self.pos).copied().unwrap_or(0);
        self.pos += 1;
        byte
    }

    fn checked_byte(&mut self) -> Result<u8, Thrown> {
        if self.pos >= self.len {
            return Err(Thrown::OutOfRange);
        }
        Ok(self.byte())
    }

    /// Reads a number of 32 bits. If each of five bytes says that another one follows, five more
    /// bytes are skipped, whatever they are.
    pub(super) fn uint32(&mut self) -> Result<u32, Thrown> {
        let mut value = 0u32;
        if self.left() < 5 {
            for i in 0..4 {
                let byte = self.checked_byte()?;
                value |= u32::from(byte & 0x7f) << (7 * i);
                if byte < 0x80 {
                    return Ok(value);
                }
            }
            return Err(Thrown::OutOfRange);
        }
        for i in 0..5 {
            let byte = self.byte();
            value |= u32::from(byte & 0x7f).wrapping_shl(7 * i);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        self.pos += 5;
        if self.pos > self.len {
            return Err(Thrown::OutOfRange);
        }
        Ok(value)
    }

    /// Reads a number of 64 bits (`readLongVarint`).
    pub(super) fn uint64(&mut self) -> Result<u64, Thrown> {
        let (mut low, mut high) = (0u32, 0u32);
        let join = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        if self.left() > 4 {
            for i in 0..4 {
                let byte = self.byte();
                low |= u32::from(byte & 0x7f) << (7 * i);
                if byte < 0x80 {
                    return Ok(join(low, high));
                }
            }
            let byte = self.byte();
            low |= u32::from(byte & 0x7f).wrapping_shl(28);
            high |= u32::from(byte & 0x7f) >> 4;
            if byte < 0x80 {
                return Ok(join(low, high));
            }
        } else {
            for i in 0..3 {
                let byte = self.checked_byte()?;
                low |= u32::from(byte & 0x7f) << (7 * i);
                if byte < 0x80 {
                    return Ok(join(low, high));
                }
            }
            // Here the fourth byte always ends the number, even if it is missing or says that
            // another one follows.
            low |= u32::from(self.byte() & 0x7f) << 21;
            return Ok(join(low, high));
        }
        let is_far_from_end = self.left() > 4;
        for i in 0..5 {
            let byte = if is_far_from_end {
                self.byte()
            } else {
                self.checked_byte()?
            };
            high |= u32::from(byte & 0x7f).wrapping_shl(7 * i + 3);
            if byte < 0x80 {
                return Ok(join(low, high));
            }
        }
        Err(Thrown::Varint)
    }

    /// Returns the next `len` bytes; beyond the end, throws as protobuf.js does.
    pub(super) fn take(&mut self, len: usize) -> Result<&'b [u8], Thrown> {
        let end = self.pos.saturating_add(len);
        if end > self.len {
            return Err(Thrown::OutOfRange);
        }
        let taken = self.buf.get(self.pos..end).ok_or(Thrown::OutOfRange)?;
        self.pos = end;
        Ok(taken)
    }

    /// Returns the bytes of a string, which may be fewer than its length says.
    pub(super) fn text(&mut self) -> Result<&'b [u8], Thrown> {
        let len = self.uint32()? as usize;
        self.take(len.min(self.left()))
    }

    /// Skips an unknown field (`skipType`).
    pub(super) fn skip(&mut self, wire_type: u32, depth: u32) -> Result<(), Thrown> {
        if depth > MAX_DEPTH {
            return Err(Thrown::Depth);
        }
        match wire_type {
            VARINT => while self.checked_byte()? >= 0x80 {},
            FIXED64 => _ = self.take(8)?,
            LEN => {
                let len = self.uint32()?;
                self.take(len as usize)?;
            }
            START_GROUP => loop {
                let inner = self.uint32()? & 7;
                if inner == END_GROUP {
                    break;
                }
                self.skip(inner, depth + 1)?;
            },
            FIXED32 => _ = self.take(4)?,
            _ => return Err(Thrown::WireType),
        }
        Ok(())
    }
}
