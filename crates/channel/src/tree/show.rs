//! The whole tree as nodes: channel, cluster manager, one cds policy a cluster, its wrappers,
//! priorities and policies (A75).

use std::collections::{BTreeMap, BTreeSet};

use super::build::Cds;
use super::flat::{FlatCluster, FlatNames};
use super::form::TreeForm;
use super::java;
use super::names::{ChildNumbers, NamedLeaf, child_name};
use super::node::{NodeKind, TreeNode};
use super::policies;
use super::service_config::{ManagerChild, ServiceConfig};
use crate::client::Resources;
use crate::client::config::{Aggregate, ClusterState, Leaf, XdsConfig};
use crate::client::graph::{SkipReason, Skipped};
use xdsctl_document::source::secrets::SecretPlace;
use xdsctl_lb::{self, LbConfig, cds, cluster_impl, cluster_manager, outlier_detection, override_host, priority};
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::cluster::{DEFAULT_MAX_CONCURRENT_REQUESTS, Discovery, HealthStatus, OutlierDetection};
use xdsctl_model::resource::endpoints::Locality;
use xdsctl_model::status::Status;

/// The parts per million in one per cent: drops are counted per million.
const PER_CENT: f64 = 10_000.0;

/// What a tree is made from.
#[derive(Debug, Clone, Copy)]
pub struct ShownTree<'a> {
    /// The configuration of the channel.
    pub config: &'a XdsConfig,
    /// The generated service config.
    pub service_config: &'a ServiceConfig,
    /// The client whose tree it is. Versions build it differently.
    pub profile: &'a Profile,
    /// The resources, to show what the client dropped of them.
    pub resources: &'a Resources,
}

/// What is shown, and the children that aggregates lose, by the name of the aggregate.
struct TreeWalk<'a> {
    shown: &'a ShownTree<'a>,
    skipped: BTreeMap<&'a str, Vec<&'a Skipped>>,
}

/// The tree of a channel.
pub fn tree(shown: &ShownTree<'_>) -> TreeNode {
    let mut skipped: BTreeMap<&str, Vec<&Skipped>> = BTreeMap::new();
    for entry in &shown.config.skipped {
        skipped.entry(&entry.parent).or_default().push(entry);
    }
    let walk = TreeWalk { shown, skipped };
    let manager = TreeNode::new(NodeKind::Frame, cluster_manager::NAME);
    let children = shown.service_config.children.iter();
    let manager = children.fold(manager, |manager, (key, child)| {
        manager.with(top(&walk, child).under(format!("\"{key}\"")))
    });
    let mut tree = channel(shown.config).with(manager);
    (TreeForm::of(shown.profile.client().family).rename_nodes)(&mut tree);
    tree
}

/// The node of the channel, which says where its routes come from.
pub fn channel(config: &XdsConfig) -> TreeNode {
    if config.starts_at_cluster {
        return TreeNode::new(NodeKind::Channel, "one cluster, without routes");
    }
    let mut node = TreeNode::new(NodeKind::Channel, "channel");
    if !config.listener_name.is_empty() || config.route_config_name.is_none() {
        node = node.fact("Listener", config.listener_name.as_str());
    }
    node = match &config.route_config_name {
        Some(name) => node.fact("RouteConfiguration", name.as_str()),
        None => node.fact("RouteConfiguration", "inline"),
    };
    if let Some(host) = config.virtual_host() {
        let domain = host.domains.get(config.domain.domain).map_or("", String::as_str);
        let name = if host.name.is_empty() {
            format!("#{}", host.index)
        } else {
            host.name.clone()
        };
        node = node.fact(
            "virtual host",
            format!("{name}, whose domain `{domain}` matches `{}`", config.authority),
        );
    }
    node
}

