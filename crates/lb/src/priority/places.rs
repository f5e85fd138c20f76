//! The list of priorities with what decides about each: which is the first to stop at, which are
//! kept for nothing.
//!
//! The client walks its list from the top at every report of any child. With thousands of
//! priorities that are down that is the square of their number; here a report moves one priority
//! between sets, and the walk is a look at their first members.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::run::row::look;

/// What a walk down the list finds at a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildStanding {
    /// The walk ends here: the child is not made yet, works, or has time left to connect.
    pub is_stop: bool,
    /// The child is CONNECTING.
    pub is_connecting: bool,
    /// The child is there and wanted.
    pub is_active: bool,
    /// The child is there and only kept for a while.
    pub is_retired: bool,
}

/// The priorities, most wanted first. A name may be there more than once.
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
    /// A list of names, of which nothing is noted yet.
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

    /// All names, most wanted first.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.names.iter().inspect(|_| look(1))
    }

    /// Says whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.names.len()
    }

    /// The name at a place.
    pub fn name(&self, place: usize) -> Option<Arc<str>> {
        self.names.get(place).cloned()
    }

    /// The first place of a name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name)?.first().copied()
    }

    /// Notes how a child stands.
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

    /// Where a walk down the list ends.
    pub fn first_stop(&self) -> Option<usize> {
        self.stops.first().copied()
    }

    /// The first that is CONNECTING, else the last of all: what is shown if no walk ends.
    pub fn fallback(&self) -> Option<Arc<str>> {
        let last = self.names.len().checked_sub(1);
        self.name(self.connecting.first().copied().or(last)?)
    }

    /// The first one at or above a place that is only kept for a while.
    pub fn retired_above(&self, place: usize) -> Option<Arc<str>> {
        self.name(self.retired.range(..=place).next().copied()?)
    }

    /// The first one below a place that is wanted.
    pub fn active_below(&self, place: usize) -> Option<Arc<str>> {
        self.name(self.active.range(place + 1..).next().copied()?)
    }
}
