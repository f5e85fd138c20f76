//! The tree before A75 (A37): one cluster resolver below an aggregate cluster, with one flat list
//! of priorities.
//!
//! gRPC C-core built it in this way up to 1.62 (xds_cluster_resolver.cc). The LB policy was that of
//! the root cluster, or pick_first for a DNS cluster, and outlier detection, circuit breaking and
//! sessions were per priority. The tree is made from the source, without a recorded client to
//! compare with, to show the difference.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::build::FORM;
use super::names::ChildNumbers;
use super::node::{NodeKind, TreeNode};
use super::service_config::{ManagerChild, ServiceConfig};
use super::show::{self, ShownTree};
use crate::client::config::{ClusterState, Leaf, XdsConfig};
use xdsctl_lb::{cds, cluster_manager, name_of, named, outlier_detection};
use xdsctl_model::resource::cluster::{Cluster, Discovery};
use xdsctl_model::resource::lb_policy::{LbConfig, PickFirstConfig};

/// The name of the policy that A75 removed.
const CLUSTER_RESOLVER: &str = "xds_cluster_resolver_experimental";

/// A root cluster with its leaves in order; a leaf has itself.
fn mechanisms<'a>(config: &'a XdsConfig, cluster: &'a str) -> Option<(&'a Cluster, Vec<(&'a str, &'a Leaf)>)> {
    match config.clusters.get(cluster)? {
        ClusterState::Leaf(leaf) => Some((&leaf.cluster, config.leaves_of(cluster))),
        ClusterState::Aggregate(aggregate) => Some((&aggregate.cluster, config.leaves_of(cluster))),
        ClusterState::Error(_) => None,
    }
}

/// The config below the cds policy of each root cluster.
pub fn children(config: &XdsConfig, service_config: &ServiceConfig) -> BTreeMap<String, Value> {
    service_config
        .clusters()
        .filter_map(|cluster| {
            let (root, leaves) = mechanisms(config, cluster)?;
            let list: Vec<Value> = leaves
                .iter()
                .map(|(name, leaf)| mechanism(name, &leaf.cluster))
                .collect();
            let resolver = json!({ "xdsLbPolicy": root.lb_policy.json, "discoveryMechanisms": list });
            Some((cluster.to_owned(), named(CLUSTER_RESOLVER, resolver)))
        })
        .collect()
}

fn mechanism(name: &str, cluster: &Cluster) -> Value {
    let statuses: Vec<&str> = cluster.override_host_statuses.iter().map(|s| s.name()).collect();
    let mut mechanism = json!({
        "clusterName": name,
        "max_concurrent_requests": cluster.max_concurrent_requests,
        "overrideHostStatus": statuses,
    });
    match &cluster.discovery {
        Discovery::Eds { service_name } => {
            mechanism["type"] = json!("EDS");
            if let Some(service) = service_name {
                mechanism["edsServiceName"] = json!(service);
            }
        }
        Discovery::LogicalDns { hostname } => {
            mechanism["type"] = json!("LOGICAL_DNS");
            mechanism["dnsHostname"] = json!(hostname);
        }
        Discovery::Aggregate { .. } => {}
    }
    if let Some(detection) = &cluster.outlier_detection {
        mechanism["outlierDetection"] = outlier_detection::fields_to_json(detection);
    }
    mechanism
}

/// The tree of a channel in the old layout.
pub fn tree(shown: &ShownTree<'_>) -> TreeNode {
    let manager = TreeNode::new(NodeKind::Frame, cluster_manager::NAME);
    let children = shown.service_config.children.iter();
    let manager = children.fold(manager, |manager, (key, child)| {
        let node = match child {
            ManagerChild::Cluster(cluster) => cluster_node(shown, cluster),
            ManagerChild::Plugin(policy) => TreeNode::new(NodeKind::Frame, name_of(&policy.config)),
        };
        manager.with(node.under(format!("\"{key}\"")))
    });
    show::channel(shown.config).with(manager)
}

fn cluster_node(shown: &ShownTree<'_>, cluster: &str) -> TreeNode {
    let node = TreeNode::new(NodeKind::Frame, cds::NAME).fact("cluster", cluster);
    let Some((root, leaves)) = mechanisms(shown.config, cluster) else {
        let message = match shown.config.clusters.get(cluster) {
            Some(ClusterState::Error(failure)) => failure.message.clone(),
            Some(ClusterState::Leaf(_) | ClusterState::Aggregate(_)) | None => "unknown cluster".to_owned(),
        };
        return node.with(TreeNode::new(NodeKind::Failure, "UNAVAILABLE").warning("message", message));
    };
    let mut priorities = Vec::new();
    let pick_first = LbConfig::PickFirst(PickFirstConfig::default());
    for (name, leaf) in &leaves {
        let policy = match leaf.cluster.discovery {
            Discovery::LogicalDns { .. } => &pick_first,
            _ if root.lb_policy.refusal.is_some() => continue,
            _ => &root.lb_policy.config,
        };
        let mut numbers = ChildNumbers::default();
        let lists = leaf.endpoints.as_ref().map_or(&[][..], |all| &all.priorities);
        for (place, number) in numbers.update(leaf.endpoints.as_deref()).iter().enumerate() {
            let localities = lists.get(place).map_or(&[][..], Vec::as_slice);
            let below = show::below_priority(leaf, localities, policy, shown.profile);
            let limits = show::limits(leaf).with(show::sessions_to(leaf).with(below));
            let child_name = (FORM.child_name)(name, *number);
            priorities.push((priorities.len(), child_name, show::detection(leaf).with(limits)));
        }
    }
    let failover = show::failover("priorities of all clusters", priorities.into_iter());
    let resolver = leaves.iter().fold(
        TreeNode::new(NodeKind::Frame, CLUSTER_RESOLVER),
        |node, (name, leaf)| match &leaf.cluster.discovery {
            Discovery::LogicalDns { hostname } => node.fact("DNS", hostname.as_str()),
            Discovery::Eds { .. } | Discovery::Aggregate { .. } => {
                node.fact("EDS", leaf.cluster.discovery.eds_name(name).unwrap_or(name))
            }
        },
    );
    node.with(resolver.with(failover))
}
