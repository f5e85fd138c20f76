//! The values that a difference shows, and the text by which elements of lists are recognised.
//!
//! Both leave out fields that carry no information. They are kept as JSON text, because a tree of
//! values takes many times as many bytes.

use std::fmt;

use serde_json::{Map, Value};

use super::values::PASSED_OVER;

/// Deepest value that is kept as text; a deeper one could not be read back.
const DEPTH_OF_TEXT: usize = 100;

/// A value of a field, without positions, default values, marks of defaults, and fields that only
/// follow from others.
///
/// It is displayed as JSON; a text is displayed without its quotes.
///
/// ```
/// use serde_json::json;
/// use xdsctl_lint::diff::compared_value::ComparedValue;
/// let value = ComparedValue::from(&json!({"name": "a", "path": "", "defaults": ["path"], "index": 3}));
/// assert_eq!(value.to_value(), json!({"name": "a"}));
/// assert_eq!([value.to_string(), ComparedValue::from(&json!("a")).to_string()], [r#"{"name":"a"}"#, "a"]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedValue(Kept);

#[derive(Debug, Clone, PartialEq)]
enum Kept {
    Text(Box<str>),
    /// A value that is too deep to be kept as text.
    Deep(Value),
}

impl ComparedValue {
    /// Returns the value as JSON.
    pub fn to_value(&self) -> Value {
        match &self.0 {
            Kept::Text(text) => serde_json::from_str(text).unwrap_or_default(),
            Kept::Deep(value) => value.clone(),
        }
    }
}

impl From<&Value> for ComparedValue {
    fn from(value: &Value) -> ComparedValue {
        ComparedValue(match is_shallow(value, DEPTH_OF_TEXT) {
            true => Kept::Text(text(value).into()),
            false => Kept::Deep(tidy(value)),
        })
    }
}

impl fmt::Display for ComparedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kept::Text(text) if text.starts_with('"') => {
                f.write_str(&serde_json::from_str::<String>(text).unwrap_or_default())
            }
            Kept::Text(text) => f.write_str(text),
            Kept::Deep(value) => value.fmt(f),
        }
    }
}

fn is_shallow(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Array(list) => list.iter().all(|item| is_shallow(item, below)),
        Value::Object(fields) => fields.values().all(|item| is_shallow(item, below)),
        _ => true,
    }
}

/// Returns the fields of an object that carry information.
fn telling(fields: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let defaults = fields.get("defaults").and_then(Value::as_array);
    let is_default = move |name: &str| defaults.is_some_and(|list| list.iter().any(|d| d.as_str() == Some(name)));
    fields
        .iter()
        .filter(move |(name, _)| !PASSED_OVER.contains(&name.as_str()) && !is_default(name))
}

/// Returns a value without the fields that carry no information.
fn tidy(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = telling(fields).map(|(name, value)| (name.clone(), tidy(value)));
            Value::Object(kept.collect())
        }
        Value::Array(values) => values.iter().map(tidy).collect(),
        other => other.clone(),
    }
}

/// Returns the JSON text of a value, without the fields that carry no information.
pub(super) fn text(value: &Value) -> String {
    let mut bytes = Vec::new();
    write(value, &mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(fields) => {
            out.push(b'{');
            for (number, (name, value)) in telling(fields).enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                leaf(name, out);
                out.push(b':');
                write(value, out);
            }
            out.push(b'}');
        }
        Value::Array(values) => {
            out.push(b'[');
            for (number, value) in values.iter().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                write(value, out);
            }
            out.push(b']');
        }
        Value::String(text) => leaf(text, out),
        other => out.extend(other.to_string().into_bytes()),
    }
}

fn leaf(text: &str, out: &mut Vec<u8>) {
    // Writing to memory does not fail, and a text can always be written as JSON.
    let _ = serde_json::to_writer(out, text);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_that_of_the_tidy_value() {
        for value in [
            json!(null),
            json!("a\"\n\u{1}é"),
            json!(1.5),
            json!([]),
            json!([1, [], {"a": null, "index": 1}]),
            json!({"index": 1, "a\"": {"b": 1, "c": [true, {"grpc": 1}], "defaults": ["b"]}, "d": -1}),
            json!({"defaults": 1, "a": {"defaults": ["a"]}}),
        ] {
            assert_eq!(text(&value), tidy(&value).to_string());
            assert_eq!(ComparedValue::from(&value).to_value(), tidy(&value));
        }
    }

    #[test]
    fn what_is_too_deep_for_text_is_kept() {
        let deep = (0..300).fold(json!({"index": 1, "x": 2}), |value, _| json!([value]));
        let told = ComparedValue::from(&deep);
        assert_eq!(told.to_value(), tidy(&deep));
        assert_eq!(told.to_string(), tidy(&deep).to_string());
    }
}
