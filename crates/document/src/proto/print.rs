//! Wire bytes as protobuf JSON that reads back as the same message.
//!
//! Fields have their proto names, as Envoy prints them. What JSON cannot hold (an unknown field, a
//! string that is not UTF-8, a Duration beyond its range) would be lost and with it the client's
//! verdict, so the Any around it becomes `{"@type": ..., "@value": "base64"}`: its very bytes. The
//! transcoder reads both.

mod any;
mod layout;
mod mask;
mod scalar;
mod special;

use std::borrow::Cow;
use std::collections::HashSet;

use xdsctl_proto::tables::{self, Cardinality, Field, Kind, Message, WellKnown};

use crate::secret;
use crate::source::secrets::peer_words;
use crate::source::wire::{Item, WireFields, WireValue, unpack};
use layout::Start;
use mask::REDACTED_BYTES;
use scalar::zero;

pub use mask::{redacted, redacted_at};
pub use scalar::quoted;
pub(crate) use special::TIMESTAMP_SECONDS;

/// Messages inside messages that are printed as such, those in an Any counted.
const MAX_DEPTH: usize = 200;

/// The bytes are not what JSON can hold.
struct Inexact;

type Result = std::result::Result<(), Inexact>;

/// Prints messages one after the other, in one pass from their bytes to text.
#[derive(Debug, Default)]
pub struct Printer {
    /// What was printed, UTF-8; the owner may take it away between messages.
    pub out: Vec<u8>,
    /// What is not known to be harmless is masked.
    redacts: bool,
    /// Each field and element has a line of its own.
    has_lines: bool,
    /// Brackets that are open.
    level: usize,
    /// What cannot be printed makes the Any around it bytes; otherwise it is left out.
    is_strict: bool,
    depth: usize,
    /// Any messages that were printed without some of their bytes, which may have held a secret.
    lossy: usize,
    /// How many values were masked.
    masked: usize,
    /// Fields around what is being printed whose text is looked through for secrets when it is
    /// complete.
    veils: usize,
}

impl Printer {
    /// A printer; with `redacts` it masks secrets, by their place in the message and by their
    /// looks.
    pub fn new(redacts: bool) -> Printer {
        Printer {
            redacts,
            ..Printer::default()
        }
    }

    /// The same, with a line for each field and element, as Envoy prints.
    #[must_use]
    pub const fn with_lines(mut self) -> Printer {
        self.has_lines = true;
        self
    }

