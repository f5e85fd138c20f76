//! Names of the priority children of a leaf cluster, which survive updates: `{cluster=web, child_number=0}`.
//!
//! A priority keeps its number as long as it shares a locality with the one that had the number
//! before, so that its connections stay. Follows C-core `CdsChildNameState::Update` (cds.cc).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::form::TreeForm;
use crate::client::config::Leaf;
use xdsctl_model::profile::Family;
use xdsctl_model::resource::Endpoints;
use xdsctl_model::resource::endpoints::LocalityName;

/// Renames the fields of all objects inside a value.
pub(super) fn rename_fields(value: &mut Value, renamed: &dyn Fn(String) -> String) {
    match value {
        Value::Object(map) => {
            let fields = std::mem::take(map).into_iter();
            map.extend(fields.map(|(name, mut value)| {
                rename_fields(&mut value, renamed);
                (renamed(name), value)
            }));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| rename_fields(value, renamed)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A leaf cluster with the names of the children for its priorities.
#[derive(Debug, Clone)]
pub struct NamedLeaf<'a> {
    /// The name of the leaf cluster.
    pub cluster: &'a str,
    /// The leaf cluster, with its endpoints.
    pub leaf: &'a Leaf,
    /// The names, in order of priority.
    pub names: Vec<String>,
}

impl<'a> NamedLeaf<'a> {
    /// Makes a name for each of these numbers.
    pub fn numbered(cluster: &'a str, leaf: &'a Leaf, numbers: &[u64], family: Family) -> NamedLeaf<'a> {
        let name = TreeForm::of(family).child_name;
        NamedLeaf {
            cluster,
            leaf,
            names: numbers.iter().map(|number| name(cluster, *number)).collect(),
        }
    }
}

/// The numbers of the priority children of one cds policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChildNumbers {
    /// The number of each child, by priority.
    numbers: Vec<u64>,
    /// The localities of each priority at the last update.
    localities: Vec<BTreeSet<LocalityName>>,
    next: u64,
}

impl ChildNumbers {
    /// The number of each priority, in order of priority.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// Forgets everything, as after an error, or when the cluster becomes an aggregate.
    pub fn reset(&mut self) {
        *self = ChildNumbers::default();
    }

    /// Numbers the priorities of an update. No endpoints count as one priority without localities.
    pub fn update(&mut self, endpoints: Option<&Endpoints>) -> &[u64] {
        let mut new: Vec<BTreeSet<LocalityName>> = endpoints
            .into_iter()
            .flat_map(|endpoints| &endpoints.priorities)
            .map(|priority| priority.iter().map(|locality| locality.name.clone()).collect())
            .collect();
        if new.is_empty() {
            new.push(BTreeSet::new());
        }
        let mut number_of: BTreeMap<&LocalityName, u64> = BTreeMap::new();
        let mut taken: BTreeMap<u64, &BTreeSet<LocalityName>> = BTreeMap::new();
        for (number, localities) in self.numbers.iter().zip(&self.localities) {
            number_of.extend(localities.iter().map(|locality| (locality, *number)));
            taken.insert(*number, localities);
        }
        let empty = BTreeSet::new();
        let mut next = self.next;
        let mut numbers = Vec::with_capacity(new.len());
        for priority in &new {
            let mut found = None;
            for locality in priority {
                // Each locality gives its number away only once.
                let Some(number) = number_of.remove(locality) else {
                    continue;
                };
                if found.is_none() {
                    found = Some(number);
                    for other in taken.get(&number).copied().unwrap_or(&empty) {
                        number_of.remove(other);
                    }
                }
            }
            let number = found.unwrap_or_else(|| {
                while taken.contains_key(&next) {
                    next += 1;
                }
                next
            });
            if found.is_none() {
                taken.insert(number, &empty);
                next = number + 1;
            }
            numbers.push(number);
        }
        self.numbers = numbers;
        self.next = next;
        self.localities = new;
        &self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::resource::endpoints::Locality;
    use xdsctl_model::resource::pieces::Pieces;

    /// Priorities as texts, one letter a locality.
    fn endpoints(priorities: &[&str]) -> Endpoints {
        let locality = |name: char| Locality {
            index: 0,
            name: LocalityName {
                region: name.into(),
                ..LocalityName::default()
            },
            weight: 1,
            left_out_weight: 0,
            endpoints: Pieces::new(),
        };
        Endpoints {
            priorities: priorities.iter().map(|p| p.chars().map(locality).collect()).collect(),
            drops: None,
            host_name: None,
        }
    }

    #[track_caller]
    fn check(updates: &[(&[&str], &[u64])]) {
        let mut state = ChildNumbers::default();
        for (update, expected) in updates {
            assert_eq!(state.update(Some(&endpoints(update))), *expected, "{update:?}");
        }
    }

    #[test]
    fn a_priority_keeps_the_number_of_a_locality_that_it_shares() {
        check(&[
            (&["AB", "CD"], &[0, 1]),
            (&["C", "DE"], &[1, 2]),
            (&["AB", "CD"], &[3, 1]),
        ]);
        check(&[(&["A", "B"], &[0, 1]), (&["B", "A"], &[1, 0])]);
        check(&[(&["A", "B"], &[0, 1]), (&["AB"], &[0])]);
        check(&[(&["AB"], &[0]), (&["A", "B"], &[0, 1])]);
    }

    #[test]
    fn nothing_counts_as_one_priority_and_numbers_never_return() {
        let mut state = ChildNumbers::default();
        assert_eq!(state.update(None), [0]);
        assert_eq!(state.update(Some(&endpoints(&["A"]))), [1]);
        assert_eq!(state.update(Some(&endpoints(&[]))), [2]);
        state.reset();
        assert_eq!(state.update(Some(&endpoints(&["A"]))), [0]);
    }
}
