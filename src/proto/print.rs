//! Wire bytes as protobuf JSON that reads back as the same message.
//!
//! Fields have their proto names, as Envoy prints them. What JSON cannot hold (an unknown field, a string that is not UTF-8, a
//! Duration beyond its range) would be lost and with it the client's verdict, so the Any around it becomes
//! `{"@type": ..., "@value": "base64"}`: its very bytes. The transcoder reads both.

mod mask;
mod scalar;
mod special;

use std::collections::HashSet;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use xdsctl_proto::tables::{self, Cardinality, Field, Kind, Message, WellKnown};

use crate::secret;
use crate::source::secrets::{Place, find};
use crate::source::wire::{Fields, Item, Value};
use mask::{REDACTED_BYTES, mask};
use scalar::{fits, fits_kind, unpack, zero};

pub use mask::redacted;
pub use scalar::quoted;

/// Messages inside messages that are printed as such, those in an Any counted.
const MAX_DEPTH: usize = 200;

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
    fn fields(&mut self, bytes: &[u8], message: &'static Message, is_first: bool) -> Result {
        let (mut is_sorted, mut last) = (true, 0);
        for item in Fields::new(bytes) {
            let Ok(item) = item else {
                self.inexact()?;
                break;
            };
            is_sorted &= item.number >= last;
            last = item.number;
        }
        let items = Fields::new(bytes).map_while(std::result::Result::ok);
        if is_sorted {
            return self.in_order(items, message, is_first);
        }
        // Fields may come in any order, the elements of a list among others.
        let mut items: Vec<Item<'_>> = items.collect();
        items.sort_by_key(|item| item.number);
        self.in_order(items.into_iter(), message, is_first)
    }

    /// Prints fields that come in the order of their numbers.
    fn in_order<'b>(
        &mut self,
        items: impl Iterator<Item = Item<'b>>,
        message: &'static Message,
        mut is_first: bool,
    ) -> Result {
        let mut open: Option<Open> = None;
        let mut before = 0;
        let mut oneofs: Vec<u16> = Vec::new();
        for item in items {
            let field = message.field(item.number).filter(|field| fits(field, item.value));
            let Some(field) = field else {
                self.inexact()?;
                continue;
            };
            let is_again = std::mem::replace(&mut before, item.number) == item.number;
            if !is_again && let Some(open) = open.take() {
                self.out.push(open.end());
            }
            if field.cardinality == Cardinality::Singular {
                if is_again {
                    // The last of scalars counts, messages are merged: both are left to those who read bytes.
                    self.inexact()?;
                    continue;
                }
                if let Some(oneof) = field.oneof {
                    if oneofs.contains(&oneof) {
                        self.inexact()?;
                    }
                    oneofs.push(oneof);
                }
                if !is_nothing(field, item.value) {
                    self.name(field, &mut is_first);
                    self.single(field, item.value)?;
                }
                continue;
            }
            if is_nothing(field, item.value) {
                continue;
            }
            let mut list = match open.take() {
                Some(list) => list,
                None => {
                    self.name(field, &mut is_first);
                    let list = Open::of(field);
                    self.out.push(list.start());
                    list
                }
            };
            match field.cardinality {
                Cardinality::Map { key, value } => self.entry(item.value, key, value, &mut list)?,
                Cardinality::Repeated | Cardinality::Singular => self.element(field, item.value, &mut list.is_empty)?,
            }
            open = Some(list);
        }
        if let Some(open) = open {
            self.out.push(open.end());
        }
        Ok(())
    }

    /// Prints the name of a field, and what stands around it.
    fn name(&mut self, field: &'static Field, is_first: &mut bool) {
        self.comma(is_first);
        self.out.push('"');
        self.out.push_str(field.name);
        self.out.push_str("\":");
    }

    fn element(&mut self, field: &'static Field, value: Value<'_>, is_first: &mut bool) -> Result {
        let is_long = matches!(field.kind, Kind::Message(_) | Kind::String | Kind::Bytes);
        let (Value::Bytes(mut packed), false) = (value, is_long) else {
            self.comma(is_first);
            return self.single(field, value);
        };
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

    /// Prints an entry of a map.
    fn entry(&mut self, entry: Value<'_>, key: Kind, value: Kind, map: &mut Open) -> Result {
        let Value::Bytes(entry) = entry else {
            return self.inexact();
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
        let mut is_first = map.is_empty;
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
        if !map.seen.insert(self.out.get(quoted..).unwrap_or_default().to_owned()) {
            self.out.truncate(start);
            return self.inexact();
        }
        map.is_empty = false;
        self.out.push(':');
        match (value.message(), inner) {
            (Some(message), Some(Value::Bytes(inner))) => self.value_of(inner, message),
            (Some(message), _) => self.value_of(b"", message),
            (None, Some(inner)) => self.scalar(value, inner, false),
            (None, None) => self.scalar(value, zero(value), false),
        }
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
        let (start, was_strict, depth) = (self.out.len(), self.is_strict, self.depth);
        self.is_strict = true;
        let result = self.opened(url, inner, message);
        if result.is_err() {
            self.out.truncate(start);
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

/// A list or a map that is being printed.
struct Open {
    is_map: bool,
    is_empty: bool,
    /// Keys of the map, quoted.
    seen: HashSet<String>,
}

impl Open {
    fn of(field: &Field) -> Open {
        Open {
            is_map: matches!(field.cardinality, Cardinality::Map { .. }),
            is_empty: true,
            seen: HashSet::new(),
        }
    }

    const fn start(&self) -> char {
        if self.is_map { '{' } else { '[' }
    }

    const fn end(&self) -> char {
        if self.is_map { '}' } else { ']' }
    }
}

/// Says whether a field has the value that it has where it is absent, and nobody can tell these apart.
fn is_nothing(field: &Field, value: Value<'_>) -> bool {
    match (field.cardinality, field.kind, value) {
        (Cardinality::Map { .. }, ..) | (_, Kind::Message(_), _) => false,
        (Cardinality::Repeated, Kind::String | Kind::Bytes, _) => false,
        // A packed list of nothing.
        (Cardinality::Repeated, _, value) => value == Value::Bytes(b""),
        _ if field.explicit_presence || field.oneof.is_some() => false,
        // What does not fit is cut off.
        (_, Kind::Enum(_) | Kind::Int32 | Kind::Uint32 | Kind::Sint32, Value::Varint(value)) => {
            value & 0xffff_ffff == 0
        }
        (_, _, value) => matches!(
            value,
            Value::Varint(0) | Value::Fixed32(0) | Value::Fixed64(0) | Value::Bytes(b"")
        ),
    }
}

#[cfg(test)]
mod tests;