/// A child of the cluster manager.
fn top(walk: &TreeWalk<'_>, child: &ManagerChild) -> TreeNode {
    let policy = match child {
        ManagerChild::Cluster(cluster) => return cds_node(walk, cluster, None),
        ManagerChild::Plugin(policy) => policy,
    };
    let mut config = policy.json.get(0).cloned().unwrap_or_default();
    SecretPlace::POLICIES.redact(&mut config);
    TreeNode::new(NodeKind::Frame, xdsctl_lb::name_of(&policy.config))
        .warning("clusters", "asked for by each RPC at a lookup service, so unknown here")
        .fact("config", config.to_string())
}

fn failure(status: &Status) -> TreeNode {
    TreeNode::new(NodeKind::Failure, status.code.name()).warning("message", &*status.message)
}

/// A cds policy and everything below it.
fn cds_node(walk: &TreeWalk<'_>, cluster: &str, below: Option<&str>) -> TreeNode {
    let node = TreeNode::new(NodeKind::Frame, cds::NAME).fact("cluster", cluster);
    let state = walk.shown.config.clusters.get(cluster);
    let generator = Cds {
        config: walk.shown.config,
        cluster,
        below,
        profile: walk.shown.profile,
    };
    if let Err(status) = generator.check() {
        let node = skipped(walk, cluster, dropped(walk, cluster, state, node));
        return node.with(failure(&status));
    }
    if let Some(flat) = generator.flat() {
        return flat_node(walk, cluster, &flat, node);
    }
    match state {
        Some(ClusterState::Leaf(leaf)) => {
            let mut numbers = ChildNumbers::default();
            let numbers = numbers.update(leaf.endpoints.as_deref());
            match generator.lb_policy(leaf) {
                Ok(policy) => leaf_node(walk, cluster, leaf, (&policy.config, numbers), node),
                // Not reached: the policy was just checked.
                Err(_) => node,
            }
        }
        Some(ClusterState::Aggregate(aggregate)) => aggregate_node(walk, cluster, aggregate, node),
        // Not reached: such a cluster has been found to fail.
        Some(ClusterState::Error(_)) | None => node,
    }
}

/// Adds what the client drops of a cluster and its endpoints.
fn dropped(walk: &TreeWalk<'_>, cluster: &str, state: Option<&ClusterState>, mut node: TreeNode) -> TreeNode {
    let of_cluster = walk.shown.resources.clusters.get(cluster).map(|held| held.dropped());
    let eds = state.and_then(|state| state.leaf()?.cluster.discovery.eds_name(cluster));
    let of_endpoints = eds
        .and_then(|name| walk.shown.resources.endpoints.get(name))
        .map(|held| held.dropped());
    for text in [of_cluster, of_endpoints].into_iter().flatten().flatten() {
        node = node.warning("dropped", text.as_str());
    }
    node
}

/// Adds the children that a cluster, or an aggregate below it, loses.
fn skipped(walk: &TreeWalk<'_>, root: &str, mut node: TreeNode) -> TreeNode {
    let children = |name: &str| {
        let held = walk.shown.resources.clusters.get(name)?;
        Some(held.value()?.discovery.children())
    };
    let mut seen = BTreeSet::from([root]);
    let mut below = vec![root];
    while let Some(parent) = below.pop() {
        for lost in walk.skipped.get(parent).into_iter().flatten() {
            let name = children(parent)
                .and_then(|list| list.get(lost.index))
                .map_or("", String::as_str);
            let place = if parent == root {
                format!("clusters[{}]", lost.index)
            } else {
                format!("clusters[{}] of `{parent}`", lost.index)
            };
            let by = lost.taken_by.as_ref().map(|by| format!(": `{by}`")).unwrap_or_default();
            node = node.warning("skipped", format!("{place} `{name}`: {}{by}", reason(lost.why)));
        }
        // Skipped children are not walked again, so all roots together visit each aggregate once.
        let lost: BTreeSet<usize> = walk
            .skipped
            .get(parent)
            .into_iter()
            .flatten()
            .map(|lost| lost.index)
            .collect();
        let list = children(parent).unwrap_or_default().iter().enumerate().rev();
        for (_, child) in list.filter(|(index, _)| !lost.contains(index)) {
            if seen.insert(child) {
                below.push(child);
            }
        }
    }
    node
}

