//! The nodes of a leaf cluster's LB policy, from below a priority down to the endpoints.

use std::net::SocketAddr;

use super::node::{NodeKind, TreeNode};
use crate::rpc::weights::endpoint_weights;
use xdsctl_lb::endpoint::Address;
use xdsctl_lb::{
    self, LbConfig, least_request, p2c, pick_first, ring_hash, round_robin, weighted_round_robin, weighted_target,
    wrr_locality,
};
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::counted_weight as counted;
use xdsctl_model::resource::endpoints::{Endpoint, Locality, LocalityName};
use xdsctl_model::text::percent;

/// A locality with the weights of its endpoints.
#[derive(Debug, Clone)]
pub struct WeightedLocality<'a> {
    locality: &'a Locality,
    weights: Vec<u32>,
    /// How the client builds its rings.
    ways: ring_hash::RingWays,
}

/// The localities of a priority.
pub fn parts<'a>(priority: &'a [Locality], profile: &Profile) -> Vec<WeightedLocality<'a>> {
    priority
        .iter()
        .zip(endpoint_weights(priority, profile))
        .map(|(locality, weights)| WeightedLocality {
            locality,
            weights,
            ways: ring_hash::RingWays::of(profile),
        })
        .collect()
}

impl<'a> WeightedLocality<'a> {
    /// The endpoints that the policies below xds_override_host get: all that are not draining.
    fn active(&self) -> impl Iterator<Item = (&'a Endpoint, u32)> {
        self.locality
            .endpoints
            .iter()
            .zip(self.weights.iter().copied())
            .filter(|(endpoint, _)| endpoint.health != HealthStatus::Draining)
    }
}

