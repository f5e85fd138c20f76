//! Wire bytes as protobuf JSON that reads back as the same message.
//!
//! Fields have their proto names, as Envoy prints them. What JSON cannot hold (an unknown field, a string that is not UTF-8, a
//! Duration beyond its range) would be lost and with it the client's verdict, so the Any around it becomes
//! `{"@type": ..., "@value": "base64"}`: its very bytes. The transcoder reads both.

mod special;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use xdsctl_proto::tables::{self, Cardinality, Field, Kind, Message, WellKnown};

use crate::secret::{self, Looks};
use crate::source::secrets::{Place, find};
use crate::source::wire::{Fields, Item, Value};

/// Messages inside messages that are printed as such, those in an Any counted.
const MAX_DEPTH: usize = 200;

/// `[redacted]` as the value of a bytes field.
const REDACTED_BYTES: &str = "W3JlZGFjdGVkXQ==";

/// The bytes are not what JSON can hold.
struct Inexact;

type Result = std::result::Result<(), Inexact>;

/// Prints messages one after the other.
#[derive(Debug, Default)]
pub struct Printer {
    /// What was printed; the owner may take it away between messages.
    pub out: String,
    /// Secrets are masked.
    redacts: bool,
    /// What cannot be printed makes the Any around it bytes; otherwise it is left out.
    is_strict: bool,
    depth: usize,
    /// Any messages that were printed without some of their bytes, which may have held a secret.
    lossy: usize,
    /// Fields of the messages that are being printed, the innermost last.
    items: Vec<(u32, Range<usize>)>,
    /// Places in `out` of bytes that are printed on purpose.
    packed: Vec<Range<usize>>,
}

impl Printer {
    /// A printer; with `redacts` it masks secrets, by their place in the message and by their looks.
    pub fn new(redacts: bool) -> Printer {
        Printer {
            redacts,
            ..Printer::default()
        }
    }

    /// How many resources were printed without some of their bytes, because they hold secrets and what JSON cannot hold.
    pub const fn lossy(&self) -> usize {
        self.lossy
    }

    /// Prints a message of the type of this name, see [`message`](Self::message); false for a type that is not known.
    pub fn named(&mut self, bytes: &[u8], type_name: &str) -> bool {
        let message = tables::message(type_name);
        if let Some(message) = message {
            self.message(bytes, message);
        }
        message.is_some()
    }

    /// Prints the message; fields that are not known, or cannot be read, are left out where no Any is around them.
    ///
    /// ```
    /// use xdsctl::proto::{pb::tables, print::Printer};
    /// let cluster = tables::message("envoy.config.cluster.v3.Cluster").unwrap();
    /// let mut printer = Printer::new(false);
    /// printer.message(b"\x0a\x01a\x10\x03\x22\x02\x08\x05", cluster);
    /// assert_eq!(printer.out, r#"{"name":"a","type":"EDS","connect_timeout":"5s"}"#);
    /// ```
    pub fn message(&mut self, bytes: &[u8], message: &'static Message) {
        let start = self.out.len();
        self.is_strict = false;
        self.depth = 0;
        self.packed.clear();
        let _ = self.value_of(bytes, message);
        if self.redacts {
            self.redact(start, message);
        }
    }

    /// Masks the secrets of the message that was printed from `start` on.
    fn redact(&mut self, start: usize, message: &'static Message) {
        let mut text = std::mem::take(&mut self.out).into_bytes();
        mask(&mut text, start, Place::root(Some(message)), &self.packed);
        // What is masked begins and ends at ASCII characters or includes whole ones.
        self.out =
            String::from_utf8(text).unwrap_or_else(|bytes| String::from_utf8_lossy(bytes.as_bytes()).into_owned());
    }

    /// JSON cannot hold what stands here.
    const fn inexact(&self) -> Result {
        if self.is_strict { Err(Inexact) } else { Ok(()) }
    }

    /// Prints a message in its JSON form.
    fn value_of(&mut self, bytes: &[u8], message: &'static Message) -> Result {
        if self.depth >= MAX_DEPTH {
            self.out.push_str("{}");
            return self.inexact();
        }
        self.depth += 1;
        let result = match message.well_known {
            WellKnown::None | WellKnown::Empty => {
                self.out.push('{');
                let result = self.fields(bytes, message, true);
                self.out.push('}');
                result
            }
            WellKnown::Any => self.any(bytes),
            _ => self.special(bytes, message),
        };
        self.depth -= 1;
        result
    }