/// A cluster in clients that have one policy for it and all its leaves.
fn flat_node(walk: &TreeWalk<'_>, cluster: &str, flat: &FlatCluster<'_>, node: TreeNode) -> TreeNode {
    let named = flat.named(&mut FlatNames::default());
    let mut failover = TreeNode::new(NodeKind::Priority, priority::NAME).fact("over", "priorities");
    if let ([leaf], false) = (named.as_slice(), flat.is_aggregate()) {
        let priorities = flat_priorities(walk, leaf, flat.policy_of(leaf.leaf)).into_iter();
        let node = of_leaf(walk, cluster, leaf.leaf, node);
        if flat.limits_priorities() {
            failover.children = numbered(priorities.map(|(name, child)| (name, around(leaf.leaf, child)))).collect();
            return node.with(failover);
        }
        failover.children = numbered(priorities).collect();
        return node.with(around(leaf.leaf, failover));
    }
    let priorities = named.iter().flat_map(|leaf| {
        let priorities = flat_priorities(walk, leaf, flat.policy_of(leaf.leaf)).into_iter();
        priorities.map(|(name, child)| (name, of_leaf(walk, leaf.cluster, leaf.leaf, around(leaf.leaf, child))))
    });
    failover.children = numbered(priorities).collect();
    let node = dropped(walk, cluster, None, node).fact("type", "aggregate");
    skipped(walk, cluster, node).with(failover)
}

/// Makes priorities with names the children of their policy.
fn numbered(priorities: impl Iterator<Item = (String, TreeNode)>) -> impl Iterator<Item = TreeNode> {
    priorities.enumerate().map(|(number, (name, node))| {
        let mut node = node.under(format!("P{number} \"{name}\""));
        node.lazy = number > 0;
        node
    })
}

/// The priorities of a leaf with their names, each over the same policy.
fn flat_priorities(walk: &TreeWalk<'_>, named: &NamedLeaf<'_>, policy: &LbConfig) -> Vec<(String, TreeNode)> {
    let lists = named.leaf.endpoints.iter().flat_map(|endpoints| &endpoints.priorities);
    let lists: Vec<&[Locality]> = lists.map(Vec::as_slice).collect();
    let nodes = named.names.iter().enumerate().map(|(place, name)| {
        let localities = lists.get(place).copied().unwrap_or_default();
        (name.clone(), below_priority(walk, named.leaf, localities, policy))
    });
    nodes.collect()
}

/// Puts the outlier detection and the limits of a leaf over a child.
fn around(leaf: &Leaf, child: TreeNode) -> TreeNode {
    detection(leaf.cluster.outlier_detection.as_ref()).with(limits(leaf).with(child))
}

fn aggregate_node(walk: &TreeWalk<'_>, cluster: &str, aggregate: &Aggregate, node: TreeNode) -> TreeNode {
    let mut node = dropped(walk, cluster, None, node).fact("type", "aggregate");
    node = skipped(walk, cluster, node);
    let mut failover = TreeNode::new(NodeKind::Priority, priority::NAME).fact("over", "clusters");
    for (number, leaf) in aggregate.leaves.iter().enumerate() {
        let mut child = cds_node(walk, leaf, Some(cluster)).under(format!("P{number} \"{leaf}\""));
        child.lazy = number > 0;
        failover.children.push(child);
    }
    node.with(failover)
}

/// Why a child of an aggregate contributes nothing, in words.
pub const fn reason(why: SkipReason) -> &'static str {
    match why {
        SkipReason::Loop => "is one of the aggregates above",
        SkipReason::SeenBelowRoot => "was seen before in this aggregate",
        SkipReason::SeenBelowOtherRoot => "was seen before, under another cluster of the virtual host",
        SkipReason::Missing => "does not exist",
        SkipReason::Rejected => "is rejected",
        SkipReason::TooDeep => "is at depth 16, which is too deep",
    }
}

