//! The ring of grpc-java, which knows endpoints by the text of a socket address of the Java
//! library.
//!
//! The endpoints get their entries in the order in which a `HashMap` lists them. The order decides
//! how many entries each has where its share is not a whole number. Hashes are signed numbers.
//! Follows grpc-java `RingHashLoadBalancer.buildRing`, and `InetSocketAddress`, `Inet6Address` and
//! `HashMap` of the Java library, except that no bin of the map becomes a tree.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::ring::{Ring, RingEndpoint, Size};
use crate::endpoint::{Address, EndpointList};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::status::Status;

/// The number of buckets of an empty map.
const FIRST_BUCKETS: usize = 16;

/// If there are fewer buckets than this, a long bin doubles their number.
const TREE_BUCKETS: usize = 64;

/// The most elements of a bin that is not long yet.
const LONG_BIN: usize = 8;

/// How a version of grpc-java names the entries of a ring.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryNames {
    /// Whether names begin with all addresses of the endpoint ([`Feature::RingNamesList`]).
    is_of_list: bool,
    /// Whether a name keeps a part of the name before ([`Feature::RingNamesGrow`]).
    pub(super) grows: bool,
    /// Whether hashes above the last entry belong to the first ([`Feature::RingTurns`]).
    pub(super) turns: bool,
}

impl EntryNames {
    /// Returns the names of a client that builds such rings; `None` for another client.
    pub(super) fn of(profile: &Profile) -> Option<EntryNames> {
        profile.has(Feature::SocketRing).then(|| EntryNames {
            is_of_list: profile.has(Feature::RingNamesList),
            grows: profile.has(Feature::RingNamesGrow),
            turns: profile.has(Feature::RingTurns),
        })
    }

    /// Returns the text with which the names of an endpoint's entries begin.
    fn name(self, addresses: &[Address]) -> Option<String> {
        if !self.is_of_list {
            return Some(text(&addresses.first()?.socket));
        }
        let texts: Vec<String> = addresses.iter().map(|address| text(&address.socket)).collect();
        Some(format!("[{}]", texts.join(", ")))
    }
}

/// Builds the ring of endpoints from their addresses and weights, which are at least 1.
pub(super) fn ring<'a>(endpoints: impl Iterator<Item = (&'a [Address], u32)>, size: Size, names: EntryNames) -> Ring {
    let endpoints: Vec<(&[Address], u32)> = endpoints.collect();
    let hashes: Vec<u32> = endpoints.iter().map(|(addresses, _)| list_hash(addresses)).collect();
    let listed = in_map_order(&hashes).into_iter();
    let places: Vec<RingEndpoint<String>> = listed
        .filter_map(|index| {
            let (addresses, weight) = endpoints.get(index)?;
            Some(RingEndpoint {
                endpoint: u32::try_from(index).ok()?,
                key: names.name(addresses)?,
                weight: *weight,
            })
        })
        .collect();
    Ring::signed(&places, size, names)
}

/// Returns why the client refuses endpoints: their weights and the sum of these must fit into 32
/// bits (`validateAddrList`). A weight of 0 stands for one that does not.
pub(super) fn refused(endpoints: &EndpointList) -> Option<Status> {
    let weights = || endpoints.iter().map(|endpoint| u64::from(endpoint.weight));
    let fits = weights().all(|weight| weight > 0) && u32::try_from(weights().sum::<u64>()).is_ok();
    (!fits).then(|| {
        let what = "returned weights, or a sum of weights, that do not fit in an unsigned int";
        Status::unavailable(format!("Ring hash lb error: EDS resolution was successful, but {what}"))
    })
}

/// Writes an address without a host name as `InetSocketAddress.toString` does: `/1.2.3.4:80`,
/// `/[2001:db8:0:0:0:0:0:1]:80`.
fn text(address: &SocketAddr) -> String {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => format!("/{ip}:{}", address.port()),
        IpAddr::V6(ip) => {
            let parts: Vec<String> = ip.segments().iter().map(|part| format!("{part:x}")).collect();
            let zone = match address {
                SocketAddr::V6(v6) if v6.scope_id() > 0 => format!("%{}", v6.scope_id()),
                SocketAddr::V4(_) | SocketAddr::V6(_) => String::new(),
            };
            format!("/[{}{zone}]:{}", parts.join(":"), address.port())
        }
    }
}

/// Computes `List.hashCode` of socket addresses.
fn list_hash(addresses: &[Address]) -> u32 {
    addresses.iter().fold(1, |hash: u32, address| {
        hash.wrapping_mul(31).wrapping_add(socket_hash(&address.socket))
    })
}

