//! Credentials, recognised by the name of what holds them and by their form.
//!
//! What may be printed of a document is decided by place: see [`crate::source::secrets`]. This
//! module is for values without a place: headers that are matched or given on the command line
//! ([`is_name`]). It is also a second safety net for values that look like a key or a token,
//! wherever they are ([`SecretFinder`]).

mod patterns;

pub use patterns::{SecretFinder, hide, looks_secret, mask_value};

/// The text in place of a value that is not printed. Envoy writes the same.
pub const REDACTED: &str = "[redacted]";

/// Parts of names that mean a secret, without separators and in lower case.
const PARTS: &[&str] = &[
    "accesskey",
    "apikey",
    "authkey",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "hmac",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "sessionkey",
    "signingkey",
    "token",
];

/// Whole names that mean a secret.
const NAMES: &[&str] = &["auth", "pass", "pwd", "pw", "xauth", "sharedkey", "masterkey"];

/// Endings of names that say where a secret is or of what kind it is, but do not hold it.
const HARMLESS_ENDS: &[&str] = &[
    "expiration",
    "expiry",
    "file",
    "name",
    "path",
    "provider",
    "type",
    "uri",
    "url",
];

/// Says whether a header, a parameter or a setting of this name holds a credential. Case and
/// separators do not matter.
///
/// ```
/// use xdsctl_document::secret::is_name;
/// assert!(is_name("client_secret") && is_name("X-Api-Key") && is_name("Set-Cookie"));
/// assert!(!is_name("private_key_file") && !is_name("secret_name") && !is_name("key"));
/// ```
pub fn is_name(name: &str) -> bool {
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
    let plain: String = letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    let is_secret = PARTS.iter().any(|part| plain.contains(part)) || NAMES.contains(&plain.as_str());
    is_secret && !HARMLESS_ENDS.iter().any(|end| plain.ends_with(end))
}

/// Returns the value of a header as a message may quote it. The value of a credential, or of a
/// header without a name, is hidden. In other values, parts that look like a credential are hidden.
pub fn shown(name: &str, value: &str) -> String {
    if name.is_empty() || is_name(name) {
        REDACTED.to_owned()
    } else {
        hide(value).into_owned()
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
            "accessToken",
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
            "authority",
            "author",
            "x-env",
            "password_filename",
            "compass",
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
