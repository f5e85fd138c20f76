//! The resources of one type in a world, by the keys of their names.
//!
//! Each resource is looked up many times, and thousands of names begin alike. So keys are hashed,
//! and sorted only when they are first iterated.

use std::sync::{Arc, OnceLock};

use foldhash::HashMap;

use super::world::WorldEntry;

#[derive(Debug, Default)]
pub(super) struct Entries {
    /// The resources, in the order in which they came.
    entries: Vec<(Arc<str>, WorldEntry)>,
    places: HashMap<Arc<str>, usize>,
    /// The indices of `entries`, sorted by key.
    order: OnceLock<Vec<usize>>,
}

impl Entries {
    /// Adds a resource, and replaces one with the same key.
    pub(super) fn insert(&mut self, key: &str, entry: WorldEntry) {
        if let Some(known) = self.get_mut(key) {
            *known = entry;
            return;
        }
        let key: Arc<str> = key.into();
        self.places.insert(Arc::clone(&key), self.entries.len());
        self.entries.push((key, entry));
        self.order = OnceLock::new();
    }

    pub(super) fn get(&self, key: &str) -> Option<&WorldEntry> {
        Some(&self.entries.get(*self.places.get(key)?)?.1)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut WorldEntry> {
        Some(&mut self.entries.get_mut(*self.places.get(key)?)?.1)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut WorldEntry> {
        self.entries.iter_mut().map(|(_, entry)| entry)
    }

    /// All resources, in the order of their keys.
    pub(super) fn sorted(&self) -> impl Iterator<Item = (&str, &WorldEntry)> {
        let key = |place: usize| self.entries.get(place).map(|(key, _)| key);
        let order = self.order.get_or_init(|| {
            let mut order: Vec<usize> = (0..self.entries.len()).collect();
            order.sort_unstable_by(|one, other| key(*one).cmp(&key(*other)));
            order
        });
        order.iter().filter_map(|place| {
            let (key, entry) = self.entries.get(*place)?;
            Some((&**key, entry))
        })
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::world::ResourceId;
    use super::*;

    fn entry(number: usize) -> WorldEntry {
        WorldEntry {
            id: ResourceId(number),
            facts: None,
            is_unknown: false,
            rejected: None,
        }
    }

    #[test]
    fn they_are_found_by_key_and_gone_through_in_order() {
        let mut entries = Entries::default();
        let all = |entries: &Entries| -> Vec<(String, usize)> {
            entries
                .sorted()
                .map(|(key, entry)| (key.to_owned(), entry.id.0))
                .collect()
        };
        for (number, key) in ["b", "a", "c", "a"].into_iter().enumerate() {
            entries.insert(key, entry(number));
        }
        assert_eq!(all(&entries), [("a".into(), 3), ("b".into(), 0), ("c".into(), 2)]);
        entries.insert("aa", entry(4));
        assert_eq!(all(&entries)[1], ("aa".into(), 4));
        assert_eq!(entries.get("c").map(|entry| entry.id.0), Some(2));
        assert!(entries.get("d").is_none());
        assert_eq!(entries.len(), 4);
    }
}
