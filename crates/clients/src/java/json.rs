//! JSON as grpc-java reads it (JsonUtil): all numbers are doubles, a string is accepted for a
//! number, and null is a wrong type everywhere.

use serde_json::{Map, Value};

use xdsctl_model::resource::MAX_DURATION_SECONDS;

/// A value, or why a parser refuses the config.
pub(super) type JavaParsed<T = ()> = Result<T, String>;

/// Returns a Struct as the client prints it; a value without a kind is null. `None` if a number is
/// infinite or NaN.
pub(super) fn of_struct(fields: Option<&prost_types::Struct>) -> Option<Map<String, Value>> {
    let fields = fields.into_iter().flat_map(|fields| &fields.fields);
    let fields = fields.map(|(key, value)| Some((key.clone(), of_value(value)?)));
    fields.collect()
}

fn of_value(value: &prost_types::Value) -> Option<Value> {
    use prost_types::value::Kind;
    Some(match &value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::NumberValue(number)) => Value::Number(serde_json::Number::from_f64(*number)?),
        Some(Kind::StringValue(text)) => Value::String(text.clone()),
        Some(Kind::BoolValue(flag)) => Value::Bool(*flag),
        Some(Kind::StructValue(fields)) => Value::Object(of_struct(Some(fields))?),
        Some(Kind::ListValue(list)) => Value::Array(list.values.iter().map(of_value).collect::<Option<_>>()?),
    })
}

/// An object whose fields are read by their exact names.
#[derive(Debug, Clone, Copy)]
pub(super) struct JavaObject<'v>(pub &'v Map<String, Value>);

impl<'v> JavaObject<'v> {
    pub(super) fn get(self, name: &str) -> Option<&'v Value> {
        self.0.get(name)
    }

    /// Reads a field with `of`; `kind` is what it must be.
    fn typed<T>(self, name: &str, kind: &str, of: impl FnOnce(&'v Value) -> Option<T>) -> JavaParsed<Option<T>> {
        let read = self
            .get(name)
            .map(|value| of(value).ok_or_else(|| format!("{name} is {kind}")));
        read.transpose()
    }

    /// Reads a boolean (`getBoolean`).
    pub(super) fn bool(self, name: &str) -> JavaParsed<Option<bool>> {
        self.typed(name, "no boolean", Value::as_bool)
    }

    /// Reads a string (`getString`).
    pub(super) fn text(self, name: &str) -> JavaParsed<Option<&'v str>> {
        self.typed(name, "no text", Value::as_str)
    }

    /// Reads an object (`getObject`).
    pub(super) fn object(self, name: &str) -> JavaParsed<Option<JavaObject<'v>>> {
        self.typed(name, "no object", |value| value.as_object().map(JavaObject))
    }

    /// Reads a list (`getList`).
    pub(super) fn list(self, name: &str) -> JavaParsed<Option<&'v Vec<Value>>> {
        self.typed(name, "no list", Value::as_array)
    }

    /// Reads a list of objects (`getListOfObjects`).
    pub(super) fn objects(self, name: &str) -> JavaParsed<Option<Vec<JavaObject<'v>>>> {
        self.elements(name, "object", |value| value.as_object().map(JavaObject))
    }

    /// Reads a list of strings (`getListOfStrings`).
    pub(super) fn texts(self, name: &str) -> JavaParsed<Option<Vec<&'v str>>> {
        self.elements(name, "text", Value::as_str)
    }

    fn elements<T>(self, name: &str, kind: &str, of: fn(&'v Value) -> Option<T>) -> JavaParsed<Option<Vec<T>>> {
        let read = |value| of(value).ok_or_else(|| format!("an entry of {name} is no {kind}"));
        let list = self.list(name)?;
        list.map(|list| list.iter().map(read).collect()).transpose()
    }

    /// Reads a whole number of 32 bits (`getNumberAsInteger`).
    pub(super) fn integer(self, name: &str) -> JavaParsed<Option<i32>> {
        let whole = |number: f64| {
            let is_whole = number.fract() == 0.0 && number >= f64::from(i32::MIN) && number <= f64::from(i32::MAX);
            #[expect(clippy::cast_possible_truncation, reason = "whole and within the range")]
            let value = number as i32;
            is_whole.then_some(value)
        };
        self.number(name, "not a whole number of 32 bits", whole)
    }

    /// Reads a whole number of 64 bits (`getNumberAsLong`). The doubles at the ends of the range
    /// stand for the ends.
    pub(super) fn long(self, name: &str) -> JavaParsed<Option<i64>> {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        let whole = |number: f64| {
            let is_whole = number.fract() == 0.0 && number.abs() <= LIMIT;
            #[expect(clippy::cast_possible_truncation, reason = "whole and within the range")]
            let value = number as i64;
            is_whole.then_some(value)
        };
        self.number(name, "not a whole number of 64 bits", whole)
    }

    /// Reads a double (`getNumberAsDouble`).
    pub(super) fn double(self, name: &str) -> JavaParsed<Option<f64>> {
        match self.get(name) {
            Some(Value::String(text)) => match double_of_text(text) {
                Some(number) => Ok(Some(number)),
                None => Err(format!("{name} is no number")),
            },
            _ => self.number(name, "not a number", Some),
        }
    }

    fn number<T: std::str::FromStr>(
        self,
        name: &str,
        kind: &str,
        of: impl Fn(f64) -> Option<T>,
    ) -> JavaParsed<Option<T>> {
        self.typed(name, kind, |value| match value {
            Value::Number(number) => number.as_f64().and_then(of),
            Value::String(text) => text.parse().ok(),
            _ => None,
        })
    }

    /// Reads a duration like `-1.5s` (`getStringAsDuration`), in nanoseconds of at most 63 bits.
    pub(super) fn duration(self, name: &str) -> JavaParsed<Option<i64>> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let nanos = nanos_of_text(text).ok_or_else(|| format!("{name} is no duration"));
        nanos.map(Some)
    }
}

