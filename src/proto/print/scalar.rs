//! Texts, numbers and bytes on the wire, and as JSON has them.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use xdsctl_proto::tables::{Cardinality, Field, Kind};

use super::{Printer, Result};
use crate::source::wire::Value;

impl Printer {
    /// Prints a scalar; `is_bare` without quotes, as a key that has them around it.
    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_possible_truncation,
        reason = "two's complement is what the wire has"
    )]
    pub(super) fn scalar(&mut self, kind: Kind, value: Value<'_>, is_bare: bool) -> Result {
        let quote = if is_bare { "" } else { "\"" };
        let out = &mut self.out;
        let _ = match (kind, value) {
            (Kind::String, Value::Bytes(bytes)) => {
                let Ok(text) = std::str::from_utf8(bytes) else {
                    self.out.push_str("\"\"");
                    return self.inexact();
                };
                quoted(out, text);
                Ok(())
            }
            (Kind::Bytes, Value::Bytes(bytes)) => {
                out.push('"');
                STANDARD.encode_string(bytes, out);
                out.push('"');
                Ok(())
            }
            (Kind::Bool, Value::Varint(value)) => {
                out.push_str(if value == 0 { "false" } else { "true" });
                Ok(())
            }
            (Kind::Enum(_), Value::Varint(value)) => {
                match kind.enumeration().and_then(|item| item.name(value as i32)) {
                    Some(name) => {
                        out.push('"');
                        out.push_str(name);
                        out.push('"');
                        Ok(())
                    }
                    None => write!(out, "{}", value as i32),
                }
            }
            (Kind::Int32, Value::Varint(value)) => write!(out, "{}", value as i32),
            (Kind::Uint32, Value::Varint(value)) => write!(out, "{}", value as u32),
            (Kind::Sint32, Value::Varint(value)) => {
                write!(out, "{}", (value as u32 >> 1) as i32 ^ -((value & 1) as i32))
            }
            (Kind::Int64, Value::Varint(value)) => write!(out, "{quote}{}{quote}", value as i64),
            (Kind::Uint64, Value::Varint(value)) => write!(out, "{quote}{value}{quote}"),
            (Kind::Sint64, Value::Varint(value)) => {
                write!(out, "{quote}{}{quote}", (value >> 1) as i64 ^ -((value & 1) as i64))
            }
            (Kind::Fixed32, Value::Fixed32(value)) => write!(out, "{value}"),
            (Kind::Sfixed32, Value::Fixed32(value)) => write!(out, "{}", value as i32),
            (Kind::Fixed64, Value::Fixed64(value)) => write!(out, "{quote}{value}{quote}"),
            (Kind::Sfixed64, Value::Fixed64(value)) => write!(out, "{quote}{}{quote}", value as i64),
            (Kind::Float, Value::Fixed32(value)) => {
                let value = f32::from_bits(value);
                if value.is_finite() {
                    write!(out, "{value:?}")
                } else {
                    out.write_str(not_finite(value.into()))
                }
            }
            (Kind::Double, Value::Fixed64(value)) => {
                let value = f64::from_bits(value);
                if value.is_finite() {
                    write!(out, "{value:?}")
                } else {
                    out.write_str(not_finite(value))
                }
            }
            _ => {
                out.push_str("null");
                return self.inexact();
            }
        };
        Ok(())
    }
}

/// Appends a JSON string.
pub fn quoted(out: &mut String, text: &str) {
    out.push('"');
    let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\' && byte != 0x7f;
    if text.bytes().all(is_plain) {
        out.push_str(text);
        out.push('"');
        return;
    }
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if is_plain(byte) {
            continue;
        }
        out.push_str(text.get(from..at).unwrap_or_default());
        from = at + 1;
        let _ = match byte {
            b'"' | b'\\' => write!(out, "\\{}", char::from(byte)),
            b'\n' => out.write_str("\\n"),
            b'\t' => out.write_str("\\t"),
            byte => write!(out, "\\u{byte:04x}"),
        };
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out.push('"');
}

const fn not_finite(value: f64) -> &'static str {
    if value.is_nan() {
        "\"NaN\""
    } else if value > 0.0 {
        "\"Infinity\""
    } else {
        "\"-Infinity\""
    }
}

/// The value of a map entry that does not say it.
pub(super) const fn zero(kind: Kind) -> Value<'static> {
    match kind {
        Kind::String | Kind::Bytes | Kind::Message(_) => Value::Bytes(b""),
        Kind::Fixed32 | Kind::Sfixed32 | Kind::Float => Value::Fixed32(0),
        Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => Value::Fixed64(0),
        _ => Value::Varint(0),
    }
}

/// Says whether a value has the wire type of the field; a list of numbers may be packed.
pub(super) fn fits(field: &Field, value: Value<'_>) -> bool {
    fits_kind(field.kind, value)
        || matches!(value, Value::Bytes(_)) && field.cardinality == Cardinality::Repeated
        || matches!(value, Value::Bytes(_)) && matches!(field.cardinality, Cardinality::Map { .. })
}

pub(super) const fn fits_kind(kind: Kind, value: Value<'_>) -> bool {
    match kind {
        Kind::Message(_) | Kind::String | Kind::Bytes => matches!(value, Value::Bytes(_)),
        Kind::Fixed32 | Kind::Sfixed32 | Kind::Float => matches!(value, Value::Fixed32(_)),
        Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => matches!(value, Value::Fixed64(_)),
        _ => matches!(value, Value::Varint(_)),
    }
}

/// Takes one element off a packed list.
pub(super) fn unpack(kind: Kind, packed: &[u8]) -> Option<(Value<'_>, &[u8])> {
    match kind {
        Kind::Fixed32 | Kind::Sfixed32 | Kind::Float => packed
            .split_first_chunk::<4>()
            .map(|(head, rest)| (Value::Fixed32(u32::from_le_bytes(*head)), rest)),
        Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => packed
            .split_first_chunk::<8>()
            .map(|(head, rest)| (Value::Fixed64(u64::from_le_bytes(*head)), rest)),
        _ => {
            let end = packed.iter().take(10).position(|byte| *byte < 0x80)?;
            let (head, rest) = packed.split_at_checked(end + 1)?;
            let value = head
                .iter()
                .rev()
                .fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
            Some((Value::Varint(value), rest))
        }
    }
}
