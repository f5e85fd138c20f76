//! The share of a priority's RPCs that each locality gets, as far as the configuration fixes it.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::policies;
use xdsctl_lb::LbConfig;
use xdsctl_lb::ring_hash::RingHashConfig;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::LbPolicy;
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::{Endpoint, Locality};

/// The share of each locality of a priority, from 0 to 1; `None` where load, connections or chance
/// decide.
///
/// Endpoints that are DRAINING get no new RPCs, and a locality with only such endpoints gets none.
/// All other endpoints count as connected. For ring_hash, hashes count as evenly distributed: the
/// parts of the ring are the shares.
///
/// ```
/// use xdsctl_channel::tree::shares::of_localities;
/// use xdsctl_model::{profile::Profile, resource::{LbConfig, LbPolicy}};
/// let config = LbConfig::RoundRobin(Default::default());
/// let policy = LbPolicy { config, refusal: None, json: serde_json::json!([{"round_robin": {}}]) };
/// assert!(of_localities(&policy, &[], &Profile::default()).is_empty());
/// ```
pub fn of_localities(policy: &LbPolicy, priority: &[Locality], profile: &Profile) -> Vec<Option<f64>> {
    if policy.refusal.is_some() {
        return vec![None; priority.len()];
    }
    let counts: Vec<usize> = priority.iter().map(|of| active(of).count()).collect();
    let used = counts.iter().filter(|count| **count > 0).count();
    let parts: Option<Vec<f64>> = match &policy.config {
        _ if used <= 1 => Some(counts.iter().map(|count| *count as f64).collect()),
        LbConfig::WrrLocality(_) => Some(priority.iter().map(|of| f64::from(of.weight)).collect()),
        // It is not known which of two localities gets an address that both have.
        _ if is_in_two(priority) => None,
        LbConfig::RoundRobin(_) => Some(counts.iter().map(|count| *count as f64).collect()),
        LbConfig::RingHash(config) => Some(ring_parts(config, priority, profile)),
        _ => None,
    };
    let part = |at: usize| match counts.get(at) {
        Some(0) => Some(0.0),
        _ => parts.as_ref()?.get(at).copied(),
    };
    let parts: Vec<Option<f64>> = (0..priority.len()).map(part).collect();
    let sum: f64 = parts.iter().flatten().sum();
    let share = |part: f64| if part > 0.0 { part / sum } else { 0.0 };
    parts.into_iter().map(|part| part.map(share)).collect()
}

/// The endpoints that get new RPCs.
fn active(locality: &Locality) -> impl Iterator<Item = &Endpoint> {
    let endpoints = locality.endpoints.iter();
    endpoints.filter(|endpoint| endpoint.health != HealthStatus::Draining)
}

/// Says whether an address stands in two localities.
fn is_in_two(priority: &[Locality]) -> bool {
    let mut places: HashMap<SocketAddr, usize> = HashMap::new();
    let all = priority.iter().enumerate();
    let mut all = all.flat_map(|(at, of)| {
        active(of)
            .flat_map(Endpoint::addresses)
            .map(move |address| (at, address))
    });
    all.any(|(at, address)| *places.entry(address).or_insert(at) != at)
}

/// The part of the ring that each locality has.
fn ring_parts(config: &RingHashConfig, priority: &[Locality], profile: &Profile) -> Vec<f64> {
    let places = priority.iter().enumerate();
    let places: Vec<usize> = places.flat_map(|(at, of)| active(of).map(move |_| at)).collect();
    let mut parts = vec![0.0; priority.len()];
    for (endpoint, arc) in policies::ring_arcs(config, &policies::parts(priority, profile)) {
        if let Some(part) = places.get(endpoint).and_then(|at| parts.get_mut(*at)) {
            *part += arc;
        }
    }
    parts
}
