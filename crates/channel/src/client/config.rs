//! What a channel knows once all of its resources are there: gRFC A74's `XdsConfig`, or why there is none.
//!
//! Plain data, which [`resolve`](super::resolve) makes. Texts are the client's
//! (xds_dependency_manager.cc, xds_resolver.cc).

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use super::dns;
use super::graph::Skipped;
use xdsctl_model::profile::Client as ProfileClient;
use xdsctl_model::resource::cluster::{Discovery, HealthStatus, OutlierDetection};
use xdsctl_model::resource::domain::DomainMatch;
use xdsctl_model::resource::endpoints::Endpoint;
use xdsctl_model::resource::listener::HttpConnectionManager;
use xdsctl_model::resource::route::{Route, VirtualHost};
use xdsctl_model::resource::{Cluster, Endpoints, Listener, ResourceType, RouteConfiguration};
use xdsctl_model::status::{Code, Status};

/// The configuration of one channel.
#[derive(Debug, Clone, PartialEq)]
pub struct XdsConfig {
    /// Name of the Listener; empty if the channel does not start at one.
    pub listener_name: String,
    /// The Listener: an API listener.
    pub listener: Arc<Listener>,
    /// Name of the RouteConfiguration; `None` if it stands in the Listener.
    pub route_config_name: Option<String>,
    /// The RouteConfiguration that the listener names or has inline.
    pub route_config: Arc<RouteConfiguration>,
    /// The channel's authority, which is compared with the domains of the virtual hosts.
    pub authority: String,
    /// Which virtual host is in use, and by which of its domains. Indices are those of
    /// `route_config`.
    pub domain: DomainMatch,
    /// Every cluster that a route of the virtual host can lead to.
    pub clusters: BTreeMap<String, ClusterState>,
    /// Children of aggregates that contribute nothing, in the order of the walk.
    pub skipped: Vec<Skipped>,
    /// Resources that do not exist. A client waits 15 seconds for each before it concludes so, and
    /// RPCs wait with it.
    pub missing: Vec<(ResourceType, String)>,
    /// Whether the Listener and the routes were made up because the channel starts at a cluster.
    pub starts_at_cluster: bool,
    /// The client in whose words failures are described.
    pub asked: ProfileClient,
}

/// The routes that a channel keeps while it waits for others that its Listener names now.
#[derive(Debug, Clone)]
pub struct RoutesHeld {
    /// Name of the RouteConfiguration; `None` if it stands in the Listener.
    pub name: Option<String>,
    /// The RouteConfiguration that the listener names or has inline.
    pub value: Arc<RouteConfiguration>,
}

/// What the client makes of one cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum ClusterState {
    /// The cluster has endpoints of its own.
    Leaf(Leaf),
    /// The cluster fails over between leaves.
    Aggregate(Aggregate),
    /// RPCs to the cluster fail.
    Error(ClusterFailure),
}

/// A cluster with endpoints of its own.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// The validated Cluster resource.
    pub cluster: Arc<Cluster>,
    /// The endpoints, from EDS or made of a DNS answer; `None` if EDS has none.
    pub endpoints: Option<Arc<Endpoints>>,
    /// Why endpoints may be missing, in the client's words; appended to failure messages.
    pub note: String,
    /// Whether the client has no address for the DNS host name.
    pub is_unresolved: bool,
}

impl Leaf {
    /// The cluster's outlier detection. If it has none, one that ejects nothing.
    pub fn outlier_detection(&self) -> OutlierDetection {
        let own = self.cluster.outlier_detection.clone();
        own.unwrap_or(OutlierDetection::DEFAULT)
    }

    /// The host name, if DNS could have an address for it and has not answered.
    pub fn unanswered(&self) -> Option<&str> {
        match &self.cluster.discovery {
            Discovery::LogicalDns { hostname } if self.is_unresolved && dns::can_be_answered(hostname) => {
                Some(hostname)
            }
            Discovery::LogicalDns { .. } | Discovery::Eds { .. } | Discovery::Aggregate { .. } => None,
        }
    }
}

impl PartialEq for Leaf {
    /// Compares the addresses in memory first: clusters that no update has touched need no look at
    /// each endpoint.
    fn eq(&self, other: &Leaf) -> bool {
        let same_endpoints = match (&self.endpoints, &other.endpoints) {
            (Some(one), Some(another)) => Arc::ptr_eq(one, another) || one == another,
            (one, another) => one.is_none() && another.is_none(),
        };
        same_endpoints
            && (Arc::ptr_eq(&self.cluster, &other.cluster) || self.cluster == other.cluster)
            && self.note == other.note
            && self.is_unresolved == other.is_unresolved
    }
}

