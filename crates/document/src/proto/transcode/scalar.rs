//! Reads numbers, strings, bytes, booleans and enums.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use xdsctl_proto::tables::{self, Kind};

use super::note::UNKNOWN_ENUM_VALUE;
use super::{Result, Transcoder, clip};
use crate::source::binary;
use crate::source::json::{Str, is_number};
use crate::source::yaml::{self, Plain};
use xdsctl_model::diag::{BytesKnowledge, Path};

/// Accepts padded and unpadded base64, and unused bits in the last character, as protobuf does.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// The largest number of digits of an integer. A longer one is out of every range.
const MAX_DIGITS: usize = 20;

impl<'t> Transcoder<'t> {
    /// Reads a value that is not a message, and writes it with its tag. A zero is written only if
    /// `keep_zero`.
    #[inline(always)]
    pub(super) fn scalar(&mut self, number: u32, kind: Kind, keep_zero: bool, at: &Path<'_>) -> Result<()> {
        match kind {
            Kind::String => self.string(number, keep_zero, at),
            Kind::Uint32 => self.integer(number, kind, 0, u32::MAX.into(), keep_zero, at),
            Kind::Bool => self.boolean(number, keep_zero, at),
            Kind::Enum(index) => self.enumeration(number, index, keep_zero, at),
            _ => self.other(number, kind, keep_zero, at),
        }
    }

    fn other(&mut self, number: u32, kind: Kind, keep_zero: bool, at: &Path<'_>) -> Result<()> {
        let (i32s, i64s) = ((i32::MIN.into(), i32::MAX.into()), (i64::MIN.into(), i64::MAX.into()));
        let (min, max) = match kind {
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => i32s,
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => i64s,
            Kind::Uint32 | Kind::Fixed32 => (0, u32::MAX.into()),
            Kind::Uint64 | Kind::Fixed64 => (0, u64::MAX.into()),
            Kind::Double | Kind::Float => return self.float(number, kind, keep_zero, at),
            Kind::Bytes => return self.base64(number, keep_zero, at),
            Kind::Bool | Kind::String | Kind::Enum(_) | Kind::Message(_) => return Ok(self.scan.skip_value()?),
        };
        self.integer(number, kind, min, max, keep_zero, at)
    }

    #[inline(always)]
    fn string(&mut self, number: u32, keep_zero: bool, at: &Path<'_>) -> Result<()> {
        if self.scan.peek() != b'"' {
            return self.bare_string(number, keep_zero, at);
        }
        let token = self.scan.string()?;
        if token.escaped || token.foreign {
            return self.rare_string(number, token, keep_zero, at);
        }
        if token.start == token.end && !keep_zero {
            return Ok(());
        }
        self.bytes(number, self.scan.raw(token))
    }

