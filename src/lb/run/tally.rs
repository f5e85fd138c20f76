//! Counts of children by state, kept up to date change by change.
//!
//! A policy with many children hears of each of their changes; what it makes of them must not cost a look at all of them.

use super::runtime::Connectivity;

/// How many children are in each state.
#[derive(Debug, Clone, Default)]
pub struct Tally([usize; 4]);

impl Tally {
    /// A child went from one state to another; `None` is none that counts.
    pub fn change(&mut self, before: Option<Connectivity>, after: Option<Connectivity>) {
        if let Some(count) = before.and_then(|state| self.0.get_mut(state as usize)) {
            *count = count.saturating_sub(1);
        }
        if let Some(count) = after.and_then(|state| self.0.get_mut(state as usize)) {
            *count += 1;
        }
    }

    /// Number of children in a state.
    pub fn count(&self, state: Connectivity) -> usize {
        self.0.get(state as usize).copied().unwrap_or(0)
    }

    /// Number of children that count.
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }
}

/// A set of indices below a fixed length that knows its n-th member (a Fenwick tree).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranks {
    /// Sums over ranges; the first element is not used.
    sums: Vec<u32>,
    count: usize,
}

impl Ranks {
    /// An empty set of indices below `len`.
    pub fn new(len: usize) -> Ranks {
        Ranks {
            sums: vec![0; len + 1],
            count: 0,
        }
    }

    /// The set of these indices below `len`.
    pub fn of(len: usize, indices: impl Iterator<Item = usize>) -> Ranks {
        let mut ranks = Ranks::new(len);
        for index in indices {
            ranks.count += 1;
            if let Some(sum) = ranks.sums.get_mut(index + 1) {
                *sum += 1;
            }
        }
        // Each sum goes on to the next larger range that has it.
        for at in 1..=len {
            let sum = ranks.sums.get(at).copied().unwrap_or(0);
            if let Some(next) = ranks.sums.get_mut(at + (at & at.wrapping_neg())) {
                *next += sum;
            }
        }
        ranks
    }

    /// Number of members.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Adds an index that is not a member.
    pub fn add(&mut self, index: usize) {
        self.count += 1;
        self.walk(index, |sum| sum + 1);
    }

    /// Takes out a member.
    pub fn remove(&mut self, index: usize) {
        self.count = self.count.saturating_sub(1);
        self.walk(index, |sum| sum.saturating_sub(1));
    }

    fn walk(&mut self, index: usize, change: impl Fn(u32) -> u32) {
        let mut at = index + 1;
        while let Some(sum) = self.sums.get_mut(at) {
            *sum = change(*sum);
            at += at & at.wrapping_neg();
        }
    }

    /// The member of this rank, from 0.
    pub fn nth(&self, rank: usize) -> Option<usize> {
        if rank >= self.count {
            return None;
        }
        let mut rest = u32::try_from(rank).ok()?;
        let mut at = 0;
        let mut step = self.sums.len().checked_next_power_of_two()?;
        while step > 0 {
            if let Some(sum) = self.sums.get(at + step).filter(|sum| **sum <= rest) {
                rest -= sum;
                at += step;
            }
            step /= 2;
        }
        Some(at)
    }
}

/// Weights at indices below a fixed length, of which the one is found that a number below their sum falls on (a Fenwick tree).
#[derive(Debug, Clone, Default)]
pub struct Weights {
    /// Sums over ranges; the first element is not used.
    sums: Vec<u64>,
    total: u64,
}

impl Weights {
    /// No weight at indices below `len`.
    pub fn new(len: usize) -> Weights {
        Weights {
            sums: vec![0; len + 1],
            total: 0,
        }
    }

    /// The sum of all weights.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Adds to the weight at an index.
    pub fn add(&mut self, index: usize, weight: u64) {
        self.total += weight;
        self.walk(index, |sum| sum + weight);
    }

    /// Takes from the weight at an index what was added.
    pub fn take(&mut self, index: usize, weight: u64) {
        self.total = self.total.saturating_sub(weight);
        self.walk(index, |sum| sum.saturating_sub(weight));
    }

    fn walk(&mut self, index: usize, change: impl Fn(u64) -> u64) {
        let mut at = index + 1;
        while let Some(sum) = self.sums.get_mut(at) {
            *sum = change(*sum);
            at += at & at.wrapping_neg();
        }
    }

    /// The first index at which the running sum is above `key`.
    pub fn find(&self, key: u64) -> Option<usize> {
        if key >= self.total {
            return None;
        }
        let (mut rest, mut at) = (key, 0);
        let mut step = self.sums.len().checked_next_power_of_two()?;
        while step > 0 {
            if let Some(sum) = self.sums.get(at + step).filter(|sum| **sum <= rest) {
                rest -= sum;
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
        let mut tally = Tally::default();
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
