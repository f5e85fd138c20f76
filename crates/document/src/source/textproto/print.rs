//! Prints wire bytes as text format for people: one field per line, with packed messages opened.
//!
//! Printing never fails. A field that the tables do not have is printed by its number, and bytes
//! that are not a message are printed as a string. As many elements of a list are printed as are
//! checked.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use xdsctl_proto::tables::{self, Cardinality, Kind, Message, WellKnown};

use crate::source::wire::{WireFields, WireValue, unpack};

/// The number of nested messages that are printed as messages.
const MAX_DEPTH: usize = 200;

/// The number of levels that are indented. A hundred levels of short fields would be mostly white
/// space.
const MAX_INDENT: usize = 24;

/// The number of elements of a list that are printed, which is the number that is checked.
const MAX_SHOWN: usize = 200_000;

/// Prints the wire bytes of a message.
///
/// ```
/// let cluster = xdsctl_document::proto::pb::tables::message("envoy.config.cluster.v3.Cluster").unwrap();
/// let text = xdsctl_document::source::textproto::print(b"\x0a\x01a\x10\x03\x22\x02\x08\x05", cluster);
/// assert_eq!(text, "name: \"a\"\ntype: EDS\nconnect_timeout {\n  seconds: 5\n}\n");
/// ```
pub fn print(bytes: &[u8], message: &'static Message) -> String {
    let mut out = String::new();
    fields(bytes, message, 0, &mut out);
    out
}

fn fields(bytes: &[u8], message: &'static Message, depth: usize, out: &mut String) {
    // The number of elements of each list so far, by field number.
    let mut counts = BTreeMap::<u32, usize>::new();
    for item in WireFields::new(bytes) {
        let Ok(item) = item else {
            indent(depth, out);
            out.push_str("# the bytes that follow are no field\n");
            return;
        };
        // Every parser treats a field with another wire type as unknown.
        let field = message.field(item.number).filter(|field| item.value.fits(field));
        // A packed list is a single field on the wire.
        if let (Some(field), WireValue::Bytes(packed)) = (field, item.value)
            && field.cardinality == Cardinality::Repeated
            && !matches!(field.kind, Kind::Message(_) | Kind::String | Kind::Bytes)
        {
            packed_list(packed, field.name, field.kind, depth, out);
            continue;
        }
        if field.is_none_or(|field| field.cardinality != Cardinality::Singular) {
            let count = counts.entry(item.number).or_default();
            *count += 1;
            if *count > MAX_SHOWN {
                if *count == MAX_SHOWN + 1 {
                    indent(depth, out);
                    out.push_str("# more elements follow, which are not checked\n");
                }
                continue;
            }
        }
        indent(depth, out);
        match field {
            Some(field) => out.push_str(field.name),
            None => _ = write!(out, "{}", item.number),
        }
        value(field.map(|field| field.kind), item.value, depth, out);
        out.push('\n');
    }
}

fn indent(depth: usize, out: &mut String) {
    for _ in 0..depth.min(MAX_INDENT) {
        out.push_str("  ");
    }
}

fn packed_list(mut packed: &[u8], name: &str, kind: Kind, depth: usize, out: &mut String) {
    while !packed.is_empty() {
        let Some((element, rest)) = unpack(kind, packed) else {
            return;
        };
        packed = rest;
        indent(depth, out);
        out.push_str(name);
        value(Some(kind), element, depth, out);
        out.push('\n');
    }
}

#[expect(
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    reason = "two's complement is what the wire has"
)]
fn value(kind: Option<Kind>, value: WireValue<'_>, depth: usize, out: &mut String) {
    let result = match (kind, value) {
        (Some(kind @ Kind::Message(_)), WireValue::Bytes(bytes)) => {
            nested(kind.message(), bytes, depth, out);
            Ok(())
        }
        (_, WireValue::Bytes(bytes)) => write!(out, ": \"{}\"", Escaped(bytes)),
        (Some(Kind::Bool), WireValue::Varint(value)) => write!(out, ": {}", value != 0),
        (Some(kind @ Kind::Enum(_)), WireValue::Varint(value)) => {
            match kind.enumeration().and_then(|item| item.name(value as i32)) {
                Some(name) => write!(out, ": {name}"),
                None => write!(out, ": {}", value as i32),
            }
        }
        (Some(Kind::Int32), WireValue::Varint(value)) => write!(out, ": {}", value as i32),
        (Some(Kind::Int64), WireValue::Varint(value)) => write!(out, ": {}", value as i64),
        (Some(Kind::Uint32), WireValue::Varint(value)) => write!(out, ": {}", value as u32),
        (Some(Kind::Sint32 | Kind::Sint64), WireValue::Varint(value)) => {
            write!(out, ": {}", (value >> 1) as i64 ^ -((value & 1) as i64))
        }
        (_, WireValue::Varint(value)) => write!(out, ": {value}"),
        (Some(Kind::Float), WireValue::Fixed32(value)) => write!(out, ": {}", number(f32::from_bits(value).into())),
        (Some(Kind::Double), WireValue::Fixed64(value)) => write!(out, ": {}", number(f64::from_bits(value))),
        (Some(Kind::Sfixed32), WireValue::Fixed32(value)) => write!(out, ": {}", value as i32),
        (Some(Kind::Sfixed64), WireValue::Fixed64(value)) => write!(out, ": {}", value as i64),
        (_, WireValue::Fixed32(value)) => write!(out, ": {value}"),
        (_, WireValue::Fixed64(value)) => write!(out, ": {value}"),
        (_, WireValue::Group) => write!(out, " {{ }}"),
    };
    // Writing to a string cannot fail.
    let _ = result;
}

