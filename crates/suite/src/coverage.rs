//! Which parts of a configuration the RPCs of tests have met: virtual hosts, routes, weighted
//! entries, clusters, endpoints.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use super::channel::localities;
use xdsctl_channel::client::config::XdsConfig;
use xdsctl_channel::rpc::{CLUSTER_PREFIX, Selector};
use xdsctl_channel::sim::Outcome;
use xdsctl_model::resource::route::{Route, VirtualHost};

/// A kind of part that can be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoverageKind {
    /// A filter chain of a server.
    FilterChain,
    /// A virtual host of a RouteConfiguration.
    VirtualHost,
    /// A route that the client keeps.
    Route,
    /// A cluster of a route that has several.
    WeightedEntry,
    /// A cluster that a route leads to, or one below an aggregate.
    Cluster,
    /// An address of a cluster.
    Endpoint,
    /// An RBAC policy of a server.
    Policy,
}

impl CoverageKind {
    /// All kinds.
    pub const ALL: [CoverageKind; 7] = [
        CoverageKind::FilterChain,
        CoverageKind::VirtualHost,
        CoverageKind::Route,
        CoverageKind::WeightedEntry,
        CoverageKind::Cluster,
        CoverageKind::Endpoint,
        CoverageKind::Policy,
    ];

    /// Returns the plural that reports use.
    pub const fn words(self) -> &'static str {
        match self {
            CoverageKind::FilterChain => "filter chains",
            CoverageKind::VirtualHost => "virtual hosts",
            CoverageKind::Route => "routes",
            CoverageKind::WeightedEntry => "weighted entries",
            CoverageKind::Cluster => "clusters",
            CoverageKind::Endpoint => "endpoints",
            CoverageKind::Policy => "policies",
        }
    }
}

/// The parts that there are, by name, and whether each was met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    items: BTreeMap<(CoverageKind, String), bool>,
}

impl Coverage {
    /// Adds what other tests have met.
    pub fn add(&mut self, other: Coverage) {
        for (item, is_met) in other.items {
            *self.items.entry(item).or_default() |= is_met;
        }
    }

    /// Returns the parts of a kind by name, and whether each was met.
    pub fn of(&self, kind: CoverageKind) -> impl Iterator<Item = (&str, bool)> + Clone {
        let items = self.items.iter().filter(move |((of, _), _)| *of == kind);
        items.map(|((_, name), is_met)| (name.as_str(), *is_met))
    }

    /// Returns how many parts were met, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.items.values().filter(|is_met| **is_met).count(), self.items.len())
    }

    pub(super) fn know(&mut self, kind: CoverageKind, name: String) {
        self.items.entry((kind, name)).or_default();
    }

    pub(super) fn meet(&mut self, kind: CoverageKind, name: String) {
        self.items.insert((kind, name), true);
    }

    /// Adds the parts of a configuration.
    pub(super) fn configuration(&mut self, selector: &Selector) {
        let config = selector.config();
        if !config.starts_at_cluster {
            for host in &config.route_config.virtual_hosts {
                let host_name = host_name(routes_name(config), host);
                self.know(CoverageKind::VirtualHost, host_name.clone());
                for route in &host.routes {
                    self.know(CoverageKind::Route, route_name(&host_name, route));
                }
            }
            let host = config.virtual_host().map(|host| host_name(routes_name(config), host));
            for (number, route) in selector.routes().iter().enumerate() {
                let route = route_name(host.as_deref().unwrap_or_default(), route);
                for (cluster, _) in weighted(selector, number) {
                    self.know(CoverageKind::WeightedEntry, entry_name(&route, cluster));
                }
            }
        }
        for name in config.clusters.keys() {
            self.know(CoverageKind::Cluster, name.clone());
            for endpoint in localities(config, name).flat_map(|locality| &locality.endpoints) {
                // Further addresses of an endpoint are other ways to the same backend.
                self.know(
                    CoverageKind::Endpoint,
                    endpoint_name(name, &endpoint.address.to_string()),
                );
            }
        }
    }

    /// Marks the parts that an RPC has met.
    pub(super) fn outcome(&mut self, outcome: &Outcome, selector: &Selector) {
        let config = selector.config();
        if let (false, Some(host)) = (config.starts_at_cluster, config.virtual_host()) {
            let host_name = host_name(routes_name(config), host);
            let routes = selector.routes().iter().enumerate();
            let mut taken = routes.filter(|(_, route)| Some(route.index) == outcome.route);
            if let Some((number, route)) = taken.next() {
                let route = route_name(&host_name, route);
                let cluster = outcome.cluster.as_deref().unwrap_or_default();
                if weighted(selector, number).any(|(name, _)| name == cluster) {
                    self.meet(CoverageKind::WeightedEntry, entry_name(&route, cluster));
                }
                self.meet(CoverageKind::Route, route);
            }
            self.meet(CoverageKind::VirtualHost, host_name);
        }
        if let Some(cluster) = outcome
            .cluster
            .as_deref()
            .filter(|cluster| config.clusters.contains_key(*cluster))
        {
            self.meet(CoverageKind::Cluster, cluster.to_owned());
        }
        if let Some(place) = &outcome.place {
            self.meet(CoverageKind::Cluster, place.cluster.to_string());
            if let Some(address) = outcome.attempts.last() {
                self.endpoint(&place.cluster, address, config);
            }
        }
    }

    fn endpoint(&mut self, cluster: &Arc<str>, address: &str, config: &XdsConfig) {
        let name = endpoint_name(cluster, address);
        if self.items.contains_key(&(CoverageKind::Endpoint, name.clone())) {
            self.meet(CoverageKind::Endpoint, name);
            return;
        }
        // The address may be a further one of an endpoint.
        let Ok(address) = address.parse::<SocketAddr>() else {
            return;
        };
        let mut all = localities(config, cluster).flat_map(|locality| &locality.endpoints);
        if let Some(endpoint) = all.find(|endpoint| endpoint.addresses().any(|one| one == address)) {
            self.meet(
                CoverageKind::Endpoint,
                endpoint_name(cluster, &endpoint.address.to_string()),
            );
        }
    }
}

/// Returns the clusters of a route that has several.
fn weighted(selector: &Selector, route: usize) -> impl Iterator<Item = (&str, u64)> {
    let several = selector.choices(route).count() > 1;
    let choices = selector.choices(route).filter(move |_| several);
    choices.filter_map(|(key, weight)| Some((key.strip_prefix(CLUSTER_PREFIX)?, weight)))
}

fn routes_name(config: &XdsConfig) -> &str {
    config.route_config_name.as_deref().unwrap_or(&config.listener_name)
}

/// Returns the name of a virtual host of some routes.
pub(super) fn host_name(routes: &str, host: &VirtualHost) -> String {
    format!("{routes} `{}`", host.name)
}

/// Returns the name of a route of the virtual host with this name.
pub(super) fn route_name(host: &str, route: &Route) -> String {
    match route.name.as_str() {
        "" => format!("{host} routes[{}]", route.index),
        name => format!("{host} routes[{}] `{name}`", route.index),
    }
}

fn entry_name(route: &str, cluster: &str) -> String {
    format!("{route} to `{cluster}`")
}

fn endpoint_name(cluster: &str, address: &str) -> String {
    format!("{cluster} {address}")
}
