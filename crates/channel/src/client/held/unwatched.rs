//! The client keeps nothing of a resource that it does not watch (C-core xds_client.cc,
//! MaybeRemoveUnsubscribedCacheEntriesForTypeLocked). When it asks again, it gets what the server
//! has by then.

use super::{Cache, ResourceKind, Resources};
use xdsctl_model::resource::ResourceType;

impl<T: ResourceKind> Cache<T> {
    fn withhold(&mut self, name: &str) {
        let key = self.names.key(name).into_owned();
        if let Some(held) = self.held_mut().get_mut(&key) {
            held.is_gone = true;
        }
    }

    fn forget(&mut self, name: &str) {
        self.stop_remembering(name);
        let Some(held) = self.get(name) else { return };
        let (is_gone, is_rejected) = (held.is_gone, held.rejected.is_some());
        let has_earlier = held.is_accepted();
        if is_gone {
            self.remove(name);
        } else if is_rejected && has_earlier {
            let key = self.names.key(name).into_owned();
            if let Some(held) = self.held_mut().get_mut(&key) {
                held.version = None;
            }
        }
    }
}

impl Resources {
    /// Notes that the server no longer has a resource. A client that watches it is not told.
    pub fn withhold(&mut self, resource_type: ResourceType, name: &str) {
        match resource_type {
            ResourceType::Listener => self.listeners.withhold(name),
            ResourceType::RouteConfiguration => self.route_configs.withhold(name),
            ResourceType::Cluster => self.clusters.withhold(name),
            ResourceType::Endpoints => self.endpoints.withhold(name),
        }
    }

    /// Notes that the client no longer watches a resource. What is left is what the server has,
    /// which may be a version that the client rejects.
    pub fn forget(&mut self, resource_type: ResourceType, name: &str) {
        match resource_type {
            ResourceType::Listener => self.listeners.forget(name),
            ResourceType::RouteConfiguration => self.route_configs.forget(name),
            ResourceType::Cluster => self.clusters.forget(name),
            ResourceType::Endpoints => self.endpoints.forget(name),
        }
    }
}
