//! The graph of aggregate clusters (gRFCs A37, A75): depth, loops, duplicates, missing children,
//! and aggregates without any leaf.
//!
//! Each virtual host in use is resolved as the client does it, with one result map for all its
//! clusters. If it is not known which clusters are used, each aggregate cluster is a root of its
//! own.

use std::collections::BTreeSet;

use super::reference::not_asked_for;
use super::{Findings, Usage};
use xdsctl_channel::client::graph::{ClusterEntry, ClusterError, Graph, MAX_AGGREGATE_DEPTH, SkipReason, Skipped};
use xdsctl_channel::client::{ClusterFacts, World, child_path};
use xdsctl_model::diag::{Diagnostic, rules};
use xdsctl_model::resource::ResourceType;

rules! {
    /// Aggregate clusters are nested 16 levels deep or more.
    AGGREGATE_TOO_DEEP = "aggregate-too-deep", Snapshot, Fails, "gRFC A37; C-core XdsDependencyManager kMaxXdsAggregateClusterRecursionDepth",
        also [Go] "grpc-go gives up at the same depth (aggregateClusterMaxDepth)";
    /// An aggregate cluster has no leaf cluster that can be used.
    AGGREGATE_WITHOUT_LEAF = "aggregate-without-leaf", Snapshot, Fails, "gRFC A37, A75; C-core XdsDependencyManager";
    /// An aggregate cluster names one of the aggregates that it is part of.
    AGGREGATE_LOOP = "aggregate-loop", Snapshot, Advice, "gRFC A37; C-core XdsDependencyManager",
        also [Go] "grpc-go walks the graph in the same order, and passes over what it has seen (generateDMsForCluster, populateClusterConfigLocked)";
    /// An aggregate cluster names a cluster that comes earlier in the same graph.
    AGGREGATE_DUPLICATE = "aggregate-duplicate", Snapshot, Advice, "gRFC A75; C-core XdsDependencyManager",
        also [Go] "grpc-go walks the graph in the same order, and passes over what it has seen (generateDMsForCluster, populateClusterConfigLocked)";
    /// An aggregate cluster loses a leaf to another cluster of the same virtual host.
    AGGREGATE_SHARED_LEAF = "aggregate-shared-leaf", Snapshot, Advice, "C-core XdsDependencyManager PopulateClusterConfigMap";
    /// An aggregate cluster names a cluster that is not there.
    AGGREGATE_CHILD_MISSING = "aggregate-child-missing", Snapshot, Advice, "gRFC A75; C-core XdsDependencyManager",
        every "every client asks for what a resource names, and waits for what is not there";
    /// An aggregate cluster names a cluster that the client rejects, or cannot ask for.
    AGGREGATE_CHILD_REJECTED = "aggregate-child-rejected", Snapshot, Advice, "gRFC A75; C-core XdsDependencyManager";
}

