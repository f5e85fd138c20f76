//! Converts texts, numbers and bytes from wire format to JSON.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use xdsctl_proto::tables::Kind;

use super::{Printer, Result};
use crate::source::wire::WireValue;

impl Printer {
    /// Prints a scalar. With `is_bare`, prints no quotes, because a key has them around it already.
    #[inline]
    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_possible_truncation,
        reason = "two's complement is what the wire has"
    )]
    pub(super) fn scalar(&mut self, kind: Kind, value: WireValue<'_>, is_bare: bool) -> Result {
        let out = &mut self.out;
        match (kind, value) {
            (Kind::String, value @ WireValue::Bytes(_)) => {
                let from = self.out.len();
                self.bare_text(value)?;
                self.looks(from);
            }
            (Kind::Bytes, WireValue::Bytes(bytes)) => {
                let from = out.len();
                out.push(b'"');
                base64(bytes, out);
                out.push(b'"');
                self.looks(from);
            }
            (Kind::Bool, WireValue::Varint(value)) => {
                out.extend_from_slice(if value == 0 { b"false" } else { b"true" })
            }
            (Kind::Enum(_), WireValue::Varint(value)) => {
                match kind.enumeration().and_then(|item| item.name(value as i32)) {
                    Some(name) => {
                        out.push(b'"');
                        out.extend_from_slice(name.as_bytes());
                        out.push(b'"');
                    }
                    None => number(out, value as i32),
                }
            }
            (Kind::Int32, WireValue::Varint(value)) => number(out, value as i32),
            (Kind::Uint32, WireValue::Varint(value)) => number(out, value as u32),
            (Kind::Sint32, WireValue::Varint(value)) => number(out, (value as u32 >> 1) as i32 ^ -((value & 1) as i32)),
            (Kind::Int64, WireValue::Varint(value)) => long(out, value as i64, is_bare),
            (Kind::Uint64, WireValue::Varint(value)) => long(out, value, is_bare),
            (Kind::Sint64, WireValue::Varint(value)) => {
                long(out, (value >> 1) as i64 ^ -((value & 1) as i64), is_bare);
            }
            (Kind::Fixed32, WireValue::Fixed32(value)) => number(out, value),
            (Kind::Sfixed32, WireValue::Fixed32(value)) => number(out, value as i32),
            (Kind::Fixed64, WireValue::Fixed64(value)) => long(out, value, is_bare),
            (Kind::Sfixed64, WireValue::Fixed64(value)) => long(out, value as i64, is_bare),
            (Kind::Float, WireValue::Fixed32(value)) => float(out, f32::from_bits(value)),
            (Kind::Double, WireValue::Fixed64(value)) => float(out, f64::from_bits(value)),
            _ => {
                out.extend_from_slice(b"null");
                return self.inexact();
            }
        }
        Ok(())
    }

    /// Prints a text without checking whether it has the form of a secret.
    pub(super) fn bare_text(&mut self, value: WireValue<'_>) -> Result {
        let text = match value {
            WireValue::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        };
        quoted(&mut self.out, text.unwrap_or_default());
        if text.is_some() { Ok(()) } else { self.inexact() }
    }
}

fn number(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Prints a 64-bit number, which is in quotes in protobuf's JSON mapping.
fn long(out: &mut Vec<u8>, value: impl itoa::Integer, is_bare: bool) {
    if is_bare {
        return number(out, value);
    }
    out.push(b'"');
    number(out, value);
    out.push(b'"');
}

/// Appends bytes in base64.
pub(super) fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    let from = out.len();
    out.resize(from + bytes.len().div_ceil(3) * 4, 0);
    // The buffer has exactly the right size.
    let _ = STANDARD.encode_slice(bytes, out.get_mut(from..).unwrap_or_default());
}

/// Says whether a JSON string has the byte unescaped.
const fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\' && byte != 0x7f
}

/// Appends a JSON string.
pub fn quoted(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.push(b'"');
    // Without an early exit, the compiler checks many bytes at a time.
    if bytes.iter().fold(true, |all, byte| all & is_plain(*byte)) {
        out.extend_from_slice(bytes);
        out.push(b'"');
        return;
    }
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate().filter(|(_, byte)| !is_plain(**byte)) {
        out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
        from = at + 1;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte => _ = write!(out, "\\u{byte:04x}"),
        }
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    out.push(b'"');
}

fn float(out: &mut Vec<u8>, value: impl Into<f64> + Copy + std::fmt::Debug) {
    // Writing to memory does not fail.
    let _ = match value.into() {
        f64::INFINITY => out.write_all(b"\"Infinity\""),
        f64::NEG_INFINITY => out.write_all(b"\"-Infinity\""),
        wide if wide.is_nan() => out.write_all(b"\"NaN\""),
        _ => write!(out, "{value:?}"),
    };
}

/// Returns the default for a key or value that a map entry does not have.
pub(super) const fn zero(kind: Kind) -> WireValue<'static> {
    match kind {
        Kind::String | Kind::Bytes | Kind::Message(_) => WireValue::Bytes(b""),
        Kind::Fixed32 | Kind::Sfixed32 | Kind::Float => WireValue::Fixed32(0),
        Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => WireValue::Fixed64(0),
        _ => WireValue::Varint(0),
    }
}