/// The node of a policy that gets these endpoints.
pub fn policy(config: &LbConfig, parts: &[WeightedLocality<'_>]) -> TreeNode {
    match config {
        LbConfig::WrrLocality(config) => {
            let mut named: Vec<(String, &WeightedLocality<'_>)> = parts
                .iter()
                .map(|part| (part.locality.name.to_string(), part))
                .collect();
            // weighted_target sorts by the text of the name.
            named.sort_by(|a, b| a.0.cmp(&b.0));
            let is_used = |part: &WeightedLocality<'_>| part.active().next().is_some();
            let sum: u64 = named
                .iter()
                .filter(|(_, part)| is_used(part))
                .map(|(_, part)| u64::from(part.locality.weight))
                .sum();
            let mut targets = TreeNode::new(NodeKind::Locality, weighted_target::NAME);
            let mut node = TreeNode::new(NodeKind::Locality, wrr_locality::NAME);
            for (name, part) in named {
                if is_used(part) {
                    let weight = part.locality.weight;
                    let edge = format!("{name} weight {weight} of {sum} ({})", percent(u64::from(weight), sum));
                    let child = policy(&config.child_policy, std::slice::from_ref(part));
                    targets.children.push(child.under(edge));
                } else {
                    node = node.warning("without endpoints", name);
                }
            }
            if targets.children.is_empty() {
                targets = targets.warning("fails", "no locality with endpoints");
            }
            node.with(targets)
        }
        LbConfig::WeightedTarget(config) => {
            let sum: u64 = config.targets.values().map(|target| u64::from(target.weight)).sum();
            let mut node = TreeNode::new(NodeKind::Locality, weighted_target::NAME);
            for (name, target) in &config.targets {
                let own: Vec<WeightedLocality<'_>> = parts
                    .iter()
                    .filter(|part| part.locality.name.to_string() == *name)
                    .cloned()
                    .collect();
                let edge = format!("{name} weight {} of {sum}", target.weight);
                node.children.push(policy(&target.child_policy, &own).under(edge));
            }
            node
        }
        LbConfig::RingHash(config) => {
            let ways = parts.first().map(|part| part.ways);
            let cap = ways.map_or(ring_hash::RING_SIZE_CAP, |ways| ways.cap(ring_hash::RING_SIZE_CAP));
            let size = |size: u64| {
                if size > cap {
                    format!("{size} (capped at {cap})")
                } else {
                    size.to_string()
                }
            };
            let node = TreeNode::new(NodeKind::Picker, ring_hash::NAME).fact(
                "ring size",
                format!("{} to {}", size(config.min_ring_size), size(config.max_ring_size)),
            );
            endpoints(node, parts, Some(config))
        }
        LbConfig::LeastRequest(config) => {
            let node = TreeNode::new(NodeKind::Picker, least_request::NAME);
            let drawn = format!("the least busy of {} drawn", config.choice_count);
            endpoints(node.fact("picks", drawn), parts, None)
        }
        LbConfig::P2c(_) => {
            let node = TreeNode::new(NodeKind::Picker, p2c::NAME).fact("picks", "the less busy of 2 drawn");
            endpoints(node, parts, None)
        }
        LbConfig::RoundRobin(_) => endpoints(TreeNode::new(NodeKind::Picker, round_robin::NAME), parts, None),
        LbConfig::WeightedRoundRobin(config) => {
            let node = TreeNode::new(NodeKind::Picker, weighted_round_robin::NAME)
                .fact("weights", "from backend load reports")
                .fact("blackout", config.blackout_period.to_string())
                .fact("expiration", config.weight_expiration_period.to_string());
            endpoints(node, parts, None)
        }
        LbConfig::PickFirst(config) => {
            let mut node = TreeNode::new(NodeKind::Picker, pick_first::NAME);
            if config.shuffle_address_list {
                node = node.fact("order", "shuffled");
            }
            endpoints(node, parts, None)
        }
        LbConfig::OutlierDetection(inner) => framed(config, &inner.child_policy, parts),
        LbConfig::ClusterImpl(inner) => framed(config, &inner.child_policy, parts),
        LbConfig::OverrideHost(inner) => framed(config, &inner.child_policy, parts),
        LbConfig::Priority(_)
        | LbConfig::ClusterManager(_)
        | LbConfig::Rls(_)
        | LbConfig::Cds(_)
        | LbConfig::Grpclb(_)
        | LbConfig::Autosharding(_) => {
            let json = xdsctl_lb::to_json(config);
            let text = json.get(0).map(ToString::to_string).unwrap_or_default();
            TreeNode::new(NodeKind::Frame, xdsctl_lb::name_of(config)).fact("config", text)
        }
    }
}

/// The node of a policy that gets the one endpoint of a DNS name whose addresses are not known.
pub fn of_host(config: &LbConfig, hostname: &str, profile: &Profile) -> TreeNode {
    let endpoint = Endpoint::of(0, SocketAddr::from(([0, 0, 0, 0], 0)));
    let locality = Locality {
        index: 0,
        name: LocalityName::default(),
        weight: 1,
        left_out_weight: 0,
        endpoints: vec![endpoint].into(),
    };
    let part = WeightedLocality {
        locality: &locality,
        weights: vec![1],
        ways: ring_hash::RingWays::of(profile),
    };
    let mut node = policy(config, std::slice::from_ref(&part));
    name_endpoints(&mut node, hostname);
    node
}

/// Puts a host name where its address would be.
fn name_endpoints(node: &mut TreeNode, hostname: &str) {
    if node.kind == NodeKind::Endpoint {
        hostname.clone_into(&mut node.name);
    }
    for child in &mut node.children {
        name_endpoints(child, hostname);
    }
}

fn framed(config: &LbConfig, child: &LbConfig, parts: &[WeightedLocality<'_>]) -> TreeNode {
    TreeNode::new(NodeKind::Frame, xdsctl_lb::name_of(config)).with(policy(child, parts))
}

fn endpoints(mut node: TreeNode, parts: &[WeightedLocality<'_>], ring: Option<&ring_hash::RingHashConfig>) -> TreeNode {
    let shares = ring.map(|config| ring_shares(config, parts)).unwrap_or_default();
    let mut shares = shares.into_iter();
    for part in parts {
        for (endpoint, weight) in part.active() {
            let mut child = endpoint_node(endpoint, part.locality, weight);
            if let Some(share) = shares.next() {
                child = child.fact("share of the ring", share);
            }
            child.lazy = ring.is_some();
            node.children.push(child);
        }
    }
    if node.children.is_empty() {
        node = node.warning("fails", "no endpoint");
    }
    node
}

/// Builds a client's ring of endpoints with their weights.
pub fn ring(endpoints: &[(&Endpoint, u32)], size: ring_hash::Size, ways: &ring_hash::RingWays) -> ring_hash::Ring {
    let addresses = endpoints.iter();
    let addresses = addresses.map(|(endpoint, _)| endpoint.addresses().map(Address::new).collect::<Vec<_>>());
    let addresses: Vec<Vec<Address>> = addresses.collect();
    let members = endpoints.iter().zip(&addresses);
    let members = members.map(|((endpoint, weight), addresses)| ring_hash::RingMember {
        addresses,
        hash_key: endpoint.hash_key.as_deref(),
        weight: ways.weight(*weight),
    });
    ways.ring(&members.collect::<Vec<_>>(), size, 0)
}

/// The entries of the ring in order: to which endpoint each belongs, and its part of the hash space,
/// by which RPCs with random hashes are distributed.
pub fn ring_arcs(config: &ring_hash::RingHashConfig, parts: &[WeightedLocality<'_>]) -> Vec<(usize, f64)> {
    let Some(ways) = parts.first().map(|part| part.ways) else {
        return Vec::new();
    };
    let active: Vec<(&Endpoint, u32)> = parts.iter().flat_map(WeightedLocality::active).collect();
    let ring = ring(&active, ways.size(config, ring_hash::RING_SIZE_CAP), &ways);
    let entries = ring.entries().iter().zip(ring.arcs());
    entries.map(|(entry, arc)| (entry.endpoint as usize, arc)).collect()
}

/// Describes the share of the ring that each endpoint has: of the hash space, and of the entries,
/// which follow the weights.
fn ring_shares(config: &ring_hash::RingHashConfig, parts: &[WeightedLocality<'_>]) -> Vec<String> {
    let arcs = ring_arcs(config, parts);
    let all = arcs.len();
    let mut shares = vec![(0.0, 0_usize); parts.iter().flat_map(WeightedLocality::active).count()];
    for (endpoint, arc) in arcs {
        if let Some((space, count)) = shares.get_mut(endpoint) {
            *space += arc;
            *count += 1;
        }
    }
    let words = shares.into_iter();
    words
        .map(|(space, count)| format!("{:.2} % of the hash space, {count} of {all} entries", space * 100.0))
        .collect()
}

/// The weight of all endpoints of a priority together, if weights are shares (gRFC A113, a
/// fixed-point number with 31 bits).
const WHOLE: u64 = 1 << 31;

/// The node of an endpoint. `weight` is the weight that policies get.
pub fn endpoint_node(endpoint: &Endpoint, locality: &Locality, weight: u32) -> TreeNode {
    let mut addresses = endpoint.address.to_string();
    for address in &endpoint.additional_addresses {
        addresses.push_str(", ");
        addresses.push_str(&address.to_string());
    }
    addresses.shrink_to_fit();
    let own = if endpoint.weight_is_default {
        format!("{} (default)", endpoint.weight)
    } else {
        endpoint.weight.to_string()
    };
    let of = locality.weight;
    // If weights are shares of all endpoints, policies do not get the product.
    let is_product = of.wrapping_mul(endpoint.weight) == weight;
    let weight = match (is_product, counted(weight) == weight) {
        (true, true) => format!("{weight} = locality {of} × {own}"),
        (true, false) => format!("1 (the product overflows) = locality {of} × {own}"),
        (false, _) => format!("{weight} of {WHOLE}, by locality {of} × {own}"),
    };
    let mut node = TreeNode::new(NodeKind::Endpoint, addresses)
        .fact("health", endpoint.health.name())
        .fact("weight", weight);
    if !endpoint.hostname.is_empty() {
        node = node.fact("hostname", endpoint.hostname.as_str());
    }
    if let Some(key) = &endpoint.hash_key {
        node = node.fact("hash key", key.as_str());
    }
    if let Some(proxy) = &endpoint.proxy {
        node = node.fact("proxy", proxy.as_str());
    }
    node
}
