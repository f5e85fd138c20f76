//! All resources of one world, as a client would hold them, reduced to what references need.
//!
//! A [`World`] keeps the facts of each resource ([`Facts`]): names, references, and what cannot
//! work if it is used. The resources themselves are dropped after validation, so a large dump needs
//! little memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::checked::{Checked, ValidationInput};
use super::entries::Entries;
use super::facts::{ClusterFacts, Facts};
use super::graph;
use super::unmet::{Unmet, UnmetEnd};
use xdsctl_clients::core::convert::resource_name::{NameComparison, NameFault};
use xdsctl_document::envelope::WorldId;
use xdsctl_document::source::SourceId;
use xdsctl_model::profile::{Client, ServerFacts};
use xdsctl_model::resource::ResourceType;

/// A resource's place in the report: its number in the order of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub usize);

/// One resource of a world.
#[derive(Debug, Clone)]
pub struct WorldEntry {
    /// The version that is in use, or the last rejected one if none is.
    pub id: ResourceId,
    /// The facts; `None` if the client rejects it.
    pub(super) facts: Option<Arc<Facts>>,
    /// Whether it is unknown if the client rejects it. If so, it counts as rejected.
    pub(super) is_unknown: bool,
    /// The last rejected version, if it is newer than the one in use. It equals `id` if a live
    /// client shows the version in use and says that it has rejected an update.
    pub rejected: Option<ResourceId>,
}

/// The resources that belong together: of one file, one client scope, or all inputs.
///
/// They are kept under the keys of their names ([`NameComparison::key`]), so a name in any spelling finds its resource.
#[derive(Debug)]
pub struct World {
    /// The number of the world.
    pub id: WorldId,
    /// All its resources in the order of the documents, including those that are not held.
    pub members: Vec<usize>,
    /// The client that holds the resources.
    client: Client,
    names: NameComparison,
    server: ServerFacts,
    entries: BTreeMap<ResourceType, Entries>,
    /// If only some files were named: the document of each resource, and the types that each
    /// document has.
    partial: Option<Partial>,
}

#[derive(Debug, Default)]
struct Partial {
    documents: BTreeMap<ResourceId, SourceId>,
    types: BTreeSet<(SourceId, ResourceType)>,
}

impl WorldEntry {
    /// The facts; `None` if the client rejects the resource.
    pub fn facts(&self) -> Option<&Facts> {
        self.facts.as_deref()
    }

    /// Says whether it is known that the client rejects it.
    pub const fn is_rejected(&self) -> bool {
        self.facts.is_none() && !self.is_unknown
    }

    /// Says whether the client accepts it.
    pub const fn is_accepted(&self) -> bool {
        self.facts.is_some()
    }
}

impl World {
    /// A world without resources.
    pub(super) fn new(id: WorldId, against: &ValidationInput<'_>) -> World {
        World {
            id,
            members: Vec::new(),
            client: against.profile.client(),
            names: NameComparison::of(against.profile),
            server: against.server.clone(),
            entries: BTreeMap::new(),
            partial: None,
        }
    }

    /// The client that holds the resources.
    pub const fn client(&self) -> Client {
        self.client
    }

    /// Returns how RPCs end if the world lacks what they need.
    pub fn end_without(&self, unmet: Unmet) -> UnmetEnd {
        UnmetEnd::of(unmet, self.client)
    }

    /// Notes that only some of the files that may be of this world were named.
    pub(super) fn mark_partial(&mut self, members: &[usize], resources: &[Checked]) {
        let mut partial = Partial::default();
        for (&number, checked) in members
            .iter()
            .filter_map(|number| Some((number, resources.get(*number)?)))
        {
            partial.documents.insert(ResourceId(number), checked.origin.source);
            let types = checked
                .resource_type
                .map(|resource_type| (checked.origin.source, resource_type));
            partial.types.extend(types);
        }
        self.partial = Some(partial);
    }

    /// Says whether files that were not named may have what is missing.
    pub const fn may_go_on(&self) -> bool {
        self.partial.is_some()
    }

    /// Says whether a resource to which `holder` refers should be in the world. If the world has no
    /// resource of the type, all of them may be elsewhere. If only some files were named, this is
    /// decided for each file.
    pub fn expects(&self, holder: ResourceId, resource_type: ResourceType) -> bool {
        match &self.partial {
            None => self.has(resource_type),
            Some(partial) => {
                let document = partial.documents.get(&holder);
                document.is_some_and(|document| partial.types.contains(&(*document, resource_type)))
            }
        }
    }

    /// Adds a resource under the key of its name, and replaces one with the same key.
    pub(super) fn insert(&mut self, resource_type: ResourceType, name: &str, entry: WorldEntry) {
        let key = self.names.key(name);
        self.entries.entry(resource_type).or_default().insert(&key, entry);
    }

    pub(super) fn get_mut(&mut self, resource_type: ResourceType, name: &str) -> Option<&mut WorldEntry> {
        self.entries.get_mut(&resource_type)?.get_mut(&self.names.key(name))
    }

    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut WorldEntry> {
        self.entries.values_mut().flat_map(Entries::iter_mut)
    }

    /// Checks whether the client can ask for a resource by this name.
    ///
    /// # Errors
    /// Why it cannot: whatever refers to the name fails at once.
    pub fn ask(&self, resource_type: ResourceType, name: &str) -> Result<(), NameFault> {
        self.names.ask(name, resource_type, &self.server)
    }

    /// The resource of this type and name.
    pub fn get(&self, resource_type: ResourceType, name: &str) -> Option<&WorldEntry> {
        self.entries.get(&resource_type)?.get(&self.names.key(name))
    }

    /// Says whether there is any resource of this type, accepted or not.
    pub fn has(&self, resource_type: ResourceType) -> bool {
        self.entries.contains_key(&resource_type)
    }

    /// All resources of a type, by the keys of their names.
    pub fn all(&self, resource_type: ResourceType) -> impl Iterator<Item = (&str, &WorldEntry)> {
        self.entries.get(&resource_type).into_iter().flat_map(Entries::sorted)
    }

    /// Number of resources.
    pub fn len(&self) -> usize {
        self.entries.values().map(Entries::len).sum()
    }

    /// Says whether there is no resource.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The facts of an accepted cluster.
    pub fn cluster(&self, name: &str) -> Option<&ClusterFacts> {
        match self.get(ResourceType::Cluster, name)?.facts()? {
            Facts::Cluster(facts) => Some(facts),
            _ => None,
        }
    }

    /// What the graph needs to know of a cluster.
    pub fn known(&self, name: &str) -> graph::KnownCluster<'_> {
        match self.get(ResourceType::Cluster, name) {
            _ if self.ask(ResourceType::Cluster, name).is_err() => graph::KnownCluster::Rejected,
            None => graph::KnownCluster::Missing,
            Some(_) => match self.cluster(name) {
                None => graph::KnownCluster::Rejected,
                Some(ClusterFacts::Aggregate { children }) => graph::KnownCluster::Aggregate(children),
                Some(ClusterFacts::Eds { .. } | ClusterFacts::LogicalDns { .. }) => graph::KnownCluster::Leaf,
            },
        }
    }
}
