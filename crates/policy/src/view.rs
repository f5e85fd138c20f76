//! `parsed`: what a client keeps, with the fields that `--show parsed` has.
//!
//! An object makes a field when it is asked for, from the value that the client keeps. A message
//! may show no secret, so for a message the object is made from the JSON of `--show parsed`, where
//! secrets are masked.

use std::rc::Rc;

use serde_json::Value as Json;

use crate::cel::{self, Text, Value, View};
use crate::schema::{Kind, typed};
use xdsctl_channel::parsed::{FieldValue, Fields};
use xdsctl_model::resource::filter::FilterConfig;
use xdsctl_model::resource::route::RouteAction;

/// A value and the name of its resource.
struct NamedResource<'a>(&'a str, FieldValue<'a>);

impl<'a> View<'a> for NamedResource<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "name" => text(self.0),
            _ => self.1.get(field),
        }
    }
}

pub(crate) fn text(text: &str) -> Value<'_> {
    Value::Text(Text::Borrowed(text))
}

pub(crate) fn optional<'a, T>(of: Option<T>, make: impl FnOnce(T) -> Value<'a>) -> Value<'a> {
    of.map_or(Value::Null, make)
}

pub(crate) fn texts<'a, 't: 'a>(texts: impl IntoIterator<Item = &'t String>) -> Value<'a> {
    Value::list(texts.into_iter().map(|one| text(one)))
}

/// Returns what the schema has of JSON.
pub(crate) fn of_json<'a>(json: &Json, kind: &'static str) -> Value<'a> {
    typed(json, &Kind::Object(kind))
}

/// Returns a value without what must not be printed.
fn redacted<'a>(of: FieldValue<'_>, kind: &'static str) -> Value<'a> {
    of_json(&of.unabridged().redacted().into_value(), kind)
}

/// Returns an object of the schema.
pub(crate) fn object<'a>(kind: &'static str, of: &'a impl Fields, redacts: bool) -> Value<'a> {
    match redacts {
        true => redacted(of.into(), kind),
        false => Value::Record(of),
    }
}

/// Returns a resource as an object of the schema, with its name.
pub(crate) fn resource<'a>(kind: &'static str, name: &'a str, of: &'a impl Fields, redacts: bool) -> Value<'a> {
    if !redacts {
        return Value::object(NamedResource(name, of.into()));
    }
    let mut value = redacted(of.into(), kind);
    if let Value::Map(fields) = &mut value {
        Rc::make_mut(fields).insert(Text::Borrowed("name"), text(name));
    }
    value
}

/// Returns the config of an HTTP filter.
pub(crate) fn filter_config(config: &FilterConfig, redacts: bool) -> Value<'_> {
    match redacts {
        true => redacted(config.into(), "filter_config"),
        false => cel::filter_config(config.into()),
    }
}

/// Returns the retry policy of a route; null if it has none.
pub(crate) fn retry_policy(of: &RouteAction) -> Value<'_> {
    // Nothing in a retry policy can be secret.
    FieldValue::from(of).get("retry_policy")
}
