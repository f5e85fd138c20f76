//! What is done with resources whatever their type.

use std::sync::{Arc, OnceLock};

use super::{
    AcceptedVersion, Cache, Gist, HeldResource, KeptValue, Noted, Rejected, Rejection, ResourceKind, Resources, Store,
};
use crate::client::checked::Checked;
use crate::client::world::{ResourceId, WorldEntry};
use xdsctl_model::resource::ResourceType;

/// What is done with the resources of any of the four types.
pub(super) trait AnyCache {
    /// How many resources there are, rejected ones included.
    fn len(&self) -> usize;

    /// Says whether there is a resource of this name, accepted or not.
    fn contains(&self, name: &str) -> bool;

    /// The resource with this key, if it is rejected.
    fn rejection(&self, key: &str) -> Option<Rejected<'_>>;

    /// The rejected resources.
    fn rejected(&self) -> Vec<Rejected<'_>>;

    /// Adds what the client holds of an entry of its world.
    fn add(&mut self, key: &str, entry: &WorldEntry, resources: &mut [Checked], store: &Arc<Store>);

    fn retain(&mut self, keep: &dyn Fn(ResourceType, &str) -> bool);

    fn remove(&mut self, name: &str);

    /// Notes that the server no longer has a resource.
    fn withhold(&mut self, name: &str);

    /// Notes that the client no longer watches a resource.
    fn forget(&mut self, name: &str);
}

impl<T: ResourceKind> AnyCache for Cache<T> {
    fn len(&self) -> usize {
        self.held.len()
    }

    fn contains(&self, name: &str) -> bool {
        self.contains_key(name)
    }

    fn rejection(&self, key: &str) -> Option<Rejected<'_>> {
        let (name, held) = self.held.get_key_value(key)?;
        Rejected::of(name, held)
    }

    fn rejected(&self) -> Vec<Rejected<'_>> {
        self.iter()
            .filter_map(|(name, held)| Rejected::of(name, held))
            .collect()
    }

    fn add(&mut self, key: &str, entry: &WorldEntry, resources: &mut [Checked], store: &Arc<Store>) {
        let ResourceId(number) = entry.id;
        let mut held = HeldResource::default();
        if let Some(checked) = resources.get_mut(number)
            && let Some(facts) = entry.facts()
        {
            held.gist = Gist::of(facts);
            let value = checked.value.take().and_then(|value| T::of(*value));
            // A change of endpoints begins with their bytes, and Listeners may be compared by their
            // bytes.
            let is_read_again = value.is_none() || matches!(T::TYPE, ResourceType::Endpoints | ResourceType::Listener);
            let kept = value.map(|value| KeptValue {
                value: Some(Arc::new(value)),
                noted: Noted::of(&checked.diagnostics),
            });
            held.version = Some(AcceptedVersion {
                kept: Arc::new(kept.map_or_else(OnceLock::new, OnceLock::from)),
                place: is_read_again.then(|| (Arc::clone(store), checked.origin)),
                edited: None,
            });
        }
        let rejected = entry.rejected.and_then(|ResourceId(number)| resources.get(number));
        held.rejected = rejected.map(Rejection::of);
        self.held_mut().insert(key.to_owned(), held);
    }

    fn retain(&mut self, keep: &dyn Fn(ResourceType, &str) -> bool) {
        let kept = self.held.iter().filter(|(key, _)| keep(T::TYPE, key));
        self.held = Arc::new(kept.map(|(key, held)| (key.clone(), held.clone())).collect());
    }

    fn remove(&mut self, name: &str) {
        let key = self.names.key(name).into_owned();
        self.held_mut().remove(&key);
    }

    fn withhold(&mut self, name: &str) {
        if let Some(held) = self.get_mut(name) {
            held.is_gone = true;
        }
    }

    fn forget(&mut self, name: &str) {
        self.stop_remembering(name);
        let Some(held) = self.get(name) else { return };
        let has_earlier = held.rejected.is_some() && held.is_accepted();
        if held.is_gone {
            self.remove(name);
        } else if has_earlier && let Some(held) = self.get_mut(name) {
            held.version = None;
        }
    }
}

impl Resources {
    /// The resources of one type.
    pub(super) fn of_type(&self, resource_type: ResourceType) -> &dyn AnyCache {
        match resource_type {
            ResourceType::Listener => &self.listeners,
            ResourceType::RouteConfiguration => &self.route_configs,
            ResourceType::Cluster => &self.clusters,
            ResourceType::Endpoints => &self.endpoints,
        }
    }

    pub(super) fn of_type_mut(&mut self, resource_type: ResourceType) -> &mut dyn AnyCache {
        match resource_type {
            ResourceType::Listener => &mut self.listeners,
            ResourceType::RouteConfiguration => &mut self.route_configs,
            ResourceType::Cluster => &mut self.clusters,
            ResourceType::Endpoints => &mut self.endpoints,
        }
    }

    /// How many resources there are, rejected ones included.
    pub fn count(&self) -> usize {
        ResourceType::ALL.into_iter().map(|of| self.of_type(of).len()).sum()
    }

    /// Removes a resource, as a server that no longer sends a Listener or Cluster does.
    pub fn remove(&mut self, resource_type: ResourceType, name: &str) {
        self.of_type_mut(resource_type).remove(name);
    }

    /// Notes that the server no longer has a resource. A client that watches it is not told.
    pub fn withhold(&mut self, resource_type: ResourceType, name: &str) {
        self.of_type_mut(resource_type).withhold(name);
    }

    /// Notes that the client no longer watches a resource, of which it keeps nothing (C-core
    /// xds_client.cc, MaybeRemoveUnsubscribedCacheEntriesForTypeLocked). What is left is what the
    /// server has, and what the client gets when it asks again. It may be a version that the client
    /// rejects.
    pub fn forget(&mut self, resource_type: ResourceType, name: &str) {
        self.of_type_mut(resource_type).forget(name);
    }

    /// Keeps only the resources that `keep` accepts, by type and key.
    pub fn retain(&mut self, keep: impl Fn(ResourceType, &str) -> bool) {
        ResourceType::ALL
            .into_iter()
            .for_each(|of| self.of_type_mut(of).retain(&keep));
    }

    /// Says whether there is a resource of this name, accepted or not.
    pub fn contains(&self, resource_type: ResourceType, name: &str) -> bool {
        self.of_type(resource_type).contains(name)
    }

    /// Says whether there are no resources, not even rejected ones.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }
}
