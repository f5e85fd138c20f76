//! All resources of one world, as a client would hold them, reduced to what references need.
//!
//! A [`World`] keeps the graph facts of each resource ([`Facts`]): names, references, what cannot work if it is used. The
//! resources themselves are dropped after validation, so that a large dump needs little memory. [`graph`] resolves
//! clusters as the client does.
//!
//! Where values are needed, for the tree of one channel and its picks, [`resources`] keeps them and [`resolve`] follows
//! them from a [`target`] to the endpoints.

pub mod config;
mod facts;
pub mod graph;
mod policy;
pub mod resolve;
pub mod resources;
pub mod retry;
pub mod target;

use std::collections::BTreeMap;

pub use facts::{
    ChainFacts, ClusterFacts, Destination, EndpointsFacts, Facts, FilterFacts, ListenerFacts, OverrideFacts,
    RouteFacts, RouteReference, child_path, eds_path, filter_path, inline_routes_path, non_forwarding_path, rds_path,
};
pub use policy::{PolicyFacts, PolicyKind};

use crate::convert::resource_name::Names;
use crate::model::ResourceType;

/// A resource's place in the report: its number in the order of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub usize);

/// One resource of a world.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Where it stands in the report.
    pub id: ResourceId,
    /// What is known of it; `None` when the client rejects it.
    pub facts: Option<Facts>,
}

/// The resources that belong together: of one file, one client scope, or all inputs.
///
/// They are kept under the keys of their names ([`Names::key`]), so a name in any spelling finds its resource.
#[derive(Debug, Default)]
pub struct World {
    names: Names,
    entries: BTreeMap<ResourceType, BTreeMap<String, Entry>>,
}

impl World {
    /// A world without resources, whose names are compared so.
    pub fn new(names: Names) -> World {
        World {
            names,
            entries: BTreeMap::new(),
        }
    }

    /// Adds a resource; returns the one of the same type and name that it replaces.
    pub fn insert(&mut self, resource_type: ResourceType, name: &str, entry: Entry) -> Option<Entry> {
        let key = self.names.key(name).into_owned();
        self.entries.entry(resource_type).or_default().insert(key, entry)
    }

    /// The resource of this type and name.
    pub fn get(&self, resource_type: ResourceType, name: &str) -> Option<&Entry> {
        self.entries.get(&resource_type)?.get(&*self.names.key(name))
    }

    /// Says whether there is any resource of this type, accepted or not.
    pub fn has(&self, resource_type: ResourceType) -> bool {
        self.entries.get(&resource_type).is_some_and(|m| !m.is_empty())
    }

    /// All resources of a type, by the keys of their names.
    pub fn all(&self, resource_type: ResourceType) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries
            .get(&resource_type)
            .into_iter()
            .flatten()
            .map(|(name, entry)| (name.as_str(), entry))
    }

    /// Number of resources.
    pub fn len(&self) -> usize {
        self.entries.values().map(BTreeMap::len).sum()
    }

    /// Says whether there is no resource.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The facts of an accepted cluster.
    pub fn cluster(&self, name: &str) -> Option<&ClusterFacts> {
        match self.get(ResourceType::Cluster, name)?.facts.as_ref()? {
            Facts::Cluster(facts) => Some(facts),
            _ => None,
        }
    }

    /// What the graph needs to know of a cluster.
    pub fn known(&self, name: &str) -> graph::Known<'_> {
        match self.get(ResourceType::Cluster, name) {
            None => graph::Known::Missing,
            Some(_) => match self.cluster(name) {
                None => graph::Known::Rejected,
                Some(ClusterFacts::Aggregate { children }) => graph::Known::Aggregate(children),
                Some(ClusterFacts::Eds { .. } | ClusterFacts::LogicalDns { .. }) => graph::Known::Leaf,
            },
        }
    }
}