fn leaf_node(walk: &TreeWalk<'_>, cluster: &str, leaf: &Leaf, below: (&LbConfig, &[u64]), node: TreeNode) -> TreeNode {
    of_leaf(walk, cluster, leaf, node).with(wrappers(walk, cluster, leaf, below))
}

/// Adds the facts about a leaf.
fn of_leaf(walk: &TreeWalk<'_>, cluster: &str, leaf: &Leaf, node: TreeNode) -> TreeNode {
    let mut node = match &leaf.cluster.discovery {
        Discovery::Eds { .. } => node.fact("EDS", leaf.cluster.discovery.eds_name(cluster).unwrap_or_default()),
        Discovery::LogicalDns { hostname } if leaf.unanswered().is_some() => node
            .fact("DNS", hostname.as_str())
            .warning("addresses", "unknown, give them with --resolve"),
        Discovery::LogicalDns { hostname } => node.fact("DNS", hostname.as_str()),
        Discovery::Aggregate { .. } => node,
    };
    if leaf.cluster.lrs_self {
        node = node.fact("load reports", "to the xDS server");
    }
    // A note on unknown addresses is xdsctl's, not the client's.
    if leaf.unanswered().is_none() && !leaf.note.is_empty() && !leaf.note.starts_with("xDS node ID:") {
        node = node.warning("note", leaf.note.as_str());
    }
    dropped(walk, cluster, walk.shown.config.clusters.get(cluster), node)
}

/// The wrappers of a leaf, and its priorities with the policy below each.
fn wrappers(walk: &TreeWalk<'_>, cluster: &str, leaf: &Leaf, below: (&LbConfig, &[u64])) -> TreeNode {
    let form = TreeForm::of(walk.shown.profile.client().family);
    if form.limits_priorities {
        return limited_priorities(walk, cluster, leaf, below);
    }
    if let LbConfig::P2c(_) = below.0 {
        let lists = leaf.endpoints.iter().flat_map(|endpoints| &endpoints.priorities);
        let localities: Vec<Locality> = lists.flatten().cloned().collect();
        return below_priority(walk, leaf, &localities, below.0);
    }
    let priorities = priorities(walk, cluster, leaf, below);
    let inner = match form.has_sessions {
        true => sessions(leaf).with(priorities),
        false => priorities,
    };
    around(leaf, inner)
}

/// The node of outlier detection.
pub fn detection(detection: Option<&OutlierDetection>) -> TreeNode {
    let node = TreeNode::new(NodeKind::Frame, outlier_detection::NAME);
    let Some(detection) = detection else {
        return node.fact("ejects", "nothing (default)");
    };
    let mut node = node
        .fact("interval", detection.interval.to_string())
        .fact(
            "ejection",
            format!("{} to {}", detection.base_ejection_time, detection.max_ejection_time),
        )
        .fact("at most", format!("{} %", detection.max_ejection_percent));
    if let Some(rate) = &detection.success_rate {
        node = node.fact(
            "success rate",
            format!(
                "stdev × {}, enforced {} %, {} hosts, {} RPCs",
                f64::from(rate.stdev_factor) / 1000.0,
                rate.enforcement_percentage,
                rate.minimum_hosts,
                rate.request_volume
            ),
        );
    }
    if let Some(failure) = &detection.failure_percentage {
        node = node.fact(
            "failures",
            format!(
                "above {} %, enforced {} %, {} hosts, {} RPCs",
                failure.threshold, failure.enforcement_percentage, failure.minimum_hosts, failure.request_volume
            ),
        );
    }
    if detection.success_rate.is_none() && detection.failure_percentage.is_none() {
        node = node.fact("ejects", "nothing: no algorithm is enforced");
    }
    node
}

