//! The values that an expression computes with.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::rc::Rc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::budget::Budget;
use super::evaluate::EvaluationStop;
use xdsctl_channel::parsed::{FieldValue, Fields};

/// A text, either borrowed from what is looked at or made.
#[derive(Clone)]
pub enum Text<'a> {
    /// A part of what is looked at.
    Borrowed(&'a str),
    /// A text that an evaluation made.
    Made(Rc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Made(text) => text,
        }
    }
}

/// A value.
#[derive(Clone)]
pub enum Value<'a> {
    /// Null, as an absent field is.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number that may have a fraction.
    Double(f64),
    /// A text.
    Text(Text<'a>),
    /// A duration in nanoseconds.
    Duration(i128),
    /// A list.
    List(Rc<[Value<'a>]>),
    /// Values by name.
    Map(Rc<BTreeMap<Text<'a>, Value<'a>>>),
    /// An object that is looked at, which makes its fields when they are asked for.
    Record(&'a dyn Fields),
    /// An object that was made, which makes its fields when they are asked for.
    Object(Rc<dyn View<'a> + 'a>),
}

/// An object that makes its fields when they are asked for.
pub trait View<'a> {
    /// Returns the value of a field; null if it is absent.
    fn get(&self, field: &str) -> Value<'a>;
}

impl Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text<'_> {}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<'a> Value<'a> {
    /// Makes a text.
    pub fn text(text: impl Into<Rc<str>>) -> Value<'a> {
        Value::Text(Text::Made(text.into()))
    }

    /// Makes a list.
    pub fn list(values: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
        Value::List(values.into_iter().collect())
    }

    /// Makes an object.
    pub fn object(view: impl View<'a> + 'a) -> Value<'a> {
        Value::Object(Rc::new(view))
    }

    /// Makes a whole number. A number beyond 64 bits becomes the largest one.
    pub fn int(number: impl TryInto<i64>) -> Value<'a> {
        Value::Int(number.try_into().unwrap_or(i64::MAX))
    }

    /// Returns the field of a value, null if it is absent; `None` if the value has no fields.
    pub(crate) fn field(&self, name: &str) -> Option<Value<'a>> {
        Some(match self {
            Value::Map(map) => map.get(name).cloned().unwrap_or(Value::Null),
            Value::Record(of) => FieldValue::Object(*of).get(name),
            Value::Object(of) => of.get(name),
            _ => return None,
        })
    }

    /// Returns the element of a list.
    pub(crate) fn element(&self, number: usize) -> Option<Value<'a>> {
        match self {
            Value::List(list) => list.get(number).cloned(),
            _ => None,
        }
    }

    /// Names the kind of value.
    pub const fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a bool",
            Value::Int(_) => "an int",
            Value::Double(_) => "a double",
            Value::Text(_) => "a text",
            Value::Duration(_) => "a duration",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Record(_) | Value::Object(_) => "an object",
        }
    }

    /// Returns the number, if it is one.
    #[expect(clippy::cast_precision_loss, reason = "as CEL compares an int with a double")]
    pub(super) const fn number(&self) -> Option<f64> {
        match self {
            Value::Int(number) => Some(*number as f64),
            Value::Double(number) => Some(*number),
            _ => None,
        }
    }

    /// Says whether two values are equal; values of different kinds are not.
    ///
    /// A list may contain the same list many times, and so on. So each part that is compared is a
    /// step.
    pub(super) fn equals(&self, other: &Value<'_>, budget: &mut Budget) -> Result<bool, EvaluationStop> {
        Ok(match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Text(a), Value::Text(b)) if a.len() != b.len() => false,
            (Value::Text(a), Value::Text(b)) => {
                budget.text(a.len())?;
                **a == **b
            }
            (Value::List(a), Value::List(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (a, b) in a.iter().zip(b.iter()) {
                    budget.take(1)?;
                    if !a.equals(b, budget)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::Map(a), Value::Map(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for ((a_key, a), (b_key, b)) in a.iter().zip(b.iter()) {
                    budget.text(a_key.len())?;
                    budget.take(1)?;
                    if **a_key != **b_key || !a.equals(b, budget)? {
                        return Ok(false);
                    }
                }
                true
            }
            _ => self.order(other) == Some(Ordering::Equal),
        })
    }

    /// Returns how many values are in it, counting itself. Those of an object are made when they
    /// are asked for, and do not count.
    #[inline]
    pub(crate) fn parts(&self) -> usize {
        match self {
            Value::List(_) | Value::Map(_) => 1 + self.inner_parts(),
            _ => 1,
        }
    }

    fn inner_parts(&self) -> usize {
        match self {
            Value::List(list) => list.iter().map(Value::parts).sum(),
            Value::Map(map) => map.values().map(Value::parts).sum(),
            _ => 0,
        }
    }

    /// Returns which of two values comes first; `None` if they have no order.
    pub(super) fn order(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Text(a), Value::Text(b)) => Some((**a).cmp(&**b)),
            (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(b)),
            _ => self.number()?.partial_cmp(&other.number()?),
        }
    }

    /// Returns the value of JSON. A number that is not a whole number is a double.
    pub fn of_json(json: &serde_json::Value) -> Value<'a> {
        // All that JSON has is a value.
        Value::deserialize(json).unwrap_or(Value::Null)
    }
}

