//! RouteConfiguration as the client keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::filter::FilterOverride;
use super::lb_policy::RouteLookup;
use super::matcher::{HeaderMatcher, HeaderView, StringMatch, StringMatcher};
use super::{LbConfig, LbPolicy, Millis};
use crate::profile::Feature;
use xdsctl_re2::Regex;

/// `envoy.config.route.v3.RouteConfiguration`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RouteConfiguration {
    /// The virtual hosts, in the order of the resource.
    pub virtual_hosts: Vec<VirtualHost>,
    /// Name of each plugin that a kept route uses, and the LB policy that it stands for:
    /// `rls_experimental`.
    pub cluster_specifier_plugins: BTreeMap<String, Arc<LbPolicy>>,
}

/// The routes for some authorities.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VirtualHost {
    /// Index in the resource.
    pub index: usize,
    /// Kept for reports only; the client drops it.
    pub name: String,
    /// The domain patterns, one of which must match the authority.
    pub domains: Vec<String>,
    /// The routes that were kept, in order.
    pub routes: Vec<Route>,
    /// Overrides by HTTP filter name.
    pub typed_per_filter_config: BTreeMap<String, FilterOverride>,
}

/// A route that the client kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// Index in the resource; dropped routes leave gaps.
    pub index: usize,
    /// Kept for reports only.
    pub name: String,
    /// On the RPC's path.
    pub path: PathMatcher,
    /// The header matchers, all of which must match.
    pub headers: Vec<HeaderMatcher>,
    /// Share of RPCs that match, per million; may exceed 1,000,000, which is always.
    pub fraction_per_million: Option<u32>,
    /// What the client does with an RPC that matches.
    pub action: Action,
    /// Overrides by HTTP filter name.
    pub typed_per_filter_config: BTreeMap<String, FilterOverride>,
}

impl Route {
    /// The route of every RPC.
    pub fn of_everything(action: Action) -> Route {
        Route {
            index: 0,
            name: String::new(),
            path: PathMatcher::Text(StringMatcher {
                kind: StringMatch::Prefix(String::new()),
                ignore_case: false,
            }),
            headers: Vec::new(),
            fraction_per_million: None,
            action,
            typed_per_filter_config: BTreeMap::new(),
        }
    }
}

impl RouteConfiguration {
    /// One virtual host for every authority, with one route for every RPC.
    pub fn of_everything(action: Action) -> RouteConfiguration {
        let host = VirtualHost {
            domains: vec!["*".to_owned()],
            routes: vec![Route::of_everything(action)],
            ..VirtualHost::default()
        };
        RouteConfiguration {
            virtual_hosts: vec![host],
            ..RouteConfiguration::default()
        }
    }

    /// What a cluster specifier plugin asks of a lookup service.
    pub fn route_lookup(&self, plugin: &str) -> Option<&RouteLookup> {
        match &self.cluster_specifier_plugins.get(plugin)?.config {
            LbConfig::Rls(config) => Some(&config.route_lookup),
            _ => None,
        }
    }
}

impl Route {
    /// Names it by its place in the virtual host, with its name if it has one.
    pub fn label(&self) -> String {
        match self.name.as_str() {
            "" => format!("routes[{}]", self.index),
            name => format!("routes[{}] `{name}`", self.index),
        }
    }

    /// What becomes of RPCs that it sends to a cluster; `None` if it sends none.
    pub fn route_action(&self) -> Option<&RouteAction> {
        match &self.action {
            Action::Route(action) => Some(action),
            Action::NonForwarding | Action::Unknown => None,
        }
    }

    /// Where it sends RPCs, if it does.
    pub fn destination(&self) -> Option<&Destination> {
        self.route_action().map(|action| &action.destination)
    }

    /// The clusters that the client watches for it, those of weight 0 included where it watches them.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        self.route_action().into_iter().flat_map(|action| {
            let unweighted = action.unweighted.iter().map(|(_, name)| name.as_str());
            action.destination.clusters().chain(unweighted)
        })
    }

    /// Says whether headers or a fraction keep some of the RPCs with its path from it.
    pub fn is_conditional(&self) -> bool {
        !self.headers.is_empty() || self.fraction_per_million.is_some_and(|share| share < 1_000_000)
    }
}

/// The path part of a route's match.
#[derive(Debug, Clone, PartialEq)]
pub enum PathMatcher {
    /// Exact or prefix match, with or without ASCII case.
    Text(StringMatcher),
    /// Whole path against an RE2 pattern; `case_sensitive` does not apply.
    Regex(Regex),
}

/// What a route does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Send the RPC to a cluster.
    Route(Box<RouteAction>),
    /// `non_forwarding_action`: for servers; RPCs of a client fail.
    NonForwarding,
    /// redirect, direct_response, filter_action or nothing: RPCs fail.
    Unknown,
}

/// `envoy.config.route.v3.RouteAction`: where RPCs go, and how they are retried.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteAction {
    /// Kept hash policies, in order.
    pub hash_policies: Vec<HashPolicy>,
    /// The effective policy: the route's own, else the virtual host's.
    pub retry_policy: Option<RetryPolicy>,
    /// The retry policy came from the virtual host.
    pub retry_policy_inherited: bool,
    /// The cluster, or clusters with weights, that RPCs go to.
    pub destination: Destination,
    /// Clusters of weight 0 with their index, where the client watches them and waits for them all the same.
    pub unweighted: Vec<(usize, String)>,
    /// `grpc_timeout_header_max`, else `max_stream_duration`; `None` to use the listener's.
    pub max_stream_duration: Option<Millis>,
    /// Honoured only from a trusted server.
    pub auto_host_rewrite: bool,
    /// It is set, but by a server that is not trusted.
    pub untrusted_host_rewrite: bool,
}

