//! Values that grpc-go reads with protobuf's JSON and with net/url.

use super::client_json::ClientJson;
use super::load::{self, wrong};
use super::unknown_key;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::MAX_DURATION_SECONDS;

/// Checks a Duration as protojson reads it.
pub(super) fn duration(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(text) = load::text(json, at, cx) else { return };
    if !is_duration(text) {
        load::refuse(at, format_args!("`{text}` is no duration such as `12.5s`"), cx);
    }
}

/// Says whether protojson reads a text as a Duration: an optional sign, no leading zeros, at most
/// nine decimals (`parseDuration`).
fn is_duration(text: &str) -> bool {
    let Some(number) = text.strip_suffix('s') else {
        return false;
    };
    let number = number.strip_prefix(['-', '+']).unwrap_or(number);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_whole = match whole {
        "" => number.starts_with('.'),
        "0" => true,
        _ => !whole.starts_with('0') && whole.parse().is_ok_and(|seconds: i64| seconds <= MAX_DURATION_SECONDS),
    };
    is_whole && are_digits(whole) && are_digits(fraction) && fraction.len() <= 9
}

/// Checks the metadata of a node, which is a Struct. With `is_protojson` it is read by protojson,
/// which rejects repeated keys and does not mend strings.
pub(super) fn metadata(json: &ClientJson, is_protojson: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    match json {
        ClientJson::Null => {}
        ClientJson::Object(_) => value(json, is_protojson, at, cx),
        other => _ = wrong::<()>(other, "an object", at, cx),
    }
}

fn value(json: &ClientJson, is_protojson: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    match json {
        ClientJson::Array(elements) => {
            for (i, element) in elements.iter().enumerate() {
                value(element, is_protojson, &at.index(i), cx);
            }
        }
        ClientJson::Object(object) => {
            let mut keys = std::collections::BTreeSet::new();
            for (key, inner) in object.pairs() {
                let at = at.json_key(key);
                if is_protojson && !keys.insert(key) {
                    load::refuse(&at, format_args!("the key occurs twice in one object"), cx);
                }
                value(inner, is_protojson, &at, cx);
            }
        }
        ClientJson::Number(text) if json.is_infinite() => load::refuse(at, format_args!("{text} is too large"), cx),
        ClientJson::Mended(_) if is_protojson => {
            let why = format_args!("the string has half a surrogate pair, or is not valid UTF-8");
            load::refuse(at, why, cx);
        }
        _ => {}
    }
}

/// Checks a node that is read as a message of the protocol (jsonpb), and returns its id.
pub(super) fn old_node(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    const FIELDS: [[&str; 2]; 6] = [
        ["id", "id"],
        ["cluster", "cluster"],
        ["user_agent_name", "userAgentName"],
        ["user_agent_version", "userAgentVersion"],
        ["locality", "locality"],
        ["metadata", "metadata"],
    ];
    let mut id = String::new();
    if *json == ClientJson::Null {
        return id;
    }
    let Some(object) = load::object(json, at, cx) else {
        return id;
    };
    for (key, json) in object.entries() {
        let at = at.field(key);
        let name = FIELDS.iter().find(|names| names.contains(&key)).map(|[name, _]| *name);
        match (name, json) {
            (None, _) => unknown_key(key, &super::NODE_KEYS, &at, cx),
            (_, ClientJson::Null) => {}
            (Some("metadata"), json) => metadata(json, false, &at, cx),
            (Some("locality"), json) => {
                for (key, json) in load::entries(json, &at, cx) {
                    let is_field = super::LOCALITY_KEYS.contains(&key) || key == "subZone";
                    if is_field && *json != ClientJson::Null {
                        load::text(json, &at.field(key), cx);
                    }
                }
            }
            (Some(name), json) => {
                let text = load::text(json, &at, cx).unwrap_or_default();
                if name == "id" {
                    text.clone_into(&mut id);
                }
            }
        }
    }
    id
}

/// Escapes a name for a path of a URL (`url.PathEscape`).
pub(super) fn path_escaped(name: &str) -> String {
    let mut escaped = String::new();
    for byte in name.bytes() {
        match byte {
            b'$' | b'&' | b'+' | b'=' | b':' | b'@' | b'-' | b'_' | b'.' | b'~' => escaped.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => escaped.push(byte.into()),
            byte => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}
