//! What may be a secret, told by its name and by its looks.
//!
//! Dumps hold private keys, passwords and tokens: Envoy redacts them, control planes and static files do not. A report ends
//! up in tickets and logs. First of all a secret is known by its place in its message, which [`crate::source::secrets`] and
//! the descriptor tables know; this module has what is left where there is no descriptor: names that say what they hold
//! ([`is_name`]), values that look like a key or a token ([`Looks`]), and text that cannot be read ([`unplaced`]).

mod looks;
pub mod unplaced;

use std::cell::OnceCell;

use serde_json::{Map, Value};

pub use looks::{Looks, hide, may_look};

/// What stands for a secret where a value is quoted or printed; Envoy writes the same.
pub const REDACTED: &str = "[redacted]";

/// Parts of names of what is secret, without separators and in lower case.
const PARTS: &[&str] = &[
    "accesskey",
    "apikey",
    "authkey",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "hmac",
    "inlinebytes",
    "inlinestring",
    "jsonkey",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "sessionkey",
    "signingkey",
    "ticketkey",
    "token",
];

/// Whole names of what is secret.
const NAMES: &[&str] = &[
    "auth",
    "pass",
    "pwd",
    "pw",
    "xauth",
    "sharedkey",
    "masterkey",
    "encryptionkey",
    "pkcs12",
];

/// Ends of names of what says where a secret is, or what kind of secret, and is none.
const HARMLESS_ENDS: &[&str] = &[
    "bucket",
    "count",
    "dir",
    "directory",
    "expiration",
    "expiry",
    "file",
    "filename",
    "interval",
    "name",
    "path",
    "perfill",
    "provider",
    "size",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
];

/// Names that have a part of a secret's and are none.
const HARMLESS: &[&str] = &[
    "cookies",
    "maxtokens",
    "tokens",
    "credentials",
    "channelcredentials",
    "callcredentials",
];

/// Says whether a field, a key or a header of this name may hold a secret. Case and separators do not matter.
///
/// ```
/// use xdsctl::secret::is_name;
/// assert!(is_name("client_secret") && is_name("X-Api-Key") && is_name("inlineBytes") && is_name("Set-Cookie"));
/// assert!(!is_name("private_key_file") && !is_name("secret_name") && !is_name("key"));
/// ```
pub fn is_name(name: &str) -> bool {
    let letters = name
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.to_ascii_lowercase());
    // Every name of a document is asked about: the usual ones need no memory.
    let (mut short, mut long) = ([0; USUAL_BYTES], Vec::new());
    let plain = if name.len() <= USUAL_BYTES {
        let mut count = 0;
        for (place, byte) in short.iter_mut().zip(letters) {
            *place = byte;
            count += 1;
        }
        short.get(..count).unwrap_or_default()
    } else {
        // None of the parts may hide behind many characters.
        long.extend(letters);
        long.as_slice()
    };
    let is = |other: &&str| other.as_bytes() == plain;
    let is_harmless = || HARMLESS.iter().any(is) || HARMLESS_ENDS.iter().any(|end| plain.ends_with(end.as_bytes()));
    // Nearly every name has no such part.
    (has_part(plain) || NAMES.iter().any(is)) && !is_harmless()
}

/// Most names are shorter.
const USUAL_BYTES: usize = 64;

/// The bytes that parts of names begin with.
const BEGINNINGS: [bool; 256] = {
    let mut beginnings = [false; 256];
    let mut index = 0;
    while index < PARTS.len() {
        beginnings[PARTS[index].as_bytes()[0] as usize] = true;
        index += 1;
    }
    beginnings
};

fn has_part(name: &[u8]) -> bool {
    name.iter().enumerate().any(|(at, byte)| {
        let begins = |part: &&str| name.get(at..).is_some_and(|rest| rest.starts_with(part.as_bytes()));
        BEGINNINGS.get(usize::from(*byte)).is_some_and(|begins| *begins) && PARTS.iter().any(begins)
    })
}

