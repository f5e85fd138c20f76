//! What changes for the RPCs of a cluster: endpoints, LB policy, shares of localities, keys of a
//! ring, drops and sessions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::names;
use super::reach::Reached;
use super::ring::{AddressedRing, ring_moves};
use super::sessions::Sessions;
use xdsctl_channel::client::{Client, HeldResource};
use xdsctl_channel::rpc::weights::endpoint_weights;
use xdsctl_channel::tree::policies;
use xdsctl_lb::name_of;
use xdsctl_lb::ring_hash::{RING_SIZE_CAP, RingWays, Size};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::cluster::{Discovery, HealthStatus};
use xdsctl_model::resource::endpoints::{DropCategory, Endpoint, Endpoints, Locality, LocalityName};
use xdsctl_model::resource::{Cluster, LbConfig, LbPolicy};

/// Most endpoints and ring entries that are looked at for the clusters of two clients.
pub const MAX_ENDPOINT_STEPS: usize = 50_000_000;

/// Most localities and addresses that are listed for all clusters together. A limit is needed
/// because many clusters may use the same assignment.
pub const MAX_LISTED: usize = 1_000_000;

/// Why RPCs fail, both running and new ones, if a cluster becomes an aggregate cluster or ceases to
/// be one.
const KILLED: &str =
    "the client's process dies if it uses the cluster as it becomes an aggregate cluster, or is one no longer";

/// What changes for the RPCs of a cluster, in the fields of `xdsctl.diff/v1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClusterChange {
    /// Name of the cluster.
    pub name: String,
    /// The changes for RPCs of the cluster; clusters with the same endpoints and policies share
    /// this value.
    #[serde(flatten, serialize_with = "shared")]
    pub spread: Arc<SpreadChange>,
    /// Reasons why its RPCs fail after the change that did not exist before.
    pub fails: Vec<String>,
    /// Reasons why its RPCs failed before the change that no longer exist.
    pub failed: Vec<String>,
}

/// What changes for the RPCs of clusters with the same endpoints and policies.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SpreadChange {
    /// Where the endpoints come from, before and after, in words.
    pub discovery: Option<(String, String)>,
    /// The names of the LB policies before and after, the outermost first, if they differ.
    pub lb_policy: Option<(String, String)>,
    /// Number of endpoints of each priority before and after, if a number differs or there are new
    /// endpoints.
    pub endpoints: Option<(Vec<usize>, Vec<usize>)>,
    /// How many endpoints are new in their priority, or in their locality if localities have
    /// shares.
    pub new_endpoints: usize,
    /// Shares of the localities of a priority that differ.
    #[serde(rename = "localities")]
    pub shares: Vec<ShareChange>,
    /// Share of all request hashes that move to another endpoint, in the first priority.
    pub ring_moves: Option<f64>,
    /// Share of the RPCs that the drop categories drop, before and after.
    pub drops: Option<(f64, f64)>,
    /// Addresses to which a session cookie can no longer direct an RPC.
    pub lost_sessions: Vec<SocketAddr>,
    /// Addresses that have become DRAINING: they get no new RPCs.
    pub drained: Vec<SocketAddr>,
    /// Addresses in `drained` to which a session cookie still directs RPCs.
    pub kept_sessions: Vec<SocketAddr>,
    /// Addresses that are no longer DRAINING.
    pub undrained: Vec<SocketAddr>,
}

fn shared<S: Serializer>(spread: &Arc<SpreadChange>, serializer: S) -> Result<S::Ok, S::Error> {
    spread.serialize(serializer)
}

/// The share of a priority's RPCs that a locality gets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShareChange {
    /// The priority; 0 is the highest.
    pub priority: usize,
    /// Region, zone and sub-zone, separated by slashes.
    pub locality: String,
    /// The share before the change, from 0 to 1.
    pub before: f64,
    /// The share after the change, from 0 to 1.
    pub after: f64,
}

