//! Why a channel cannot be opened, and what people should hear of one that was.

use std::fmt;
use std::net::SocketAddr;

use crate::client::dns::DnsAnswers;
use crate::client::target::TargetError;
use crate::client::{EndpointChange, Resources};
use xdsctl_model::resource::ResourceType;

/// What a world is searched for where no world is named.
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

/// Why a channel cannot be opened. Lists of names are what a command can offer instead.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// No world has this name.
    #[error("no world `{name}`")]
    NoWorld {
        /// The name that was asked for.
        name: String,
        /// The worlds that there are.
        known: Vec<String>,
    },
    /// Several worlds have what the channel starts at, and none is named.
    #[error("{start} is in {} worlds", worlds.len())]
    SeveralWorlds {
        /// What was looked for.
        start: NamedStart,
        /// The worlds that have it.
        worlds: Vec<String>,
    },
    /// No world has what the channel starts at.
    #[error("{start} is in none of {} worlds", worlds.len())]
    InNoWorld {
        /// What was looked for.
        start: NamedStart,
        /// The names of such resources in all worlds.
        known: Vec<String>,
        /// The names of the worlds.
        worlds: Vec<String>,
    },
    /// No resource has the name that the channel is to start at.
    #[error("no {kind} `{name}`")]
    NoSuch {
        /// `cluster` or `RouteConfiguration`.
        kind: &'static str,
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// Which of the virtual hosts is meant is not known without an authority.
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
    /// No Listener can be a channel's.
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
        /// What was to be changed.
        change: EndpointChange,
        /// The address comes from DNS, which EDS does not change.
        is_of_dns: bool,
        /// The addresses that EDS resources of the channel have.
        known: Vec<SocketAddr>,
    },
    /// Where RPCs of this client go is not known, and why.
    #[error("{0}")]
    NotFollowed(String),
    /// The routes lead to more clusters than a channel may have.
    #[error("the channel has {count} clusters, the limit is {most}")]
    TooManyClusters {
        /// How many clusters there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// The tree of LB policies would be out of all proportion to the inputs.
    #[error("the tree of the channel would have {parts} parts, the limit is {most}")]
    TooLarge {
        /// Policies, endpoints and values of configs.
        parts: u64,
        /// The limit for each of these channels.
        most: u64,
        /// Channels that share the inputs.
        channels: u64,
    },
}

/// What people should hear of a channel beside its answers.
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
        /// The client keeps endpoints of this health: it drops the locality, or the whole update.
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
        /// An earlier version stays in use.
        has_earlier: bool,
    },
    /// A later response takes a resource away.
    Removed {
        /// Its type, one of the four that gRPC clients ask for.
        resource_type: ResourceType,
        /// Its name, as clients ask for it.
        name: String,
    },
    /// The channel behaves like a client other than the reference.
    WordsOfReference {
        /// The client's name, such as `grpc-go 1.85.0`.
        client: String,
        /// Some status messages are known in this client's words; without this, all are the
        /// reference's.
        has_own: bool,
    },
}

/// Names for which there is an answer, and that no cluster asks for.
pub(super) fn unused_names(dns: &DnsAnswers, resources: &Resources) -> Option<SessionNote> {
    let known = resources.dns_names();
    let unused = dns.keys().filter(|name| !known.clone().any(|host| host == *name));
    let names: Vec<String> = unused.cloned().collect();
    (!names.is_empty()).then(|| SessionNote::UnusedNames {
        names,
        known: known.map(str::to_owned).collect(),
    })
}

/// Resources that the control plane sent and the client does not use.
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
