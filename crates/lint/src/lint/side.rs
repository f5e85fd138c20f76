//! Routes of a RouteConfiguration whose action is for the other side: a server's action in a
//! client's routes, or the other way round.
//!
//! For inline routes, the listener's converter reports this. A RouteConfiguration that both sides
//! use is not checked, because nobody knows which of its routes is for whom. Neither is one that
//! leads to nothing but clusters, some of which exist: then the listener is a proxy's that happens
//! to look like a server's.

use super::Findings;
use super::users::{UsedRoutes, Users};
use xdsctl_channel::client::{World, non_forwarding_path};
use xdsctl_clients::core::http_connection_manager::ROUTE_FOR_OTHER_SIDE;
use xdsctl_model::resource::ResourceType;

pub(super) fn check(world: &World, users: &Users<'_>, findings: &mut Findings) {
    for routes in users.routes.iter().filter(|routes| !routes.inline) {
        let Some(user) = routes.users.first() else { continue };
        if routes.users.iter().any(|other| other.is_server != user.is_server) {
            continue;
        }
        if user.is_server && !is_for_proxy(world, routes) {
            of_server(routes, user.listener, findings);
        } else if !user.is_server {
            of_client(routes, user.listener, findings);
        }
    }
}

fn is_for_proxy(world: &World, routes: &UsedRoutes<'_>) -> bool {
    let mut references = routes.facts.virtual_hosts.iter().flatten();
    routes.facts.non_forwarding.is_empty()
        && references.any(|reference| world.get(ResourceType::Cluster, &reference.cluster).is_some())
}

fn of_client(routes: &UsedRoutes<'_>, listener: &str, findings: &mut Findings) {
    for &place in &routes.facts.non_forwarding {
        findings.add(
            routes.holder,
            &ROUTE_FOR_OTHER_SIDE,
            non_forwarding_path(place),
            format!(
                "a client does not follow non_forwarding_action, RPCs that the route matches fail (used by listener `{listener}`)"
            ),
        );
    }
}

fn of_server(routes: &UsedRoutes<'_>, listener: &str, findings: &mut Findings) {
    let mut last = None;
    for reference in routes.facts.virtual_hosts.iter().flatten() {
        // A route with several clusters is reported once.
        let place = (reference.virtual_host, reference.route);
        if last.replace(place) == Some(place) {
            continue;
        }
        findings.add(
            routes.holder,
            &ROUTE_FOR_OTHER_SIDE,
            reference.action_path(false, None),
            format!("a server does not follow route, RPCs that the route matches fail (used by listener `{listener}`)"),
        );
    }
}
