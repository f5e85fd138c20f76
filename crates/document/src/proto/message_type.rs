//! The types of messages and of their fields, for editors.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use xdsctl_proto::tables::{self, Cardinality, Field, Kind, Listed, Message, WellKnown};

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
    /// Returns the type with this full name.
    pub fn named(full_name: &str) -> Option<MessageType> {
        tables::message(full_name).map(MessageType)
    }

    /// Returns all types in the order of their names.
    pub fn all() -> impl Iterator<Item = MessageType> {
        tables::MESSAGES.iter().map(MessageType)
    }

    /// Returns the full name, such as `envoy.config.cluster.v3.Cluster`.
    pub const fn name(self) -> &'static str {
        self.0.full_name
    }

    /// Returns the fields in the order of their numbers.
    pub fn fields(self) -> impl Iterator<Item = FieldType> {
        let owner = self.0;
        owner.fields.iter().map(move |field| FieldType { owner, field })
    }

    /// Returns the field with this name, in snake_case or lowerCamelCase.
    pub fn field(self, name: &str) -> Option<FieldType> {
        let owner = self.0;
        owner.field_by_name(name).map(|field| FieldType { owner, field })
    }

    /// Says whether this is `google.protobuf.Any`, which is an object with an `@type`.
    pub fn is_any(self) -> bool {
        self.0.well_known == WellKnown::Any
    }

    /// Says whether gRPC clients read the fields of this message.
    pub fn is_read(self) -> bool {
        self.0.listed == Listed::Client
    }

    /// Says whether an Any may hold this message: it is not nested in another message, and it is
    /// not the type of a field of a message that gRPC reads.
    pub fn is_packed(self) -> bool {
        static PARTS: LazyLock<BTreeSet<u16>> = LazyLock::new(|| {
            let read = MessageType::all().filter(|message| message.is_read());
            let kinds = read.flat_map(|message| message.0.fields).map(|field| field.kind);
            let parts = kinds.filter_map(|kind| Some(kind.message()?.index()));
            parts.collect()
        });
        let outer = self
            .name()
            .rsplit_once('.')
            .and_then(|(outer, _)| tables::message(outer));
        outer.is_none() && !PARTS.contains(&self.0.index())
    }
}

impl FieldType {
    /// Returns the name in the proto file.
    pub const fn name(self) -> &'static str {
        self.field.name
    }

    /// Returns the name in lowerCamelCase.
    pub const fn json_name(self) -> &'static str {
        self.field.json_name
    }

    /// Returns the message to which the field belongs.
    pub const fn owner(self) -> MessageType {
        MessageType(self.owner)
    }

    /// Says whether the field is deprecated.
    pub const fn is_deprecated(self) -> bool {
        self.field.deprecated
    }

    /// Returns the oneof of the field. Only one member of a oneof can be set.
    pub fn oneof(self) -> Option<&'static str> {
        let number = self.field.oneof?;
        self.owner.oneofs.get(usize::from(number)).copied()
    }

    /// Returns the values of an enum field, in the order of their declaration.
    pub fn enum_values(self) -> &'static [(&'static str, i32)] {
        self.field.kind.enumeration().map_or(&[], |item| item.values)
    }

    /// Says whether the value is a Duration.
    pub fn is_duration(self) -> bool {
        self.field
            .kind
            .message()
            .is_some_and(|message| message.well_known == WellKnown::Duration)
    }

    /// Says whether the value is a bool or a BoolValue.
    pub fn is_bool(self) -> bool {
        let wrapped = self.field.kind.message().map(|message| message.well_known);
        self.field.kind == Kind::Bool || wrapped == Some(WellKnown::Wrapper(Kind::Bool))
    }

    /// Returns the type of the value as text: `string`, `list of envoy.config.route.v3.Route`.
    pub fn type_words(self) -> String {
        match self.field.cardinality {
            Cardinality::Singular => words(self.field.kind),
            Cardinality::Repeated => format!("list of {}", words(self.field.kind)),
            Cardinality::Map { key, value } => format!("map from {} to {}", words(key), words(value)),
        }
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

/// What the descriptors know about a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Message(&'static Message),
    /// A list with elements of the field's kind.
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

/// Returns the field behind a key of a value, and its shape.
pub(super) fn member(shape: Shape, name: &str) -> (Option<FieldType>, Shape) {
    match shape {
        Shape::Map(field, kind) => (Some(field), of_kind(kind)),
        Shape::Message(owner) => match MessageType(owner).field(name) {
            Some(field) => (Some(field), of_field(field)),
            None => (None, Shape::Unknown),
        },
        _ => (None, Shape::Unknown),
    }
}

fn of_field(field: FieldType) -> Shape {
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
