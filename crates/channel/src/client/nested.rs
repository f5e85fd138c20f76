//! The cluster dependency graph of a client whose aggregates fail in part: a child that cannot be
//! used stays in its place.
//!
//! A leaf below several aggregates belongs to all of them. A cluster that is too deep or leads back
//! to itself is a child that fails, like one that is missing or rejected, and RPCs go on to the
//! next child. One result serves all roots: a cluster seen before is not walked again. Follows
//! grpc-java `XdsDependencyManager.addConfigForCluster`.

use std::collections::{BTreeMap, BTreeSet, btree_map};

use super::graph::{ClusterEntry, ClusterError, Graph, KnownCluster, MAX_AGGREGATE_DEPTH};

/// Returns the clusters that routes name, each once, in the order in which grpc-java resolves them:
/// that of a `java.util.HashSet` to which they were added.
pub(super) fn in_hash_order<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    let mut order: Vec<&str> = names.into_iter().filter(|name| seen.insert(*name)).collect();
    let mut buckets = 16;
    // The set grows when it is three quarters full.
    while order.len() > buckets * 3 / 4 {
        buckets *= 2;
    }
    let bucket = |name: &&str| {
        let units = name.encode_utf16();
        let hash = units.fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
        (hash ^ (hash >> 16)) as usize % buckets
    };
    // Names in one bucket stay in the order in which they were added.
    order.sort_by_key(bucket);
    order
}

/// Resolves the clusters named by a virtual host's routes, in this order.
pub(super) fn resolve<'a, 'k>(
    roots: impl IntoIterator<Item = &'a str>,
    known: &dyn Fn(&str) -> KnownCluster<'k>,
) -> Graph {
    let mut walk = NestedWalk {
        known,
        graph: Graph::default(),
        above: Vec::new(),
    };
    for root in roots {
        walk.visit(root);
    }
    walk.graph
}

/// Resolves the clusters of a client whose aggregates fail as a whole where one below is too deep or leads back to itself
/// (grpc-js-xds `getLeafClusters`). It asks for every cluster, however deep, and each aggregate counts its own depth.
pub(super) fn resolve_whole<'n>(
    roots: impl IntoIterator<Item = &'n str>,
    known: &dyn Fn(&str) -> KnownCluster<'n>,
) -> Graph {
    let mut clusters = BTreeMap::new();
    let mut named: Vec<&str> = roots.into_iter().collect();
    while let Some(name) = named.pop() {
        if let btree_map::Entry::Vacant(entry) = clusters.entry(name)
            && let KnownCluster::Aggregate(children) = *entry.insert(known(name))
        {
            named.extend(children.iter().map(String::as_str));
        }
    }
    let too_deep = too_deep(&clusters);
    let mut leaves = BTreeMap::new();
    let entries = clusters.iter().map(|(name, cluster)| {
        let entry = match cluster {
            KnownCluster::Missing => ClusterEntry::Error(ClusterError::Missing),
            KnownCluster::Rejected => ClusterEntry::Error(ClusterError::Rejected),
            KnownCluster::Leaf => ClusterEntry::Leaf,
            KnownCluster::Aggregate(_) if too_deep.contains(name) => ClusterEntry::Error(ClusterError::TooDeep),
            KnownCluster::Aggregate(_) => ClusterEntry::Aggregate {
                leaves: leaves_of(name, &clusters, &mut leaves)
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
                lost: Vec::new(),
            },
        };
        ((*name).to_owned(), entry)
    });
    Graph {
        entries: entries.collect(),
        ..Graph::default()
    }
}

