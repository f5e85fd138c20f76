//! Addresses of running systems: `csds://HOST:PORT`, `ads://HOST:PORT?node=ID`,
//! `envoy://HOST:PORT`, `csds+unix:///PATH`.

use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;

use xdsctl_channel::client::target::percent_decode;

/// The kind of system that answers at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// Envoy's admin port.
    Envoy,
    /// The client status discovery service of a gRPC process, Envoy or istiod.
    Csds,
    /// The aggregated discovery service of a control plane.
    Ads,
}

/// Where to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerPlace {
    /// `HOST:PORT`, with an IPv6 address in brackets.
    Tcp(String),
    /// The path of a socket.
    Unix(PathBuf),
    /// The first management server of the bootstrap.
    Bootstrap,
}

/// The address of a running system: `csds://`, `ads://`, `envoy://`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The address as the user wrote it, for messages.
    pub text: String,
    /// The kind of system at the address, from the scheme.
    pub kind: ServerKind,
    /// Where the system listens.
    pub place: ServerPlace,
    /// The decoded keys and values after the question mark, in order.
    pub query: Vec<(String, String)>,
}

/// Why a text is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// There is no port, or it is not valid.
    #[error("`{0}` names no port, expected {1}://HOST:PORT")]
    Port(String, &'static str),
    /// There is an IPv6 address without brackets, so the port cannot be recognised.
    #[error("`{0}`: an IPv6 address stands in brackets, as in {1}://[::1]:50051")]
    Brackets(String, &'static str),
    /// There is something before or after host and port.
    #[error("`{0}` has more than host and port, expected {1}://HOST:PORT")]
    More(String, &'static str),
    /// There is a character or a text that a host name or an address cannot have.
    #[error("`{0}`: {1} has no place in an address, expected {2}://HOST:PORT")]
    Odd(String, String, &'static str),
    /// There is a key that is not known for this kind.
    #[error("`{key}` in `{text}` is none of {known}")]
    Key {
        /// The address as it was given.
        text: String,
        /// The unknown key of the query.
        key: String,
        /// The known keys.
        known: String,
    },
}

/// The keys of the query, each with the kind of address that has it; `None` for all kinds.
const KEYS: [(&str, Option<ServerKind>); 6] = [
    ("node", Some(ServerKind::Ads)),
    ("cluster", Some(ServerKind::Ads)),
    ("target", Some(ServerKind::Ads)),
    ("delta", Some(ServerKind::Ads)),
    ("scope", Some(ServerKind::Csds)),
    ("tls", None),
];

/// The schemes, each with its kind of system, and whether a path follows.
const SCHEMES: [(&str, ServerKind, bool); 6] = [
    ("envoy://", ServerKind::Envoy, false),
    ("csds://", ServerKind::Csds, false),
    ("ads://", ServerKind::Ads, false),
    ("envoy+unix://", ServerKind::Envoy, true),
    ("csds+unix://", ServerKind::Csds, true),
    ("ads+unix://", ServerKind::Ads, true),
];

impl ServerKind {
    /// Returns the scheme.
    pub const fn scheme(self) -> &'static str {
        match self {
            ServerKind::Envoy => "envoy",
            ServerKind::Csds => "csds",
            ServerKind::Ads => "ads",
        }
    }
}

impl Address {
    /// Says whether a text is meant as an address rather than as the name of a file.
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|(scheme, ..)| text.starts_with(scheme))
    }

    /// Reads an address.
    ///
    /// ```
    /// use xdsctl_net::{Address, ServerKind, ServerPlace};
    /// let address = Address::parse("ads://[::1]:15010?node=sidecar~1&delta").unwrap();
    /// assert_eq!((address.kind, address.place.clone()), (ServerKind::Ads, ServerPlace::Tcp("[::1]:15010".to_owned())));
    /// assert_eq!(address.get("node"), Some("sidecar~1"));
    /// assert!(Address::parse("csds://localhost").is_err());
    /// ```
    ///
    /// # Errors
    /// There is no port, more than host and port, or an unknown key.
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        let found = SCHEMES.iter().find_map(|(scheme, kind, is_path)| {
            let rest = text.strip_prefix(scheme)?;
            Some((rest, *kind, *is_path))
        });
        let (rest, kind, is_path) = found.unwrap_or((text, ServerKind::Csds, false));
        if let Some(odd) = text.chars().find(|c| c.is_control()) {
            return Err(AddressError::Odd(shown(text), shown_char(odd), kind.scheme()));
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let place = place.strip_suffix('/').unwrap_or(place);
        let place = match place {
            path if is_path => ServerPlace::Unix(PathBuf::from(percent_decode(path))),
            "" if kind == ServerKind::Ads => ServerPlace::Bootstrap,
            authority => {
                check(authority, text, kind.scheme())?;
                ServerPlace::Tcp(authority.to_owned())
            }
        };
        let mut pairs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let read = KEYS.iter().filter(|(_, of)| of.is_none_or(|of| of == kind));
            let known: Vec<&str> = read.map(|(key, _)| *key).collect();
            if !known.contains(&key) {
                return Err(AddressError::Key {
                    text: shown(text),
                    key: shown(key),
                    known: known.join(", "),
                });
            }
            pairs.push((key.to_owned(), percent_decode(value)));
        }
        Ok(Address {
            text: text.to_owned(),
            kind,
            place,
            query: pairs,
        })
    }

    /// Returns the last value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let pair = self.query.iter().rev().find(|(name, _)| name == key);
        pair.map(|(_, value)| value.as_str())
    }

    /// Returns all values of a key.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let pairs = self.query.iter().filter(move |(name, _)| name == key);
        pairs.map(|(_, value)| value.as_str())
    }

    /// Says whether a key is there and is not `false`.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value != "false")
    }
}

