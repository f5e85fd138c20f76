//! Where the secrets of a resource stand: by the place of each value in its message, before anything is quoted.
//!
//! A [`Place`] says what stands somewhere in a message; it is reached step by step, from the type of the resource down, with
//! the descriptor tables as the guide ([`Field::secret`]) and names where they end (a Struct, an unknown type). [`find`] walks a text
//! and gives the spans of the secrets in it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use xdsctl_proto::tables::{self, Cardinality, Field, MESSAGES, Message, WellKnown};

use super::Span;
use super::json::{Scanner, Str, Syntax};
use crate::diag::{FieldPath, Seg};
use crate::secret::{NAMING, REDACTED, VALUES, is_name};
use crate::text;

/// How often a text is read ahead for the name of an object or its type, as a multiple of its length.
const LOOKAHEAD: usize = 8;

/// Levels that are followed; what is deeper counts as secret.
const MAX_LEVELS: usize = 300;

/// Messages that say by a name of theirs whether the rest is secret.
const NAMED: &[&str] = &[
    "envoy.config.core.v3.KeyValue",
    "envoy.config.core.v3.KeyValuePair",
    "envoy.config.core.v3.QueryParameter",
    "envoy.config.route.v3.HeaderMatcher",
    "envoy.config.route.v3.QueryParameterMatcher",
];

/// Data in a file, a variable or the document itself.
const DATA_SOURCE: &str = "envoy.config.core.v3.DataSource";

/// Names of values that are secret in some messages and not in others.
const AMBIGUOUS: &[&str] = &[
    "bytes",
    "bytes_match",
    "contains",
    "contains_match",
    "exact",
    "exact_match",
    "key",
    "prefix",
    "prefix_match",
    "regex",
    "safe_regex_match",
    "string_match",
    "string_value",
    "suffix",
    "suffix_match",
    "value",
];

/// What stands at a place of a message.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The type of the object there; `None` if it is not known, or is a Struct.
    message: Option<&'static Message>,
    /// The object there is a map; whether the names of its entries tell secrets.
    map: Option<bool>,
    /// It is a secret, with everything below it.
    pub is_secret: bool,
    /// It is a secret if it is a text: an entry of a map of messages, with a name that tells one.
    names_text: bool,
    /// An Any should be here, or a map of them: nobody knows what a text in its place was meant to be.
    wants_any: bool,
}

impl Place {
    /// The root of a resource of this type.
    pub const fn root(message: Option<&'static Message>) -> Place {
        Place {
            message,
            map: None,
            is_secret: false,
            names_text: false,
            wants_any: false,
        }
    }

    /// The place at the end of a path in a resource of this type.
    pub fn of(message: Option<&'static Message>, path: &FieldPath) -> Place {
        let mut place = Place::root(message);
        for step in path.located() {
            place = match step {
                Seg::Field(name) if place.is_named() && !NAMING.contains(&name) => Place {
                    // The name is not at hand: it may be that of a secret.
                    is_secret: true,
                    ..place.field(name)
                },
                Seg::Field(name) => place.field(name),
                Seg::Key(key) | Seg::JsonKey(key) => place.key(key),
                Seg::Value { type_name, .. } => place.any(type_name),
                Seg::Index(_) | Seg::Quoted(_) => place,
            };
        }
        place
    }

    fn secret() -> Place {
        Place {
            is_secret: true,
            ..Place::root(None)
        }
    }

    /// Says whether the message has fields that are secrets: what it does not know may be one that is misspelt.
    fn has_secrets(self) -> bool {
        self.message
            .is_some_and(|message| message.fields.iter().any(|field| field.secret))
    }

    /// Says whether a text here is a secret: at its own place, or where the object should stand that holds it.
    pub fn hides_text(self) -> bool {
        self.is_secret
            || self.names_text
            || (self.wants_any && self.map.is_none())
            || (self.map.is_none() && (self.is_named() || self.has_secrets() || self.keeps_secrets()))
    }

