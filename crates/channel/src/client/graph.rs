//! The cluster dependency graph: from the clusters that routes name down to leaf clusters (A37, A74, A75).
//!
//! Follows C-core `XdsDependencyManager::PopulateClusterConfigMap` (xds_dependency_manager.cc),
//! with its quirks. One result map serves all roots of a virtual host, so a cluster seen before
//! contributes no leaf a second time, not even under another root. The depth is checked before
//! that. A cluster at depth 16 spoils every aggregate above it.

use std::collections::{BTreeMap, BTreeSet};

use xdsctl_model::rng::Rng;

/// Depth at which the client gives up; the root is at 0, a leaf at 15 works.
pub const MAX_AGGREGATE_DEPTH: usize = 16;

/// What is known of a cluster by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownCluster<'a> {
    /// The control plane has no resource of this name.
    Missing,
    /// The client rejects the resource and has no earlier version.
    Rejected,
    /// Endpoints come from EDS or DNS.
    Leaf,
    /// Endpoints come from these clusters, in order of priority.
    Aggregate(&'a [String]),
}

/// Why a cluster cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterError {
    /// The graph below the cluster is too deep.
    TooDeep,
    /// The graph below is too deep, and the client waits for it without end.
    NeverWhole,
    /// No leaf is left below this aggregate.
    NoLeaf {
        /// Whether some cluster below it is missing or rejected.
        has_lost: bool,
    },
    /// The Cluster resource does not exist.
    Missing,
    /// The Cluster resource is invalid.
    Rejected,
    /// The cluster is too deep below these aggregates, listed from the root down, and fails there.
    TooDeepBelow(Vec<String>),
    /// An aggregate somewhere below the cluster refers back to one above it.
    WayBack {
        /// The aggregate that refers back.
        last: String,
        /// The aggregate to which it refers.
        again: String,
    },
    /// The cluster is one of these aggregates, listed from the root down, and leads back to itself.
    Cycle(Vec<String>),
}

/// What the client makes of one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterEntry {
    /// The cluster has endpoints of its own.
    Leaf,
    /// The cluster fails over between these leaves, in order.
    Aggregate {
        /// Names of the leaf clusters.
        leaves: Vec<String>,
        /// Children that were left out as missing or rejected, in the order of the walk.
        lost: Vec<(String, ClusterError)>,
    },
    /// RPCs to the cluster fail.
    Error(ClusterError),
}

/// A child of an aggregate that contributes nothing where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The aggregate cluster that names the child.
    pub parent: String,
    /// The position in the aggregate's list.
    pub index: usize,
    /// Why the aggregate passes it over.
    pub why: SkipReason,
    /// The root below which the child was seen first, for [`SkipReason::SeenBelowOtherRoot`].
    pub taken_by: Option<String>,
}

/// Why a child contributes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// The child is one of the aggregates above.
    Loop,
    /// The child was seen earlier below the same root.
    SeenBelowRoot,
    /// The child was seen below another root, or is one.
    SeenBelowOtherRoot,
    /// The child does not exist.
    Missing,
    /// The client rejects the child.
    Rejected,
    /// The child is at depth 16.
    TooDeep,
}

/// The client's view of all clusters that one virtual host needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// The result for each cluster, by its name.
    pub entries: BTreeMap<String, ClusterEntry>,
    /// Children that contribute nothing, in the order of the walk.
    pub skipped: Vec<Skipped>,
}

impl Graph {
    /// Resolves the clusters named by a virtual host's routes. The client takes them in the byte order of their names.
    pub fn resolve<'a, 'k>(
        roots: impl IntoIterator<Item = &'a str>,
        known: &dyn Fn(&str) -> KnownCluster<'k>,
    ) -> Graph {
        let mut roots: Vec<&str> = roots.into_iter().collect();
        roots.sort_unstable();
        roots.dedup();
        Graph::walk(&roots, known, FaultOrder::MissingPassedOver)
    }

