//! Listener as the client keeps it: the API listener of a client channel, or a server's TCP listener.

use super::Millis;
use super::filter::HttpFilter;
use super::route::RouteConfiguration;
use super::tls::DownstreamTlsContext;

/// `envoy.config.listener.v3.Listener`.
#[derive(Debug, Clone, PartialEq)]
pub enum Listener {
    /// `api_listener`: used by a client channel.
    Api(HttpConnectionManager),
    /// `address` and filter chains: used by a gRPC server.
    Tcp(TcpListener),
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
    /// Inline.
    Inline(Box<RouteConfiguration>),
}

/// A server listener.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpListener {
    /// `host:port`, empty without an address.
    pub address: String,
    /// The chains that can match, in the order of the resource.
    pub filter_chains: Vec<MatchedFilterChain>,
    /// `default_filter_chain`.
    pub default_filter_chain: Option<FilterChain>,
}

/// A filter chain and one way to reach it.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedFilterChain {
    /// Destination prefix in CIDR notation, `None` for any.
    pub prefix: Option<String>,
    /// 0 any, 1 same IP or loopback, 2 external.
    pub source_type: i32,
    /// Source prefix in CIDR notation, `None` for any.
    pub source_prefix: Option<String>,
    /// Source port, 0 for any.
    pub source_port: u16,
    /// Index in `filter_chains` of the resource.
    pub index: usize,
    /// The chain.
    pub chain: std::sync::Arc<FilterChain>,
}

/// The part of a filter chain that a server uses.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterChain {
    /// `None` for plaintext.
    pub tls: Option<DownstreamTlsContext>,
    /// The only network filter.
    pub http_connection_manager: HttpConnectionManager,
}
