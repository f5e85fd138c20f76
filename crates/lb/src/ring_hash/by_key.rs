//! The ring of clients that build it in the order of the hash keys.
//!
//! The order decides which endpoint has one more entry where shares are not whole numbers. An empty
//! key counts as none. Endpoints with the same key have the same entries, and one of them gets all
//! picks: another one after each change of a connection. Follows grpc-go ringhash.go, ring.go.

use super::ring::EntryWays;
use super::{Ring, RingMember, Size};

/// Returns the key of an endpoint: its hash key, or else its first address.
fn key<'e>(member: &'e RingMember<'_>) -> &'e str {
    let own = member.hash_key.filter(|key| !key.is_empty());
    own.unwrap_or(member.name())
}

/// Says whether some of the endpoints have the same key.
pub(super) fn has_twins(members: &[RingMember<'_>]) -> bool {
    let mut keys: Vec<&str> = members.iter().map(key).collect();
    keys.sort_unstable();
    keys.windows(2).any(|two| two.first() == two.last())
}

/// Builds the ring. `drawn` decides which of several endpoints with the same key gets the picks.
pub(super) fn ring(members: &[RingMember<'_>], size: Size, ways: EntryWays, drawn: u64) -> Ring {
    let mut by_key: Vec<(&str, u32, u32)> = members
        .iter()
        .zip(0..)
        .map(|(member, index)| (key(member), index, member.weight))
        .collect();
    by_key.sort_unstable();
    let weighted: Vec<(&str, u32)> = by_key.iter().map(|(key, _, weight)| (*key, *weight)).collect();
    let indices: Vec<u32> = by_key
        .chunk_by(|one, other| one.0 == other.0)
        .flat_map(|twins| {
            let place = usize::try_from(drawn % twins.len() as u64).unwrap_or(0);
            let index = twins.get(place).map_or(0, |(_, index, _)| *index);
            std::iter::repeat_n(index, twins.len())
        })
        .collect();
    Ring::made(&weighted, size, ways).with_endpoints(|place| indices.get(place as usize).copied().unwrap_or(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Address;

    fn addresses(texts: &[&str]) -> Vec<[Address; 1]> {
        texts.iter().map(|text| [Address::new(text.parse().unwrap())]).collect()
    }

    fn members<'e>(addresses: &'e [[Address; 1]], hash_key: Option<&'e str>) -> Vec<RingMember<'e>> {
        let member = |addresses: &'e [Address; 1]| RingMember {
            addresses,
            hash_key,
            weight: 1,
        };
        addresses.iter().map(member).collect()
    }

    const SIZE: Size = Size { min: 8, max: 8 };

    fn ring_of(members: &[RingMember<'_>], drawn: u64) -> Vec<(u64, u32)> {
        let ring = ring(members, SIZE, EntryWays::default(), drawn);
        ring.entries()
            .iter()
            .map(|entry| (entry.hash, entry.endpoint))
            .collect()
    }

    #[test]
    fn the_order_of_the_list_decides_nothing() {
        let addresses = addresses(&["10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"]);
        let hashes = |ring: Vec<(u64, u32)>| ring.into_iter().map(|(hash, _)| hash).collect::<Vec<_>>();
        let forwards = members(&addresses, None);
        let backwards: Vec<RingMember<'_>> = forwards.iter().rev().copied().collect();
        assert_eq!(hashes(ring_of(&forwards, 0)), hashes(ring_of(&backwards, 0)));
        let of_list = |list: &[RingMember<'_>]| {
            let keys: Vec<(&str, u32)> = list.iter().map(|one| (one.name(), 1)).collect();
            Ring::new(&keys, SIZE)
        };
        assert_ne!(of_list(&forwards), of_list(&backwards));
    }

    #[test]
    fn one_of_several_with_one_key_gets_the_picks() {
        let addresses = addresses(&["10.0.0.1:80", "10.0.0.2:80"]);
        let twins = members(&addresses, Some("k"));
        assert!(has_twins(&twins));
        for drawn in [0, 1] {
            assert!(
                ring_of(&twins, drawn)
                    .iter()
                    .all(|(_, endpoint)| u64::from(*endpoint) == drawn)
            );
        }
        assert!(!has_twins(&members(&addresses, Some(""))));
    }
}
