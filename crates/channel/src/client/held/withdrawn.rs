//! Resources that the server took away and grpc-js-xds remembers, so that it does not notice when
//! they come back.
//!
//! Its xDS client tells the watchers that a Listener or Cluster is gone, and keeps the version
//! itself. It compares a new version with that one, and tells the watchers only if they differ
//! (xds-client.ts, `AdsResponseParser.parseResource`).

use super::{Cache, HeldResource, ResourceKind, Resources};
use crate::client::same::Compared;
use xdsctl_model::resource::{Listener, ResourceType};

/// A version that the server took away.
#[derive(Debug, Clone)]
pub(super) struct WithdrawnResource<T> {
    held: HeldResource<T>,
    /// A version that the server has again, and that is the same to the client.
    back: Option<HeldResource<T>>,
}

impl<T: ResourceKind + PartialEq> HeldResource<T> {
    /// Says whether two Listeners differ only in what the client does not read. The client compares
    /// the whole message of a Listener; of other resources it compares what it reads.
    fn differs_unread(&self, newer: &Self) -> bool {
        let bytes = |held: &Self| {
            let (store, origin) = held.version.as_ref()?.place.as_ref()?;
            Some(store.bytes(*origin, T::TYPE)?.0)
        };
        let both = || bytes(self).zip(bytes(newer));
        T::TYPE == ResourceType::Listener
            && self.value() == newer.value()
            && both().is_some_and(|(before, newer)| before != newer)
    }
}

impl<T: ResourceKind> Cache<T> {
    /// Takes away a resource that the client watches. Says whether the server had it.
    fn withdraw(&mut self, name: &str) -> bool {
        let key = self.names.key(name).into_owned();
        let held = self.held_mut().remove(&key);
        if let Some(known) = self.withdrawn.get_mut(&key) {
            return known.back.take().is_some() || held.is_some();
        }
        let was_there = held.is_some();
        if let Some(held) = held.filter(HeldResource::is_accepted) {
            self.withdrawn.insert(key, WithdrawnResource { held, back: None });
        }
        was_there
    }

    /// Forgets the withdrawn version: the client no longer watches the resource, and asks anew when
    /// it does.
    pub(super) fn stop_remembering(&mut self, name: &str) {
        let key = self.names.key(name).into_owned();
        if let Some(back) = self.withdrawn.remove(&key).and_then(|known| known.back) {
            self.held_mut().insert(key, back);
        }
    }
}

impl<T: ResourceKind + Compared> Cache<T> {
    /// Returns a new version, unless it is the same as the one that was taken away.
    pub(super) fn unheard(&mut self, key: &str, newer: HeldResource<T>) -> Option<HeldResource<T>> {
        let versions = self.versions;
        let Some(known) = self.withdrawn.get_mut(key) else {
            return Some(newer);
        };
        let both = known.held.value().zip(newer.value());
        let is_same = both.is_some_and(|(before, newer)| before.is_same(newer, versions));
        if is_same && !known.held.differs_unread(&newer) {
            known.back = Some(newer);
            return None;
        }
        if newer.is_accepted() {
            self.withdrawn.remove(key);
        }
        Some(newer)
    }
}

impl Cache<Listener> {
    /// Puts withdrawn Listeners with inline routes back in use: the client makes its configuration
    /// from them whenever another resource changes (`XdsDependencyManager.maybeSendUpdate`).
    pub(super) fn use_inline_routes(&mut self) {
        let is_inline = |known: &WithdrawnResource<Listener>| {
            let manager = known.held.value().and_then(|listener| listener.api());
            manager.is_some_and(|manager| manager.routes.inline().is_some())
        };
        let inline: Vec<String> = self
            .withdrawn
            .iter()
            .filter(|(_, known)| is_inline(known))
            .map(|(key, _)| key.clone())
            .collect();
        for key in inline {
            if let Some(known) = self.withdrawn.remove(&key) {
                self.held_mut().insert(key, known.held);
            }
        }
    }
}

impl Resources {
    /// Takes away a Listener or Cluster that the client watches and remembers. Says whether the
    /// server had it.
    pub fn withdraw(&mut self, resource_type: ResourceType, name: &str) -> bool {
        match resource_type {
            ResourceType::Listener => self.listeners.withdraw(name),
            ResourceType::Cluster => {
                let was_there = self.clusters.withdraw(name);
                self.listeners.use_inline_routes();
                was_there
            }
            ResourceType::RouteConfiguration | ResourceType::Endpoints => {
                let was_there = self.contains(resource_type, name);
                self.remove(resource_type, name);
                was_there
            }
        }
    }
}
