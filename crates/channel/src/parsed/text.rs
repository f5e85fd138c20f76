//! The readable form of what is parsed: indented lines, defaults marked.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::fields::DEFAULTS;
use super::parsed_value::{List, ParsedValue};

/// What stands before a line, per level.
const INDENT: &str = "  ";

/// Names that come first in their object, in this order.
const FIRST: &[&str] = &[
    "index",
    "priority",
    "name",
    "type",
    "address",
    "prefix",
    "path",
    "safe_regex",
    "match",
];

/// Writes a parsed form as lines, each ended by a line feed; what is made one by one is written so.
///
/// ```
/// use serde_json::json;
/// use xdsctl_channel::parsed::{ParsedValue, write};
/// let parsed = ParsedValue::Plain(json!({"a": 1, "b": {"c": [], "defaults": ["c"]}, "defaults": ["a"]}));
/// let mut text = String::new();
/// write(&parsed, &mut text).unwrap();
/// assert_eq!(text, "a: 1 (default)\nb:\n  c: none (default)\n");
/// ```
///
/// # Errors
/// Those of `out`.
pub fn write(shown: &ParsedValue<'_>, out: &mut dyn fmt::Write) -> fmt::Result {
    let part = FormPart::of(shown);
    match part.fields() {
        Some(fields) if part.is_long() => object(fields, 0, out),
        _ => inline(&shown.to_value(), out).and_then(|()| out.write_char('\n')),
    }
}

/// A part of a form.
#[derive(Clone, Copy)]
enum FormPart<'a, 'r> {
    /// It is made already.
    Made(&'a Value),
    /// An object with parts that are not.
    Object(&'a BTreeMap<String, ParsedValue<'r>>),
    /// A list whose elements are made one by one.
    List(&'a List<'r>),
}

type FormFields<'a, 'r> = Vec<(&'a String, FormPart<'a, 'r>)>;

impl<'a, 'r> FormPart<'a, 'r> {
    fn of(shown: &'a ParsedValue<'r>) -> FormPart<'a, 'r> {
        match shown {
            ParsedValue::Plain(value) => FormPart::Made(value),
            ParsedValue::Object(parts) => FormPart::Object(parts),
            ParsedValue::List(list) => FormPart::List(list),
        }
    }

    /// Says whether it takes lines of its own: it is, or holds, an object of a parsed form.
    fn is_long(self) -> bool {
        match self {
            FormPart::Made(value) => is_ours(value),
            FormPart::Object(_) => true,
            FormPart::List(list) => !list.is_empty(),
        }
    }

    /// The fields, if it is an object.
    fn fields(self) -> Option<FormFields<'a, 'r>> {
        match self {
            FormPart::Made(Value::Object(fields)) => Some(
                fields
                    .iter()
                    .map(|(name, value)| (name, FormPart::Made(value)))
                    .collect(),
            ),
            FormPart::Object(parts) => Some(parts.iter().map(|(name, part)| (name, FormPart::of(part))).collect()),
            FormPart::Made(_) | FormPart::List(_) => None,
        }
    }
}

/// Says whether the value is, or holds, an object of a parsed form; other JSON is printed on one
/// line.
fn is_ours(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.get(DEFAULTS).is_some_and(Value::is_array) || fields.values().any(is_ours),
        Value::Array(values) => values.iter().any(is_ours),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn object(mut fields: FormFields<'_, '_>, depth: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    let listed = fields.iter().find_map(|(name, part)| match part {
        FormPart::Made(Value::Array(defaults)) if *name == DEFAULTS => Some(defaults),
        _ => None,
    });
    let defaults = listed.map_or(&[][..], Vec::as_slice);
    fields.retain(|(name, _)| listed.is_none() || *name != DEFAULTS);
    // Short fields stand before those that take lines of their own.
    fields.sort_by_cached_key(|(name, part)| match FIRST.iter().position(|first| first == name) {
        Some(place) => (place, false),
        None => (FIRST.len(), part.is_long()),
    });
    if fields.is_empty() {
        return out.write_str("nothing\n");
    }
    for (number, (name, part)) in fields.into_iter().enumerate() {
        if number > 0 {
            indent(depth, out)?;
        }
        let is_default = defaults.iter().any(|default| default.as_str() == Some(name));
        field(name, part, is_default, depth, out)?;
    }
    Ok(())
}

fn field(name: &str, part: FormPart<'_, '_>, is_default: bool, depth: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    match name.chars().all(|c| !c.is_control()) && !name.is_empty() {
        true => write!(out, "{name}:")?,
        false => write!(out, "{name:?}:")?,
    }
    match (part, part.fields().filter(|_| part.is_long())) {
        (_, Some(fields)) => {
            out.write_char('\n')?;
            indent(depth + 1, out)?;
            object(fields, depth + 1, out)
        }
        (FormPart::Made(Value::Array(values)), None) if part.is_long() => {
            out.write_char('\n')?;
            values
                .iter()
                .try_for_each(|value| element(FormPart::Made(value), depth, out))
        }
        (FormPart::List(list), None) if part.is_long() => {
            out.write_char('\n')?;
            list.iter()
                .try_for_each(|shown| element(FormPart::of(&shown), depth, out))
        }
        (part, None) => {
            out.write_char(' ')?;
            match part {
                FormPart::Made(value) => inline(value, out)?,
                FormPart::Object(_) | FormPart::List(_) => out.write_str("none")?,
            }
            out.write_str(if is_default { " (default)\n" } else { "\n" })
        }
    }
}

/// The lines of an element of a list.
fn element(part: FormPart<'_, '_>, depth: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    indent(depth, out)?;
    out.write_str("- ")?;
    match (part.fields(), part) {
        (Some(fields), _) => object(fields, depth + 1, out),
        (None, FormPart::Made(value)) => inline(value, out).and_then(|()| out.write_char('\n')),
        (None, FormPart::Object(_) | FormPart::List(_)) => out.write_char('\n'),
    }
}

/// A value on one line: text bare where that is clear, lists of plain values separated by commas,
/// the rest as JSON.
fn inline(value: &Value, out: &mut dyn fmt::Write) -> fmt::Result {
    match value {
        Value::Null => out.write_str("none"),
        Value::Array(values) if values.is_empty() => out.write_str("none"),
        Value::Object(fields) if fields.is_empty() => out.write_str("none"),
        Value::String(text) if is_clear(text) => out.write_str(text),
        Value::Array(values) if values.iter().all(|v| !v.is_array() && !v.is_object()) => {
            for (i, value) in values.iter().enumerate() {
                out.write_str(if i > 0 { ", " } else { "" })?;
                inline(value, out)?;
            }
            Ok(())
        }
        _ => write!(out, "{value}"),
    }
}

/// Text that needs no quotes to be told from what is around it.
fn is_clear(text: &str) -> bool {
    !text.is_empty()
        && text != "none"
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || ".:/-_*[]@%+=<>".contains(c))
}

fn indent(depth: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    (0..depth).try_for_each(|_| out.write_str(INDENT))
}