    /// Prints the fields of a message, without braces.
    fn fields(&mut self, bytes: &[u8], message: &'static Message, mut is_first: bool) -> Result {
        let from = self.items.len();
        let mut is_sorted = true;
        let mut last = 0;
        for item in Fields::new(bytes) {
            let Ok(item) = item else {
                self.inexact()?;
                break;
            };
            if message.field(item.number).is_none_or(|field| !fits(field, item.value)) {
                self.inexact()?;
                continue;
            }
            is_sorted &= item.number >= last;
            last = item.number;
            self.items.push((item.number, item.start..item.end));
        }
        if !is_sorted {
            // Fields may come in any order, the elements of a list among others.
            self.items
                .get_mut(from..)
                .unwrap_or_default()
                .sort_by_key(|(number, _)| *number);
        }
        let to = self.items.len();
        let mut oneofs: Vec<u16> = Vec::new();
        let mut at = from;
        while at < to {
            let number = self.items.get(at).map_or(0, |(number, _)| *number);
            let list = self.items.get(at..to).unwrap_or_default();
            let end = at + list.iter().take_while(|(other, _)| *other == number).count();
            if let Some(field) = message.field(number) {
                if let Some(oneof) = field.oneof {
                    if oneofs.contains(&oneof) {
                        self.inexact()?;
                    }
                    oneofs.push(oneof);
                }
                if !self.is_nothing(bytes, field, at..end) {
                    if !std::mem::take(&mut is_first) {
                        self.out.push(',');
                    }
                    let _ = write!(self.out, "\"{}\":", field.name);
                    self.field(bytes, field, at..end)?;
                }
            }
            at = end;
        }
        self.items.truncate(from);
        Ok(())
    }

    /// Says whether the field has the value that it has where it is absent, and nobody can tell these apart.
    fn is_nothing(&self, bytes: &[u8], field: &'static Field, items: Range<usize>) -> bool {
        if field.cardinality == Cardinality::Repeated
            && !matches!(field.kind, Kind::Message(_) | Kind::String | Kind::Bytes)
        {
            // A packed list of nothing.
            return items.into_iter().all(|index| {
                self.item(bytes, index)
                    .is_some_and(|item| item.value == Value::Bytes(b""))
            });
        }
        let is_plain = field.cardinality == Cardinality::Singular && !field.explicit_presence && field.oneof.is_none();
        let item = self.item(bytes, items.start).filter(|_| is_plain && items.len() == 1);
        item.is_some_and(|item| match (field.kind, item.value) {
            (Kind::Message(_), _) => false,
            // What does not fit is cut off.
            (Kind::Enum(_) | Kind::Int32 | Kind::Uint32 | Kind::Sint32, Value::Varint(value)) => {
                value & 0xffff_ffff == 0
            }
            (_, value) => matches!(
                value,
                Value::Varint(0) | Value::Fixed32(0) | Value::Fixed64(0) | Value::Bytes(b"")
            ),
        })
    }