    /// Resolves roots in this order.
    fn walk<'k>(roots: &[&str], known: &dyn Fn(&str) -> KnownCluster<'k>, faults: FaultOrder) -> Graph {
        let mut walk = GraphWalk {
            known,
            roots,
            graph: Graph::default(),
            root_of: BTreeMap::new(),
            above: Vec::new(),
            faults,
        };
        for (number, root) in roots.iter().enumerate() {
            walk.visit(root, number, &mut Below::default());
        }
        walk.graph
    }

    /// Resolves each root as if it were alone. A root has its own result, and another cluster the
    /// first one that is not an error.
    ///
    /// With a `draw`, the results come into one map in which the last one counts (grpc-go since
    /// 1.80, `maybeSendUpdateLocked` in xds_dependency_manager.go). The order of the roots is random
    /// in the client, and follows from the draw here.
    pub fn resolve_each<'a, 'k>(
        roots: impl IntoIterator<Item = &'a str>,
        known: &dyn Fn(&str) -> KnownCluster<'k>,
        faults: FaultOrder,
        draw: Option<u64>,
    ) -> Graph {
        let roots: BTreeSet<&str> = roots.into_iter().collect();
        let mut order: Vec<&str> = roots.iter().copied().collect();
        if let Some(draw) = draw {
            Rng::stream(draw, "roots").shuffle(&mut order);
        }
        let mut all = Graph::default();
        let mut walked: BTreeSet<String> = BTreeSet::new();
        for root in order {
            let one = Graph::walk(&[root], known, faults);
            for (name, entry) in one.entries {
                let is_better = || match all.entries.get(&name) {
                    None | Some(ClusterEntry::Error(_)) => !roots.contains(name.as_str()),
                    Some(ClusterEntry::Leaf | ClusterEntry::Aggregate { .. }) => false,
                };
                if draw.is_some() || name == root || is_better() {
                    all.entries.insert(name, entry);
                }
            }
            let skipped = one.skipped.into_iter();
            let skipped: Vec<Skipped> = skipped.filter(|skipped| !walked.contains(&skipped.parent)).collect();
            walked.extend(skipped.iter().map(|skipped| skipped.parent.clone()));
            all.skipped.extend(skipped);
        }
        all
    }

    /// The leaves below a cluster, or the cluster itself if it is a leaf; empty for an error.
    pub fn leaves<'g>(&'g self, name: &'g str) -> Vec<&'g str> {
        match self.entries.get(name) {
            Some(ClusterEntry::Leaf) => vec![name],
            Some(ClusterEntry::Aggregate { leaves, .. }) => leaves.iter().map(String::as_str).collect(),
            Some(ClusterEntry::Error(_)) | None => Vec::new(),
        }
    }
}

/// What a visit adds to the aggregate above.
#[derive(Default)]
struct Below {
    leaves: Vec<String>,
    lost: Vec<(String, ClusterError)>,
    /// The error that spoils the aggregate above.
    error: Option<ClusterError>,
    /// Whether the client waits for ever for a part of the aggregate above.
    is_never_whole: bool,
}

struct GraphWalk<'f, 'k> {
    known: &'f dyn Fn(&str) -> KnownCluster<'k>,
    /// The clusters that the routes name, in the order of the walk.
    roots: &'f [&'f str],
    graph: Graph,
    /// Number of the root below which a cluster was first seen.
    root_of: BTreeMap<String, usize>,
    /// Aggregates from the root to the one being visited.
    above: Vec<String>,
    faults: FaultOrder,
}

/// What an aggregate does about faults of the clusters below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultOrder {
    /// It passes over clusters that are missing or rejected, and fails with the first one that is
    /// too deep (C-core).
    MissingPassedOver,
    /// It fails with the first fault (grpc-go since 1.80, `populateAggregateClusterLocked`).
    FirstCounts,
    /// It fails if its last child is too deep. If an earlier one is, it never becomes whole: the
    /// error is lost (grpc-go before 1.80, `generateDMsForCluster`).
    LastCounts,
}

impl Below {
    fn lose(&mut self, name: &str, error: ClusterError, reason: SkipReason) -> (ClusterEntry, Option<SkipReason>) {
        self.lost.push((name.to_owned(), error.clone()));
        (ClusterEntry::Error(error), Some(reason))
    }
}

