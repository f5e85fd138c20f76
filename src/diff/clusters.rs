//! What changes for the RPCs of a cluster: shares of localities, keys of a ring, sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use crate::lb::ring_hash::{RING_SIZE_CAP, Ring, RingEntry, Size};
use crate::lb::{Config, parse_list};
use crate::model::Cluster;
use crate::model::cluster::HealthStatus;
use crate::model::endpoints::{Endpoints, Locality, counted_weight};
use crate::profile::Profile;
use crate::rpc::weights::endpoint_weights;
use crate::tree::policies::ring_key;

/// What changes for the RPCs of a cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterChange {
    /// Name of the cluster.
    pub name: String,
    /// Endpoints by priority before and after, if one of them differs.
    pub endpoints: Option<(Vec<usize>, Vec<usize>)>,
    /// Shares of the localities of a priority that differ.
    pub shares: Vec<ShareChange>,
    /// Share of all request hashes whose endpoint is another one, in the first priority.
    pub ring_moves: Option<f64>,
    /// Addresses that a session cookie can no longer hold an RPC to.
    pub lost_sessions: Vec<SocketAddr>,
}

/// The share of a priority's RPCs that a locality gets.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareChange {
    /// The priority.
    pub priority: usize,
    /// Region, zone and sub-zone, with slashes.
    pub locality: String,
    /// Before, 0 to 1.
    pub before: f64,
    /// After.
    pub after: f64,
}

/// A cluster and its endpoints, as one client holds them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) endpoints: Option<&'a Endpoints>,
    pub(super) profile: &'a Profile,
    /// Some filter of the client keeps sessions.
    pub(super) has_sessions: bool,
}

/// What the cluster does with its endpoints, as far as shares follow from it.
enum Spread {
    /// By the weight of the locality.
    ByLocality,
    /// On a ring.
    Ring(Size),
    /// In a way of its own.
    Other,
}

impl Side<'_> {
    fn priorities(&self) -> &[Vec<Locality>] {
        self.endpoints.map_or(&[], |endpoints| endpoints.priorities.as_slice())
    }

    fn spread(&self) -> Spread {
        match parse_list(&self.cluster.lb_policy, self.profile) {
            Ok(Config::WrrLocality(_)) => Spread::ByLocality,
            Ok(Config::RingHash(config)) => Spread::Ring(config.size(RING_SIZE_CAP)),
            Ok(_) | Err(_) => Spread::Other,
        }
    }

    /// The endpoints of a ring, with their weights and keys.
    fn keys(&self) -> Vec<(String, u32)> {
        let Some(priority) = self.priorities().first() else {
            return Vec::new();
        };
        let weights = endpoint_weights(priority, self.profile);
        let of_locality = |(locality, weights): (&Locality, Vec<u32>)| {
            let endpoints = locality.endpoints.iter().zip(weights);
            endpoints
                .map(|(endpoint, weight)| (ring_key(endpoint), counted_weight(weight)))
                .collect::<Vec<_>>()
        };
        priority.iter().zip(weights).flat_map(of_locality).collect()
    }

    /// Addresses that a session can hold an RPC to.
    fn session_addresses(&self) -> BTreeSet<SocketAddr> {
        let statuses: &BTreeSet<HealthStatus> = &self.cluster.override_host_statuses;
        let endpoints = self
            .priorities()
            .iter()
            .flatten()
            .flat_map(|locality| &locality.endpoints);
        let endpoints = endpoints.filter(|endpoint| statuses.contains(&endpoint.health));
        endpoints.flat_map(|endpoint| endpoint.addresses()).collect()
    }
}

