//! Messages whose JSON is not an object of their fields: wrappers, Struct, Value, Duration,
//! Timestamp, FieldMask.

use prost_types::Timestamp;
use xdsctl_proto::tables::{Cardinality, Kind, Message, WellKnown};

use super::{Result, Transcoder};
use crate::proto::print::TIMESTAMP_SECONDS;
use crate::source::log::shape;
use crate::source::yaml::Plain;
use xdsctl_model::diag::Path;
use xdsctl_model::resource::MAX_DURATION_SECONDS;

/// What a Duration must be, as messages call it.
const DURATION: &str = "a duration such as `1.5s`";

/// What a Timestamp must be, as messages call it.
const TIMESTAMP: &str = "an RFC 3339 time";

impl Transcoder<'_> {
    /// Reads a message that has a JSON form of its own. Returns false if the value cannot be used.
    pub(super) fn well_known(&mut self, message: &'static Message, index: u16, at: &Path<'_>) -> Result<bool> {
        let rejected = self.rejected;
        match message.well_known {
            WellKnown::None | WellKnown::Empty => return self.object(index, message, at),
            WellKnown::Any => return self.any(at),
            WellKnown::Struct | WellKnown::ListValue => return self.only_field(message, at),
            WellKnown::Value => self.dynamic(message, at)?,
            WellKnown::Wrapper(kind) => self.scalar(1, kind, false, at)?,
            WellKnown::Duration | WellKnown::Timestamp if self.scan.peek() == b'{' => {
                return self.spelt_out(message, index, at);
            }
            WellKnown::Duration => self.duration(at)?,
            WellKnown::Timestamp => self.timestamp(at)?,
            WellKnown::FieldMask => self.field_mask(at)?,
        }
        Ok(self.rejected == rejected)
    }

    /// Reads a Struct or a ListValue, whose JSON form is that of its only field.
    fn only_field(&mut self, message: &'static Message, at: &Path<'_>) -> Result<bool> {
        let Some(field) = message.fields.first() else {
            self.scan.skip_value()?;
            return Ok(false);
        };
        match (field.cardinality, self.scan.peek()) {
            (Cardinality::Map { key, value }, b'{') => {
                self.map(field.number, key, value, at)?;
                Ok(true)
            }
            (Cardinality::Repeated, b'[') => {
                self.repeated(field, at)?;
                Ok(true)
            }
            (Cardinality::Map { .. }, _) => self.bad_value(at, "an object").map(|()| false),
            _ => self.bad_value(at, "a list").map(|()| false),
        }
    }

    /// Reads a Value. The kind of JSON value decides which member of its oneof is set.
    fn dynamic(&mut self, message: &'static Message, at: &Path<'_>) -> Result<()> {
        let number = match self.scan.peek() {
            b'"' => self.dynamic_string(),
            b't' | b'f' => 4,
            b'{' => 5,
            b'[' => 6,
            b'n' if self.scan.null() => {
                self.tag(1, 0);
                self.out.push(0);
                return Ok(());
            }
            _ => 2,
        };
        let Some(field) = message.field(number) else {
            return Ok(self.scan.skip_value()?);
        };
        let rejected = self.rejected;
        self.value(field.number, field.kind, true, at)?;
        if matches!(field.kind, Kind::Message(_)) {
            // A value that was rejected inside does not make the whole value unusable.
            self.rejected = rejected;
        }
        Ok(())
    }

    /// Returns the member for the string at the scanner. It is text, unless YAML reads it as a
    /// number or a boolean.
    fn dynamic_string(&mut self) -> u32 {
        let start = self.scan.pos();
        let marked = self.marked();
        self.scan.set_pos(start);
        match marked {
            Some(Plain::Int(_)) => 2,
            Some(Plain::Float(value)) if value.is_finite() => 2,
            Some(Plain::Bool(_)) => 4,
            _ => 3,
        }
    }

    /// Reads a Duration or Timestamp that is given by its fields, as in text format. Protobuf's
    /// JSON does not allow this.
    fn spelt_out(&mut self, message: &'static Message, index: u16, at: &Path<'_>) -> Result<bool> {
        let start = self.scan.pos();
        let read = self.object(index, message, at)?;
        if !self.options.wire_objects {
            let wanted = if message.well_known == WellKnown::Duration {
                DURATION
            } else {
                TIMESTAMP
            };
            self.loose_token(at, start, wanted);
        }
        Ok(read)
    }

    fn duration(&mut self, at: &Path<'_>) -> Result<()> {
        let start = self.scan.pos();
        let seconds = self.moment(parse_duration, DURATION, at)?;
        // Where gRPC reads the field, the client's own converter rejects the value.
        if self.is_unread && seconds.is_some_and(|seconds| seconds.unsigned_abs() > MAX_DURATION_SECONDS.unsigned_abs())
        {
            let wanted = format!("at most {MAX_DURATION_SECONDS} seconds");
            self.loose_token(at, start, &wanted);
        }
        Ok(())
    }

    fn timestamp(&mut self, at: &Path<'_>) -> Result<()> {
        let start = self.scan.pos();
        let seconds = self.moment(parse_timestamp, TIMESTAMP, at)?;
        let has_small_letter = |raw: &[u8]| raw.iter().any(|byte| matches!(byte, b't' | b'z'));
        if seconds.is_some() && has_small_letter(self.scan.slice(start, self.scan.pos())) {
            self.loose_token(at, start, "a time with a capital `T` and `Z`");
        }
        Ok(())
    }

    /// Reads a Duration or Timestamp: seconds as field 1 and nanoseconds as field 2. Returns the
    /// seconds.
    fn moment(&mut self, parse: fn(&str) -> Option<(i64, i32)>, wanted: &str, at: &Path<'_>) -> Result<Option<i64>> {
        if self.scan.peek() != b'"' {
            self.bad_value(at, wanted)?;
            return Ok(None);
        }
        let start = self.scan.pos();
        let token = self.scan.string()?;
        let parsed = std::str::from_utf8(&self.resolved(token)).ok().and_then(parse);
        let Some((seconds, nanos)) = parsed else {
            self.bad_token(at, start, wanted);
            return Ok(None);
        };
        if seconds != 0 {
            self.tag(1, 0);
            self.varint(seconds.cast_unsigned());
        }
        if nanos != 0 {
            self.tag(2, 0);
            self.varint(i64::from(nanos).cast_unsigned());
        }
        Ok(Some(seconds))
    }

    /// Reads `"a,b.fooBar"` into the paths `a` and `b.foo_bar`.
    fn field_mask(&mut self, at: &Path<'_>) -> Result<()> {
        if self.scan.peek() != b'"' {
            return self.bad_value(at, "a string of field names");
        }
        let start = self.scan.pos();
        let token = self.scan.string()?;
        let text = self.resolved(token);
        let Ok(text) = std::str::from_utf8(&text) else {
            self.bad_token(at, start, "a string of field names");
            return Ok(());
        };
        if text.contains('_') {
            self.loose_token(at, start, "a list of names such as `fooBar`, which have no `_`");
        }
        for path in text.split(',').filter(|path| !path.is_empty()) {
            let mut snake = String::with_capacity(path.len());
            for c in path.chars() {
                if c.is_ascii_uppercase() {
                    snake.push('_');
                }
                snake.push(c.to_ascii_lowercase());
            }
            self.bytes(1, snake.as_bytes())?;
        }
        Ok(())
    }
}

