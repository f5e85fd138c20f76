//! A ClusterLoadAssignment as the client keeps it.

use super::cluster::HealthStatus;
use super::pieces::Pieces;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

/// The message `envoy.config.endpoint.v3.ClusterLoadAssignment`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Endpoints {
    /// The localities of each priority, from priority 0 on, without gaps. C-core keeps the
    /// localities of a priority in the order of their names, the other clients in that of the
    /// resource.
    pub priorities: Vec<Vec<Locality>>,
    /// The drop settings, present if there is at least one drop_overload.
    pub drops: Option<DropConfig>,
    /// The first host name that stands where other endpoints have an IP address. The client looks
    /// the name up when it connects; the endpoint is not among `priorities`.
    pub host_name: Option<String>,
}

impl Endpoints {
    /// Returns these endpoints with each locality in one priority only: the last that names it.
    /// Localities of a priority are in the order in which the resource first names them, and
    /// priorities without a locality are removed. Returns `None` if nothing changes. Follows
    /// grpc-java `XdsEndpointResource`, which keeps localities by name.
    pub fn with_localities_once(&self) -> Option<Endpoints> {
        let mut places: BTreeMap<&LocalityName, (usize, usize)> = BTreeMap::new();
        let all = || self.priorities.iter().flatten();
        for locality in all() {
            let (first, last) = places.entry(&locality.name).or_insert((locality.index, 0));
            *first = locality.index.min(*first);
            *last = locality.index.max(*last);
        }
        if places.len() == all().count() {
            return None;
        }
        let place = |locality: &Locality| places.get(&locality.name).copied().unwrap_or_default();
        let is_last = |locality: &&Locality| place(locality).1 == locality.index;
        let kept = self.priorities.iter().map(|localities| {
            let mut kept: Vec<Locality> = localities.iter().filter(is_last).cloned().collect();
            kept.sort_by_key(|locality| place(locality).0);
            kept
        });
        Some(Endpoints {
            priorities: kept.filter(|localities| !localities.is_empty()).collect(),
            drops: self.drops.clone(),
            host_name: self.host_name.clone(),
        })
    }
}

/// The three names of a locality.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalityName {
    /// The region; may be empty.
    pub region: String,
    /// The zone; may be empty.
    pub zone: String,
    /// The sub-zone; may be empty.
    pub sub_zone: String,
}

impl LocalityName {
    /// Returns `REGION/ZONE/SUB_ZONE`, without trailing slashes.
    pub fn short(&self) -> String {
        short_name(&self.region, &self.zone, &self.sub_zone)
    }
}

/// Returns `REGION/ZONE/SUB_ZONE`, without trailing slashes.
pub fn short_name(region: &str, zone: &str, sub_zone: &str) -> String {
    let name = format!("{region}/{zone}/{sub_zone}");
    name.trim_end_matches('/').to_owned()
}

impl fmt::Display for LocalityName {
    /// Writes the client's form: `{region="r", zone="z", sub_zone="s"}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{region=\"{}\", zone=\"{}\", sub_zone=\"{}\"}}",
            self.region, self.zone, self.sub_zone
        )
    }
}

/// A locality that the client kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Locality {
    /// The index of the locality in the resource.
    pub index: usize,
    /// Region, zone and sub-zone.
    pub name: LocalityName,
    /// The weight, from 1 to 4,294,967,295.
    pub weight: u32,
    /// The sum of the weights of endpoints that are left out but still count when shares are
    /// computed; see [`Feature::SharesOfAll`](crate::profile::Feature::SharesOfAll).
    pub left_out_weight: u64,
    /// The endpoints that are kept, in order.
    pub endpoints: Pieces<Endpoint>,
}

/// An endpoint that the client kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The index of the endpoint in the locality.
    pub index: usize,
    /// The primary address.
    pub address: SocketAddr,
    /// Further addresses of the same endpoint in order (A61).
    pub additional_addresses: Vec<SocketAddr>,
    /// The weight within its locality, at least 1.
    pub weight: u32,
    /// The weight was not set, so it is the default.
    pub weight_is_default: bool,
    /// The health state: UNKNOWN, HEALTHY or DRAINING.
    pub health: HealthStatus,
    /// The value of `hostname`; may be empty.
    pub hostname: String,
    /// The HTTP CONNECT proxy as `ip:port`: the endpoint's, otherwise the locality's (A86, only
    /// with that feature).
    pub proxy: Option<String>,
    /// The key on a hash ring, not empty (A76, only with that feature).
    pub hash_key: Option<String>,
}

impl Endpoint {
    /// Makes an endpoint of which only the address is known.
    pub const fn of(index: usize, address: SocketAddr) -> Endpoint {
        Endpoint {
            index,
            address,
            additional_addresses: Vec::new(),
            weight: 1,
            weight_is_default: true,
            health: HealthStatus::Unknown,
            hostname: String::new(),
            proxy: None,
            hash_key: None,
        }
    }

    /// Returns all addresses, the primary one first. An IPv6 zone is the address's scope id, and
    /// part of its identity.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        std::iter::once(self.address).chain(self.additional_addresses.iter().copied())
    }
}

/// The drop settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DropConfig {
    /// The categories in order. Each is drawn separately.
    pub categories: Vec<DropCategory>,
    /// One of the categories drops everything.
    pub drop_all: bool,
}

/// One drop category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropCategory {
    /// The name of the category, not empty.
    pub category: String,
    /// The share of RPCs that are dropped, per million: 0 to 1,000,000.
    pub per_million: u32,
}

/// Returns a weight as policies read it, as a signed 32-bit number: 0 and weights above 2^31 - 1
/// count as 1.
pub fn counted_weight(weight: u32) -> u32 {
    match i32::try_from(weight) {
        Ok(1..) => weight,
        Ok(_) | Err(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_place_of_a_locality_counts() {
        let locality = |index, region: &str| Locality {
            index,
            name: LocalityName {
                region: region.to_owned(),
                ..LocalityName::default()
            },
            weight: 1,
            left_out_weight: 0,
            endpoints: Pieces::new(),
        };
        let plain = Endpoints {
            priorities: vec![vec![locality(0, "a")], vec![locality(1, "b")]],
            drops: None,
            host_name: None,
        };
        assert_eq!(plain.with_localities_once(), None);
        let twice = Endpoints {
            priorities: vec![vec![locality(0, "a"), locality(2, "b")], vec![locality(1, "b")]],
            drops: None,
            host_name: None,
        };
        let kept = twice.with_localities_once().unwrap().priorities;
        assert_eq!(kept, [vec![locality(0, "a"), locality(2, "b")]]);
    }
}
