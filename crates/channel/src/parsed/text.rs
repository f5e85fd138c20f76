//! The readable form of what is parsed: indented lines with marked defaults.

use std::fmt;

use serde_json::Value;

use super::fields::DEFAULTS;
use super::parsed_value::ParsedValue;

/// The indentation of a line, for each level.
const INDENT: &str = "  ";

/// Fields that come first in their object, in this order.
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

/// Writes a parsed form as lines, each ended by a line feed. Lists are written one element at a
/// time.
///
/// ```
/// use serde_json::json;
/// use xdsctl_channel::parsed::{ParsedValue, write};
/// let parsed = ParsedValue::Plain(json!({"a": 1, "b": {"c": [], "defaults": ["c"]}, "defaults": ["a"]}));
/// let mut text = String::new();
/// write(parsed, &mut text).unwrap();
/// assert_eq!(text, "a: 1 (default)\nb:\n  c: none (default)\n");
/// ```
///
/// # Errors
/// The errors of `out`.
pub fn write(shown: ParsedValue<'_>, out: &mut dyn fmt::Write) -> fmt::Result {
    match is_long(&shown) {
        true => whole(shown, 0, out),
        false => inline(&shown.into_value(), out).and_then(|()| out.write_char('\n')),
    }
}

type FormFields<'r> = Vec<(String, ParsedValue<'r>)>;

/// Says whether the part takes lines of its own, because it is or holds an object of a parsed form.
fn is_long(part: &ParsedValue<'_>) -> bool {
    match part {
        ParsedValue::Plain(value) => is_ours(value),
        ParsedValue::Object(_) => true,
        ParsedValue::List(list) => !list.is_empty(),
    }
}

/// Says whether the value is or holds an object of a parsed form. Other JSON is printed on one
/// line.
fn is_ours(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.get(DEFAULTS).is_some_and(Value::is_array) || fields.values().any(is_ours),
        Value::Array(values) => values.iter().any(is_ours),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn object(mut fields: FormFields<'_>, depth: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    let listed = fields.iter().find_map(|(name, part)| match part {
        ParsedValue::Plain(Value::Array(defaults)) if name == DEFAULTS => Some(defaults.clone()),
        _ => None,
    });
    fields.retain(|(name, _)| listed.is_none() || name != DEFAULTS);
    let defaults = listed.unwrap_or_default();
    // Short fields come before those that take lines of their own.
    fields.sort_by_cached_key(|(name, part)| match FIRST.iter().position(|first| first == name) {
        Some(place) => (place, false),
        None => (FIRST.len(), is_long(part)),
    });
    if fields.is_empty() {
        return out.write_str("nothing\n");
    }
    for (number, (name, part)) in fields.into_iter().enumerate() {
        if number > 0 {
            indent(depth, out)?;
        }
        let is_default = defaults.iter().any(|default| default.as_str() == Some(&name));
        field(&name, part, is_default, depth, out)?;
    }
    Ok(())
}

fn field(name: &str, part: ParsedValue<'_>, is_default: bool, depth: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    match name.chars().all(|c| !c.is_control()) && !name.is_empty() {
        true => write!(out, "{name}:")?,
        false => write!(out, "{name:?}:")?,
    }
    if !is_long(&part) {
        out.write_char(' ')?;
        inline(&part.into_value(), out)?;
        return out.write_str(if is_default { " (default)\n" } else { "\n" });
    }
    out.write_char('\n')?;
    match part {
        ParsedValue::List(list) => list.iter().try_for_each(|shown| element(shown, depth, out)),
        ParsedValue::Plain(Value::Array(values)) => {
            let mut values = values.into_iter();
            values.try_for_each(|value| element(ParsedValue::Plain(value), depth, out))
        }
        part => {
            indent(depth + 1, out)?;
            whole(part, depth + 1, out)
        }
    }
}

/// Writes the lines of a list's element.
fn element(part: ParsedValue<'_>, depth: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    indent(depth, out)?;
    out.write_str("- ")?;
    whole(part, depth + 1, out)
}

/// Writes the lines of an object, or the line of another value.
fn whole(part: ParsedValue<'_>, depth: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    match part {
        ParsedValue::Plain(Value::Object(fields)) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(name, value)| (name, ParsedValue::Plain(value)));
            object(fields.collect(), depth, out)
        }
        ParsedValue::Object(parts) => object(parts.into_iter().collect(), depth, out),
        other => inline(&other.into_value(), out).and_then(|()| out.write_char('\n')),
    }
}

/// Writes a value on one line: text without quotes if that is clear, lists of plain values
/// separated by commas, the rest as JSON.
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

/// Says whether text can stand without quotes among other text.
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
