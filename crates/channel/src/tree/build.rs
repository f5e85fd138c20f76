//! The LB config that a cds policy generates for its child (A37, A74, A75).
//!
//! A leaf cluster always has all four wrappers: outlier detection, cluster impl, override host, priority. Its own LB
//! policy is below each priority. An aggregate cluster is a priority policy over the cds policies of its leaves, and
//! everything else in its resource is unread. Follows C-core cds.cc.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::names::{ChildNumbers, child_name};
use crate::client::config::{ClusterState, Leaf, XdsConfig};
use crate::rpc::CLUSTER_PREFIX;
use xdsctl_lb::{cds, cluster_impl, json::ConfigFault, outlier_detection, override_host, priority};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::status::{Code, Status};

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

    /// Says whether the policy works as far as configs go; `readable` knows LB policies that the client can read.
    ///
    /// # Errors
    /// As [`Cds::child_config`] and [`Cds::read`], which it spares for most clusters.
    pub fn check(&self, readable: &mut Readable) -> Result<(), Status> {
        let leaf = match self.config.clusters.get(self.cluster) {
            Some(ClusterState::Leaf(leaf)) => leaf,
            Some(ClusterState::Aggregate(_)) => return Ok(()),
            Some(ClusterState::Error(failure)) => return Err(Status::unavailable(failure.message.as_str())),
            None => return self.child_config(&mut ChildNumbers::default()).map(drop),
        };
        let detection = leaf.cluster.outlier_detection.as_ref();
        let is_plain = detection.is_none_or(|detection| {
            let failures = detection.failure_percentage.as_ref();
            failures.is_none_or(|failures| failures.threshold <= PERCENT_MAX)
        });
        if is_plain && readable.has(self.lb_policy(leaf)?, self.profile) {
            return Ok(());
        }
        let child = self.child_config(&mut ChildNumbers::default())?;
        self.read(&child).map(drop)
    }

    /// Reads a generated config as the client does.
    ///
    /// # Errors
    /// INTERNAL, for all picks of the cluster: a value passed the check of the Cluster, but not the LB policy's own.
    pub fn read(&self, child: &Value) -> Result<xdsctl_lb::LbConfig, Status> {
        xdsctl_lb::parse_list(child, self.profile).map_err(|faults| {
            let message = format!("{}: its LB config is refused, {}", self.cluster, words(&faults));
            Status::new(Code::Internal, message)
        })
    }
}

/// The largest percentage that the outlier detection policy reads; that of the Cluster is not checked (1.85.1).
const PERCENT_MAX: u32 = 100;

/// LB policies that can be read, so that clusters with the same one are read once.
#[derive(Debug, Default)]
pub struct Readable(Option<(Value, Arc<xdsctl_lb::LbConfig>)>);

impl Readable {
    /// The policy as read; `None` if it cannot be.
    pub fn config(&mut self, policy: &Value, profile: &Profile) -> Option<Arc<xdsctl_lb::LbConfig>> {
        if self.0.as_ref().is_none_or(|(known, _)| known != policy) {
            let config = xdsctl_lb::parse_list(policy, profile).ok()?;
            self.0 = Some((policy.clone(), Arc::new(config)));
        }
        self.0.as_ref().map(|(_, config)| Arc::clone(config))
    }

    fn has(&mut self, policy: &Value, profile: &Profile) -> bool {
        self.config(policy, profile).is_some()
    }
}

/// Faults in words that nobody takes for the client's own.
fn words(faults: &[ConfigFault]) -> String {
    let list: Vec<String> = faults
        .iter()
        .map(|fault| {
            let inner = if fault.inner.is_empty() {
                String::new()
            } else {
                format!(" ({})", words(&fault.inner))
            };
            format!("at {}: {}{inner}", fault.path, fault.message)
        })
        .collect();
    list.join("; ")
}

/// An object of these entries. Takes the values, where `json!` would copy them.
pub(super) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// A list of one policy with its config.
pub(super) fn policy_list(name: &str, config: Value) -> Value {
    Value::Array(vec![object([(name, config)])])
}

/// The config below the cds policy of a leaf cluster; `numbers` has one number a priority.
pub fn leaf_config(cluster: &str, leaf: &Leaf, numbers: &[u64], lb_policy: &Value) -> Value {
    let is_dns = matches!(leaf.cluster.discovery, Discovery::LogicalDns { .. });
    let mut children = Map::new();
    let mut priorities = Vec::with_capacity(numbers.len());
    for number in numbers {
        let name = child_name(cluster, *number);
        let child = if is_dns {
            object([("config", lb_policy.clone())])
        } else {
            let ignores = ("ignore_reresolution_requests", Value::Bool(true));
            object([("config", lb_policy.clone()), ignores])
        };
        priorities.push(Value::String(name.clone()));
        children.insert(name, child);
    }
    let failover = object([
        ("children", Value::Object(children)),
        ("priorities", Value::Array(priorities)),
    ]);
    let wrapped = |policy: &str, child: Value| {
        let name = ("clusterName", Value::String(cluster.to_owned()));
        policy_list(policy, object([("childPolicy", child), name]))
    };
    let sessions = wrapped(override_host::NAME, policy_list(priority::NAME, failover));
    let limits = wrapped(cluster_impl::NAME, sessions);
    let mut detection = match &leaf.cluster.outlier_detection {
        Some(detection) => outlier_detection::to_json(detection),
        None => Value::Object(Map::new()),
    };
    if let Value::Object(detection) = &mut detection {
        detection.insert("childPolicy".to_owned(), limits);
    }
    policy_list(outlier_detection::NAME, detection)
}

/// The config below the cds policy of an aggregate cluster.
pub fn aggregate_config(leaves: &[String]) -> Value {
    let children: Map<String, Value> = leaves
        .iter()
        .map(|leaf| (leaf.clone(), object([("config", cds_policy(leaf))])))
        .collect();
    let priorities = leaves.iter().cloned().map(Value::String).collect();
    let failover = object([
        ("children", Value::Object(children)),
        ("priorities", Value::Array(priorities)),
    ]);
    policy_list(priority::NAME, failover)
}

/// A list of one cds policy.
pub(super) fn cds_policy(cluster: &str) -> Value {
    policy_list(cds::NAME, object([("cluster", Value::String(cluster.to_owned()))]))
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
    let mut readable = Readable::default();
    for (key, child) in manager_children(service_config) {
        if !key.starts_with(CLUSTER_PREFIX) {
            continue;
        }
        let Some(cluster) = cds_cluster(child) else {
            continue;
        };
        let cds = |cluster, below| Cds {
            config,
            cluster,
            below,
            profile,
        };
        add(cds(cluster, None), &mut readable, &mut generated);
        if let Some(ClusterState::Aggregate(aggregate)) = config.clusters.get(cluster) {
            for leaf in &aggregate.leaves {
                add(cds(leaf, Some(cluster)), &mut readable, &mut generated);
            }
        }
    }
    generated
}

fn add(cds: Cds<'_>, readable: &mut Readable, generated: &mut Generated) {
    let name = cds.cluster;
    if let Ok(child) = cds.child_config(&mut ChildNumbers::default()) {
        generated.children.insert(name.to_owned(), child);
    }
    if let Err(status) = cds.check(readable) {
        generated.errors.insert(name.to_owned(), status);
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
