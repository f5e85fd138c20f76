//! A Listener as the client keeps it: the API listener of a client channel, or the TCP listener of
//! a server.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use super::Millis;
use super::filter::{FilterConfig, FilterOverride, HttpFilter};
use super::route::RouteConfiguration;
use super::tls::DownstreamTlsContext;

/// The message `envoy.config.listener.v3.Listener`.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one a resource")]
pub enum Listener {
    /// A Listener with an `api_listener`, which a client channel uses.
    Api(HttpConnectionManager),
    /// A Listener with an `address` and filter chains, which a gRPC server uses.
    Tcp(TcpListener),
}

impl Listener {
    /// Returns the part that a client channel uses; `None` for a server's Listener.
    pub const fn api(&self) -> Option<&HttpConnectionManager> {
        match self {
            Listener::Api(manager) => Some(manager),
            Listener::Tcp(_) => None,
        }
    }

    /// Returns the part that a server uses; `None` for a client channel's Listener.
    pub const fn tcp(&self) -> Option<&TcpListener> {
        match self {
            Listener::Tcp(listener) => Some(listener),
            Listener::Api(_) => None,
        }
    }
}

/// The HttpConnectionManager message.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpConnectionManager {
    /// Where the routes come from.
    pub routes: RouteSource,
    /// The value of `common_http_protocol_options.max_stream_duration`; 0 for none.
    pub http_max_stream_duration: Millis,
    /// The filters that the client runs, in order; the last is the router.
    pub http_filters: Vec<HttpFilter>,
}

/// Where an HttpConnectionManager's routes come from.
#[derive(Debug, Clone, PartialEq)]
pub enum RouteSource {
    /// The RouteConfiguration of this name, from RDS.
    Rds(String),
    /// The RouteConfiguration that is part of the Listener.
    Inline(Arc<RouteConfiguration>),
}

impl RouteSource {
    /// Returns the name of the RouteConfiguration, if it comes from RDS.
    pub const fn rds(&self) -> Option<&str> {
        match self {
            RouteSource::Rds(name) => Some(name.as_str()),
            RouteSource::Inline(_) => None,
        }
    }

    /// Returns the RouteConfiguration, if it is part of the Listener.
    pub const fn inline(&self) -> Option<&Arc<RouteConfiguration>> {
        match self {
            RouteSource::Inline(routes) => Some(routes),
            RouteSource::Rds(_) => None,
        }
    }
}

/// The Listener of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpListener {
    /// The text `host:port`, with an IPv6 host in brackets. It is compared with the server's own
    /// address as text.
    pub address: String,
    /// Every filter chain, in the order of the resource. A chain that is in no
    /// [`DestinationChains`] never matches.
    pub filter_chains: Vec<FilterChain>,
    /// The ranges of destination addresses with their chains: first the range of all addresses,
    /// then in the order of the prefixes' texts.
    pub destinations: Vec<DestinationChains>,
    /// The client also uses chains that never match: it asks for their routes.
    pub uses_all_chains: bool,
    /// The `default_filter_chain`, for connections that match no other chain.
    pub default_filter_chain: Option<FilterChain>,
}

impl TcpListener {
    /// Says whether a chain has RBAC policies, in its filters or in overrides of its inline routes.
    pub fn has_policies(&self) -> bool {
        let is_rbac = |config: &FilterConfig| matches!(config, FilterConfig::Rbac(_));
        let overridden = |map: &BTreeMap<String, FilterOverride>| {
            map.values().any(|entry| entry.config.as_deref().is_some_and(is_rbac))
        };
        let mut chains = self.filter_chains.iter().chain(&self.default_filter_chain);
        chains.any(|chain| {
            let manager = &chain.http_connection_manager;
            let in_routes = manager.routes.inline().is_some_and(|routes| {
                routes.virtual_hosts.iter().any(|host| {
                    let routes = host.routes.iter().map(|route| &route.typed_per_filter_config);
                    routes.chain([&host.typed_per_filter_config]).any(overridden)
                })
            });
            in_routes || manager.http_filters.iter().any(|filter| is_rbac(&filter.config))
        })
    }

    /// Returns the chains that the client keeps in its map with their indices, in the order of the
    /// resource, followed by the default chain without an index.
    ///
    /// The other chains never match. Unless the client uses all chains, it does not ask for their
    /// RouteConfigurations.
    pub fn used_chains(&self) -> impl Iterator<Item = (Option<usize>, &FilterChain)> {
        let matching = self.destinations.iter().flat_map(|d| d.chains.iter().copied());
        let used: BTreeSet<usize> = match self.uses_all_chains {
            true => (0..self.filter_chains.len()).collect(),
            false => matching.collect(),
        };
        used.into_iter()
            .filter_map(|index| Some((Some(index), self.filter_chains.get(index)?)))
            .chain(self.default_filter_chain.iter().map(|chain| (None, chain)))
    }
}

