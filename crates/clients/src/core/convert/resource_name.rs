//! Resource names as the client's cache knows them: what makes two texts the same name.
//!
//! Follows C-core `XdsClient::ParseXdsResourceName` and `ConstructFullXdsResourceName`
//! (xds_client.cc) with uri.cc. A name is opaque text unless it begins with `xdstp:` (gRFC A47).
//! Such a name is a URI. Its authority and the path behind the type count, both percent-decoded,
//! and so do the context parameters by key: of a repeated key the last one counts. A parameter
//! without a key and the fragment do not count. A name that is no URI cannot be asked for; it is
//! compared as text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use xdsctl_model::profile::{Feature, Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::target_uri::{TargetFault, parse, percent_decode};

/// How names are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NameComparison {
    /// Names that begin with `xdstp:` are parsed (A47).
    #[default]
    Parsed,
    /// Every name is text: federation is switched off.
    Opaque,
}

impl NameComparison {
    /// Returns how this client compares names.
    pub fn of(profile: &Profile) -> NameComparison {
        if profile.has(Feature::Federation) {
            NameComparison::Parsed
        } else {
            NameComparison::Opaque
        }
    }

    /// Checks that the client can ask for a resource by this name.
    ///
    /// Any text will do, but if `xdstp:` is in front, the name must be a URI whose path begins with
    /// the type, and its authority, if it has one, must be in the bootstrap (A47; C-core
    /// `XdsClient::WatchResource`).
    ///
    /// # Errors
    /// The reason why the client cannot ask: whatever refers to the name fails at once.
    pub fn ask(self, name: &str, resource_type: ResourceType, server: &ServerFacts) -> Result<(), NameFault> {
        let authority = self.read(name, resource_type)?;
        match (authority, &server.authorities) {
            (Some(authority), Some(known)) if !known.contains(&authority) => {
                Err(NameFault::UnknownAuthority(authority))
            }
            _ => Ok(()),
        }
    }

    /// Returns the authority of a name that the client can parse; `None` if the name is plain text.
    ///
    /// # Errors
    /// The fault that keeps the client from parsing the name.
    pub fn read(self, name: &str, resource_type: ResourceType) -> Result<Option<String>, NameFault> {
        if self == NameComparison::Opaque {
            return Ok(None);
        }
        let Some(rest) = name.strip_prefix("xdstp:") else {
            return Ok(None);
        };
        let uri = parse(rest).map_err(NameFault::NotUri)?;
        let path = percent_decode(uri.path);
        let path = path.strip_prefix(b"/").unwrap_or(&path);
        let first = path.split(|byte| *byte == b'/').next().unwrap_or_default();
        if first != resource_type.type_name().as_bytes() {
            return Err(NameFault::OtherType(String::from_utf8_lossy(first).into_owned()));
        }
        Ok(Some(
            String::from_utf8_lossy(&user_and_host(uri.authority)).into_owned(),
        ))
    }

    /// Returns a text that is the same for all spellings of a name: the client's own spelling if
    /// the name is a URI, otherwise the name itself.
    ///
    /// ```
    /// use xdsctl_clients::core::convert::resource_name::NameComparison;
    /// let name = "xdstp://a/envoy.config.cluster.v3.Cluster/%78?k=2&b=1&k=3#f";
    /// assert_eq!(NameComparison::Parsed.key(name), "xdstp://a/envoy.config.cluster.v3.Cluster/x?b=1&k=3");
    /// assert_eq!(NameComparison::Opaque.key(name), name);
    /// ```
    pub fn key(self, name: &str) -> Cow<'_, str> {
        if self == NameComparison::Opaque || !name.starts_with("xdstp:") {
            return Cow::Borrowed(name);
        }
        spelling(name).map_or(Cow::Borrowed(name), Cow::Owned)
    }
}

/// Why a client cannot ask for a resource by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameFault {
    /// The name is not a URI.
    NotUri(TargetFault),
    /// The path begins with this text instead of the type.
    OtherType(String),
    /// The bootstrap has no such authority.
    UnknownAuthority(String),
}

impl NameFault {
    /// Returns the client's error message about `name`.
    pub fn words(&self, name: &str) -> String {
        match self {
            NameFault::NotUri(_) | NameFault::OtherType(_) => format!("Unable to parse resource name {name}"),
            NameFault::UnknownAuthority(authority) => {
                format!("authority \"{authority}\" not present in bootstrap config")
            }
        }
    }
}