impl ClusterState {
    /// The leaf, if this is one.
    pub const fn leaf(&self) -> Option<&Leaf> {
        match self {
            ClusterState::Leaf(leaf) => Some(leaf),
            ClusterState::Aggregate(_) | ClusterState::Error(_) => None,
        }
    }

    /// The kind of failure, if RPCs to the cluster fail.
    pub const fn failure_class(&self) -> Option<ClusterFailureClass> {
        match self {
            ClusterState::Error(failure) => Some(failure.class),
            ClusterState::Leaf(_) | ClusterState::Aggregate(_) => None,
        }
    }
}

/// A cluster that fails over between others.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// The validated Cluster resource.
    pub cluster: Arc<Cluster>,
    /// Names of leaf clusters in order of priority.
    pub leaves: Vec<String>,
    /// Prepended to the notes of the leaves; empty if nothing is wrong.
    pub note: String,
}

/// Why every RPC to a cluster fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterFailure {
    /// The kind of failure.
    pub class: ClusterFailureClass,
    /// The status code of the RPCs.
    pub code: Code,
    /// The failure in the client's own words.
    pub message: String,
}

impl ClusterFailure {
    /// The status of every RPC to the cluster.
    pub fn status(&self) -> Status {
        Status::new(self.code, self.message.as_str())
    }
}

/// Kinds of failure of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClusterFailureClass {
    /// The graph below the cluster is too deep.
    Depth,
    /// The graph below the cluster is too deep, and the client waits for it without end.
    NeverWhole,
    /// The cluster leads back to itself.
    Cycle,
    /// No leaf is left below the aggregate.
    NoLeaf,
    /// There is no such resource.
    Missing,
    /// The client rejects the resource.
    Rejected,
    /// The client cannot ask for the resource by its name.
    NotAskedFor,
}

/// Why a channel has no configuration. Every RPC fails, except that in most clients wait-for-ready
/// RPCs wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelFailure {
    /// The kind of failure.
    pub class: ChannelFailureClass,
    /// The client's note on the failure, with which the messages of RPCs end.
    pub note: String,
    /// Resources that do not exist. The client waits for them before it finds the fault.
    pub missing: Vec<(ResourceType, String)>,
    /// Whether it is the Listener that cannot be used. The client then keeps the routes that it
    /// has.
    pub keeps_routes: bool,
    /// The status with which RPCs fail at once, wait-for-ready RPCs too. `None` if they get what
    /// pick_first says without an address.
    pub at_once: Option<Status>,
    /// Whether RPCs get the resolver's words, and not those of a policy without an address.
    pub is_handed_on: bool,
    /// Whether all RPCs wait for a configuration, wait-for-ready or not, until their deadline.
    pub waits: bool,
}

impl ChannelFailure {
    /// A failure that the resolver's words alone tell, for which no resource is missing.
    pub(crate) const fn new(class: ChannelFailureClass, note: String) -> ChannelFailure {
        ChannelFailure {
            class,
            note,
            missing: Vec::new(),
            keeps_routes: false,
            at_once: None,
            is_handed_on: false,
            waits: false,
        }
    }

    /// The status of the RPCs.
    pub fn status(&self) -> Status {
        match &self.at_once {
            Some(status) => status.clone(),
            None if self.waits => Status::new(Code::DeadlineExceeded, self.to_string()),
            None => Status::unavailable(self.to_string()),
        }
    }
}

/// Kinds of failure of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChannelFailureClass {
    /// The Listener or RouteConfiguration does not exist.
    Missing,
    /// The client rejects the Listener or RouteConfiguration.
    Rejected,
    /// The client cannot ask for the Listener or RouteConfiguration by its name.
    NotAskedFor,
    /// The Listener is a server's, and not an API listener.
    NotApiListener,
    /// No domain matches the authority.
    NoVirtualHost,
    /// A retry policy cannot be turned into a method config.
    BadRetryPolicy,
    /// A cluster has no endpoints yet, and the client takes no configuration without them.
    NoEndpoints,
    /// The client does not survive the configuration, so that the channel is dead.
    Panic,
}

impl ChannelFailureClass {
    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            ChannelFailureClass::Missing => "resource missing",
            ChannelFailureClass::Rejected => "resource invalid",
            ChannelFailureClass::NotAskedFor => "resource not asked for",
            ChannelFailureClass::NotApiListener => "not an API listener",
            ChannelFailureClass::NoVirtualHost => "no virtual host",
            ChannelFailureClass::BadRetryPolicy => "retry policy",
            ChannelFailureClass::NoEndpoints => "no endpoints",
            ChannelFailureClass::Panic => "panic",
        }
    }
}

