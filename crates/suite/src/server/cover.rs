//! Which parts of a server's configuration the RPCs of tests have met: filter chains, virtual
//! hosts, routes, policies.

use crate::coverage::{Coverage, CoverageKind, host_name, route_name};
use xdsctl_channel::client::Client;
use xdsctl_channel::rpc::Level;
use xdsctl_model::resource::RouteConfiguration;
use xdsctl_model::resource::filter::{FilterConfig, FilterOverride};
use xdsctl_model::resource::listener::chain_place;
use xdsctl_model::resource::listener::{FilterChain, RouteSource, TcpListener};
use xdsctl_server::admit::Handled;
use xdsctl_server::routing::Routes;

/// Adds the parts of a Listener.
pub(super) fn listener(name: &str, listener: &TcpListener, client: &Client, coverage: &mut Coverage) {
    for (index, chain) in listener.used_chains() {
        let place = format!("{name} {}", chain_place(index));
        coverage.know(CoverageKind::FilterChain, place.clone());
        for filter in &chain.http_connection_manager.http_filters {
            policies(&place, &filter.name, Some(&filter.config), coverage);
        }
        let Routes::Held(held) = Routes::of(&chain.http_connection_manager.routes, client) else {
            continue;
        };
        let routes = routes_name(&place, chain);
        for host in &held.virtual_hosts {
            let host_name = host_name(&routes, host);
            coverage.know(CoverageKind::VirtualHost, host_name.clone());
            of_overrides(&host_name, host.typed_per_filter_config.iter(), coverage);
            for route in &host.routes {
                let name = route_name(&host_name, route);
                coverage.know(CoverageKind::Route, name.clone());
                of_overrides(&name, route.typed_per_filter_config.iter(), coverage);
            }
        }
    }
}

/// Marks the chain that took a connection.
pub(super) fn connected(name: &str, index: Option<usize>, coverage: &mut Coverage) {
    coverage.meet(CoverageKind::FilterChain, format!("{name} {}", chain_place(index)));
}

/// Marks the parts that an RPC has met. `matched` has the filters whose policies matched: the name,
/// the level of the config, and the policy.
pub(super) fn called(
    (name, index, chain): (&str, Option<usize>, &FilterChain),
    handled: &Handled,
    matched: &[(&str, Level, String)],
    coverage: &mut Coverage,
) {
    let place = format!("{name} {}", chain_place(index));
    let (host, route) = match (&handled.routes, &handled.route) {
        (Routes::Held(held), Some(choice)) => names(held, choice, &routes_name(&place, chain)),
        _ => (None, None),
    };
    if let Some(name) = &host {
        coverage.meet(CoverageKind::VirtualHost, name.clone());
    }
    if let Some(name) = &route {
        coverage.meet(CoverageKind::Route, name.clone());
    }
    for (filter, level, policy) in matched {
        let place = match level {
            Level::Listener | Level::ClusterWeight => Some(&place),
            Level::VirtualHost => host.as_ref(),
            Level::Route => route.as_ref(),
        };
        if let Some(place) = place {
            coverage.meet(CoverageKind::Policy, policy_name(place, filter, policy));
        }
    }
}

fn names(
    held: &RouteConfiguration,
    choice: &xdsctl_server::routing::RouteChoice,
    routes: &str,
) -> (Option<String>, Option<String>) {
    let host = choice.virtual_host(held).map(|host| host_name(routes, host));
    let route = choice.chosen(held).zip(host.as_ref());
    let route = route.map(|(route, host)| route_name(host, route));
    (host, route)
}

fn of_overrides<'o>(
    place: &str,
    overrides: impl Iterator<Item = (&'o String, &'o FilterOverride)>,
    coverage: &mut Coverage,
) {
    for (filter, own) in overrides {
        policies(place, filter, own.config.as_deref(), coverage);
    }
}

fn policies(place: &str, filter: &str, config: Option<&FilterConfig>, coverage: &mut Coverage) {
    let rules = config.and_then(FilterConfig::rbac_rules);
    for policy in rules.into_iter().flat_map(|rules| rules.policies.keys()) {
        coverage.know(CoverageKind::Policy, policy_name(place, filter, policy));
    }
}

fn policy_name(place: &str, filter: &str, policy: &str) -> String {
    format!("{place} `{filter}` policy `{policy}`")
}

fn routes_name(place: &str, chain: &FilterChain) -> String {
    match &chain.http_connection_manager.routes {
        RouteSource::Rds(name) => name.clone(),
        RouteSource::Inline(_) => place.to_owned(),
    }
}
