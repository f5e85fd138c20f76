//! The clients that one run asks.

use super::switch::{self, Doubt, SwitchEffect};
use super::{Client, ClientStanding, Family, NotFollowed, Package, Profile, UnknownSwitch};

/// The clients that a run asks, and the base: the client whose worlds it follows.
///
/// The base is the newest C-core in the list; without C-core it is the newest version about which
/// something is known, of the family that is named first; otherwise it is the reference client.
/// References, trees and lints, which concern several resources together, are worked out for the
/// base. The other clients are asked about each resource.
///
/// ```
/// use xdsctl_model::profile::{Client, Fleet};
/// let fleet = Fleet::new(&Client::parse_list("go,cpp@1.66.2").unwrap());
/// assert_eq!(fleet.base().name(), "gRPC C-core 1.66.2");
/// assert_eq!(fleet.others().len(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct Fleet {
    /// The clients in the user's order.
    clients: Vec<Client>,
    base: Profile,
    others: Vec<Profile>,
    /// Switches that were set although it is not fully known what they change.
    doubts: Vec<Doubt>,
}

impl Default for Fleet {
    /// Makes a fleet of the reference client alone.
    fn default() -> Self {
        Self::new(&[Client::REFERENCE])
    }
}

impl Fleet {
    /// Makes the fleet of these clients.
    pub fn new(clients: &[Client]) -> Self {
        let base = base(clients).unwrap_or(Client::REFERENCE);
        let others = clients.iter().filter(|client| **client != base);
        Fleet {
            clients: clients.to_vec(),
            base: Profile::of(base),
            others: others.map(|client| Profile::of(*client)).collect(),
            doubts: Vec::new(),
        }
    }

    /// Makes a fleet of one client whose channel is followed.
    ///
    /// # Errors
    /// The errors are those of [`Profile::of_channel`].
    pub fn of_channel(client: Client) -> Result<Self, NotFollowed> {
        Profile::of_channel(client)?;
        Ok(Self::of_one(client))
    }

    /// Makes a fleet of one client, which judges the resources of its worlds itself. Its RPCs are
    /// not followed.
    pub fn of_one(client: Client) -> Self {
        Fleet {
            clients: vec![client],
            base: Profile::of(client),
            others: Vec::new(),
            doubts: Vec::new(),
        }
    }

    /// Makes a fleet of one client in its default environment, in a program that has a server.
    pub fn of_server(client: Client) -> Self {
        let mut fleet = Fleet::of_one(client);
        fleet.base = fleet.base.serving();
        fleet
    }

    /// Returns the client whose worlds are followed.
    pub const fn base(&self) -> &Profile {
        &self.base
    }

    /// Returns the clients that are asked besides the base.
    pub fn others(&self) -> &[Profile] {
        &self.others
    }

    /// Returns the client that reads a bootstrap: the base if the user asks for it, otherwise the
    /// first client that the user asks for.
    pub fn reader_of_bootstrap(&self) -> &Profile {
        match self.others.first() {
            Some(first) if !self.asks_base() => first,
            _ => &self.base,
        }
    }

    /// Returns the profiles of the clients that were asked for, the base first if it is one of
    /// them.
    pub fn asked(&self) -> impl Iterator<Item = &Profile> {
        let base = Some(&self.base).filter(|_| self.asks_base());
        base.into_iter().chain(&self.others)
    }

    /// Returns every client that was asked for, in the user's order.
    pub fn clients(&self) -> &[Client] {
        &self.clients
    }

    /// Says whether the user asks for the base itself.
    pub fn asks_base(&self) -> bool {
        self.clients.contains(&self.base.client())
    }

    /// Writes some of the clients that were asked, family by family: `go, java <1.71`.
    ///
    /// A family without a version means all of its versions that were asked.
    pub fn describe(&self, some: &[Client]) -> String {
        let mut parts = Vec::new();
        for family in Family::ALL {
            let mut asked: Vec<Client> = self.clients.iter().filter(|c| c.family == family).copied().collect();
            asked.sort_unstable();
            let is_in: Vec<bool> = asked.iter().map(|client| some.contains(client)).collect();
            let runs = is_in.chunk_by(|a, b| a == b).count();
            let first = is_in.iter().position(|is_in| *is_in);
            let Some(first) = first.and_then(|first| asked.get(first)) else {
                continue;
            };
            let mut later = asked.iter().zip(&is_in);
            let next = later.find(|(client, is_in)| *client > first && !**is_in);
            match (runs, is_in.first(), next) {
                (1, ..) => parts.push(family.to_string()),
                (2, Some(true), Some((next, _))) => parts.push(format!("{family} <{}", short(*next))),
                (2, ..) => parts.push(format!("{family} >={}", short(*first))),
                _ => {
                    let named = asked.iter().zip(&is_in).filter(|(_, is_in)| **is_in);
                    parts.extend(named.map(|(client, _)| client.to_string()));
                }
            }
        }
        parts.join(", ")
    }

