//! Messages whose JSON is not an object of their fields: wrappers, Struct, Value, Duration,
//! Timestamp, FieldMask.

use std::io::Write as _;

use prost_types::{Duration, Timestamp};
use xdsctl_proto::tables::{Kind, Message, WellKnown};

use super::layout::Start;
use super::{Inexact, Printer, Result, quoted, zero};
use crate::source::wire::{WireFields, WireValue};
use xdsctl_model::resource::MAX_DURATION_SECONDS;

/// The seconds of a Timestamp, from the year 1 to the end of 9999.
pub const TIMESTAMP_SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// The number of nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

impl Printer {
    pub(super) fn special(&mut self, bytes: &[u8], message: &'static Message) -> Result {
        match message.well_known {
            WellKnown::Struct => self.only_field(bytes, b"{}", message),
            WellKnown::ListValue => self.only_field(bytes, b"[]", message),
            WellKnown::Value => self.dynamic(bytes, message),
            WellKnown::Wrapper(kind) => self.wrapper(bytes, kind),
            WellKnown::Duration => self.duration(bytes),
            WellKnown::Timestamp => self.timestamp(bytes),
            WellKnown::FieldMask => self.field_mask(bytes),
            WellKnown::None | WellKnown::Any | WellKnown::Empty => Ok(()),
        }
    }

    /// Prints the JSON form of a message's only field, without `{"fields": ...}` around it.
    fn only_field(&mut self, bytes: &[u8], empty: &[u8], message: &'static Message) -> Result {
        let mut start = Start::Bare;
        self.fields(bytes, message, &mut start)?;
        if start == Start::Bare {
            self.out.extend_from_slice(empty);
        }
        Ok(())
    }

    fn dynamic(&mut self, bytes: &[u8], message: &'static Message) -> Result {
        let mut items = WireFields::new(bytes);
        let (Some(Ok(item)), None) = (items.next(), items.next()) else {
            self.out.extend_from_slice(b"null");
            return self.inexact();
        };
        match (message.field(item.number), item.number, item.value) {
            (_, 1, WireValue::Varint(_)) => {
                self.out.extend_from_slice(b"null");
                Ok(())
            }
            (_, 2, WireValue::Fixed64(bits)) if !f64::from_bits(bits).is_finite() => {
                self.out.extend_from_slice(b"null");
                self.inexact()
            }
            (Some(field), _, value) if value.is_of(field.kind) => self.single(field, value),
            _ => {
                self.out.extend_from_slice(b"null");
                self.inexact()
            }
        }
    }

    fn wrapper(&mut self, bytes: &[u8], kind: Kind) -> Result {
        let mut found = zero(kind);
        for item in WireFields::new(bytes) {
            match item {
                Ok(item) if item.number == 1 && item.value.is_of(kind) => found = item.value,
                _ => self.inexact()?,
            }
        }
        self.scalar(kind, found, false)
    }

    /// Reads the seconds and nanoseconds of a Duration or a Timestamp.
    fn moment(&self, bytes: &[u8]) -> std::result::Result<(i64, i64), Inexact> {
        let (mut seconds, mut nanos) = (0, 0);
        for item in WireFields::new(bytes) {
            match item.map(|item| (item.number, item.value)) {
                Ok((1, WireValue::Varint(value))) => seconds = value.cast_signed(),
                Ok((2, WireValue::Varint(value))) => nanos = value.cast_signed(),
                _ => self.inexact()?,
            }
        }
        Ok((seconds, nanos))
    }

    fn duration(&mut self, bytes: &[u8]) -> Result {
        let (seconds, nanos) = self.moment(bytes)?;
        let is_one = (seconds >= 0 && nanos >= 0) || (seconds <= 0 && nanos <= 0);
        if !is_one || nanos.abs() >= SECOND || !(-MAX_DURATION_SECONDS..=MAX_DURATION_SECONDS).contains(&seconds) {
            self.out.extend_from_slice(b"\"0s\"");
            return self.inexact();
        }
        let nanos = i32::try_from(nanos).unwrap_or_default();
        let _ = write!(self.out, "\"{}\"", Duration { seconds, nanos });
        Ok(())
    }

    fn timestamp(&mut self, bytes: &[u8]) -> Result {
        let (seconds, nanos) = self.moment(bytes)?;
        if !TIMESTAMP_SECONDS.contains(&seconds) || !(0..SECOND).contains(&nanos) {
            self.out.extend_from_slice(b"\"1970-01-01T00:00:00Z\"");
            return self.inexact();
        }
        let nanos = i32::try_from(nanos).unwrap_or_default();
        let _ = write!(self.out, "\"{}\"", Timestamp { seconds, nanos });
        Ok(())
    }

    fn field_mask(&mut self, bytes: &[u8]) -> Result {
        let mut text = String::new();
        for item in WireFields::new(bytes) {
            let Ok((1, WireValue::Bytes(path))) = item.map(|item| (item.number, item.value)) else {
                self.inexact()?;
                continue;
            };
            let Some(camel) = std::str::from_utf8(path).ok().and_then(camel_case) else {
                self.inexact()?;
                continue;
            };
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(&camel);
        }
        quoted(&mut self.out, &text);
        Ok(())
    }
}

/// Converts `foo_bar` to `fooBar`. Returns `None` if that cannot be converted back.
fn camel_case(path: &str) -> Option<String> {
    let mut camel = String::with_capacity(path.len());
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            '_' => camel.push(chars.next().filter(char::is_ascii_lowercase)?.to_ascii_uppercase()),
            c if c.is_ascii_uppercase() || c == ',' => return None,
            c => camel.push(c),
        }
    }
    (!camel.is_empty()).then_some(camel)
}
