//! Which share of all request hashes goes to another endpoint on another ring (gRFC A42).

use std::net::SocketAddr;

use xdsctl_lb::ring_hash::{Ring, RingEntry};

/// A ring, and the address of each of its endpoints.
pub(super) type AddressedRing = (Ring, Vec<SocketAddr>);

/// Returns the share of all hashes that go to another endpoint; `None` if none does, or if one side
/// has no ring.
pub(super) fn ring_moves(before: &AddressedRing, after: &AddressedRing, steps: &mut usize) -> Option<f64> {
    if before == after {
        return None;
    }
    let (one, other) = (before.0.entries(), after.0.entries());
    if one.is_empty() || other.is_empty() {
        return None;
    }
    let rank = |entry: &RingEntry| before.0.rank(entry.hash);
    *steps += one.len() + other.len();
    // The first entry of each ring that is not before `begin`.
    let (mut at_one, mut at_other, mut begin) = (0, 0, 0);
    let mut moved: u128 = 0;
    loop {
        // All hashes up to the next entry of either ring have the same two endpoints.
        let next = [one.get(at_one), other.get(at_other)].into_iter().flatten();
        let place = next.map(rank).min();
        let end = place.map_or(1 << 64, |place| u128::from(place) + 1);
        if address(before, at_one) != address(after, at_other) {
            moved += end - begin;
        }
        let Some(place) = place else {
            break;
        };
        begin = end;
        let is_past = |entry: &&RingEntry| rank(entry) <= place;
        at_one += one.iter().skip(at_one).take_while(is_past).count();
        at_other += other.iter().skip(at_other).take_while(is_past).count();
    }
    let all = u64::MAX as f64 + 1.0; // 2^64
    (moved > 0).then(|| moved as f64 / all)
}

/// Returns the address of the endpoint that an entry leads to.
fn address((ring, addresses): &AddressedRing, at: usize) -> Option<SocketAddr> {
    addresses.get(usize::try_from(ring.endpoint_at(at)?).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use xdsctl_lb::endpoint::Address;
    use xdsctl_lb::ring_hash::{RingMember, RingWays, Size};
    use xdsctl_model::profile::{Client, Profile};
    use xdsctl_model::rng::Rng;

    fn profile(client: &str) -> Profile {
        Profile::of(Client::parse_one(client).unwrap())
    }

    /// Endpoints: for each the last number of its address, its hash key and its weight.
    type Listed = Vec<(u64, Option<u64>, u32)>;

    fn ring(list: &Listed, size: Size, profile: &Profile) -> AddressedRing {
        let sockets: Vec<SocketAddr> = list
            .iter()
            .map(|(number, ..)| format!("10.0.0.{number}:80").parse().unwrap())
            .collect();
        let addresses: Vec<Address> = sockets.iter().copied().map(Address::new).collect();
        let keys: Vec<Option<String>> = list
            .iter()
            .map(|(_, key, _)| key.map(|key| format!("k{key}")))
            .collect();
        let members = list.iter().zip(&addresses).zip(&keys);
        let members: Vec<RingMember<'_>> = members
            .map(|(((.., weight), address), key)| RingMember {
                addresses: std::slice::from_ref(address),
                hash_key: key.as_deref(),
                weight: *weight,
            })
            .collect();
        (RingWays::of(profile).ring(&members, size, 0), sockets)
    }

    /// Computes the share that [`ring_moves`] finds by looking up each place of both rings.
    fn moves_by_lookup(before: &AddressedRing, after: &AddressedRing) -> Option<f64> {
        let address = |(ring, addresses): &AddressedRing, hash: u64| {
            addresses[ring.entries()[ring.locate(hash)].endpoint as usize]
        };
        let rank = |hash: u64| before.0.rank(hash);
        let mut places: BTreeSet<u64> = BTreeSet::from([u64::MAX]);
        let entries = before.0.entries().iter().chain(after.0.entries());
        places.extend(entries.map(|entry| rank(entry.hash)));
        let (mut moved, mut begin) = (0u128, 0u128);
        for place in places {
            // The function from hashes to ranks is its own inverse.
            if address(before, rank(place)) != address(after, rank(place)) {
                moved += u128::from(place) + 1 - begin;
            }
            begin = u128::from(place) + 1;
        }
        (moved > 0).then(|| moved as f64 / (u64::MAX as f64 + 1.0))
    }

    #[test]
    fn the_share_of_a_ring_that_moves_is_that_of_its_hashes() {
        let mut chance = Rng::stream(3, "rings");
        for client in ["cpp", "go", "java@1.75", "java"] {
            let profile = profile(client);
            let mut made = |most: u64| -> AddressedRing {
                let count = 1 + chance.below(most);
                let endpoint = |_| {
                    let key = (chance.below(3) == 0).then(|| chance.below(12));
                    (chance.below(12), key, 1 + chance.below(3) as u32)
                };
                let list: Listed = (0..count).map(endpoint).collect();
                let min = 1 + chance.below(64);
                let size = Size { min, max: 64.max(min) };
                ring(&list, size, &profile)
            };
            let mut moved = 0;
            for _ in 0..300 {
                let (one, other) = (made(6), made(6));
                let found = ring_moves(&one, &other, &mut 0);
                assert_eq!(found, moves_by_lookup(&one, &other), "{client} {one:?} {other:?}");
                assert_eq!(ring_moves(&one, &one, &mut 0), None);
                moved += usize::from(found.is_some_and(|share| share < 1.0));
            }
            assert!(moved > 100, "{client} {moved}");
        }
    }

    /// For a client that reads hash keys, the rings differ although the endpoints are the same.
    #[test]
    fn endpoints_are_known_by_their_addresses_and_not_by_their_keys() {
        let size = Size { min: 1024, max: 4096 };
        let plain: Listed = (1..=3).map(|number| (number, None, 1)).collect();
        let keyed: Listed = (1..=3).map(|number| (number, Some(number), 1)).collect();
        let share = |client: &str| {
            let profile = profile(client);
            ring_moves(&ring(&plain, size, &profile), &ring(&keyed, size, &profile), &mut 0)
        };
        for client in ["cpp", "go"] {
            let share = share(client).unwrap();
            // Each endpoint keeps about a third of its third.
            assert!((share - 2.0 / 3.0).abs() < 0.1, "{client} {share}");
        }
        assert_eq!(share("java"), None);
    }
}
