//! The LB config that a cds policy generates for its child (A37, A74, A75).
//!
//! A leaf cluster always has all four wrappers: outlier detection, cluster impl, override host, priority. Its own LB
//! policy is below each priority. An aggregate cluster is a priority policy over the cds policies of its leaves, and
//! everything else in its resource is unread. Follows C-core cds.cc.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::names::{ChildNumbers, child_name};
use crate::lb::{self, json::Fault};
use crate::model::cluster::Discovery;
use crate::profile::{Feature, Profile};
use crate::select::CLUSTER_PREFIX;
use crate::snapshot::config::{ClusterState, Leaf, XdsConfig};
use crate::status::{Code, Status};

/// One cds policy of the tree.
#[derive(Debug, Clone, Copy)]
pub struct Cds<'a> {
    /// The configuration of the channel.
    pub config: &'a XdsConfig,
    /// The cluster that the policy stands for.
    pub cluster: &'a str,
    /// The aggregate above, whose LB policy counts with GRPC_XDS_AGGREGATE_CLUSTER_BACKWARD_COMPAT.
    pub below: Option<&'a str>,
    /// The client.
    pub profile: &'a Profile,
}

impl<'a> Cds<'a> {
    /// Generates the config of the child policy, and numbers the priorities.
    ///
    /// # Errors
    /// The status that every pick of the cluster gets; the child, if there is one, is gone, and its numbers with it.
    pub fn child_config(&self, numbers: &mut ChildNumbers) -> Result<Value, Status> {
        let result = match self.config.clusters.get(self.cluster) {
            None => Err(Status::unavailable(format!(
                "xDS config has no entry for static cluster {}",
                self.cluster
            ))),
            Some(ClusterState::Error(failure)) => Err(Status::unavailable(failure.message.as_str())),
            Some(ClusterState::Leaf(leaf)) => self.lb_policy(leaf).map(|policy| {
                let numbers = numbers.update(leaf.endpoints.as_deref());
                leaf_config(self.cluster, leaf, numbers, policy)
            }),
            Some(ClusterState::Aggregate(aggregate)) => {
                numbers.reset();
                Ok(aggregate_config(&aggregate.leaves))
            }
        };
        if result.is_err() {
            numbers.reset();
        }
        result
    }

    /// The LB policy below the priorities of a leaf: its own, but for the switch its aggregate's.
    ///
    /// # Errors
    /// The aggregate is no longer usable.
    pub fn lb_policy<'l>(&self, leaf: &'l Leaf) -> Result<&'l Value, Status>
    where
        'a: 'l,
    {
        let Some(above) = self
            .below
            .filter(|_| self.profile.has(Feature::AggregateClusterBackwardCompat))
        else {
            return Ok(&leaf.cluster.lb_policy);
        };
        match self.config.clusters.get(above) {
            None => Err(Status::unavailable(format!(
                "xDS config has no entry for aggregate cluster {above}"
            ))),
            Some(ClusterState::Error(failure)) => Err(Status::unavailable(failure.message.as_str())),
            Some(ClusterState::Leaf(leaf)) => Ok(&leaf.cluster.lb_policy),
            Some(ClusterState::Aggregate(aggregate)) => Ok(&aggregate.cluster.lb_policy),
        }
    }

    /// Reads a generated config as the client does.
    ///
    /// # Errors
    /// INTERNAL, for all picks of the cluster: a value passed the check of the Cluster, but not the LB policy's own.
    pub fn read(&self, child: &Value) -> Result<lb::Config, Status> {
        lb::parse_list(child, self.profile).map_err(|faults| {
            let message = format!(
                "{}: error parsing child policy config: {}",
                self.cluster,
                words(&faults)
            );
            Status::new(Code::Internal, message)
        })
    }
}

/// Faults in the form of the client's error lists.
fn words(faults: &[Fault]) -> String {
    let list: Vec<String> = faults
        .iter()
        .map(|fault| {
            let inner = if fault.inner.is_empty() {
                String::new()
            } else {
                format!(": {}", words(&fault.inner))
            };
            format!("field:{} error:{}{inner}", fault.path, fault.message)
        })
        .collect();
    format!("[{}]", list.join("; "))
}

