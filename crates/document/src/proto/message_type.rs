//! The types of messages and of their fields, as an editor asks about them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use xdsctl_proto::tables::{self, Cardinality, Enum, Field, Kind, Listed, Message, WellKnown};

/// A type of message.
#[derive(Debug, Clone, Copy)]
pub struct MessageType(pub(super) &'static Message);

/// A field of a message.
#[derive(Debug, Clone, Copy)]
pub struct FieldType {
    pub(super) owner: &'static Message,
    pub(super) field: &'static Field,
}

impl MessageType {
    /// The type of this full name.
    pub fn named(full_name: &str) -> Option<MessageType> {
        tables::message(full_name).map(MessageType)
    }

    /// All of them, in the order of their names.
    pub fn all() -> impl Iterator<Item = MessageType> {
        tables::MESSAGES.iter().map(MessageType)
    }

    /// `envoy.config.cluster.v3.Cluster`.
    pub const fn name(self) -> &'static str {
        self.0.full_name
    }

    /// Its fields in the order of their numbers.
    pub fn fields(self) -> impl Iterator<Item = FieldType> {
        let owner = self.0;
        owner.fields.iter().map(move |field| FieldType { owner, field })
    }

    /// The field of this name, in either spelling.
    pub fn field(self, name: &str) -> Option<FieldType> {
        let owner = self.0;
        owner.field_by_name(name).map(|field| FieldType { owner, field })
    }

    /// It is `google.protobuf.Any`: an object with an `@type`.
    pub fn is_any(self) -> bool {
        self.0.well_known == WellKnown::Any
    }

    /// gRPC clients look into it.
    pub fn is_read(self) -> bool {
        self.0.listed == Listed::Client
    }

    /// It may be what an Any holds: it is in no other message, and no field of one that is read has it as its type.
    pub fn is_packed(self) -> bool {
        static PARTS: LazyLock<BTreeSet<u16>> = LazyLock::new(|| {
            let read = tables::MESSAGES
                .iter()
                .filter(|message| message.listed == Listed::Client);
            let kinds = read.flat_map(|message| message.fields).map(|field| field.kind);
            let parts = kinds.filter_map(|kind| match kind {
                Kind::Message(number) => Some(number),
                _ => None,
            });
            parts.collect()
        });
        let outer = self
            .0
            .full_name
            .rsplit_once('.')
            .and_then(|(outer, _)| tables::message(outer));
        let is_part = |number: &u16| {
            let message = tables::MESSAGES.get(usize::from(*number));
            message.is_some_and(|message| std::ptr::eq(message, self.0))
        };
        outer.is_none() && !PARTS.iter().any(is_part)
    }
}

impl FieldType {
    /// Its name in the proto file.
    pub const fn name(self) -> &'static str {
        self.field.name
    }

    /// Its name in lowerCamelCase.
    pub const fn json_name(self) -> &'static str {
        self.field.json_name
    }

    /// The message that it is a field of.
    pub const fn owner(self) -> MessageType {
        MessageType(self.owner)
    }

    /// It is declared deprecated.
    pub const fn is_deprecated(self) -> bool {
        self.field.deprecated
    }

    /// The oneof that it is a member of: one of them can be set.
    pub fn oneof(self) -> Option<&'static str> {
        let number = self.field.oneof?;
        self.owner.oneofs.get(usize::from(number)).copied()
    }

    /// The values of an enum, in the order of their declaration.
    pub fn enum_values(self) -> &'static [(&'static str, i32)] {
        self.enumeration().map_or(&[], |item| item.values)
    }

    fn enumeration(self) -> Option<&'static Enum> {
        self.field.kind.enumeration()
    }

    /// It is a Duration.
    pub fn is_duration(self) -> bool {
        self.field
            .kind
            .message()
            .is_some_and(|message| message.well_known == WellKnown::Duration)
    }

    /// It is true or false.
    pub fn is_bool(self) -> bool {
        let wrapped = self.field.kind.message().map(|message| message.well_known);
        self.field.kind == Kind::Bool || wrapped == Some(WellKnown::Wrapper(Kind::Bool))
    }

    /// The type of a value in words: `string`, `list of envoy.config.route.v3.Route`.
    pub fn type_words(self) -> String {
        match self.field.cardinality {
            Cardinality::Singular => words(self.field.kind),
            Cardinality::Repeated => format!("list of {}", words(self.field.kind)),
            Cardinality::Map { key, value } => format!("map from {} to {}", words(key), words(value)),
        }
    }

    pub(super) const fn parts(self) -> (&'static Message, &'static Field) {
        (self.owner, self.field)
    }
}

fn words(kind: Kind) -> String {
    if let Some(message) = kind.message() {
        return message.full_name.to_owned();
    }
    if let Some(item) = kind.enumeration() {
        return item.full_name.to_owned();
    }
    format!("{kind:?}").to_ascii_lowercase()
}

/// What the descriptors know of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Message(&'static Message),
    /// A list of values of the field.
    List(FieldType),
    /// A map with values of this kind.
    Map(FieldType, Kind),
    Scalar,
    Unknown,
}

pub(super) fn is_any(shape: Shape) -> bool {
    match shape {
        Shape::Message(message) => message.well_known == WellKnown::Any,
        Shape::Unknown => true,
        _ => false,
    }
}

pub(super) fn of_field(field: FieldType) -> Shape {
    match field.field.cardinality {
        Cardinality::Singular => of_kind(field.field.kind),
        Cardinality::Repeated => Shape::List(field),
        Cardinality::Map { value, .. } => Shape::Map(field, value),
    }
}

pub(super) fn of_kind(kind: Kind) -> Shape {
    match kind.message() {
        Some(message) => match message.well_known {
            WellKnown::None | WellKnown::Any | WellKnown::Empty => Shape::Message(message),
            WellKnown::Struct | WellKnown::Value | WellKnown::ListValue => Shape::Unknown,
            WellKnown::Duration | WellKnown::Timestamp | WellKnown::FieldMask | WellKnown::Wrapper(_) => Shape::Scalar,
        },
        None => Shape::Scalar,
    }
}