/// Finds what changes for the clusters that both clients hold and to which RPCs of at least one can
/// go. Also says whether a limit kept something from being compared or listed.
pub(super) fn changes(before: &Client, after: &Client, (was, is): (&Reached, &Reached)) -> (Vec<ClusterChange>, bool) {
    let mut comparison = ClusterComparison::new(before, after);
    let kills = [before, after]
        .iter()
        .all(|client| client.profile.has(Feature::ChangedKindKills));
    let change = |name: &String| {
        if !was.has(name) && !is.has(name) {
            return None;
        }
        let sides = ClusterSide::of(before, name).zip(ClusterSide::of(after, name));
        let change = sides.and_then(|(one, other)| comparison.change(name, one, other));
        let (failed, fails) = (fails(before, name), fails(after, name));
        let fails_only = |these: &[String], others: &[String]| {
            let own = these.iter().filter(|why| !others.contains(why));
            own.cloned().collect::<Vec<_>>()
        };
        let (failed, mut fails) = (fails_only(failed, fails), fails_only(fails, failed));
        let is_routed = was.has_route_to(name) && is.has_route_to(name);
        if is_routed && sides.is_some_and(|(one, other)| one.is_aggregate() != other.is_aggregate()) && kills {
            fails.push(KILLED.to_owned());
        }
        match change {
            Some(change) => Some(ClusterChange {
                fails,
                failed,
                ..change
            }),
            // Why the RPCs of a cluster failed is of no interest if the cluster is gone.
            None if sides.is_none() && fails.is_empty() || fails.is_empty() && failed.is_empty() => None,
            None => Some(ClusterChange {
                name: name.clone(),
                spread: Arc::default(),
                fails,
                failed,
            }),
        }
    };
    let names = names(&before.resources.clusters, &after.resources.clusters);
    let changes = names.into_iter().filter_map(change).collect();
    (changes, comparison.is_cut)
}

/// Returns the reasons why RPCs of a cluster fail although the client accepts it.
fn fails<'a>(client: &'a Client, name: &str) -> &'a [String] {
    let held = client.resources.clusters.get(name);
    held.map_or(&[], HeldResource::fails)
}

/// A cluster and its endpoints, as one client holds them.
#[derive(Debug, Clone, Copy)]
struct ClusterSide<'a> {
    cluster: &'a Cluster,
    endpoints: Option<&'a Arc<Endpoints>>,
}

/// The parts of a cluster that decide where its RPCs go; clusters that are alike in them are
/// compared once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Decisive<'a> {
    /// The address in memory of the endpoints, by which shared endpoints are recognised.
    endpoints: Option<usize>,
    discovery: &'a Discovery,
    lb_policy: &'a LbPolicy,
    override_host_statuses: &'a BTreeSet<HealthStatus>,
}

/// Compares the clusters of two clients. Pairs that are alike are compared once.
#[derive(Debug)]
struct ClusterComparison<'a> {
    before: &'a Profile,
    after: &'a Profile,
    /// The clusters in which sessions are possible, before and after.
    sessions: (Sessions, Sessions),
    known: HashMap<(Decisive<'a>, Decisive<'a>, bool), Option<Arc<SpreadChange>>>,
    steps: usize,
    listed: usize,
    /// Whether a limit kept something from being compared or listed.
    is_cut: bool,
}

