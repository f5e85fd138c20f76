//! All resources of one world, as a client would hold them, reduced to what references need.
//!
//! A [`World`] keeps the graph facts of each resource ([`Facts`]): names, references, what cannot work if it is used. The
//! resources themselves are dropped after validation, so that a large dump needs little memory.

use std::collections::BTreeMap;

use super::checked::Circumstances;
use super::facts::{ClusterFacts, Facts};
use super::graph;
use crate::convert::resource_name::{NameFault, Names};
use crate::envelope::WorldId;
use crate::model::ResourceType;
use crate::profile::ServerFacts;

/// A resource's place in the report: its number in the order of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub usize);

/// One resource of a world.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The version that is in use, or the last rejected one if none is.
    pub id: ResourceId,
    /// What is known of it; `None` when the client rejects it.
    pub facts: Option<Facts>,
    /// The last rejected version, if it is newer than the one in use. It is that one where a live client shows what it
    /// uses and says that it has rejected an update.
    pub rejected: Option<ResourceId>,
}

/// The resources that belong together: of one file, one client scope, or all inputs.
///
/// They are kept under the keys of their names ([`Names::key`]), so a name in any spelling finds its resource.
#[derive(Debug)]
pub struct World {
    /// Which one it is.
    pub id: WorldId,
    /// All its resources in the order of the documents, those included that are not held.
    pub members: Vec<usize>,
    names: Names,
    server: ServerFacts,
    entries: BTreeMap<ResourceType, BTreeMap<String, Entry>>,
}

impl World {
    /// A world without resources.
    pub(super) fn new(id: WorldId, circumstances: &Circumstances<'_>) -> World {
        World {
            id,
            members: Vec::new(),
            names: Names::of(circumstances.profile),
            server: circumstances.server.clone(),
            entries: BTreeMap::new(),
        }
    }

    /// Adds a resource.
    pub(super) fn insert(&mut self, resource_type: ResourceType, name: &str, entry: Entry) {
        let key = self.names.key(name).into_owned();
        self.entries.entry(resource_type).or_default().insert(key, entry);
    }

    pub(super) fn get_mut(&mut self, resource_type: ResourceType, name: &str) -> Option<&mut Entry> {
        self.entries.get_mut(&resource_type)?.get_mut(&*self.names.key(name))
    }

    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.values_mut().flat_map(BTreeMap::values_mut)
    }

    /// Whether the client can ask for a resource by this name.
    ///
    /// # Errors
    /// Why it cannot: whatever refers to the name fails at once.
    pub fn ask(&self, resource_type: ResourceType, name: &str) -> Result<(), NameFault> {
        self.names.ask(name, resource_type, &self.server)
    }

    /// The resource of this type and name.
    pub fn get(&self, resource_type: ResourceType, name: &str) -> Option<&Entry> {
        self.entries.get(&resource_type)?.get(&*self.names.key(name))
    }

    /// Says whether there is any resource of this type, accepted or not.
    pub fn has(&self, resource_type: ResourceType) -> bool {
        self.entries
            .get(&resource_type)
            .is_some_and(|of_type| !of_type.is_empty())
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
            _ if self.ask(ResourceType::Cluster, name).is_err() => graph::Known::Rejected,
            None => graph::Known::Missing,
            Some(_) => match self.cluster(name) {
                None => graph::Known::Rejected,
                Some(ClusterFacts::Aggregate { children }) => graph::Known::Aggregate(children),
                Some(ClusterFacts::Eds { .. } | ClusterFacts::LogicalDns { .. }) => graph::Known::Leaf,
            },
        }
    }
}
