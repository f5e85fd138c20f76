//! Whether a server serves: it needs a Listener that is for servers and for its own address (A36).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::dialect::{RoutesByRds, ServerDialect};
use crate::routing::Routes;
use xdsctl_channel::client::Client;
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_model::resource::RouteConfiguration;
use xdsctl_model::resource::listener::{
    FilterChain, HttpConnectionManager, RouteSource, SourceMatch, SourceType, TcpListener,
};
use xdsctl_model::resource::route::{Action, Route};
use xdsctl_model::resource::{Listener, Millis, ResourceType};
use xdsctl_model::text;

/// Why a server does not serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotServing {
    /// The server cannot ask for its Listener, for this reason.
    NotAskedFor(String),
    /// The Listener that the server asks for does not exist.
    Missing {
        /// A name that may have been meant.
        near: Option<String>,
    },
    /// The client rejects the Listener, for this reason.
    Rejected(String),
    /// The Listener is an API listener, which is for clients.
    ApiListener,
    /// A route is equal to one before it, in any virtual host. The server then does not start.
    EqualRoutes {
        /// The index of the route's virtual host.
        host: usize,
        /// The index of the route.
        route: usize,
    },
    /// The routes of this name come by RDS, which the server does not survive.
    RoutesByRds(String),
    /// The routes of this name were rejected, for this reason, and the server waits for valid ones.
    RoutesRejected(String, String),
    /// The Listener is for another address.
    OtherAddress(String),
    /// The Listener came back after it had gone away, which the server does not notice.
    CameBack,
    /// The program has ended with these words.
    Ended(String),
}

/// The Listener of a server that serves.
#[derive(Debug, Clone)]
pub struct Serving {
    /// The Listener.
    pub listener: TcpListener,
    /// Why a newer version of the Listener was rejected; `None` if none was. The version before it
    /// stays in use.
    pub rejected: Option<String>,
}

impl Serving {
    /// Makes the Listener of a server without xDS: it takes every connection in plaintext, and lets
    /// everybody in.
    pub fn without_xds() -> Serving {
        let routes = RouteConfiguration::of_everything(Action::NonForwarding);
        let chain = FilterChain {
            name: String::new(),
            source: SourceMatch::default(),
            tls: None,
            http_connection_manager: HttpConnectionManager {
                routes: RouteSource::Inline(Arc::new(routes)),
                http_max_stream_duration: Millis(0),
                http_filters: Vec::new(),
            },
        };
        Serving {
            listener: TcpListener {
                address: String::new(),
                filter_chains: Vec::new(),
                destinations: Vec::new(),
                uses_all_chains: false,
                default_filter_chain: Some(chain),
            },
            rejected: None,
        }
    }
}

/// Returns the Listener that a server uses.
///
/// # Errors
/// Fails if the server does not serve, and says why.
pub fn serving(server: &ListeningServer, client: &Client, dialect: &ServerDialect) -> Result<Serving, NotServing> {
    let name = server.listener.as_str();
    client
        .ask(ResourceType::Listener, name)
        .map_err(|fault| NotServing::NotAskedFor(fault.words(name)))?;
    let listeners = &client.resources.listeners;
    let held = listeners.get(name).ok_or_else(|| NotServing::Missing {
        near: text::nearest(name, listeners.keys().map(String::as_str)).map(str::to_owned),
    })?;
    let rejected = held.rejected().map(str::to_owned);
    if dialect.crashes_at_resources && held.is_fatal() {
        return Err(NotServing::Ended(rejected.unwrap_or_default()));
    }
    let Some(listener) = held.value() else {
        return Err(NotServing::Rejected(rejected.unwrap_or_default()));
    };
    let Listener::Tcp(tcp) = &**listener else {
        return Err(NotServing::ApiListener);
    };
    if dialect.compares_address && !server.is_meant(&tcp.address) {
        return Err(NotServing::OtherAddress(tcp.address.clone()));
    }
    if dialect.lifetime.ends_at_unknown_type && has_unknown_type(tcp) {
        return Err(NotServing::Ended("source_type < 3".to_owned()));
    }
    routes_by_rds(tcp, client, dialect)?;
    if let Some((host, route)) = equal_routes(tcp, client).filter(|_| dialect.stops_at_equal_routes) {
        return Err(NotServing::EqualRoutes { host, route });
    }
    Ok(Serving {
        listener: tcp.clone(),
        rejected,
    })
}

/// Says whether a chain that can match has a source type that does not exist.
fn has_unknown_type(listener: &TcpListener) -> bool {
    let used = listener.destinations.iter().flat_map(|one| &one.chains);
    let mut chains = used.filter_map(|index| listener.filter_chains.get(*index));
    chains.any(|chain| chain.source.source_type == SourceType::Unknown)
}

/// Fails if routes that come by RDS keep the server from serving.
fn routes_by_rds(listener: &TcpListener, client: &Client, dialect: &ServerDialect) -> Result<(), NotServing> {
    for (_, chain) in listener.used_chains() {
        let RouteSource::Rds(name) = &chain.http_connection_manager.routes else {
            continue;
        };
        let held = client.resources.route_configs.get(name);
        if let Some(fatal) = held.filter(|held| dialect.crashes_at_resources && held.is_fatal()) {
            return Err(NotServing::Ended(fatal.rejected().unwrap_or_default().to_owned()));
        }
        match (
            dialect.routes_by_rds,
            Routes::of(&chain.http_connection_manager.routes, client),
        ) {
            (RoutesByRds::Fatal, _) => return Err(NotServing::RoutesByRds(name.clone())),
            (RoutesByRds::GoodAwaited, Routes::Rejected(name, why)) => {
                return Err(NotServing::RoutesRejected(name, why));
            }
            (RoutesByRds::Served | RoutesByRds::GoodAwaited, _) => {}
        }
    }
    Ok(())
}

/// Returns the first route of the chains that is equal to another one of its RouteConfiguration, as
/// the indices of its virtual host and itself.
fn equal_routes(listener: &TcpListener, client: &Client) -> Option<(usize, usize)> {
    let chains = listener.filter_chains.iter().chain(&listener.default_filter_chain);
    let routes = chains.map(|chain| Routes::of(&chain.http_connection_manager.routes, client));
    let mut held = routes.filter_map(|routes| match routes {
        Routes::Held(held) => Some(held),
        Routes::Missing(_) | Routes::Rejected(..) => None,
    });
    held.find_map(|routes| first_repeated(&routes))
}

fn first_repeated(routes: &RouteConfiguration) -> Option<(usize, usize)> {
    // Equal routes have equal paths, and few other routes share a path.
    let mut by_path: BTreeMap<String, Vec<&Route>> = BTreeMap::new();
    for host in &routes.virtual_hosts {
        for route in &host.routes {
            let like = by_path.entry(format!("{:?}", route.path)).or_default();
            if like.iter().any(|other| is_equal(route, other)) {
                return Some((host.index, route.index));
            }
            like.push(route);
        }
    }
    None
}

fn is_equal(one: &Route, other: &Route) -> bool {
    one.path == other.path
        && one.headers == other.headers
        && one.fraction_per_million == other.fraction_per_million
        && one.action == other.action
        && one.typed_per_filter_config == other.typed_per_filter_config
}