/// The aggregates with a cluster [`MAX_AGGREGATE_DEPTH`] levels below them. Those that lead back to themselves are among them.
fn too_deep<'n>(clusters: &BTreeMap<&'n str, KnownCluster<'n>>) -> BTreeSet<&'n str> {
    let mut deep: BTreeSet<&str> = clusters.keys().copied().collect();
    for _ in 0..MAX_AGGREGATE_DEPTH {
        let deeper = clusters.iter().filter(|(_, cluster)| match cluster {
            KnownCluster::Aggregate(children) => children.iter().any(|child| deep.contains(child.as_str())),
            KnownCluster::Missing | KnownCluster::Rejected | KnownCluster::Leaf => false,
        });
        deep = deeper.map(|(name, _)| *name).collect();
    }
    deep
}

/// The leaves below a cluster that is not too deep, each once, those that are missing too. Each aggregate is walked once.
fn leaves_of<'n>(
    name: &'n str,
    clusters: &BTreeMap<&'n str, KnownCluster<'n>>,
    walked: &mut BTreeMap<&'n str, Vec<&'n str>>,
) -> Vec<&'n str> {
    let KnownCluster::Aggregate(children) = clusters[name] else {
        return vec![name];
    };
    if let Some(leaves) = walked.get(name) {
        return leaves.clone();
    }
    let mut seen = BTreeSet::new();
    let mut leaves = Vec::new();
    for child in children {
        leaves.extend(
            leaves_of(child, clusters, walked)
                .into_iter()
                .filter(|leaf| seen.insert(*leaf)),
        );
    }
    walked.insert(name, leaves.clone());
    leaves
}

struct NestedWalk<'f, 'k> {
    known: &'f dyn Fn(&str) -> KnownCluster<'k>,
    graph: Graph,
    /// Aggregates from the root to the one being visited.
    above: Vec<String>,
}

impl NestedWalk<'_, '_> {
    fn visit(&mut self, name: &str) {
        if self.graph.entries.contains_key(name) {
            return;
        }
        let entry = if self.above.iter().any(|above| above == name) {
            ClusterEntry::Error(ClusterError::Cycle(self.above.clone()))
        } else if self.above.len() > MAX_AGGREGATE_DEPTH {
            ClusterEntry::Error(ClusterError::TooDeepBelow(self.above.clone()))
        } else {
            match (self.known)(name) {
                KnownCluster::Missing => ClusterEntry::Error(ClusterError::Missing),
                KnownCluster::Rejected => ClusterEntry::Error(ClusterError::Rejected),
                KnownCluster::Leaf => ClusterEntry::Leaf,
                KnownCluster::Aggregate(children) => self.aggregate(name, children),
            }
        };
        // A cluster that leads back to itself has its result from further down already.
        self.graph.entries.entry(name.to_owned()).or_insert(entry);
    }

