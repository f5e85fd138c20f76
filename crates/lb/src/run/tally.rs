//! Counts of children by state, kept up to date change by change.
//!
//! A policy with many children gets an event for each of their changes, and must not look at all
//! children for one change.

use std::ops::{AddAssign, SubAssign};

use super::runtime::Connectivity;

/// How many children are in each state.
#[derive(Debug, Clone, Default)]
pub struct StateTally([usize; 4]);

impl StateTally {
    /// Moves a child from one state to another; `None` is a state that is not counted.
    pub fn change(&mut self, before: Option<Connectivity>, after: Option<Connectivity>) {
        if let Some(count) = before.and_then(|state| self.0.get_mut(state as usize)) {
            *count = count.saturating_sub(1);
        }
        if let Some(count) = after.and_then(|state| self.0.get_mut(state as usize)) {
            *count += 1;
        }
    }

    /// Returns the number of children in a state.
    pub fn count(&self, state: Connectivity) -> usize {
        self.0.get(state as usize).copied().unwrap_or(0)
    }

    /// Returns the number of children that are counted.
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }
}

/// Sums of the numbers at the indices below a fixed length, by ranges (a Fenwick tree).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Sums<N> {
    /// The first element is not used.
    ranges: Vec<N>,
}

impl<N: Copy + Default + PartialOrd + AddAssign + SubAssign> Sums<N> {
    fn new(len: usize) -> Self {
        Sums {
            ranges: vec![N::default(); len + 1],
        }
    }

    /// Changes every sum that includes the number at an index.
    fn walk(&mut self, index: usize, change: impl Fn(N) -> N) {
        let mut at = index + 1;
        while let Some(sum) = self.ranges.get_mut(at) {
            *sum = change(*sum);
            at += next(at);
        }
    }

    /// Turns the numbers at each index into sums of ranges.
    fn add_up(&mut self) {
        // Each sum is added to the next larger range that includes it.
        for at in 1..self.ranges.len() {
            let sum = self.ranges.get(at).copied().unwrap_or_default();
            if let Some(next) = self.ranges.get_mut(at + next(at)) {
                *next += sum;
            }
        }
    }

    /// Returns the first index at which the running sum exceeds `key`, which is below the total.
    fn find(&self, key: N) -> Option<usize> {
        let (mut rest, mut at) = (key, 0);
        let mut step = self.ranges.len().checked_next_power_of_two()?;
        while step > 0 {
            if let Some(sum) = self.ranges.get(at + step).filter(|sum| **sum <= rest) {
                rest -= *sum;
                at += step;
            }
            step /= 2;
        }
        Some(at)
    }
}

/// Returns the distance from a range to the next larger one that includes it.
const fn next(at: usize) -> usize {
    at & at.wrapping_neg()
}

/// A set of indices below a fixed length that can return its n-th member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranks {
    /// The number 1 at the index of each member.
    sums: Sums<u32>,
    count: usize,
}

impl Ranks {
    /// Makes an empty set of indices below `len`.
    pub fn new(len: usize) -> Ranks {
        Ranks {
            sums: Sums::new(len),
            count: 0,
        }
    }

    /// Makes the set of these indices, all below `len`.
    pub fn of(len: usize, indices: impl Iterator<Item = usize>) -> Ranks {
        let mut ranks = Ranks::new(len);
        for index in indices {
            ranks.count += 1;
            if let Some(sum) = ranks.sums.ranges.get_mut(index + 1) {
                *sum += 1;
            }
        }
        ranks.sums.add_up();
        ranks
    }

    /// Returns the number of members.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Adds an index that is not a member.
    pub fn add(&mut self, index: usize) {
        self.count += 1;
        self.sums.walk(index, |sum| sum + 1);
    }

    /// Removes a member.
    pub fn remove(&mut self, index: usize) {
        self.count = self.count.saturating_sub(1);
        self.sums.walk(index, |sum| sum.saturating_sub(1));
    }

    /// Returns the member of this rank, from 0.
    pub fn nth(&self, rank: usize) -> Option<usize> {
        if rank >= self.count {
            return None;
        }
        self.sums.find(u32::try_from(rank).ok()?)
    }
}

/// Weights at indices below a fixed length. A number below their sum falls on one of them, which
/// [`Weights::find`] returns.
#[derive(Debug, Clone, Default)]
pub struct Weights {
    sums: Sums<u64>,
    total: u64,
}

impl Weights {
    /// Makes weights of 0 at the indices below `len`.
    pub fn new(len: usize) -> Weights {
        Weights {
            sums: Sums::new(len),
            total: 0,
        }
    }

    /// Returns the sum of all weights.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Adds to the weight at an index.
    pub fn add(&mut self, index: usize, weight: u64) {
        self.total += weight;
        self.sums.walk(index, |sum| sum + weight);
    }

    /// Subtracts from the weight at an index what was added before.
    pub fn take(&mut self, index: usize, weight: u64) {
        self.total = self.total.saturating_sub(weight);
        self.sums.walk(index, |sum| sum.saturating_sub(weight));
    }

    /// Returns the first index at which the running sum exceeds `key`.
    pub fn find(&self, key: u64) -> Option<usize> {
        if key >= self.total {
            return None;
        }
        self.sums.find(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_a_list() {
        for len in [1, 2, 3, 7, 8, 9, 100] {
            let mut ranks = Ranks::new(len);
            let mut list = Vec::new();
            for index in (0..len).filter(|index| index % 3 != 1) {
                ranks.add(index);
                list.push(index);
            }
            assert_eq!(Ranks::of(len, list.iter().copied()), ranks);
            for gone in (0..len).filter(|index| index % 5 == 0 && index % 3 != 1) {
                ranks.remove(gone);
                list.retain(|index| *index != gone);
            }
            let found: Vec<usize> = (0..=len).map_while(|rank| ranks.nth(rank)).collect();
            assert_eq!((found, ranks.count()), (list.clone(), list.len()));
        }
    }

    #[test]
    fn weights_are_found_as_in_a_list() {
        for len in [1, 2, 3, 7, 8, 9, 40] {
            let mut weights = Weights::new(len);
            let mut list = vec![0; len];
            for (index, weight) in list.iter_mut().enumerate() {
                *weight = (index as u64 * 7) % 5;
                weights.add(index, *weight + 2);
                weights.take(index, 2);
            }
            let expected: Vec<usize> = (0..len).flat_map(|index| vec![index; list[index] as usize]).collect();
            let found: Vec<usize> = (0..=weights.total()).map_while(|key| weights.find(key)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_tally_follows_changes() {
        let mut tally = StateTally::default();
        tally.change(None, Some(Connectivity::Idle));
        tally.change(None, Some(Connectivity::Idle));
        tally.change(Some(Connectivity::Idle), Some(Connectivity::Ready));
        tally.change(Some(Connectivity::Idle), None);
        assert_eq!(
            (
                tally.count(Connectivity::Idle),
                tally.count(Connectivity::Ready),
                tally.total()
            ),
            (0, 1, 1)
        );
    }
}
