//! Why a channel cannot be opened, and what users should know of one that was.

use std::fmt;
use std::net::SocketAddr;

use crate::client::dns::DnsAnswers;
use crate::client::target::TargetError;
use crate::client::{EndpointChange, Resources};
use xdsctl_model::resource::ResourceType;

/// What all worlds are searched for if no world is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedStart {
    /// A cluster of this name.
    Cluster(String),
    /// A RouteConfiguration of this name.
    Routes(String),
    /// A Listener of this name.
    Listener(String),
    /// Any Listener that a channel can have.
    AnyListener,
}

impl fmt::Display for NamedStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NamedStart::Cluster(name) => write!(f, "Cluster `{name}`"),
            NamedStart::Routes(name) => write!(f, "RouteConfiguration `{name}`"),
            NamedStart::Listener(name) => write!(f, "Listener `{name}`"),
            NamedStart::AnyListener => f.write_str("a Listener with an api_listener"),
        }
    }
}

/// Why a channel cannot be opened. The lists of names are what a command can offer instead.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// No world has this name.
    #[error("no world `{name}`")]
    NoWorld {
        /// The name that was asked for.
        name: String,
        /// The names of all worlds.
        known: Vec<String>,
    },
    /// Several worlds have the resource at which the channel starts, and none is named.
    #[error("{start} is in {} worlds", worlds.len())]
    SeveralWorlds {
        /// What was looked for.
        start: NamedStart,
        /// The worlds that have it.
        worlds: Vec<String>,
    },
    /// No world has the resource at which the channel starts.
    #[error("{start} is in none of {} worlds", worlds.len())]
    InNoWorld {
        /// What was looked for.
        start: NamedStart,
        /// The names of such resources in all worlds.
        known: Vec<String>,
        /// The names of the worlds.
        worlds: Vec<String>,
    },
    /// No resource has the name at which the channel is to start.
    #[error("no {kind} `{name}`")]
    NoSuch {
        /// `cluster` or `RouteConfiguration`.
        kind: &'static str,
        /// The name that was asked for.
        name: String,
        /// The names of such resources.
        known: Vec<String>,
    },
    /// Without an authority it is not known which virtual host is meant.
    #[error("RouteConfiguration `{name}` has several virtual hosts")]
    SeveralHosts {
        /// The name of the RouteConfiguration that has several virtual hosts.
        name: String,
        /// The domains of all its virtual hosts.
        domains: Vec<String>,
    },
    /// Several Listeners are possible, and none is named.
    #[error("{} listeners are possible", .0.len())]
    SeveralListeners(Vec<String>),
    /// No Listener is usable for a channel.
    #[error("there is no listener that a channel can have")]
    NoListener {
        /// The names of all Listeners, those of servers included.
        listeners: Vec<String>,
        /// All RouteConfigurations, at which a channel can start too.
        route_configs: Vec<String>,
        /// All clusters, at which a channel can start too.
        clusters: Vec<String>,
    },
    /// No channel can be made to the target.
    #[error("{error}")]
    Target {
        /// Why the text is no target.
        error: TargetError,
        /// The authorities that the bootstrap has.
        authorities: Vec<String>,
    },
    /// An endpoint that is to be changed is in no EDS resource of the channel.
    #[error("no EDS resource of the channel has the address `{}`", change.address)]
    NoEndpoint {
        /// The change that was asked for.
        change: EndpointChange,
        /// Whether the address comes from DNS, which EDS does not change.
        is_of_dns: bool,
        /// The addresses that EDS resources of the channel have.
        known: Vec<SocketAddr>,
    },
    /// It is not known where RPCs of this client go. The text says why.
    #[error("{0}")]
    NotFollowed(String),
    /// The routes lead to more clusters than a channel may have.
    #[error("the channel has {count} clusters, the limit is {most}")]
    TooManyClusters {
        /// How many clusters there are.
        count: usize,
        /// The most clusters that there may be.
        most: usize,
    },
    /// The tree of LB policies would be far too large in proportion to the inputs.
    #[error("the tree of the channel would have {parts} parts, the limit is {most}")]
    TooLarge {
        /// The number of policies, endpoints and values of configs.
        parts: u64,
        /// The limit for each of these channels.
        most: u64,
        /// The number of channels that share the inputs.
        channels: u64,
    },
}

/// What users should know of a channel besides its answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionNote {
    /// DNS has answers for names that no cluster asks for.
    UnusedNames {
        /// The DNS names that no cluster has.
        names: Vec<String>,
        /// The DNS names that clusters have.
        known: Vec<String>,
    },
    /// The channel starts at the routes: no HTTP filter of a Listener applies.
    WithoutListener,
    /// The client does not use an endpoint, although its health was changed.
    EndpointDropped {
        /// The address of the endpoint that is to change.
        address: SocketAddr,
        /// The health of the endpoint, as EDS names it.
        health: &'static str,
        /// Whether the client keeps endpoints of this health. If so, it drops the locality, or
        /// rejects the whole update.
        is_kept: bool,
    },
    /// The client rejects a resource.
    Rejected {
        /// Its type, one of the four that gRPC clients ask for.
        resource_type: ResourceType,
        /// Its name, as clients ask for it.
        name: String,
        /// Why the client rejects the resource.
        why: String,
        /// Whether an earlier version stays in use.
        has_earlier: bool,
    },
    /// A later response takes a resource away.
    Removed {
        /// Its type, one of the four that gRPC clients ask for.
        resource_type: ResourceType,
        /// Its name, as clients ask for it.
        name: String,
    },
    /// The channel behaves like a client other than the reference client.
    WordsOfReference {
        /// The client's name, such as `grpc-go 1.85.0`.
        client: String,
        /// Whether some status messages are in this client's words. If not, all are in those of the
        /// reference client.
        has_own: bool,
    },
}

/// Notes the names that have an answer although no cluster asks for them.
pub(super) fn unused_names(dns: &DnsAnswers, resources: &Resources) -> Option<SessionNote> {
    let known = resources.dns_names();
    let unused = dns.keys().filter(|name| !known.clone().any(|host| host == *name));
    let names: Vec<String> = unused.cloned().collect();
    (!names.is_empty()).then(|| SessionNote::UnusedNames {
        names,
        known: known.map(str::to_owned).collect(),
    })
}

/// Notes the resources that the control plane sent and the client does not use.
pub(super) fn left_out(resources: &Resources) -> impl Iterator<Item = SessionNote> {
    let rejected = resources.rejected().into_iter().map(|rejected| SessionNote::Rejected {
        resource_type: rejected.resource_type,
        name: rejected.name.to_owned(),
        why: rejected.why.to_owned(),
        has_earlier: rejected.has_earlier,
    });
    let removed = resources.removed().map(|(resource_type, name)| SessionNote::Removed {
        resource_type,
        name: name.to_owned(),
    });
    rejected.chain(removed)
}
