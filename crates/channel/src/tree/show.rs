//! The whole tree as nodes: channel, cluster manager, one cds policy a cluster, its wrappers,
//! priorities and policies (A75).

use std::collections::{BTreeMap, BTreeSet};

use super::build::Cds;
use super::flat::{self, FlatCluster, FlatNames};
use super::form::TreeForm;
use super::layers::Layer;
use super::names::{ChildNumbers, NamedLeaf};
use super::node::{NodeKind, TreeNode};
use super::policies;
use super::service_config::{ManagerChild, ServiceConfig};
use crate::client::Resources;
use crate::client::config::{Aggregate, ClusterState, Leaf, XdsConfig};
use crate::client::graph::{SkipReason, Skipped};
use crate::rpc::CLUSTER_PREFIX;
use xdsctl_document::source::secrets::SecretPlace;
use xdsctl_lb::{self, LbConfig, cds, cluster_impl, cluster_manager, outlier_detection, override_host, priority};
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::cluster::{DEFAULT_MAX_CONCURRENT_REQUESTS, Discovery, HealthStatus};
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
    let mut manager = children.fold(manager, |manager, (key, child)| {
        manager.with(top(&walk, child).under(format!("\"{key}\"")))
    });
    let form = TreeForm::of(shown.profile.client().family);
    rename(&mut manager, form);
    let around = form.around.iter().rev();
    let below = around.fold(manager, |below, name| TreeNode::new(NodeKind::Frame, *name).with(below));
    channel(shown.config).with(below)
}

/// Gives the policies of a tree the names that they have in the client.
fn rename(node: &mut TreeNode, form: &TreeForm) {
    if !matches!(node.kind, NodeKind::Endpoint | NodeKind::Failure) {
        node.name = (form.json.policy_name)(&node.name).to_owned();
    }
    if form.has_bare_keys
        && let Some(edge) = node.edge.strip_prefix(&format!("\"{CLUSTER_PREFIX}"))
    {
        node.edge = format!("\"{edge}");
    }
    node.children.iter_mut().for_each(|node| rename(node, form));
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
    if let ([leaf], false) = (named.as_slice(), flat.is_aggregate()) {
        let below = ShownLeaf::of_flat(flat, leaf).node(walk, flat.layers(), &[]);
        return of_leaf(walk, cluster, leaf.leaf, node).with(below);
    }
    let mut priorities = Vec::new();
    for leaf in &named {
        let shown = ShownLeaf::of_flat(flat, leaf);
        for (_, name, localities) in &shown.priorities {
            let node = shown.node(walk, &flat::OF_PRIORITY, localities);
            priorities.push((name.clone(), of_leaf(walk, leaf.cluster, leaf.leaf, node)));
        }
    }
    let priorities = priorities.into_iter().enumerate();
    let failover = failover(
        "priorities",
        priorities.map(|(number, (name, node))| (number, name, node)),
    );
    let node = dropped(walk, cluster, None, node).fact("type", "aggregate");
    skipped(walk, cluster, node).with(failover)
}

/// A priority policy over these children, each with its number and its name.
pub fn failover(over: &'static str, children: impl Iterator<Item = (usize, String, TreeNode)>) -> TreeNode {
    let mut node = TreeNode::new(NodeKind::Priority, priority::NAME).fact("over", over);
    for (number, name, child) in children {
        let mut child = child.under(format!("P{number} \"{name}\""));
        child.lazy = !node.children.is_empty();
        node.children.push(child);
    }
    node
}