    /// Says whether the message is about keys and passwords: what it does not know may be one, too.
    fn keeps_secrets(self) -> bool {
        thread_local! {
            /// What was found of each message: an input may ask for one a million times.
            static FOUND: RefCell<HashMap<*const Message, bool>> = RefCell::default();
        }
        // A `cookie` with fields says how one is made.
        let keeps = |field: &'static Field| {
            (is_name(field.name) && field.name != "cookie")
                || below(field).is_some_and(|message| message.full_name == DATA_SOURCE)
        };
        self.message.is_some_and(|message| {
            FOUND.with_borrow_mut(|found| {
                let found = found.entry(std::ptr::from_ref(message));
                *found.or_insert_with(|| message.fields.iter().any(keeps))
            })
        })
    }

    /// Says whether a name in the message tells whether the rest is secret.
    pub(crate) fn is_named(self) -> bool {
        self.message.is_some_and(|message| NAMED.contains(&message.full_name))
    }

    /// The place of a field, or of a key where the type is not known.
    pub(crate) fn field(self, name: &str) -> Place {
        if self.is_secret {
            return self;
        }
        if self.map.is_some() {
            return self.key(name);
        }
        let Some(message) = self.message else {
            // Objects of a type that is not known may hold any of ours.
            return match name {
                "@value" | "@wire" => Place::secret(),
                _ if is_nothing(name) => Place::secret(),
                _ if is_name(name) || is_misspelt(name) => Place::secret(),
                _ => Place::root(None),
            };
        };
        match message.field_by_name(name) {
            Some(field) => Place {
                message: below(field),
                map: map(field),
                is_secret: field.secret,
                names_text: false,
                wants_any: value_of(field).is_some_and(|message| message.well_known == WellKnown::Any),
            },
            None if name == "@type" => Place::root(None),
            None => {
                // Whatever a misspelt field would have been.
                let nearest = nearest(message, name);
                Place {
                    message: nearest.map_or_else(|| elsewhere(name), below),
                    map: nearest.and_then(map),
                    names_text: false,
                    wants_any: false,
                    is_secret: matches!(name, "@value" | "@wire")
                        || is_nothing(name)
                        || is_name(name)
                        || AMBIGUOUS.contains(&name)
                        || self.has_secrets()
                        || self.keeps_secrets()
                        || is_misspelt(name)
                        || nearest.is_some_and(leads_to_secret),
                }
            }
        }
    }

    /// The place of an entry of a map.
    fn key(self, key: &str) -> Place {
        Place {
            is_secret: self.is_secret
                || is_nothing(key)
                || (self.map.unwrap_or(self.message.is_none()) && is_name(key)),
            names_text: is_name(key),
            map: None,
            ..self
        }
    }

    /// The place inside an Any.
    fn any(self, type_name: &str) -> Place {
        Place {
            message: tables::message(type_name).filter(|message| is_plain(message)),
            map: None,
            is_secret: self.is_secret
                || ((type_name.is_empty() || is_name(type_name)) && tables::message(type_name).is_none()),
            names_text: false,
            wants_any: false,
        }
    }
}

/// Says whether the fields of a message stand in its object, under their names.
fn is_plain(message: &Message) -> bool {
    matches!(message.well_known, WellKnown::None | WellKnown::Empty)
}

/// The type of the objects in a field.
fn below(field: &Field) -> Option<&'static Message> {
    value_of(field).filter(|message| is_plain(message))
}

/// The type of a field's messages, of a map's values.
fn value_of(field: &Field) -> Option<&'static Message> {
    let kind = match field.cardinality {
        Cardinality::Map { value, .. } => value,
        Cardinality::Singular | Cardinality::Repeated => field.kind,
    };
    kind.message()
}

/// Whether the field is a map, and then whether the names of its entries tell secrets: those of messages are names of filters
/// and extensions.
fn map(field: &Field) -> Option<bool> {
    match field.cardinality {
        Cardinality::Map { value, .. } => Some(
            value
                .message()
                .is_none_or(|message| message.well_known == WellKnown::Struct),
        ),
        Cardinality::Singular | Cardinality::Repeated => None,
    }
}