impl GraphWalk<'_, '_> {
    /// Visits a cluster at the depth `self.above.len()`. Returns why the cluster adds nothing to
    /// the aggregate above, if it does not.
    fn visit(&mut self, name: &str, root: usize, below: &mut Below) -> Option<SkipReason> {
        if self.above.len() == MAX_AGGREGATE_DEPTH {
            below.error = Some(ClusterError::TooDeep);
            if self.faults == FaultOrder::FirstCounts {
                let too_deep = ClusterEntry::Error(ClusterError::TooDeep);
                self.graph.entries.insert(name.to_owned(), too_deep);
            }
            return Some(SkipReason::TooDeep);
        }
        if let Some(first) = self.root_of.get(name) {
            return Some(if self.above.iter().any(|a| a == name) {
                SkipReason::Loop
            } else if *first == root {
                SkipReason::SeenBelowRoot
            } else {
                SkipReason::SeenBelowOtherRoot
            });
        }
        self.root_of.insert(name.to_owned(), root);
        let (entry, skip) = match (self.known)(name) {
            KnownCluster::Missing => below.lose(name, ClusterError::Missing, SkipReason::Missing),
            KnownCluster::Rejected => below.lose(name, ClusterError::Rejected, SkipReason::Rejected),
            KnownCluster::Leaf => {
                below.leaves.push(name.to_owned());
                (ClusterEntry::Leaf, None)
            }
            KnownCluster::Aggregate(children) => (self.aggregate(name, children, root, below), None),
        };
        self.graph.entries.insert(name.to_owned(), entry);
        skip
    }

    /// Says whether an aggregate fails because of a cluster below it that is missing or rejected.
    const fn fails(&self, below: &Below) -> bool {
        matches!(self.faults, FaultOrder::FirstCounts) && !below.lost.is_empty()
    }