impl fmt::Display for ChannelFailure {
    /// Writes the message of the RPCs: the channel runs pick_first without an address, which says
    /// so, or repeats what the resolver said.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at_once {
            Some(status) => f.write_str(&status.message),
            None if self.waits => write!(f, "Deadline exceeded, waiting for name resolution ({})", self.note),
            None if self.is_handed_on => write!(f, "name resolver error: {}", self.note),
            None => write!(f, "empty address list ({})", self.note),
        }
    }
}

impl XdsConfig {
    /// The HttpConnectionManager of the Listener; `None` never happens for a resolved configuration.
    pub fn connection_manager(&self) -> Option<&HttpConnectionManager> {
        self.listener.api()
    }

    /// The virtual host in use; `None` never happens for a resolved configuration.
    pub fn virtual_host(&self) -> Option<&VirtualHost> {
        self.route_config.virtual_hosts.get(self.domain.host)
    }

    /// The routes of the virtual host in use.
    pub fn routes(&self) -> &[Route] {
        self.virtual_host().map_or(&[], |host| &host.routes)
    }

    /// The cluster specifier plugins (RLS) of the virtual host's routes.
    pub fn plugins(&self) -> impl Iterator<Item = &str> {
        let routes = self.routes().iter();
        routes.filter_map(|route| route.destination()?.plugin())
    }

    /// The addresses of those lookup services (RLS) that are named by an address.
    pub fn lookup_services(&self) -> impl Iterator<Item = SocketAddr> {
        self.plugins()
            .filter_map(|plugin| lookup_address(&self.route_config.route_lookup(plugin)?.lookup_service))
    }

    /// The cluster to which RPCs of a plugin go when a lookup fails.
    pub fn default_target(&self, plugin: &str) -> Option<&str> {
        self.route_config.route_lookup(plugin)?.default_cluster()
    }

    /// The leaf cluster of this name.
    pub fn leaf(&self, name: &str) -> Option<&Leaf> {
        self.clusters.get(name)?.leaf()
    }

    /// The leaf clusters by name.
    pub fn leaves(&self) -> impl Iterator<Item = (&String, &Leaf)> {
        let clusters = self.clusters.iter();
        clusters.filter_map(|(name, state)| Some((name, state.leaf()?)))
    }

    /// The leaf clusters below a cluster by name, in the order in which the client tries them; the
    /// cluster itself if it is a leaf.
    pub fn leaves_of<'c>(&'c self, cluster: &'c str) -> Vec<(&'c str, &'c Leaf)> {
        let leaf = |name: &'c str| Some((name, self.leaf(name)?));
        match self.clusters.get(cluster) {
            Some(ClusterState::Aggregate(aggregate)) => {
                let leaves = aggregate.leaves.iter();
                leaves.filter_map(|name| leaf(name)).collect()
            }
            Some(ClusterState::Leaf(_) | ClusterState::Error(_)) | None => leaf(cluster).into_iter().collect(),
        }
    }

    /// The addresses of all endpoints that the client keeps, those of DNS included.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        let endpoints = self.leaves().filter_map(|(_, leaf)| leaf.endpoints.as_deref());
        let localities = endpoints.flat_map(|endpoints| endpoints.priorities.iter().flatten());
        localities
            .flat_map(|locality| &locality.endpoints)
            .flat_map(Endpoint::addresses)
    }

    /// Host names of LOGICAL_DNS clusters that have no address yet, and for which DNS could have one.
    pub fn unanswered(&self) -> impl Iterator<Item = &str> {
        self.leaves().filter_map(|(_, leaf)| leaf.unanswered())
    }

    /// Says whether some endpoint can take RPCs to a cluster, as far as the resources tell. The
    /// endpoint must not be draining, and its leaf must not drop everything. A name that DNS has
    /// not answered has no endpoint: RPCs to it fail.
    pub fn can_serve(&self, cluster: &str) -> bool {
        let serves = |leaf: &Leaf| {
            let Some(endpoints) = &leaf.endpoints else { return false };
            let drops_all = endpoints.drops.as_ref().is_some_and(|drops| drops.drop_all);
            let mut all = endpoints
                .priorities
                .iter()
                .flatten()
                .flat_map(|locality| &locality.endpoints);
            !drops_all && all.any(|endpoint| endpoint.health != HealthStatus::Draining)
        };
        self.leaves_of(cluster).into_iter().any(|(_, leaf)| serves(leaf))
    }
}

/// Reads the address from a lookup service's target: `10.0.0.1:80`, `dns:///10.0.0.1:80`,
/// `ipv4:10.0.0.1:80`.
pub fn lookup_address(service: &str) -> Option<SocketAddr> {
    let schemes = ["dns:///", "dns:", "ipv4:", "ipv6:"];
    let named = schemes.iter().find_map(|scheme| service.strip_prefix(scheme));
    named.unwrap_or(service).parse().ok()
}