/// Findings that were already reported: the same fault occurs under every virtual host.
type ReportedFaults = BTreeSet<(String, usize, &'static str)>;

pub(super) fn check(world: &World, usage: &Usage<'_>, findings: &mut Findings) {
    let is_aggregate = |name: &str| matches!(world.cluster(name), Some(ClusterFacts::Aggregate { .. }));
    if !world.all(ResourceType::Cluster).any(|(name, _)| is_aggregate(name)) {
        return;
    }
    let mut seen = ReportedFaults::new();
    let known = |name: &str| world.known(name);
    if usage.is_known() {
        let mut done = BTreeSet::new();
        for (host, is_reached) in usage.virtual_hosts() {
            let roots: BTreeSet<&str> = host.iter().map(|r| r.cluster.as_str()).collect();
            if roots.iter().any(|name| is_aggregate(name)) && done.insert(roots.clone()) {
                let graph = Graph::resolve(roots.iter().copied(), &known);
                report(world, &graph, &roots, is_reached, &mut seen, findings);
            }
        }
    } else {
        for (name, _) in world.all(ResourceType::Cluster) {
            if is_aggregate(name) {
                let graph = Graph::resolve([name], &known);
                report(world, &graph, &BTreeSet::from([name]), true, &mut seen, findings);
            }
        }
    }
}

/// Reports the faults of one resolution. Failures are reported only if a channel reaches them.
fn report(
    world: &World,
    graph: &Graph,
    roots: &BTreeSet<&str>,
    is_reached: bool,
    seen: &mut ReportedFaults,
    findings: &mut Findings,
) {
    // A single cluster says nothing about the others, which may be in another file.
    let is_alone = world.len() < 2 || world.may_go_on();
    let mut is_missing_one = false;
    for skipped in &graph.skipped {
        if is_alone && skipped.why == SkipReason::Missing {
            is_missing_one = true;
            continue;
        }
        child(world, skipped, seen, findings);
    }
    for (name, entry) in &graph.entries {
        let ClusterEntry::Error(error) = entry else { continue };
        let is_root = is_reached && roots.contains(name.as_str());
        let _ = match error {
            ClusterError::TooDeep if is_root => add(
                world,
                name,
                deepest_child(world, name, graph),
                &AGGREGATE_TOO_DEEP,
                format!(
                    "aggregate clusters below `{name}` reach depth {MAX_AGGREGATE_DEPTH}, at most {} are taken: RPCs to it fail with UNAVAILABLE",
                    MAX_AGGREGATE_DEPTH - 1
                ),
                seen,
                findings,
            ),
            ClusterError::NoLeaf { .. } if is_root && !is_missing_one => add(
                world,
                name,
                0,
                &AGGREGATE_WITHOUT_LEAF,
                format!("no leaf cluster is left below `{name}`: RPCs to it fail with UNAVAILABLE"),
                seen,
                findings,
            ),
            _ => None,
        };
    }
}

/// Returns the child through which the graph becomes too deep.
fn deepest_child(world: &World, name: &str, graph: &Graph) -> usize {
    let Some(ClusterFacts::Aggregate { children }) = world.cluster(name) else {
        return 0;
    };
    children
        .iter()
        .position(|child| graph.entries.get(child) == Some(&ClusterEntry::Error(ClusterError::TooDeep)))
        .unwrap_or(0)
}

fn child(world: &World, skipped: &Skipped, seen: &mut ReportedFaults, findings: &mut Findings) {
    let parent = &skipped.parent;
    let Some(ClusterFacts::Aggregate { children }) = world.cluster(parent) else {
        return;
    };
    let Some(name) = children.get(skipped.index) else {
        return;
    };
    let (rule, message) = match skipped.why {
        SkipReason::Loop => (
            &AGGREGATE_LOOP,
            format!("`{name}` is an aggregate above `{parent}`; the client skips it"),
        ),
        SkipReason::SeenBelowRoot => (
            &AGGREGATE_DUPLICATE,
            format!("`{name}` comes earlier in the same graph; the client skips it here"),
        ),
        SkipReason::SeenBelowOtherRoot => (
            &AGGREGATE_SHARED_LEAF,
            match skipped.taken_by.as_deref() {
                Some(root) if root != name => format!(
                    "`{name}` goes to `{root}`, which another route of the virtual host names and which sorts first; `{parent}` silently loses it"
                ),
                Some(_) | None => format!(
                    "`{name}` is named by another route of the virtual host and sorts first; `{parent}` silently loses it"
                ),
            },
        ),
        SkipReason::Missing => (
            &AGGREGATE_CHILD_MISSING,
            format!("Cluster `{name}` is not there: every RPC waits 15 s for it, then the client skips it"),
        ),
        SkipReason::Rejected => (
            &AGGREGATE_CHILD_REJECTED,
            match world.ask(ResourceType::Cluster, name) {
                Err(fault) => format!(
                    "{}; the client skips it",
                    not_asked_for(ResourceType::Cluster, name, &fault)
                ),
                Ok(()) => format!("Cluster `{name}` is rejected; the client skips it"),
            },
        ),
        SkipReason::TooDeep => return,
    };
    let added = add(world, parent, skipped.index, rule, message, seen, findings);
    if let (SkipReason::Rejected, Some(added), Some(child)) =
        (skipped.why, added, world.get(ResourceType::Cluster, name))
    {
        added.follows_from(child.id.0);
    }
}

fn add<'f>(
    world: &World,
    cluster: &str,
    child: usize,
    rule: &'static xdsctl_model::diag::Rule,
    message: String,
    seen: &mut ReportedFaults,
    findings: &'f mut Findings,
) -> Option<&'f mut Diagnostic> {
    let entry = world.get(ResourceType::Cluster, cluster)?;
    seen.insert((cluster.to_owned(), child, rule.id))
        .then(|| findings.add(entry.id, rule, child_path(child), message))
}
