//! Which channels work and which clusters RPCs can go to, before and after.

use std::collections::BTreeSet;

use super::{channel, names, routes_of};
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Client, HeldResource};
use xdsctl_model::resource::route::{Route, VirtualHost};

/// A Listener or a Cluster that RPCs can use on one side only.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ReachChange {
    /// Name of the Listener or Cluster.
    pub name: String,
    /// Whether the Listener or Cluster works after the change; if not, it worked before.
    pub works: bool,
}

/// Returns the listeners that have routes on one side only.
pub(super) fn listeners(before: &Client, after: &Client) -> Vec<ReachChange> {
    let names = names(&before.resources.listeners, &after.resources.listeners);
    let change = |name: &String| {
        let (had, works) = (routes_of(before, name).is_some(), routes_of(after, name).is_some());
        let name = name.clone();
        (had != works).then_some(ReachChange { name, works })
    };
    names.into_iter().filter_map(change).collect()
}

/// Returns the clusters that a client holds on one side only while its routes lead to them on the
/// other.
pub(super) fn clusters(before: &Client, after: &Client, (was, is): (&Reached, &Reached)) -> Vec<ReachChange> {
    let names = names(&before.resources.clusters, &after.resources.clusters);
    let change = |name: &String| {
        let has = |client: &Client| {
            client
                .resources
                .clusters
                .get(name)
                .is_some_and(HeldResource::is_accepted)
        };
        let (had, works) = (has(before), has(after));
        // If the routes change as well, the change is reported with the routes.
        let is_missed = if works { was.names(name) } else { is.has(name) };
        let name = name.clone();
        (had != works && is_missed).then_some(ReachChange { name, works })
    };
    names.into_iter().filter_map(change).collect()
}

/// The clusters that a client's routes lead to, directly or through aggregate clusters.
#[derive(Debug)]
pub(super) struct Reached(
    /// `None` if any cluster can be meant: no routes are known, or a plugin chooses.
    Option<ReachedKeys>,
);

/// The keys of the names of clusters.
#[derive(Debug)]
struct ReachedKeys {
    /// The clusters that routes name.
    routed: BTreeSet<String>,
    /// The clusters that routes name, and all clusters below them.
    all: BTreeSet<String>,
}

impl ReachedKeys {
    fn of(client: &Client, named: Vec<&str>) -> ReachedKeys {
        let clusters = &client.resources.clusters;
        ReachedKeys {
            routed: named.iter().map(|name| clusters.key(name).into_owned()).collect(),
            all: below(client, named),
        }
    }
}

impl Reached {
    /// Returns the clusters that all routes of a client lead to, or with `target` those of the
    /// channel's virtual host.
    pub(super) fn of(client: &Client, target: Option<&Target>) -> Reached {
        let resources = &client.resources;
        let mut open = Vec::new();
        if let Some(target) = target {
            let routes = routes_of(client, &target.listener);
            let host = routes
                .as_ref()
                .and_then(|(_, routes, _)| channel::host(client, routes, target));
            let is_known = destinations(host, &mut open);
            return Reached(is_known.then(|| ReachedKeys::of(client, open)));
        }
        let mut tables = 0;
        let inline = resources
            .listeners
            .iter()
            .filter_map(|(_, held)| held.value()?.api()?.routes.inline());
        let configs = resources.route_configs.iter().filter_map(|(_, held)| held.value());
        for table in inline.chain(configs) {
            tables += 1;
            if !destinations(&table.virtual_hosts, &mut open) {
                return Reached(None);
            }
        }
        if tables == 0 {
            return Reached(None);
        }
        Reached(Some(ReachedKeys::of(client, open)))
    }

    /// Says whether the client has a known route that leads to the cluster with this key.
    fn names(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|reached| reached.all.contains(name))
    }

    /// Says whether RPCs may go to the cluster with this key; `true` if any cluster can be meant.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|reached| reached.all.contains(name))
    }

    /// Says whether a route may lead to the cluster with this key without an aggregate cluster in
    /// between.
    pub(super) fn has_route_to(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|reached| reached.routed.contains(name))
    }
}

/// Returns the keys of these clusters and of all clusters below them.
pub(super) fn below<'a>(client: &'a Client, mut open: Vec<&'a str>) -> BTreeSet<String> {
    let clusters = &client.resources.clusters;
    let mut reached = BTreeSet::new();
    while let Some(name) = open.pop() {
        if reached.insert(clusters.key(name).into_owned())
            && let Some(cluster) = clusters.get(name).and_then(HeldResource::value)
        {
            open.extend(cluster.discovery.children().iter().map(String::as_str));
        }
    }
    reached
}

/// Adds the clusters that routes name; `false` if a plugin chooses one.
pub(super) fn destinations<'a>(hosts: impl IntoIterator<Item = &'a VirtualHost>, out: &mut Vec<&'a str>) -> bool {
    let routes = hosts.into_iter().flat_map(|host| &host.routes);
    for destination in routes.filter_map(Route::destination) {
        if destination.plugin().is_some() {
            return false;
        }
        out.extend(destination.clusters());
    }
    true
}
