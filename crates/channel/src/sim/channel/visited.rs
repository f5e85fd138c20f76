//! Which clusters grpc-go reaches. It leaves an aggregate cluster at the first child that has
//! failed, and neither watches nor waits for the children after it
//! (xdsdepmgr/xds_dependency_manager.go `populateAggregateClusterLocked`).

use std::collections::{BTreeMap, BTreeSet};

use super::Channel;
use crate::client::config::{ClusterState, XdsConfig};
use crate::client::graph::MAX_AGGREGATE_DEPTH;
use xdsctl_model::resource::ResourceType;
use xdsctl_model::resource::route::Route;

/// The state of a cluster with all that is below it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// All resources are there.
    Whole,
    /// The client waits for some of them.
    Awaited,
    /// The cluster fails, and the children after it in an aggregate cluster do not count.
    Failed,
}

struct ClusterWalk<'a> {
    channel: &'a Channel,
    config: &'a XdsConfig,
    missing: BTreeSet<&'a (ResourceType, String)>,
    /// What has become of the clusters below the root at hand, each of which is walked alone.
    seen: BTreeMap<String, Reached>,
    /// The clusters below all roots so far.
    visited: BTreeSet<String>,
    /// The resources for which clusters wait that have not failed.
    awaited: Vec<(ResourceType, String)>,
}

impl Channel {
    /// Removes from a configuration what the client does not reach from the clusters of the routes
    /// and from `wanted`. Returns what only the wanted clusters lack. A configuration does not wait
    /// for that, and has these clusters once they are whole (`maybeSendUpdateLocked`).
    pub(super) fn leave_unvisited(
        &self,
        config: &mut XdsConfig,
        wanted: &BTreeSet<String>,
    ) -> BTreeSet<(ResourceType, String)> {
        let mut walk = ClusterWalk {
            channel: self,
            config,
            missing: config.missing.iter().collect(),
            seen: BTreeMap::new(),
            visited: BTreeSet::new(),
            awaited: Vec::new(),
        };
        for root in config.routes().iter().flat_map(Route::clusters) {
            walk.visit_root(root);
        }
        let needed: BTreeSet<_> = walk.awaited.drain(..).collect();
        let partial: BTreeSet<_> = wanted
            .iter()
            .filter(|root| walk.visit_root(root) == Reached::Awaited)
            .collect();
        let (visited, awaited) = (walk.visited, walk.awaited);
        let awaited: BTreeSet<_> = awaited.into_iter().collect();
        config
            .clusters
            .retain(|name, _| visited.contains(name) && !partial.contains(name));
        config.missing.retain(|missing| {
            let is_of_cluster = matches!(missing.0, ResourceType::Cluster | ResourceType::Endpoints);
            !is_of_cluster || needed.contains(missing) || awaited.contains(missing)
        });
        awaited.difference(&needed).cloned().collect()
    }
}

impl ClusterWalk<'_> {
    fn visit_root(&mut self, name: &str) -> Reached {
        let reached = self.visit(name, 0);
        self.visited.extend(std::mem::take(&mut self.seen).into_keys());
        reached
    }

    fn visit(&mut self, name: &str, depth: usize) -> Reached {
        if depth >= MAX_AGGREGATE_DEPTH {
            return Reached::Failed;
        }
        if let Some(found) = self.seen.get(name) {
            return *found;
        }
        self.seen.insert(name.to_owned(), Reached::Whole);
        let found = self.find(name, depth);
        self.seen.insert(name.to_owned(), found);
        found
    }

    fn find(&mut self, name: &str, depth: usize) -> Reached {
        if let Some(ClusterState::Leaf(leaf)) = self.config.clusters.get(name) {
            let endpoints = leaf.cluster.discovery.eds_name(name);
            return self.wait_for(
                endpoints.map(|name| (ResourceType::Endpoints, name.to_owned())),
                Reached::Whole,
            );
        }
        let held = self.channel.client.resources.clusters.get(name);
        let Some(cluster) = held.and_then(|held| held.value()) else {
            let resource = (ResourceType::Cluster, name.to_owned());
            let since = self.channel.asked.get(&resource);
            let is_awaited = since.is_none_or(|since| self.channel.is_hoped_for(*since));
            return self.wait_for(Some(resource).filter(|_| is_awaited), Reached::Failed);
        };
        let before = self.awaited.len();
        let mut found = Reached::Whole;
        for child in cluster.discovery.children() {
            match self.visit(child, depth + 1) {
                Reached::Whole => {}
                Reached::Awaited => found = Reached::Awaited,
                Reached::Failed => {
                    self.awaited.truncate(before);
                    return Reached::Failed;
                }
            }
        }
        found
    }

    /// Waits for a resource if it is missing. If not, the result is `otherwise`.
    fn wait_for(&mut self, resource: Option<(ResourceType, String)>, otherwise: Reached) -> Reached {
        match resource.filter(|resource| self.missing.contains(resource)) {
            Some(resource) => {
                self.awaited.push(resource);
                Reached::Awaited
            }
            None => otherwise,
        }
    }
}
