//! Which client is being imitated, and with which switches.
//!
//! The reference is gRPC C-core 1.85.1 with its default environment. A [`Profile`] is a client at a
//! version plus the environment switches that the user sets with `--env NAME=VALUE`; the process
//! environment is never read. A [`Fleet`] holds the clients that one run asks. Only this module
//! knows variable names and client versions: all other code asks [`Profile::has`].

mod agent;
mod asked;
mod client;
mod defect;
mod family;
#[macro_use]
mod feature_list;
mod feature;
mod feature_set;
mod fleet;
mod history;
mod package;
mod server;
mod switch;
mod version;

use asked::AskedFeatures;
use switch::SwitchEffect;

pub use agent::{Agent, UserAgent};
pub use client::{Client, ClientStanding, UnknownClient};
pub use defect::{Defect, DefectTrigger};
pub use family::{Family, Measurement};
pub use feature::{Feature, Features};
pub use fleet::Fleet;
pub use history::{FeatureChange, VersionStep};
pub use package::Package;
pub use server::ServerFacts;
pub use switch::{Doubt, Since, UnknownSwitch, WITHOUT_EFFECT, unmodelled};
pub use version::Version;

/// A client version with its switches.
///
/// ```
/// use xdsctl_model::profile::{Feature, Profile};
/// let mut profile = Profile::default();
/// assert!(profile.has(Feature::RlsLb));
/// profile.set_env("GRPC_EXPERIMENTAL_XDS_RLS_LB", "no").unwrap();
/// assert!(!profile.has(Feature::RlsLb));
/// ```
#[derive(Debug, Clone)]
pub struct Profile {
    client: Client,
    features: Features,
    /// The features that are on when nothing is set, and those that a variable can switch.
    defaults: Features,
    switches: Features,
    asked: AskedFeatures,
    /// The switches that were set, in order.
    settings: Vec<(String, String)>,
    /// The packages that the program uses.
    packages: Vec<Package>,
}

/// Why the channel of a client is not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not known where RPCs of {client} go: {why}")]
pub struct NotFollowed {
    /// The client: a family at one version.
    pub client: Client,
    /// The reason, as a sentence: which RPCs of its family were measured.
    pub why: String,
}

impl Default for Profile {
    /// Makes the profile of the reference client in its default environment.
    fn default() -> Self {
        Self::of(Client::REFERENCE)
    }
}

impl Profile {
    /// Makes the profile of a client in its default environment.
    pub fn of(client: Client) -> Self {
        let defaults = Features::of(client);
        Profile {
            client,
            features: defaults,
            defaults,
            switches: Features::switches_of(client),
            asked: AskedFeatures::default(),
            settings: Vec::new(),
            packages: Vec::new(),
        }
    }

    /// Makes the profile of a client in its default environment, whose channel is to be followed.
    ///
    /// # Errors
    /// The RPCs of this version were not measured, nor those of a version before and one after it.
    pub fn of_channel(client: Client) -> Result<Self, NotFollowed> {
        let picked = client.family.picked();
        let not_followed = |why| Err(NotFollowed { client, why });
        let (Some(first), Some(last)) = (picked.first(), picked.last()) else {
            return not_followed(format!("no RPC of {} was ever sent", client.family.project()));
        };
        if client.version < *first || client.version > *last || client.standing() != ClientStanding::Measured {
            let asked: Vec<String> = picked.iter().map(Version::to_string).collect();
            let nearest = client.nearest_picked().unwrap_or(client);
            let asked = asked.join(", ");
            return not_followed(format!("RPCs were sent with {asked}; the nearest is {nearest}"));
        }
        Ok(Self::of(client))
    }

    /// Returns another version of the same family, with the switches that were set here and that it
    /// has.
    pub fn at_version(&self, version: Version) -> Self {
        let mut profile = Self::of(Client { version, ..self.client });
        for (name, value) in &self.settings {
            // A switch that this version lacks changes nothing in it.
            let _ = profile.set_env(name, value);
        }
        for &package in &self.packages {
            profile.bring(package);
        }
        match self.features.has(Feature::ReadsAsServer) {
            true => profile.serving(),
            false => profile,
        }
    }

    /// Returns the client.
    pub const fn client(&self) -> Client {
        self.client
    }

    /// Says whether it is known what the client does with several resources together; see
    /// [`Client::has_own_world`].
    pub fn has_own_world(&self) -> bool {
        self.client.has_own_world()
    }

