//! Messages and repeated fields.

use xdsctl_proto::tables::{Cardinality, Field, Kind, Message, WellKnown};

use super::note::{BAD_VALUE, quote};
use super::repeat::{Place, ReadValue, ValueStep};
use super::{MAX_ELEMENTS, MAX_LEVELS, MAX_STRUCT_VALUES, Result, Transcoder, descriptor, takes_null};
use xdsctl_model::diag::{BytesKnowledge, Path};

/// A depth at which a message is certainly within the client's limit of 100 levels, even if each
/// map entry on the way counts as a level.
const PLAIN_LEVELS: u32 = 32;

/// Which fields and oneofs of a message have been read.
#[derive(Default)]
struct SeenFields {
    fields: [u64; 2],
    /// Bit `n` is set if a member of oneof `n` was read.
    oneofs: u64,
}

impl SeenFields {
    /// Records the field at this position. Returns false if it was recorded before. Positions from
    /// 128 on are not recorded.
    #[inline(always)]
    fn is_new(&mut self, position: u16) -> bool {
        let Some(word) = self.fields.get_mut(usize::from(position >> 6)) else {
            return true;
        };
        let bit = 1 << (position & 63);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// What comes after a value or an opening brace. A key is given by the offset of the first byte of
/// its name.
///
/// The type is small because one is made for each value. Where the key itself is needed, reading it
/// again costs less than storing it.
enum Next {
    /// The closing brace.
    End,
    /// The value of the field at this position.
    Field(u16, usize),
    /// The value of a key that is not a field.
    Unknown(usize),
}

impl<'t> Transcoder<'t> {
    /// Reads a message of any type. Returns false, after a note, if the value cannot be used.
    pub(super) fn message(&mut self, index: u16, at: &Path<'_>) -> Result<bool> {
        let message = descriptor(index);
        if self.level >= MAX_LEVELS {
            // The client rejects a message that deep. The bytes written so far are already too deep
            // for it.
            self.scan.skip_value()?;
            return Ok(true);
        }
        if self.options.wire_objects && self.wire_object(at)? {
            return Ok(true);
        }
        let (level, total) = (self.level, self.total);
        if level >= PLAIN_LEVELS {
            self.at_most(BytesKnowledge::Nothing);
        }
        self.level += 1;
        self.total += 1;
        let read = match message.well_known {
            WellKnown::None | WellKnown::Empty => self.object(index, message, at),
            _ => self.well_known(message, index, at),
        };
        (self.level, self.total) = (level, total);
        read
    }

    /// Reads `{"@wire": "base64"}`, if the scanner is at such an object.
    #[cold]
    fn wire_object(&mut self, at: &Path<'_>) -> Result<bool> {
        const HEAD: &[u8] = b"{\"@wire\":";
        self.scan.peek();
        let start = self.scan.pos();
        if self.scan.slice(start, start + HEAD.len()) != HEAD {
            return Ok(false);
        }
        self.scan.set_pos(start + HEAD.len());
        self.packed_bytes(at)?;
        self.scan.expect(b'}', "expected `}`")?;
        Ok(true)
    }

    #[inline(always)]
    pub(super) fn object(&mut self, index: u16, message: &'static Message, at: &Path<'_>) -> Result<bool> {
        if self.scan.peek() != b'{' {
            self.bad_value(at, "an object")?;
            return Ok(false);
        }
        self.scan.bump();
        self.fields(index, message, at, Place::Start, false)?;
        Ok(true)
    }

    /// Reads the fields up to the closing brace. The scanner is at `place`.
    pub(super) fn fields(
        &mut self,
        index: u16,
        message: &'static Message,
        at: &Path<'_>,
        mut place: Place,
        in_any: bool,
    ) -> Result<()> {
        let mut seen = SeenFields::default();
        let mut has_type = place == Place::Typed;
        // `Place::Unknown` is also behind a value, so the next key needs a comma.
        let mut is_first = place == Place::Start;
        loop {
            let (field, key) = match self.next(index, message, place, is_first)? {
                Next::End => return Ok(()),
                Next::Field(position, key) => (
                    message.fields.get(usize::from(position)).map(|field| (position, field)),
                    key,
                ),
                Next::Unknown(key) => (None, key),
            };
            if let Some((position, field)) = field {
                let here = at.field(field.name);
                let outer = self.is_unread;
                self.is_unread |= !field.judged;
                self.field((index, message), field, position, &mut seen, key, &here)?;
                self.is_unread = outer;
                place = Place::After(position);
            } else {
                self.unknown_field(message, key, at, in_any.then_some(&mut has_type))?;
                place = Place::Unknown;
            }
            is_first = false;
        }
    }

    /// Skips the text between `place` and the next value.
    #[inline(always)]
    fn next(&mut self, index: u16, message: &'static Message, place: Place, is_first: bool) -> Result<Next> {
        let start = self.scan.pos();
        if let Some(steps) = self.repeats.steps(index, place) {
            let mut step = steps[0];
            let mut is_same = step.len > 0 && self.scan.pass_same(step.start, step.len.into());
            if !is_same && steps[1].len > 0 {
                steps.swap(0, 1);
                step = steps[0];
                is_same = self.scan.pass_same(step.start, step.len.into());
            }
            if is_same {
                return Ok(match step.position {
                    Some(position) => Next::Field(position, start + usize::from(step.key)),
                    None => Next::End,
                });
            }
        }
        self.new_next(index, message, place, is_first)
    }

    /// Reads the key of the next value, or the closing brace.
    #[inline(never)]
    fn new_next(&mut self, index: u16, message: &'static Message, place: Place, is_first: bool) -> Result<Next> {
        let start = self.scan.pos();
        let is_end = if !is_first {
            !self.scan.more(b'}')?
        } else if self.scan.peek() == b'}' {
            self.scan.bump();
            true
        } else {
            false
        };
        let mut step = ValueStep {
            start,
            ..ValueStep::default()
        };
        if is_end {
            self.repeats.keep_step(index, place, step, self.scan.pos());
            return Ok(Next::End);
        }
        let key = self.scan.key()?;
        self.scan.peek();
        let name = self.resolved(key);
        let Some(position) = std::str::from_utf8(&name).ok().and_then(|name| message.position(name)) else {
            return Ok(Next::Unknown(key.start));
        };
        if let Ok(offset) = u16::try_from(key.start - start) {
            (step.key, step.position) = (offset, Some(position));
            self.repeats.keep_step(index, place, step, self.scan.pos());
        }
        Ok(Next::Field(position, key.start))
    }

    fn field(
        &mut self,
        (index, message): (u16, &'static Message),
        field: &'static Field,
        position: u16,
        seen: &mut SeenFields,
        key: usize,
        here: &Path<'_>,
    ) -> Result<()> {
        if !seen.is_new(position) {
            return self.duplicate(key, here);
        }
        if !field.judged {
            self.at_most(BytesKnowledge::WellFormed);
        }
        let first = self.scan.peek();
        if first == b'n' && !(field.cardinality == Cardinality::Singular && takes_null(field.kind)) && self.scan.null()
        {
            return Ok(());
        }
        if let Some(oneof) = field.oneof {
            let bit = 1u64.checked_shl(u32::from(oneof)).unwrap_or(0);
            if seen.oneofs & bit != 0 {
                return self.second_member(message, oneof, key, here);
            }
            seen.oneofs |= bit;
        }
        // Only objects, lists and strings, because their end is in the text itself.
        let may_repeat = matches!(first, b'{' | b'[' | b'"') && matches!(field.kind, Kind::Message(_) | Kind::Enum(_));
        if may_repeat && let Some(last) = self.repeats.value(index, position) {
            if last.is_hopeful() {
                return self.perhaps_repeated((index, position), field, here);
            }
            last.miss();
        }
        self.field_value(field, here)
    }

    #[inline(always)]
    fn field_value(&mut self, field: &'static Field, here: &Path<'_>) -> Result<()> {
        match field.cardinality {
            Cardinality::Singular => self.value(field.number, field.kind, field.explicit_presence, here),
            Cardinality::Repeated => self.repeated(field, here),
            Cardinality::Map { key, value } => self.map(field.number, key, value, here),
        }
    }

    /// Reads the value of a field, or copies the bytes of the last value if the text is the same.
    fn perhaps_repeated(
        &mut self,
        (index, position): (u16, u16),
        field: &'static Field,
        here: &Path<'_>,
    ) -> Result<()> {
        let levels = (self.level, self.total);
        let Some(last) = self.repeats.value(index, position) else {
            return self.field_value(field, here);
        };
        if last.len > 0
            && last.output == self.output
            && last.levels == levels
            && last.is_unread == self.is_unread
            // Beyond the limit it is read, which says so.
            && self.struct_values + last.struct_values <= MAX_STRUCT_VALUES
            && self.scan.pass_same(last.start, last.len)
        {
            last.hit();
            self.struct_values += last.struct_values;
            let (known, wire, wire_len) = (last.known, last.wire, last.wire_len);
            self.at_most(known);
            self.room_for(wire_len)?;
            self.out.extend_from_within(wire..wire + wire_len);
            return Ok(());
        }
        last.miss();
        let before = (self.notes.len(), self.rejected, self.output);
        let (start, wire) = (self.scan.pos(), self.out.len());
        let struct_values = self.struct_values;
        let known_before = std::mem::replace(&mut self.known, BytesKnowledge::Plain);
        self.field_value(field, here)?;
        let known = self.known;
        self.at_most(known_before);
        if before == (self.notes.len(), self.rejected, self.output)
            && let Some(last) = self.repeats.value(index, position)
        {
            let value = ReadValue {
                start,
                len: self.scan.pos() - start,
                wire,
                wire_len: self.out.len() - wire,
                output: self.output,
                levels,
                is_unread: self.is_unread,
                known,
                struct_values: self.struct_values - struct_values,
                ..*last
            };
            *last = value;
        }
        Ok(())
    }

    /// Reads one value of a field and writes it with its tag.
    #[inline(always)]
    pub(super) fn value(&mut self, number: u32, kind: Kind, keep_zero: bool, at: &Path<'_>) -> Result<()> {
        let Kind::Message(index) = kind else {
            return self.scalar(number, kind, keep_zero, at);
        };
        let start = self.out.len();
        let length = self.open_field(number);
        if self.message(index, at)? {
            self.close(length)
        } else {
            self.cut(start);
            Ok(())
        }
    }

    pub(super) fn repeated(&mut self, field: &'static Field, at: &Path<'_>) -> Result<()> {
        if self.scan.peek() != b'[' {
            return self.lone_element(field, at);
        }
        if !self.scan.open(b']')? {
            return Ok(());
        }
        let nullable = takes_null(field.kind);
        let mut index = 0;
        loop {
            let here = at.index(index);
            if self.scan.peek() == b'n' && !nullable {
                self.bad_value(&here, "an element")?;
            } else {
                self.value(field.number, field.kind, true, &here)?;
            }
            index += 1;
            if !self.scan.more(b']')? {
                return Ok(());
            }
            if self.is_beyond_struct_values(field.kind) {
                return self.pass_over(
                    b']',
                    format!("more than {MAX_STRUCT_VALUES} values in Structs, the others are not checked"),
                );
            }
            if index >= MAX_ELEMENTS {
                let name = field.name;
                let message = format!("`{name}` has more than {MAX_ELEMENTS} elements, the others are not checked");
                return self.pass_over(b']', message);
            }
        }
    }

    /// Reads a value in the place of a list as its only element.
    #[cold]
    fn lone_element(&mut self, field: &'static Field, at: &Path<'_>) -> Result<()> {
        let start = self.scan.pos();
        self.scan.skip_value()?;
        let end = self.scan.pos();
        let raw = self.scan.slice(start, end);
        if raw == b"\"[redacted]\"" {
            self.rejected += 1;
            return Ok(());
        }
        let value = quote(self.root, at, raw);
        let message = format!("{value} is not a list, it is read as a list of one, as Envoy does");
        self.note(&BAD_VALUE, at, start, message);
        self.scan.set_pos(start);
        self.value(field.number, field.kind, true, &at.index(0))
    }
}