impl<'a> ClusterComparison<'a> {
    fn new(before: &'a Client, after: &'a Client) -> ClusterComparison<'a> {
        ClusterComparison {
            before: &before.profile,
            after: &after.profile,
            sessions: (Sessions::of(before), Sessions::of(after)),
            known: HashMap::new(),
            steps: 0,
            listed: 0,
            is_cut: false,
        }
    }

    /// Finds what changes for a cluster that both clients hold; `None` if nothing does.
    fn change(&mut self, name: &str, before: ClusterSide<'a>, after: ClusterSide<'a>) -> Option<ClusterChange> {
        let has_sessions = self.sessions.0.has(name) && self.sessions.1.has(name);
        let key = (before.decisive(), after.decisive(), has_sessions);
        let spread = match self.known.get(&key) {
            Some(known) => known.clone(),
            None => {
                let found = self.compare(before, after, has_sessions);
                self.known.insert(key, found.clone());
                found
            }
        }?;
        let addresses = [&spread.lost_sessions, &spread.drained, &spread.undrained];
        self.listed += spread.shares.len() + addresses.map(|list| list.len()).iter().sum::<usize>();
        if self.listed > MAX_LISTED {
            self.is_cut = true;
            return None;
        }
        let name = name.to_owned();
        Some(ClusterChange {
            name,
            spread,
            fails: Vec::new(),
            failed: Vec::new(),
        })
    }

    fn compare(
        &mut self,
        before: ClusterSide<'_>,
        after: ClusterSide<'_>,
        has_sessions: bool,
    ) -> Option<Arc<SpreadChange>> {
        if self.steps > MAX_ENDPOINT_STEPS {
            self.is_cut = true;
            return None;
        }
        self.steps += before.len() + after.len();
        let is_like = before.cluster.lb_policy == after.cluster.lb_policy
            && before.cluster.override_host_statuses == after.cluster.override_host_statuses
            && before.cluster.discovery == after.cluster.discovery
            && before.endpoints == after.endpoints;
        if is_like {
            return None;
        }
        let mut change = SpreadChange {
            discovery: sources(before, after),
            ..SpreadChange::default()
        };
        let ways = (RingWays::of(self.before), RingWays::of(self.after));
        let spreads = (before.spread(&ways.0), after.spread(&ways.1));
        let by_locality = matches!(spreads, (Spread::ByLocality, Spread::ByLocality));
        change.new_endpoints = after.new_endpoints(&before, by_locality);
        let counts = (before.counts(), after.counts());
        change.endpoints = (counts.0 != counts.1 || change.new_endpoints > 0).then_some(counts);
        match spreads {
            (Spread::Ring(size), Spread::Ring(other)) => {
                let rings = (
                    before.ring(size, &ways.0, self.before),
                    after.ring(other, &ways.1, self.after),
                );
                change.ring_moves = ring_moves(&rings.0, &rings.1, &mut self.steps);
            }
            (Spread::ByLocality, Spread::ByLocality) => change.shares = shares(before.priorities(), after.priorities()),
            _ => {}
        }
        let policies = (before.policies(self.before), after.policies(self.after));
        change.lb_policy = policies.0.zip(policies.1).filter(|(one, other)| one != other);
        let drops = (before.drops(), after.drops());
        change.drops = ((drops.0 - drops.1).abs() > 1e-9).then_some(drops);
        let drains = after.drains();
        for (address, drained) in before.drains() {
            match (drained, drains.get(&address)) {
                (false, Some(true)) => change.drained.push(address),
                (true, Some(false)) => change.undrained.push(address),
                _ => {}
            }
        }
        if has_sessions {
            let (mut lost, kept) = (before.session_addresses(), after.session_addresses());
            let held = |address: &SocketAddr| lost.contains(address) && kept.contains(address);
            change.kept_sessions = change.drained.iter().copied().filter(held).collect();
            lost.retain(|address| !kept.contains(address));
            change.lost_sessions = lost.into_iter().collect();
        }
        (change != SpreadChange::default()).then(|| Arc::new(change))
    }
}

/// Returns where the endpoints come from before and after, if that differs and the endpoints
/// themselves do not show the difference.
fn sources(before: ClusterSide<'_>, after: ClusterSide<'_>) -> Option<(String, String)> {
    let words = |discovery: &Discovery| match discovery {
        Discovery::Eds { service_name: None } => "EDS, by the cluster's name".to_owned(),
        Discovery::Eds {
            service_name: Some(name),
        } => format!("EDS {name}"),
        Discovery::LogicalDns { hostname } => format!("DNS {hostname}"),
        Discovery::Aggregate { children } => format!("the clusters {}", children.join(", ")),
    };
    let is_eds = |side: ClusterSide<'_>| matches!(side.cluster.discovery, Discovery::Eds { .. });
    let are_known = before.endpoints.or(after.endpoints).is_some();
    let (one, other) = (&before.cluster.discovery, &after.cluster.discovery);
    let is_told = one != other && !(are_known && is_eds(before) && is_eds(after));
    is_told.then(|| (words(one), words(other)))
}

/// Returns the names of the policies of an LB config, the outermost first.
fn policy_names(config: &LbConfig) -> String {
    let all = std::iter::successors(Some(config), |config| config.only_child());
    let names = all.map(|config| name_of(config).trim_end_matches("_experimental"));
    names.collect::<Vec<_>>().join(" over ")
}

/// How the cluster distributes RPCs to its endpoints, as far as shares can be computed.
enum Spread {
    /// RPCs are distributed by the weights of localities.
    ByLocality,
    /// RPCs are distributed by their request hash, on a ring of this size.
    Ring(Size),
    /// RPCs are distributed in another way.
    Other,
}

