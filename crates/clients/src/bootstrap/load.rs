//! Typed access to JSON with the errors of the client's object loader (json_object_loader.cc).
//!
//! `null` counts as absent for ordinary fields. For a field that the client looks up by hand, it is
//! a wrong type.

use std::collections::BTreeMap;
use std::fmt;

use super::client_json::{ClientJson, JsonObject};
use super::{BOOTSTRAP_FIELD_MISSING, BOOTSTRAP_WRONG_TYPE};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::MAX_DURATION_SECONDS;

/// Returns the field's value; `None` if the field is absent or null.
pub fn field<'j>(object: &'j JsonObject, name: &str) -> Option<&'j ClientJson> {
    object.get(name).filter(|json| **json != ClientJson::Null)
}

/// Returns the text of a string field; empty if the field is absent or null.
pub fn text_at(object: &JsonObject, name: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    field(object, name)
        .and_then(|json| text(json, &at.field(name), cx))
        .unwrap_or_default()
        .to_owned()
}

/// Returns the text of a string field; empty if the field is absent. A null is an error here,
/// unlike in [`text_at`].
pub fn text_or_absent(object: &JsonObject, name: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let text = object.get(name).and_then(|json| text(json, &at.field(name), cx));
    text.unwrap_or_default().to_owned()
}

/// Reports a required field that is not there.
pub fn missing(at: &Path<'_>, cx: &mut Validation<'_>) {
    cx.report(&BOOTSTRAP_FIELD_MISSING, at, format_args!("missing, must be set"));
}

/// Reports those of the required fields that are not there; a null is there.
pub fn require(object: &JsonObject, names: [&str; 2], at: &Path<'_>, cx: &mut Validation<'_>) {
    for name in names.into_iter().filter(|name| !object.contains_key(name)) {
        missing(&at.field(name), cx);
    }
}

/// Returns the value if it is an object, or reports it.
pub fn object<'j>(json: &'j ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<&'j JsonObject> {
    match json {
        ClientJson::Object(object) => Some(object),
        other => wrong(other, "an object", at, cx),
    }
}

/// Returns the entries of an object by key, or reports the value if it is no object.
pub fn entries<'j>(json: &'j ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> BTreeMap<&'j str, &'j ClientJson> {
    object(json, at, cx).map(JsonObject::entries).unwrap_or_default()
}

/// Returns the value if it is an array, or reports it.
pub fn array<'j>(json: &'j ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<&'j Vec<ClientJson>> {
    match json {
        ClientJson::Array(elements) => Some(elements),
        other => wrong(other, "an array", at, cx),
    }
}

/// Returns the value if it is a string, or reports it.
pub fn text<'j>(json: &'j ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<&'j str> {
    match json {
        ClientJson::String(text) | ClientJson::Mended(text) => Some(text),
        other => wrong(other, "a string", at, cx),
    }
}

/// Returns the value if it is a boolean, or reports it.
pub fn flag(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<bool> {
    match json {
        ClientJson::Bool(flag) => Some(*flag),
        other => wrong(other, "a boolean", at, cx),
    }
}

/// Returns the digits before and after the point of `12.5s`; the point may be missing.
pub fn seconds(text: &str) -> Option<(&str, Option<&str>)> {
    let number = text.strip_suffix('s')?;
    let (whole, fraction) = match number.split_once('.') {
        None => (number, None),
        Some((whole, fraction)) => (whole, Some(fraction)),
    };
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (are_digits(whole) && fraction.is_none_or(are_digits)).then_some((whole, fraction))
}

/// Checks a duration such as `12.5s`.
pub fn duration(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(text) = text(json, at, cx) else { return };
    let fault = match text.strip_suffix('s') {
        None => Some("must end in `s`"),
        Some(number) => duration_fault(number.trim_ascii()),
    };
    if let Some(fault) = fault {
        refuse(at, format_args!("`{text}` is no duration such as `12.5s`: {fault}"), cx);
    }
}

fn duration_fault(number: &str) -> Option<&'static str> {
    let (whole, fraction) = match number.split_once('.') {
        None => (number, None),
        Some((whole, fraction)) => (whole, Some(fraction)),
    };
    if let Some(fraction) = fraction {
        if integer(fraction).is_none_or(|n| i32::try_from(n).is_err()) {
            return Some("what follows the point is no number of nanoseconds");
        }
        if fraction.len() > 9 {
            return Some("it has more than nine decimals");
        }
    }
    match integer(whole) {
        None => Some("what stands before the point is not a number of seconds"),
        Some(seconds) if !(0..=MAX_DURATION_SECONDS).contains(&seconds) => Some("seconds must be 0 to 315576000000"),
        Some(_) => None,
    }
}

/// Reads an integer as absl::SimpleAtoi does: space around it and a sign are allowed.
fn integer(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Reports a value of the wrong type.
pub fn wrong<T>(json: &ClientJson, wanted: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<T> {
    let found = match json {
        ClientJson::Null => "null",
        ClientJson::Bool(_) => "a boolean",
        ClientJson::Number(_) => "a number",
        ClientJson::String(_) | ClientJson::Mended(_) => "a string",
        ClientJson::Array(_) => "an array",
        ClientJson::Object(_) => "an object",
    };
    refuse(at, format_args!("is {found}, must be {wanted}"), cx);
    None
}

/// Reports a value that the client cannot read.
pub fn refuse(at: &Path<'_>, why: fmt::Arguments<'_>, cx: &mut Validation<'_>) {
    cx.report(&BOOTSTRAP_WRONG_TYPE, at, why);
}
