//! How large the tree of a channel is, before any of it is built.
//!
//! Clusters that share endpoints have them once each, and an LB policy stands below every priority
//! and locality. So a few megabytes of configuration can ask for billions of parts. The number here
//! is never too small.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;

use crate::client::config::{ClusterState, Leaf, XdsConfig};
use xdsctl_model::resource::{Endpoints, LbConfig};

/// The most policies, endpoints and values of configs that the tree of a channel may have, whatever
/// the size of its input.
pub const MAX_PARTS: u64 = 500_000;

/// How many bytes of input allow one more part.
pub const BYTES_A_PART: u64 = 10;

/// Counts the parts of a channel's tree: policies, endpoints and values of their configs.
///
/// ```
/// # use xdsctl_channel::{client::{Client, Start}, tree::size};
/// let mut client = Client::default();
/// client.update(&serde_json::json!([{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
///     "eds_cluster_config": {"eds_config": {"ads": {}}}}]));
/// let config = client.resolve(&Start::Cluster("c".to_owned())).unwrap();
/// assert!((1..100).contains(&size::of(&config)));
/// ```
pub fn of(config: &XdsConfig) -> u64 {
    // Clusters may share endpoints; only looked up, never iterated.
    let mut known = HashMap::new();
    let leaves = config.leaves();
    let leaves = leaves.map(|(name, leaf)| (name.as_str(), of_leaf(leaf, &mut known)));
    let leaves: BTreeMap<&str, u64> = leaves.collect();
    let parts = config.clusters.iter().map(|(name, state)| match state {
        ClusterState::Leaf(_) => leaves.get(name.as_str()).copied().unwrap_or(0),
        ClusterState::Aggregate(aggregate) => sum(aggregate.leaves.iter().map(|leaf| {
            let below = leaves.get(leaf.as_str()).copied().unwrap_or(0);
            below.saturating_add(1)
        })),
        ClusterState::Error(_) => 1,
    });
    sum(parts)
}

/// The numbers of priorities, localities and endpoints of a cluster.
#[derive(Debug, Clone, Copy, Default)]
struct Lists {
    priorities: u64,
    localities: u64,
    endpoints: u64,
}

impl Lists {
    fn of(endpoints: &Endpoints) -> Lists {
        let localities = || endpoints.priorities.iter().flatten();
        Lists {
            priorities: endpoints.priorities.len() as u64,
            localities: localities().count() as u64,
            endpoints: sum(localities().map(|locality| locality.endpoints.len() as u64)),
        }
    }
}

fn of_leaf(leaf: &Leaf, known: &mut HashMap<*const Endpoints, Lists>) -> u64 {
    let lists = leaf.endpoints.as_ref().map_or(Lists::default(), |endpoints| {
        *known
            .entry(Arc::as_ptr(endpoints))
            .or_insert_with(|| Lists::of(endpoints))
    });
    let policy = &leaf.cluster.lb_policy;
    let values = values(&policy.json);
    let cost = Cost::of(&policy.config);
    let fixed = values.saturating_add(cost.fixed).saturating_mul(lists.priorities);
    values
        .saturating_add(fixed)
        .saturating_add(cost.a_locality.saturating_mul(lists.localities))
        .saturating_add(cost.an_endpoint.saturating_mul(lists.endpoints))
}

/// How many parts a policy has with everything below it: a fixed number, and more for each locality
/// and each endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Cost {
    fixed: u64,
    a_locality: u64,
    an_endpoint: u64,
}

impl Cost {
    fn of(config: &LbConfig) -> Cost {
        match config {
            // The child policy stands below each locality.
            LbConfig::WrrLocality(locality) => {
                let below = Cost::of(&locality.child_policy);
                Cost {
                    fixed: 2,
                    a_locality: sum([1, below.fixed, below.a_locality].into_iter()),
                    an_endpoint: below.an_endpoint.saturating_add(1),
                }
            }
            // Each locality and each endpoint is below one target.
            LbConfig::WeightedTarget(_) => {
                let one = Cost {
                    fixed: 1,
                    a_locality: 0,
                    an_endpoint: 1,
                };
                let targets = config.children().into_iter().map(Cost::of);
                targets.fold(one, |all, below| Cost {
                    fixed: sum([all.fixed, below.fixed, 1].into_iter()),
                    a_locality: all.a_locality.max(below.a_locality),
                    an_endpoint: all.an_endpoint.max(below.an_endpoint),
                })
            }
            other => {
                let below = other.only_child().map_or(Cost::default(), Cost::of);
                Cost {
                    fixed: below.fixed.saturating_add(1),
                    an_endpoint: below.an_endpoint.max(1),
                    ..below
                }
            }
        }
    }
}

/// Counts the values of a JSON document.
fn values(value: &Value) -> u64 {
    match value {
        Value::Array(list) => sum(list.iter().map(values)).saturating_add(1),
        Value::Object(map) => sum(map.values().map(values)).saturating_add(1),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

fn sum(parts: impl Iterator<Item = u64>) -> u64 {
    parts.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use xdsctl_lb::parse_list;
    use xdsctl_model::profile::Profile;

    #[test]
    fn a_policy_stands_below_each_locality_with_all_its_targets() {
        let targets = |count: usize| -> Value {
            let target = |number| {
                (
                    format!("t{number}"),
                    json!({"weight": 1, "childPolicy": [{"round_robin": {}}]}),
                )
            };
            json!([{"weighted_target_experimental": {"targets": (0..count).map(target).collect::<Value>()}}])
        };
        let by_locality = |child: Value| json!([{"xds_wrr_locality_experimental": {"childPolicy": child}}]);
        let cost = |policies: Value| {
            let cost = Cost::of(&parse_list(&policies, &Profile::default()).unwrap());
            (cost.fixed, cost.a_locality, cost.an_endpoint)
        };
        assert_eq!(cost(json!([{"round_robin": {}}])), (1, 0, 1));
        assert_eq!(cost(by_locality(json!([{"round_robin": {}}]))), (2, 2, 2));
        assert_eq!(cost(targets(10)), (21, 0, 1));
        assert_eq!(cost(by_locality(targets(1000))), (2, 2002, 2));
    }
}
