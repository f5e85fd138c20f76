//! The policies between the cds policy of a leaf and the leaf's own LB policy: as configs, and as
//! the client writes them.
//!
//! Which of them there are, and in what order, is in the [`TreeForm`](super::form::TreeForm) of a
//! family.

use serde_json::{Map, Value};

use super::build::{is_dns, object};
use super::names::NamedLeaf;
use super::service_config::cds_config;
use crate::client::config::Leaf;
use xdsctl_lb::{cds, cluster_impl, named, outlier_detection, override_host, priority};
use xdsctl_model::resource::lb_policy::{
    LbConfig, NamedClusterConfig, OutlierDetectionConfig, PriorityChild, PriorityConfig,
};

/// A policy above the LB policy of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Outlier detection.
    OutlierDetection,
    /// Outlier detection, which is left out if the cluster has none.
    OwnOutlierDetection,
    /// The limits of the cluster: circuit breaking and drops.
    ClusterImpl,
    /// Session affinity.
    OverrideHost,
    /// The failover over the priorities. What follows is below each of them.
    Priority,
}

impl Layer {
    /// Says whether the policy is left out for a leaf.
    pub fn is_without(self, leaf: &Leaf) -> bool {
        self == Layer::OwnOutlierDetection && leaf.cluster.outlier_detection.is_none()
    }
}

/// The config of the outermost of these policies.
pub fn config(layers: &[Layer], leaf: &NamedLeaf<'_>, lb_policy: &LbConfig) -> LbConfig {
    let Some((layer, below)) = layers.split_first() else {
        return lb_policy.clone();
    };
    let child_policy = || Box::new(config(below, leaf, lb_policy));
    let of_cluster = || NamedClusterConfig {
        cluster_name: leaf.cluster.to_owned(),
        child_policy: child_policy(),
    };
    match layer {
        layer if layer.is_without(leaf.leaf) => config(below, leaf, lb_policy),
        Layer::OutlierDetection | Layer::OwnOutlierDetection => LbConfig::OutlierDetection(OutlierDetectionConfig {
            detection: leaf.leaf.outlier_detection(),
            child_policy: child_policy(),
        }),
        Layer::ClusterImpl => LbConfig::ClusterImpl(of_cluster()),
        Layer::OverrideHost => LbConfig::OverrideHost(of_cluster()),
        Layer::Priority => failover(leaf.names.iter().map(|name| {
            let child = PriorityChild {
                config: child_policy(),
                ignore_reresolution_requests: !is_dns(leaf.leaf),
            };
            (name.clone(), child)
        })),
    }
}

/// A priority policy over these children.
pub(super) fn failover(named: impl Iterator<Item = (String, PriorityChild)>) -> LbConfig {
    let named: Vec<_> = named.collect();
    LbConfig::Priority(PriorityConfig {
        priorities: named.iter().map(|(name, _)| name.clone()).collect(),
        children: named.into_iter().collect(),
    })
}

/// The config below the cds policy of an aggregate cluster.
pub(super) fn aggregate(leaves: &[String]) -> LbConfig {
    failover(leaves.iter().map(|leaf| {
        let child = PriorityChild {
            config: Box::new(cds_config(leaf)),
            ignore_reresolution_requests: false,
        };
        (leaf.clone(), child)
    }))
}

/// How a client writes the policies of a leaf.
#[derive(Debug, Clone, Copy)]
pub struct JsonForm {
    /// The field with the name of the cluster.
    pub cluster: &'static str,
    /// The field with the policy below.
    pub child_policy: &'static str,
    /// The field that says that the child of a priority ignores requests to resolve again.
    pub ignores: &'static str,
    /// The value of that field below a cluster of DNS; `None` if it is not written.
    pub ignores_of_dns: Option<bool>,
    /// The value of that field below an aggregate; `None` if it is not written.
    pub ignores_of_aggregate: Option<bool>,
    /// The fields of outlier detection.
    pub detection: fn(&Leaf) -> Value,
    /// The LB policy of the cluster as the client writes it.
    pub lb_policy: fn(Value) -> Value,
    /// The name of a policy.
    pub policy_name: fn(&str) -> &str,
}

impl JsonForm {
    /// [`config`] as the client writes it.
    pub fn config(&self, layers: &[Layer], leaf: &NamedLeaf<'_>, lb_policy: &Value) -> Value {
        let Some((layer, below)) = layers.split_first() else {
            return lb_policy.clone();
        };
        let child_policy = || self.config(below, leaf, lb_policy);
        let of_cluster = |policy: &str| {
            let cluster = (self.cluster, Value::from(leaf.cluster));
            let fields = object([(self.child_policy, child_policy()), cluster]);
            named((self.policy_name)(policy), fields)
        };
        match layer {
            layer if layer.is_without(leaf.leaf) => child_policy(),
            Layer::OutlierDetection | Layer::OwnOutlierDetection => {
                let mut fields = (self.detection)(leaf.leaf);
                fields[self.child_policy] = child_policy();
                named((self.policy_name)(outlier_detection::NAME), fields)
            }
            Layer::ClusterImpl => of_cluster(cluster_impl::NAME),
            Layer::OverrideHost => of_cluster(override_host::NAME),
            Layer::Priority => {
                let ignores = if is_dns(leaf.leaf) {
                    self.ignores_of_dns
                } else {
                    Some(true)
                };
                self.failover(leaf.names.iter().map(|name| (name, child_policy(), ignores)))
            }
        }
    }

    /// [`failover`] as the client writes it. Each child comes with its name, its config, and whether
    /// it ignores requests to resolve again.
    pub(super) fn failover<'n>(&self, children: impl Iterator<Item = (&'n String, Value, Option<bool>)>) -> Value {
        let (mut names, mut fields) = (Vec::new(), Map::new());
        for (name, config, ignores) in children {
            let mut child = object([("config", config)]);
            if let Some(ignores) = ignores {
                child[self.ignores] = ignores.into();
            }
            names.push(Value::from(name.as_str()));
            fields.insert(name.clone(), child);
        }
        let fields = object([("children", fields.into()), ("priorities", names.into())]);
        named((self.policy_name)(priority::NAME), fields)
    }

    /// [`aggregate`] as the client writes it.
    pub fn aggregate(&self, leaves: &[String]) -> Value {
        self.failover(leaves.iter().map(|leaf| {
            let fields = object([("cluster", Value::from(leaf.as_str()))]);
            let policy = named((self.policy_name)(cds::NAME), fields);
            (leaf, policy, self.ignores_of_aggregate)
        }))
    }
}

/// The fields of the outlier detection that a cluster has.
pub(super) fn own_detection(leaf: &Leaf) -> Value {
    match &leaf.cluster.outlier_detection {
        Some(detection) => outlier_detection::fields_to_json(detection),
        None => Value::Object(Map::new()),
    }
}
