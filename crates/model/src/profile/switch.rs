//! Environment switches that are not a [`Feature`]: those that change nothing here, and those of
//! which it is not known what they change.
//!
//! The lists were read in the clients' sources: grpc-go 1.42 to 1.85 (`internal/envconfig`),
//! grpc-java 1.63 to 1.83.1 (grpc-xds, grpc-core), grpc-js-xds 1.14.1, and in the binaries of
//! C-core 1.66.2 and 1.85.1.

use super::client::Client;
use super::family::Family;
use super::version::Version;
use super::{Feature, Profile};

/// Variables of a client's environment that change nothing in validation, tree or picks. They are
/// accepted so that an environment can be given as it is.
pub const WITHOUT_EFFECT: &[&str] = &[
    // How much the client logs (gRPC core, environment_variables.md; grpc-go grpclog; grpc-js
    // logging.ts).
    "GRPC_VERBOSITY",
    "GRPC_STACKTRACE_MINLOGLEVEL",
    "GRPC_TRACE",
    "GRPC_GO_LOG_SEVERITY_LEVEL",
    "GRPC_GO_LOG_VERBOSITY_LEVEL",
    "GRPC_GO_LOG_FORMATTER",
    "GRPC_NODE_TRACE",
    "GRPC_NODE_VERBOSITY",
    "GRPC_LOG_XDS_NODE_ID",
    // `fallback_on_reachability_only` decides between management servers (A95).
    "GRPC_EXPERIMENTAL_XDS_ENDPOINT_FALLBACK",
    // The server name of a TLS handshake where the context gives none (A101).
    "GRPC_USE_CHANNEL_AUTHORITY_IF_NO_SNI_APPLICABLE",
];

/// The variables that name the bootstrap, which is an argument here.
const BOOTSTRAP: [&str; 2] = ["GRPC_XDS_BOOTSTRAP", "GRPC_XDS_BOOTSTRAP_CONFIG"];

/// Switches of some clients whose effect is not known here; the [family files](super::family) say
/// which versions have each.
const UNMODELLED: &[&str] = &[
    // The authority is rewritten (A81). C-core 1.66.2 has this switch, and 1.85.1 does not.
    "GRPC_EXPERIMENTAL_XDS_AUTHORITY_REWRITE",
    // Several `xds_servers` (A71).
    "GRPC_EXPERIMENTAL_XDS_FALLBACK",
    // How long the children of the priority policy are kept (A115).
    "GRPC_EXPERIMENTAL_ENABLE_PRIORITY_LB_CHILD_POLICY_CACHE",
    // `metric_names_for_computing_utilization` (A114).
    "GRPC_EXPERIMENTAL_WRR_CUSTOM_METRICS",
    "GRPC_EXPERIMENTAL_PF_WEIGHTED_SHUFFLING",
    "GRPC_EXPERIMENTAL_SPIFFE_TRUST_BUNDLE_MAP",
    "GRPC_EXPERIMENTAL_XDS_MTLS_SPIFFE",
    "GRPC_EXPERIMENTAL_XDS_DATA_ERROR_HANDLING",
    "GRPC_EXPERIMENTAL_XDS_ORCA_LRS_PROPAGATION",
    "GRPC_EXPERIMENTAL_XDS_SNI",
    "GRPC_EXPERIMENTAL_XDS_EXT_PROC_ON_SERVER",
    "GRPC_EXPERIMENTAL_XDS_EXT_AUTHZ_ON_CLIENT",
    // The transport socket of a cluster is read (A29).
    "GRPC_XDS_EXPERIMENTAL_SECURITY_SUPPORT",
    // The resolver of google-c2p exists.
    "GRPC_EXPERIMENTAL_GOOGLE_C2P_RESOLVER",
    "GRPC_XDS_EXPERIMENTAL_CIRCUIT_BREAKING",
    "GRPC_XDS_EXPERIMENTAL_ENABLE_RING_HASH",
    "GRPC_XDS_EXPERIMENTAL_ENABLE_TIMEOUT",
    // Not a boolean: the size of the largest ring.
    "GRPC_RING_HASH_CAP",
    "GRPC_EXPERIMENTAL_ENABLE_NEW_PICK_FIRST",
    "GRPC_PF_USE_HAPPY_EYEBALLS",
    "GRPC_SERIALIZE_RETRIES",
    // Not booleans: a list of experiments, and who resolves names.
    "GRPC_EXPERIMENTS",
    "GRPC_DNS_RESOLVER",
];

/// The versions of a family that have a switch: the first one, and the first that no longer has it,
/// if there is one.
pub type Since = (Family, Version, Option<Version>);

/// Returns the switches whose effect is not known here, each with the versions of the families that
/// have it.
pub fn unmodelled() -> impl Iterator<Item = (&'static str, Vec<Since>)> {
    UNMODELLED.iter().map(|&name| {
        let of = |family: Family| {
            let switches = family.facts().unmodelled.iter();
            let of_name = switches.filter(move |switch| switch.name == name);
            of_name.map(move |switch| (family, switch.from, switch.until))
        };
        (name, Family::ALL.into_iter().flat_map(of).collect())
    })
}

/// What a client does with a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwitchEffect {
    /// It is known what the switch changes.
    Known,
    /// The client has the switch, but it is not known what the switch changes.
    NotKnown,
}

