//! Reads the values of scripts from their JSON: addresses, times, counts, shares. Each fault has
//! its place.

use std::net::SocketAddr;

use super::StepError;
use super::fault::{hint, shown};
use xdsctl_document::source::Span;
use xdsctl_document::source::node::{Broken, JsonMember, JsonNode, Value, Why};

/// A fault, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The bytes of the JSON text that are wrong.
    pub span: Span,
    /// What is wrong with the step.
    pub error: StepError,
}

impl From<Broken> for Located {
    fn from(broken: Broken) -> Located {
        let error = match broken.why {
            why @ Why::Several => StepError::NotJson(why.to_string()),
            Why::Syntax(what) => StepError::NotJson(what),
            Why::Twice(key) => StepError::Twice(key),
        };
        Located {
            span: broken.span,
            error,
        }
    }
}

/// Makes the fault of a value of the wrong kind.
#[cold]
pub fn wrong(member: impl Into<String>, node: &JsonNode, wanted: &'static str) -> Located {
    Located {
        span: node.span,
        error: StepError::Member {
            member: member.into(),
            value: shown(node),
            wanted,
        },
    }
}

/// Makes the fault of a member that does not exist.
#[cold]
pub fn unknown(place: &'static str, member: &JsonMember, known: &[&str]) -> Located {
    Located {
        span: member.at,
        error: StepError::Unknown {
            place,
            name: member.name.clone(),
            hint: hint(&member.name, known),
        },
    }
}

/// Makes the fault of two members of which only one may be given.
#[cold]
pub fn contradict(member: &'static str, other: &'static str, node: &JsonNode) -> Located {
    Located {
        span: node.span,
        error: StepError::Contradict { member, other },
    }
}

/// Returns the members of an object. `wanted` says what the object must be.
///
/// # Errors
/// The value is no object.
pub fn object<'n>(member: &str, node: &'n JsonNode, wanted: &'static str) -> Result<&'n [JsonMember], Located> {
    node.map().ok_or_else(|| wrong(member, node, wanted))
}

/// Returns the members of an object that has at least one. `wanted` says what the object must be.
///
/// # Errors
/// The value is no object, or an empty one.
pub fn filled_object<'n>(member: &str, node: &'n JsonNode, wanted: &'static str) -> Result<&'n [JsonMember], Located> {
    let map = node.map().filter(|map| !map.is_empty());
    map.ok_or_else(|| wrong(member, node, wanted))
}

/// Returns the members of an object, if all of them are known.
///
/// # Errors
/// The value is no object, or has another member.
pub fn members<'n>(place: &'static str, node: &'n JsonNode, known: &[&str]) -> Result<&'n [JsonMember], Located> {
    let wanted = match place {
        "pick" | "begin" => "an object like {method: /package.Service/Method}",
        "expect" | "never" => "an object like {status: OK}",
        "backend" => "an object like {reach: refuse}",
        _ => "an object",
    };
    let map = object(place, node, wanted)?;
    match map.iter().find(|member| !known.contains(&member.name.as_str())) {
        None => Ok(map),
        Some(member) => Err(unknown(place, member, known)),
    }
}

/// Reads an address.
///
/// # Errors
/// The value is no address.
pub fn address(member: &str, node: &JsonNode) -> Result<SocketAddr, Located> {
    let parsed = node.text().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| wrong(member, node, "an address like 10.0.0.1:80"))
}

/// Reads the address that is the key of a member.
///
/// # Errors
/// The key is no address.
pub fn address_key(place: &str, member: &JsonMember) -> Result<SocketAddr, Located> {
    let key = JsonNode {
        span: member.at,
        value: Value::Text(member.name.clone()),
    };
    address(place, &key)
}

/// Reads one value, or a list of values.
///
/// # Errors
/// The errors of `read`.
pub fn one_or_more<T>(
    node: &JsonNode,
    mut read: impl FnMut(&JsonNode) -> Result<T, Located>,
) -> Result<Vec<T>, Located> {
    match node.list() {
        Some(list) => list.iter().map(read).collect(),
        None => Ok(vec![read(node)?]),
    }
}

/// Reads a number of seconds, and returns milliseconds.
///
/// # Errors
/// The value is no number, or out of range.
pub fn time(member: &str, node: &JsonNode) -> Result<i64, Located> {
    let seconds = node.number().filter(|seconds| (0.0..=1e9).contains(seconds));
    let seconds = seconds.ok_or_else(|| wrong(member, node, "a number of seconds from 0 to 1e9"))?;
    Ok((seconds * 1000.0).round() as i64)
}

/// Reads the number of seconds of a member, if the member is there, and returns milliseconds.
///
/// # Errors
/// The errors of [`time`].
pub fn seconds(node: &JsonNode, member: &str) -> Result<Option<i64>, Located> {
    node.get(member).map(|value| time(member, value)).transpose()
}

/// Reads the text of a member, if the member is there.
///
/// # Errors
/// The value is no text.
pub fn text(node: &JsonNode, member: &str) -> Result<Option<String>, Located> {
    let Some(value) = node.get(member) else { return Ok(None) };
    let text = value.text().ok_or_else(|| wrong(member, value, "a text"))?;
    Ok(Some(text.to_owned()))
}

/// Reads the flag of a member; `false` if the member is not there.
///
/// # Errors
/// The value is neither true nor false.
pub fn flag(node: &JsonNode, member: &str) -> Result<bool, Located> {
    let Some(value) = node.get(member) else {
        return Ok(false);
    };
    value.flag().ok_or_else(|| wrong(member, value, "true or false"))
}

/// Reads a share: `10%` or `0.1`.
///
/// # Errors
/// The value is no share, or out of range.
pub fn share(member: &str, node: &JsonNode) -> Result<f64, Located> {
    let of_text = |text: &str| text.strip_suffix('%')?.trim().parse::<f64>().ok();
    let share = match node.number() {
        Some(part) => Some(part),
        None => node.text().and_then(of_text).map(|percent| percent / 100.0),
    };
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| wrong(member, node, "a share, from 0% to 100% or from 0 to 1"))
}