    /// The text that was printed so far.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.out)
    }

    /// How many resources were printed without some of their bytes, because they hold secrets and
    /// what JSON cannot hold.
    pub const fn lossy(&self) -> usize {
        self.lossy
    }

    /// Prints a message of the type of this name, see [`message`](Self::message); false for a type
    /// that is not known.
    pub fn named(&mut self, bytes: &[u8], type_name: &str) -> bool {
        let message = tables::message(type_name);
        if let Some(message) = message {
            self.message(bytes, message);
        }
        message.is_some()
    }

    /// Prints the message; fields that are not known, or cannot be read, are left out where no Any
    /// is around them.
    ///
    /// ```
    /// use xdsctl_document::proto::{pb::tables, print::Printer};
    /// let cluster = tables::message("envoy.config.cluster.v3.Cluster").unwrap();
    /// let mut printer = Printer::new(false);
    /// printer.message(b"\x0a\x01a\x10\x03\x22\x02\x08\x05", cluster);
    /// assert_eq!(printer.out, br#"{"name":"a","type":"EDS","connect_timeout":"5s"}"#);
    /// ```
    pub fn message(&mut self, bytes: &[u8], message: &'static Message) {
        self.is_strict = false;
        (self.depth, self.level, self.veils) = (0, 0, 0);
        let _ = self.value_of(bytes, message);
    }

    /// JSON cannot hold what stands here.
    const fn inexact(&self) -> Result {
        if self.is_strict { Err(Inexact) } else { Ok(()) }
    }

    /// Prints a message in its JSON form.
    fn value_of(&mut self, bytes: &[u8], message: &'static Message) -> Result {
        if self.depth >= MAX_DEPTH {
            self.out.extend_from_slice(b"{}");
            return self.inexact();
        }
        self.depth += 1;
        let result = match message.well_known {
            WellKnown::None | WellKnown::Empty => {
                self.open(b'{');
                let mut start = Start::First;
                let result = self.fields(bytes, message, &mut start);
                self.close(b'}', start == Start::First);
                result
            }
            WellKnown::Any => self.any(bytes),
            _ => self.special(bytes, message),
        };
        self.depth -= 1;
        result
    }

    /// Prints the fields of a message, without braces.
    fn fields(&mut self, bytes: &[u8], message: &'static Message, start: &mut Start) -> Result {
        let (mut is_sorted, mut last) = (true, 0);
        for item in WireFields::new(bytes) {
            let Ok(item) = item else {
                self.inexact()?;
                break;
            };
            is_sorted &= item.number >= last;
            last = item.number;
        }
        let items = WireFields::new(bytes).map_while(std::result::Result::ok);
        if is_sorted {
            return self.in_order(items, message, start);
        }
        // Fields may come in any order, the elements of a list among others.
        let mut items: Vec<Item<'_>> = items.collect();
        items.sort_by_key(|item| item.number);
        self.in_order(items.into_iter(), message, start)
    }

    /// Prints fields that come in the order of their numbers.
    fn in_order<'b>(
        &mut self,
        items: impl Iterator<Item = Item<'b>>,
        message: &'static Message,
        start: &mut Start,
    ) -> Result {
        let mut open: Option<Open> = None;
        let mut before = 0;
        // A bit for each; no message has more of them (tests).
        let mut oneofs = 0_u64;
        for item in items {
            let field = message.field(item.number).filter(|field| item.value.fits(field));
            let Some(field) = field else {
                self.inexact()?;
                continue;
            };
            let is_again = std::mem::replace(&mut before, item.number) == item.number;
            if !is_again && let Some(open) = open.take() {
                self.end(open, message);
            }
            if field.cardinality == Cardinality::Singular {
                if is_again {
                    // The last of scalars counts, messages are merged: both are left to those who
                    // read bytes.
                    self.inexact()?;
                    continue;
                }
                if let Some(oneof) = field.oneof {
                    let bit = 1_u64.wrapping_shl(oneof.into());
                    if oneofs & bit != 0 {
                        self.inexact()?;
                    }
                    oneofs |= bit;
                }
                if !is_nothing(field, item.value) {
                    self.name(field, start);
                    let veil = self.veil(field);
                    self.single(field, item.value)?;
                    self.unveil(veil, message, field);
                }
                continue;
            }
            if is_nothing(field, item.value) {
                continue;
            }
            let mut list = match open.take() {
                Some(list) => list,
                None => {
                    self.name(field, start);
                    let veil = self.veil(field);
                    let list = Open::of(field, veil);
                    self.open(list.brackets().0);
                    list
                }
            };
            match field.cardinality {
                Cardinality::Map { key, value } => self.entry(item.value, key, value, &mut list)?,
                Cardinality::Repeated | Cardinality::Singular => self.element(field, item.value, &mut list.start)?,
            }
            open = Some(list);
        }
        if let Some(open) = open {
            self.end(open, message);
        }
        Ok(())
    }

    /// Prints the end of a list or map.
    fn end(&mut self, open: Open, message: &'static Message) {
        self.close(open.brackets().1, open.start == Start::First);
        self.unveil(open.veil, message, open.field);
    }

    fn element(&mut self, field: &'static Field, value: WireValue<'_>, start: &mut Start) -> Result {
        let is_long = matches!(field.kind, Kind::Message(_) | Kind::String | Kind::Bytes);
        let (WireValue::Bytes(mut packed), false) = (value, is_long) else {
            self.next(start);
            return self.single(field, value);
        };
        while !packed.is_empty() {
            let Some((element, rest)) = unpack(field.kind, packed) else {
                return self.inexact();
            };
            packed = rest;
            self.next(start);
            self.single(field, element)?;
        }
        Ok(())
    }

    /// Prints an entry of a map.
    fn entry(&mut self, entry: WireValue<'_>, key: Kind, value: Kind, map: &mut Open) -> Result {
        let WireValue::Bytes(entry) = entry else {
            return self.inexact();
        };
        let (mut name, mut inner) = (None, None);
        for item in WireFields::new(entry) {
            match item {
                Ok(item) if item.number == 1 && item.value.is_of(key) => name = Some(item.value),
                Ok(item) if item.number == 2 && item.value.is_of(value) => inner = Some(item.value),
                _ => self.inexact()?,
            }
        }
        let from = self.out.len();
        let mut start = map.start;
        self.next(&mut start);
        let quoted = self.out.len();
        match (key, name) {
            (Kind::String, name) => self.bare_text(name.unwrap_or(WireValue::Bytes(b"")))?,
            (_, name) => {
                self.out.push(b'"');
                self.scalar(key, name.unwrap_or(WireValue::Varint(0)), true)?;
                self.out.push(b'"');
            }
        }
        // Two keys may look the same once they are masked.
        if !map.seen.insert(self.out.get(quoted..).unwrap_or_default().to_owned()) {
            self.out.truncate(from);
            return self.inexact();
        }
        self.looks(quoted);
        map.start = Start::Later;
        self.colon();
        match (value.message(), inner) {
            (Some(message), Some(WireValue::Bytes(inner))) => self.value_of(inner, message),
            (Some(message), _) => self.value_of(b"", message),
            (None, Some(inner)) => self.scalar(value, inner, false),
            (None, None) => self.scalar(value, zero(value), false),
        }
    }

    fn single(&mut self, field: &'static Field, value: WireValue<'_>) -> Result {
        match (field.kind.message(), value) {
            (Some(message), WireValue::Bytes(bytes)) => self.value_of(bytes, message),
            _ if self.redacts && !field.shown => {
                let words;
                let masked = match field.kind {
                    Kind::String if field.name == "details" => {
                        let WireValue::Bytes(text) = value else {
                            return self.inexact();
                        };
                        words = peer_words(&String::from_utf8_lossy(text));
                        &words
                    }
                    Kind::String => secret::REDACTED,
                    Kind::Bytes => REDACTED_BYTES,
                    _ => return self.scalar(field.kind, value, false),
                };
                self.masked += 1;
                quoted(&mut self.out, masked);
                Ok(())
            }
            _ => self.scalar(field.kind, value, false),
        }
    }
}

