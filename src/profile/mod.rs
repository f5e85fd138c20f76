//! Which client is being imitated, and with which switches.
//!
//! The reference is gRPC C-core 1.85.1 with its default environment. A [`Profile`] is a client at a version plus the environment
//! switches that the user sets with `--env NAME=VALUE`; the process environment is never read. A [`Fleet`] is what one run asks.
//! Only this module knows variable names and client versions: the rest of the crate asks [`Profile::has`].

mod agent;
mod client;
mod feature;
mod fleet;
mod server;
mod version;

pub use agent::{Agent, UserAgent};
pub use client::{Client, Family, Measurement, Standing, UnknownClient};
pub use feature::{Change, Feature, Features, Step};
pub use fleet::Fleet;
pub use server::ServerFacts;
pub use version::Version;

/// A client version with its switches.
///
/// ```
/// use xdsctl::profile::{Feature, Profile};
/// let mut profile = Profile::default();
/// assert!(profile.has(Feature::RlsLb));
/// profile.set_env("GRPC_EXPERIMENTAL_XDS_RLS_LB", "no").unwrap();
/// assert!(!profile.has(Feature::RlsLb));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Profile {
    client: Client,
    features: Features,
    /// What was set, in order.
    settings: Vec<(String, String)>,
}

/// Variables of a client's environment that change nothing in validation, tree or picks, taken so that an environment can be
/// given as it is.
pub const WITHOUT_EFFECT: &[&str] = &[
    // How much the client logs (gRPC core, environment_variables.md).
    "GRPC_VERBOSITY",
    "GRPC_STACKTRACE_MINLOGLEVEL",
    // `fallback_on_reachability_only` decides between management servers (A95).
    "GRPC_EXPERIMENTAL_XDS_ENDPOINT_FALLBACK",
    // The server name of a TLS handshake where the context gives none (A101).
    "GRPC_USE_CHANNEL_AUTHORITY_IF_NO_SNI_APPLICABLE",
];

/// A switch that the client does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown environment switch `{name}`{}", nearest.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default())]
pub struct UnknownSwitch {
    /// The name as given.
    pub name: String,
    /// The switch whose name is nearest, if one is near.
    pub nearest: Option<&'static str>,
}

impl Profile {
    /// A client in its default environment.
    pub fn of(client: Client) -> Self {
        Profile {
            client,
            features: Features::of(client),
            settings: Vec::new(),
        }
    }

    /// Another version of the same family, with the switches that were set and that it has.
    pub fn at_version(&self, version: Version) -> Self {
        let mut profile = Self::of(Client { version, ..self.client });
        for (name, value) in &self.settings {
            // A switch that this version lacks changes nothing in it.
            let _ = profile.set_env(name, value);
        }
        profile
    }

    /// Which client it is.
    pub const fn client(&self) -> Client {
        self.client
    }

    /// The client's project and version, as printed in reports: `gRPC C-core 1.85.1`.
    pub fn name(&self) -> String {
        format!("{} {}", self.client.family.project(), self.client.version)
    }

    /// Says whether the client has `feature` switched on.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    /// Says whether a variable switches `feature` in this client.
    pub fn has_switch(&self, feature: Feature) -> bool {
        feature.has_switch(self.client)
    }

    /// The state of `feature` when its variable is not set.
    pub fn is_default_on(&self, feature: Feature) -> bool {
        feature.is_default_on(self.client)
    }

    /// Sets one environment switch as the client would read it, see [`Feature::parse`].
    ///
    /// `GRPC_TRACE` is a comma-separated list in which `xds_client` matters. `GRPC_XDS_BOOTSTRAP*` name files and are refused
    /// here: use `--bootstrap`. Those of [`WITHOUT_EFFECT`] are taken and do nothing.
    ///
    /// # Errors
    /// [`UnknownSwitch`] for any other variable that changes nothing in this client's validation, tree or picks.
    pub fn set_env(&mut self, name: &str, value: &str) -> Result<(), UnknownSwitch> {
        if WITHOUT_EFFECT.contains(&name) {
            return Ok(());
        }
        let mut is_known = false;
        let of_name = |feature: &&Feature| feature.env() == Some(name) && feature.has_switch(self.client);
        for &feature in Feature::ALL.iter().filter(of_name) {
            self.features.set(feature, feature.parse(value, self.client));
            is_known = true;
        }
        // A version between two measured ones has the switches of both.
        self.settings.push((name.to_owned(), value.to_owned()));
        if is_known {
            Ok(())
        } else {
            Err(UnknownSwitch::new(name))
        }
    }
}

impl UnknownSwitch {
    fn new(name: &str) -> Self {
        UnknownSwitch {
            name: name.to_owned(),
            nearest: crate::text::nearest(
                name,
                Feature::ALL.iter().filter_map(|f| f.env()).filter(|env| *env != name),
            ),
        }
    }
}
