//! The ring of ring_hash: endpoints on a circle of 64-bit hashes, in proportion to their weights
//! (A42, A76).
//!
//! It is bit by bit what the client builds: the same hashes, the same counts of entries (IEEE
//! doubles in the same order), the same search. Follows C-core ring_hash.cc `RingHash::Ring`,
//! `RingHash::Picker::Pick`.

use std::io::Write as _;

use twox_hash::XxHash64;

use super::sockets::EntryNames;

/// Computes XXH64 with seed 0, the hash of ring entries and header values.
///
/// ```
/// use xdsctl_lb::ring_hash::hash;
/// assert_eq!(hash(b"foo"), 0x33bf_00a8_59c4_ba3f);
/// ```
pub fn hash(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

/// One entry of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingEntry {
    /// The hash of the entry, by which the ring is sorted.
    pub hash: u64,
    /// The index of the endpoint.
    pub endpoint: u32,
}

/// The bounds of a ring's size; the caller caps them (`grpc.lb.ring_hash.ring_size_cap`, default
/// 4096).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// The least number of entries, so that the endpoint with the smallest weight has its share.
    pub min: u64,
    /// The largest number of entries.
    pub max: u64,
}

/// A ring of ring_hash.
///
/// ```
/// use xdsctl_lb::ring_hash::{Ring, Size, hash};
/// let endpoints = [("10.0.0.1:80", 1), ("10.0.0.2:80", 1), ("10.0.0.3:80", 2)];
/// let ring = Ring::new(&endpoints, Size { min: 8, max: 8 });
/// assert_eq!(ring.entries().len(), 8);
/// let index = ring.locate(hash(b"foo"));
/// assert_eq!(ring.entries()[index].endpoint, 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ring {
    entries: Vec<RingEntry>,
    is_signed: bool,
    /// Whether hashes above the last entry belong to the last entry, and not to the first.
    ends: bool,
}

/// The differences from C-core in how the entries of a ring are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EntryWays {
    /// Whether names of entries have no `_` before the number
    /// ([`Feature::RingNamesPlain`](xdsctl_model::profile::Feature::RingNamesPlain)).
    pub has_plain_names: bool,
    /// Whether the number counts the entries of all endpoints
    /// ([`Feature::RingCountsOn`](xdsctl_model::profile::Feature::RingCountsOn)).
    pub counts_on: bool,
    /// Whether the name of an entry keeps all but the last digit of the number of the entry before.
    pub names_grow: bool,
    /// Whether the sum of the weights is cut off at 32 bits (grpc-go ring.go `normalizeWeights`).
    pub sum_wraps: bool,
}

/// An endpoint that gets its entries on a ring.
#[derive(Debug, Clone)]
pub(super) struct RingEndpoint<K> {
    /// The index of the endpoint among all endpoints of the policy.
    pub endpoint: u32,
    /// The text with which the names of its entries begin; the names are hashed.
    pub key: K,
    /// The weight. If one endpoint has a weight of 0, the ring has no entries, because the client
    /// then computes with NaN.
    pub weight: u32,
}

impl Ring {
    /// Builds the ring of endpoints from their keys (the first address, or a hash key) and weights,
    /// which are at least 1.
    pub fn new<K: AsRef<str>>(endpoints: &[(K, u32)], size: Size) -> Ring {
        Self::made(endpoints, size, EntryWays::default())
    }

    /// Builds the ring of a client that makes entries in its own way.
    pub(super) fn made<K: AsRef<str>>(endpoints: &[(K, u32)], size: Size, ways: EntryWays) -> Ring {
        let places = endpoints.iter().zip(0..).map(|((key, weight), endpoint)| RingEndpoint {
            endpoint,
            key: key.as_ref(),
            weight: *weight,
        });
        let mut entries = entries(&places.collect::<Vec<_>>(), size, ways);
        super::order::by_hash(&mut entries);
        Ring {
            entries,
            is_signed: false,
            ends: false,
        }
    }

    /// Builds a ring whose hashes are signed numbers. The endpoints get their entries in this
    /// order.
    pub(super) fn signed<K: AsRef<str>>(places: &[RingEndpoint<K>], size: Size, names: EntryNames) -> Ring {
        let ways = EntryWays {
            names_grow: names.grows,
            ..EntryWays::default()
        };
        let mut entries = entries(places, size, ways);
        entries.sort_by_key(|entry| entry.hash.cast_signed());
        Ring {
            entries,
            is_signed: true,
            ends: !names.turns,
        }
    }

    /// Returns the place of a hash in the order of the entries.
    pub const fn rank(&self, hash: u64) -> u64 {
        match self.is_signed {
            true => hash ^ (1 << 63),
            false => hash,
        }
    }

    /// Returns the ring with other endpoints at its entries.
    #[must_use]
    pub fn with_endpoints(mut self, endpoint: impl Fn(u32) -> u32) -> Ring {
        for entry in &mut self.entries {
            entry.endpoint = endpoint(entry.endpoint);
        }
        self
    }