/// Checks that a part of an address is `HOST:PORT` and nothing else, so that every later parser
/// finds the same host and port in it.
///
/// A host is a name of ASCII letters, digits, `-`, `_` and `.`, an IPv4 address, or an IPv6 address
/// in brackets.
///
/// # Errors
/// The part is not `HOST:PORT`. The error has the whole address, `text`.
pub(crate) fn check(authority: &str, text: &str, scheme: &'static str) -> Result<(), AddressError> {
    let odd = |what: String| Err(AddressError::Odd(shown(text), what, scheme));
    if authority.contains(['/', '@', '#', '?']) {
        return Err(AddressError::More(shown(text), scheme));
    }
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, ""));
    let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match inside {
        Some(inside) if inside.parse::<Ipv6Addr>().is_err() => return odd(format!("`{}`", shown(host))),
        None if host.contains(':') => return Err(AddressError::Brackets(shown(text), scheme)),
        None => {
            if let Some(c) = host.chars().find(|c| !is_of_name(*c)) {
                return odd(shown_char(c));
            }
        }
        Some(_) => {}
    }
    let is_port = port.bytes().all(|c| c.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port != 0);
    if is_port && !host.is_empty() {
        Ok(())
    } else {
        Err(AddressError::Port(shown(text), scheme))
    }
}

/// Returns a character in backticks; an invisible one as its code.
fn shown_char(c: char) -> String {
    if c == ' ' {
        "a space".to_owned()
    } else {
        format!("`{}`", shown(c.encode_utf8(&mut [0; 4])))
    }
}

/// Returns a text that can be printed on one line of a terminal, with invisible characters as their
/// codes.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\'' | '"' | '\\' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    shown
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_address() {
        for text in ["dump.json", "csds", "./ads://x", "http://a:1", "git:HEAD:x"] {
            assert!(!Address::is_one(text), "{text}");
        }
        assert!(Address::is_one("csds+unix:///run/s"));
    }

    #[test]
    fn places() {
        let place = |text: &str| Address::parse(text).map(|address| address.place);
        assert_eq!(
            place("csds+unix:///run/a%20b?scope=x"),
            Ok(ServerPlace::Unix("/run/a b".into()))
        );
        assert_eq!(place("ads://?target=xds:///a"), Ok(ServerPlace::Bootstrap));
        assert_eq!(place("envoy://h:9901/"), Ok(ServerPlace::Tcp("h:9901".to_owned())));
        for text in [
            "csds://",
            "csds://h",
            "csds://h:",
            "csds://h:0",
            "csds://h:99999",
            "csds://:80",
        ] {
            assert!(matches!(place(text), Err(AddressError::Port(..))), "{text}");
        }
        for text in ["ads://::1:80", "ads://fe80::1", "ads://[::1:80"] {
            assert!(matches!(place(text), Err(AddressError::Brackets(..))), "{text}");
        }
        for text in ["envoy://h:1/x", "ads://u@h:1", "csds://h:1#x", "ads://u:p@h:1"] {
            assert!(matches!(place(text), Err(AddressError::More(..))), "{text}");
        }
        for text in [
            "ads://h\t:1",
            "ads://h\\x:1",
            "envoy://h h:1",
            "csds://h%2fx:1",
            "ads://h\u{7}:1",
            "ads://h:1?node=\u{1b}[1m",
            "ads+unix:///run/\r",
            "ads://b\u{fc}cher:1",
            "envoy://[::1%25lo]:1",
            "envoy://[127.0.0.1]:1",
        ] {
            let error = place(text).unwrap_err();
            assert!(matches!(error, AddressError::Odd(..)), "{text}");
            assert!(!error.to_string().contains(char::is_control), "{text:?}");
        }
        let error = place("envoy://a\tb:1").unwrap_err().to_string();
        assert_eq!(
            error,
            "`envoy://a\\tb:1`: `\\t` has no place in an address, expected envoy://HOST:PORT"
        );
        assert!(matches!(place("csds://h:+80"), Err(AddressError::Port(..))));
        for text in [
            "ads://h:1?nod=x",
            "ads://h:1?scope=x",
            "csds://h:1?node=x",
            "envoy://h:1?delta",
        ] {
            assert!(matches!(place(text), Err(AddressError::Key { .. })), "{text}");
        }
        assert!(place("csds://h:1?scope=x&tls").is_ok());
    }
}