/// A value as a message may quote it: what is behind `name` if that holds no secret, without what looks like one.
pub fn shown(name: &str, value: &str) -> String {
    if is_name(name) {
        REDACTED.to_owned()
    } else {
        hide(value).into_owned()
    }
}

/// Puts [`REDACTED`] for the strings and numbers of a JSON value that may be secrets, by their keys and their looks.
///
/// An object that has a name (`name`, `key`, `header`) which says that it holds a secret loses its value.
///
/// ```
/// let mut value = serde_json::json!({"user": "u", "password": {"x": 1}, "headers": [{"name": "Authorization", "exact": "abc"}]});
/// xdsctl::secret::redact(&mut value);
/// assert_eq!(value.to_string(),
///     r#"{"headers":[{"exact":"[redacted]","name":"Authorization"}],"password":{"x":"[redacted]"},"user":"u"}"#);
/// ```
pub fn redact(value: &mut Value) {
    Mask::default().redact(value);
}

/// What is above a part of a value says of it: with this [`redact`] masks it as in the whole.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mask {
    /// It is named as a secret, or in something that is.
    is_secret: bool,
    /// Its keys are names of filters and extensions.
    has_names: bool,
}

/// The masks of an object's fields.
#[derive(Debug)]
pub struct Fields<'a> {
    mask: Mask,
    object: &'a Map<String, Value>,
    names_secret: bool,
    loses_nulls: OnceCell<bool>,
}

impl Fields<'_> {
    /// The mask of a field with this value; `None` if it is not there any more in the masked object.
    pub fn mask(&self, key: &str, value: &Value) -> Option<Mask> {
        let loses = || *self.loses_nulls.get_or_init(|| self.mask.loses_nulls(self.object));
        let is_lost = is_losable(key, value) && loses();
        (!is_lost).then(|| self.mask.below(self.names_secret, key, value))
    }
}

impl Mask {
    /// The masks of an object's fields.
    pub fn fields(self, object: &Map<String, Value>) -> Fields<'_> {
        Fields {
            mask: self,
            object,
            names_secret: self.names_secret(object),
            loses_nulls: OnceCell::new(),
        }
    }

    fn below(self, names_secret: bool, key: &str, value: &Value) -> Mask {
        let Mask { is_secret, has_names } = self;
        if has_names || value.is_object() && NAMES_BELOW.contains(&key) {
            return Mask {
                is_secret,
                has_names: !has_names,
            };
        }
        // A `cookie` with fields says how one is made.
        let tells = || is_name(key) && !(key == "cookie" && value.is_object());
        Mask {
            is_secret: is_secret || names_secret && VALUES.contains(&key) || tells(),
            has_names,
        }
    }

    /// Says whether an object has a name that tells that it holds a secret.
    fn names_secret(self, object: &Map<String, Value>) -> bool {
        let names = || NAMING.iter().filter_map(|key| object.get(*key)?.as_str());
        !self.has_names && names().any(is_name)
    }

    /// Says whether keys without a value may be secrets: `{password: a,b}` in YAML has what is behind the comma as such a key.
    fn loses_nulls(self, object: &Map<String, Value>) -> bool {
        !self.has_names && (self.is_secret || object.keys().any(|key| is_name(key)))
    }

    /// Puts [`REDACTED`] for what may be a secret.
    pub fn redact(self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(_) if !self.is_secret => {}
            Value::Number(_) => *value = REDACTED.into(),
            Value::String(text) if self.is_secret => REDACTED.clone_into(text),
            Value::String(text) => {
                if let std::borrow::Cow::Owned(hidden) = hide(text) {
                    *text = hidden;
                }
            }
            Value::Array(list) => list.iter_mut().for_each(|item| self.redact(item)),
            Value::Object(map) => {
                let names_secret = self.names_secret(map);
                for (key, value) in &mut *map {
                    self.below(names_secret, key, value).redact(value);
                }
                let mut losable = map.iter().filter(|(key, value)| is_losable(key, value)).peekable();
                if losable.peek().is_some() && self.loses_nulls(map) {
                    let lost: Vec<String> = losable.map(|(key, _)| key.clone()).collect();
                    for (number, key) in lost.iter().enumerate() {
                        map.remove(key);
                        map.insert(format!("{REDACTED}{}", "'".repeat(number)), Value::Null);
                    }
                }
            }
        }
    }
}

