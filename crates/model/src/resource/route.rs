//! A RouteConfiguration as the client keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::filter::FilterOverride;
use super::lb_policy::RouteLookup;
use super::matcher::{HeaderMatcher, HeaderView, StringMatch, StringMatcher};
use super::{LbConfig, LbPolicy, Millis};
use crate::profile::Feature;
use xdsctl_re2::Regex;

/// The message `envoy.config.route.v3.RouteConfiguration`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RouteConfiguration {
    /// The virtual hosts, in the order of the resource.
    pub virtual_hosts: Vec<VirtualHost>,
    /// The name of each plugin that a kept route uses, with the LB policy that it stands for:
    /// `rls_experimental`.
    pub cluster_specifier_plugins: BTreeMap<String, Arc<LbPolicy>>,
}

/// The routes for some authorities.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VirtualHost {
    /// The index of the virtual host in the resource.
    pub index: usize,
    /// The name, kept for reports only; the client drops it.
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
    /// The index of the route in the resource; dropped routes leave gaps.
    pub index: usize,
    /// The name, kept for reports only.
    pub name: String,
    /// The matcher of the RPC's path.
    pub path: PathMatcher,
    /// The header matchers, all of which must match.
    pub headers: Vec<HeaderMatcher>,
    /// The share of RPCs that match, per million. A value above 1,000,000 means always.
    pub fraction_per_million: Option<u32>,
    /// What the client does with an RPC that matches.
    pub action: Action,
    /// Overrides by HTTP filter name.
    pub typed_per_filter_config: BTreeMap<String, FilterOverride>,
}

impl Route {
    /// Makes a route that matches every RPC.
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
    /// Makes a RouteConfiguration with one virtual host for every authority and one route for every
    /// RPC.
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

    /// Returns the lookup settings of a cluster specifier plugin.
    pub fn route_lookup(&self, plugin: &str) -> Option<&RouteLookup> {
        match &self.cluster_specifier_plugins.get(plugin)?.config {
            LbConfig::Rls(config) => Some(&config.route_lookup),
            _ => None,
        }
    }
}

impl Route {
    /// Returns the route's place in the virtual host, followed by its name if it has one.
    pub fn label(&self) -> String {
        match self.name.as_str() {
            "" => format!("routes[{}]", self.index),
            name => format!("routes[{}] `{name}`", self.index),
        }
    }

    /// Returns the route action; `None` if the route sends no RPCs to a cluster.
    pub fn route_action(&self) -> Option<&RouteAction> {
        match &self.action {
            Action::Route(action) => Some(action),
            Action::NonForwarding | Action::Unknown => None,
        }
    }

    /// Returns where the route sends RPCs, if it does.
    pub fn destination(&self) -> Option<&Destination> {
        self.route_action().map(|action| &action.destination)
    }

    /// Returns the clusters that the client watches because of the route, including those of weight
    /// 0 if the client watches them.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        self.route_action().into_iter().flat_map(|action| {
            let unweighted = action.unweighted.iter().map(|(_, name)| name.as_str());
            action.destination.clusters().chain(unweighted)
        })
    }

    /// Says whether headers or a fraction keep some RPCs with a matching path from the route.
    pub fn is_conditional(&self) -> bool {
        !self.headers.is_empty() || self.fraction_per_million.is_some_and(|share| share < 1_000_000)
    }
}

/// The path part of a route's match.
#[derive(Debug, Clone, PartialEq)]
pub enum PathMatcher {
    /// The path is equal to a text or begins with it, with or without regard to ASCII case.
    Text(StringMatcher),
    /// The whole path matches an RE2 pattern; `case_sensitive` does not apply.
    Regex(Regex),
}

/// What a route does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// The RPC is sent to a cluster.
    Route(Box<RouteAction>),
    /// `non_forwarding_action`, which is for servers; RPCs of a client fail.
    NonForwarding,
    /// `redirect`, `direct_response`, `filter_action` or nothing: RPCs fail.
    Unknown,
}

/// The message `envoy.config.route.v3.RouteAction`: where RPCs go, and how they are retried.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteAction {
    /// The hash policies that are kept, in order.
    pub hash_policies: Vec<HashPolicy>,
    /// The policy that applies: the route's own, otherwise the virtual host's.
    pub retry_policy: Option<RetryPolicy>,
    /// The retry policy came from the virtual host.
    pub retry_policy_inherited: bool,
    /// The cluster, or clusters with weights, that RPCs go to.
    pub destination: Destination,
    /// The clusters of weight 0 with their index, if the client nevertheless watches them and waits
    /// for them.
    pub unweighted: Vec<(usize, String)>,
    /// `grpc_timeout_header_max`, otherwise `max_stream_duration`; `None` to use the listener's.
    pub max_stream_duration: Option<Millis>,
    /// Whether the authority is rewritten; only a trusted server can set this.
    pub auto_host_rewrite: bool,
    /// `auto_host_rewrite` is set, but by a server that is not trusted.
    pub untrusted_host_rewrite: bool,
}

