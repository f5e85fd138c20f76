//! Finds out which client sent a node, by what clients call themselves in `user_agent_name` and
//! `user_agent_version`.

use std::fmt;

use super::client::Client;
use super::family::Family;
use super::version::{Version, VersionRequest};

/// What a node says about the client that sent it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct UserAgent {
    /// `user_agent_name`; empty if the node has none.
    pub name: String,
    /// `user_agent_version`; empty if the node has none.
    pub version: String,
}

/// Which client a node's `user_agent_name` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agent {
    /// These clients: several if the node does not say which patch release it is.
    Clients(Vec<Client>),
    /// A gRPC client, at a version that cannot be read.
    UnknownVersion(Family),
    /// Another program that speaks xDS, such as Envoy.
    Other,
    /// The node does not say which program sent it.
    Nobody,
}

impl UserAgent {
    /// Says which client sent the node.
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
        let mut families = Family::ALL.into_iter();
        let Some(family) = families.find(|family| family.facts().user_agents.iter().any(|known| is_named(known)))
        else {
            return if self.name.is_empty() {
                Agent::Nobody
            } else {
                Agent::Other
            };
        };
        let clients = (family.facts().of_user_agent)(&self.version);
        if clients.is_empty() {
            return Agent::UnknownVersion(family);
        }
        let of = |version| Client { family, version };
        Agent::Clients(clients.into_iter().map(of).collect())
    }
}

/// Reads a `user_agent_version` that is only a version, such as `1.70.3`.
pub(super) fn only_version(text: &str) -> Vec<Version> {
    read_version(text).into_iter().collect()
}

/// Reads a version such as `1.70.3`. Text after a hyphen marks a build of that version; only `-dev`
/// means a version that comes after it.
pub(super) fn read_version(text: &str) -> Option<Version> {
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

    /// The names are from wheels of C-core (CSDS dumps), and from the sources of the other clients.
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
        assert_eq!(agent("gRPC Rust tonic-xds", "0.1.0-alpha.4"), "rust@0.1.0-alpha.4");
        assert_eq!(agent("tonic-xds", "0.1.0-alpha.3"), "rust@0.1.0-alpha.3");
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
