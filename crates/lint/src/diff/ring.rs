//! Which part of all request hashes has another endpoint on another ring (A42).

use xdsctl_lb::ring_hash::{Ring, RingEntry, Size};

/// The keys of a ring's endpoints with their weights, and its size.
pub(super) type Keys<'a> = (&'a [(String, u32)], Size);

/// The share of all hashes whose endpoint is another one; `None` if none is, or if there is no ring on one side.
pub(super) fn ring_moves(before: Keys<'_>, after: Keys<'_>, steps: &mut usize) -> Option<f64> {
    if before.0.is_empty() || after.0.is_empty() || before == after {
        return None;
    }
    let (one, other) = (Ring::new(before.0, before.1), Ring::new(after.0, after.1));
    let (one, other) = (one.entries(), other.entries());
    *steps += one.len() + other.len();
    // The first entry of each that is not behind `begin`.
    let (mut at_one, mut at_other, mut begin) = (0, 0, 0);
    let mut moved: u128 = 0;
    loop {
        // Up to the next place of either ring all hashes have the same endpoints.
        let next = [one.get(at_one), other.get(at_other)].into_iter().flatten();
        let place = next.map(|entry| entry.hash).min();
        let end = place.map_or(1 << 64, |place| u128::from(place) + 1);
        if key(one, at_one, before.0) != key(other, at_other, after.0) {
            moved += end - begin;
        }
        let Some(place) = place else {
            break;
        };
        begin = end;
        let is_past = |entry: &&RingEntry| entry.hash <= place;
        at_one += one.iter().skip(at_one).take_while(is_past).count();
        at_other += other.iter().skip(at_other).take_while(is_past).count();
    }
    let all = u64::MAX as f64 + 1.0; // 2^64
    (moved > 0).then(|| moved as f64 / all)
}

/// The key of the endpoint that an entry leads to; behind the last entry comes the first.
fn key<'k>(entries: &[RingEntry], at: usize, keys: &'k [(String, u32)]) -> Option<&'k str> {
    let entry = entries.get(at).or_else(|| entries.first())?;
    let (key, _) = keys.get(usize::try_from(entry.endpoint).ok()?)?;
    Some(key)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use xdsctl_model::rng::Rng;

    /// The share that [`ring_moves`] finds, by looking up each place of both rings.
    fn moves_by_lookup(before: Keys<'_>, after: Keys<'_>) -> Option<f64> {
        let (one, other) = (Ring::new(before.0, before.1), Ring::new(after.0, after.1));
        let key = |ring: &Ring, hash: u64, keys: &[(String, u32)]| {
            keys[ring.entries()[ring.locate(hash)].endpoint as usize].0.clone()
        };
        let mut places: BTreeSet<u64> = BTreeSet::from([u64::MAX]);
        places.extend(one.entries().iter().chain(other.entries()).map(|entry| entry.hash));
        let (mut moved, mut begin) = (0u128, 0u128);
        for place in places {
            if key(&one, place, before.0) != key(&other, place, after.0) {
                moved += u128::from(place) + 1 - begin;
            }
            begin = u128::from(place) + 1;
        }
        (moved > 0).then(|| moved as f64 / (u64::MAX as f64 + 1.0))
    }

    #[test]
    fn the_share_of_a_ring_that_moves_is_that_of_its_hashes() {
        let mut chance = Rng::stream(3, "rings");
        let mut keys = |most: u64| -> (Vec<(String, u32)>, Size) {
            let count = 1 + chance.below(most);
            let key = |_| (format!("10.0.0.{}:80", chance.below(12)), 1 + chance.below(3) as u32);
            let keys = (0..count).map(key).collect();
            let min = 1 + chance.below(64);
            (keys, Size { min, max: 64.max(min) })
        };
        let mut moved = 0;
        for _ in 0..300 {
            let (one, other) = (keys(6), keys(6));
            let (one, other) = ((one.0.as_slice(), one.1), (other.0.as_slice(), other.1));
            let found = ring_moves(one, other, &mut 0);
            assert_eq!(found, moves_by_lookup(one, other), "{one:?} {other:?}");
            assert_eq!(ring_moves(one, one, &mut 0), None);
            moved += usize::from(found.is_some_and(|share| share < 1.0));
        }
        assert!(moved > 100, "{moved}");
    }
}
