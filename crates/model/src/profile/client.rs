//! Which clients there are, which of their versions were measured, and how a user names them.
//!
//! A client is one of five implementations ([`Family`]) at a version. Its behaviour was measured by
//! asking the client itself. For a version between two measured ones, the older one answers where
//! both agree. A version beyond all measured ones is refused.

use std::collections::BTreeSet;
use std::fmt;

use super::family::{Family, Wrapper};
use super::version::{Version, VersionRequest};

/// How many versions an error names if the version asked for is beyond all measured ones.
const NEAREST: usize = 2;

/// How much is known about a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientStanding {
    /// The version was measured.
    Measured,
    /// The version was not measured; it lies between these two that were.
    Between(Version, Version),
    /// The version is older or newer than every version that was measured.
    Unknown,
}

/// One implementation at one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Client {
    /// The implementation of gRPC.
    pub family: Family,
    /// The release, which decides its features.
    pub version: Version,
}

/// Why a text names no client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownClient {
    /// There is no client of the name before the `@`.
    #[error("no client `{name}`, known are {}{}", known_names().join(", "), nearest.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default())]
    Name {
        /// The name as it was given.
        name: String,
        /// The known name that is nearest, if one is near.
        nearest: Option<&'static str>,
    },
    /// The text after the `@` is not a version.
    #[error("`{version}` is no version of `{name}`, must be like `{example}`")]
    Version {
        /// The name of the client as it was given.
        name: String,
        /// The version as it was given.
        version: String,
        /// A version that exists.
        example: String,
    },
    /// The version is older or newer than every version that was measured.
    #[error("{asked} is not known: it is {} than every version that was measured, the nearest are {}", if *is_newer { "newer" } else { "older" }, nearest.join(" and "))]
    Beyond {
        /// The client as it was given, and the family's client that it stands for if that has
        /// another name.
        asked: String,
        /// The version is newer than all that were measured; otherwise it is older.
        is_newer: bool,
        /// Measured versions, the nearest first.
        nearest: Vec<String>,
    },
    /// The wrapper ended before this release, so there is no such release.
    #[error("`{name}` ended with {last}: later gRPC for that language is no C-core and has no xDS")]
    Ended {
        /// The name of the client as it was given.
        name: String,
        /// The last release of the family that was measured.
        last: Version,
    },
    /// The text names several clients where one is wanted.
    #[error("`{asked}` are {count} clients, a channel has one")]
    Several {
        /// The list as it was given.
        asked: String,
        /// The number of clients that it names.
        count: usize,
    },
    /// No client was given.
    #[error("a client is missing, must be like `cpp@1.66.2`, `go`, `current` or `all`")]
    Missing,
}

/// Returns the wrappers (languages whose gRPC is a layer over a family), each with its family.
fn wrappers() -> impl Iterator<Item = (Family, &'static Wrapper)> {
    let of = |family: Family| family.facts().wrappers.iter().map(move |wrapper| (family, wrapper));
    Family::ALL.into_iter().flat_map(of)
}

fn known_names() -> Vec<&'static str> {
    let families = Family::ALL.iter().map(|family| family.name());
    let aliases = Family::ALL.iter().flat_map(|family| family.facts().aliases);
    let wrappers = wrappers().map(|(_, wrapper)| wrapper.name);
    let names = families.chain(aliases.copied()).chain(wrappers);
    names.chain(["current", "all"]).collect()
}

impl Client {
    /// The client that is asked where nobody names another: C-core 1.85.1.
    pub const REFERENCE: Client = Client {
        family: Family::REFERENCE,
        version: Version::new(1, 85, 1),
    };

    /// Reads a list like `cpp@1.66.2,go,java@1.80,node`. Each client is returned once, in the order
    /// of the list.
    ///
    /// A name without a version means the newest version that was measured. A version without a
    /// patch means the newest measured patch of that minor release. `python`, `ruby`, `php`, `objc`
    /// and `csharp` mean the C-core in that release, and `tonic` means `rust`. `current` means the
    /// newest version of each family, `all` every version that was measured.
    ///
    /// ```
    /// use xdsctl_model::profile::Client;
    /// let list = Client::parse_list("python@1.66,go").unwrap();
    /// assert_eq!(list[0].to_string(), "cpp@1.66.2");
    /// assert_eq!(list[1].to_string(), "go@1.85.0");
    /// ```
    ///
    /// # Errors
    /// [`UnknownClient`] for the first entry that names no client.
    pub fn parse_list(text: &str) -> Result<Vec<Client>, UnknownClient> {
        let mut clients: Vec<Client> = Vec::new();
        let mut seen = BTreeSet::new();
        for entry in text.split(',').map(str::trim) {
            let found = match entry {
                "" => return Err(UnknownClient::Missing),
                "current" => Self::current(),
                "all" => Self::all(),
                _ => vec![Self::parse(entry)?],
            };
            clients.extend(found.into_iter().filter(|client| seen.insert(*client)));
        }
        Ok(clients)
    }