    fn aggregate(&mut self, name: &str, children: &[String], root: usize, above: &mut Below) -> ClusterEntry {
        self.above.push(name.to_owned());
        let mut below = Below::default();
        for (index, child) in children.iter().enumerate() {
            if let Some(why) = self.visit(child, root, &mut below) {
                self.graph.skipped.push(Skipped {
                    parent: name.to_owned(),
                    index,
                    why,
                    taken_by: (why == SkipReason::SeenBelowOtherRoot)
                        .then(|| self.root_of.get(child).and_then(|&number| self.roots.get(number)))
                        .flatten()
                        .map(|root| (*root).to_owned()),
                });
            }
            if self.faults == FaultOrder::LastCounts {
                below.is_never_whole |= below.error.is_some();
                below.error.take_if(|_| index + 1 < children.len());
                continue;
            }
            // Later siblings of a child that fails the aggregate are not looked at.
            if below.error.is_some() || self.fails(&below) {
                break;
            }
        }
        self.above.pop();
        above.lost.extend_from_slice(&below.lost);
        if let Some(error) = below.error {
            above.error = Some(error.clone());
            return ClusterEntry::Error(error);
        }
        above.leaves.extend_from_slice(&below.leaves);
        if below.is_never_whole && below.lost.is_empty() {
            above.is_never_whole = true;
            return ClusterEntry::Error(ClusterError::NeverWhole);
        }
        if below.leaves.is_empty() && !self.fails(&below) {
            ClusterEntry::Error(ClusterError::NoLeaf {
                has_lost: !below.lost.is_empty(),
            })
        } else {
            ClusterEntry::Aggregate {
                leaves: below.leaves,
                lost: below.lost,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(aggregates: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        aggregates
            .iter()
            .map(|(name, children)| ((*name).to_owned(), children.iter().map(|c| (*c).to_owned()).collect()))
            .collect()
    }

    /// Resolves `roots`; names that start with `no` are missing, other unknown names are leaves.
    fn resolve(roots: &[&str], aggregates: &[(&str, &[&str])]) -> Graph {
        let world = world(aggregates);
        Graph::resolve(roots.iter().copied(), &|name| match world.get(name) {
            Some(children) => KnownCluster::Aggregate(children),
            None if name.starts_with("no") => KnownCluster::Missing,
            None => KnownCluster::Leaf,
        })
    }

    /// A chain of `depth` aggregates above one leaf.
    fn chain(depth: usize) -> Graph {
        let world: BTreeMap<String, Vec<String>> = (0..depth)
            .map(|i| {
                let child = if i + 1 == depth {
                    "leaf".to_owned()
                } else {
                    format!("a{}", i + 1)
                };
                (format!("a{i}"), vec![child])
            })
            .collect();
        Graph::resolve(["a0"], &|name| match world.get(name) {
            Some(children) => KnownCluster::Aggregate(children),
            None => KnownCluster::Leaf,
        })
    }

    #[test]
    fn leaf_at_depth_15_works_and_at_16_spoils_the_root() {
        assert_eq!(chain(15).leaves("a0"), ["leaf"]);
        assert_eq!(chain(16).entries["a0"], ClusterEntry::Error(ClusterError::TooDeep));
        assert_eq!(chain(16).entries["a15"], ClusterEntry::Error(ClusterError::TooDeep));
        assert!(!chain(16).entries.contains_key("leaf"));
    }

    #[test]
    fn back_edges_are_cut() {
        assert_eq!(resolve(&["A"], &[("A", &["A", "X"])]).leaves("A"), ["X"]);
        assert_eq!(
            resolve(&["A"], &[("A", &["A"])]).entries["A"],
            ClusterEntry::Error(ClusterError::NoLeaf { has_lost: false })
        );
        let graph = resolve(&["A"], &[("A", &["B", "C"]), ("B", &["A"])]);
        assert_eq!(graph.leaves("A"), ["C"]);
        assert_eq!(
            graph.entries["B"],
            ClusterEntry::Error(ClusterError::NoLeaf { has_lost: false })
        );
    }

    #[test]
    fn nested_aggregates_are_flattened_and_duplicates_keep_their_first_place() {
        let graph = resolve(
            &["root"],
            &[
                ("root", &["A1", "L1", "A2"]),
                ("A1", &["L2", "L3"]),
                ("A2", &["L3", "L1", "L4", "root"]),
            ],
        );
        assert_eq!(graph.leaves("root"), ["L2", "L3", "L1", "L4"]);
        assert_eq!(graph.leaves("A2"), ["L4"]);
    }

    #[test]
    fn a_leaf_under_an_earlier_root_is_lost_to_a_later_one() {
        let graph = resolve(&["eds1", "zagg"], &[("zagg", &["eds1", "dns1"])]);
        assert_eq!(graph.leaves("zagg"), ["dns1"]);
        assert_eq!(graph.skipped[0].why, SkipReason::SeenBelowOtherRoot);
        assert_eq!(graph.skipped[0].taken_by.as_deref(), Some("eds1"));
        let graph = resolve(&["agg", "eds1"], &[("agg", &["eds1", "dns1"])]);
        assert_eq!(graph.leaves("agg"), ["eds1", "dns1"]);
    }

    #[test]
    fn the_last_root_says_what_a_cluster_below_several_is() {
        let world = world(&[("a", &["x", "r"]), ("r", &["x", "y"])]);
        let known = |name: &str| match world.get(name) {
            Some(children) => KnownCluster::Aggregate(children),
            None => KnownCluster::Leaf,
        };
        let leaves = |draw| {
            Graph::resolve_each(["a", "r"], &known, FaultOrder::FirstCounts, draw)
                .leaves("r")
                .join(" ")
        };
        assert_eq!(leaves(None), "x y");
        let drawn: BTreeSet<String> = (0..20).map(|draw| leaves(Some(draw))).collect();
        let skipped = Graph::resolve_each(["a", "r"], &known, FaultOrder::FirstCounts, None).skipped;
        assert_eq!(
            (skipped[0].parent.as_str(), skipped[0].why),
            ("r", SkipReason::SeenBelowRoot)
        );
        assert_eq!(drawn, BTreeSet::from(["x y".to_owned(), "y".to_owned()]));
    }

    #[test]
    fn a_missing_child_is_passed_over_until_no_leaf_is_left() {
        let graph = resolve(&["a"], &[("a", &["no1", "x"])]);
        assert_eq!(graph.leaves("a"), ["x"]);
        let graph = resolve(&["a"], &[("a", &["no1"])]);
        assert_eq!(
            graph.entries["a"],
            ClusterEntry::Error(ClusterError::NoLeaf { has_lost: true })
        );
    }
}
