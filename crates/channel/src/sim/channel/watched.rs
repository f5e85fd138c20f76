//! What the client of a channel watches: only of these it keeps a version that the server has no
//! more.

use std::collections::BTreeSet;

use crate::client::config::{ClusterState, XdsConfig};
use xdsctl_model::resource::ResourceType;

/// The resources that a channel watches, by type and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Watched(BTreeSet<(ResourceType, String)>);

impl Watched {
    /// What a channel with this configuration watches. Of two RouteConfigurations it is the one
    /// that is `awaited`.
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

    /// Watches these resources, too.
    pub fn add(&mut self, more: &[(ResourceType, String)]) {
        self.0.extend(more.iter().cloned());
    }

    /// These, and what was watched before.
    pub fn and(mut self, before: Option<Watched>) -> Watched {
        self.0.extend(before.into_iter().flat_map(|before| before.0));
        self
    }

    /// The same, of which a RouteConfiguration is the only one that is still watched.
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

    /// What is not watched any more.
    pub fn left_by(&self, now: &Watched) -> Vec<(ResourceType, String)> {
        self.0.difference(&now.0).cloned().collect()
    }
}