/// The config below the cds policy of a leaf cluster; `numbers` has one number a priority.
pub fn leaf_config(cluster: &str, leaf: &Leaf, numbers: &[u64], lb_policy: &Value) -> Value {
    let is_dns = matches!(leaf.cluster.discovery, Discovery::LogicalDns { .. });
    let mut children = Map::new();
    let mut priorities = Vec::with_capacity(numbers.len());
    for number in numbers {
        let name = child_name(cluster, *number);
        let mut child = Map::new();
        child.insert("config".to_owned(), lb_policy.clone());
        if !is_dns {
            child.insert("ignore_reresolution_requests".to_owned(), Value::Bool(true));
        }
        priorities.push(Value::String(name.clone()));
        children.insert(name, Value::Object(child));
    }
    let priority = json!([{ "priority_experimental": { "children": children, "priorities": priorities } }]);
    let override_host = wrapped("xds_override_host_experimental", cluster, priority);
    let cluster_impl = wrapped("xds_cluster_impl_experimental", cluster, override_host);
    let mut detection = match &leaf.cluster.outlier_detection {
        Some(detection) => match lb::outlier_detection::to_json(detection) {
            Value::Object(map) => map,
            // Not reached: a policy's config is an object.
            _ => Map::new(),
        },
        None => Map::new(),
    };
    detection.insert("childPolicy".to_owned(), cluster_impl);
    json!([{ "outlier_detection_experimental": detection }])
}

fn wrapped(policy: &str, cluster: &str, child: Value) -> Value {
    let mut config = Map::new();
    config.insert("childPolicy".to_owned(), child);
    config.insert("clusterName".to_owned(), Value::String(cluster.to_owned()));
    let mut entry = Map::new();
    entry.insert(policy.to_owned(), Value::Object(config));
    Value::Array(vec![Value::Object(entry)])
}

/// The config below the cds policy of an aggregate cluster.
pub fn aggregate_config(leaves: &[String]) -> Value {
    let children: Map<String, Value> = leaves
        .iter()
        .map(|leaf| {
            let config = json!({ "config": [{ "cds_experimental": { "cluster": leaf } }] });
            (leaf.clone(), config)
        })
        .collect();
    json!([{ "priority_experimental": { "children": children, "priorities": leaves } }])
}

/// What all cds policies of a channel generate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Generated {
    /// LB config below the cds policy, by cluster.
    pub children: BTreeMap<String, Value>,
    /// The status of all picks, by cluster.
    pub errors: BTreeMap<String, Status>,
}

/// Generates for all cds policies of a channel, as for its first update, those that a priority has not started yet included.
///
/// A cluster may have several policies; with the switch for aggregates they may differ, and the last one is shown, as
/// the one of a root comes after those below an aggregate of lower name.
pub fn generate(config: &XdsConfig, service_config: &Value, profile: &Profile) -> Generated {
    let mut generated = Generated::default();
    for (key, child) in manager_children(service_config) {
        if !key.starts_with(CLUSTER_PREFIX) {
            continue;
        }
        let Some(cluster) = cds_cluster(child) else {
            continue;
        };
        add(config, cluster, None, profile, &mut generated);
        if let Some(ClusterState::Aggregate(aggregate)) = config.clusters.get(cluster) {
            for leaf in &aggregate.leaves {
                add(config, leaf, Some(cluster), profile, &mut generated);
            }
        }
    }
    generated
}

fn add(config: &XdsConfig, cluster: &str, below: Option<&str>, profile: &Profile, generated: &mut Generated) {
    let cds = Cds {
        config,
        cluster,
        below,
        profile,
    };
    let result = cds.child_config(&mut ChildNumbers::default()).and_then(|child| {
        let read = cds.read(&child);
        generated.children.insert(cluster.to_owned(), child);
        read
    });
    if let Err(status) = result {
        generated.errors.insert(cluster.to_owned(), status);
    }
}

/// The children of the cluster manager in a service config, with their policies.
pub fn manager_children(service_config: &Value) -> impl Iterator<Item = (&str, &Value)> {
    service_config
        .pointer("/loadBalancingConfig/0/xds_cluster_manager_experimental/children")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, child)| Some((key.as_str(), child.get("childPolicy")?)))
}

/// The cluster of a list with one cds policy.
pub fn cds_cluster(policy: &Value) -> Option<&str> {
    policy.pointer("/0/cds_experimental/cluster")?.as_str()
}