    /// Reads the name of one client, as [`Client::parse_list`] does.
    ///
    /// ```
    /// use xdsctl_model::profile::Client;
    /// assert_eq!(Client::parse_one("java@1.80").unwrap().to_string(), "java@1.80.0");
    /// assert!(Client::parse_one("go,cpp").is_err());
    /// ```
    ///
    /// # Errors
    /// [`UnknownClient`], also if the text names several clients.
    pub fn parse_one(text: &str) -> Result<Client, UnknownClient> {
        match Self::parse_list(text)?.as_slice() {
            [client] => Ok(*client),
            several => Err(UnknownClient::Several {
                asked: text.to_owned(),
                count: several.len(),
            }),
        }
    }

    /// Returns the newest measured version of each family.
    pub fn current() -> Vec<Client> {
        let newest = |family: Family| Client {
            family,
            version: family.newest(),
        };
        Family::ALL.map(newest).to_vec()
    }

    /// Returns every version that was measured, family by family, the oldest first.
    pub fn all() -> Vec<Client> {
        let of = |family: Family| family.measured().iter().map(move |&version| Client { family, version });
        Family::ALL.into_iter().flat_map(of).collect()
    }

    fn parse(entry: &str) -> Result<Client, UnknownClient> {
        let (name, version) = match entry.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (entry, None),
        };
        let is_named = |family: &Family| family.name() == name || family.facts().aliases.contains(&name);
        let family = Family::ALL.into_iter().find(is_named);
        let wrapper = wrappers().find(|(_, wrapper)| wrapper.name == name);
        let (family, wrapper) = match (family, wrapper) {
            (Some(family), _) => (family, None),
            (None, Some((family, wrapper))) => (family, Some(wrapper)),
            (None, None) => {
                return Err(UnknownClient::Name {
                    name: name.to_owned(),
                    nearest: crate::text::nearest(name, known_names().into_iter()),
                });
            }
        };
        let major = wrapper.map_or(family.newest().major, |wrapper| wrapper.major);
        let last = wrapper.and_then(|wrapper| wrapper.last);
        let Some(text) = version else {
            let newest = family.newest();
            let version = last.map_or(newest, |last| Version::new(newest.major, last.minor, last.patch));
            return Client { family, version }.within(entry);
        };
        let asked: Option<VersionRequest> = text.parse().ok();
        let Some(asked) = asked.filter(|asked| asked.version.major == major) else {
            return Err(UnknownClient::Version {
                name: name.to_owned(),
                version: text.to_owned(),
                example: last.unwrap_or(family.newest()).to_string(),
            });
        };
        if let Some(last) = last.filter(|last| asked.version.minor > last.minor) {
            return Err(UnknownClient::Ended {
                name: name.to_owned(),
                last,
            });
        }
        let version = Version {
            major: family.newest().major,
            ..asked.version
        };
        let newest_patch = || {
            let measured = family.measured().iter().rev();
            measured.copied().find(|known| known.is_of_minor(version))
        };
        let version = if asked.has_patch { None } else { newest_patch() }.unwrap_or(version);
        Client { family, version }.within(entry)
    }

    /// Returns the client, unless its version is beyond all measured ones.
    fn within(self, entry: &str) -> Result<Client, UnknownClient> {
        if self.standing() != ClientStanding::Unknown {
            return Ok(self);
        }
        let measured = self.family.measured();
        let is_newer = measured.last().is_some_and(|newest| *newest < self.version);
        let name = |version: &Version| format!("{}@{version}", self.family);
        let nearest: Vec<String> = match is_newer {
            true => measured.iter().rev().take(NEAREST).map(name).collect(),
            false => measured.iter().take(NEAREST).map(name).collect(),
        };
        let asked = match entry.split('@').next() == Some(self.family.name()) {
            true => format!("`{entry}`"),
            false => format!("`{entry}` ({self})"),
        };
        Err(UnknownClient::Beyond {
            asked,
            is_newer,
            nearest,
        })
    }

    /// Returns the client itself, or the nearest measured one if the version is beyond all measured
    /// ones.
    ///
    /// ```
    /// use xdsctl_model::profile::{Client, Family, Version};
    /// let client = |major| Client { family: Family::Go, version: Version::new(major, 0, 0) };
    /// assert_eq!(client(2).nearest().version, Family::Go.newest());
    /// assert_eq!(client(0).nearest().version, Family::Go.measured()[0]);
    /// ```
    pub fn nearest(self) -> Client {
        let measured = self.family.measured();
        let end = match measured.first() {
            _ if self.standing() != ClientStanding::Unknown => None,
            Some(oldest) if self.version < *oldest => Some(*oldest),
            _ => Some(self.family.newest()),
        };
        Client {
            version: end.unwrap_or(self.version),
            ..self
        }
    }

    /// Returns the client of the family whose RPCs were measured and that is nearest: the newest
    /// that is not newer than this client, otherwise the oldest.
    pub fn nearest_picked(self) -> Option<Client> {
        let picked = self.family.picked();
        let before = picked.iter().rev().find(|version| **version <= self.version);
        let version = *before.or(picked.first())?;
        Some(Client { version, ..self })
    }

    /// Returns how much is known about the client.
    pub fn standing(self) -> ClientStanding {
        let measured = self.family.measured();
        // Usually the version is the newest.
        if measured.iter().rev().any(|known| *known == self.version) {
            return ClientStanding::Measured;
        }
        let before = measured.iter().rev().find(|known| **known < self.version);
        let after = measured.iter().find(|known| **known > self.version);
        match (before, after) {
            (Some(before), Some(after)) => ClientStanding::Between(*before, *after),
            _ => ClientStanding::Unknown,
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.family, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> String {
        match Client::parse_list(list) {
            Ok(clients) => clients.iter().map(Client::to_string).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_list_names_clients_once_and_in_order() {
        assert_eq!(
            names("cpp@1.66.2,go,java@1.80,node"),
            "cpp@1.66.2 go@1.85.0 java@1.80.0 node@1.14.1"
        );
        assert_eq!(names("python, cpp ,ruby@1.85.1"), "cpp@1.85.1");
        let newest = "cpp@1.85.1 go@1.85.0 java@1.85.1 node@1.14.1 rust@0.1.0-alpha.4";
        assert_eq!(names("current"), newest);
        assert_eq!(names("php@1.66.0,objc@1.66"), "cpp@1.66.0 cpp@1.66.2");
        let alpha = "rust@0.1.0-alpha.3 rust@0.1.0-alpha.4";
        assert_eq!(names("tonic@0.1.0-alpha.3,rust@0.1"), alpha);
    }

    #[test]
    fn csharp_ended_with_the_core_of_2_46() {
        let older =
            "is not known: it is older than every version that was measured, the nearest are cpp@1.51.3 and cpp@1.53.2";
        assert_eq!(names("csharp"), format!("`csharp` (cpp@1.46.6) {older}"));
        assert_eq!(names("csharp@2.40.0"), format!("`csharp@2.40.0` (cpp@1.40.0) {older}"));
        assert_eq!(
            names("csharp@2.60"),
            "`csharp` ended with 2.46.6: later gRPC for that language is no C-core and has no xDS"
        );
        assert_eq!(
            names("csharp@1.60"),
            "`1.60` is no version of `csharp`, must be like `2.46.6`"
        );
    }

    #[test]
    fn what_is_no_client_is_said() {
        assert!(names("jav").ends_with("did you mean `java`?"));
        assert_eq!(
            names("go@latest"),
            "`latest` is no version of `go`, must be like `1.85.0`"
        );
        assert!(names("go,").starts_with("a client is missing"));
    }

    #[test]
    fn only_what_was_measured_is_known() {
        let standing = |name: &str| Client::parse_list(name).unwrap()[0].standing();
        let between =
            |before: &str, after: &str| ClientStanding::Between(Version::literal(before), Version::literal(after));
        assert_eq!(standing("go@1.70"), ClientStanding::Measured);
        assert_eq!(standing("cpp@1.62"), ClientStanding::Measured);
        // A patch that was not measured does not count as its minor release: patches of 1.66, 1.68
        // and 1.77 differ.
        assert_eq!(standing("go@1.70.3"), between("1.70", "1.71"));
        assert_eq!(standing("cpp@1.62.1"), between("1.61.3", "1.62.3"));
        assert_eq!(standing("java@1.60"), between("1.54", "1.63"));
    }

    #[test]
    fn what_lies_beyond_every_measured_version_is_refused_with_the_nearest() {
        let newer = "is not known: it is newer than every version that was measured, the nearest are";
        assert_eq!(names("go@1.99"), format!("`go@1.99` {newer} go@1.85.0 and go@1.84.0"));
        assert_eq!(
            names("java@1.85.2"),
            format!("`java@1.85.2` {newer} java@1.85.1 and java@1.83.1")
        );
        assert_eq!(
            names("python@1.86"),
            format!("`python@1.86` (cpp@1.86.0) {newer} cpp@1.85.1 and cpp@1.85.0")
        );
        assert_eq!(
            names("java@1.33"),
            "`java@1.33` is not known: it is older than every version that was measured, the nearest are java@1.34.1 and java@1.36.0"
        );
    }

    #[test]
    fn measured_versions_are_in_order() {
        for family in Family::ALL {
            assert!(family.measured().is_sorted(), "{family}");
        }
    }
}