/// Reads up to 9 digits of a fraction as nanoseconds.
fn nanos(fraction: &str) -> Option<i32> {
    if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits: i32 = fraction.parse().ok()?;
    Some((fraction.len()..9).fold(digits, |nanos, _| nanos * 10))
}

/// Reads `1.5s`. Accepts any number of seconds that fits 64 bits, because the client's converter
/// rejects numbers out of range.
fn parse_duration(text: &str) -> Option<(i64, i32)> {
    let number = text.strip_suffix('s')?;
    let (negative, magnitude) = match number.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, number),
    };
    let (whole, nanos) = match magnitude.split_once('.') {
        Some((whole, fraction)) => (whole, nanos(fraction)?),
        None => (magnitude, 0),
    };
    if whole.is_empty() || !whole.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let seconds: i64 = if negative {
        format!("-{whole}").parse()
    } else {
        whole.parse()
    }
    .ok()?;
    Some((seconds, if negative { -nanos } else { nanos }))
}

/// Reads an RFC 3339 time with a zone. Leap seconds and missing parts are not allowed.
fn parse_timestamp(text: &str) -> Option<(i64, i32)> {
    let text = text.to_ascii_uppercase();
    let bytes = text.as_bytes();
    let clock =
        shape(bytes, b"dddd-dd-ddTdd:dd:dd").filter(|end| !text.get(..*end).is_some_and(|t| t.ends_with("60")))?;
    let rest = text.get(clock..)?;
    let zone = match rest.strip_prefix('.') {
        Some(rest) => {
            let (fraction, zone) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
            nanos(fraction)?;
            zone
        }
        None => rest,
    };
    let is_zone = zone == "Z"
        || zone.len() == 6 && zone.starts_with(['+', '-']) && shape(zone.get(1..)?.as_bytes(), b"dd:dd").is_some();
    let Timestamp { seconds, nanos } = is_zone.then(|| text.parse().ok()).flatten()?;
    TIMESTAMP_SECONDS.contains(&seconds).then_some((seconds, nanos))
}