/// Says whether a name is almost that of a secret of some message.
fn is_misspelt(name: &str) -> bool {
    static SECRET: OnceLock<Vec<&'static str>> = OnceLock::new();
    let names = SECRET.get_or_init(|| {
        let fields = MESSAGES.iter().flat_map(|message| message.fields);
        let fields = fields.filter(|field| field.secret && !AMBIGUOUS.contains(&field.name) && is_name(field.name));
        let mut names: Vec<&str> = fields.flat_map(|field| [field.name, field.json_name]).collect();
        names.extend(["password", "private_key", "privateKey"]);
        names.sort_unstable();
        names.dedup();
        names
    });
    !is_harmless_name(name) && text::nearest(name, names.iter().copied()).is_some()
}

/// Says whether a key is one that a broken text made of something.
fn is_nothing(key: &str) -> bool {
    matches!(key, "" | "~")
}

/// The field whose name is nearest to an unknown one.
fn nearest(message: &'static Message, name: &str) -> Option<&'static Field> {
    let known = message.by_name.iter().map(|(name, _)| *name);
    text::nearest(name, known).and_then(|nearest| message.field_by_name(nearest))
}

/// The message in a field of this name that other messages have, if it holds a secret: a line that is indented too little stands
/// in the wrong object.
fn elsewhere(name: &str) -> Option<&'static Message> {
    static ELSEWHERE: OnceLock<HashMap<&'static str, &'static Message>> = OnceLock::new();
    let holding = ELSEWHERE.get_or_init(|| {
        let fields = MESSAGES.iter().flat_map(|message| message.fields);
        let holding = fields.filter_map(|field| Some((field, below(field)?)));
        let holding = holding.filter(|(_, message)| Place::root(Some(message)).has_secrets());
        let names = holding.flat_map(|(field, message)| [(field.name, message), (field.json_name, message)]);
        names.collect() // looked up only
    });
    holding.get(name).copied()
}

/// Says whether a key is a piece of some text, and no name of a field.
pub fn is_piece(key: &str) -> bool {
    key.contains(|c: char| c.is_ascii_whitespace() || matches!(c, ',' | ':' | ';' | '"' | '\'' | '{' | '}' | '[' | ']'))
}

/// Says whether a field, or one below it, is a secret.
fn leads_to_secret(field: &'static Field) -> bool {
    field.secret || is_name(field.name) || below(field).is_some_and(|m| Place::root(Some(m)).has_secrets())
}

/// Says whether values of fields of this name can be shown where it is not known which message they are in.
pub fn is_harmless_name(name: &str) -> bool {
    static HARMLESS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let names = HARMLESS.get_or_init(|| {
        let fields = || MESSAGES.iter().flat_map(|message| message.fields);
        let mut names: HashSet<&str> = fields().flat_map(|field| [field.name, field.json_name]).collect();
        // What stands behind the name of an object that holds a secret is one, if it is a text.
        let holds = |field: &Field| below(field).is_some_and(|message| Place::root(Some(message)).has_secrets());
        for field in fields().filter(|field| field.secret || holds(field) || AMBIGUOUS.contains(&field.name)) {
            names.remove(field.name);
            names.remove(field.json_name);
        }
        names.extend(["@type", "apiVersion", "kind"]);
        names
    });
    names.contains(name) && !is_name(name)
}

/// Says whether a key is a word of ours, and no part of a secret.
fn is_word(key: &str) -> bool {
    is_name(key) || is_harmless_name(key) || AMBIGUOUS.contains(&key) || VALUES.contains(&key)
}

