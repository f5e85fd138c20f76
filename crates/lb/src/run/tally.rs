//! Counts of children by state, kept up to date change by change.
//!
//! A policy with many children gets an event for each of their changes, and must not look at all
//! children for one change.

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

    /// Returns the state of a policy whose children work apart from each other: the best that one
    /// of them has. `None` if all have failed.
    pub fn best(&self) -> Option<Connectivity> {
        [Connectivity::Ready, Connectivity::Connecting, Connectivity::Idle]
            .into_iter()
            .find(|state| self.count(*state) > 0)
    }

    /// Returns the number of children that are counted.
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }
}

/// Weights at indices below a fixed length. A number below their sum falls on one of them, which
/// [`Weights::find`] returns. With weights of 1 it returns the n-th index of a set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Weights {
    /// Sums of the weights of ranges (a Fenwick tree). The first element is not used.
    ranges: Vec<u64>,
    total: u64,
}

impl Weights {
    /// Makes weights of 0 at the indices below `len`.
    pub fn new(len: usize) -> Weights {
        Weights {
            ranges: vec![0; len + 1],
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
        self.walk(index, |sum| sum + weight);
    }

    /// Subtracts from the weight at an index what was added before.
    pub fn take(&mut self, index: usize, weight: u64) {
        self.total = self.total.saturating_sub(weight);
        self.walk(index, |sum| sum.saturating_sub(weight));
    }

    /// Changes every sum that includes the weight at an index.
    fn walk(&mut self, index: usize, change: impl Fn(u64) -> u64) {
        let mut at = index + 1;
        while let Some(sum) = self.ranges.get_mut(at) {
            *sum = change(*sum);
            // The next larger range that includes this one.
            at += at & at.wrapping_neg();
        }
    }

    /// Returns the first index at which the running sum exceeds `key`.
    pub fn find(&self, key: u64) -> Option<usize> {
        if key >= self.total {
            return None;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
