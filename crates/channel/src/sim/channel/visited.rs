//! What grpc-go comes to when it goes through its clusters: it leaves an aggregate cluster at the first child that has failed, and
//! neither watches nor waits for those behind it (xdsdepmgr/xds_dependency_manager.go `populateAggregateClusterLocked`).

use std::collections::{BTreeMap, BTreeSet};

use super::{Channel, RESOURCE_TIMEOUT_MS};
use crate::client::config::{ClusterState, XdsConfig};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::resource::route::Route;

/// Aggregate clusters below each other at most.
const MAX_DEPTH: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Whole,
    Awaited,
    Failed,
}

struct Walk<'a> {
    channel: &'a Channel,
    config: &'a XdsConfig,
    missing: BTreeSet<&'a (ResourceType, String)>,
    seen: BTreeMap<String, Found>,
    /// What the clusters wait for that have not failed.
    awaited: Vec<(ResourceType, String)>,
}

impl Channel {
    /// Takes out of a configuration what the client does not come to from the clusters of the routes and those that are wanted.
    pub(super) fn leave_unvisited(&self, config: &mut XdsConfig, wanted: &BTreeSet<String>) {
        let routes = config.virtual_host().into_iter().flat_map(|host| &host.routes);
        let roots = routes
            .flat_map(Route::clusters)
            .chain(wanted.iter().map(String::as_str));
        let mut walk = Walk {
            channel: self,
            config,
            missing: config.missing.iter().collect(),
            seen: BTreeMap::new(),
            awaited: Vec::new(),
        };
        for root in roots {
            walk.visit(root, 0);
        }
        let seen = walk.seen;
        let awaited: BTreeSet<_> = walk.awaited.into_iter().collect();
        config.clusters.retain(|name, _| seen.contains_key(name));
        config.missing.retain(|missing| {
            let is_of_cluster = matches!(missing.0, ResourceType::Cluster | ResourceType::Endpoints);
            !is_of_cluster || awaited.contains(missing)
        });
    }

    fn is_given_up(&self, resource: &(ResourceType, String)) -> bool {
        let since = self.asked.get(resource);
        since.is_some_and(|since| self.runtime.now - since >= RESOURCE_TIMEOUT_MS)
    }
}

impl Walk<'_> {
    fn visit(&mut self, name: &str, depth: usize) -> Found {
        if depth >= MAX_DEPTH {
            return Found::Failed;
        }
        if let Some(found) = self.seen.get(name) {
            return *found;
        }
        self.seen.insert(name.to_owned(), Found::Whole);
        let found = self.find(name, depth);
        self.seen.insert(name.to_owned(), found);
        found
    }

    fn find(&mut self, name: &str, depth: usize) -> Found {
        if let Some(ClusterState::Leaf(leaf)) = self.config.clusters.get(name) {
            let endpoints = leaf.cluster.discovery.eds_name(name);
            return self.wait_for(
                endpoints.map(|name| (ResourceType::Endpoints, name.to_owned())),
                Found::Whole,
            );
        }
        let held = self.channel.client.resources.clusters.get(name);
        let Some(cluster) = held.and_then(|held| held.value()) else {
            let resource = (ResourceType::Cluster, name.to_owned());
            let is_awaited = !self.channel.is_given_up(&resource);
            return self.wait_for(Some(resource).filter(|_| is_awaited), Found::Failed);
        };
        let before = self.awaited.len();
        let mut found = Found::Whole;
        for child in cluster.discovery.children() {
            match self.visit(child, depth + 1) {
                Found::Whole => {}
                Found::Awaited => found = Found::Awaited,
                Found::Failed => {
                    self.awaited.truncate(before);
                    return Found::Failed;
                }
            }
        }
        found
    }

    /// Waits for a resource if it is missing.
    fn wait_for(&mut self, resource: Option<(ResourceType, String)>, otherwise: Found) -> Found {
        match resource.filter(|resource| self.missing.contains(resource)) {
            Some(resource) => {
                self.awaited.push(resource);
                Found::Awaited
            }
            None => otherwise,
        }
    }
}