/// Reads a double (`Double.parseDouble`), but no hexadecimal number.
fn double_of_text(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    match number.trim_start_matches(['+', '-']) {
        "NaN" | "Infinity" => number.parse().ok(),
        digits => digits
            .starts_with(|c: char| c.is_ascii_digit() || c == '.')
            .then(|| number.parse().ok())
            .flatten(),
    }
}

/// Reads a duration (`parseDuration`); of a fraction, the client reads nine places.
fn nanos_of_text(text: &str) -> Option<i64> {
    let text = text.strip_suffix('s')?;
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text),
    };
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = seconds.parse().ok().filter(|seconds| *seconds >= 0)?;
    let mut nanos = 0i64;
    let mut places = fraction.chars();
    for _ in 0..9 {
        let digit = places.next().map_or(Some(0), |c| c.to_digit(10))?;
        nanos = nanos * 10 + i64::from(digit);
    }
    (seconds <= MAX_DURATION_SECONDS).then(|| sign * seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_number_of_seconds() {
        for (text, nanos) in [
            ("1s", 1_000_000_000),
            ("-1.5s", -1_500_000_000),
            ("+1.s", 1_000_000_000),
            ("0.1234567891x s", 123_456_789),
        ] {
            assert_eq!(nanos_of_text(text), Some(nanos), "{text:?}");
        }
        for text in ["", "s", "1", ".5s", "--1s", "1.x", "1.x0s", "315576000001s"] {
            assert_eq!(nanos_of_text(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_text_will_do_for_a_number() {
        let object = serde_json::json!({"a": "5", "b": 5.5, "c": "x", "d": null, "e": 3e9, "f": "1.5f"});
        let object = JavaObject(object.as_object().unwrap());
        assert_eq!(object.integer("a"), Ok(Some(5)));
        assert_eq!(object.integer("missing"), Ok(None));
        for name in ["b", "c", "d", "e"] {
            assert!(object.integer(name).is_err(), "{name}");
        }
        assert_eq!(object.long("e"), Ok(Some(3_000_000_000)));
        assert_eq!(object.double("f"), Ok(Some(1.5)));
    }
}
