//! Stateful sessions (gRFC A55) that hold less than their author probably expects: not while an
//! endpoint drains, not on a route beside the one that the cookie's path covers, or not at all.
//!
//! If there are two session filters in one chain, the later one decides and the cookie of the
//! earlier one is worthless. This is reported if both are active and their cookies are for the same
//! paths. An override may keep them apart, so it is reported only if the routes are known and
//! override neither filter.

use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use super::users::{UsedRoutes, Users};
use xdsctl_channel::client::graph::Graph;
use xdsctl_channel::client::{
    ClusterFacts, Facts, FilterFacts, ResourceId, RouteFacts, RouteReference, World, filter_path,
};
use xdsctl_model::cookie::{covers, covers_nothing_else, may_cover};
use xdsctl_model::diag::{Path, rules};
use xdsctl_model::resource::ResourceType;

rules! {
    /// Two stateful session filters are active in one chain, and only the later one's cookie counts.
    SESSION_TWICE = "stateful-session-twice", Snapshot, Advice, "C-core xds_http_stateful_session_filter.cc; gRFC A55";
    /// A session leaves its endpoint as soon as that drains, because override_host_status lacks DRAINING.
    SESSION_WITHOUT_DRAINING = "stateful-session-without-draining", Snapshot, Advice, "gRFC A55; C-core xds_override_host.cc UpdateAddressMap";
    /// The path of a session's cookie leaves out RPCs beside those that it covers, or covers none at all.
    SESSION_PATH_MISSES_ROUTE = "stateful-session-path-misses-route", Snapshot, Advice, "gRFC A55; C-core stateful_session_filter.cc";
}

pub(super) fn check(world: &World, users: &Users<'_>, findings: &mut Findings) {
    let mut told = BTreeSet::new();
    for routes in &users.routes {
        for user in routes.users.iter().filter(|user| !user.is_server) {
            let sessions: Vec<(&FilterFacts, &str)> = user
                .filters
                .iter()
                .filter(|filter| !filter.disabled && !is_overridden(routes, &filter.name))
                .filter_map(|filter| Some((filter, filter.session_path.as_deref()?)))
                .collect();
            let Some(entry) = world.get(ResourceType::Listener, user.listener) else {
                continue;
            };
            if let Some((filter, path)) = sessions.last() {
                draining(world, routes.facts, (user.listener, path), &mut told, findings);
                siblings(routes.facts, (entry.id, filter, path), findings);
            }
            for pair in sessions.windows(2) {
                let [(earlier, path), (later, later_path)] = pair else {
                    continue;
                };
                if covers(later_path, path) || covers(path, later_path) {
                    let message = format!(
                        "the session of `{}` counts and that of `{}` does not: its cookie is sent without an address",
                        later.name, earlier.name
                    );
                    findings
                        .add(entry.id, &SESSION_TWICE, filter_path(later.index), message)
                        .related(filter_path(earlier.index), "the earlier session");
                }
            }
        }
    }
}

/// Reports each cluster that RPCs with a session may reach and whose sessions leave draining
/// endpoints.
fn draining<'w>(
    world: &'w World,
    routes: &'w RouteFacts,
    (listener, cookie): (&str, &'w str),
    told: &mut BTreeSet<ResourceId>,
    findings: &mut Findings,
) {
    for host in &routes.virtual_hosts {
        let roots: BTreeSet<&str> = with_session(routes, host, cookie)
            .map(|reference| reference.cluster.as_str())
            .collect();
        let graph = Graph::resolve(roots, &|name| world.known(name));
        for name in graph.entries.keys() {
            let Some(entry) = world.get(ResourceType::Cluster, name) else {
                continue;
            };
            let is_lost = matches!(
                entry.facts(),
                Some(Facts::Cluster(ClusterFacts::Eds {
                    loses_draining: true,
                    ..
                }))
            );
            if is_lost && told.insert(entry.id) {
                let common = Path::ROOT.field("common_lb_config");
                let path = common.field("override_host_status").to_owned();
                let message = format!(
                    "override_host_status lacks DRAINING: a session of listener `{listener}` leaves its endpoint as soon as that drains"
                );
                findings
                    .add(entry.id, &SESSION_WITHOUT_DRAINING, path, message)
                    .help("set override_host_status: {statuses: [UNKNOWN, HEALTHY, DRAINING]}");
            }
        }
    }
}

