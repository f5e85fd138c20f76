//! Which route of a server takes an RPC (A36): the virtual host is found by `:authority`; then the
//! first route that matches takes the RPC, and it must be a route for servers.

use std::sync::Arc;

use crate::connection::Rpc;
use crate::dialect::ServerDialect;
use xdsctl_channel::client::Client;
use xdsctl_channel::rpc::{Draw, Mismatch, matching};
use xdsctl_model::resource::RouteConfiguration;
use xdsctl_model::resource::domain::{DomainMatch, best_match_by};
use xdsctl_model::resource::listener::RouteSource;
use xdsctl_model::resource::route::{Route, VirtualHost};

/// The routes of a chain.
#[derive(Debug, Clone, PartialEq)]
pub enum Routes {
    /// The routes are there.
    Held(Arc<RouteConfiguration>),
    /// There is no RouteConfiguration of this name.
    Missing(String),
    /// The client rejects the RouteConfiguration of this name, for this reason.
    Rejected(String, String),
}

impl Routes {
    /// Returns the routes that a client holds for a chain.
    pub fn of(source: &RouteSource, client: &Client) -> Routes {
        let name = match source {
            RouteSource::Inline(routes) => return Routes::Held(Arc::clone(routes)),
            RouteSource::Rds(name) => name,
        };
        let Some(held) = client.resources.route_configs.get(name) else {
            return Routes::Missing(name.clone());
        };
        match (held.value(), held.rejected()) {
            (Some(routes), _) => Routes::Held(Arc::clone(routes)),
            (None, _) if held.is_unnamed() => Routes::Missing(name.clone()),
            (None, why) => Routes::Rejected(name.clone(), why.unwrap_or_default().to_owned()),
        }
    }
}

/// The route of an RPC in a RouteConfiguration, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteChoice {
    /// The virtual host and the domain that won; `None` if no virtual host has the authority.
    pub host: Option<DomainMatch>,
    /// For every route before the chosen one, its position and why it does not take the RPC.
    pub tried: Vec<(usize, Mismatch)>,
    /// The position of the route that takes the RPC.
    pub route: Option<usize>,
}

impl RouteChoice {
    /// Returns the virtual host.
    pub fn virtual_host<'r>(&self, routes: &'r RouteConfiguration) -> Option<&'r VirtualHost> {
        routes.virtual_hosts.get(self.host?.host)
    }

    /// Returns the route that takes the RPC.
    pub fn chosen<'r>(&self, routes: &'r RouteConfiguration) -> Option<&'r Route> {
        self.virtual_host(routes)?.routes.get(self.route?)
    }
}

/// Returns the virtual host for an authority.
pub(crate) fn host(routes: &RouteConfiguration, authority: &str, dialect: &ServerDialect) -> Option<DomainMatch> {
    let domains = routes.virtual_hosts.iter().map(|host| &host.domains);
    let mut found = best_match_by(domains, authority, dialect.domains)?;
    let last = routes.virtual_hosts.len().saturating_sub(1);
    if dialect.last_host_wins && found.host != last {
        (found.host, found.domain) = (last, 0);
    }
    Some(found)
}

/// Chooses the route of an RPC.
pub fn choose(routes: &RouteConfiguration, rpc: &Rpc, dialect: &ServerDialect, draw: &mut Draw<'_>) -> RouteChoice {
    let mut choice = RouteChoice {
        host: host(routes, &rpc.authority, dialect),
        tried: Vec::new(),
        route: None,
    };
    let list = choice.virtual_host(routes).map_or(&[][..], |host| &host.routes);
    for (position, route) in list.iter().enumerate() {
        match mismatch(route, rpc, dialect, draw) {
            Some(why) => choice.tried.push((position, why)),
            None => {
                choice.route = Some(position);
                break;
            }
        }
    }
    choice
}

fn mismatch(route: &Route, rpc: &Rpc, dialect: &ServerDialect, draw: &mut Draw<'_>) -> Option<Mismatch> {
    if !matching::path_matches(&route.path, &rpc.method) {
        return Some(Mismatch::Path);
    }
    let mut headers = route.headers.iter();
    let unmatched = headers.position(|header| {
        let value = (dialect.route_header)(rpc, &header.name);
        !matching::value_matches(header, value.as_deref())
    });
    match unmatched {
        Some(index) => Some(Mismatch::Header(index)),
        None => matching::fraction_mismatch(route, draw),
    }
}