/// Finds what changes for a cluster that both clients hold; `None` if nothing does.
pub(super) fn compare(name: &str, before: Side<'_>, after: Side<'_>) -> Option<ClusterChange> {
    let counts = |side: &Side<'_>| -> Vec<usize> {
        let count = |priority: &Vec<Locality>| priority.iter().map(|locality| locality.endpoints.len()).sum();
        side.priorities().iter().map(count).collect()
    };
    let (counts_before, counts_after) = (counts(&before), counts(&after));
    let mut change = ClusterChange {
        name: name.to_owned(),
        endpoints: (counts_before != counts_after).then_some((counts_before, counts_after)),
        ..ClusterChange::default()
    };
    match (before.spread(), after.spread()) {
        (Spread::Ring(size), Spread::Ring(other)) => change.ring_moves = ring_moves(&before, size, &after, other),
        (Spread::ByLocality, Spread::ByLocality) => change.shares = shares(before.priorities(), after.priorities()),
        _ => {}
    }
    if before.has_sessions && after.has_sessions {
        let kept = after.session_addresses();
        let lost = before
            .session_addresses()
            .into_iter()
            .filter(|address| !kept.contains(address));
        change.lost_sessions = lost.collect();
    }
    let nothing = ClusterChange {
        name: name.to_owned(),
        ..ClusterChange::default()
    };
    (change != nothing).then_some(change)
}

/// Shares of the localities that differ, priority by priority.
fn shares(before: &[Vec<Locality>], after: &[Vec<Locality>]) -> Vec<ShareChange> {
    let of = |priority: Option<&Vec<Locality>>| -> BTreeMap<String, f64> {
        let localities = priority.map_or(&[][..], Vec::as_slice);
        let sum: f64 = localities.iter().map(|locality| f64::from(locality.weight)).sum();
        let name = |locality: &Locality| {
            let name = [&*locality.name.region, &*locality.name.zone, &*locality.name.sub_zone].join("/");
            name.trim_end_matches('/').to_owned()
        };
        localities
            .iter()
            .map(|locality| (name(locality), f64::from(locality.weight) / sum))
            .collect()
    };
    let mut changes = Vec::new();
    for priority in 0..before.len().max(after.len()) {
        let (before, after) = (of(before.get(priority)), of(after.get(priority)));
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let share = |of: &BTreeMap<String, f64>| of.get(name).copied().unwrap_or(0.0);
            let (before, after) = (share(&before), share(&after));
            if (before - after).abs() > 1e-9 {
                changes.push(ShareChange {
                    priority,
                    locality: name.clone(),
                    before,
                    after,
                });
            }
        }
    }
    changes
}

/// The share of all hashes whose endpoint is another one; `None` if none is, or if there is no ring on one side.
fn ring_moves(before: &Side<'_>, size: Size, after: &Side<'_>, size_after: Size) -> Option<f64> {
    let (keys_before, keys_after) = (before.keys(), after.keys());
    if keys_before.is_empty() || keys_after.is_empty() || (keys_before == keys_after && size == size_after) {
        return None;
    }
    let (before, after) = (Ring::new(&keys_before, size), Ring::new(&keys_after, size_after));
    let key = |ring: &Ring, hash: u64, keys: &[(String, u32)]| -> Option<String> {
        let RingEntry { endpoint, .. } = ring.entries().get(ring.locate(hash))?;
        keys.get(usize::try_from(*endpoint).ok()?).map(|(key, _)| key.clone())
    };
    // Between two places of either ring all hashes have the same endpoints.
    let entries = before.entries().iter().chain(after.entries());
    let places: BTreeSet<u64> = entries.map(|entry| entry.hash).collect();
    let mut moved: u128 = 0;
    let mut last: Option<u64> = None;
    for place in places {
        let width = match last {
            // The hashes up to the first place, and those behind the last one, which belong to it too.
            None => u128::from(place) + 1,
            Some(last) => u128::from(place) - u128::from(last),
        };
        if key(&before, place, &keys_before) != key(&after, place, &keys_after) {
            moved += width;
        }
        last = Some(place);
    }
    if let Some(last) = last.filter(|last| *last < u64::MAX)
        && key(&before, u64::MAX, &keys_before) != key(&after, u64::MAX, &keys_after)
    {
        moved += u128::from(u64::MAX - last);
    }
    let all = u64::MAX as f64 + 1.0; // 2^64
    (moved > 0).then(|| moved as f64 / all)
}