fn socket_hash(address: &SocketAddr) -> u32 {
    let of_ip = match address.ip().to_canonical() {
        IpAddr::V4(ip) => ip.to_bits(),
        IpAddr::V6(ip) => v6_hash(&ip),
    };
    of_ip.wrapping_add(u32::from(address.port()))
}

/// Adds up four numbers, each made of four signed bytes.
fn v6_hash(ip: &Ipv6Addr) -> u32 {
    let octets = ip.octets();
    let number = |bytes: &[u8]| {
        bytes.iter().fold(0u32, |number, byte| {
            (number << 8).wrapping_add(i32::from(byte.cast_signed()).cast_unsigned())
        })
    };
    octets
        .chunks(4)
        .fold(0, |sum: u32, bytes| sum.wrapping_add(number(bytes)))
}

/// Returns the order in which a map lists keys with these hashes, if they are added one after the
/// other. No two keys are equal.
fn in_map_order(hashes: &[u32]) -> Vec<usize> {
    let spread = |hash: u32| (hash ^ (hash >> 16)) as usize;
    let mut buckets = FIRST_BUCKETS;
    for count in 1..=hashes.len() {
        let Some(newest) = hashes.get(count - 1) else { break };
        let bin = |hash: u32| spread(hash) & (buckets - 1);
        let others = hashes.iter().take(count - 1).filter(|hash| bin(**hash) == bin(*newest));
        if buckets < TREE_BUCKETS && others.count() >= LONG_BIN {
            buckets *= 2;
        }
        if count > buckets / 4 * 3 {
            buckets *= 2;
        }
    }
    let mut listed: Vec<usize> = (0..hashes.len()).collect();
    listed.sort_by_key(|index| hashes.get(*index).map(|hash| spread(*hash) & (buckets - 1)));
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sockets(texts: &[&str]) -> Vec<Address> {
        texts.iter().map(|text| Address::new(text.parse().unwrap())).collect()
    }

    #[test]
    fn addresses_are_written_as_by_java() {
        for (address, written) in [
            ("10.0.0.1:80", "/10.0.0.1:80"),
            ("[2001:db8::1]:443", "/[2001:db8:0:0:0:0:0:1]:443"),
            ("[::ffff:10.0.0.1]:80", "/10.0.0.1:80"),
        ] {
            assert_eq!(text(&address.parse().unwrap()), written);
        }
    }

    /// The expected values are those of OpenJDK 17.
    #[test]
    fn hashes_are_those_of_java() {
        for (addresses, hash) in [
            (&["127.0.1.1:7001"][..], 2_130_713_721_i32),
            (&["[2001:db8::1]:443"], 536_940_179),
            (&["[2001:db8::ffee:1]:443", "10.0.0.1:80"], -923_614_178),
        ] {
            assert_eq!(list_hash(&sockets(addresses)).cast_signed(), hash, "{addresses:?}");
        }
    }

    #[test]
    fn a_map_lists_by_bucket_and_doubles_them_when_it_is_full() {
        assert_eq!(in_map_order(&[17, 2, 1]), [0, 2, 1]);
        assert_eq!(in_map_order(&[0x0001_0000, 0]), [1, 0]);
        let full: Vec<u32> = (0..13).map(|n| n * 16).collect();
        let even_first = [0, 2, 4, 6, 8, 10, 12, 1, 3, 5, 7, 9, 11];
        assert_eq!(in_map_order(&full), even_first);
        // Nine keys are in one bin while there are few buckets.
        assert_eq!(in_map_order(&full[..9]), [0, 2, 4, 6, 8, 1, 3, 5, 7]);
        assert_eq!(in_map_order(&full[..8]), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn behind_the_last_entry_is_the_last_and_hashes_are_signed() {
        let endpoints = [sockets(&["10.0.0.1:80"]), sockets(&["10.0.0.2:80"])];
        let names = EntryNames {
            is_of_list: false,
            grows: false,
            turns: false,
        };
        let made = |names| ring(endpoints.iter().map(|one| (&**one, 1)), Size { min: 8, max: 8 }, names);
        let turning = made(EntryNames { turns: true, ..names });
        assert_eq!(turning.locate(i64::MAX.cast_unsigned()), 0);
        let ring = made(names);
        let hashes: Vec<i64> = ring.entries().iter().map(|entry| entry.hash.cast_signed()).collect();
        assert!(hashes.is_sorted() && hashes[0] < 0);
        assert_eq!(ring.locate(i64::MAX.cast_unsigned()), 7);
        assert_eq!(ring.locate(i64::MIN.cast_unsigned()), 0);
        for ring in [ring, turning] {
            let total: f64 = ring.arcs().sum();
            assert!((total - 1.0).abs() < 1e-9, "{total}");
        }
    }
}