/// Reports, for each virtual host, the first route without a session whose cluster has sessions on
/// another route.
fn siblings(
    routes: &RouteFacts,
    (listener, filter, cookie): (ResourceId, &FilterFacts, &str),
    findings: &mut Findings,
) {
    for host in &routes.virtual_hosts {
        let covered: BTreeMap<&str, &str> = with_session(routes, host, cookie)
            .filter_map(|reference| Some((&*reference.cluster, routes.path_of(reference)?)))
            .collect();
        let missed = host.iter().find_map(|reference| {
            let path = routes.path_of(reference)?;
            let other = covered.get(&*reference.cluster)?;
            (!may_cover(cookie, path, reference.is_prefix)).then_some((reference, path, other))
        });
        if let Some((reference, path, other)) = missed {
            let message = format!(
                "the cookie's path `{cookie}` covers the route to `{other}` and not that to `{path}`, both to cluster `{}`: RPCs of \
                 the second have no session",
                reference.cluster
            );
            findings.add(listener, &SESSION_PATH_MISSES_ROUTE, filter_path(filter.index), message);
        } else if let Some((service, path)) = service_of_one_method(routes, host, cookie) {
            let message = format!(
                "the cookie's path `{cookie}` covers one method of the route to `{path}`: RPCs of other methods have no session"
            );
            findings
                .add(listener, &SESSION_PATH_MISSES_ROUTE, filter_path(filter.index), message)
                .help(format!(
                    "for all methods of the service set the cookie's path to `{service}`"
                ));
        }
    }
    let mut all = routes.virtual_hosts.iter().flatten().peekable();
    let is_missed = |reference: &RouteReference| {
        let path = routes.path_of(reference);
        path.is_some_and(|path| !may_cover(cookie, path, reference.is_prefix))
    };
    if !routes.has_plugin && all.peek().is_some() && all.all(is_missed) {
        let message = format!("the cookie's path `{cookie}` covers none of the routes: no RPC has a session");
        findings.add(listener, &SESSION_PATH_MISSES_ROUTE, filter_path(filter.index), message);
    }
}

/// If a cookie's path is that of one method, returns its service and the path of a route that takes
/// all RPCs of this service.
fn service_of_one_method<'r>(
    routes: &'r RouteFacts,
    host: &'r [RouteReference],
    cookie: &'r str,
) -> Option<(&'r str, &'r str)> {
    let (service, method) = cookie.rsplit_once('/')?;
    let whole = |path: &&str| !service.is_empty() && !method.is_empty() && path.trim_end_matches('/') == service;
    let prefixes = with_session(routes, host, cookie).filter(|reference| reference.is_prefix);
    let path = prefixes.filter_map(|reference| routes.path_of(reference)).find(whole)?;
    Some((service, path))
}

/// Returns the references of a virtual host whose routes can get RPCs that a cookie's path covers.
/// They end with a route that takes all such RPCs.
///
/// It is not known what a regex matches: its route counts only if the cookie is for every path.
fn with_session<'r>(
    routes: &'r RouteFacts,
    host: &'r [RouteReference],
    cookie: &'r str,
) -> impl Iterator<Item = &'r RouteReference> {
    let takes_all = |reference: &&RouteReference| {
        let path = routes.path_of(reference).filter(|_| !reference.is_conditional);
        path.is_some_and(|path| covers_nothing_else(cookie, path, reference.is_prefix))
    };
    let last = host.iter().find(takes_all).map(|reference| reference.route);
    let reached = host
        .iter()
        .take_while(move |reference| last.is_none_or(|last| reference.route <= last));
    reached.filter(move |reference| match routes.path_of(reference) {
        Some(path) => may_cover(cookie, path, reference.is_prefix),
        None => cookie.is_empty() || cookie == "/",
    })
}

fn is_overridden(routes: &UsedRoutes<'_>, name: &str) -> bool {
    routes.facts.overrides.iter().any(|entry| &*entry.name == name)
}
