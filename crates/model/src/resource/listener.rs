//! Listener as the client keeps it: the API listener of a client channel, or a server's TCP
//! listener.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use super::Millis;
use super::filter::{FilterConfig, FilterOverride, HttpFilter};
use super::route::RouteConfiguration;
use super::tls::DownstreamTlsContext;

/// `envoy.config.listener.v3.Listener`.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one a resource")]
pub enum Listener {
    /// `api_listener`: used by a client channel.
    Api(HttpConnectionManager),
    /// `address` and filter chains: used by a gRPC server.
    Tcp(TcpListener),
}

impl Listener {
    /// What a client channel uses of it.
    pub const fn api(&self) -> Option<&HttpConnectionManager> {
        match self {
            Listener::Api(manager) => Some(manager),
            Listener::Tcp(_) => None,
        }
    }

    /// What a server uses of it.
    pub const fn tcp(&self) -> Option<&TcpListener> {
        match self {
            Listener::Tcp(listener) => Some(listener),
            Listener::Api(_) => None,
        }
    }
}

/// HttpConnectionManager.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpConnectionManager {
    /// Where the routes come from.
    pub routes: RouteSource,
    /// `common_http_protocol_options.max_stream_duration`; 0 for none.
    pub http_max_stream_duration: Millis,
    /// The filters that the client runs, in order; the last is the router.
    pub http_filters: Vec<HttpFilter>,
}

/// Where an HttpConnectionManager's routes come from.
#[derive(Debug, Clone, PartialEq)]
pub enum RouteSource {
    /// The RouteConfiguration of this name, from RDS.
    Rds(String),
    /// The listener has the RouteConfiguration in it.
    Inline(Arc<RouteConfiguration>),
}

impl RouteSource {
    /// The name of the RouteConfiguration, if it comes from RDS.
    pub const fn rds(&self) -> Option<&str> {
        match self {
            RouteSource::Rds(name) => Some(name.as_str()),
            RouteSource::Inline(_) => None,
        }
    }

    /// The RouteConfiguration, if the listener has it in it.
    pub const fn inline(&self) -> Option<&Arc<RouteConfiguration>> {
        match self {
            RouteSource::Inline(routes) => Some(routes),
            RouteSource::Rds(_) => None,
        }
    }
}

/// A server listener.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpListener {
    /// `host:port`, with an IPv6 host in brackets; compared with the server's own address as text.
    pub address: String,
    /// Every chain of the resource, in its order; those in no [`DestinationChains`] never match.
    pub filter_chains: Vec<FilterChain>,
    /// Where a connection may have been addressed to: the catch-all first, then in the order of the
    /// prefixes' texts.
    pub destinations: Vec<DestinationChains>,
    /// The client uses chains that never match, too: it asks for their routes.
    pub uses_all_chains: bool,
    /// `default_filter_chain`, for connections that match no chain.
    pub default_filter_chain: Option<FilterChain>,
}

impl TcpListener {
    /// Says whether a chain has RBAC policies, in its filters or in overrides of its own routes.
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

    /// The chains that the client keeps in its map with their indices, in the order of the
    /// resource, then the default one without.
    ///
    /// The others never match. Unless the client uses all chains, their RouteConfigurations are not
    /// asked for.
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

/// The place of a filter chain in its Listener; `None` is the default one.
pub fn chain_place(index: Option<usize>) -> String {
    index.map_or_else(
        || "default_filter_chain".to_owned(),
        |index| format!("filter_chains[{index}]"),
    )
}

/// The chains for connections to one range of local addresses. The longest prefix wins, even
/// without a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DestinationChains {
    /// `None` for any address.
    pub prefix: Option<Cidr>,
    /// Indices in [`TcpListener::filter_chains`], ascending; no two of them match the same
    /// connection.
    pub chains: Vec<usize>,
}

/// A range of IP addresses as the client keeps it: host bits are 0.
///
/// Equal as the client's keys are: the text of an IPv6 address may carry a zone and a port, which
/// then set otherwise equal ranges apart although neither takes part in matching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cidr {
    /// The first address, with the zone as scope and the port of the text, else 0.
    pub address: SocketAddr,
    /// 0 to 32, or to 128 for IPv6.
    pub prefix_len: u8,
}

impl Cidr {
    /// The range of the first `prefix_len` bits of an address; a length beyond the address is cut.
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

    /// The same of an address without a zone and a port.
    #[must_use]
    pub fn of_ip(address: impl Into<IpAddr>, prefix_len: u32) -> Self {
        Cidr::new(SocketAddr::new(address.into(), 0), prefix_len)
    }

    /// Says whether all addresses of another range are in this one.
    #[must_use]
    pub fn covers(&self, inner: Cidr) -> bool {
        self.prefix_len <= inner.prefix_len && self.contains(inner.address.ip())
    }

    /// Says whether an address is in the range. One of the other kind never is.
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

/// Where a connection comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceType {
    /// Anywhere; looked at only where no chain of the same destination has one of the others.
    #[default]
    Any,
    /// The loopback interface, or the address that the connection is to.
    SameIpOrLoopback,
    /// A connection from another host.
    External,
    /// A number that xDS does not have.
    Unknown,
}

impl SourceType {
    /// Its name in the proto file: `ANY`.
    pub const fn name(self) -> &'static str {
        match self {
            SourceType::Any => "ANY",
            SourceType::SameIpOrLoopback => "SAME_IP_OR_LOOPBACK",
            SourceType::External => "EXTERNAL",
            SourceType::Unknown => "unknown",
        }
    }
}

/// The part of a filter chain's match that is about the source. The destination is in
/// [`DestinationChains`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceMatch {
    /// `source_type`.
    pub source_type: SourceType,
    /// `source_prefix_ranges`; empty for any.
    pub prefixes: Vec<Cidr>,
    /// `source_ports`, in C-core cut to 16 bits; empty for any.
    pub ports: Vec<u32>,
}

/// The part of a filter chain that a server uses.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterChain {
    /// Its name, which decides nothing but whether an update is one.
    pub name: String,
    /// Which connections it takes; not looked at in a `default_filter_chain`.
    pub source: SourceMatch,
    /// `None` for plaintext.
    pub tls: Option<DownstreamTlsContext>,
    /// The only network filter.
    pub http_connection_manager: HttpConnectionManager,
}