/// Says whether a field may be a secret that became a key.
fn is_losable(key: &str, value: &Value) -> bool {
    value.is_null() && !is_name(key)
}

/// Keys of objects whose value is the name of what the object holds.
pub const NAMING: &[&str] = &["name", "key", "header", "header_name", "headerName"];

/// Keys of what such an object holds.
pub const VALUES: &[&str] = &[
    "contains",
    "containsMatch",
    "contains_match",
    "exact",
    "exactMatch",
    "exact_match",
    "prefixMatch",
    "prefix_match",
    "rawValue",
    "raw_value",
    "regex",
    "safeRegexMatch",
    "safe_regex",
    "safe_regex_match",
    "stringMatch",
    "string_match",
    "suffixMatch",
    "suffix_match",
    "value",
    "values",
];

/// Keys of objects whose own keys are names of filters and extensions.
const NAMES_BELOW: &[&str] = &["typed_per_filter_config"];

/// Redacts the parts of LB policies' configs that come from a control plane's own message: that of a lookup service.
pub fn redact_policies(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        Value::Array(list) => list.iter_mut().for_each(redact_policies),
        Value::Object(map) => {
            for (key, value) in map {
                if key == "routeLookupConfig" {
                    redact(value);
                } else {
                    redact_policies(value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_and_names_of_places_are_not() {
        for name in [
            "password",
            "db-password",
            "X-Auth-Token",
            "x_api_key",
            "Cookie",
            "proxy-authorization",
            "json_key",
            "accessToken",
            "session_ticket_keys",
            "hmacSecret",
            "pwd",
            "clientSecret",
            "google_refresh_token",
        ] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "name",
            "key",
            "keys",
            "value",
            "filename",
            "token_uri",
            "private_key_file",
            "certificate_name",
            "secret_name",
            "token_bucket",
            "max_tokens",
            "tokens_per_fill",
            "authority",
            "author",
            "x-env",
            "password_filename",
            "compass",
        ] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn a_key_behind_a_comma_of_a_secret_is_masked() {
        let mut value = serde_json::json!({"password": "abc", "def": null, "x": {"y": null}});
        redact(&mut value);
        assert_eq!(
            value,
            serde_json::json!({"password": "[redacted]", "[redacted]": null, "x": {"y": null}})
        );
    }

    #[test]
    fn a_part_is_masked_as_in_the_whole() {
        fn check(value: &Value, mask: Mask, masked: &Value) {
            let mut part = value.clone();
            mask.redact(&mut part);
            assert_eq!(part, *masked, "{value} {mask:?}");
            match value {
                Value::Array(list) => {
                    for (number, item) in list.iter().enumerate() {
                        check(item, mask, &masked[number]);
                    }
                }
                Value::Object(map) => {
                    let fields = mask.fields(map);
                    for (key, value) in map {
                        match fields.mask(key, value) {
                            Some(mask) => check(value, mask, &masked[key]),
                            None => assert_eq!(masked.get(key), None, "{key} {value}"),
                        }
                    }
                }
                _ => {}
            }
        }
        let value = serde_json::json!({
            "password": {"a": 1, "b": ["c", null], "d": null},
            "lost": null,
            "headers": [{"name": "authorization", "exact": "x", "other": 2}, {"name": "x-a", "exact": "Bearer a1b2c3d4"}],
            "typed_per_filter_config": {"token": {"a": "b", "secret": 3, "c": null}, "d": null},
            "cookie": {"name": "n", "ttl": "1s"},
            "kept": [{"a": null}],
        });
        let mut masked = value.clone();
        redact(&mut masked);
        check(&value, Mask::default(), &masked);
        assert_eq!(masked.get("lost"), None);
        assert_eq!(masked["typed_per_filter_config"]["token"]["a"], "b");
    }
}
