//! Reading the JSON configs of LB policies as the client's loader does.
//!
//! Every policy reads its fields with the functions here, so the loader's habits have one home:
//! `null` is an absent field, a number may be a text, a duration is a text such as `1.5s`, unknown
//! keys are ignored, and a fault in one field does not stop the next one from being read. Places
//! are in the loader's own notation, relative to the policy's config: `targets["a"].weight`.
//!
//! Follows C-core `json_object_loader.cc` and `LoadBalancingPolicyRegistry`
//! (lb_policy_registry.cc). The texts of numbers are read as absl `SimpleAtoi` and `SimpleAtof`
//! read them.

use std::fmt;

use serde_json::{Map, Value};

use super::number;
use xdsctl_model::diag::{Rule, rules};
use xdsctl_model::resource::{MAX_DURATION_SECONDS, Millis};

rules! {
    /// A field that an LB policy needs is missing from its JSON config, or null.
    LB_JSON_FIELD_MISSING = "lb-json-field-missing", Lb, Nack, "C-core json_object_loader.cc LoadObject; each policy's JsonPostLoad";
    /// A field of an LB policy's JSON config is not of the type that the policy reads.
    LB_JSON_WRONG_TYPE = "lb-json-wrong-type", Lb, Nack, "C-core json_object_loader.cc";
    /// A duration in an LB policy's JSON config is not a text of seconds in range.
    LB_JSON_DURATION = "lb-json-duration", Lb, Nack, "C-core json_object_loader.cc LoadDuration";
    /// A text, list or key in an LB policy's JSON config is empty and must not be.
    LB_JSON_EMPTY = "lb-json-empty", Lb, Nack, "C-core autosharding.cc, rls.cc JsonPostLoad";
}

/// The largest number of digits after the point of a duration.
const MAX_DURATION_DECIMALS: usize = 9;

/// One fault in a policy's config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    /// The kind of fault.
    pub rule: &'static Rule,
    /// The place, relative to the policy's config; empty for the config as a whole.
    pub path: String,
    /// What is wrong, in the form of a diagnostic's message.
    pub message: String,
    /// What is wrong inside the child policy at `path`, relative to the child's config.
    pub inner: Vec<ConfigFault>,
}

/// The faults found so far in one policy's config.
pub type Faults = Vec<ConfigFault>;

/// Lists faults in words that cannot be mistaken for the client's own.
pub fn words(faults: &[ConfigFault]) -> String {
    let list: Vec<String> = faults
        .iter()
        .map(|fault| {
            let inner = match fault.inner.as_slice() {
                [] => String::new(),
                inner => format!(" ({})", words(inner)),
            };
            format!("at {}: {}{inner}", fault.path, fault.message)
        })
        .collect();
    list.join("; ")
}

/// A place in a policy's config: a linked list on the stack, rendered only for a fault.
#[derive(Debug, Clone, Copy)]
pub struct ConfigPlace<'a> {
    parent: Option<&'a ConfigPlace<'a>>,
    step: PlaceStep<'a>,
}

#[derive(Debug, Clone, Copy)]
enum PlaceStep<'a> {
    Top,
    Field(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> ConfigPlace<'a> {
    /// The place of the config itself.
    pub const TOP: ConfigPlace<'static> = ConfigPlace {
        parent: None,
        step: PlaceStep::Top,
    };

    /// Returns the place of a field at this place.
    pub const fn field(&'a self, name: &'a str) -> ConfigPlace<'a> {
        self.then(PlaceStep::Field(name))
    }

    /// Returns the place of an element of the list at this place.
    pub const fn index(&'a self, index: usize) -> ConfigPlace<'a> {
        self.then(PlaceStep::Index(index))
    }

    /// Returns the place of an entry of the map at this place.
    pub const fn key(&'a self, key: &'a str) -> ConfigPlace<'a> {
        self.then(PlaceStep::Key(key))
    }

    const fn then(&'a self, step: PlaceStep<'a>) -> ConfigPlace<'a> {
        ConfigPlace {
            parent: Some(self),
            step,
        }
    }

    /// Records a fault at this place.
    #[cold]
    pub fn fault(&self, rule: &'static Rule, message: fmt::Arguments<'_>, faults: &mut Faults) {
        faults.push(ConfigFault {
            rule,
            path: self.to_string(),
            message: message.to_string(),
            inner: Vec::new(),
        });
    }
}

impl fmt::Display for ConfigPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at_start = match self.parent {
            Some(parent) => {
                parent.fmt(f)?;
                parent.parent.is_none()
            }
            None => true,
        };
        match self.step {
            PlaceStep::Top => Ok(()),
            PlaceStep::Field(name) if at_start => f.write_str(name),
            PlaceStep::Field(name) => write!(f, ".{name}"),
            PlaceStep::Index(index) => write!(f, "[{index}]"),
            PlaceStep::Key(key) => write!(f, "[\"{key}\"]"),
        }
    }
}

/// Names the kind of a JSON value for a message.
const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cold]
fn wrong_type(value: &Value, wanted: &str, at: &ConfigPlace<'_>, faults: &mut Faults) {
    at.fault(
        &LB_JSON_WRONG_TYPE,
        format_args!("is {}, must be {wanted}", kind(value)),
        faults,
    );
}

