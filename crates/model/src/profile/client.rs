//! Which clients there are, which of their versions were measured, and how a user names them.
//!
//! A client is one of four implementations ([`Family`]) at a version. What is known of it was measured by asking the client
//! itself; a version between two measured ones is answered by the older where both agree, and one beyond them is refused.

use std::collections::BTreeSet;
use std::fmt;

use super::version::{Version, VersionRequest};

/// An implementation of gRPC's xDS client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// C-core, also inside of Python, Ruby, PHP, Objective-C and the old C#.
    Cpp,
    /// grpc-go.
    Go,
    /// grpc-java.
    Java,
    /// grpc-js-xds.
    Node,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 4] = [Family::Cpp, Family::Go, Family::Java, Family::Node];

    /// The word used in arguments, reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Cpp => "cpp",
            Family::Go => "go",
            Family::Java => "java",
            Family::Node => "node",
        }
    }

    /// The project's own name.
    pub const fn project(self) -> &'static str {
        match self {
            Family::Cpp => "gRPC C-core",
            Family::Go => "grpc-go",
            Family::Java => "grpc-java",
            Family::Node => "grpc-js-xds",
        }
    }

    /// The versions that were asked, oldest first; every minor release once, but for patches that answer differently.
    pub const fn measured(self) -> &'static [Version] {
        match self {
            Family::Cpp => CPP,
            Family::Go => GO,
            Family::Java => JAVA,
            Family::Node => NODE,
        }
    }

    /// The versions whose RPCs were sent and looked at (`fixtures/clients`), oldest first. Between two of them all did the same.
    pub const fn picked(self) -> &'static [Version] {
        match self {
            Family::Cpp => CPP_PICKED,
            Family::Go => GO_PICKED,
            Family::Java | Family::Node => &[],
        }
    }

    /// Says whether all of its rules are known. Where they are not, a resource in which no fault is found is not taken for good.
    pub const fn has_all_rules(self) -> bool {
        match self {
            Family::Cpp | Family::Go | Family::Java | Family::Node => true,
        }
    }

    /// The newest version that was asked.
    pub const fn newest(self) -> Version {
        match self.measured().last() {
            Some(version) => *version,
            None => Version::new(0, 0, 0),
        }
    }
}

/// How a family was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measurement {
    /// How the client was asked.
    pub with: &'static str,
    /// Resources that its newest version was asked about (`fixtures/clients`).
    pub resources: u32,
}

impl Family {
    /// How it was measured.
    pub const fn measurement(self) -> Measurement {
        let (with, resources) = match self {
            Family::Cpp => ("grpcio wheels as clients of a control plane", 15_426),
            Family::Go => ("its own decoders, called directly", 18_692),
            Family::Java => ("XdsResourceType.parse, called directly", 18_692),
            Family::Node => ("its own decode functions, called directly", 18_025),
        };
        Measurement { with, resources }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! versions {
    ($($version:literal)+) => { &[$(Version::literal($version)),+] };
}

/// Wheels of grpcio; there are none of 1.52, 1.77 and 1.79.
const CPP: &[Version] = versions!["1.51.3" "1.53.2" "1.54.3" "1.55.3" "1.56.2" "1.57.0" "1.58.3" "1.59.5" "1.60.2" "1.61.3"
    "1.62.3" "1.63.2" "1.64.3" "1.65.5" "1.66.0" "1.66.2" "1.67.1" "1.68.0" "1.68.1" "1.69.0" "1.70.0" "1.71.2" "1.72.2" "1.73.1"
    "1.74.0" "1.75.1" "1.76.0" "1.78.2" "1.80.1" "1.81.2" "1.82.3" "1.83.2" "1.84.2" "1.85.0" "1.85.1"];

const CPP_PICKED: &[Version] = versions!["1.62.3" "1.72.2" "1.85.1"];

const GO_PICKED: &[Version] = versions!["1.85.0-dev"];

/// Every minor release; 1.74.0 and 1.74.1 are retracted.
const GO: &[Version] = versions!["1.60.0" "1.61.0" "1.62.0" "1.63.0" "1.64.0" "1.65.0" "1.66.0" "1.67.0" "1.68.0" "1.69.0"
    "1.70.0" "1.71.0" "1.72.0" "1.73.0" "1.74.2" "1.75.0" "1.76.0" "1.77.0" "1.78.0" "1.79.0" "1.80.0" "1.81.0" "1.82.0"
    "1.82.1" "1.83.0" "1.84.0-dev" "1.85.0-dev"];

const JAVA: &[Version] = versions!["1.72.0" "1.73.0" "1.74.0" "1.77.0" "1.77.1" "1.78.0" "1.79.0" "1.80.0" "1.83.1"];

/// What could be had; 1.14.0 and 1.14.1 answer alike.
const NODE: &[Version] = versions!["1.10.1" "1.13.0" "1.14.0" "1.14.1"];

/// Languages that wrap C-core, and how their version numbers become its.
const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "python",
        major: 1,
        last: None,
    },
    Wrapper {
        name: "ruby",
        major: 1,
        last: None,
    },
    Wrapper {
        name: "php",
        major: 1,
        last: None,
    },
    Wrapper {
        name: "objc",
        major: 1,
        last: None,
    },
    // Grpc.Core, in maintenance since 2021; Grpc.Net.Client is an implementation of its own and has no xDS.
    Wrapper {
        name: "csharp",
        major: 2,
        last: Some(Version::new(2, 46, 6)),
    },
];

