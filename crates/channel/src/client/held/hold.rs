//! Makes what the client of each world holds, from the documents that were read.

use std::sync::Arc;

use super::{Resources, Store};
use crate::client::checked::Checked;
use crate::client::same::VersionComparison;
use crate::client::world::World;
use crate::client::worlds::{WorldSet, name_of};
use xdsctl_clients::core::convert::resource_name::NameComparison;
use xdsctl_document::envelope::{WorldId, WorldName};
use xdsctl_model::resource::ResourceType;

impl Resources {
    /// Collects what the client of a world holds.
    fn of(world: &World, resources: &mut [Checked], store: &Arc<Store>) -> Resources {
        let mut held = Resources::new(
            NameComparison::of(&store.profile),
            VersionComparison::of(&store.profile),
        );
        for resource_type in ResourceType::ALL {
            for (key, entry) in world.all(resource_type) {
                held.of_type_mut(resource_type).add(key, entry, resources, store);
            }
        }
        for &number in &world.members {
            if let Some(checked) = resources.get(number)
                && let Some(resource_type) = checked.resource_type
                && checked.is_removed
                && !held.contains(resource_type, &checked.name)
            {
                held.removed.insert((resource_type, name_of(checked, number)));
            }
        }
        held
    }
}

impl WorldSet {
    /// Returns what the client of each world holds; worlds that hold nothing are left out.
    ///
    /// `store` has the documents that were read.
    pub fn hold(mut self, store: &Arc<Store>) -> Vec<(WorldName, Resources)> {
        let mut all = Vec::new();
        for world in std::mem::take(&mut self.worlds) {
            let resources = Resources::of(&world, &mut self.resources, store);
            let WorldId(number) = world.id;
            if let Some(name) = self.names.get(number as usize)
                && !resources.is_empty()
            {
                all.push((name.clone(), resources));
            }
        }
        all
    }
}
