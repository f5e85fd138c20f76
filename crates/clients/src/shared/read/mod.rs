//! What a client keeps of a resource that its own converter has taken.
//!
//! Clients differ in what they take far more than in what they keep of it. So a family's converter
//! says what it rejects, and then one reader makes the value. It reports nothing, and presumes a
//! resource that is good. What a family does in its own way is in its [`ReadDialect`]; differences
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

use std::cell::RefCell;
use std::collections::BTreeSet;
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
use xdsctl_model::resource::route::RetryOn;
use xdsctl_model::resource::{LbConfig, LbPolicy, Millis, Resource};

pub(crate) use cluster::{OutlierWays, outlier_detection};
pub(crate) use endpoints::EndpointWays;
pub(crate) use filters::{FilterKind, fraction};
pub(crate) use rbac::{PolicyKind, PolicyReader, has_shadow_rules};
pub(crate) use xdsctl_model::status::of_http_error as status_of_http;

/// What a family does in its own way.
pub(crate) struct ReadDialect {
    /// The filter that is registered for the type URL of a config or an override.
    pub filter: fn(&str, &Profile) -> Option<FilterKind>,
    /// The gRPC status code of an abort with an HTTP status; 0 for no abort.
    pub status_of_http: fn(u32) -> u32,
    /// How headers ask for faults.
    pub fault_headers: FaultHeaders,
    /// What the client makes of a cluster specifier plugin; `None` if it does not have it.
    pub plugin: fn(&Any, &Profile) -> Option<LbPolicy>,
    /// The least and the largest size of a ring that are given, or not.
    pub ring: fn(Option<u64>, Option<u64>) -> (u64, u64),
    /// Says whether an LB policy of this name is registered, so that a TypedStruct may name it.
    pub has_policy: fn(&str, &Profile) -> bool,
    /// `lb_policy: LEAST_REQUEST` picks in the localities, which are chosen by weight.
    pub least_request_in_localities: bool,
    /// The LeastRequest message is read whether or not the client has its switch on.
    pub reads_least_request: bool,
    /// How the config of weighted_round_robin is written.
    pub weighted_round_robin: WeightedForm,
    /// Clusters of weight 0 are watched.
    pub watches_unweighted: bool,
    /// Reads a list of LB policies, of which the first known one counts.
    pub lb_config: fn(&Value, &Profile) -> Result<LbConfig, String>,
    /// `require_client_certificate` counts as true if it is set, be it to false.
    pub requires_if_set: bool,
    /// A filter chain that never matches still sets its destinations apart from wider ones.
    pub keeps_destinations: fn(&Profile) -> bool,
    /// A chain for `raw_buffer` goes before one without transport_protocol; otherwise they are
    /// alike.
    pub prefers_raw_buffer: bool,
    /// Chains that never match are used, too: their routes are asked for.
    pub uses_all_chains: bool,
    /// A match without `raw_buffer` never matches.
    pub needs_raw_buffer: bool,
    /// The range of addresses of a filter chain's match.
    pub chain_range: fn(&CidrRange, &Profile) -> Option<Cidr>,
    /// The range of addresses of an RBAC policy.
    pub policy_range: fn(&CidrRange, &Profile) -> Option<Cidr>,
    /// Says whether the client has a kind of condition of RBAC policies. One that it lacks is taken
    /// all the same.
    pub has_policy_kind: fn(PolicyKind, &Profile) -> bool,
    /// `alpn_protocols` of a server's TLS context are used.
    pub uses_alpn: bool,
    /// Of several circuit breakers for the priority DEFAULT the last counts, and not the first.
    pub last_breaker: bool,
    /// That last circuit breaker counts even if it sets no limit; the limit is then the default.
    pub unset_breaker_counts: bool,
    /// Ejects by success rate unless that is switched off (A50).
    pub success_rate_by_default: bool,
}

/// Reads resources for one client.
pub(crate) struct FamilyReader<'p> {
    profile: &'p Profile,
    server: &'p ServerFacts,
    dialect: &'static ReadDialect,
    /// The last `retry_on`, and what the client reads in it: that of neighbours is mostly the same.
    retry_on: RefCell<(String, RetryWords)>,
}

/// The conditions of a `retry_on`, and the words that are none.
type RetryWords = (BTreeSet<RetryOn>, Vec<String>);

impl<'p> FamilyReader<'p> {
    /// A reader for the client that looks at a resource.
    pub(crate) fn new(dialect: &'static ReadDialect, cx: &Validation<'p>) -> Self {
        FamilyReader {
            profile: cx.profile(),
            server: cx.server(),
            dialect,
            retry_on: RefCell::default(),
        }
    }

    /// What the client keeps of a resource.
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

    /// Reads a list of LB policies as JSON. One that no policy takes comes with the reason, and
    /// fails RPCs.
    fn lb_policy(&self, json: Value) -> Arc<LbPolicy> {
        let (config, refusal) = match (self.dialect.lb_config)(&json, self.profile) {
            Ok(config) => (config, None),
            // Only the sizes of a ring in `ring_hash_lb_config` are not looked at before.
            Err(why) => (LbConfig::RingHash(Default::default()), Some(why)),
        };
        Arc::new(LbPolicy { config, refusal, json })
    }
}

/// The message in an Any, if it is one of this type.
pub(crate) fn opened<T: prost::Message + Default>(any: &Any, type_name: &str) -> Option<T> {
    let before = any.type_url.strip_suffix(type_name)?;
    let is_it = before.is_empty() || before.ends_with('/');
    is_it.then(|| T::decode(any.value.clone()).unwrap_or_default())
}

/// A range of addresses without its host bits; `None` if the text is no address. A zone is passed
/// over.
pub(crate) fn plain_range(range: &CidrRange, _: &Profile) -> Option<Cidr> {
    let address: IpAddr = range.address_prefix.split('%').next()?.parse().ok()?;
    Some(Cidr::of_ip(address, length(range)))
}

/// The length of a prefix; without one it is everything.
pub(crate) fn length(range: &CidrRange) -> u32 {
    range.prefix_len.unwrap_or(0)
}

/// A duration in whole milliseconds; one below zero counts as none.
fn millis(duration: &prost_types::Duration) -> Millis {
    let seconds = duration.seconds.saturating_mul(1000);
    let millis = seconds.saturating_add(i64::from(duration.nanos) / 1_000_000);
    Millis(millis.max(0))
}