    fn aggregate(&mut self, name: &str, children: &[String]) -> ClusterEntry {
        self.above.push(name.to_owned());
        let (mut leaves, mut seen) = (Vec::new(), BTreeSet::new());
        for child in children {
            self.visit(child);
            let below = match self.graph.entries.get(child) {
                Some(ClusterEntry::Aggregate { leaves, .. }) => leaves.clone(),
                Some(ClusterEntry::Leaf | ClusterEntry::Error(_)) | None => vec![child.clone()],
            };
            for leaf in below {
                if seen.insert(leaf.clone()) {
                    leaves.push(leaf);
                }
            }
        }
        self.above.pop();
        ClusterEntry::Aggregate {
            leaves,
            lost: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(roots: &[&str], aggregates: &[(&str, &[&str])]) -> Graph {
        let texts = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let world: BTreeMap<&str, Vec<String>> = aggregates.iter().map(|(name, of)| (*name, texts(of))).collect();
        resolve(roots.iter().copied(), &|name| match world.get(name) {
            Some(children) => KnownCluster::Aggregate(children),
            None if name.starts_with("no") => KnownCluster::Missing,
            None => KnownCluster::Leaf,
        })
    }

    #[test]
    fn names_are_in_the_order_of_a_hash_set() {
        // As the JDK prints them.
        let order = |names: &str| in_hash_order(names.split(' ')).join(" ");
        assert_eq!(order("z1 h03 h02 h04 m0 h03"), "m0 z1 h03 h02 h04");
        // More than twelve names are in 32 buckets.
        assert_eq!(
            order("cart payments shop-canary a b c d e f g h i j k l m checkout"),
            "a b c d e f payments g h i j k l m cart shop-canary checkout"
        );
    }

    #[test]
    fn a_leaf_belongs_to_all_aggregates_and_to_one_once() {
        let graph = graph(
            &["eds", "z"],
            &[("z", &["a", "eds", "b"]), ("a", &["x", "eds"]), ("b", &["x", "y"])],
        );
        assert_eq!(graph.leaves("z"), ["x", "eds", "y"]);
        assert_eq!(graph.leaves("b"), ["x", "y"]);
    }

    #[test]
    fn what_leads_back_to_itself_fails_where_it_stands() {
        let graph = graph(&["a"], &[("a", &["b", "x"]), ("b", &["a", "no"])]);
        let cycle = ClusterError::Cycle(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(graph.entries["a"], ClusterEntry::Error(cycle));
        assert_eq!(graph.leaves("b"), ["a", "no"]);
    }

    /// Resolves a chain of aggregates `a0`, `a1` ... with a leaf at this depth, for a client whose aggregates fail as a whole.
    fn whole_chain(roots: &[&str], depth: usize) -> Graph {
        let names: Vec<String> = (0..=depth).map(|number| format!("a{number}")).collect();
        let world: BTreeMap<&str, &[String]> = names.windows(2).map(|pair| (pair[0].as_str(), &pair[1..])).collect();
        resolve_whole(roots.iter().copied(), &|name| match world.get(name) {
            Some(children) => KnownCluster::Aggregate(children),
            None => KnownCluster::Leaf,
        })
    }

    #[test]
    fn a_chain_that_is_too_deep_spoils_only_what_is_above() {
        let graph = whole_chain(&["a0", "a4"], 20);
        let too_deep = ClusterEntry::Error(ClusterError::TooDeep);
        assert_eq!(graph.entries["a0"], too_deep);
        assert_eq!(graph.entries["a4"], too_deep);
        assert_eq!(graph.leaves("a5"), ["a20"]);
        assert_eq!(graph.entries["a20"], ClusterEntry::Leaf);
        assert_eq!(whole_chain(&["a0"], 15).leaves("a0"), ["a15"]);
    }

    #[test]
    fn aggregates_of_many_layers_are_walked_once() {
        let layer = |number: usize| (0..6).map(|name| format!("{number}-{name}")).collect::<Vec<_>>();
        let layers: Vec<Vec<String>> = (0..14).map(layer).collect();
        let next = |name: &str| layers.get(name.split_once('-').unwrap().0.parse::<usize>().unwrap() + 1);
        let graph = resolve_whole(["0-0"], &|name| {
            next(name).map_or(KnownCluster::Leaf, |names| KnownCluster::Aggregate(names))
        });
        assert_eq!(graph.leaves("0-0"), layers[13]);
    }

    #[test]
    fn a_leaf_is_at_most_sixteen_deep() {
        let chain = |depth: usize| {
            let names: Vec<String> = (0..=depth).map(|number| format!("a{number}")).collect();
            let world: Vec<(&str, Vec<&str>)> = names
                .windows(2)
                .map(|pair| (pair[0].as_str(), vec![pair[1].as_str()]))
                .collect();
            let world: Vec<(&str, &[&str])> = world.iter().map(|(name, of)| (*name, of.as_slice())).collect();
            let last = format!("a{depth}");
            graph(&["a0"], &world).entries[&last].clone()
        };
        assert_eq!(chain(16), ClusterEntry::Leaf);
        assert!(matches!(chain(17), ClusterEntry::Error(ClusterError::TooDeepBelow(above)) if above.len() == 17));
    }
}
