//! The readable form of what is parsed: indented lines, defaults marked.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde_json::{Map, Value};

use super::object::DEFAULTS;
use super::shown::Shown;

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

/// Renders a parsed form as lines, each ended by a line feed.
///
/// ```
/// use serde_json::json;
/// use xdsctl_channel::parsed::{Shown, text};
/// let parsed = Shown::Plain(json!({"a": 1, "b": {"c": [], "defaults": ["c"]}, "defaults": ["a"]}));
/// assert_eq!(text(&parsed), "a: 1 (default)\nb:\n  c: none (default)\n");
/// ```
pub fn text(shown: &Shown<'_>) -> String {
    let mut out = String::new();
    // A string takes whatever is written.
    let _ = write(shown, &mut out);
    out
}

/// Writes a parsed form as lines, each ended by a line feed; what is made one by one is written so.
///
/// # Errors
/// Those of `out`.
pub fn write(shown: &Shown<'_>, out: &mut dyn fmt::Write) -> fmt::Result {
    element(shown, 0, out)
}

/// The lines of a whole form, or of an element of a list.
fn element(shown: &Shown<'_>, depth: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    let mut text = String::new();
    match shown {
        Shown::Object(parts) => return streamed(parts, depth, out),
        Shown::Plain(Value::Object(fields)) if is_ours_below(fields) => object(fields, depth, &mut text),
        shown => {
            inline(&shown.to_value(), &mut text);
            text.push('\n');
        }
    }
    out.write_str(&text)
}

/// The fields of an object that has parts which are made now.
fn streamed(parts: &BTreeMap<String, Shown<'_>>, depth: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    let defaults = match parts.get(DEFAULTS) {
        Some(Shown::Plain(Value::Array(defaults))) => defaults.as_slice(),
        _ => &[],
    };
    let is_long = |part: &Shown<'_>| match part {
        Shown::Plain(value) => is_ours(value),
        Shown::Object(_) => true,
        Shown::List(list) => !list.is_empty(),
    };
    let first = FIRST.iter().filter_map(|name| parts.get_key_value(*name));
    let others = parts
        .iter()
        .filter(|(name, _)| !FIRST.contains(&name.as_str()) && *name != DEFAULTS);
    let (long, short): (Vec<_>, Vec<_>) = others.partition(|(_, part)| is_long(part));
    for (number, (name, part)) in first.chain(short).chain(long).enumerate() {
        let mut text = String::new();
        if number > 0 {
            indent(depth, &mut text);
        }
        match part {
            Shown::Object(below) => {
                let _ = writeln!(text, "{name}:");
                indent(depth + 1, &mut text);
                out.write_str(&text)?;
                streamed(below, depth + 1, out)?;
            }
            Shown::List(list) if is_long(part) => {
                let _ = writeln!(text, "{name}:");
                out.write_str(&text)?;
                for shown in list.iter() {
                    text.clear();
                    indent(depth, &mut text);
                    text.push_str("- ");
                    out.write_str(&text)?;
                    element(&shown, depth + 1, out)?;
                }
            }
            Shown::List(_) => {
                let _ = writeln!(text, "{name}: none");
                out.write_str(&text)?;
            }
            Shown::Plain(value) => {
                let is_default = defaults.iter().any(|default| default.as_str() == Some(name));
                field(name, value, is_default, depth, &mut text);
                out.write_str(&text)?;
            }
        }
    }
    Ok(())
}

/// Says whether the object is one of a parsed form, or holds one.
fn is_ours_below(fields: &Map<String, Value>) -> bool {
    fields.get(DEFAULTS).is_some_and(Value::is_array) || fields.values().any(is_ours)
}

/// Says whether the value is, or holds, an object of a parsed form; other JSON is printed on one line.
fn is_ours(value: &Value) -> bool {
    match value {
        Value::Object(fields) => is_ours_below(fields),
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