/// A language whose gRPC is a layer over C-core.
struct Wrapper {
    name: &'static str,
    /// Its releases have the minor and patch of the C-core in them, and this major.
    major: u16,
    /// The last release, if it has ended.
    last: Option<Version>,
}

/// Versions that are named where one lies beyond all of them.
const NEAREST: usize = 2;

/// What is known of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientStanding {
    /// It was asked.
    Measured,
    /// The nearest versions that were asked are these.
    Between(Version, Version),
    /// It lies beyond every version that was asked.
    Unknown,
}

/// One implementation at one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Client {
    /// The implementation.
    pub family: Family,
    /// Its version.
    pub version: Version,
}

impl Default for Client {
    /// The reference: C-core 1.85.1.
    fn default() -> Self {
        Client {
            family: Family::Cpp,
            version: Family::Cpp.newest(),
        }
    }
}

/// Why a text names no client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownClient {
    /// The name before the `@`.
    #[error("no client `{name}`, known are {}{}", known_names().join(", "), nearest.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default())]
    Name {
        /// As given.
        name: String,
        /// The name that is nearest, if one is near.
        nearest: Option<&'static str>,
    },
    /// The text after the `@`.
    #[error("`{version}` is no version of `{name}`, must be like `{example}`")]
    Version {
        /// The client.
        name: String,
        /// As given.
        version: String,
        /// A version that exists.
        example: String,
    },
    /// A version that lies beyond every version that was asked.
    #[error("{asked} is not known: it is {} than every version that was measured, the nearest are {}", if *is_newer { "newer" } else { "older" }, nearest.join(" and "))]
    Beyond {
        /// The client, and what it is if that goes by another name.
        asked: String,
        /// Else it is older.
        is_newer: bool,
        /// Versions that can be asked, the nearest first.
        nearest: Vec<String>,
    },
    /// A release that does not exist, of a wrapper that has ended.
    #[error("`{name}` ended with {last}: later gRPC for that language is no C-core and has no xDS")]
    Ended {
        /// The client.
        name: String,
        /// Its last release.
        last: Version,
    },
    /// Nothing.
    #[error("a client is missing, must be like `cpp@1.66.2`, `go`, `current` or `all`")]
    Missing,
}

fn known_names() -> Vec<&'static str> {
    let families = Family::ALL.iter().map(|family| family.name());
    let wrappers = WRAPPERS.iter().map(|wrapper| wrapper.name);
    families.chain(wrappers).chain(["current", "all"]).collect()
}

