//! Decides what may be printed of a document: values whose field is known to be harmless, and
//! nothing else.
//!
//! A [`SecretPlace`] says what kind of value is at a place in a message. It is found step by step,
//! from the type of the resource down, with the descriptor tables ([`Field::shown`]). Where the
//! tables end (a Struct, an unknown type, an unknown field), everything is hidden. [`marks`] walks
//! over a text and says which of its keys and values may be printed. It looks at what they mean and
//! not at how they are written, so escapes do not help to hide anything from it.

use std::sync::OnceLock;

use serde_json::{Map, Value};
use xdsctl_proto::tables::{self, Cardinality, Field, Kind, MESSAGES, Message, WellKnown};

use crate::proto::any::TYPED_STRUCTS;
use crate::secret::{REDACTED, hide, is_name, looks_secret};
use xdsctl_model::diag::{FieldPath, Seg};

mod known;
mod walk;
mod words;

use known::{BOOTSTRAP, CLUSTERS, KUBERNETES, KnownKeys, METADATA, METADATA_NAMES, POLICY, SUITE, is_policy};
use walk::Ahead;
pub use walk::{Marks, marks, within};
pub use words::{Speaker, is_enum_value, is_known_word, is_piece, is_plain_word, peer_words};

/// Messages whose `name` is the name of a header or parameter, which decides whether the rest is a
/// credential.
const NAMED: &[&str] = &[
    "envoy.config.route.v3.HeaderMatcher",
    "envoy.config.route.v3.QueryParameterMatcher",
];

/// Messages that may be a whole document without an `@type`. The first with a matching field
/// counts.
const DOCUMENTS: &[&str] = &[
    "envoy.admin.v3.ConfigDump",
    "envoy.config.bootstrap.v3.Bootstrap",
    "envoy.service.discovery.v3.DiscoveryResponse",
    "envoy.service.discovery.v3.DeltaDiscoveryResponse",
    "envoy.service.discovery.v3.DiscoveryRequest",
    "envoy.service.discovery.v3.DeltaDiscoveryRequest",
    "envoy.service.status.v3.ClientConfig",
    "envoy.service.status.v3.ClientStatusResponse",
];

/// The kind of value at a place in a message, and whether it may be printed.
#[derive(Debug, Clone, Copy)]
pub struct SecretPlace {
    shape: SecretShape,
    /// Whether neither this value nor any value in it may be printed.
    is_hidden: bool,
}

