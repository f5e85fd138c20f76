//! Which resources of a world are in use: what a client would ask for, starting at the listeners.
//!
//! A cluster is used when a route of a client's listener names it, or an aggregate that is used. Where a world holds no
//! listener and no route at all, nothing can be said and everything counts as used.

use std::collections::{BTreeSet, HashSet};

use crate::client::{ClusterFacts, Facts, ListenerFacts, ResourceId, RouteFacts, World};
use crate::model::ResourceType;

/// The clusters in use, and the virtual hosts that use them.
#[derive(Debug, Default)]
pub struct Usage<'w> {
    /// `None`: everything counts as used. Looked up only.
    clusters: Option<HashSet<&'w str>>,
    /// Route configurations in use: the resource that holds them, whether inline in a listener, and their facts.
    pub routes: Vec<(ResourceId, bool, &'w RouteFacts)>,
}

impl<'w> Usage<'w> {
    /// Finds out what is in use.
    ///
    /// Without a client's listener all RouteConfigurations count; with a cluster specifier plugin in use all clusters do.
    pub fn of(world: &'w World) -> Usage<'w> {
        let routes = routes_in_use(world);
        let has_entry = world.has(ResourceType::Listener) || world.has(ResourceType::RouteConfiguration);
        if !has_entry || routes.iter().any(|(_, _, facts)| facts.has_plugin) {
            return Usage { clusters: None, routes };
        }
        let mut used = HashSet::new();
        let mut open: Vec<&str> = routes
            .iter()
            .flat_map(|(_, _, facts)| facts.virtual_hosts.iter().flatten())
            .map(|reference| reference.cluster.as_str())
            .collect();
        while let Some(name) = open.pop() {
            if !used.insert(name) {
                continue;
            }
            if let Some(ClusterFacts::Aggregate { children }) = world.cluster(name) {
                open.extend(children.iter().map(String::as_str));
            }
        }
        Usage {
            clusters: Some(used),
            routes,
        }
    }

    /// Says whether an RPC can get to the cluster.
    pub fn uses_cluster(&self, name: &str) -> bool {
        self.clusters.as_ref().is_none_or(|used| used.contains(name))
    }

    /// Says whether the world shows who uses what.
    pub fn is_known(&self) -> bool {
        self.clusters.is_some()
    }
}

fn routes_in_use(world: &World) -> Vec<(ResourceId, bool, &RouteFacts)> {
    let mut routes = Vec::new();
    let mut named = BTreeSet::new();
    let mut has_client = false;
    for (_, entry) in world.all(ResourceType::Listener) {
        match &entry.facts {
            Some(Facts::Listener(ListenerFacts::Rds(name, _))) => {
                has_client = true;
                named.insert(name.as_str());
            }
            Some(Facts::Listener(ListenerFacts::Inline(facts, _))) => {
                has_client = true;
                routes.push((entry.id, true, facts));
            }
            _ => {}
        }
    }
    for (name, entry) in world.all(ResourceType::RouteConfiguration) {
        if let Some(Facts::Routes(facts)) = &entry.facts
            && (!has_client || named.contains(name))
        {
            routes.push((entry.id, false, facts));
        }
    }
    routes
}
