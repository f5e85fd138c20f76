//! Sets of code points as sorted ranges, with RE2's simple case folding.
//!
//! A set is a list of inclusive `(low, high)` pairs. [`normalize`] makes it sorted, disjoint and
//! without adjacent pairs; the other functions expect and keep that form.

use super::unicode;

/// The highest code point.
pub(super) const RUNE_MAX: u32 = 0x10_FFFF;

/// An inclusive range of code points.
pub(super) type Range = (u32, u32);

/// Sorts the ranges and joins those that touch.
pub(super) fn normalize(ranges: &mut Vec<Range>) {
    if ranges.windows(2).all(|pair| matches!(pair, [a, b] if a.1 + 1 < b.0)) {
        return;
    }
    // The ranges are mostly a few sorted lists one after the other, which a stable sort merges.
    ranges.sort();
    let mut joined: Vec<Range> = Vec::with_capacity(ranges.len());
    for &(low, high) in ranges.iter() {
        match joined.last_mut() {
            Some(last) if low <= last.1 + 1 => last.1 = last.1.max(high),
            _ => joined.push((low, high)),
        }
    }
    *ranges = joined;
}

/// Returns every code point that is not in the set.
pub(super) fn complement(ranges: &[Range]) -> Vec<Range> {
    let mut rest = Vec::with_capacity(ranges.len() + 1);
    let mut next = 0;
    for &(low, high) in ranges {
        if next < low {
            rest.push((next, low - 1));
        }
        next = high + 1;
    }
    if next <= RUNE_MAX {
        rest.push((next, RUNE_MAX));
    }
    rest
}

/// Adds every code point that differs from a member only in case.
pub(super) fn close_under_folding(ranges: &mut Vec<Range>) {
    normalize(ranges);
    let mut images = Vec::new();
    // A cycle has at most four members, so a handful of rounds reaches all of them.
    loop {
        for &range in ranges.iter() {
            unicode::fold_images(range, &mut images);
        }
        // Most large sets are closed from the start: ranges that are already there need not be
        // sorted in.
        images.retain(|image| !covers(ranges, *image));
        if images.is_empty() {
            return;
        }
        ranges.append(&mut images);
        normalize(ranges);
    }
}

/// Says whether the set contains the whole range.
fn covers(ranges: &[Range], (low, high): Range) -> bool {
    let after = ranges.partition_point(|&(first, _)| first <= low);
    let found = after.checked_sub(1).and_then(|i| ranges.get(i));
    found.is_some_and(|&(_, last)| high <= last)
}

/// Says whether the set contains the code point.
pub(super) fn contains(ranges: &[Range], rune: u32) -> bool {
    let after = ranges.partition_point(|&(low, _)| low <= rune);
    after
        .checked_sub(1)
        .and_then(|i| ranges.get(i))
        .is_some_and(|&(_, high)| rune <= high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_ranges_are_joined() {
        let mut set = vec![(5, 9), (1, 2), (3, 4), (20, 30), (25, 26)];
        normalize(&mut set);
        assert_eq!(set, [(1, 9), (20, 30)]);
    }

    #[test]
    fn complement_twice_is_the_set() {
        let set = vec![(0, 3), (9, 9), (0x10_FF00, RUNE_MAX)];
        assert_eq!(complement(&complement(&set)), set);
        assert_eq!(complement(&[]), [(0, RUNE_MAX)]);
    }

    #[test]
    fn folding_reaches_the_whole_cycle() {
        let mut set = vec![(0x4B, 0x4B)]; // K, k, Kelvin sign
        close_under_folding(&mut set);
        assert_eq!(set, [(0x4B, 0x4B), (0x6B, 0x6B), (0x212A, 0x212A)]);
    }

    #[test]
    fn membership_is_exact_at_the_edges() {
        let set = [(5, 9), (20, 20)];
        let members: Vec<u32> = (0..30).filter(|&rune| contains(&set, rune)).collect();
        assert_eq!(members, [5, 6, 7, 8, 9, 20]);
    }
}