#[derive(Debug, Clone, Copy)]
enum SecretShape {
    /// Nothing is known. Not even the keys are known to be names.
    Free,
    /// A value of a field.
    Scalar,
    Message(&'static Message),
    /// A message whose `name` is that of a credential.
    Credential(&'static Message),
    /// A TypedStruct with the configuration of an LB policy.
    Policy(&'static Message),
    Map(&'static Field),
    /// An object with an `@type`.
    Any,
    /// An object with an `@type`, or a text.
    AnyOrText,
    /// A document, recognised by its `@type` or by its keys.
    Document,
    /// An object with an `@type` whose message is in `value`.
    Wrapped(&'static Message),
    /// An object with known keys, or a text in its place if the flag allows that; and a map of such
    /// objects.
    Json(&'static KnownKeys, bool),
    JsonMap(&'static KnownKeys),
    /// Headers or similar: an object, or a list of alternating names and values.
    Headers,
    /// The parsed form of a resource; then a Struct in it, and a matcher for a credential.
    Parsed,
    ParsedStruct,
    ParsedCredential,
}

impl SecretPlace {
    const FREE: SecretPlace = SecretPlace {
        shape: SecretShape::Free,
        is_hidden: true,
    };

    /// A document of any kind.
    pub const DOCUMENT: SecretPlace = SecretPlace::shown(SecretShape::Document);

    /// A suite.
    pub const SUITE: SecretPlace = SecretPlace::shown(SecretShape::Json(&SUITE, false));

    /// A bootstrap.
    pub const BOOTSTRAP: SecretPlace = SecretPlace::shown(SecretShape::Json(&BOOTSTRAP, false));

    /// Envoy's answer about its clusters.
    pub const CLUSTERS: SecretPlace = SecretPlace::shown(SecretShape::Json(&CLUSTERS, false));

    /// Configurations of LB policies, as in a service config.
    pub const POLICIES: SecretPlace = SecretPlace::shown(SecretShape::Json(&POLICY, false));

    /// The parsed form of a resource, as `parsed` makes it.
    pub const PARSED: SecretPlace = SecretPlace::shown(SecretShape::Parsed);

    /// Returns the place of a resource of this type. With `None`, the resource gives its type
    /// itself.
    pub const fn root(message: Option<&'static Message>) -> SecretPlace {
        match message {
            Some(message) => SecretPlace::of_message(message),
            None => SecretPlace::shown(SecretShape::Any),
        }
    }

    /// Returns the place at the end of a path in a resource of this type.
    pub fn of(message: Option<&'static Message>, path: &FieldPath) -> SecretPlace {
        let mut place = SecretPlace::root(message);
        for step in path.located() {
            place = match step {
                // The name of the message is not known here. It may be that of a credential.
                Seg::Field(name) if place.is_named() => place.refined(&Ahead::CREDENTIAL).field(name),
                Seg::Field(name) => place.field(name),
                Seg::Key(key) | Seg::JsonKey(key) => place.field(key),
                Seg::Value { type_name, .. } => place.refined(&Ahead::of(type_name)),
                Seg::Index(_) | Seg::Quoted(_) => place,
            };
        }
        place
    }

    const fn shown(shape: SecretShape) -> SecretPlace {
        SecretPlace {
            shape,
            is_hidden: false,
        }
    }

    const fn of_message(message: &'static Message) -> SecretPlace {
        match message.well_known {
            WellKnown::Any => SecretPlace::shown(SecretShape::Any),
            WellKnown::Struct | WellKnown::Value | WellKnown::ListValue => SecretPlace::FREE,
            WellKnown::Duration | WellKnown::Timestamp | WellKnown::FieldMask | WellKnown::Wrapper(_) => {
                SecretPlace::shown(SecretShape::Scalar)
            }
            WellKnown::None | WellKnown::Empty => SecretPlace::shown(SecretShape::Message(message)),
        }
    }

    fn of_kind(kind: Kind) -> SecretPlace {
        kind.message()
            .map_or(SecretPlace::shown(SecretShape::Scalar), SecretPlace::of_message)
    }

    /// Returns the place of a field, or of an entry of a map.
    pub fn field(self, name: &str) -> SecretPlace {
        // The type of a hidden value may be printed.
        if name == "@type" && self.knows(name) && !matches!(self.shape, SecretShape::Map(_) | SecretShape::JsonMap(_)) {
            return SecretPlace::shown(SecretShape::Scalar);
        }
        let of_field = |message: &'static Message| match message.field_by_name(name) {
            None => SecretPlace::FREE,
            Some(field) => {
                let below = match field.cardinality {
                    Cardinality::Map { .. } => SecretPlace::shown(SecretShape::Map(field)),
                    Cardinality::Singular | Cardinality::Repeated => SecretPlace::of_kind(field.kind),
                };
                below.hidden_if(!field.shown)
            }
        };
        let below = match self.shape {
            SecretShape::Message(message) => of_field(message),
            SecretShape::Credential(message) => of_field(message).hidden_if(name != "name"),
            SecretShape::Policy(_) if name == "value" => SecretPlace::POLICIES,
            SecretShape::Policy(message) => of_field(message),
            SecretShape::Map(field) if field.name == "filter_metadata" && known::has(METADATA_NAMES, name) => {
                SecretPlace::shown(SecretShape::Json(&METADATA, false))
            }
            SecretShape::Map(field) => match field.cardinality {
                Cardinality::Map { value, .. } => SecretPlace::of_kind(value),
                Cardinality::Singular | Cardinality::Repeated => SecretPlace::FREE,
            },
            SecretShape::Wrapped(message) if name == "value" => {
                let holds_text = matches!(message.well_known, WellKnown::Wrapper(Kind::String | Kind::Bytes));
                SecretPlace::of_message(message).hidden_if(holds_text)
            }
            SecretShape::Document => document(name).map_or(SecretPlace::FREE, of_field),
            SecretShape::Headers => SecretPlace::shown(SecretShape::Scalar).hidden_if(is_name(name)),
            SecretShape::Json(known, _) if known.is_suite && known::has(known::NAMED, name) => {
                SecretPlace::shown(SecretShape::Headers)
            }
            SecretShape::Json(known, _) if known::has(known.resources, name) => {
                SecretPlace::shown(match known.is_suite {
                    true => SecretShape::AnyOrText,
                    false => SecretShape::Any,
                })
            }
            SecretShape::Json(known, _) if name == known::MANAGER_NAME && known::has(known.objects, name) => {
                SecretPlace::shown(SecretShape::Json(&known::MANAGER, false))
            }
            SecretShape::Json(known, _) if known::has(known.maps, name) => {
                SecretPlace::shown(SecretShape::JsonMap(known))
            }
            SecretShape::Json(known, _) if known::has(known.objects, name) => {
                SecretPlace::shown(SecretShape::Json(known, false))
            }
            SecretShape::Json(known, _) if known::has(known.keys, name) => {
                SecretPlace::shown(SecretShape::Json(known, true))
            }
            SecretShape::JsonMap(known) => SecretPlace::shown(SecretShape::Json(known, known.is_suite)),
            SecretShape::Parsed if name == "cluster_specifier_plugins" => {
                SecretPlace::shown(SecretShape::JsonMap(&POLICY))
            }
            SecretShape::Parsed if name == "lb_policy" => SecretPlace::POLICIES,
            SecretShape::ParsedStruct if name == "value" => SecretPlace::FREE,
            SecretShape::ParsedCredential if name == "string_match" => SecretPlace::FREE,
            SecretShape::Parsed | SecretShape::ParsedStruct | SecretShape::ParsedCredential => SecretPlace::PARSED,
            SecretShape::Json(..)
            | SecretShape::Wrapped(_)
            | SecretShape::Any
            | SecretShape::AnyOrText
            | SecretShape::Scalar
            | SecretShape::Free => SecretPlace::FREE,
        };
        below.hidden_if(self.is_hidden)
    }

    const fn hidden_if(self, is_hidden: bool) -> SecretPlace {
        SecretPlace {
            is_hidden: self.is_hidden || is_hidden,
            ..self
        }
    }

    /// Says whether a key at this place is the name of a field, or the key of a map that may be
    /// printed.
    fn knows(self, name: &str) -> bool {
        match self.shape {
            SecretShape::Message(message) | SecretShape::Credential(message) | SecretShape::Policy(message) => {
                name == "@type" || message.position(name).is_some()
            }
            SecretShape::Any | SecretShape::AnyOrText => name == "@type",
            SecretShape::Document => document(name).is_some(),
            SecretShape::Wrapped(_) => matches!(name, "@type" | "value"),
            SecretShape::Map(_) | SecretShape::JsonMap(_) | SecretShape::Headers => {
                !self.is_hidden && !looks_secret(name)
            }
            SecretShape::Json(known, _) => known.all().any(|key| key == name),
            SecretShape::Parsed | SecretShape::ParsedStruct | SecretShape::ParsedCredential => true,
            SecretShape::Free | SecretShape::Scalar => false,
        }
    }

    /// Says whether a text or a number at this place may be printed: it is the value of a harmless
    /// field, or is in the place of a message with only harmless fields.
    pub fn shows_text(self) -> bool {
        let fits = match self.shape {
            SecretShape::Scalar | SecretShape::Parsed | SecretShape::ParsedStruct | SecretShape::ParsedCredential => {
                true
            }
            SecretShape::AnyOrText | SecretShape::Headers => true,
            SecretShape::Json(_, may_be_text) => may_be_text,
            SecretShape::JsonMap(known) => known.is_suite,
            SecretShape::Message(message) => is_open(message),
            _ => false,
        };
        fits && !self.is_hidden
    }

    /// Says whether a member of the message at this place decides which other members may be
    /// printed.
    pub fn asks_by_name(self) -> bool {
        matches!(self.shape, SecretShape::Message(_)) && self.asks()
    }

    fn is_named(self) -> bool {
        matches!(self.shape, SecretShape::Message(message) if NAMED.contains(&message.full_name))
    }

    /// Says whether a member of the object at this place, such as its type, decides about the
    /// others.
    fn asks(self) -> bool {
        match self.shape {
            SecretShape::Any | SecretShape::AnyOrText | SecretShape::Document => true,
            SecretShape::Message(message) => self.is_named() || TYPED_STRUCTS.contains(&message.full_name),
            _ => false,
        }
    }

    /// Returns the place once the relevant members of the object are known.
    fn refined(self, ahead: &Ahead) -> SecretPlace {
        let shape = match self.shape {
            SecretShape::Document if ahead.type_name.is_none() => match ahead.is_kubernetes {
                true => SecretShape::Json(&KUBERNETES, false),
                false => SecretShape::Document,
            },
            SecretShape::Any | SecretShape::AnyOrText | SecretShape::Document => {
                match ahead.type_name.as_deref().and_then(tables::message) {
                    Some(message) if matches!(message.well_known, WellKnown::None | WellKnown::Empty) => {
                        SecretShape::Message(message)
                    }
                    Some(message) => SecretShape::Wrapped(message),
                    None => SecretShape::Any,
                }
            }
            shape => shape,
        };
        let is_policy = ahead.type_url.as_deref().is_some_and(is_policy);
        let shape = match (SecretPlace { shape, ..self }, shape) {
            (place, SecretShape::Message(message)) if place.is_named() && ahead.is_credential != Some(false) => {
                SecretShape::Credential(message)
            }
            (place, SecretShape::Message(message)) if !place.is_named() && place.asks() && is_policy => {
                SecretShape::Policy(message)
            }
            _ => shape,
        };
        SecretPlace { shape, ..self }
    }

    /// Says whether a list at this place has names, each followed by the value with that name.
    const fn has_pairs(self) -> bool {
        matches!(self.shape, SecretShape::Headers)
    }

    /// Returns the place once the object there is known, which must be of the parsed form.
    pub fn inside(self, object: &Map<String, Value>) -> SecretPlace {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let shape = match self.shape {
            SecretShape::Parsed if text("type") == Some("Struct") => SecretShape::ParsedStruct,
            SecretShape::Parsed if text("name").is_some_and(|name| name.is_empty() || is_name(name)) => {
                SecretShape::ParsedCredential
            }
            shape => shape,
        };
        SecretPlace { shape, ..self }
    }

    /// Returns the name of a field of such an object as it may be printed, and the place of the
    /// field.
    pub fn member(self, name: &str) -> (&str, SecretPlace) {
        (if self.knows(name) { name } else { REDACTED }, self.field(name))
    }

    /// Replaces what may not be printed with [`REDACTED`].
    ///
    /// ```
    /// use xdsctl_document::source::secrets::SecretPlace;
    /// let mut value = serde_json::json!({"name": "c", "metadata": {"a": {"type": "Struct", "value": {"user": "u"}}}});
    /// SecretPlace::PARSED.redact(&mut value);
    /// assert_eq!(value.to_string(), r#"{"metadata":{"a":{"type":"Struct","value":"[redacted]"}},"name":"c"}"#);
    /// ```
    pub fn redact(self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(_) if self.shows_text() => {}
            Value::String(text) if self.shows_text() => {
                if let std::borrow::Cow::Owned(hidden) = hide(text) {
                    *text = hidden;
                }
            }
            Value::Number(_) | Value::String(_) => *value = REDACTED.into(),
            Value::Array(list) => list.iter_mut().for_each(|item| self.redact(item)),
            Value::Object(map) if matches!(self.shape, SecretShape::Free) => {
                if !map.is_empty() {
                    *value = REDACTED.into();
                }
            }
            Value::Object(map) => {
                let place = self.inside(map);
                for (key, mut below) in std::mem::take(map) {
                    let (name, of_field) = place.member(&key);
                    of_field.redact(&mut below);
                    map.insert(name.to_owned(), below);
                }
            }
        }
    }
}

/// Returns the message that a document with a member of this name is.
fn document(name: &str) -> Option<&'static Message> {
    let mut documents = DOCUMENTS.iter().filter_map(|name| tables::message(name));
    documents.find(|message| message.position(name).is_some())
}

/// Says whether every text in a message, and in the messages inside it, may be printed.
fn is_open(message: &'static Message) -> bool {
    static OPEN: OnceLock<Vec<bool>> = OnceLock::new();
    let open = OPEN.get_or_init(|| {
        let mut open = vec![true; MESSAGES.len()];
        // Repeat until nothing changes. Each round closes at least one message.
        for _ in 0..MESSAGES.len() {
            let is_closed = |field: &Field| {
                let kind = field.value_kind();
                let below = match (kind, SecretPlace::of_kind(kind).shape) {
                    (_, SecretShape::Scalar) => true,
                    (Kind::Message(index), SecretShape::Message(_)) => {
                        open.get(usize::from(index)).is_some_and(|open| *open)
                    }
                    _ => false,
                };
                !field.shown || !below
            };
            let next: Vec<bool> = MESSAGES.iter().map(|m| !m.fields.iter().any(is_closed)).collect();
            if next == open {
                break;
            }
            open = next;
        }
        open
    });
    open.get(usize::from(message.index())).is_some_and(|open| *open)
}

#[cfg(test)]
mod tests;
