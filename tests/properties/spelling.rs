//! Writes a message as protobuf JSON, in any of the spellings that a reader must accept.
//!
//! The spellings vary in both names of a field in any order, escapes, white space, numbers as
//! strings or with an exponent, enums by number, `null` and zero for absent fields, base64 of
//! either alphabet, and `@type` at any place. prost-reflect prints what is not varied here:
//! Timestamp and FieldMask.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD};
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, ReflectMessage, Value};

use super::POOL;

/// The largest integer up to which all integers are exact as an `f64`. A reader may read a number
/// with a fraction as one.
const EXACT: i128 = 1 << 53;

/// Makes the choices, all of them from a seed.
pub struct Speller {
    seed: u64,
    /// If set, equal values are spelt equally each time, as programs do.
    habit: Option<u64>,
    out: String,
}

impl Speller {
    /// Writes the JSON of `message` in the spelling that `seed` stands for.
    pub fn spell(seed: u64, message: &DynamicMessage) -> String {
        let mut speller = Speller {
            seed,
            habit: (!seed.is_multiple_of(3)).then_some(seed),
            out: String::new(),
        };
        speller.message(message);
        speller.space();
        speller.out
    }

    /// Returns a number below `n`.
    fn pick(&mut self, n: u64) -> u64 {
        // This is Knuth's MMIX generator, whose high bits are the good ones.
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % n
    }

    fn space(&mut self) {
        if self.pick(8) == 0 {
            let space = [" ", "\n", "\t", "\r\n  "][self.pick(4) as usize];
            self.out += space;
        }
    }

    fn token(&mut self, token: &str) {
        self.space();
        self.out += token;
    }

