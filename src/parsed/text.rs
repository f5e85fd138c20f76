//! The readable form of what is parsed: indented lines, defaults marked.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::object::DEFAULTS;

/// Spaces per level.
const INDENT: usize = 2;

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

/// Renders a value made by [`of`](super::of) as lines, each ended by a line feed.
///
/// ```
/// use serde_json::json;
/// let parsed = json!({"a": 1, "b": {"c": [], "defaults": ["c"]}, "defaults": ["a"]});
/// assert_eq!(xdsctl::parsed::text(&parsed), "a: 1 (default)\nb:\n  c: none (default)\n");
/// ```
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(fields) if is_ours(value) => object(fields, 0, &mut out),
        _ => {
            inline(value, &mut out);
            out.push('\n');
        }
    }
    out
}

/// Says whether the value is, or holds, an object of a parsed form; other JSON is printed on one line.
fn is_ours(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.get(DEFAULTS).is_some_and(Value::is_array) || fields.values().any(is_ours),
        Value::Array(values) => values.iter().any(is_ours),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn object(fields: &Map<String, Value>, depth: usize, out: &mut String) {
    let defaults: &[Value] = fields
        .get(DEFAULTS)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice);
    let is_list = fields.get(DEFAULTS).is_some_and(Value::is_array);
    let first = FIRST.iter().filter_map(|name| fields.get_key_value(*name));
    let others = fields.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
    // Short fields stand before those that take lines of their own.
    let (long, short): (Vec<_>, Vec<_>) = others.partition(|(_, value)| is_ours(value));
    let mut begun = false;
    for (name, value) in first.chain(short).chain(long) {
        if is_list && name == DEFAULTS {
            continue;
        }
        if begun {
            indent(depth, out);
        }
        begun = true;
        let is_default = defaults.iter().any(|d| d.as_str() == Some(name));
        field(name, value, is_default, depth, out);
    }
    if !begun {
        out.push_str("nothing\n");
    }
}

fn field(name: &str, value: &Value, is_default: bool, depth: usize, out: &mut String) {
    if name.chars().all(|c| !c.is_control()) && !name.is_empty() {
        out.push_str(name);
    } else {
        let _ = write!(out, "{name:?}");
    }
    out.push(':');
    match value {
        Value::Object(fields) if is_ours(value) => {
            out.push('\n');
            indent(depth + 1, out);
            object(fields, depth + 1, out);
        }
        Value::Array(values) if is_ours(value) => {
            out.push('\n');
            for value in values {
                indent(depth, out);
                out.push_str("- ");
                match value {
                    Value::Object(fields) => object(fields, depth + 1, out),
                    _ => {
                        inline(value, out);
                        out.push('\n');
                    }
                }
            }
        }
        _ => {
            out.push(' ');
            inline(value, out);
            if is_default {
                out.push_str(" (default)");
            }
            out.push('\n');
        }
    }
}

/// A value on one line: text bare where that is clear, lists of plain values separated by commas, the rest as JSON.
fn inline(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("none"),
        Value::Array(values) if values.is_empty() => out.push_str("none"),
        Value::Object(fields) if fields.is_empty() => out.push_str("none"),
        Value::String(text) if is_clear(text) => out.push_str(text),
        Value::Array(values) if values.iter().all(|v| !v.is_array() && !v.is_object()) => {
            for (i, value) in values.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                inline(value, out);
            }
        }
        _ => {
            let _ = write!(out, "{value}");
        }
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

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', depth * INDENT));
}
