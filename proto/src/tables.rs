//! The descriptor set as static tables.
//!
//! Messages and enums refer to each other by index into [`MESSAGES`] and [`ENUMS`], both sorted by full name.
//! Map entries are messages of their own, as in a descriptor set.

use std::sync::LazyLock;

use foldhash::HashMap;

/// A message type.
#[derive(Debug)]
pub struct Message {
    /// `envoy.config.cluster.v3.Cluster`; no leading dot.
    pub full_name: &'static str,
    /// JSON form other than an object of fields.
    pub well_known: WellKnown,
    /// Who reads the message, after `reads.txt`.
    pub listed: Listed,
    /// False: the reference client was built without this message.
    pub known_to_client: bool,
    /// The generated Rust types keep a message of this type as its bytes, to be decoded by those who look into it.
    pub lazy: bool,
    /// The families that do not know the message; see [`Field::read_in`].
    pub unknown_in: u8,
    /// Synthetic entry of a map field.
    pub map_entry: bool,
    /// Names of the oneofs, [`Field::oneof`] points here.
    pub oneofs: &'static [&'static str],
    /// Proto name and JSON name of each field with its position in `fields`, sorted by name.
    pub by_name: &'static [(&'static str, u16)],
    /// Sorted by number.
    pub fields: &'static [Field],
}

/// A field of a message.
#[derive(Debug)]
pub struct Field {
    /// Number on the wire, 1 to 2^29 - 1.
    pub number: u32,
    /// Name in the proto file.
    pub name: &'static str,
    /// lowerCamelCase name.
    pub json_name: &'static str,
    /// Type of a value; for a map the entry message.
    pub kind: Kind,
    /// One, many, or a map.
    pub cardinality: Cardinality,
    /// Position in [`Message::oneofs`]; `None` for the synthetic oneof of a proto3 `optional`.
    pub oneof: Option<u16>,
    /// gRPC reads the field, or looks whether it is present.
    pub read: bool,
    /// C-core's converter decides over the field: it reads it, or a member of the same oneof. Also what xdsctl reads for itself.
    pub judged: bool,
    /// The families that read the field although C-core does not: a bit for each, in the order C-core, Go, Java, Node.
    pub read_in: u8,
    /// The families that do not read the field although C-core does.
    pub unread_in: u8,
    /// The generated Rust type has the field: it is judged, or read by another client.
    pub generated: bool,
    /// False: an unknown field for the reference client, whose bytes it does not look into.
    pub known_to_client: bool,
    /// Absent and zero are different.
    pub explicit_presence: bool,
    /// Declared deprecated.
    pub deprecated: bool,
    /// What stands in it may be printed: a text, the keys of a map (`harmless.txt`). If not, nothing below it may.
    pub shown: bool,
}

/// Who reads a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// Nobody looks inside.
    No,
    /// gRPC reads it.
    Client,
    /// Only xdsctl does, to unwrap what a control plane or an admin endpoint sent.
    Loader,
}

/// Type of a single value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Double,
    Float,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Bool,
    String,
    Bytes,
    /// Index into [`ENUMS`].
    Enum(u16),
    /// Index into [`MESSAGES`].
    Message(u16),
}

/// How many values a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cardinality {
    Singular,
    Repeated,
    Map { key: Kind, value: Kind },
}

/// Messages that protobuf JSON writes in a form of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WellKnown {
    None,
    Any,
    Struct,
    Value,
    ListValue,
    Duration,
    Timestamp,
    FieldMask,
    Empty,
    /// `UInt32Value` and its like, with the kind of the wrapped value (field 1).
    Wrapper(Kind),
}

/// An enum type.
#[derive(Debug)]
pub struct Enum {
    /// `envoy.config.cluster.v3.Cluster.LbPolicy`; no leading dot.
    pub full_name: &'static str,
    /// In the order of declaration, aliases included.
    pub values: &'static [(&'static str, i32)],
    /// The same, sorted by name.
    pub by_name: &'static [(&'static str, i32)],
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The message of this full name.
pub fn message(full_name: &str) -> Option<&'static Message> {
    message_index(full_name).and_then(|index| MESSAGES.get(usize::from(index)))
}

/// The index in [`MESSAGES`] of the message of this full name.
pub fn message_index(full_name: &str) -> Option<u16> {
    // Each Any of a resource asks, some of them for several clients.
    static BY_NAME: LazyLock<HashMap<&str, u16>> =
        LazyLock::new(|| MESSAGES.iter().map(|message| message.full_name).zip(0..).collect());
    BY_NAME.get(full_name).copied()
}

/// The enum of this full name.
pub fn enumeration(full_name: &str) -> Option<&'static Enum> {
    let index = ENUMS.binary_search_by(|item| item.full_name.cmp(full_name)).ok()?;
    ENUMS.get(index)
}

impl Message {
    /// Its index in [`MESSAGES`], where all messages are.
    pub fn index(&'static self) -> u16 {
        ((std::ptr::from_ref(self).addr() - MESSAGES.as_ptr().addr()) / size_of::<Message>()) as u16
    }

    /// The field with this number.
    pub fn field(&self, number: u32) -> Option<&'static Field> {
        // Most messages number their fields 1, 2, 3 ...
        let guess = (number as usize).wrapping_sub(1);
        match self.fields.get(guess) {
            Some(field) if field.number == number => Some(field),
            _ => {
                let index = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
                self.fields.get(index)
            }
        }
    }

    /// The position in `fields` of the field with this proto name or JSON name.
    pub fn position(&self, name: &str) -> Option<u16> {
        let index = self
            .by_name
            .binary_search_by(|(candidate, _)| (*candidate).cmp(name))
            .ok()?;
        self.by_name.get(index).map(|(_, position)| *position)
    }

    /// The field with this proto name or JSON name.
    pub fn field_by_name(&self, name: &str) -> Option<&'static Field> {
        self.fields.get(usize::from(self.position(name)?))
    }
}

impl Field {
    /// The type of a single value: of an element, or of the value of a map entry.
    pub const fn value_kind(&self) -> Kind {
        match self.cardinality {
            Cardinality::Map { value, .. } => value,
            Cardinality::Singular | Cardinality::Repeated => self.kind,
        }
    }
}

impl Kind {
    /// The message, if this is one.
    pub fn message(self) -> Option<&'static Message> {
        match self {
            Self::Message(index) => MESSAGES.get(usize::from(index)),
            _ => None,
        }
    }

    /// The enum, if this is one.
    pub fn enumeration(self) -> Option<&'static Enum> {
        match self {
            Self::Enum(index) => ENUMS.get(usize::from(index)),
            _ => None,
        }
    }
}

impl Enum {
    /// The number of the value of this name.
    pub fn number(&self, name: &str) -> Option<i32> {
        let index = self
            .by_name
            .binary_search_by(|(candidate, _)| (*candidate).cmp(name))
            .ok()?;
        self.by_name.get(index).map(|(_, number)| *number)
    }

    /// The first name declared for this number.
    pub fn name(&self, number: i32) -> Option<&'static str> {
        self.values
            .iter()
            .find(|(_, candidate)| *candidate == number)
            .map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_found_by_name_and_index() {
        for (position, message) in MESSAGES.iter().enumerate() {
            assert_eq!(usize::from(message.index()), position);
            assert_eq!(message_index(message.full_name), Some(message.index()));
        }
    }
}