/// The spans of the secrets in the JSON value at `start` of `text`, without quotes, in order.
///
/// What cannot be read to its end is secret from there on.
///
/// ```
/// use xdsctl::source::secrets::{Place, find};
/// let text = br#"{"certificate_chain": {"filename": "a"}, "private_key": {"inline_string": "abc"}}"#;
/// let message = xdsctl::proto::pb::tables::message("envoy.extensions.transport_sockets.tls.v3.TlsCertificate");
/// let found = find(text, 0, Place::root(message));
/// assert_eq!(&text[found[0].range()], b"abc");
/// assert_eq!(found.len(), 1);
/// ```
pub fn find(text: &[u8], start: usize, place: Place) -> Vec<Span> {
    walk(text, start, place, false).1
}

/// Like [`find`]; with the span of the value, and with literals among the secrets.
pub fn find_in(text: &[u8], start: usize, place: Place) -> (Span, Vec<Span>) {
    walk(text, start, place, true)
}

fn walk(text: &[u8], start: usize, place: Place, takes_literals: bool) -> (Span, Vec<Span>) {
    let mut walker = Walker {
        scan: Scanner::new(text),
        found: Vec::new(),
        lookahead: text.len().saturating_sub(start).saturating_mul(LOOKAHEAD) + 1024,
        scratch: Vec::new(),
        level: 0,
        takes_literals,
        value_start: start,
    };
    walker.scan.set_pos(start);
    if walker.value(place).is_err() {
        // The string that is not closed belongs to it.
        let from = walker.value_start.min(walker.scan.pos());
        walker.found.push(Span::new(from, text.len()));
        walker.scan.set_pos(text.len());
    }
    (Span::new(start, walker.scan.pos()), walker.found)
}

struct Walker<'t> {
    scan: Scanner<'t>,
    found: Vec<Span>,
    /// Bytes that may still be read ahead.
    lookahead: usize,
    scratch: Vec<u8>,
    level: usize,
    /// A literal may stand for something else in the document, such as an alias without an anchor.
    takes_literals: bool,
    /// Where the last value starts.
    value_start: usize,
}

/// What the keys of an object say about it.
#[derive(Default)]
struct Ahead {
    type_name: Option<String>,
    /// The object has the name of a secret.
    names_secret: bool,
}