impl Client {
    /// Reads a list like `cpp@1.66.2,go,java@1.80,node`; each client comes once, in the order of the list.
    ///
    /// A name without a version is the newest that was measured, a version without a patch the newest measured patch of that minor.
    /// `python`, `ruby`, `php`, `objc` and `csharp` are the C-core in that release; `current` is the newest of each family,
    /// `all` every version that was measured.
    ///
    /// ```
    /// use xdsctl_model::profile::Client;
    /// let list = Client::parse_list("python@1.66,go").unwrap();
    /// assert_eq!(list[0].to_string(), "cpp@1.66.2");
    /// assert_eq!(list[1].to_string(), "go@1.85.0-dev");
    /// ```
    ///
    /// # Errors
    /// [`UnknownClient`], for the first entry that is none.
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

    /// The newest measured version of each family.
    pub fn current() -> Vec<Client> {
        let newest = |family: Family| Client {
            family,
            version: family.newest(),
        };
        Family::ALL.map(newest).to_vec()
    }

    /// Every version that was measured, family by family, the oldest first.
    pub fn all() -> Vec<Client> {
        let of = |family: Family| family.measured().iter().map(move |&version| Client { family, version });
        Family::ALL.into_iter().flat_map(of).collect()
    }

    fn parse(entry: &str) -> Result<Client, UnknownClient> {
        let (name, version) = match entry.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (entry, None),
        };
        let family = Family::ALL.into_iter().find(|family| family.name() == name);
        let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name);
        let (family, wrapper) = match (family, wrapper) {
            (Some(family), _) => (family, None),
            (None, Some(wrapper)) => (Family::Cpp, Some(wrapper)),
            (None, None) => {
                return Err(UnknownClient::Name {
                    name: name.to_owned(),
                    nearest: crate::text::nearest(name, known_names().into_iter()),
                });
            }
        };
        let major = wrapper.map_or(1, |wrapper| wrapper.major);
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

    /// The client, if it does not lie beyond what was measured.
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

    /// What is known of it.
    pub fn standing(self) -> ClientStanding {
        let measured = self.family.measured();
        if measured.contains(&self.version) {
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
            "cpp@1.66.2 go@1.85.0-dev java@1.80.0 node@1.14.1"
        );
        assert_eq!(names("python, cpp ,ruby@1.85.1"), "cpp@1.85.1");
        assert_eq!(names("current"), "cpp@1.85.1 go@1.85.0-dev java@1.83.1 node@1.14.1");
        assert_eq!(names("php@1.66.0,objc@1.66"), "cpp@1.66.0 cpp@1.66.2");
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
            "`latest` is no version of `go`, must be like `1.85.0-dev`"
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
        // Patches differ: those of 1.66, 1.68 and 1.77 do.
        assert_eq!(standing("go@1.70.3"), between("1.70", "1.71"));
        assert_eq!(standing("cpp@1.62.1"), between("1.61.3", "1.62.3"));
        assert_eq!(standing("java@1.75"), between("1.74", "1.77"));
    }

    #[test]
    fn what_lies_beyond_every_measured_version_is_refused_with_the_nearest() {
        let newer = "is not known: it is newer than every version that was measured, the nearest are";
        assert_eq!(
            names("go@1.99"),
            format!("`go@1.99` {newer} go@1.85.0-dev and go@1.84.0-dev")
        );
        assert_eq!(
            names("java@1.83.2"),
            format!("`java@1.83.2` {newer} java@1.83.1 and java@1.80.0")
        );
        assert_eq!(
            names("python@1.86"),
            format!("`python@1.86` (cpp@1.86.0) {newer} cpp@1.85.1 and cpp@1.85.0")
        );
        assert_eq!(
            names("java@1.60"),
            "`java@1.60` is not known: it is older than every version that was measured, the nearest are java@1.72.0 and java@1.73.0"
        );
    }

    #[test]
    fn measured_versions_are_in_order() {
        for family in Family::ALL {
            assert!(family.measured().is_sorted(), "{family}");
        }
    }
}