/// Reads a value of one type.
fn typed<T>(read: Option<T>, value: &Value, wanted: &str, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<T> {
    if read.is_none() {
        wrong_type(value, wanted, at, faults);
    }
    read
}

/// Reads an object.
pub fn object<'j>(value: &'j Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<&'j Map<String, Value>> {
    typed(value.as_object(), value, "an object", at, faults)
}

/// Reads a list.
pub fn list<'j>(value: &'j Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<&'j [Value]> {
    typed(value.as_array().map(Vec::as_slice), value, "a list", at, faults)
}

/// Reads a boolean. A text such as `"true"` is a fault.
pub fn boolean(value: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<bool> {
    typed(value.as_bool(), value, "a boolean", at, faults)
}

/// Reads a text.
pub fn text<'j>(value: &'j Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<&'j str> {
    typed(value.as_str(), value, "a text", at, faults)
}

/// A number as the loader leaves it in the config.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadedNumber<T> {
    /// The value. After a fault it is what the parser had read so far, because some later checks
    /// look at it.
    pub value: T,
    /// Whether the number was read without a fault.
    pub sound: bool,
}

impl<T> LoadedNumber<T> {
    /// Makes the number of an absent field from its default.
    pub const fn default(value: T) -> Self {
        LoadedNumber { value, sound: true }
    }
}

/// Reads an unsigned number of at most `max`. A value that is neither a number nor a text is a
/// fault that leaves `default`.
pub fn unsigned(value: &Value, max: u64, default: u64, at: &ConfigPlace<'_>, faults: &mut Faults) -> LoadedNumber<u64> {
    let wanted = format_args!("a whole number from 0 to {max}");
    whole(
        value,
        |text| number::parse_unsigned(text, max),
        default,
        wanted,
        at,
        faults,
    )
}

/// Reads a signed 64-bit number; see [`unsigned`].
pub fn signed(value: &Value, default: i64, at: &ConfigPlace<'_>, faults: &mut Faults) -> LoadedNumber<i64> {
    let wanted = format_args!("a whole number of 64 bits");
    whole(value, number::parse_signed, default, wanted, at, faults)
}

fn whole<T>(
    value: &Value,
    parse: impl FnOnce(&str) -> LoadedNumber<T>,
    default: T,
    wanted: fmt::Arguments<'_>,
    at: &ConfigPlace<'_>,
    faults: &mut Faults,
) -> LoadedNumber<T> {
    let Some(parsed) = number::with_text(value, parse) else {
        wrong_type(value, "a number", at, faults);
        return LoadedNumber {
            value: default,
            sound: false,
        };
    };
    if !parsed.sound {
        at.fault(
            &LB_JSON_WRONG_TYPE,
            format_args!("is `{}`, must be {wanted}", plain(value)),
            faults,
        );
    }
    parsed
}

/// Reads a floating-point number.
pub fn float(value: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<f32> {
    let read = number::with_text(value, number::parse_float);
    let number = typed(read, value, "a number", at, faults)?;
    if number.is_none() {
        at.fault(
            &LB_JSON_WRONG_TYPE,
            format_args!("is `{}`, must be a number", plain(value)),
            faults,
        );
    }
    number
}

/// Prints a value for a message. A text has no quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number::print(number),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Reads a duration: a text of seconds, with at most nine decimals, that ends in `s`.
pub fn duration(value: &Value, at: &ConfigPlace<'_>, faults: &mut Faults) -> Option<Millis> {
    let text = typed(value.as_str(), value, "a text such as `1.5s`", at, faults)?;
    match parse_duration(text) {
        Ok(duration) => Some(duration),
        Err(wanted) => {
            at.fault(&LB_JSON_DURATION, format_args!("is `{text}`, {wanted}"), faults);
            None
        }
    }
}

/// Parses a duration. The error says what the text must be.
///
/// The client reads the decimals as a separate number, with a sign and blanks of its own.
fn parse_duration(text: &str) -> Result<Millis, &'static str> {
    let body = text.strip_suffix('s').ok_or("must end in `s`, such as `1.5s`")?;
    let body = body.trim_matches(number::is_blank);
    let (seconds, decimals) = match body.split_once('.') {
        Some((seconds, decimals)) => (seconds, Some(decimals)),
        None => (body, None),
    };
    let mut nanos = 0_i64;
    if let Some(decimals) = decimals {
        let parsed = number::parse_signed(decimals);
        if !parsed.sound || i32::try_from(parsed.value).is_err() {
            return Err("must have digits after the point");
        }
        if decimals.len() > MAX_DURATION_DECIMALS {
            return Err("must have at most 9 digits after the point");
        }
        nanos = parsed.value;
        for _ in decimals.len()..MAX_DURATION_DECIMALS {
            nanos *= 10;
        }
    }
    let seconds = number::parse_signed(seconds);
    if !seconds.sound {
        return Err("must be a number of seconds, such as `1.5s`");
    }
    if !(0..=MAX_DURATION_SECONDS).contains(&seconds.value) {
        return Err("must be 0 to 315576000000 seconds");
    }
    Ok(Millis(seconds.value * 1000 + nanos / 1_000_000))
}