/// A list or a map that is being printed.
struct Open {
    field: &'static Field,
    start: Start,
    /// Keys of the map, quoted.
    seen: HashSet<Vec<u8>>,
    /// See [`Printer::veil`].
    veil: Option<usize>,
}

impl Open {
    fn of(field: &'static Field, veil: Option<usize>) -> Open {
        Open {
            field,
            start: Start::First,
            seen: HashSet::new(),
            veil,
        }
    }

    const fn brackets(&self) -> (u8, u8) {
        match self.field.cardinality {
            Cardinality::Map { .. } => (b'{', b'}'),
            Cardinality::Repeated | Cardinality::Singular => (b'[', b']'),
        }
    }
}

/// Says whether a field has the value that it has where it is absent, and nobody can tell these
/// apart.
fn is_nothing(field: &Field, value: WireValue<'_>) -> bool {
    match (field.cardinality, field.kind, value) {
        (Cardinality::Map { .. }, ..) | (_, Kind::Message(_), _) => false,
        (Cardinality::Repeated, Kind::String | Kind::Bytes, _) => false,
        // A packed list of nothing.
        (Cardinality::Repeated, _, value) => value == WireValue::Bytes(b""),
        _ if field.explicit_presence || field.oneof.is_some() => false,
        // What does not fit is cut off.
        (_, Kind::Enum(_) | Kind::Int32 | Kind::Uint32 | Kind::Sint32, WireValue::Varint(value)) => {
            value & 0xffff_ffff == 0
        }
        (_, _, value) => matches!(
            value,
            WireValue::Varint(0) | WireValue::Fixed32(0) | WireValue::Fixed64(0) | WireValue::Bytes(b"")
        ),
    }
}

#[cfg(test)]
mod tests;
