//! The contract: which fields `parsed`, `world` and `rpc` have, from the JSON Schema that is
//! published.
//!
//! [`SCHEMA`] is the one list of fields. The checker of expressions reads it, and tests hold every
//! view against it.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::Value as Json;

use xdsctl_document::proto::pb::tables::{self, Cardinality, Field, Message, WellKnown};
use xdsctl_model::text;

use crate::cel::{self, Text, Value, nanoseconds};

/// The published schema, `docs/schemas/policy.json`.
pub const SCHEMA_TEXT: &str = include_str!("../policy.json");

/// The published schema, to be asked.
pub static SCHEMA: LazyLock<Schema> = LazyLock::new(Schema::read);

/// What kind of value an expression has, as far as that is known before it is evaluated.
#[derive(Debug, Clone)]
pub enum Kind {
    /// The kind is not known.
    Any,
    /// Only null.
    Null,
    /// True or false.
    Bool,
    /// A whole number.
    Int,
    /// A number.
    Double,
    /// A text.
    Text,
    /// A text that is one of a few.
    Word(&'static Words),
    /// A duration.
    Duration,
    /// A list with elements of this kind.
    List(Box<Kind>),
    /// Values of this kind by name. The names are not known before.
    Map(Box<Kind>),
    /// An object of the schema.
    Object(&'static str),
    /// A message as it is written, by its full name.
    Message(&'static str),
}

/// The texts that a field may have.
#[derive(Debug, PartialEq, Eq)]
pub struct Words(Vec<&'static str>);

/// The objects of the schema.
#[derive(Debug, Default)]
pub struct Schema {
    objects: BTreeMap<String, BTreeMap<String, SchemaField>>,
}

/// A field of an object.
#[derive(Debug)]
struct SchemaField {
    kind: Kind,
    /// Whether the field may be absent, and is then null.
    may_be_absent: bool,
    /// The elements for which the field exists; an empty list means all of them.
    matches: Vec<&'static str>,
}

/// What separates the name of an object from the matched element, if the object's fields depend on
/// that.
const OF: char = ':';

impl Words {
    /// Says whether a text is one of them.
    pub fn has(&self, text: &str) -> bool {
        self.0.contains(&text)
    }

    /// Checks that a text is one of them.
    ///
    /// # Errors
    /// Fails if it is not, and says which text may be meant.
    pub fn check(&self, text: &str) -> Result<(), String> {
        if self.has(text) {
            return Ok(());
        }
        Err(match text::nearest(text, self.0.iter().copied()) {
            Some(near) => format!("it is never `{text}`, did you mean `{near}`?"),
            None => format!("it is never `{text}`: it is {}", self.0.join(", ")),
        })
    }
}

impl PartialEq for Kind {
    /// Says whether two kinds are the same. Texts are of one kind, whichever they may be.
    fn eq(&self, other: &Kind) -> bool {
        match (self, other) {
            (a, b) if a.is_text() && b.is_text() => true,
            (Kind::List(a), Kind::List(b)) | (Kind::Map(a), Kind::Map(b)) => a == b,
            (Kind::Object(a), Kind::Object(b)) => split(a).0 == split(b).0,
            (Kind::Message(a), Kind::Message(b)) => a == b,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}

impl Kind {
    /// Names the kind for a message.
    pub const fn name(&self) -> &'static str {
        match self {
            Kind::Any => "any value",
            Kind::Null => "null",
            Kind::Bool => "a bool",
            Kind::Int => "an int",
            Kind::Double => "a double",
            Kind::Text | Kind::Word(_) => "a text",
            Kind::Duration => "a duration",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
            Kind::Object(_) | Kind::Message(_) => "an object",
        }
    }

    /// Says whether it is a text, of any kind.
    pub const fn is_text(&self) -> bool {
        matches!(self, Kind::Text | Kind::Word(_))
    }

    const fn is_number(&self) -> bool {
        matches!(self, Kind::Int | Kind::Double)
    }

    /// Says whether a value of one kind may be equal to one of the other.
    pub fn meets(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Any | Kind::Null, _) | (_, Kind::Any | Kind::Null) => true,
            (Kind::List(a), Kind::List(b)) | (Kind::Map(a), Kind::Map(b)) => a.meets(b),
            (Kind::Map(_), Kind::Object(_) | Kind::Message(_)) | (Kind::Object(_) | Kind::Message(_), Kind::Map(_)) => {
                true
            }
            (a, b) => a == b || a.is_number() && b.is_number(),
        }
    }
}

impl Schema {
    fn read() -> Schema {
        // Kinds refer to these names as long as the process runs.
        let json: &'static Json = Box::leak(Box::new(serde_json::from_str(SCHEMA_TEXT).unwrap_or_default()));
        let objects = json.get("$defs").and_then(Json::as_object).into_iter().flatten();
        let fields = |of: &'static Json| {
            let fields = of.get("properties").and_then(Json::as_object);
            let fields = fields.into_iter().flatten();
            fields
                .map(|(name, field)| (name.clone(), SchemaField::new(field)))
                .collect()
        };
        Schema {
            objects: objects.map(|(name, of)| (name.clone(), fields(of))).collect(),
        }
    }

    fn object(&self, object: &str) -> Option<&BTreeMap<String, SchemaField>> {
        self.objects.get(split(object).0)
    }

    /// Returns the fields of an object, and their kinds.
    pub fn fields(&self, object: &str) -> impl Iterator<Item = (&str, &Kind)> + Clone {
        let element = split(object).1;
        let fields = self.object(object).into_iter().flatten();
        let there = fields.filter(move |(_, field)| field.is_of(element));
        there.map(|(name, field)| (name.as_str(), &field.kind))
    }

    /// Says whether a field always exists in a value of this kind.
    pub fn is_always_there(&self, of: &Kind, name: &str) -> bool {
        let Kind::Object(object) = of else {
            return false;
        };
        let field = self.object(object).and_then(|fields| fields.get(name));
        field.is_some_and(|field| !field.may_be_absent)
    }

    /// Returns the kind of a field; `None` if the names of fields are not known before.
    ///
    /// # Errors
    /// Fails if the object has no such field, and says which name may be meant.
    pub fn field(&self, of: &Kind, name: &str) -> Option<Result<Kind, String>> {
        match of {
            Kind::Any => Some(Ok(Kind::Any)),
            Kind::Map(of) => Some(Ok((**of).clone())),
            Kind::Object(object) => {
                let (own, element) = split(object);
                let field = self.object(object).and_then(|fields| fields.get(name));
                Some(match field {
                    Some(field) if field.is_of(element) => Ok(field.kind.clone()),
                    Some(field) => {
                        let element = element.unwrap_or_default();
                        let matches = field.matches.join(", ");
                        Err(format!(
                            "`{own}.{name}` is never there for a {element}: match one of {matches}"
                        ))
                    }
                    None => {
                        let hint = hint(name, self.fields(object).map(|(name, _)| name));
                        Err(format!("{own} has no field `{name}`{hint}"))
                    }
                })
            }
            Kind::Message(message) => {
                let message = tables::message(message)?;
                let field = message.fields.iter().find(|field| field.name == name);
                let short = message.full_name.rsplit('.').next().unwrap_or_default();
                let hint = || hint(name, message.fields.iter().map(|field| field.name));
                Some(match field {
                    Some(field) => Ok(written(field)),
                    None => Err(format!("{short} has no field `{name}`{}", hint())),
                })
            }
            _ => None,
        }
    }
}

impl SchemaField {
    fn new(field: &'static Json) -> SchemaField {
        let texts = |name: &str| {
            let list = field.get(name).and_then(Json::as_array).into_iter().flatten();
            list.filter_map(Json::as_str)
        };
        let mut parts = field.get("anyOf").and_then(Json::as_array).into_iter().flatten();
        let is_null = |of: &Json| of.get("type").and_then(Json::as_str) == Some("null");
        let is_known = ["$ref", "anyOf", "type"].iter().any(|word| field.get(word).is_some());
        SchemaField {
            kind: kind(field),
            may_be_absent: !is_known || parts.any(is_null) || texts("type").any(|word| word == "null"),
            matches: texts("x-match").collect(),
        }
    }

    fn is_of(&self, element: Option<&str>) -> bool {
        self.matches.is_empty() || element.is_none_or(|element| self.matches.contains(&element))
    }
}

/// Splits off the matched element from the name of an object.
fn split(object: &str) -> (&str, Option<&str>) {
    match object.split_once(OF) {
        Some((object, element)) => (object, Some(element)),
        None => (object, None),
    }
}

/// Returns `, did you mean ...?`, or all names if there are few.
fn hint<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    if let Some(near) = text::nearest(name, known.clone()) {
        return format!(", did you mean `{near}`?");
    }
    let known: Vec<&str> = known.take(24).collect();
    match known.len() {
        0 | 24 => String::new(),
        _ => format!(": it has {}", known.join(", ")),
    }
}

/// Returns the kind of a property of the schema.
fn kind(field: &'static Json) -> Kind {
    if let Some(name) = field.get("$ref").and_then(Json::as_str) {
        return Kind::Object(name.trim_start_matches("#/$defs/"));
    }
    let one_of = field.get("anyOf").and_then(Json::as_array);
    if let Some(first) = one_of.and_then(|list| list.first()) {
        return kind(first);
    }
    let name = match field.get("type") {
        Some(Json::Array(list)) => list.first().and_then(Json::as_str),
        Some(name) => name.as_str(),
        None => None,
    };
    match name {
        Some("boolean") => Kind::Bool,
        Some("integer") => Kind::Int,
        Some("number") => Kind::Double,
        Some("string") if field.get("format").and_then(Json::as_str) == Some("duration") => Kind::Duration,
        Some("string") => match field.get("enum").and_then(Json::as_array) {
            Some(words) => word(words.iter().filter_map(Json::as_str).collect()),
            None => Kind::Text,
        },
        Some("array") => Kind::List(Box::new(field.get("items").map_or(Kind::Any, kind))),
        Some("object") => Kind::Map(Box::new(field.get("additionalProperties").map_or(Kind::Any, kind))),
        _ => Kind::Any,
    }
}

/// Returns the kind of a text that is one of these. They are kept as long as the process runs: the
/// lists are those of the schema and of protobuf's enums, each once.
fn word(words: Vec<&'static str>) -> Kind {
    static KNOWN: Mutex<Vec<&Words>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(words) = known.iter().copied().find(|known| known.0 == words) {
        return Kind::Word(words);
    }
    let words: &'static Words = Box::leak(Box::new(Words(words)));
    known.push(words);
    Kind::Word(words)
}

/// Returns the kind of a field as it is written in JSON.
fn written(field: &Field) -> Kind {
    let one = |kind: tables::Kind| match kind {
        tables::Kind::Bool => Kind::Bool,
        tables::Kind::Double | tables::Kind::Float => Kind::Double,
        tables::Kind::String | tables::Kind::Bytes => Kind::Text,
        tables::Kind::Enum(_) => match kind.enumeration() {
            Some(of) => word(of.values.iter().map(|(name, _)| *name).collect()),
            None => Kind::Text,
        },
        // 64 bits are a text in protobuf's JSON.
        tables::Kind::Int64 | tables::Kind::Uint64 | tables::Kind::Sint64 => Kind::Text,
        tables::Kind::Fixed64 | tables::Kind::Sfixed64 => Kind::Text,
        tables::Kind::Message(number) => match tables::MESSAGES.get(usize::from(number)) {
            Some(message) => of_message(message),
            None => Kind::Any,
        },
        _ => Kind::Int,
    };
    match field.cardinality {
        Cardinality::Singular => one(field.kind),
        Cardinality::Repeated => Kind::List(Box::new(one(field.kind))),
        Cardinality::Map { value, .. } => Kind::Map(Box::new(one(value))),
    }
}

/// Returns the kind of a message as it is written in JSON.
pub fn of_message(message: &'static Message) -> Kind {
    let name = message.full_name.strip_prefix("google.protobuf.").unwrap_or_default();
    match (message.well_known, name) {
        (WellKnown::None | WellKnown::Empty, _) => Kind::Message(message.full_name),
        (_, "BoolValue") => Kind::Bool,
        (_, "DoubleValue" | "FloatValue") => Kind::Double,
        (_, "Int32Value" | "UInt32Value") => Kind::Int,
        (_, "Duration" | "Timestamp" | "FieldMask" | "StringValue" | "BytesValue") => Kind::Text,
        (_, "Int64Value" | "UInt64Value") => Kind::Text,
        _ => Kind::Any,
    }
}

/// Returns the value of JSON that is of a kind. Texts of durations become durations, and fields
/// that the schema does not have are left out.
pub fn typed<'a>(json: &Json, kind: &Kind) -> Value<'a> {
    match (json, kind) {
        (Json::String(text), Kind::Duration) => nanoseconds(text).map_or(Value::Null, Value::Duration),
        (Json::Number(number), Kind::Double) => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        (Json::Array(list), Kind::List(of)) => Value::list(list.iter().map(|one| typed(one, of))),
        (Json::Object(fields), Kind::Map(of)) => {
            let entries = fields.iter();
            let entries = entries.map(|(name, one)| (Text::Made(name.as_str().into()), typed(one, of)));
            Value::Map(std::rc::Rc::new(entries.collect()))
        }
        (Json::Object(fields), Kind::Object(object)) => {
            let (known, element) = (SCHEMA.object(object), split(object).1);
            let entries = fields.iter().filter_map(|(name, one)| {
                let (name, field) = known?.get_key_value(name)?;
                let value = || (Text::Borrowed(name.as_str()), typed(one, &field.kind));
                field.is_of(element).then(value)
            });
            Value::Map(std::rc::Rc::new(entries.collect()))
        }
        _ => cel::Value::of_json(json),
    }
}