/// Returns the client's own spelling of a URI; `None` if the name is no URI.
fn spelling(name: &str) -> Option<String> {
    let uri = parse(name.strip_prefix("xdstp:")?).ok()?;
    let path = percent_decode(uri.path);
    let path = path.strip_prefix(b"/").unwrap_or(&path);
    let slash = path.iter().position(|byte| *byte == b'/');
    let (type_name, id) = match slash.and_then(|at| path.split_at_checked(at)) {
        Some((type_name, id)) => (type_name, id.get(1..).unwrap_or_default()),
        None => (path, &[][..]),
    };
    let mut parameters: BTreeMap<Cow<'_, [u8]>, Cow<'_, [u8]>> = BTreeMap::new();
    for pair in uri.query.split('&') {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !key.is_empty() {
            parameters.insert(percent_decode(key), percent_decode(value));
        }
    }
    let mut text = "xdstp://".to_owned();
    percent_encode(&user_and_host(uri.authority), is_authority, &mut text);
    text.push('/');
    percent_encode(type_name, is_path, &mut text);
    text.push('/');
    percent_encode(id, is_path, &mut text);
    let mut separator = '?';
    for (key, value) in &parameters {
        text.push(separator);
        percent_encode(key, is_key_or_value, &mut text);
        text.push('=');
        percent_encode(value, is_key_or_value, &mut text);
        separator = '&';
    }
    Some(text)
}

/// Returns the decoded authority; an `@` with no user before it is left out.
fn user_and_host(authority: &str) -> Cow<'_, [u8]> {
    match authority.rsplit_once('@') {
        Some(("", host)) => percent_decode(host),
        Some((user, host)) => Cow::Owned([&percent_decode(user), &b"@"[..], &percent_decode(host)].concat()),
        None => percent_decode(authority),
    }
}

/// Appends a text to `out`, and percent-encodes the bytes that are not `allowed`.
pub fn percent_encode(text: &[u8], allowed: fn(u8) -> bool, out: &mut String) {
    for &byte in text {
        match allowed(byte) {
            true => out.push(char::from(byte)),
            false => _ = write!(out, "%{byte:02X}"),
        }
    }
}

/// Says whether a byte may stand in a URI's authority: unreserved, sub-delims and `:[]@` (C-core
/// `IsAuthorityChar`).
pub const fn is_authority(byte: u8) -> bool {
    is_unreserved(byte) || is_sub_delim(byte) || matches!(byte, b':' | b'[' | b']' | b'@')
}

/// Says whether a byte may stand in a URI's path (C-core `IsPathChar`).
pub const fn is_path(byte: u8) -> bool {
    is_unreserved(byte) || is_sub_delim(byte) || matches!(byte, b':' | b'@' | b'/')
}

/// Says whether a byte may stand in a key or value of a URI's query (C-core
/// `IsQueryKeyOrValueChar`).
const fn is_key_or_value(byte: u8) -> bool {
    (is_path(byte) || byte == b'?') && !matches!(byte, b'&' | b'=')
}

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~')
}

const fn is_sub_delim(byte: u8) -> bool {
    matches!(
        byte,
        b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'='
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_equal_keys() {
        for names in [
            &["a", "a"][..],
            &[
                "xdstp://a/t/i",
                "xdstp://a/t/i#f",
                "xdstp://%61/%74/i",
                "xdstp://a/t/i?&=x",
                "xdstp://@a/t/i",
            ],
            &["xdstp:t/i", "xdstp:/t/i", "xdstp:///t/i"],
            &["xdstp://a/t", "xdstp://a/t/"],
            &[
                "xdstp://a/t/i?x=1&y=2",
                "xdstp://a/t/i?y=2&x=1",
                "xdstp://a/t/i?y=0&x=%31&y=2",
            ],
            &["xdstp://a/t/i?x", "xdstp://a/t/i?x="],
            &[
                "xdstp://a/t/i/j",
                "xdstp://a/t/i%2Fj",
                "xdstp://a/t/i%2fj",
                "xdstp://a/t%2fi/j",
            ],
        ] {
            for name in names {
                assert_eq!(
                    NameComparison::Parsed.key(name),
                    NameComparison::Parsed.key(names[0]),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn other_names_have_other_keys() {
        let names = [
            "a",
            "A",
            "a%41",
            "aA",
            "xdstp://a/t/i",
            "xdstp://A/t/i",
            "xdstp://a/t/I",
            "xdstp://a/t//i",
            "xdstp:///t/i",
            "xdstp://a/t/i?x=1",
            "xdstp://a/t/i?x=1&y=2",
            "xdstp://a/t/i?x=1%26y=2",
            "xdstp://a/t/i%3Fx=1",
            "xdstp://a/t/i%23",
            "xdstp://u@a/t/i",
            "xdstp://a/t/i?",
            "XDSTP://a/t/i",
        ];
        for (number, one) in names.iter().enumerate() {
            for other in names.iter().skip(number + 1) {
                assert_ne!(
                    NameComparison::Parsed.key(one),
                    NameComparison::Parsed.key(other),
                    "{one} {other}"
                );
            }
        }
    }

    #[test]
    fn keys_are_their_own_keys() {
        for name in [
            "xdstp://a/t/i?x=1&y=2",
            "xdstp://a/t/i%20j",
            "xdstp:///t/",
            "xdstp://a/t/%FF",
        ] {
            assert_eq!(NameComparison::Parsed.key(name), name);
        }
    }
}
