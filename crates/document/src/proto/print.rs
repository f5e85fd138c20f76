//! Prints wire bytes as protobuf JSON that can be read back as the same message.
//!
//! Fields have their proto names, as in Envoy's output. JSON cannot express an unknown field, a
//! string that is not UTF-8, or a Duration out of range. To leave them out could change the
//! client's verdict, so the Any around them is printed as its bytes: `{"@type": ..., "@value":
//! "base64"}`. The transcoder reads both forms.

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

/// The number of nested messages that are printed as messages, across every Any.
const MAX_DEPTH: usize = 200;

/// The error that JSON cannot express the bytes.
struct Inexact;

type Result = std::result::Result<(), Inexact>;

/// Prints messages one after the other, in one pass from their bytes to text.
#[derive(Debug, Default)]
pub struct Printer {
    /// The text printed so far, in UTF-8. The owner may take it away between messages.
    pub out: Vec<u8>,
    /// Whether values that are not known to be harmless are masked.
    redacts: bool,
    /// Whether each field and element is printed on a line of its own.
    has_lines: bool,
    /// The number of open brackets.
    level: usize,
    /// Whether a value that JSON cannot express fails, so that the Any around it is printed as
    /// bytes. Otherwise the value is left out.
    is_strict: bool,
    depth: usize,
    /// The number of Any messages that were printed without some of their bytes, which may have
    /// held a secret.
    lossy: usize,
    /// The number of masked values.
    masked: usize,
    /// The number of fields around the current value whose text is searched for secrets when it is
    /// complete.
    veils: usize,
}

impl Printer {
    /// Returns a printer. With `redacts`, it masks secrets, which it recognises by their place in
    /// the message and by their form.
    pub fn new(redacts: bool) -> Printer {
        Printer {
            redacts,
            ..Printer::default()
        }
    }

    /// Makes the printer put each field and element on a line of its own, as Envoy does.
    #[must_use]
    pub const fn with_lines(mut self) -> Printer {
        self.has_lines = true;
        self
    }

    /// Returns the text that was printed so far.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.out)
    }

    /// Returns how many Any messages were printed without some of their bytes, because they may
    /// hold secrets together with values that JSON cannot express.
    pub const fn lossy(&self) -> usize {
        self.lossy
    }

    /// Prints a message of the type `type_name`; see [`message`](Self::message). Returns false if
    /// the type is not known.
    pub fn named(&mut self, bytes: &[u8], type_name: &str) -> bool {
        let message = tables::message(type_name);
        if let Some(message) = message {
            self.message(bytes, message);
        }
        message.is_some()
    }

    /// Prints the message. Outside of an Any, fields that are unknown or cannot be read are left
    /// out.
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

    /// Fails in a strict printer: JSON cannot express the current value.
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
        // Fields may come in any order, even between the elements of a list.
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
        // One bit for each oneof. A test checks that no message has more oneofs than bits.
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
                    // For a scalar, the last value counts; messages are merged. Only a parser of
                    // the bytes can do both.
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
    /// The quoted keys of the map so far.
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

/// Says whether the value is the default of the field, and the client cannot tell it from an absent
/// field.
fn is_nothing(field: &Field, value: WireValue<'_>) -> bool {
    match (field.cardinality, field.kind, value) {
        (Cardinality::Map { .. }, ..) | (_, Kind::Message(_), _) => false,
        (Cardinality::Repeated, Kind::String | Kind::Bytes, _) => false,
        // A packed list without elements.
        (Cardinality::Repeated, _, value) => value == WireValue::Bytes(b""),
        _ if field.explicit_presence || field.oneof.is_some() => false,
        // The parser drops the bits that do not fit.
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