/// A switch that was set although something about it is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The name of the environment variable.
    pub switch: String,
    /// The clients that are asked and have the switch; empty if only other clients have it.
    pub clients: Vec<Client>,
}

impl Doubt {
    /// Says what is not known, as a sentence without a stop.
    pub fn why(&self) -> String {
        let name = &self.switch;
        match self.clients.is_empty() {
            false => format!("what `{name}` changes is not known here"),
            true => format!(
                "`{name}` changes nothing: no client that is asked has it, {} has",
                families(name).join(" or ")
            ),
        }
    }
}

/// A switch that the client does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown environment switch `{name}`{}", hint(name, *nearest))]
pub struct UnknownSwitch {
    /// The name as given.
    pub name: String,
    /// The switch whose name is nearest, if one is near.
    pub nearest: Option<&'static str>,
}

fn hint(name: &str, nearest: Option<&str>) -> String {
    match nearest {
        _ if BOOTSTRAP.contains(&name) => ": --bootstrap names the bootstrap".to_owned(),
        Some(nearest) => format!(", did you mean `{nearest}`?"),
        None => String::new(),
    }
}

impl UnknownSwitch {
    pub(super) fn new(name: &str) -> Self {
        let of_features = Feature::ALL.iter().filter_map(|feature| feature.env());
        let others = UNMODELLED.iter().copied();
        let known = of_features.chain(others).chain(WITHOUT_EFFECT.iter().copied());
        UnknownSwitch {
            name: name.to_owned(),
            nearest: crate::text::nearest(name, known.filter(|known| *known != name)),
        }
    }
}

/// Returns the variable that another name stands for in a family, such as a Java system property;
/// otherwise the name itself.
pub(super) fn variable(name: &str, family: Family) -> &str {
    let mut properties = family.facts().properties.iter();
    let of_name = properties.find(|(property, _)| *property == name);
    of_name.map_or(name, |(_, variable)| variable)
}

/// Says whether the client has a switch of this name whose effect is not known.
pub(super) fn is_unmodelled(name: &str, client: Client) -> bool {
    let mut switches = client.family.facts().unmodelled.iter();
    switches.any(|switch| {
        let is_since = switch.from <= client.version;
        switch.name == name && is_since && switch.until.is_none_or(|until| client.version < until)
    })
}

/// Returns the families of which some version has the switch.
fn families(name: &str) -> Vec<&'static str> {
    let has = |family: &Family| {
        let (family, mut versions) = (*family, family.measured().iter());
        versions.any(|&version| Profile::of(Client { family, version }).takes(name))
    };
    let families = Family::ALL.into_iter().filter(has);
    families.map(Family::name).collect()
}

/// Says whether some client that was measured has the switch.
pub(super) fn is_of_any_client(name: &str) -> bool {
    WITHOUT_EFFECT.contains(&name) || !families(name).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Fleet;

    fn fleet(clients: &str, switch: &str) -> Result<String, String> {
        let mut fleet = Fleet::new(&Client::parse_list(clients).unwrap());
        fleet.set_env(switch, "true").map_err(|error| error.to_string())?;
        let doubts = fleet.doubts().iter().map(|doubt| {
            let clients: Vec<String> = doubt.clients.iter().map(Client::to_string).collect();
            format!("{}: {}", clients.join(" "), doubt.why())
        });
        Ok(doubts.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn a_switch_whose_effect_is_not_known_is_taken_and_said() {
        let name = "GRPC_EXPERIMENTAL_ENABLE_PRIORITY_LB_CHILD_POLICY_CACHE";
        assert_eq!(
            fleet("cpp,java,go@1.79,go@1.80", name).unwrap(),
            format!("java@1.85.1 go@1.80.0: what `{name}` changes is not known here")
        );
        assert_eq!(
            fleet("cpp", name).unwrap(),
            format!(": `{name}` changes nothing: no client that is asked has it, go or java has")
        );
        assert_eq!(fleet("cpp", "GRPC_EXPERIMENTAL_XDS_HTTP_CONNECT").unwrap(), "");
    }

    #[test]
    fn a_switch_of_another_client_changes_nothing_and_that_is_said() {
        let name = "GRPC_EXPERIMENTAL_XDS_COMPOSITE_FILTER";
        assert_eq!(
            fleet("go", name).unwrap(),
            format!(": `{name}` changes nothing: no client that is asked has it, cpp has")
        );
    }

    #[test]
    fn a_switch_of_nobody_is_refused_with_the_nearest() {
        assert_eq!(
            fleet("java", "GRPC_EXPERIMENTAL_XDS_AUTHORITY_REWRITES").unwrap_err(),
            "unknown environment switch `GRPC_EXPERIMENTAL_XDS_AUTHORITY_REWRITES`, \
             did you mean `GRPC_EXPERIMENTAL_XDS_AUTHORITY_REWRITE`?"
        );
        assert_eq!(
            fleet("java", "GRPC_XDS_BOOTSTRAP").unwrap_err(),
            "unknown environment switch `GRPC_XDS_BOOTSTRAP`: --bootstrap names the bootstrap"
        );
    }

    #[test]
    fn a_property_of_java_is_its_variable() {
        let mut profile = Profile::of(Client::parse_list("java@1.72").unwrap()[0]);
        assert!(!profile.has(Feature::LeastRequest));
        profile
            .set_env("io.grpc.xds.experimentalEnableLeastRequest", "true")
            .unwrap();
        assert!(profile.has(Feature::LeastRequest));
    }
}