impl Walker<'_> {
    fn text_of(&mut self, token: Str) -> String {
        let text = self.scan.text_of(token, &mut self.scratch);
        text.map(str::to_owned).unwrap_or_default()
    }

    fn value(&mut self, place: Place) -> Result<(), Syntax> {
        match self.scan.peek() {
            b'{' | b'[' if self.level >= MAX_LEVELS => {
                let start = self.scan.pos();
                self.scan.skip_value()?;
                self.found.push(Span::new(start, self.scan.pos()));
                Ok(())
            }
            b'{' => {
                self.level += 1;
                let result = self.object(place);
                self.level -= 1;
                result
            }
            b'[' => {
                self.level += 1;
                let mut more = self.scan.open(b']')?;
                while more {
                    self.value(place)?;
                    more = self.scan.more(b']')?;
                }
                self.level -= 1;
                Ok(())
            }
            b'"' => {
                self.value_start = self.scan.pos() + 1;
                let token = self.scan.string()?;
                self.value_start = usize::MAX;
                if place.hides_text() && self.scan.raw(token) != REDACTED.as_bytes() {
                    self.found.push(Span::new(token.start, token.end));
                }
                Ok(())
            }
            _ => {
                let start = self.scan.pos();
                self.scan.skip_value()?;
                let is_literal = matches!(self.scan.slice(start, self.scan.pos()), b"null" | b"true" | b"false");
                if place.hides_text() && (self.takes_literals || !is_literal) {
                    self.found.push(Span::new(start, self.scan.pos()));
                }
                Ok(())
            }
        }
    }

    fn object(&mut self, mut place: Place) -> Result<(), Syntax> {
        let mut names_secret = false;
        // A typed message says nothing more about itself, but for those that have a name.
        if !place.is_secret && place.map.is_none() && (place.message.is_none() || place.is_named()) {
            let ahead = self.ahead();
            names_secret = ahead.names_secret;
            if let (None, Some(type_name)) = (place.message, ahead.type_name) {
                place = place.any(&type_name);
                // Of a message whose fields are known the table says what is secret, whatever its name is.
                names_secret &= place.message.is_none() || place.is_named();
            }
        }
        let mut after_secret = place.is_secret || (place.map.is_none() && place.has_secrets());
        let mut more = self.scan.open(b'}')?;
        while more {
            let key = self.scan.key()?;
            let name = self.text_of(key);
            let mut below = if place.message.is_none() && place.is_secret {
                place
            } else {
                place.field(&name)
            };
            let is_value = place.message.is_some() || VALUES.contains(&name.as_str());
            if names_secret && is_value && !NAMING.contains(&name.as_str()) {
                below.is_secret = true;
            }
            if name == "@type" {
                below = Place::root(None);
            }
            // `{password: a,b}` in YAML: what is behind the comma is a key without a value.
            let is_known = place.message.is_some_and(|message| message.position(&name).is_some());
            // And text where the message should be may look like one: `a, b: c`.
            let is_lone = after_secret && self.scan.peek() == b'n'
                || place.is_secret
                || (place.message.is_some() && place.map.is_none() && is_piece(&name));
            if is_lone && !is_known && !is_word(&name) {
                self.found.push(Span::new(key.start, key.end));
            }
            after_secret |= below.is_secret;
            self.value(below)?;
            more = self.scan.more(b'}')?;
        }
        Ok(())
    }

    /// Reads the keys of the object at the scanner, which does not move.
    fn ahead(&mut self) -> Ahead {
        let start = self.scan.pos();
        let mut ahead = Ahead::default();
        if self.lookahead == 0 {
            ahead.names_secret = true;
            return ahead;
        }
        let read = self.keys(&mut ahead);
        ahead.names_secret |= read.is_err();
        self.lookahead = self.lookahead.saturating_sub(self.scan.pos() - start);
        self.scan.set_pos(start);
        ahead
    }

    fn keys(&mut self, ahead: &mut Ahead) -> Result<(), Syntax> {
        let mut more = self.scan.open(b'}')?;
        while more {
            let key = self.scan.key()?;
            let name = self.text_of(key);
            let is_naming = NAMING.contains(&name.as_str());
            if self.scan.peek() == b'"' && (is_naming || name == "@type") {
                let value = self.scan.string()?;
                let text = self.text_of(value);
                if is_naming {
                    ahead.names_secret |= is_name(&text);
                } else {
                    ahead.type_name = Some(text.rsplit('/').next().unwrap_or_default().to_owned());
                }
            } else {
                self.scan.skip_value()?;
            }
            more = self.scan.more(b'}')?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use xdsctl_proto::tables::Kind;

    use super::*;

    fn found(type_name: &str, text: &str) -> Vec<String> {
        let place = Place::root(tables::message(type_name));
        let spans = find(text.as_bytes(), 0, place);
        spans.into_iter().map(|span| text[span.range()].to_owned()).collect()
    }

    #[test]
    fn a_secret_is_known_by_its_place() {
        const TLS: &str = "envoy.extensions.transport_sockets.tls.v3.";
        for (type_name, text, expected) in [
            (
                "TlsCertificate",
                r#"{"privateKey":{"inlineBytes":"a","filename":"f"},"password":{"inline_string":"b"}}"#,
                &["a", "b"][..],
            ),
            // A text where the object should be that holds one.
            (
                "TlsCertificate",
                r#"{"private_key":"a","password":[1,"b"],"certificate_chain":"c"}"#,
                &["a", "1", "b", "c"],
            ),
            // What a message about keys does not know.
            ("TlsCertificate", r#"{"valeu":["a"]}"#, &["a"]),
            (
                "CommonTlsContext",
                r#"{"tls_certificate":[{"x":"a"}],"alpn_protocols":["h2"]}"#,
                &["x", "a"],
            ),
            (
                "TlsCertificate",
                r#"{"pasword":{"x":["a",1,null,true]}}"#,
                &["x", "a", "1"],
            ),
            ("TlsCertificate", r#"{"pass\u0077ord":{"inline_string":"b"}}"#, &["b"]),
            (
                "TlsCertificate",
                r#"{"password":{"inline_string":"b","def":null}}"#,
                &["b", "def"],
            ),
            ("TlsCertificate", r#"{"password":{"inline_string":"[redacted]"}}"#, &[]),
            (
                "Secret",
                r#"{"name":"my-token","session_ticket_keys":{"keys":[{"inline_bytes":"a"}]}}"#,
                &["a"],
            ),
            (
                "TlsCertificate",
                r#"{"private_key_provider":{"provider_name":"p","typed_config":{"@type":"t/x.Y","key":"a"}}}"#,
                &["a"],
            ),
        ] {
            assert_eq!(found(&format!("{TLS}{type_name}"), text), expected, "{text}");
        }
        let route = "envoy.config.route.v3.RouteMatch";
        for (text, expected) in [
            (
                r#"{"headers":[{"string_match":{"exact":"a"},"name":"Authorization"},{"name":"x-env","exact_match":"b"}]}"#,
                &["a"][..],
            ),
            (r#"{"cookies":[{"name":"n","string_match":{"exact":"a"}}]}"#, &["a"]),
            (r#"{"prefix":"/","case_sensitive":false}"#, &[]),
        ] {
            assert_eq!(found(route, text), expected, "{text}");
        }
        for (text, expected) in [
            (
                r#"{"a":{"token":"x","n":5},"b":{"name":"api-key","value":1,"w":"y"}}"#,
                &["x", "1"][..],
            ),
            (
                r#"{"@type":"t/envoy.config.route.v3.Route","typed_per_filter_config":{"token":{"@type":"t/a.B","x":"a","password":"b"}}}"#,
                &["b"],
            ),
            (
                r#"{"@type":"t/envoy.config.core.v3.Metadata","filter_metadata":{"a":{"token":"b","c":"d"},"secrets":{"e":"f"}}}"#,
                &["b", "e", "f"],
            ),
            (
                r#"{"a":[{"@type":"t/envoy.config.core.v3.HeaderValue","key":"x-env","value":"a"}]}"#,
                &["a"],
            ),
            // What is no Any, where one should be.
            (
                r#"{"@type":"t/envoy.config.route.v3.Route","name":"n","typed_per_filter_config":{"x":["a"],"y":"b","z":{"@type":"t/a.B","w":"c"}}}"#,
                &["a", "b"],
            ),
            (r#"{"@type":"t/x.MySecret","name":"n"}"#, &["n"]),
            (r#"{"@type":"t/x.Y","@value":"CgVo"}"#, &["CgVo"]),
            (r#"{"@type":"t\x","a":"b"}"#, &["a", "b"]),
            (
                r#"{"@type":"t/envoy.config.route.v3.RouteConfiguration","value":"a","~":"b"}"#,
                &["a", "b"],
            ),
            (r#"{"a":{"inline_strng":"x","node":"y","tokn":"z"}}"#, &["x", "z"]),
            (r#"{"password":"abc"#, &["abc"]),
        ] {
            assert_eq!(found("", text), expected, "{text}");
        }
    }

    #[test]
    fn every_field_that_is_listed_holds_text_or_a_message() {
        let fields = MESSAGES.iter().flat_map(|message| message.fields);
        let secret: Vec<_> = fields.filter(|field| field.secret).collect();
        assert!(secret.len() > 8);
        for field in secret {
            assert!(
                matches!(field.kind, Kind::String | Kind::Bytes) || field.kind.message().is_some(),
                "{}",
                field.name
            );
        }
    }

    #[test]
    fn names_of_harmless_values_are_known() {
        for name in [
            "name",
            "connect_timeout",
            "connectTimeout",
            "port_value",
            "domains",
            "@type",
        ] {
            assert!(is_harmless_name(name), "{name}");
        }
        for name in [
            "value",
            "inline_string",
            "password",
            "token",
            "hunter2",
            "exact",
            "access_token",
            "key",
        ] {
            assert!(!is_harmless_name(name), "{name}");
        }
    }
}