    /// Returns the endpoint of the hashes that follow the entry before this one. If there are only
    /// entries before this one, [`Ring::locate`] decides.
    pub fn endpoint_at(&self, index: usize) -> Option<u32> {
        let behind = || match self.ends {
            true => self.entries.last(),
            false => self.entries.first(),
        };
        Some(self.entries.get(index).or_else(behind)?.endpoint)
    }

    /// Returns the entries in the order of their hashes.
    pub fn entries(&self) -> &[RingEntry] {
        &self.entries
    }

    /// Returns the share of the hash space that leads to each entry: its distance from the entry
    /// before.
    pub fn arcs(&self) -> impl Iterator<Item = f64> + '_ {
        let last = self.entries.last().map_or(0, |last| self.rank(last.hash));
        // Hashes above the last entry do not lead back to the first.
        let (mut before, behind) = match self.ends {
            true => (0, 1.0 - last as f64 / 2f64.powi(64)),
            false => (last, 0.0),
        };
        let count = self.entries.len();
        self.entries.iter().enumerate().map(move |(index, entry)| {
            let arc = self.rank(entry.hash).wrapping_sub(before);
            before = self.rank(entry.hash);
            match count {
                // A single entry has the whole circle.
                1 => 1.0,
                _ if index + 1 == count => arc as f64 / 2f64.powi(64) + behind,
                _ => arc as f64 / 2f64.powi(64),
            }
        })
    }

    /// Returns the index of the entry that a request hash belongs to: the first whose hash is not
    /// below it. If there is none, it is the first entry, or the last one where the ring ends there
    /// (grpc-java `RingHashLoadBalancer.RingHashPicker.getTargetIndex`).
    pub fn locate(&self, request_hash: u64) -> usize {
        let wanted = self.rank(request_hash);
        let index = self.entries.partition_point(|entry| self.rank(entry.hash) < wanted);
        match index == self.entries.len() {
            true if self.ends => index.saturating_sub(1),
            true => 0,
            false => index,
        }
    }
}

/// Makes the entries of endpoints, one endpoint after the other.
fn entries<K: AsRef<str>>(places: &[RingEndpoint<K>], size: Size, ways: EntryWays) -> Vec<RingEntry> {
    let sum = sum_of_weights(places, size, ways);
    if places.iter().any(|place| place.weight == 0) {
        return Vec::new();
    }
    let share = |weight: u32| f64::from(weight) / sum as f64;
    let least = places.iter().map(|place| share(place.weight)).fold(1.0, f64::min);
    let scale = ((least * size.min as f64).ceil() / least).min(size.max as f64);
    let mut entries = Vec::with_capacity(if scale.is_finite() { scale.ceil() as usize } else { 0 });
    // Doubles on purpose: their rounding decides how many entries an endpoint has.
    let (mut current, mut target) = (0.0, 0.0);
    let mut key = Vec::new();
    for place in places {
        key.clear();
        key.extend_from_slice(place.key.as_ref().as_bytes());
        if !ways.has_plain_names {
            key.push(b'_');
        }
        let stem = key.len();
        target += scale * share(place.weight);
        let mut count = if ways.counts_on { entries.len() } else { 0 } as u64;
        while current < target {
            key.truncate(match ways.names_grow {
                true => stem.max(key.len() - 1),
                false => stem,
            });
            // Writing to memory does not fail.
            let _ = write!(key, "{count}");
            entries.push(RingEntry {
                hash: hash(&key),
                endpoint: place.endpoint,
            });
            count += 1;
            current += 1.0;
        }
    }
    entries
}