impl<'a> ClusterSide<'a> {
    /// Finds a cluster of a client; `None` if the client does not hold it.
    fn of(client: &'a Client, name: &str) -> Option<ClusterSide<'a>> {
        let cluster = client.resources.clusters.get(name)?.value()?;
        let assigned = |name: &str| client.resources.endpoints.get(name)?.value();
        let endpoints = cluster.discovery.eds_name(name).and_then(assigned);
        Some(ClusterSide { cluster, endpoints })
    }

    fn decisive(&self) -> Decisive<'a> {
        Decisive {
            endpoints: self.endpoints.map(|endpoints| Arc::as_ptr(endpoints).addr()),
            discovery: &self.cluster.discovery,
            lb_policy: &self.cluster.lb_policy,
            override_host_statuses: &self.cluster.override_host_statuses,
        }
    }

    fn priorities(&self) -> &'a [Vec<Locality>] {
        self.endpoints.map_or(&[], |endpoints| endpoints.priorities.as_slice())
    }

    /// Returns the number of endpoints of each priority.
    fn counts(&self) -> Vec<usize> {
        let count = |priority: &Vec<Locality>| priority.iter().map(|locality| locality.endpoints.len()).sum();
        self.priorities().iter().map(count).collect()
    }

    /// Returns the number of localities and endpoints together.
    fn len(&self) -> usize {
        let localities = self.priorities().iter().flatten();
        localities.map(|locality| 1 + locality.endpoints.len()).sum()
    }

    fn spread(&self, ways: &RingWays) -> Spread {
        let policy = &self.cluster.lb_policy;
        match &policy.config {
            _ if policy.refusal.is_some() => Spread::Other,
            LbConfig::WrrLocality(_) => Spread::ByLocality,
            LbConfig::RingHash(config) => Spread::Ring(ways.size(config, RING_SIZE_CAP)),
            _ => Spread::Other,
        }
    }

    fn is_aggregate(&self) -> bool {
        matches!(self.cluster.discovery, Discovery::Aggregate { .. })
    }

    /// Returns the names of its LB policies; `None` for an aggregate whose leaves have their own
    /// policies.
    fn policies(&self, profile: &Profile) -> Option<String> {
        let is_read = !self.is_aggregate() || profile.has(Feature::AggregateClusterBackwardCompat);
        is_read.then(|| policy_names(&self.cluster.lb_policy.config))
    }

    /// Returns the ring of the first priority. It has no draining endpoints.
    fn ring(&self, size: Size, ways: &RingWays, profile: &Profile) -> AddressedRing {
        let priority = self.priorities().first().map_or(&[][..], Vec::as_slice);
        let weights = endpoint_weights(priority, profile);
        let of_locality = |(locality, weights): (&'a Locality, Vec<u32>)| {
            let endpoints = locality.endpoints.iter().zip(weights);
            let active = endpoints.filter(|(endpoint, _)| endpoint.health != HealthStatus::Draining);
            active.collect::<Vec<(&'a Endpoint, u32)>>()
        };
        let endpoints: Vec<(&Endpoint, u32)> = priority.iter().zip(weights).flat_map(of_locality).collect();
        let ring = policies::ring(&endpoints, size, ways);
        (ring, endpoints.iter().map(|(endpoint, _)| endpoint.address).collect())
    }

    /// Returns how many endpoints the other side does not have in the same priority and, with
    /// `by_locality`, the same locality.
    fn new_endpoints(&self, other: &ClusterSide<'_>, by_locality: bool) -> usize {
        fn places<'s>(
            side: &ClusterSide<'s>,
            by_locality: bool,
        ) -> BTreeSet<(usize, Option<&'s LocalityName>, SocketAddr)> {
            let priorities = side.priorities().iter().enumerate();
            let localities = priorities.flat_map(|(at, list)| list.iter().map(move |locality| (at, locality)));
            let of = |(at, locality): (usize, &'s Locality)| {
                let name = by_locality.then_some(&locality.name);
                let endpoints = locality.endpoints.iter();
                endpoints.map(move |endpoint| (at, name, endpoint.address))
            };
            localities.flat_map(of).collect()
        }
        let (places, others) = (places(self, by_locality), places(other, by_locality));
        places.difference(&others).count()
    }

    /// Returns the share of the RPCs that the drop categories drop.
    fn drops(&self) -> f64 {
        let categories = self.endpoints.and_then(|endpoints| endpoints.drops.as_ref());
        let categories = categories.map_or(&[][..], |drops| &drops.categories);
        let passes = |category: &DropCategory| 1.0 - f64::from(category.per_million.min(1_000_000)) / 1e6;
        1.0 - categories.iter().map(passes).product::<f64>()
    }

    /// Says for each address whether all endpoints that have it are DRAINING.
    fn drains(&self) -> BTreeMap<SocketAddr, bool> {
        let mut drains = BTreeMap::new();
        let localities = self.priorities().iter().flatten();
        for endpoint in localities.flat_map(|locality| &locality.endpoints) {
            let is_draining = endpoint.health == HealthStatus::Draining;
            for address in endpoint.addresses() {
                *drains.entry(address).or_insert(true) &= is_draining;
            }
        }
        drains
    }

    /// Returns the addresses to which a session can direct an RPC.
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

