//! Sorts ring entries by hash, with equal hashes in the order in which the client has them.
//!
//! Two endpoints with the same hash key (A76) have the same hashes, and then the sort decides which
//! of them gets the picks. The client's is not stable: it is the introsort of libstdc++ (quick sort
//! by the median of three down to 16 elements, then insertion sort), whose comparisons are repeated
//! here one for one.

use super::RingEntry;

/// Ranges up to this length are left to the insertion sort.
const THRESHOLD: usize = 16;

/// Sorts entries by hash.
pub(super) fn by_hash(entries: &mut [RingEntry]) {
    let depth = 2 * entries.len().checked_ilog2().unwrap_or(0);
    partition(entries, depth);
    // The last pass is an insertion sort, which is stable; nearly sorted input costs little.
    entries.sort_by_key(|entry| entry.hash);
}

/// Partitions ranges until they are short.
fn partition(mut range: &mut [RingEntry], mut depth: u32) {
    while range.len() > THRESHOLD {
        if depth == 0 {
            // The client uses a heap sort here. Only input that is made for it gets here, which
            // hashes are not.
            return;
        }
        depth -= 1;
        let cut = split(range);
        let (low, high) = range.split_at_mut(cut);
        partition(high, depth);
        range = low;
    }
}

/// Splits a range of more than three elements around a pivot; returns the start of the upper part.
fn split(range: &mut [RingEntry]) -> usize {
    let hash = |range: &[RingEntry], index: usize| range.get(index).map_or(0, |entry| entry.hash);
    let (a, b, c) = (1, range.len() / 2, range.len() - 1);
    let (at_a, at_b, at_c) = (hash(range, a), hash(range, b), hash(range, c));
    let median = if at_a < at_b {
        if at_b < at_c {
            b
        } else if at_a < at_c {
            c
        } else {
            a
        }
    } else if at_a < at_c {
        a
    } else if at_b < at_c {
        c
    } else {
        b
    };
    range.swap(0, median);
    let pivot = hash(range, 0);
    // Both walks end at the latest at the elements that the median was taken from.
    let (mut low, mut high) = (1, range.len());
    loop {
        while low < range.len() && hash(range, low) < pivot {
            low += 1;
        }
        high -= 1;
        while high > 0 && pivot < hash(range, high) {
            high -= 1;
        }
        if low >= high {
            return low;
        }
        range.swap(low, high);
        low += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_end_up_sorted_and_complete() {
        let mut rng = xdsctl_model::rng::Rng::stream(5, "sort");
        for len in [0, 1, 2, 16, 17, 100, 1000] {
            for values in [3, 1_000_000] {
                let mut entries: Vec<RingEntry> = (0..len)
                    .map(|endpoint| RingEntry {
                        hash: rng.below(values),
                        endpoint,
                    })
                    .collect();
                let mut wanted: Vec<u64> = entries.iter().map(|entry| entry.hash).collect();
                wanted.sort_unstable();
                by_hash(&mut entries);
                let sorted: Vec<u64> = entries.iter().map(|entry| entry.hash).collect();
                let mut endpoints: Vec<u32> = entries.iter().map(|entry| entry.endpoint).collect();
                endpoints.sort_unstable();
                assert_eq!((sorted, endpoints), (wanted, (0..len).collect()));
            }
        }
    }
}