/// Returns the field `name`, unless it is absent or null.
pub fn optional<'j>(map: &'j Map<String, Value>, name: &str) -> Option<&'j Value> {
    map.get(name).filter(|value| !value.is_null())
}

/// Returns the field `name`. Records a fault if it is absent or null.
pub fn required<'j>(
    map: &'j Map<String, Value>,
    name: &str,
    at: &ConfigPlace<'_>,
    faults: &mut Faults,
) -> Option<&'j Value> {
    let found = optional(map, name);
    if found.is_none() {
        missing(&at.field(name), faults);
    }
    found
}

/// Records that a field is missing.
#[cold]
pub fn missing(at: &ConfigPlace<'_>, faults: &mut Faults) {
    at.fault(&LB_JSON_FIELD_MISSING, format_args!("missing"), faults);
}

/// Records that a value is empty.
#[cold]
pub fn empty(at: &ConfigPlace<'_>, faults: &mut Faults) {
    at.fault(&LB_JSON_EMPTY, format_args!("is empty, must not be"), faults);
}

/// Reads the optional field `name` as a 32-bit number.
pub fn optional_u32(
    map: &Map<String, Value>,
    name: &str,
    default: u32,
    at: &ConfigPlace<'_>,
    faults: &mut Faults,
) -> LoadedNumber<u32> {
    match optional(map, name) {
        Some(value) => u32_of(value, default, &at.field(name), faults),
        None => LoadedNumber::default(default),
    }
}

/// Reads a 32-bit number; see [`unsigned`].
pub fn u32_of(value: &Value, default: u32, at: &ConfigPlace<'_>, faults: &mut Faults) -> LoadedNumber<u32> {
    let loaded = unsigned(value, u64::from(u32::MAX), u64::from(default), at, faults);
    LoadedNumber {
        value: u32::try_from(loaded.value).unwrap_or(u32::MAX),
        sound: loaded.sound,
    }
}

/// Reads the optional field `name` as a duration.
pub fn optional_duration(
    map: &Map<String, Value>,
    name: &str,
    default: Millis,
    at: &ConfigPlace<'_>,
    faults: &mut Faults,
) -> Millis {
    optional(map, name)
        .and_then(|value| duration(value, &at.field(name), faults))
        .unwrap_or(default)
}

/// Reads the optional field `name` as a boolean. The default is false.
pub fn optional_bool(map: &Map<String, Value>, name: &str, at: &ConfigPlace<'_>, faults: &mut Faults) -> bool {
    optional(map, name)
        .and_then(|value| boolean(value, &at.field(name), faults))
        .unwrap_or(false)
}

/// Reads the required field `name` as a text.
pub fn required_text<'j>(
    map: &'j Map<String, Value>,
    name: &str,
    at: &ConfigPlace<'_>,
    faults: &mut Faults,
) -> Option<&'j str> {
    let value = required(map, name, at, faults)?;
    text(value, &at.field(name), faults)
}

/// Writes a duration as the client does, with nine decimals.
pub fn duration_to_json(duration: Millis) -> Value {
    let (seconds, millis) = (duration.0.div_euclid(1000), duration.0.rem_euclid(1000));
    Value::String(format!("{seconds}.{millis:03}000000s"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_in_the_notation_of_the_loader() {
        let top = ConfigPlace::TOP;
        assert_eq!(top.to_string(), "");
        let targets = top.field("targets");
        let target = targets.key("a");
        let weight = target.field("weight");
        assert_eq!(weight.to_string(), "targets[\"a\"].weight");
        let names = top.field("names");
        assert_eq!(names.index(3).to_string(), "names[3]");
    }

    #[test]
    fn durations_are_read_as_the_client_reads_them() {
        for (text, millis) in [
            ("1s", Some(1000)),
            ("1.5s", Some(1500)),
            (" 1.5 s", Some(1500)),
            ("1. 5s", Some(1050)),
            ("2.-5s", Some(1950)),
            ("-0.5s", Some(500)),
            ("0.000999999s", Some(0)),
            ("0.123456789s", Some(123)),
            ("315576000000.999s", Some(315_576_000_000_999)),
            ("315576000001s", None),
            ("0.1234567890s", None),
            (".5s", None),
            ("1.s", None),
            ("-1s", None),
            ("1", None),
            ("1S", None),
            ("1ms", None),
            ("s", None),
            ("", None),
        ] {
            assert_eq!(parse_duration(text).ok(), millis.map(Millis), "{text:?}");
        }
    }

    #[test]
    fn a_required_field_that_is_null_is_missing_and_an_optional_one_absent() {
        let value = json!({"a": null});
        let map = value.as_object().unwrap();
        let mut faults = Vec::new();
        assert!(optional(map, "a").is_none());
        assert!(required(map, "a", &ConfigPlace::TOP, &mut faults).is_none());
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].rule, &LB_JSON_FIELD_MISSING);
    }
}