    /// Returns the contents of a string that stands for something other than text, such as a number
    /// or a name.
    #[inline(always)]
    pub(super) fn resolved(&self, token: Str) -> Cow<'t, [u8]> {
        if token.escaped {
            return self.unescaped(token);
        }
        Cow::Borrowed(self.scan.raw(token))
    }

    #[cold]
    fn unescaped(&self, token: Str) -> Cow<'t, [u8]> {
        let mut text = Vec::new();
        match self.scan.text_of(token, &mut text) {
            Ok(_) => Cow::Owned(text),
            // A number or a name has no backslash, so the caller rejects this text.
            Err(_) => Cow::Borrowed(self.scan.raw(token)),
        }
    }

    /// Reads a string with escapes or non-ASCII characters.
    fn rare_string(&mut self, number: u32, token: Str, keep_zero: bool, at: &Path<'_>) -> Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let result = match self.scan.text_of(token, &mut scratch) {
            Ok(text) if text.is_empty() && !keep_zero => Ok(()),
            Ok(text) => self.bytes(number, text.as_bytes()),
            Err(bad) => {
                let wanted = format!("text: it has {}", bad.what());
                self.bad_token(at, token.start - 1, &wanted);
                Ok(())
            }
        };
        self.scratch = scratch;
        result
    }

    fn bare_string(&mut self, number: u32, keep_zero: bool, at: &Path<'_>) -> Result<()> {
        if !self.options.bare_strings || matches!(self.scan.peek(), b'{' | b'[') {
            return self.bad_value(at, "a string");
        }
        let start = self.scan.pos();
        self.scan.skip_value()?;
        let raw = self.scan.slice(start, self.scan.pos());
        if raw.is_empty() && !keep_zero {
            return Ok(());
        }
        self.bytes(number, raw)
    }

    fn boolean(&mut self, number: u32, keep_zero: bool, at: &Path<'_>) -> Result<()> {
        self.scan.peek();
        let start = self.scan.pos();
        let value = match self.scan.bare() {
            b"true" => true,
            b"false" => false,
            _ => {
                self.scan.set_pos(start);
                match self.marked() {
                    Some(Plain::Bool(value)) => value,
                    _ => return self.bad_value(at, "`true` or `false`"),
                }
            }
        };
        if value || keep_zero {
            self.tag(number, 0);
            self.out.push(u8::from(value));
        }
        Ok(())
    }

    #[inline(always)]
    fn integer(&mut self, number: u32, kind: Kind, min: i128, max: i128, keep_zero: bool, at: &Path<'_>) -> Result<()> {
        let first = self.scan.peek();
        if let Some(value) = self.scan.short_number() {
            // The value is in the range of every kind.
            if value != 0 || keep_zero {
                self.write_integer(number, kind, value.into());
            }
            return Ok(());
        }
        let start = self.scan.pos();
        let token = match first {
            b'"' => {
                let token = self.scan.string()?;
                self.resolved(token)
            }
            b'-' | b'0'..=b'9' => Cow::Borrowed(self.scan.bare()),
            _ => return self.bad_value(at, "a number"),
        };
        let parsed = match parse_integer(&token) {
            None if first == b'"' => self.rare_integer(&token, start),
            parsed => parsed,
        };
        match parsed {
            Some(value) if (min..=max).contains(&value) => {
                if value != 0 || keep_zero {
                    self.write_integer(number, kind, value);
                }
            }
            Some(_) => self.bad_token(at, start, &format!("a number from {min} to {max}")),
            None => self.bad_token(at, start, &format!("a whole number from {min} to {max}")),
        }
        Ok(())
    }

    /// Reads the string at the scanner, if it is a plain scalar that only YAML reads as a number or
    /// a boolean.
    #[cold]
    pub(super) fn marked(&mut self) -> Option<Plain> {
        if !self.options.bare_strings || self.scan.peek() != b'"' {
            return None;
        }
        let start = self.scan.pos();
        let token = self.scan.string().ok()?;
        if yaml::is_marked(self.scan.raw(token)) {
            let mut scratch = Vec::new();
            let text = self.scan.text_of(token, &mut scratch).ok()?;
            return Some(yaml::resolve(text));
        }
        self.scan.set_pos(start);
        None
    }

    /// Reads the string at `start` again. It has the contents `token` and is not a JSON number.
    /// Like protobuf, accepts leading zeros and a plus.
    #[cold]
    fn rare_integer(&mut self, token: &[u8], start: usize) -> Option<i128> {
        let end = self.scan.pos();
        self.scan.set_pos(start);
        let value = self.marked();
        self.scan.set_pos(end);
        match value {
            Some(Plain::Int(value)) => Some(value),
            #[expect(clippy::cast_possible_truncation, reason = "whole, and far below 2^127")]
            Some(Plain::Float(value)) if value.fract() == 0.0 && value.abs() < 1e30 => Some(value as i128),
            Some(_) => None,
            None => std::str::from_utf8(token).ok()?.parse().ok(),
        }
    }

    /// Writes an integer that is in the range of its kind.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is in the range of its kind"
    )]
    fn write_integer(&mut self, number: u32, kind: Kind, value: i128) {
        match kind {
            Kind::Sint32 | Kind::Sint64 => {
                let value = value as i64;
                self.tag(number, 0);
                self.varint(((value << 1) ^ (value >> 63)) as u64);
            }
            Kind::Fixed32 | Kind::Sfixed32 => {
                self.tag(number, 5);
                self.out.extend_from_slice(&(value as u32).to_le_bytes());
            }
            Kind::Fixed64 | Kind::Sfixed64 => {
                self.tag(number, 1);
                self.out.extend_from_slice(&(value as u64).to_le_bytes());
            }
            _ => {
                self.tag(number, 0);
                self.varint(value as u64);
            }
        }
    }

    /// Reads an `f64`. Returns `None` after a note if the value cannot be used.
    pub(super) fn double(&mut self, at: &Path<'_>) -> Result<Option<f64>> {
        let first = self.scan.peek();
        let start = self.scan.pos();
        let value = match first {
            b'"' => match self.marked() {
                Some(Plain::Float(value)) => Some(value),
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "rounds to the nearest double, as any number does"
                )]
                Some(Plain::Int(value)) => Some(value as f64),
                _ => {
                    let token = self.scan.string()?;
                    match self.resolved(token).as_ref() {
                        b"NaN" => Some(f64::NAN),
                        b"Infinity" => Some(f64::INFINITY),
                        b"-Infinity" => Some(f64::NEG_INFINITY),
                        token => parse_float(token).or_else(|| parse_loose_float(token)),
                    }
                }
            },
            b'-' | b'0'..=b'9' => parse_float(self.scan.bare()),
            _ => {
                self.bad_value(at, "a number")?;
                return Ok(None);
            }
        };
        if value.is_none() {
            self.bad_token(at, start, "a number in range");
        }
        Ok(value)
    }

    fn float(&mut self, number: u32, kind: Kind, keep_zero: bool, at: &Path<'_>) -> Result<()> {
        self.scan.peek();
        let start = self.scan.pos();
        let Some(value) = self.double(at)? else {
            return Ok(());
        };
        if value.to_bits() == 0 && !keep_zero {
            return Ok(());
        }
        if kind == Kind::Double {
            self.tag(number, 1);
            self.out.extend_from_slice(&value.to_le_bytes());
            return Ok(());
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "rounds to the nearest float, as protobuf does"
        )]
        let narrow = value as f32;
        if narrow.is_infinite() && value.is_finite() {
            self.bad_token(at, start, "a number in the range of a float");
            return Ok(());
        }
        self.tag(number, 5);
        self.out.extend_from_slice(&narrow.to_le_bytes());
        Ok(())
    }

    fn base64(&mut self, number: u32, keep_zero: bool, at: &Path<'_>) -> Result<()> {
        if self.scan.peek() != b'"' {
            return self.bad_value(at, "base64 in a string");
        }
        let start = self.scan.pos();
        let token = self.scan.string()?;
        let text = self.resolved(token);
        if text.as_ref() == b"[redacted]" {
            return self.bytes(number, &text);
        }
        match decode_base64(&text) {
            Some(bytes) if bytes.is_empty() && !keep_zero => {}
            Some(bytes) => self.bytes(number, &bytes)?,
            None => self.bad_token(at, start, "base64"),
        }
        Ok(())
    }

    /// Reads the base64 of `@value`, which holds the bytes of the current message.
    pub(super) fn packed_bytes(&mut self, at: &Path<'_>) -> Result<()> {
        self.at_most(BytesKnowledge::Nothing);
        if self.scan.peek() == b'"' {
            let start = self.scan.pos();
            let token = self.scan.string()?;
            let document = self.document;
            let text = self.resolved(token);
            // A text that the user wrote has no document behind it.
            if let Some(bytes) = binary::place(&text).and_then(|place| document.get(place)) {
                self.room_for(bytes.len())?;
                self.out.extend_from_slice(bytes);
                return Ok(());
            }
            if let Some(bytes) = decode_base64(&text) {
                self.room_for(bytes.len())?;
                self.out.extend_from_slice(&bytes);
                return Ok(());
            }
            self.bad_token(at, start, "base64");
        } else {
            self.bad_value(at, "base64 in a string")?;
        }
        self.is_lost |= self.total == 0;
        Ok(())
    }

    fn enumeration(&mut self, number: u32, index: u16, keep_zero: bool, at: &Path<'_>) -> Result<()> {
        if self.scan.peek() != b'"' {
            // For other enums, `null` means an absent field and is handled before. So this is a
            // NullValue.
            if self.scan.null() {
                if keep_zero {
                    self.write_integer(number, Kind::Int32, 0);
                }
                return Ok(());
            }
            return self.integer(number, Kind::Int32, i32::MIN.into(), i32::MAX.into(), keep_zero, at);
        }
        let start = self.scan.pos();
        let token = self.scan.string()?;
        let name = self.resolved(token);
        let known = tables::ENUMS
            .get(usize::from(index))
            .and_then(|item| Some((item, std::str::from_utf8(&name).ok()?)));
        let value = match known.and_then(|(item, name)| item.number(name)) {
            Some(value) => Some(value),
            None => self.unknown_enum_value(index, &name, start, at),
        };
        if let Some(value) = value.filter(|value| *value != 0 || keep_zero) {
            self.write_integer(number, Kind::Int32, value.into());
        }
        Ok(())
    }

    /// Notes that the enum has no such name. Returns the value that the name means with other
    /// capital letters or as a number, if any.
    #[cold]
    fn unknown_enum_value(&mut self, index: u16, name: &[u8], start: usize, at: &Path<'_>) -> Option<i32> {
        let item = tables::ENUMS.get(usize::from(index))?;
        let short = item.full_name.rsplit('.').next().unwrap_or_default();
        let same = |(known, _): &&(&str, i32)| known.as_bytes().eq_ignore_ascii_case(name);
        if let Some((known, value)) = item.values.iter().find(same) {
            let name = clip(name);
            let message = format!("`{name}` is not a value of {short}, it is read as `{known}`, as Envoy does");
            self.note(&UNKNOWN_ENUM_VALUE, at, start, message);
            return Some(*value);
        }
        let text = String::from_utf8_lossy(name);
        if let Ok(value) = text.parse::<i32>() {
            // Python's json_format accepts it as the number, and so does the client where it reads
            // JSON itself. Go's rejects it.
            let message = format!("`{value}` is a number in quotes, it is read as the {short} of that number");
            self.note(&UNKNOWN_ENUM_VALUE, at, start, message);
            return Some(value);
        }
        self.rejected += 1;
        if name == b"[redacted]" {
            return None;
        }
        let nearest = self.suggest(item.full_name, &text, item.values.iter().map(|(name, _)| *name));
        let message = format!("`{}` is not a value of {short}, the field is left out", clip(name));
        let note = self.note(&UNKNOWN_ENUM_VALUE, at, start, message);
        if let Some(nearest) = nearest {
            note.diagnostic.help(format!("did you mean `{nearest}`?"));
        }
        None
    }

    /// Writes the key of a map entry as field 1. If the key is not valid, notes that, skips the
    /// value and returns false.
    pub(super) fn map_key(&mut self, kind: Kind, key: Str, name: &str, at: &Path<'_>) -> Result<bool> {
        if kind == Kind::String {
            self.bytes(1, name.as_bytes())?;
            return Ok(true);
        }
        let after = self.scan.pos();
        let rejected = self.rejected;
        if kind == Kind::Bool {
            match name {
                "true" => self.write_integer(1, kind, 1),
                "false" => self.write_integer(1, kind, 0),
                _ => {
                    self.scan.set_pos(key.end + 1);
                    self.bad_token(at, key.start - 1, "`true` or `false`");
                }
            }
        } else {
            self.scan.set_pos(key.start - 1);
            self.other(1, kind, true, at)?;
        }
        self.scan.set_pos(after);
        if self.rejected > rejected {
            self.scan.skip_value()?;
        }
        Ok(self.rejected == rejected)
    }
}

