//! Which client sent a node: what clients call themselves in `user_agent_name` and `user_agent_version`.

use std::fmt;

use super::client::{Client, Family};
use super::version::{Version, VersionRequest};

/// What a node says of the client that sent it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct UserAgent {
    /// `user_agent_name`; empty if the node has none.
    pub name: String,
    /// `user_agent_version`; empty if the node has none.
    pub version: String,
}

/// Who that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agent {
    /// These clients: more than one where the node does not tell patches apart.
    Clients(Vec<Client>),
    /// A gRPC client, at a version that cannot be read.
    UnknownVersion(Family),
    /// Another program that speaks xDS, such as Envoy.
    Other,
    /// The node does not say.
    Nobody,
}

/// What the families call themselves (C-core `xds_client_grpc.cc`, asked; grpc-go `internal/xds/bootstrap`; grpc-java `BootstrapperImpl`;
/// grpc-js-xds `xds-client.ts`). C-core adds its platform and the language around it: `gRPC C-core linux Python`.
const NAMES: [(Family, &str); 4] = [
    (Family::Cpp, "gRPC C-core"),
    (Family::Go, "gRPC Go"),
    (Family::Java, "gRPC Java"),
    (Family::Node, "gRPC Node Pure JS"),
];

/// The number that C-core has of its own and the minor release that it is in (`grpc_version_string`, read in the wheels); there are
/// no wheels of 1.52, 1.77 and 1.79.
const CORE: [(u16, u16, u16); 32] = [
    (29, 0, 51),
    (30, 1, 53),
    (31, 0, 54),
    (32, 0, 55),
    (33, 0, 56),
    (34, 0, 57),
    (35, 0, 58),
    (36, 0, 59),
    (37, 0, 60),
    (38, 0, 61),
    (39, 0, 62),
    (40, 0, 63),
    (41, 0, 64),
    (42, 0, 65),
    (43, 0, 66),
    (44, 0, 67),
    (44, 1, 68),
    (44, 2, 69),
    (45, 0, 70),
    (46, 0, 71),
    (47, 0, 72),
    (48, 0, 73),
    (49, 0, 74),
    (50, 0, 75),
    (51, 0, 76),
    (52, 0, 78),
    (53, 0, 80),
    (54, 0, 81),
    (55, 0, 82),
    (56, 0, 83),
    (56, 0, 84),
    (58, 0, 85),
];

impl UserAgent {
    /// Says whose node it is.
    ///
    /// ```
    /// use xdsctl_model::profile::{Agent, UserAgent};
    /// let agent = UserAgent { name: "gRPC Go".into(), version: "1.70.3".into() };
    /// assert!(matches!(agent.agent(), Agent::Clients(clients) if clients[0].to_string() == "go@1.70.3"));
    /// ```
    pub fn agent(&self) -> Agent {
        let is_named = |known: &str| {
            let rest = self.name.strip_prefix(known);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let Some((family, _)) = NAMES.iter().find(|(_, known)| is_named(known)) else {
            return if self.name.is_empty() {
                Agent::Nobody
            } else {
                Agent::Other
            };
        };
        let clients = match (family, self.version.strip_prefix("C-core ")) {
            (Family::Cpp, Some(version)) => of_core(version),
            _ => read(&self.version).map(|version| vec![version]).unwrap_or_default(),
        };
        if clients.is_empty() {
            return Agent::UnknownVersion(*family);
        }
        let family = *family;
        let of = |version| Client { family, version };
        Agent::Clients(clients.into_iter().map(of).collect())
    }
}

/// `58.0.0 Python 1.85.1`: the language's release is C-core's. `58.0.0`, as C++ says it: the measured patches of that release.
fn of_core(version: &str) -> Vec<Version> {
    let mut words = version.split(' ');
    let core = words.next().unwrap_or_default();
    if let Some(release) = words.next_back() {
        return read(release).into_iter().collect();
    }
    let Some(core) = read(core) else {
        return Vec::new();
    };
    let of_core = CORE
        .iter()
        .filter(|(major, minor, _)| (core.major, core.minor) == (*major, *minor));
    let minors = of_core.map(|(.., minor)| Version::new(1, *minor, 0));
    let measured = Family::Cpp.measured().iter();
    minors
        .flat_map(|minor| measured.clone().filter(move |known| known.is_of_minor(minor)).copied())
        .collect()
}

/// Reads `1.70.3`; what follows a hyphen is a build of that version, but for `-dev`, which comes after it.
fn read(text: &str) -> Option<Version> {
    let asked: VersionRequest = text
        .parse()
        .or_else(|()| text.split(['-', '+']).next().unwrap_or_default().parse())
        .ok()?;
    Some(asked.version)
}

impl fmt::Display for UserAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name.as_str(), self.version.as_str()) {
            ("", "") => f.write_str("no user agent"),
            (name, "") => write!(f, "`{name}`"),
            (name, version) => write!(f, "`{name}` `{version}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str, version: &str) -> String {
        let agent = UserAgent {
            name: name.to_owned(),
            version: version.to_owned(),
        };
        match agent.agent() {
            Agent::Clients(clients) => clients.iter().map(Client::to_string).collect::<Vec<_>>().join(" "),
            other => format!("{other:?}"),
        }
    }

    /// As wheels of C-core dump them (CSDS), and as the other clients' sources write them.
    #[test]
    fn clients_are_known_by_what_they_send() {
        assert_eq!(
            agent("gRPC C-core linux Python", "C-core 58.0.0 Python 1.85.1"),
            "cpp@1.85.1"
        );
        assert_eq!(
            agent("gRPC C-core linux Python", "C-core 30.1.0 Python 1.53.2"),
            "cpp@1.53.2"
        );
        assert_eq!(agent("gRPC C-core linux", "C-core 43.0.0"), "cpp@1.66.0 cpp@1.66.2");
        assert_eq!(agent("gRPC Go", "1.60.0"), "go@1.60.0");
        assert_eq!(agent("gRPC Java", "1.38.0-SNAPSHOT"), "java@1.38.0");
        assert_eq!(agent("gRPC Node Pure JS", "1.14.1"), "node@1.14.1");
    }

    #[test]
    fn what_is_no_client_is_not_taken_for_one() {
        assert_eq!(agent("envoy", ""), "Other");
        assert_eq!(agent("gRPC Gopher", "1.0.0"), "Other");
        assert_eq!(agent("", "1.60.0"), "Nobody");
        assert_eq!(agent("gRPC Go", "devel"), "UnknownVersion(Go)");
        assert_eq!(agent("gRPC C-core linux", "C-core 30.0.0"), "UnknownVersion(Cpp)");
        assert_eq!(agent("gRPC C-core linux", ""), "UnknownVersion(Cpp)");
    }
}
