//! What the bootstrap says about servers, as far as it changes how a resource is validated.

use std::collections::{BTreeMap, BTreeSet};

use super::{Feature, Profile};

/// The facts that resource validation takes from the bootstrap file.
///
/// The default is a bootstrap with one server without `trusted_xds_server`, and no certificate
/// providers. If the providers are `None`, no bootstrap was given: provider names are then not
/// checked, because nothing is known about them. The same is true of authorities.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// Names in `certificate_providers`; `None` without a bootstrap.
    pub certificate_providers: Option<BTreeSet<String>>,
    /// Keys of `authorities` (A47); `None` without a bootstrap.
    pub authorities: Option<BTreeSet<String>>,
    /// The server that sent the resource has the feature `trusted_xds_server` (A81).
    pub trusted_xds_server: bool,
    /// The server that sent the resource has the feature `ignore_resource_deletion` (A53).
    pub ignore_resource_deletion: bool,
    /// The server that sent the resource has the feature `fail_on_data_errors` (A88).
    pub fail_on_data_errors: bool,
    /// Keys of `allowed_grpc_services` (A102), with the channel credentials type chosen for each.
    pub allowed_grpc_services: BTreeMap<String, String>,
}

impl ServerFacts {
    /// Says whether `name` may be used as a certificate provider instance.
    pub fn knows_provider(&self, name: &str) -> bool {
        let known = self.certificate_providers.as_ref();
        known.is_none_or(|names| names.contains(name))
    }

    /// Says whether a client drops a Listener or a Cluster that the server removes (A53, A88).
    pub fn drops_removed(&self, profile: &Profile) -> bool {
        match profile.has(Feature::DataErrorHandling) {
            true => self.fail_on_data_errors,
            false => !self.ignore_resource_deletion,
        }
    }
}
