//! The list of priorities, with what decides about each: at which priority a walk stops first, and
//! which children are only kept for a while.
//!
//! The client walks its list from the top at every report of any child. With thousands of
//! priorities that are down, that costs the square of their number. Here a report moves one
//! priority between sets, and a walk looks only at the first members of the sets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::run::looks::look;

/// What a walk down the list finds at a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildStanding {
    /// Whether the walk ends here: the child does not exist yet, works, or has time left to
    /// connect.
    pub is_stop: bool,
    /// Whether the child is CONNECTING.
    pub is_connecting: bool,
    /// Whether the child exists and is wanted.
    pub is_active: bool,
    /// Whether the child exists but is only kept for a while.
    pub is_retired: bool,
}

/// The priorities, the most wanted first. A name may occur more than once.
#[derive(Debug, Default)]
pub struct PriorityPlaces {
    names: Vec<Arc<str>>,
    places: BTreeMap<Arc<str>, Vec<usize>>,
    stops: BTreeSet<usize>,
    connecting: BTreeSet<usize>,
    active: BTreeSet<usize>,
    retired: BTreeSet<usize>,
}

impl PriorityPlaces {
    /// Makes a list of names about which nothing is noted yet.
    pub fn new(names: &[String]) -> PriorityPlaces {
        let names: Vec<Arc<str>> = names.iter().map(|name| name.as_str().into()).collect();
        let mut places: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        for (place, name) in names.iter().enumerate() {
            places.entry(name.clone()).or_default().push(place);
        }
        PriorityPlaces {
            names,
            places,
            ..PriorityPlaces::default()
        }
    }

    /// Returns all names, the most wanted first.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.names.iter().inspect(|_| look(1))
    }

    /// Says whether there is no priority.
    pub const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the number of priorities.
    pub const fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the name at an index.
    pub fn name(&self, place: usize) -> Option<Arc<str>> {
        self.names.get(place).cloned()
    }

    /// Returns the first index of a name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name)?.first().copied()
    }

    /// Notes the standing of the child of a name.
    pub fn note(&mut self, name: &str, standing: ChildStanding) {
        for place in self.places.get(name).into_iter().flatten() {
            for (set, is_member) in [
                (&mut self.stops, standing.is_stop),
                (&mut self.connecting, standing.is_connecting),
                (&mut self.active, standing.is_active),
                (&mut self.retired, standing.is_retired),
            ] {
                if is_member {
                    set.insert(*place);
                } else {
                    set.remove(place);
                }
            }
        }
    }

    /// Returns the index at which a walk down the list ends.
    pub fn first_stop(&self) -> Option<usize> {
        self.stops.first().copied()
    }

    /// Returns the priority to use if no walk ends: the first that is CONNECTING, else the last of
    /// all.
    pub fn fallback(&self) -> Option<Arc<str>> {
        let last = self.names.len().checked_sub(1);
        self.name(self.connecting.first().copied().or(last)?)
    }

    /// Returns the first priority at or above an index whose child is only kept for a while.
    pub fn retired_above(&self, place: usize) -> Option<Arc<str>> {
        self.name(self.retired.range(..=place).next().copied()?)
    }

    /// Returns the first priority below an index whose child is wanted.
    pub fn active_below(&self, place: usize) -> Option<Arc<str>> {
        self.name(self.active.range(place + 1..).next().copied()?)
    }
}