/// The node of circuit breaking and drops.
pub fn limits(leaf: &Leaf) -> TreeNode {
    let max = leaf.cluster.max_concurrent_requests;
    let value = if max == DEFAULT_MAX_CONCURRENT_REQUESTS {
        format!("{max} RPCs (default)")
    } else {
        format!("{max} RPCs")
    };
    let mut node = TreeNode::new(NodeKind::Frame, cluster_impl::NAME).fact("at most", value);
    let drops = leaf.endpoints.iter().flat_map(|endpoints| &endpoints.drops);
    for drop in drops.flat_map(|drops| &drops.categories) {
        let share = f64::from(drop.per_million) / PER_CENT;
        node = node.warning("drops", format!("{share} % as `{}`", drop.category));
    }
    node
}

/// The node of session affinity, with the endpoints that are left for sessions only.
fn sessions(leaf: &Leaf) -> TreeNode {
    let statuses: Vec<&str> = leaf.cluster.override_host_statuses.iter().map(|s| s.name()).collect();
    let mut node = TreeNode::new(NodeKind::Frame, override_host::NAME)
        .fact("sessions to", format!("{{{}}}", statuses.join(", ")))
        .fact("kept idle for", leaf.cluster.connection_idle_timeout.to_string());
    let keeps = leaf.cluster.override_host_statuses.contains(&HealthStatus::Draining);
    let all = leaf
        .endpoints
        .iter()
        .flat_map(|endpoints| endpoints.priorities.iter().flatten());
    for endpoint in all.flat_map(|locality| &locality.endpoints) {
        if endpoint.health == HealthStatus::Draining {
            let addresses: Vec<String> = endpoint.addresses().map(|a| a.to_string()).collect();
            let label = if keeps {
                "draining, sessions only"
            } else {
                "draining, unused"
            };
            node = node.warning(label, addresses.join(", "));
        }
    }
    node
}

/// The priorities of grpc-java, each over limits of its own.
fn limited_priorities(walk: &TreeWalk<'_>, cluster: &str, leaf: &Leaf, below: (&LbConfig, &[u64])) -> TreeNode {
    let used = java::priorities(cluster, leaf, below.1);
    let mut node = priorities(walk, cluster, leaf, below);
    let all = std::mem::take(&mut node.children).into_iter().enumerate();
    let kept = all.filter(|(place, _)| used.iter().any(|(used, _)| used == place));
    for (number, (_, mut child)) in kept.enumerate() {
        child.lazy = false;
        let edge = std::mem::take(&mut child.edge);
        let mut child = limits(leaf).with(child);
        if let Some(settings) = &leaf.cluster.outlier_detection {
            child = detection(Some(settings)).with(child);
        }
        child = child.under(edge);
        child.lazy = number > 0;
        node.children.push(child);
    }
    node
}

/// The priorities, each over the same policy.
fn priorities(walk: &TreeWalk<'_>, cluster: &str, leaf: &Leaf, (policy, numbers): (&LbConfig, &[u64])) -> TreeNode {
    let mut node = TreeNode::new(NodeKind::Priority, priority::NAME).fact("over", "priorities");
    let lists = leaf
        .endpoints
        .as_ref()
        .map_or(&[][..], |endpoints| &endpoints.priorities);
    for (number, child_number) in numbers.iter().enumerate() {
        let localities: &[Locality] = lists.get(number).map_or(&[], Vec::as_slice);
        let child = below_priority(walk, leaf, localities, policy);
        let name = child_name(cluster, *child_number, walk.shown.profile.client().family);
        let mut child = child.under(format!("P{number} \"{name}\""));
        child.lazy = number > 0;
        node.children.push(child);
    }
    node
}

/// The node below a priority of these localities.
fn below_priority(walk: &TreeWalk<'_>, leaf: &Leaf, localities: &[Locality], policy: &LbConfig) -> TreeNode {
    match &leaf.cluster.discovery {
        Discovery::LogicalDns { hostname } if leaf.is_unresolved => {
            policies::of_host(policy, hostname, walk.shown.profile)
        }
        Discovery::LogicalDns { .. } | Discovery::Eds { .. } | Discovery::Aggregate { .. } => {
            policies::policy(policy, &policies::parts(localities, walk.shown.profile))
        }
    }
}