    /// Sets an environment switch in every client that has it; see [`Profile::set_env`].
    ///
    /// If it is not known what the switch changes, it is added to [`Fleet::doubts`].
    ///
    /// # Errors
    /// [`UnknownSwitch`] if no known client has the switch, whether it is asked or not.
    pub fn set_env(&mut self, name: &str, value: &str) -> Result<(), UnknownSwitch> {
        let of_base = self.base.take(name, value);
        let mut is_unknown = of_base.is_none();
        let base = self.base.client();
        let mut answers: Vec<(Client, SwitchEffect)> = Vec::new();
        if self.clients.contains(&base) {
            answers.extend(of_base.map(|taken| (base, taken)));
        }
        for profile in &mut self.others {
            match profile.take(name, value) {
                Some(taken) => answers.push((profile.client(), taken)),
                None => is_unknown = true,
            }
        }
        if answers.is_empty() && is_unknown && !switch::is_of_any_client(name) {
            return Err(UnknownSwitch::new(name));
        }
        let not_known = answers.iter().filter(|(_, taken)| *taken == SwitchEffect::NotKnown);
        let clients: Vec<Client> = not_known.map(|(client, _)| *client).collect();
        if answers.is_empty() || !clients.is_empty() {
            self.doubts.push(Doubt {
                switch: name.to_owned(),
                clients,
            });
        }
        Ok(())
    }

    /// Makes all clients answer for programs that use this package.
    pub fn bring(&mut self, package: Package) {
        self.base.bring(package);
        self.others.iter_mut().for_each(|profile| profile.bring(package));
    }

    /// Returns the switches that were set although no client that is asked has them, or although it
    /// is not known what they change.
    pub fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }
}

impl Client {
    /// Says whether it is known what the client does with several resources together, that is,
    /// whether its version is known.
    pub fn has_own_world(self) -> bool {
        self.standing() != ClientStanding::Unknown
    }
}

/// Returns the client of a list whose worlds are followed.
fn base(clients: &[Client]) -> Option<Client> {
    let newest = |family: Family, is_usable: fn(ClientStanding) -> bool| {
        let of_family = clients.iter().filter(|client| client.family == family);
        of_family.filter(|client| is_usable(client.standing())).max().copied()
    };
    let core = newest(Family::REFERENCE, |standing| standing == ClientStanding::Measured);
    let known = |client: &Client| newest(client.family, |it| it != ClientStanding::Unknown);
    core.or_else(|| clients.iter().find_map(known))
}

/// Writes the version, without the patch if that is 0.
fn short(client: Client) -> String {
    let text = client.version.to_string();
    match text.strip_suffix(".0") {
        Some(minor) => minor.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Feature;

    #[test]
    fn a_switch_is_set_where_it_exists() {
        let mut fleet = Fleet::new(&Client::parse_list("cpp@1.62,cpp@1.85,go@1.70").unwrap());
        fleet.set_env("GRPC_EXPERIMENTAL_XDS_COMPOSITE_FILTER", "true").unwrap();
        assert!(fleet.base().has(Feature::CompositeFilter));
        assert!(
            fleet
                .others()
                .iter()
                .all(|profile| !profile.has(Feature::CompositeFilter))
        );
        assert!(fleet.set_env("GRPC_EXPERIMENTAL_XDS_NOTHING", "true").is_err());
    }

    #[test]
    fn versions_that_differ_are_named_by_where_they_begin_and_end() {
        let fleet = Fleet::new(&Client::parse_list("cpp,go,java@1.72,java@1.74,java@1.80").unwrap());
        let describe = |list: &str| fleet.describe(&Client::parse_list(list).unwrap());
        assert_eq!(describe("go"), "go");
        assert_eq!(describe("cpp,java@1.72"), "cpp, java <1.74");
        assert_eq!(describe("java@1.74,java@1.80"), "java >=1.74");
        assert_eq!(describe("java@1.74"), "java@1.74.0");
        assert_eq!(describe("java@1.72,java@1.80"), "java@1.72.0, java@1.80.0");
        assert_eq!(describe("java@1.72,java@1.74,java@1.80"), "java");
    }

    #[test]
    fn the_base_is_the_newest_core_or_the_reference() {
        let base = |list: &str| {
            let fleet = Fleet::new(&Client::parse_list(list).unwrap());
            (fleet.base().client().to_string(), fleet.asks_base())
        };
        assert_eq!(base("cpp@1.62,cpp@1.66.0"), ("cpp@1.66.0".to_owned(), true));
        assert_eq!(base("go,cpp@1.66.0"), ("cpp@1.66.0".to_owned(), true));
        assert_eq!(base("node"), ("node@1.14.1".to_owned(), true));
    }

    #[test]
    fn without_core_the_base_is_the_newest_of_the_family_that_is_named_first() {
        let base = |list: &str| {
            Fleet::new(&Client::parse_list(list).unwrap())
                .base()
                .client()
                .to_string()
        };
        assert_eq!(base("java@1.72,go@1.85.0,java@1.74"), "java@1.74.0");
        assert_eq!(base("node,java@1.72"), "node@1.14.1");
        assert_eq!(base("go@1.84.0,java"), "go@1.84.0");
    }
}