/// Where a route sends an RPC.
#[derive(Debug, Clone, PartialEq)]
pub enum Destination {
    /// One cluster.
    Cluster(String),
    /// One of several, by weight; no entry has weight 0.
    WeightedClusters(Vec<ClusterWeight>),
    /// A cluster specifier plugin.
    Plugin(String),
}

impl Destination {
    /// The names of its clusters; none if a plugin chooses one.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        let one = match self {
            Destination::Cluster(name) => Some(name),
            Destination::WeightedClusters(_) | Destination::Plugin(_) => None,
        };
        one.into_iter()
            .chain(self.weighted().iter().map(|entry| &entry.name))
            .map(String::as_str)
    }

    /// The clusters that have weights.
    pub fn weighted(&self) -> &[ClusterWeight] {
        match self {
            Destination::WeightedClusters(entries) => entries,
            Destination::Cluster(_) | Destination::Plugin(_) => &[],
        }
    }

    /// The name of the plugin that chooses a cluster.
    pub fn plugin(&self) -> Option<&str> {
        match self {
            Destination::Plugin(name) => Some(name),
            Destination::Cluster(_) | Destination::WeightedClusters(_) => None,
        }
    }
}

/// One of several clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterWeight {
    /// Index in the resource; entries of weight 0 leave gaps.
    pub index: usize,
    /// Cluster name.
    pub name: String,
    /// The weight among the clusters of the route, from 1 to 4,294,967,295.
    pub weight: u32,
    /// Overrides by HTTP filter name.
    pub typed_per_filter_config: BTreeMap<String, FilterOverride>,
}

/// A part of the request hash (A42).
#[derive(Debug, Clone, PartialEq)]
pub struct HashPolicy {
    /// The part of the RPC that is hashed.
    pub kind: HashPolicyKind,
    /// Stop here if there is a hash.
    pub terminal: bool,
}

/// What a hash policy hashes.
#[derive(Debug, Clone, PartialEq)]
pub enum HashPolicyKind {
    /// A header's value, rewritten if a regex is set.
    Header {
        /// Header name.
        name: String,
        /// Pattern and substitution of `regex_rewrite`.
        rewrite: Option<(Regex, String)>,
        /// Which headers are looked at. With [`HeaderView::AsSent`], a terminal policy without a
        /// header does not end the list.
        view: HeaderView,
    },
    /// The channel: `filter_state` with key `io.grpc.channel_id`.
    ChannelId,
}

/// A status code that a retry policy can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RetryOn {
    /// CANCELLED (1).
    Cancelled,
    /// DEADLINE_EXCEEDED (4).
    DeadlineExceeded,
    /// INTERNAL (13).
    Internal,
    /// RESOURCE_EXHAUSTED (8).
    ResourceExhausted,
    /// UNAVAILABLE (14).
    Unavailable,
}

/// What a client holds a retry policy to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RetryBounds {
    /// Five attempts. A policy that the service config cannot have breaks the channel, and a wait
    /// below a millisecond never ends.
    #[default]
    Channel,
    /// None; see [`Feature::RetryUnlimited`].
    Unlimited,
    /// None, and a wait is any time up to the back-off, not about the back-off; see
    /// [`Feature::RetryFromZero`].
    UnlimitedFromZero,
    /// Five attempts. A policy that the method config cannot have fails the RPCs of its route, and
    /// a server that asks for a delay is obeyed whatever the code is; see [`Feature::RetryPerRpc`].
    Rpc,
    /// Five attempts, and nothing else; see [`Feature::RetryUnchecked`].
    Attempts,
    /// Five attempts. One that finds no connection is retried whatever the codes are; see
    /// [`Feature::AttemptsConnect`].
    Unconnected,
}

impl RetryBounds {
    /// The bounds of a client with these features.
    pub fn of(has: impl Fn(Feature) -> bool) -> RetryBounds {
        if has(Feature::RetryFromZero) {
            RetryBounds::UnlimitedFromZero
        } else if has(Feature::RetryUnlimited) {
            RetryBounds::Unlimited
        } else if has(Feature::RetryPerRpc) {
            RetryBounds::Rpc
        } else if has(Feature::RetryUnchecked) {
            RetryBounds::Attempts
        } else if has(Feature::AttemptsConnect) {
            RetryBounds::Unconnected
        } else {
            RetryBounds::Channel
        }
    }

    /// Says whether there may be any number of attempts.
    pub const fn is_unlimited(self) -> bool {
        matches!(self, RetryBounds::Unlimited | RetryBounds::UnlimitedFromZero)
    }
}

/// A retry policy after the conversion of A44.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Kept tokens; empty means no retries.
    pub retry_on: BTreeSet<RetryOn>,
    /// At least 1; default [`DEFAULT_NUM_RETRIES`](super::retry::DEFAULT_NUM_RETRIES).
    pub num_retries: u32,
    /// Default [`DEFAULT_BASE_INTERVAL`](super::retry::DEFAULT_BASE_INTERVAL). May be 0, which
    /// breaks the channel.
    pub base_interval: Millis,
    /// Default [`default_max_interval`](super::retry::default_max_interval) of the base.
    pub max_interval: Millis,
    /// Tokens of `retry_on` that gRPC loses, as written and in order.
    pub lost_tokens: Vec<String>,
    /// What the client holds it to.
    pub bounds: RetryBounds,
}