/// Where a route sends an RPC.
#[derive(Debug, Clone, PartialEq)]
pub enum Destination {
    /// One cluster.
    Cluster(String),
    /// One of several clusters, chosen by weight. No entry has weight 0.
    WeightedClusters(Vec<ClusterWeight>),
    /// The name of a cluster specifier plugin.
    Plugin(String),
}

impl Destination {
    /// Returns the names of the clusters; empty if a plugin chooses the cluster.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        let one = match self {
            Destination::Cluster(name) => Some(name),
            Destination::WeightedClusters(_) | Destination::Plugin(_) => None,
        };
        one.into_iter()
            .chain(self.weighted().iter().map(|entry| &entry.name))
            .map(String::as_str)
    }

    /// Returns the clusters that have weights.
    pub fn weighted(&self) -> &[ClusterWeight] {
        match self {
            Destination::WeightedClusters(entries) => entries,
            Destination::Cluster(_) | Destination::Plugin(_) => &[],
        }
    }

    /// Returns the name of the plugin that chooses the cluster.
    pub fn plugin(&self) -> Option<&str> {
        match self {
            Destination::Plugin(name) => Some(name),
            Destination::Cluster(_) | Destination::WeightedClusters(_) => None,
        }
    }
}

/// One of several weighted clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterWeight {
    /// The index of the entry in the resource; entries of weight 0 leave gaps.
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
    /// Whether later policies are skipped once there is a hash.
    pub terminal: bool,
}

/// What a hash policy hashes.
#[derive(Debug, Clone, PartialEq)]
pub enum HashPolicyKind {
    /// A header's value, rewritten if a regex is set.
    Header {
        /// The name of the header.
        name: String,
        /// The pattern and the substitution of `regex_rewrite`.
        rewrite: Option<(Regex, String)>,
        /// Which headers the policy sees. With [`HeaderView::AsSent`], a terminal policy without
        /// its header does not end the list.
        view: HeaderView,
    },
    /// The channel: `filter_state` with key `io.grpc.channel_id`.
    ChannelId,
}

words! {
    /// A status code that a retry policy can name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum RetryOn {
        /// CANCELLED (1).
        Cancelled = "cancelled",
        /// DEADLINE_EXCEEDED (4).
        DeadlineExceeded = "deadline-exceeded",
        /// INTERNAL (13).
        Internal = "internal",
        /// RESOURCE_EXHAUSTED (8).
        ResourceExhausted = "resource-exhausted",
        /// UNAVAILABLE (14).
        Unavailable = "unavailable",
    }

    /// Returns the word for the condition in `retry_on`.
    fn token
}

/// The limits that a client sets on a retry policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RetryBounds {
    /// Five attempts. A policy that the service config cannot hold breaks the channel, and a wait
    /// below a millisecond never ends.
    #[default]
    Channel,
    /// No limits; see [`Feature::RetryUnlimited`].
    Unlimited,
    /// No limits, and a wait is drawn from all times up to the back-off, instead of close to it;
    /// see [`Feature::RetryFromZero`].
    UnlimitedFromZero,
    /// Five attempts. A policy that the method config cannot hold fails the RPCs of its route. If a
    /// server asks for a delay, the client obeys whatever the status code is; see
    /// [`Feature::RetryPerRpc`].
    Rpc,
    /// Five attempts, and no other limit; see [`Feature::RetryUnchecked`].
    Attempts,
    /// Five attempts. An attempt that finds no connection is retried whatever the codes are; see
    /// [`Feature::AttemptsConnect`].
    Unconnected,
}

impl RetryBounds {
    /// Returns the limits of a client with these features.
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

    /// Says whether the number of attempts has no limit.
    pub const fn is_unlimited(self) -> bool {
        matches!(self, RetryBounds::Unlimited | RetryBounds::UnlimitedFromZero)
    }
}

/// A retry policy after the conversion of A44.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The conditions that are kept; empty means no retries.
    pub retry_on: BTreeSet<RetryOn>,
    /// The number of retries, at least 1; default
    /// [`DEFAULT_NUM_RETRIES`](super::retry::DEFAULT_NUM_RETRIES).
    pub num_retries: u32,
    /// The first back-off; default [`DEFAULT_BASE_INTERVAL`](super::retry::DEFAULT_BASE_INTERVAL).
    /// It may be 0, which breaks the channel.
    pub base_interval: Millis,
    /// The longest back-off; default [`default_max_interval`](super::retry::default_max_interval)
    /// of the base.
    pub max_interval: Millis,
    /// The words of `retry_on` that gRPC drops, as written and in order.
    pub lost_tokens: Vec<String>,
    /// The limits that the client sets on the policy.
    pub bounds: RetryBounds,
}