/// Returns the sum by which weights are divided. Where the client cuts it off, a ring that would
/// have more entries than any client builds is made with the whole sum: the client runs out of
/// memory there.
fn sum_of_weights<K>(places: &[RingEndpoint<K>], size: Size, ways: EntryWays) -> u64 {
    let sum: u64 = places.iter().map(|place| u64::from(place.weight)).sum();
    let cut = sum & u64::from(u32::MAX);
    let is_small = u128::from(sum) * u128::from(size.max) <= u128::from(cut) * u128::from(super::MAX_RING_SIZE);
    if ways.sum_wraps && is_small { cut } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Size = Size { min: 8, max: 8 };
    const DEFAULT: Size = Size { min: 1024, max: 4096 };

    fn three(weights: [u32; 3], size: Size) -> Ring {
        let keys = ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"];
        let endpoints: Vec<(&str, u32)> = keys.into_iter().zip(weights).collect();
        Ring::new(&endpoints, size)
    }

    fn at(ring: &Ring, key: &str) -> (usize, u32) {
        let index = ring.locate(hash(key.as_bytes()));
        (index, ring.entries()[index].endpoint)
    }

    #[test]
    fn hashes_are_xxh64() {
        for (text, wanted) in [
            ("", 0xef46_db37_51d8_e999),
            ("10.0.0.1:80_0", 0x7504_1381_e737_1a08),
            ("10.0.0.1:8080_0", 0x23a2_9ae7_75df_d4a3),
            ("[2001:db8::1]:443_0", 0xcadd_e4ca_8f69_16ae),
            ("bar", 0x48a3_7c90_ad27_a659),
            ("user-42", 0x397e_9d3a_76af_7c81),
        ] {
            assert_eq!(hash(text.as_bytes()), wanted, "{text}");
        }
    }

    /// The addresses are hashed with the numbers 0, 1 and 2 after them, in two old forms (grpc-go
    /// 1.48 and 1.53, ring.go).
    #[test]
    fn old_names_of_entries() {
        let keys = [("10.0.0.1:80", 1), ("10.0.0.2:80", 1), ("10.0.0.3:80", 1)];
        let of = |counts_on| {
            let ways = EntryWays {
                has_plain_names: true,
                counts_on,
                sum_wraps: false,
                names_grow: false,
            };
            let mut entries = Ring::made(&keys, Size { min: 3, max: 3 }, ways).entries;
            entries.sort_by_key(|entry| entry.endpoint);
            entries.into_iter().map(|entry| entry.hash).collect::<Vec<_>>()
        };
        assert_eq!(
            of(false),
            ["10.0.0.1:800", "10.0.0.2:800", "10.0.0.3:800"].map(|name| hash(name.as_bytes()))
        );
        assert_eq!(
            of(true),
            ["10.0.0.1:800", "10.0.0.2:801", "10.0.0.3:802"].map(|name| hash(name.as_bytes()))
        );
    }

    /// In 32 bits, weights of 2^32 - 1, 2^32 - 1 and 1 add up to 2^32 - 1, as much as one of them.
    #[test]
    fn a_sum_that_is_cut_off_gives_each_endpoint_an_entry() {
        let keys = [("a", u32::MAX), ("b", u32::MAX), ("c", 1)];
        let entries = |sum_wraps| {
            let ways = EntryWays {
                sum_wraps,
                ..EntryWays::default()
            };
            Ring::made(&keys, Size { min: 1, max: 1 }, ways).entries.len()
        };
        assert_eq!((entries(true), entries(false)), (3, 1));
        let two = [("a", u32::MAX), ("b", 1)];
        let ways = EntryWays {
            sum_wraps: true,
            ..EntryWays::default()
        };
        assert_eq!(Ring::made(&two, DEFAULT, ways).entries.len(), 4096);
    }

    #[test]
    fn a_ring_of_eight() {
        let ring = three([1, 1, 2], SMALL);
        let entries: Vec<(u64, u32)> = ring.entries().iter().map(|e| (e.hash, e.endpoint)).collect();
        assert_eq!(
            entries,
            [
                (0x1834_1d92_7ea1_0691, 0),
                (0x1843_fe2b_fd88_cc4b, 2),
                (0x3d32_eaa4_a864_962e, 1),
                (0x4ed2_5775_29fc_9c63, 2),
                (0x7079_d8e1_823e_007f, 1),
                (0x74da_18db_9f57_cc7e, 2),
                (0x7504_1381_e737_1a08, 0),
                (0x9866_3d8c_8e38_e677, 2),
            ]
        );
        assert_eq!(
            (at(&ring, "foo"), at(&ring, "bar"), at(&ring, "user-42")),
            ((2, 1), (3, 2), (2, 1))
        );
        assert_eq!((ring.locate(u64::MAX), ring.locate(0)), (0, 0));
    }

    #[test]
    fn the_arcs_are_the_whole_hash_space() {
        assert_eq!(Ring::default().arcs().count(), 0);
        let one = Ring::new(&[("10.0.0.1:80", 1)], Size { min: 1, max: 1 });
        assert_eq!(one.arcs().collect::<Vec<_>>(), [1.0]);
        let eight = three([1, 1, 2], SMALL);
        let arcs: Vec<f64> = eight.arcs().collect();
        // The distance from the last entry over 0 to the first, in units of 2^-64.
        let first = 0x1834_1d92_7ea1_0691_u64.wrapping_sub(0x9866_3d8c_8e38_e677);
        assert_eq!(arcs[0], first as f64 / 2f64.powi(64));
        assert!((arcs.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn rings_of_the_default_size() {
        let ring = three([1, 1, 1], DEFAULT);
        assert_eq!(ring.entries().len(), 1026);
        assert_eq!(
            (at(&ring, "foo"), at(&ring, "bar"), at(&ring, "user-42")),
            ((212, 2), (287, 1), (229, 1))
        );
        let ring = three([1, 1, 2], DEFAULT);
        let count = |e| ring.entries().iter().filter(|entry| entry.endpoint == e).count();
        assert_eq!((count(0), count(1), count(2)), (256, 256, 512));
        assert_eq!(
            (at(&ring, "foo"), at(&ring, "bar"), at(&ring, "user-42")),
            ((205, 2), (276, 1), (221, 1))
        );
        let ring = Ring::new(&[("10.0.0.1:80", 1), ("10.0.0.2:80", 3000)], DEFAULT);
        assert_eq!(ring.entries().len(), 3001);
    }

    #[test]
    fn no_endpoint_is_no_ring() {
        assert_eq!(Ring::new::<&str>(&[], DEFAULT).locate(5), 0);
    }
}
