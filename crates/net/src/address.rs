//! Where a running system is: `csds://HOST:PORT`, `ads://HOST:PORT?node=ID`, `envoy://HOST:PORT`, `csds+unix:///PATH`.

use std::fmt;
use std::path::PathBuf;

use xdsctl::client::target::percent_decode;

/// What answers there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Envoy's admin port.
    Envoy,
    /// The client status discovery service of a gRPC process, Envoy or istiod.
    Csds,
    /// The aggregated discovery service of a control plane.
    Ads,
}

/// Where to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `HOST:PORT`; an IPv6 address stands in brackets.
    Tcp(String),
    /// The path of a socket.
    Unix(PathBuf),
    /// The first management server of the bootstrap.
    Bootstrap,
}

/// A running system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// As the user wrote it, for messages.
    pub text: String,
    /// What answers there.
    pub kind: Kind,
    /// Where.
    pub place: Place,
    /// What stands behind the question mark, decoded, in order.
    pub query: Vec<(String, String)>,
}

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// There is no port, or it is none.
    #[error("`{0}` names no port, expected {1}://HOST:PORT")]
    Port(String, &'static str),
    /// A key that nothing reads.
    #[error("`{key}` in `{text}` is none of {known}")]
    Key {
        /// The address.
        text: String,
        /// The key.
        key: String,
        /// Those that are read.
        known: String,
    },
}

/// Keys of the query.
const KEYS: [&str; 6] = ["node", "target", "delta", "scope", "tls", "cluster"];

/// Schemes with what answers there, and whether what follows is a path.
const SCHEMES: [(&str, Kind, bool); 6] = [
    ("envoy://", Kind::Envoy, false),
    ("csds://", Kind::Csds, false),
    ("ads://", Kind::Ads, false),
    ("envoy+unix://", Kind::Envoy, true),
    ("csds+unix://", Kind::Csds, true),
    ("ads+unix://", Kind::Ads, true),
];

impl Kind {
    /// The scheme.
    pub const fn scheme(self) -> &'static str {
        match self {
            Kind::Envoy => "envoy",
            Kind::Csds => "csds",
            Kind::Ads => "ads",
        }
    }
}

impl Address {
    /// Says whether a text is meant as an address, and not as the name of a file.
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|(scheme, ..)| text.starts_with(scheme))
    }

    /// Reads an address.
    ///
    /// ```
    /// use xdsctl_net::{Address, Kind, Place};
    /// let address = Address::parse("ads://[::1]:15010?node=sidecar~1&delta").unwrap();
    /// assert_eq!((address.kind, address.place.clone()), (Kind::Ads, Place::Tcp("[::1]:15010".to_owned())));
    /// assert_eq!(address.get("node"), Some("sidecar~1"));
    /// assert!(Address::parse("csds://localhost").is_err());
    /// ```
    ///
    /// # Errors
    /// No port, or a key that nothing reads.
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        let found = SCHEMES.iter().find_map(|(scheme, kind, is_path)| {
            let rest = text.strip_prefix(scheme)?;
            Some((rest, *kind, *is_path))
        });
        let (rest, kind, is_path) = found.unwrap_or((text, Kind::Csds, false));
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let place = place.strip_suffix('/').unwrap_or(place);
        let place = match place {
            path if is_path => Place::Unix(PathBuf::from(percent_decode(path))),
            "" if kind == Kind::Ads => Place::Bootstrap,
            authority => {
                let port = authority.rsplit_once(':').map(|(_, port)| port);
                let is_port = port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port != 0));
                if !is_port || authority.starts_with(':') || authority.contains(['/', '@', ' ']) {
                    return Err(AddressError::Port(text.to_owned(), kind.scheme()));
                }
                Place::Tcp(authority.to_owned())
            }
        };
        let mut pairs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !KEYS.contains(&key) {
                return Err(AddressError::Key {
                    text: text.to_owned(),
                    key: key.to_owned(),
                    known: KEYS.join(", "),
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

    /// The last value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let pair = self.query.iter().rev().find(|(name, _)| name == key);
        pair.map(|(_, value)| value.as_str())
    }

    /// All values of a key.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let pairs = self.query.iter().filter(move |(name, _)| name == key);
        pairs.map(|(_, value)| value.as_str())
    }

    /// Says whether a key is there, and not `false`.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value != "false")
    }
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
            Ok(Place::Unix("/run/a b".into()))
        );
        assert_eq!(place("ads://?target=xds:///a"), Ok(Place::Bootstrap));
        assert_eq!(place("envoy://h:9901/"), Ok(Place::Tcp("h:9901".to_owned())));
        for text in [
            "csds://",
            "csds://h",
            "csds://h:",
            "csds://h:0",
            "csds://h:99999",
            "csds://:80",
            "envoy://h:1/x",
            "ads://u@h:1",
        ] {
            assert!(matches!(place(text), Err(AddressError::Port(..))), "{text}");
        }
        assert!(matches!(place("ads://h:1?nod=x"), Err(AddressError::Key { .. })));
    }
}