fn aggregate_node(walk: &TreeWalk<'_>, cluster: &str, aggregate: &Aggregate, node: TreeNode) -> TreeNode {
    let node = dropped(walk, cluster, None, node).fact("type", "aggregate");
    let leaves = aggregate.leaves.iter().enumerate();
    let leaves = leaves.map(|(number, leaf)| (number, leaf.clone(), cds_node(walk, leaf, Some(cluster))));
    skipped(walk, cluster, node).with(failover("clusters", leaves))
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

fn leaf_node(
    walk: &TreeWalk<'_>,
    cluster: &str,
    leaf: &Leaf,
    (policy, numbers): (&LbConfig, &[u64]),
    node: TreeNode,
) -> TreeNode {
    let form = TreeForm::of(walk.shown.profile.client().family);
    let shown = numbers.iter().enumerate();
    let shown = shown.filter(|(place, _)| form.shows_childless || (form.has_child)(leaf, *place));
    let names = shown.map(|(place, number)| (place, (form.child_name)(cluster, *number)));
    let shown = ShownLeaf::new(leaf, policy, names);
    // Without a policy for priorities, the endpoints of all priorities are together.
    let lists = leaf.endpoints.iter().flat_map(|endpoints| &endpoints.priorities);
    let all: Vec<Locality> = match form.layers.is_empty() {
        true => lists.flatten().cloned().collect(),
        false => Vec::new(),
    };
    of_leaf(walk, cluster, leaf, node).with(shown.node(walk, form.layers, &all))
}

/// A leaf with its LB policy and its priorities: the number, the name and the localities of each.
struct ShownLeaf<'a> {
    leaf: &'a Leaf,
    policy: &'a LbConfig,
    priorities: Vec<(usize, String, &'a [Locality])>,
}

impl<'a> ShownLeaf<'a> {
    fn new(leaf: &'a Leaf, policy: &'a LbConfig, names: impl Iterator<Item = (usize, String)>) -> ShownLeaf<'a> {
        let lists = leaf.endpoints.as_ref().map_or(&[][..], |all| &all.priorities);
        let of = |place: usize| lists.get(place).map_or(&[][..], Vec::as_slice);
        ShownLeaf {
            leaf,
            policy,
            priorities: names.map(|(place, name)| (place, name, of(place))).collect(),
        }
    }

    fn of_flat(flat: &'a FlatCluster<'_>, named: &NamedLeaf<'a>) -> ShownLeaf<'a> {
        let names = named.names.iter().cloned().enumerate();
        ShownLeaf::new(named.leaf, flat.policy_of(named.leaf), names)
    }

    /// The node of the outermost of these policies. `localities` are those of the priority above.
    fn node(&self, walk: &TreeWalk<'_>, layers: &[Layer], localities: &[Locality]) -> TreeNode {
        let Some((layer, below)) = layers.split_first() else {
            return below_priority(self.leaf, localities, self.policy, walk.shown.profile);
        };
        let child = || self.node(walk, below, localities);
        match layer {
            layer if layer.is_without(self.leaf) => child(),
            Layer::OutlierDetection | Layer::OwnOutlierDetection => detection(self.leaf).with(child()),
            Layer::ClusterImpl => limits(self.leaf).with(child()),
            Layer::OverrideHost => sessions(self.leaf).with(child()),
            Layer::Priority => {
                let priorities = self.priorities.iter();
                let of = |localities| self.node(walk, below, localities);
                failover(
                    "priorities",
                    priorities.map(|(number, name, localities)| (*number, name.clone(), of(localities))),
                )
            }
        }
    }
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

/// The node of outlier detection.
pub fn detection(leaf: &Leaf) -> TreeNode {
    let node = TreeNode::new(NodeKind::Frame, outlier_detection::NAME);
    let Some(detection) = &leaf.cluster.outlier_detection else {
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

/// The node of session affinity.
pub fn sessions_to(leaf: &Leaf) -> TreeNode {
    let statuses: Vec<&str> = leaf.cluster.override_host_statuses.iter().map(|s| s.name()).collect();
    TreeNode::new(NodeKind::Frame, override_host::NAME).fact("sessions to", format!("{{{}}}", statuses.join(", ")))
}

/// The node of session affinity, with the endpoints that are left for sessions only.
fn sessions(leaf: &Leaf) -> TreeNode {
    let mut node = sessions_to(leaf).fact("kept idle for", leaf.cluster.connection_idle_timeout.to_string());
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

/// The node below a priority of these localities.
pub fn below_priority(leaf: &Leaf, localities: &[Locality], policy: &LbConfig, profile: &Profile) -> TreeNode {
    match &leaf.cluster.discovery {
        Discovery::LogicalDns { hostname } if leaf.is_unresolved => policies::of_host(policy, hostname, profile),
        Discovery::LogicalDns { .. } | Discovery::Eds { .. } | Discovery::Aggregate { .. } => {
            policies::policy(policy, &policies::parts(localities, profile))
        }
    }
}
