//! Which client is being imitated, and with which switches.
//!
//! The reference is gRPC C-core 1.85.1 with its default environment. A [`Profile`] is that client plus the environment
//! switches that the user sets with `--env NAME=VALUE`; the process environment is never read. Only this module knows
//! variable names and client versions: the rest of the crate asks [`Profile::has`].

mod feature;
mod server;

pub use feature::{Feature, Features};
pub use server::ServerFacts;

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
    features: Features,
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
    /// The client's name and version, as printed in reports.
    pub const CLIENT: &'static str = "gRPC C-core 1.85.1";

    /// Says whether the client has `feature` switched on.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    /// Sets one environment switch as the client would read it.
    ///
    /// Boolean switches are true for `1`, `t`, `true`, `y` and `yes` in any case; every other text, the empty one
    /// included, is false (C-core `ParseBoolValue`). `GRPC_TRACE` is a comma-separated list in which `xds_client`
    /// matters. `GRPC_XDS_BOOTSTRAP*` name files and are refused here: use `--bootstrap`.
    ///
    /// Those of [`WITHOUT_EFFECT`] are taken and do nothing.
    ///
    /// # Errors
    /// [`UnknownSwitch`] for any other variable that changes nothing in validation, tree or picks.
    pub fn set_env(&mut self, name: &str, value: &str) -> Result<(), UnknownSwitch> {
        if WITHOUT_EFFECT.contains(&name) {
            return Ok(());
        }
        match Feature::ALL.iter().find(|f| f.env() == name) {
            Some(&feature) => {
                self.features.set(feature, feature.parse(value));
                Ok(())
            }
            None => Err(UnknownSwitch {
                name: name.to_owned(),
                nearest: crate::text::nearest(name, Feature::ALL.iter().map(|f| f.env())),
            }),
        }
    }
}
