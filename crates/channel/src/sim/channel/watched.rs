//! What the client of a channel watches. Only of these resources it keeps a version that the server
//! no longer has.

use std::collections::BTreeSet;

use crate::client::config::{ClusterState, XdsConfig};
use xdsctl_model::resource::ResourceType;

/// The resources that a channel watches, by type and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Watched(BTreeSet<(ResourceType, String)>);

impl Watched {
    /// The resources that a channel with this configuration watches. If it waits for other routes,
    /// it watches those, `awaited`, and not the ones in use.
    pub fn of(config: &XdsConfig, awaited: Option<&(ResourceType, String)>) -> Watched {
        let mut all = BTreeSet::new();
        if !config.listener_name.is_empty() {
            all.insert((ResourceType::Listener, config.listener_name.clone()));
        }
        match (awaited, &config.route_config_name) {
            (Some(awaited), _) => all.extend([awaited.clone()]),
            (None, Some(name)) => all.extend([(ResourceType::RouteConfiguration, name.clone())]),
            (None, None) => {}
        }
        for (name, state) in &config.clusters {
            all.insert((ResourceType::Cluster, name.clone()));
            match state {
                ClusterState::Leaf(leaf) => {
                    let endpoints = leaf.cluster.discovery.eds_name(name);
                    all.extend(endpoints.map(|name| (ResourceType::Endpoints, name.to_owned())));
                }
                ClusterState::Aggregate(aggregate) => {
                    let children = aggregate.cluster.discovery.children().iter();
                    all.extend(children.map(|name| (ResourceType::Cluster, name.clone())));
                }
                ClusterState::Error(_) => {}
            }
        }
        all.extend(config.missing.iter().cloned());
        Watched(all)
    }

    /// Adds resources that are watched too.
    pub fn add(&mut self, more: &[(ResourceType, String)]) {
        self.0.extend(more.iter().cloned());
    }

    /// Adds what was watched before.
    pub fn and(mut self, before: Option<Watched>) -> Watched {
        self.0.extend(before.into_iter().flat_map(|before| before.0));
        self
    }

    /// The resources together with `entry`. If that has a RouteConfiguration, no other one is
    /// watched any more.
    pub fn with_entry(&self, entry: &[(ResourceType, String)]) -> Watched {
        let is_routes = |(kind, _): &&(ResourceType, String)| *kind == ResourceType::RouteConfiguration;
        let replaces = entry.iter().any(|resource| is_routes(&resource));
        let kept = self.0.iter().filter(|resource| !replaces || !is_routes(resource));
        Watched(kept.chain(entry).cloned().collect())
    }

    /// Says whether a resource is watched.
    pub fn has(&self, resource_type: ResourceType, name: &str) -> bool {
        self.0.contains(&(resource_type, name.to_owned()))
    }

    /// The resources that are not in `now`, and so no longer watched.
    pub fn left_by(&self, now: &Watched) -> Vec<(ResourceType, String)> {
        self.0.difference(&now.0).cloned().collect()
    }
}