    /// The item at an index of `items`.
    fn item<'b>(&self, bytes: &'b [u8], index: usize) -> Option<Item<'b>> {
        let (_, range) = self.items.get(index)?;
        Fields::new(bytes.get(range.clone())?).next()?.ok()
    }

    fn field(&mut self, bytes: &[u8], field: &'static Field, items: Range<usize>) -> Result {
        match field.cardinality {
            Cardinality::Singular => {
                if items.len() > 1 {
                    // The last of scalars counts; messages are merged, which is left to those who read bytes.
                    self.inexact()?;
                }
                match self.item(bytes, items.end - 1) {
                    Some(item) => self.single(field, item.value),
                    None => Ok(()),
                }
            }
            Cardinality::Repeated => {
                self.out.push('[');
                let mut is_first = true;
                for index in items {
                    if let Some(item) = self.item(bytes, index) {
                        self.element(field, item.value, &mut is_first)?;
                    }
                }
                self.out.push(']');
                Ok(())
            }
            Cardinality::Map { key, value } => self.map(bytes, key, value, items),
        }
    }

    fn element(&mut self, field: &'static Field, value: Value<'_>, is_first: &mut bool) -> Result {
        let is_long = matches!(field.kind, Kind::Message(_) | Kind::String | Kind::Bytes);
        let Value::Bytes(mut packed) = value else {
            self.comma(is_first);
            return self.single(field, value);
        };
        if is_long {
            self.comma(is_first);
            return self.single(field, value);
        }
        while !packed.is_empty() {
            let Some((element, rest)) = unpack(field.kind, packed) else {
                return self.inexact();
            };
            packed = rest;
            self.comma(is_first);
            self.single(field, element)?;
        }
        Ok(())
    }

    fn comma(&mut self, is_first: &mut bool) {
        if !std::mem::take(is_first) {
            self.out.push(',');
        }
    }

    fn map(&mut self, bytes: &[u8], key: Kind, value: Kind, items: Range<usize>) -> Result {
        let mut seen = HashSet::new();
        self.out.push('{');
        let mut is_first = true;
        for index in items {
            let Some(Value::Bytes(entry)) = self.item(bytes, index).map(|item| item.value) else {
                continue;
            };
            let (mut name, mut inner) = (None, None);
            for item in Fields::new(entry) {
                match item {
                    Ok(item) if item.number == 1 && fits_kind(key, item.value) => name = Some(item.value),
                    Ok(item) if item.number == 2 && fits_kind(value, item.value) => inner = Some(item.value),
                    _ => self.inexact()?,
                }
            }
            let start = self.out.len();
            self.comma(&mut is_first);
            let quoted = self.out.len();
            match (key, name) {
                (Kind::String, name) => self.scalar(key, name.unwrap_or(Value::Bytes(b"")), false)?,
                (_, name) => {
                    self.out.push('"');
                    self.scalar(key, name.unwrap_or(Value::Varint(0)), true)?;
                    self.out.push('"');
                }
            }
            if !seen.insert(self.out.get(quoted..).unwrap_or_default().to_owned()) {
                self.out.truncate(start);
                self.inexact()?;
                continue;
            }
            self.out.push(':');
            match (value.message(), inner) {
                (Some(message), Some(Value::Bytes(inner))) => self.value_of(inner, message)?,
                (Some(message), _) => self.value_of(b"", message)?,
                (None, Some(inner)) => self.scalar(value, inner, false)?,
                (None, None) => self.scalar(value, zero(value), false)?,
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn single(&mut self, field: &'static Field, value: Value<'_>) -> Result {
        match (field.kind.message(), value) {
            (Some(message), Value::Bytes(bytes)) => self.value_of(bytes, message),
            _ if self.redacts && field.secret => {
                let masked = match field.kind {
                    Kind::String => secret::REDACTED,
                    Kind::Bytes => REDACTED_BYTES,
                    _ => return self.scalar(field.kind, value, false),
                };
                quoted(&mut self.out, masked);
                Ok(())
            }
            _ => self.scalar(field.kind, value, false),
        }
    }

    /// Prints a scalar; `is_bare` without quotes, as a key that has them around it.
    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_possible_truncation,
        reason = "two's complement is what the wire has"
    )]
    fn scalar(&mut self, kind: Kind, value: Value<'_>, is_bare: bool) -> Result {
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
            (Kind::Bool, Value::Varint(value)) => write!(out, "{}", value != 0),
            (Kind::Enum(_), Value::Varint(value)) => {
                match kind.enumeration().and_then(|item| item.name(value as i32)) {
                    Some(name) => write!(out, "\"{name}\""),
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

    /// Prints an Any: opened, if its type is known and all of its bytes can be read back, or else as its bytes.
    fn any(&mut self, bytes: &[u8]) -> Result {
        let (mut url, mut inner): (&[u8], &[u8]) = (b"", b"");
        for item in Fields::new(bytes) {
            match item.map(|item| (item.number, item.value)) {
                Ok((1, Value::Bytes(text))) => url = text,
                Ok((2, Value::Bytes(bytes))) => inner = bytes,
                _ => self.inexact()?,
            }
        }
        let Ok(url) = std::str::from_utf8(url) else {
            self.out.push_str("{}");
            return self.inexact();
        };
        if url.is_empty() && inner.is_empty() {
            self.out.push_str("{}");
            return Ok(());
        }
        let name = url.rsplit_once('/').map_or(url, |(_, name)| name);
        let Some(message) = tables::message(name) else {
            self.bytes_of(url, if self.redacts { b"[redacted]" } else { inner });
            return Ok(());
        };
        let (start, from, was_strict, depth) = (self.out.len(), self.items.len(), self.is_strict, self.depth);
        self.is_strict = true;
        let result = self.opened(url, inner, message);
        if result.is_err() {
            self.out.truncate(start);
            self.items.truncate(from);
            self.depth = depth;
            if self.redacts && self.may_hide(url, inner, message) {
                self.lossy += 1;
            } else {
                self.out.truncate(start);
                self.bytes_of(url, inner);
            }
        }
        self.is_strict = was_strict;
        Ok(())
    }

    fn opened(&mut self, url: &str, inner: &[u8], message: &'static Message) -> Result {
        self.out.push_str("{\"@type\":");
        quoted(&mut self.out, url);
        if message.well_known == WellKnown::None {
            self.fields(inner, message, false)?;
        } else if message.well_known != WellKnown::Empty || !inner.is_empty() {
            self.out.push_str(",\"value\":");
            self.value_of(inner, message)?;
        }
        self.out.push('}');
        Ok(())
    }

    /// Prints what can be printed of a message with unprintable bytes; says whether a secret is, or may be, in the bytes.
    fn may_hide(&mut self, url: &str, inner: &[u8], message: &'static Message) -> bool {
        let start = self.out.len();
        self.is_strict = false;
        let _ = self.opened(url, inner, message);
        let has_secret = !find(self.out.as_bytes(), start, Place::root(Some(message))).is_empty();
        has_secret
            || matches!(
                secret::hide(&String::from_utf8_lossy(inner)),
                std::borrow::Cow::Owned(_)
            )
    }

    fn bytes_of(&mut self, url: &str, inner: &[u8]) {
        self.out.push_str("{\"@type\":");
        quoted(&mut self.out, url);
        self.out.push_str(",\"@value\":\"");
        let start = self.out.len();
        STANDARD.encode_string(inner, &mut self.out);
        self.packed.push(start..self.out.len());
        self.out.push_str("\"}");
    }
}

/// Masks the secrets in the JSON text of a message of this type.
///
/// ```
/// let text = br#"{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.SecretsConfigDump", "static_secrets":
///     [{"secret": {"name": "s", "generic_secret": {"secret": {"inline_string": "abc"}}}}]}]}"#;
/// let masked = xdsctl::proto::print::redacted(text.to_vec(), "envoy.admin.v3.ConfigDump");
/// assert!(String::from_utf8(masked).unwrap().contains(r#""inline_string": "[redacted]""#));
/// ```
pub fn redacted(mut text: Vec<u8>, type_name: &str) -> Vec<u8> {
    mask(&mut text, 0, Place::root(tables::message(type_name)), &[]);
    text
}

/// Masks the secrets in the JSON value at `start`, by their looks and by their places; not those in `kept`.
fn mask(text: &mut Vec<u8>, start: usize, place: Place, kept: &[Range<usize>]) {
    let mut at = start;
    for kept in kept {
        Looks::default().mask(text.get_mut(at..kept.start).unwrap_or_default());
        at = kept.end;
    }
    Looks::default().mask(text.get_mut(at..).unwrap_or_default());
    let is_kept = |range: &Range<usize>| {
        kept.iter()
            .any(|kept| kept.start <= range.start && range.end <= kept.end)
    };
    let mut out = Vec::new();
    let mut at = 0;
    for range in find(text, start, place).into_iter().map(|span| span.range()) {
        let secret = text.get(range.clone()).unwrap_or_default();
        let is_masked =
            secret.is_empty() || secret == secret::REDACTED.as_bytes() || secret == REDACTED_BYTES.as_bytes();
        if range.start < at || is_masked || is_kept(&range) {
            continue;
        }
        let is_text = text.get(range.start.wrapping_sub(1)) == Some(&b'"');
        out.extend_from_slice(text.get(at..range.start).unwrap_or_default());
        out.extend_from_slice(if is_text { secret::REDACTED.as_bytes() } else { b"0" });
        at = range.end;
    }
    if at > 0 {
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        *text = out;
    }
}

/// Appends a JSON string.
pub fn quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' && byte != 0x7f {
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
const fn zero(kind: Kind) -> Value<'static> {
    match kind {
        Kind::String | Kind::Bytes | Kind::Message(_) => Value::Bytes(b""),
        Kind::Fixed32 | Kind::Sfixed32 | Kind::Float => Value::Fixed32(0),
        Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => Value::Fixed64(0),
        _ => Value::Varint(0),
    }
}

/// Says whether a value has the wire type of the field; a list of numbers may be packed.
fn fits(field: &Field, value: Value<'_>) -> bool {
    fits_kind(field.kind, value)
        || matches!(value, Value::Bytes(_)) && field.cardinality == Cardinality::Repeated
        || matches!(value, Value::Bytes(_)) && matches!(field.cardinality, Cardinality::Map { .. })
}

const fn fits_kind(kind: Kind, value: Value<'_>) -> bool {
    match kind {
        Kind::Message(_) | Kind::String | Kind::Bytes => matches!(value, Value::Bytes(_)),
        Kind::Fixed32 | Kind::Sfixed32 | Kind::Float => matches!(value, Value::Fixed32(_)),
        Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => matches!(value, Value::Fixed64(_)),
        _ => matches!(value, Value::Varint(_)),
    }
}

/// Takes one element off a packed list.
fn unpack(kind: Kind, packed: &[u8]) -> Option<(Value<'_>, &[u8])> {
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

#[cfg(test)]
mod tests;
