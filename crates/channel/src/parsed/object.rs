//! A JSON object that knows which of its fields hold a default.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::parsed_value::{List, ParsedValue};
use xdsctl_model::resource::Millis;

/// The key of the list of default fields; every object of a parsed form has it, and no other JSON
/// in one is made with it.
pub(super) const DEFAULTS: &str = "defaults";

/// An object in the making.
#[derive(Default)]
pub(super) struct ParsedObject {
    fields: Map<String, Value>,
    defaults: Vec<Value>,
}

/// An object in the making that has parts which are made when they are printed.
pub(super) struct Streaming<'r> {
    object: ParsedObject,
    parts: BTreeMap<String, ParsedValue<'r>>,
}

impl ParsedObject {
    /// An object without fields.
    pub(super) fn new() -> ParsedObject {
        ParsedObject::default()
    }

    /// Adds a field that has no default.
    pub(super) fn put(mut self, name: &str, value: impl Into<Value>) -> ParsedObject {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a field, and marks it if `is_default`.
    pub(super) fn mark(mut self, name: &str, value: impl Into<Value>, is_default: bool) -> ParsedObject {
        if is_default {
            self.defaults.push(name.into());
        }
        self.put(name, value)
    }

    /// Adds a field, and marks it if it equals `default`.
    pub(super) fn set<T: PartialEq + Into<Value>>(self, name: &str, value: T, default: T) -> ParsedObject {
        let is_default = value == default;
        self.mark(name, value, is_default)
    }

    /// Adds a duration, and marks it if it equals `default`.
    pub(super) fn time(self, name: &str, value: Millis, default: Millis) -> ParsedObject {
        self.mark(name, value.to_string(), value == default)
    }

    /// Adds a field that may be missing; null is the default.
    pub(super) fn optional(self, name: &str, value: Option<Value>) -> ParsedObject {
        let is_default = value.is_none();
        self.mark(name, value.unwrap_or(Value::Null), is_default)
    }

    /// Adds a list that is empty by default.
    pub(super) fn list(self, name: &str, values: impl IntoIterator<Item = Value>) -> ParsedObject {
        let values: Vec<Value> = values.into_iter().collect();
        let is_default = values.is_empty();
        self.mark(name, values, is_default)
    }

    /// Adds a map that is empty by default.
    pub(super) fn map<'a>(self, name: &str, entries: impl IntoIterator<Item = (&'a String, Value)>) -> ParsedObject {
        let entries: Map<String, Value> = entries.into_iter().map(|(key, value)| (key.clone(), value)).collect();
        let is_default = entries.is_empty();
        self.mark(name, entries, is_default)
    }

    /// Adds a list of objects that is empty by default, and is made when it is printed.
    pub(super) fn stream<'r, T: 'r>(
        self,
        name: &str,
        elements: impl IntoIterator<Item = &'r T>,
        make: impl Fn(usize, &'r T) -> ParsedValue<'r> + 'r,
    ) -> Streaming<'r> {
        self.streaming().stream(name, elements, make)
    }

    /// Adds a list of objects that has no default, and is made when it is printed.
    pub(super) fn objects<'r, T: 'r>(
        self,
        name: &str,
        elements: impl IntoIterator<Item = &'r T>,
        make: impl Fn(usize, &'r T) -> ParsedValue<'r> + 'r,
    ) -> Streaming<'r> {
        self.part(name, ParsedValue::List(List::new(elements, make)))
    }

    /// Adds an object that is made when it is printed.
    pub(super) fn part<'r>(self, name: &str, part: ParsedValue<'r>) -> Streaming<'r> {
        self.streaming().part(name, part)
    }

    fn streaming<'r>(self) -> Streaming<'r> {
        let parts = BTreeMap::new();
        Streaming { object: self, parts }
    }

    /// Ends the object: the names of the fields with defaults are its member `defaults`.
    pub(super) fn done(mut self) -> Value {
        self.fields.insert(DEFAULTS.to_owned(), Value::Array(self.defaults));
        Value::Object(self.fields)
    }
}

impl<'r> Streaming<'r> {
    /// Adds a list of objects that is empty by default.
    pub(super) fn stream<T: 'r>(
        mut self,
        name: &str,
        elements: impl IntoIterator<Item = &'r T>,
        make: impl Fn(usize, &'r T) -> ParsedValue<'r> + 'r,
    ) -> Streaming<'r> {
        let list = List::new(elements, make);
        if list.is_empty() {
            self.object = self.object.list(name, []);
            return self;
        }
        self.part(name, ParsedValue::List(list))
    }

    /// Adds a field whose value is made while it is printed.
    pub(super) fn part(mut self, name: &str, part: ParsedValue<'r>) -> Streaming<'r> {
        self.parts.insert(name.to_owned(), part);
        self
    }

    /// Adds fields that are made at once.
    pub(super) fn with(mut self, add: impl FnOnce(ParsedObject) -> ParsedObject) -> Streaming<'r> {
        self.object = add(self.object);
        self
    }

    /// Ends the object: the names of the fields with defaults are its member `defaults`.
    pub(super) fn done(self) -> ParsedValue<'r> {
        let mut fields = self.parts;
        if let Value::Object(plain) = self.object.done() {
            fields.extend(plain.into_iter().map(|(name, value)| (name, ParsedValue::Plain(value))));
        }
        ParsedValue::Object(fields)
    }
}