/// Reads an integer: digits, or a decimal or exponent form of a whole number.
#[inline(always)]
fn parse_integer(token: &[u8]) -> Option<i128> {
    let (negative, digits) = match token.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, token),
    };
    if digits.is_empty() || digits.len() > MAX_DIGITS {
        return parse_integer_as_float(token);
    }
    let mut value = 0u128;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return parse_integer_as_float(token);
        }
        value = value * 10 + u128::from(digit - b'0');
    }
    if digits.len() > 1 && digits.first() == Some(&b'0') {
        return None;
    }
    #[expect(clippy::cast_possible_wrap, reason = "20 digits fit")]
    let value = value as i128;
    Some(if negative { -value } else { value })
}

#[cold]
fn parse_integer_as_float(token: &[u8]) -> Option<i128> {
    match parse_float(token) {
        // Every integer beyond 2^64 is out of range, so rounding does not matter.
        #[expect(clippy::cast_possible_truncation, reason = "whole, and far below 2^127")]
        Some(value) if value.fract() == 0.0 && value.abs() < 1e30 => Some(value as i128),
        Some(value) if value.fract() == 0.0 => Some(i128::MAX),
        _ => None,
    }
}

/// Reads a JSON number. Returns `None` if the text is not one, or if it is too large for an `f64`.
fn parse_float(token: &[u8]) -> Option<f64> {
    if !is_number(token) {
        return None;
    }
    let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// Reads a number in a string, which protobuf allows to have more forms than a JSON number: a plus,
/// leading zeros, nothing on one side of the point.
#[cold]
fn parse_loose_float(token: &[u8]) -> Option<f64> {
    let is_numeric = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    if !token.iter().all(is_numeric) {
        return None;
    }
    let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// Decodes base64 of either alphabet, padded or not.
pub fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let url = text.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let engine = if url { &BASE64_URL } else { &BASE64 };
    engine.decode(text).ok()
}
