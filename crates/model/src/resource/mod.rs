//! What the client keeps of an accepted resource: validated values without protobuf types, spans or
//! findings.
//!
//! The four resources are [`Listener`], [`RouteConfiguration`], [`Cluster`] and [`Endpoints`]. The
//! families' converters make them, and everything that follows an RPC reads them. The values do not
//! say which client they belong to. Durations are in milliseconds, as the client stores them (0 to
//! 315,576,000,000,999).

pub mod cluster;
pub mod domain;
pub mod endpoints;
pub mod filter;
pub mod lb_policy;
pub mod listener;
pub mod matcher;
pub mod pieces;
pub mod rbac;
pub mod retry;
pub mod route;
pub mod tls;

pub use cluster::Cluster;
pub use endpoints::Endpoints;
pub use lb_policy::{LbConfig, LbPolicy};
pub use listener::Listener;
pub use route::RouteConfiguration;

use std::fmt;

/// A duration as the client stores it: whole milliseconds, rounded down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub i64);

/// The largest number of seconds in a Duration, positive or negative: about 10,000 years
/// (google/protobuf/duration.proto).
pub const MAX_DURATION_SECONDS: i64 = 315_576_000_000;

impl fmt::Display for Millis {
    /// Writes seconds: `30s`, `0.250s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (s, ms) = (self.0.div_euclid(1000), self.0.rem_euclid(1000));
        if ms == 0 {
            write!(f, "{s}s")
        } else {
            write!(f, "{s}.{ms:03}s")
        }
    }
}

words! {
    /// The types of resource that a gRPC client asks for, in the order in which it does.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ResourceType {
        /// `envoy.config.listener.v3.Listener`, LDS.
        Listener = "Listener",
        /// `envoy.config.route.v3.RouteConfiguration`, RDS.
        RouteConfiguration = "RouteConfiguration",
        /// `envoy.config.cluster.v3.Cluster`, CDS.
        Cluster = "Cluster",
        /// `envoy.config.endpoint.v3.ClusterLoadAssignment`, EDS.
        Endpoints = "ClusterLoadAssignment",
    }

    /// Returns the message's short name, as reports print it.
    fn short_name
}

impl ResourceType {
    /// Returns the message's full name.
    pub const fn type_name(self) -> &'static str {
        match self {
            ResourceType::Listener => "envoy.config.listener.v3.Listener",
            ResourceType::RouteConfiguration => "envoy.config.route.v3.RouteConfiguration",
            ResourceType::Cluster => "envoy.config.cluster.v3.Cluster",
            ResourceType::Endpoints => "envoy.config.endpoint.v3.ClusterLoadAssignment",
        }
    }

    /// Returns the type URL of an Any that holds the message.
    pub fn type_url(self) -> String {
        format!("type.googleapis.com/{}", self.type_name())
    }

    /// Returns the type with this full message name.
    pub fn from_type_name(name: &str) -> Option<ResourceType> {
        Self::ALL.into_iter().find(|t| t.type_name() == name)
    }
}

/// A validated resource of any type.
#[derive(Debug, Clone, PartialEq)]
pub enum Resource {
    /// A Listener (LDS).
    Listener(Listener),
    /// A RouteConfiguration (RDS).
    RouteConfiguration(RouteConfiguration),
    /// A Cluster (CDS).
    Cluster(Cluster),
    /// A ClusterLoadAssignment (EDS).
    Endpoints(Endpoints),
}