fn number(value: f64) -> String {
    match value.is_nan() {
        true => "nan".to_owned(),
        false => format!("{value:?}"),
    }
}

fn nested(message: Option<&'static Message>, bytes: &[u8], depth: usize, out: &mut String) {
    let Some(message) = message.filter(|_| depth < MAX_DEPTH) else {
        let _ = write!(out, ": \"{}\"", Escaped(bytes));
        return;
    };
    if bytes.is_empty() {
        out.push_str(" { }");
        return;
    }
    out.push_str(" {\n");
    if !(message.well_known == WellKnown::Any && packed(bytes, depth + 1, out)) {
        fields(bytes, message, depth + 1, out);
    }
    indent(depth, out);
    out.push('}');
}

/// Prints the message in an Any, if its type is known and its bytes are fields.
fn packed(bytes: &[u8], depth: usize, out: &mut String) -> bool {
    let mut url = "";
    let mut inner: &[u8] = &[];
    for item in WireFields::new(bytes) {
        match item.map(|item| (item.number, item.value)) {
            Ok((1, WireValue::Bytes(text))) => match std::str::from_utf8(text) {
                Ok(text) => url = text,
                Err(_) => return false,
            },
            Ok((2, WireValue::Bytes(bytes))) => inner = bytes,
            _ => return false,
        }
    }
    let in_brackets = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-');
    let Some((_, name)) = url.rsplit_once('/').filter(|_| url.chars().all(in_brackets)) else {
        return false;
    };
    let Some(message) = tables::message(name).filter(|_| WireFields::new(inner).all(|item| item.is_ok())) else {
        return false;
    };
    indent(depth, out);
    let _ = write!(out, "[{url}]");
    nested(Some(message), inner, depth, out);
    out.push('\n');
    true
}

/// Displays bytes as the contents of a string.
struct Escaped<'b>(&'b [u8]);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '"' | '\\' => write!(f, "\\{c}")?,
                    '\n' => f.write_str("\\n")?,
                    c if c.is_control() && c.is_ascii() => write!(f, "\\{:03o}", u32::from(c))?,
                    c => f.write_char(c)?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\{byte:03o}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the wire bytes of `depth` nested messages: a Permission in a Permission.Set in a
    /// Permission, and so on. Each is field 1 of the one around it.
    fn nested(depth: usize) -> Vec<u8> {
        let delimited = |bytes: Vec<u8>| {
            let mut out = vec![0x0a];
            let mut length = bytes.len();
            while length > 127 {
                out.push((length & 127) as u8 | 128);
                length >>= 7;
            }
            out.push(length as u8);
            out.extend(bytes);
            out
        };
        (0..depth).fold(Vec::new(), |inner, _| delimited(inner))
    }

    #[test]
    fn a_list_is_printed_as_far_as_it_is_checked() {
        let cluster = tables::message("envoy.config.endpoint.v3.ClusterLoadAssignment").unwrap();
        let lines = |localities: usize| {
            let text = print(&[&b"\x12\x00".repeat(localities)[..], b"\x0a\x01c"].concat(), cluster);
            let notes = text.lines().filter(|line| line.starts_with('#')).count();
            assert!(text.ends_with("cluster_name: \"c\"\n"), "what follows is printed");
            (text.lines().count() - 1 - notes, notes)
        };
        assert_eq!(lines(MAX_SHOWN), (MAX_SHOWN, 0));
        assert_eq!(lines(MAX_SHOWN + 2), (MAX_SHOWN, 1));
        assert_eq!(
            MAX_SHOWN,
            crate::proto::transcode::MAX_ELEMENTS,
            "as many as are checked"
        );
    }

    #[test]
    fn a_level_beyond_the_limit_is_indented_no_further() {
        let set = tables::message("envoy.config.rbac.v3.Permission.Set").unwrap();
        let indents = |depth: usize| -> Vec<usize> {
            let text = print(&nested(depth), set);
            let spaces = |line: &str| line.len() - line.trim_start().len();
            text.lines().map(spaces).collect()
        };
        let limit = 2 * MAX_INDENT;
        // One message at the limit, and one beyond it.
        assert_eq!(indents(MAX_INDENT + 1).iter().max(), Some(&limit));
        let deep = indents(100);
        assert_eq!(deep.iter().max(), Some(&limit));
        assert!(deep.len() > 150, "{}", deep.len());
        // The size grows by the same amount for each level: no level is larger because of those
        // around it.
        let size = |depth: usize| print(&nested(depth), set).len();
        assert_eq!(size(60) - size(50), size(50) - size(40));
    }
}
