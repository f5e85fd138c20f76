//! What a client keeps of a resource that its own converter has accepted.
//!
//! Clients differ far more in what they accept than in what they keep. So a family's converter says
//! what it rejects, and then one reader makes the value. The reader reports nothing, and assumes
//! that the resource is valid. Differences between families are in [`ReadDialect`]; differences
//! between versions are features.

mod cluster;
mod endpoints;
mod filters;
mod lb;
mod listener;
mod matcher;
mod rbac;
mod rewrite;
mod routes;
mod tls;

pub use lb::WeightedForm;

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::Value;

use crate::shared::{Message, Opened};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_model::diag::Validation;
use xdsctl_model::profile::{Feature, Profile, ServerFacts};
use xdsctl_model::resource::filter::FaultHeaders;
use xdsctl_model::resource::listener::Cidr;
use xdsctl_model::resource::{LbConfig, LbPolicy, Millis, Resource};
use xdsctl_model::status::Code;

pub(crate) use cluster::{METRICS, OutlierWays, is_reported, outlier_detection};
pub(crate) use endpoints::EndpointWays;
pub(crate) use filters::{FilterKind, fraction};
pub(crate) use rbac::{PolicyKind, PolicyReader, has_shadow_rules};
pub(crate) use routes::used_plugins;
pub(crate) use xdsctl_model::status::of_http_error as status_of_http;

/// How a family reads accepted resources, where families differ.
pub(crate) struct ReadDialect {
    /// Returns the filter that is registered for the type URL of a config or an override.
    pub filter: fn(&str, &Profile) -> Option<FilterKind>,
    /// Returns the gRPC status code of an abort with an HTTP status; OK for no abort.
    pub status_of_http: fn(u32) -> Code,
    /// How headers ask for faults.
    pub fault_headers: FaultHeaders,
    /// Returns the LB policy that a cluster specifier plugin stands for; `None` if the client does
    /// not have the plugin.
    pub plugin: fn(&Any, &Profile) -> Option<LbPolicy>,
    /// Returns the smallest and the largest size of a ring from the sizes that are set, if any.
    pub ring: fn(Option<u64>, Option<u64>) -> (u64, u64),
    /// Says whether an LB policy of this name is registered, so that a TypedStruct may name it.
    pub has_policy: fn(&str, &Profile) -> bool,
    /// `lb_policy: LEAST_REQUEST` picks within localities, which are chosen by weight.
    pub least_request_in_localities: bool,
    /// The LeastRequest message is read whether or not the client has its switch on.
    pub reads_least_request: bool,
    /// How the config of weighted_round_robin is written.
    pub weighted_round_robin: WeightedForm,
    /// The client watches clusters of weight 0.
    pub watches_unweighted: bool,
    /// Reads a list of LB policies, of which the first known one counts.
    pub lb_config: fn(&Value, &Profile) -> Result<LbConfig, String>,
    /// `require_client_certificate` counts as true if it is set, even to false.
    pub requires_if_set: bool,
    /// Connections to the destinations of a chain that never matches do not go to chains for wider
    /// ranges.
    pub keeps_destinations: fn(&Profile) -> bool,
    /// A chain for `raw_buffer` takes precedence over one without transport_protocol; otherwise
    /// they are equal.
    pub prefers_raw_buffer: bool,
    /// The client also uses chains that never match: it asks for their routes.
    pub uses_all_chains: bool,
    /// A chain whose match does not name `raw_buffer` never matches.
    pub needs_raw_buffer: bool,
    /// Reads an address range of a filter chain's match.
    pub chain_range: fn(&CidrRange, &Profile) -> Option<Cidr>,
    /// Reads an address range of an RBAC policy.
    pub policy_range: fn(&CidrRange, &Profile) -> Option<Cidr>,
    /// Says whether the client has a kind of condition of RBAC policies. A client also accepts a
    /// kind that it lacks.
    pub has_policy_kind: fn(PolicyKind, &Profile) -> bool,
    /// The client uses `alpn_protocols` of a server's TLS context.
    pub uses_alpn: bool,
    /// Of several circuit breakers for the priority DEFAULT, the last one counts; otherwise the
    /// first one.
    pub last_breaker: bool,
    /// That last circuit breaker counts even if it sets no limit; the limit is then the default.
    pub unset_breaker_counts: bool,
}

/// Reads resources for one client.
pub(crate) struct FamilyReader<'p> {
    profile: &'p Profile,
    server: &'p ServerFacts,
    dialect: &'static ReadDialect,
}

impl<'p> FamilyReader<'p> {
    /// Makes a reader for the client that looks at a resource.
    pub(crate) fn new(dialect: &'static ReadDialect, cx: &Validation<'p>) -> Self {
        FamilyReader {
            profile: cx.profile(),
            server: cx.server(),
            dialect,
        }
    }

    /// Returns what the client keeps of a resource.
    pub(crate) fn resource(&self, message: Message<'_>, opened: &Opened) -> Resource {
        match message {
            Message::Listener(message) => Resource::Listener(self.listener(message)),
            Message::RouteConfiguration(message) => Resource::RouteConfiguration(self.route_config(message, opened)),
            Message::Cluster(message) => Resource::Cluster(self.cluster(message)),
            Message::Endpoints(message) => Resource::Endpoints(self.endpoints(message, opened)),
        }
    }

    fn has(&self, feature: Feature) -> bool {
        self.profile.has(feature)
    }

    /// Reads a list of LB policies as JSON. A list that the LB policies refuse is kept with the
    /// reason, and RPCs fail.
    fn lb_policy(&self, json: Value) -> Arc<LbPolicy> {
        let (config, refusal) = match (self.dialect.lb_config)(&json, self.profile) {
            Ok(config) => (config, None),
            // The converter has checked everything but the sizes of a ring in
            // `ring_hash_lb_config`.
            Err(why) => (LbConfig::RingHash(Default::default()), Some(why)),
        };
        Arc::new(LbPolicy { config, refusal, json })
    }
}

/// Decodes the message in an Any, if it is of this type.
pub(crate) fn opened<T: prost::Message + Default>(any: &Any, type_name: &str) -> Option<T> {
    let before = any.type_url.strip_suffix(type_name)?;
    let is_it = before.is_empty() || before.ends_with('/');
    is_it.then(|| T::decode(any.value.clone()).unwrap_or_default())
}

/// Reads an address range, without the bits behind its length; `None` if the text is no address. A
/// zone is ignored.
pub(crate) fn plain_range(range: &CidrRange, _: &Profile) -> Option<Cidr> {
    let address: IpAddr = range.address_prefix.split('%').next()?.parse().ok()?;
    Some(Cidr::of_ip(address, length(range)))
}

/// Returns the length of a prefix; if it is not set, the range is every address.
pub(crate) fn length(range: &CidrRange) -> u32 {
    range.prefix_len.unwrap_or(0)
}

/// Returns a duration in whole milliseconds; a negative one counts as 0.
fn millis(duration: &prost_types::Duration) -> Millis {
    let seconds = duration.seconds.saturating_mul(1000);
    let millis = seconds.saturating_add(i64::from(duration.nanos) / 1_000_000);
    Millis(millis.max(0))
}