    /// Says whether the client is of the reference's family, C-core.
    pub fn is_core(&self) -> bool {
        self.client.family == Family::REFERENCE
    }

    /// Says whether this is the reference client in its default environment.
    pub fn is_reference(&self) -> bool {
        self.client == Client::REFERENCE && self.features == self.defaults
    }

    /// Returns the client's project and version, as printed in reports: `gRPC C-core 1.85.1`.
    pub fn name(&self) -> String {
        format!("{} {}", self.client.family.project(), self.client.version)
    }

    /// Says whether the client has `feature` switched on.
    pub fn has(&self, feature: Feature) -> bool {
        self.asked.note(feature);
        self.features.has(feature)
    }

    /// Says whether a variable switches `feature` in this client.
    pub fn has_switch(&self, feature: Feature) -> bool {
        self.asked.note(feature);
        self.switches.has(feature)
    }

    /// Says whether `feature` is on when its variable is not set.
    pub fn is_default_on(&self, feature: Feature) -> bool {
        self.asked.note(feature);
        self.defaults.has(feature)
    }

    /// Says whether another version of the same family has the same answer to every question about
    /// a feature that this copy of the profile was asked so far. What was worked out with this
    /// profile is then true of the other.
    pub fn answers_for(&self, other: &Profile) -> bool {
        let is_same = |one: Features, other: Features| !self.asked.is_in(one.differing(other));
        self.client.family == other.client.family
            && is_same(self.features, other.features)
            && is_same(self.defaults, other.defaults)
            && is_same(self.switches, other.switches)
    }

    /// Sets one environment switch as the client would read it, see [`Feature::parse`].
    ///
    /// `GRPC_TRACE` is a comma-separated list in which only `xds_client` matters.
    /// `GRPC_XDS_BOOTSTRAP*` name files and are refused here: use `--bootstrap`. Variables in
    /// [`WITHOUT_EFFECT`] are accepted and do nothing. So are those of which it is not known what
    /// they change; [`Fleet::doubts`] lists them.
    ///
    /// # Errors
    /// [`UnknownSwitch`] for any other variable that changes nothing in this client's validation,
    /// tree or picks.
    pub fn set_env(&mut self, name: &str, value: &str) -> Result<(), UnknownSwitch> {
        match self.take(name, value) {
            Some(_) => Ok(()),
            None => Err(UnknownSwitch::new(name)),
        }
    }

    /// Sets a switch as [`set_env`](Self::set_env) does. Returns `None` for an unknown switch,
    /// without looking for the nearest name, which takes time.
    fn take(&mut self, name: &str, value: &str) -> Option<SwitchEffect> {
        let variable = switch::variable(name, self.client.family);
        for &feature in self.switched_by(variable) {
            self.features.set(feature, feature.parse(value, self.client));
        }
        // A version between two measured ones has the switches of both.
        self.settings.push((name.to_owned(), value.to_owned()));
        if self.switched_by(variable).next().is_some() || WITHOUT_EFFECT.contains(&variable) {
            Some(SwitchEffect::Known)
        } else if switch::is_unmodelled(variable, self.client) {
            Some(SwitchEffect::NotKnown)
        } else {
            None
        }
    }

    /// Makes the client answer for a program that uses this package.
    pub fn bring(&mut self, package: Package) {
        self.features.set(package.feature(), true);
        self.packages.push(package);
    }

    /// Makes the client answer for a program that has a server: RouteConfigurations are read for
    /// the server.
    #[must_use]
    pub fn serving(mut self) -> Self {
        self.features.set(Feature::ReadsAsServer, true);
        self.defaults.set(Feature::ReadsAsServer, true);
        self
    }

    /// Returns the features that a variable switches in this client.
    fn switched_by<'n>(&self, variable: &'n str) -> impl Iterator<Item = &'static Feature> + use<'n> {
        let client = self.client;
        let of_name = move |feature: &&Feature| feature.env() == Some(variable) && feature.has_switch(client);
        Feature::ALL.iter().filter(of_name)
    }

    /// Says whether the client has a switch of this name that changes something.
    fn takes(&self, name: &str) -> bool {
        let variable = switch::variable(name, self.client.family);
        self.switched_by(variable).next().is_some() || switch::is_unmodelled(variable, self.client)
    }
}