/// Reads a value from JSON.
impl<'de> Deserialize<'de> for Value<'_> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Read(PhantomData))
    }
}

struct Read<'a>(PhantomData<Value<'a>>);

impl<'de, 'a> Visitor<'de> for Read<'a> {
    type Value = Value<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Value<'a>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value<'a>, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'a>, E> {
        Ok(Value::Int(number))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a number that is no whole one of 64 bits is a double"
    )]
    fn visit_u64<E>(self, number: u64) -> Result<Value<'a>, E> {
        Ok(i64::try_from(number).map_or(Value::Double(number as f64), Value::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'a>, E> {
        Ok(Value::Double(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'a>, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value<'a>, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(Value::List(list.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value<'a>, A::Error> {
        let mut map = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry::<Cow<'_, str>, Value<'a>>()? {
            map.insert(Text::Made(key.into()), value);
        }
        Ok(Value::Map(map.into()))
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Value<'_> {
    /// Writes a text without quotes, a duration in seconds, and a list and a map as in JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(flag) => write!(f, "{flag}"),
            Value::Int(number) => write!(f, "{number}"),
            Value::Double(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
            Value::Duration(of) => {
                let (sign, of) = (if *of < 0 { "-" } else { "" }, of.unsigned_abs());
                let fraction = format!("{:09}", of % 1_000_000_000);
                let fraction = fraction.trim_end_matches('0');
                let point = if fraction.is_empty() { "" } else { "." };
                write!(f, "{sign}{}{point}{fraction}s", of / 1_000_000_000)
            }
            Value::List(list) => f.debug_list().entries(list.iter()).finish(),
            Value::Map(map) => {
                let entries = map.iter().map(|(key, value)| (&**key, value));
                f.debug_map().entries(entries).finish()
            }
            Value::Record(_) | Value::Object(_) => f.write_str("{...}"),
        }
    }
}

/// Reads the nanoseconds of a duration as CEL writes it: `30s`, `1.5h`, `1h30m`, `-250ms`.
pub fn nanoseconds(text: &str) -> Option<i128> {
    const UNITS: [(&str, i128); 7] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
    ];
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut all = 0_i128;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (digits, after) = rest.split_at_checked(end)?;
        let (unit, of) = UNITS.into_iter().find(|(unit, _)| after.starts_with(unit))?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() || whole.len() > 18 || fraction.len() > 18 {
            return None;
        }
        let number = |digits: &str| {
            if digits.is_empty() {
                Some(0)
            } else {
                digits.parse::<i128>().ok()
            }
        };
        let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
        all += number(whole)? * of + number(fraction)? * of / scale;
        rest = after.get(unit.len()..)?;
        if rest.is_empty() {
            return Some(sign * all);
        }
    }
}