/// Returns the localities whose share differs, priority by priority.
fn shares(before: &[Vec<Locality>], after: &[Vec<Locality>]) -> Vec<ShareChange> {
    let of = |priority: Option<&Vec<Locality>>| -> BTreeMap<String, f64> {
        let localities = priority.map_or(&[][..], Vec::as_slice);
        let sum: f64 = localities.iter().map(|locality| f64::from(locality.weight)).sum();
        localities
            .iter()
            .map(|locality| (locality.name.short(), f64::from(locality.weight) / sum))
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns a client whose clusters share endpoints with these weights. Each cluster has a ring
    /// with its own minimum size.
    fn client(sizes: &[u64], weights: &[u32]) -> Client {
        let endpoint = |(port, weight): (usize, &u32)| {
            json!({"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": port + 1}}},
                "load_balancing_weight": weight})
        };
        let list: Vec<Value> = weights.iter().enumerate().map(endpoint).collect();
        let mut resources = vec![json!({
            "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "e",
            "endpoints": [{"locality": {}, "load_balancing_weight": 1, "lb_endpoints": list}],
        })];
        resources.extend(sizes.iter().enumerate().map(|(number, size)| {
            json!({
                "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": format!("c{number}"),
                "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}, "service_name": "e"},
                "lb_policy": "RING_HASH", "ring_hash_lb_config": {"minimum_ring_size": size},
            })
        }));
        let mut client = Client::default();
        assert_eq!(client.update(&resources.into()).notes, Vec::<String>::new());
        client
    }

    #[test]
    fn clusters_of_the_same_endpoints_and_policies_are_compared_once() {
        let (before, after) = (client(&[64; 20], &[1; 30]), client(&[64; 20], &[1; 29]));
        let mut comparison = ClusterComparison::new(&before, &after);
        let mut changes = Vec::new();
        for number in 0..20 {
            let name = format!("c{number}");
            let sides = (
                ClusterSide::of(&before, &name).unwrap(),
                ClusterSide::of(&after, &name).unwrap(),
            );
            changes.push(comparison.change(&name, sides.0, sides.1).unwrap());
        }
        // The localities and endpoints of both sides, and the entries of both rings.
        assert_eq!(comparison.steps, 31 + 30 + 90 + 87);
        assert!(
            changes
                .iter()
                .all(|change| Arc::ptr_eq(&change.spread, &changes[0].spread))
        );
        assert_eq!(changes[7].name, "c7");
        assert_eq!(changes[7].spread.endpoints, Some((vec![30], vec![29])));
    }

    #[test]
    fn what_is_too_much_is_not_compared_and_that_is_known() {
        let (before, after) = (client(&[64, 65], &[1; 30]), client(&[64, 65], &[1; 29]));
        let mut comparison = ClusterComparison::new(&before, &after);
        let mut next = |name: &str, steps: Option<usize>, told: usize| {
            comparison.steps = steps.unwrap_or(comparison.steps);
            comparison.listed = told;
            let sides = (
                ClusterSide::of(&before, name).unwrap(),
                ClusterSide::of(&after, name).unwrap(),
            );
            let is_told = comparison.change(name, sides.0, sides.1).is_some();
            (is_told, comparison.is_cut)
        };
        assert_eq!(next("c0", Some(MAX_ENDPOINT_STEPS), MAX_LISTED), (true, false));
        assert_eq!(next("c1", Some(MAX_ENDPOINT_STEPS + 1), 0), (false, true));
        let mut comparison = ClusterComparison::new(&before, &after);
        let sides = (
            ClusterSide::of(&before, "c0").unwrap(),
            ClusterSide::of(&after, "c0").unwrap(),
        );
        comparison.listed = MAX_LISTED + 1;
        assert_eq!(comparison.change("c0", sides.0, sides.1), None);
        assert!(comparison.is_cut);
    }
}