/// Returns the path of a filter chain in its Listener; `None` stands for the default chain.
pub fn chain_place(index: Option<usize>) -> String {
    index.map_or_else(
        || "default_filter_chain".to_owned(),
        |index| format!("filter_chains[{index}]"),
    )
}

/// The chains for connections to one range of local addresses. The range with the longest prefix
/// wins, even if it has no chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DestinationChains {
    /// The range of addresses; `None` for any address.
    pub prefix: Option<Cidr>,
    /// Indices in [`TcpListener::filter_chains`], ascending; no two of them match the same
    /// connection.
    pub chains: Vec<usize>,
}

/// A range of IP addresses as the client keeps it: the host bits are 0.
///
/// Two ranges are equal if the client's keys for them are. The text of an IPv6 address may have a
/// zone and a port; these make otherwise equal ranges different, although they do not take part in
/// matching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cidr {
    /// The first address. The scope id is the zone of the text, and the port is the port of the
    /// text; both are 0 if the text has none.
    pub address: SocketAddr,
    /// The number of leading bits that count: 0 to 32, or 0 to 128 for IPv6.
    pub prefix_len: u8,
}

impl Cidr {
    /// Makes the range of the first `prefix_len` bits of an address. A larger length than the
    /// address has is cut.
    #[must_use]
    pub fn new(mut address: SocketAddr, prefix_len: u32) -> Self {
        let (first, prefix_len) = match address.ip() {
            IpAddr::V4(ip) => {
                let len = prefix_len.min(32);
                let mask = u32::MAX.checked_shl(32 - len).unwrap_or(0);
                (IpAddr::from(Ipv4Addr::from_bits(ip.to_bits() & mask)), len)
            }
            IpAddr::V6(ip) => {
                let len = prefix_len.min(128);
                let mask = u128::MAX.checked_shl(128 - len).unwrap_or(0);
                (IpAddr::from(Ipv6Addr::from_bits(ip.to_bits() & mask)), len)
            }
        };
        address.set_ip(first);
        Self {
            address,
            prefix_len: prefix_len as u8,
        }
    }

    /// Makes the range of the first `prefix_len` bits of an address without a zone and a port.
    #[must_use]
    pub fn of_ip(address: impl Into<IpAddr>, prefix_len: u32) -> Self {
        Cidr::new(SocketAddr::new(address.into(), 0), prefix_len)
    }

    /// Says whether another range lies in this one.
    #[must_use]
    pub fn covers(&self, inner: Cidr) -> bool {
        self.prefix_len <= inner.prefix_len && self.contains(inner.address.ip())
    }

    /// Says whether an address is in the range. An address of the other IP version never is.
    ///
    /// ```
    /// use xdsctl_model::resource::listener::Cidr;
    ///
    /// let range = Cidr::new("10.1.0.0:0".parse().unwrap(), 16);
    /// assert!(range.contains("10.1.2.3".parse().unwrap()));
    /// assert!(!range.contains("10.2.2.3".parse().unwrap()));
    /// assert!(!range.contains("::ffff:10.1.2.3".parse().unwrap()));
    /// ```
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let own = Cidr::of_ip(address, self.prefix_len.into());
        address.is_ipv4() == self.address.is_ipv4() && own.address.ip() == self.address.ip()
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address.ip(), self.prefix_len)
    }
}

words! {
    /// Where a connection comes from.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum SourceType {
        /// Any source. It is considered only where no chain of the same destination has another
        /// source type that fits.
        #[default]
        Any = "ANY",
        /// The loopback interface, or the address that the connection is made to.
        SameIpOrLoopback = "SAME_IP_OR_LOOPBACK",
        /// Another host.
        External = "EXTERNAL",
        /// A number that xDS does not define.
        Unknown = "unknown",
    }

    /// Returns the name in the proto file: `ANY`.
    fn name
}

/// The part of a filter chain's match that is about the source. The destination is in
/// [`DestinationChains`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceMatch {
    /// The value of `source_type`.
    pub source_type: SourceType,
    /// The ranges in `source_prefix_ranges`; empty for any source address.
    pub prefixes: Vec<Cidr>,
    /// The ports in `source_ports`, which C-core cuts to 16 bits; empty for any port.
    pub ports: Vec<u32>,
}

/// The part of a filter chain that a server uses.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterChain {
    /// The name of the chain. It has no effect except that a new name makes the chain a changed
    /// one.
    pub name: String,
    /// The connections that the chain matches; ignored in a `default_filter_chain`.
    pub source: SourceMatch,
    /// The TLS context; `None` for plaintext.
    pub tls: Option<DownstreamTlsContext>,
    /// The only network filter.
    pub http_connection_manager: HttpConnectionManager,
}