    /// Writes a string, with some characters as escapes.
    fn string(&mut self, text: &str) {
        self.token("\"");
        let is_escaped = self.pick(8) == 0;
        for c in text.chars() {
            match c {
                '"' => self.out += "\\\"",
                '\\' => self.out += "\\\\",
                '\n' => self.out += "\\n",
                '/' if is_escaped && self.pick(2) == 0 => self.out += "\\/",
                c if c < ' ' || is_escaped && self.pick(4) == 0 => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let escape = match self.pick(2) {
                            0 => format!("\\u{unit:04x}"),
                            _ => format!("\\u{unit:04X}"),
                        };
                        self.out += &escape;
                    }
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    /// Writes an object with these finished members, in any order.
    fn object(&mut self, mut members: Vec<String>) {
        self.token("{");
        let mut left = members.len();
        while left > 0 {
            let choices = if self.pick(4) == 0 { left as u64 } else { 1 };
            let member = members.remove(self.pick(choices) as usize);
            self.out += &member;
            left -= 1;
            if left > 0 {
                self.token(",");
            }
        }
        self.token("}");
    }

    /// Returns a member of an object as text.
    fn member(&mut self, name: &str, value: impl FnOnce(&mut Self)) -> String {
        let before = std::mem::take(&mut self.out);
        self.string(name);
        self.token(":");
        value(self);
        std::mem::replace(&mut self.out, before)
    }

    fn message(&mut self, message: &DynamicMessage) {
        let seed = self.seed;
        if let Some(habit) = self.habit {
            self.seed = habit;
        }
        self.message_here(message);
        if self.habit.is_some() {
            self.seed = seed;
            self.pick(1);
        }
    }

    fn message_here(&mut self, message: &DynamicMessage) {
        let descriptor = message.descriptor();
        match descriptor.full_name() {
            "google.protobuf.Any" => self.any(message),
            "google.protobuf.Duration" => self.duration(message),
            "google.protobuf.Timestamp" | "google.protobuf.FieldMask" => {
                let text = serde_json::to_string(message).unwrap();
                let value: String = serde_json::from_str(&text).unwrap();
                self.string(&value);
            }
            "google.protobuf.Value" => match message.fields().next() {
                Some((field, value)) => match (field.name(), value) {
                    ("null_value", _) => self.token("null"),
                    ("number_value", Value::F64(number)) => {
                        let text = self.float_text(*number, &format!("{number:?}"));
                        self.token(&text);
                    }
                    _ => self.value(&field.kind(), value),
                },
                None => self.token("null"),
            },
            "google.protobuf.Struct" | "google.protobuf.ListValue" => {
                let field = descriptor.fields().next().unwrap();
                self.field_value(&field, &message.get_field(&field));
            }
            name if is_wrapper(name) => {
                let field = descriptor.fields().next().unwrap();
                self.value(&field.kind(), &message.get_field(&field));
            }
            _ => {
                let members = self.members(message);
                self.object(members);
            }
        }
    }

    fn members(&mut self, message: &DynamicMessage) -> Vec<String> {
        let mut members = Vec::new();
        for field in message.descriptor().fields() {
            let name = if self.pick(2) == 0 {
                field.name().to_owned()
            } else {
                field.json_name().to_owned()
            };
            if message.has_field(&field) {
                members.push(self.member(&name, |s| s.field_value(&field, &message.get_field(&field))));
            } else if self.pick(8) == 0 && may_be_null(&field) {
                members.push(self.member(&name, |s| s.token("null")));
            } else if self.pick(8) == 0 && !field.supports_presence() {
                members.push(self.member(&name, |s| s.field_value(&field, &message.get_field(&field))));
            }
        }
        members
    }

    fn any(&mut self, message: &DynamicMessage) {
        let url = message.get_field_by_name("type_url").unwrap();
        let bytes = message.get_field_by_name("value").unwrap();
        let (Some(url), Value::Bytes(bytes)) = (url.as_str(), &*bytes) else {
            unreachable!("an Any has two fields");
        };
        if url.is_empty() {
            return self.object(Vec::new());
        }
        let name = url.rsplit('/').next().unwrap();
        let inner = DynamicMessage::decode(POOL.get_message_by_name(name).unwrap(), bytes.clone()).unwrap();
        let mut members = if has_own_form(name) {
            vec![self.member("value", |s| s.message(&inner))]
        } else {
            self.members(&inner)
        };
        let at = if self.pick(4) == 0 {
            self.pick(members.len() as u64 + 1) as usize
        } else {
            0
        };
        members.insert(at, self.member("@type", |s| s.string(url)));
        self.object(members);
    }

    /// Writes seconds with an exact fraction of any length.
    fn duration(&mut self, message: &DynamicMessage) {
        let part = |name| message.get_field_by_name(name).unwrap().into_owned();
        let (Value::I64(seconds), Value::I32(nanos)) = (part("seconds"), part("nanos")) else {
            unreachable!("a Duration has two fields");
        };
        let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
        let mut fraction = format!("{:09}", nanos.abs());
        let exact = fraction.trim_end_matches('0').len();
        fraction.truncate(exact + self.pick(10 - exact as u64) as usize);
        let dot = if fraction.is_empty() { "" } else { "." };
        self.string(&format!("{sign}{}{dot}{fraction}s", seconds.abs()));
    }

    fn field_value(&mut self, field: &FieldDescriptor, value: &Value) {
        match value {
            Value::List(list) => {
                self.token("[");
                for (i, item) in list.iter().enumerate() {
                    if i > 0 {
                        self.token(",");
                    }
                    self.value(&field.kind(), item);
                }
                self.token("]");
            }
            Value::Map(map) => {
                let Kind::Message(entry) = field.kind() else {
                    unreachable!("a map has entries");
                };
                let kind = entry.map_entry_value_field().kind();
                let members = map.iter().map(|(key, value)| {
                    let key = match key {
                        MapKey::Bool(key) => key.to_string(),
                        MapKey::I32(key) => key.to_string(),
                        MapKey::I64(key) => key.to_string(),
                        MapKey::U32(key) => key.to_string(),
                        MapKey::U64(key) => key.to_string(),
                        MapKey::String(key) => key.clone(),
                    };
                    self.member(&key, |s| s.value(&kind, value))
                });
                let members = members.collect();
                self.object(members);
            }
            value => self.value(&field.kind(), value),
        }
    }

    fn value(&mut self, kind: &Kind, value: &Value) {
        match value {
            Value::Bool(value) => self.token(if *value { "true" } else { "false" }),
            Value::I32(value) => self.integer((*value).into()),
            Value::I64(value) => self.integer((*value).into()),
            Value::U32(value) => self.integer((*value).into()),
            Value::U64(value) => self.integer((*value).into()),
            Value::F32(value) => self.float((*value).into(), &format!("{value:?}")),
            Value::F64(value) => self.float(*value, &format!("{value:?}")),
            Value::String(value) => self.string(value),
            Value::Bytes(value) => {
                let engine = [
                    BASE64_STANDARD,
                    BASE64_STANDARD_NO_PAD,
                    BASE64_URL_SAFE,
                    BASE64_URL_SAFE_NO_PAD,
                ];
                let engine = &engine[self.pick(4) as usize];
                self.string(&engine.encode(value));
            }
            Value::EnumNumber(number) => {
                let Kind::Enum(descriptor) = kind else {
                    unreachable!("an enum has a number");
                };
                if descriptor.full_name() == "google.protobuf.NullValue" {
                    return self.token("null");
                }
                // Uses one of the names, if there are several.
                let names: Vec<_> = descriptor.values().filter(|v| v.number() == *number).collect();
                if names.is_empty() || self.pick(2) == 0 {
                    self.token(&number.to_string());
                } else {
                    let name = names[self.pick(names.len() as u64) as usize].name().to_owned();
                    self.string(&name);
                }
            }
            Value::Message(message) => self.message(message),
            Value::List(_) | Value::Map(_) => unreachable!("the field has them"),
        }
    }

    fn integer(&mut self, value: i128) {
        let form = self.pick(if value.abs() <= EXACT { 6 } else { 2 });
        match form {
            1 => self.string(&value.to_string()),
            2 => self.token(&format!("{value}.0")),
            3 => self.token(&format!("{value}e0")),
            4 if value % 10 == 0 => self.token(&format!("{}E+1", value / 10)),
            5 if value != 0 => self.token(&format!("{value}000e-3")),
            _ => self.token(&value.to_string()),
        }
    }

    /// Writes a number whose shortest form is `shortest`; as a string if the number requires it.
    fn float(&mut self, value: f64, shortest: &str) {
        let text = match value {
            _ if value.is_nan() => "NaN".to_owned(),
            f64::INFINITY => "Infinity".to_owned(),
            f64::NEG_INFINITY => "-Infinity".to_owned(),
            _ => self.float_text(value, shortest),
        };
        if !value.is_finite() || self.pick(3) == 0 {
            self.string(&text);
        } else {
            self.token(&text);
        }
    }

    fn float_text(&mut self, value: f64, shortest: &str) -> String {
        match self.pick(4) {
            0 if value.fract() == 0.0 && value.abs() <= EXACT as f64 => format!("{value:.0}"),
            1 if !shortest.contains('e') => format!("{shortest}e0"),
            2 if !shortest.contains('e') => format!("{shortest}E-00"),
            _ => shortest.to_owned(),
        }
    }
}

fn is_wrapper(name: &str) -> bool {
    let name = name.strip_prefix("google.protobuf.").unwrap_or_default();
    name != "Value" && name != "ListValue" && !name.contains('.') && name.ends_with("Value")
}

/// Says whether an Any has the message under `value`.
fn has_own_form(name: &str) -> bool {
    is_wrapper(name)
        || name.strip_prefix("google.protobuf.").is_some_and(|name| {
            [
                "Any",
                "Duration",
                "Timestamp",
                "FieldMask",
                "Struct",
                "Value",
                "ListValue",
                "Empty",
            ]
            .contains(&name)
        })
}

/// Says whether `null` can stand for the absent field: it can, except where it is a value.
fn may_be_null(field: &FieldDescriptor) -> bool {
    match field.kind() {
        Kind::Message(message) => message.full_name() != "google.protobuf.Value",
        Kind::Enum(item) => item.full_name() != "google.protobuf.NullValue",
        _ => true,
    }
}
