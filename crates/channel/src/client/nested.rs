//! The cluster dependency graph of a client whose aggregates fail in part: what cannot be used stays in its place.
//!
//! A leaf below several aggregates belongs to all of them. A cluster that is too deep, or leads back to itself, is a child that fails, as is
//! one that is missing or rejected, and RPCs go on to the next. One result serves all roots: a cluster seen before is not walked again.
//! Follows grpc-java `XdsDependencyManager.addConfigForCluster`.

use std::collections::BTreeMap;

use super::graph::{ClusterEntry, ClusterError, Graph, KnownCluster, MAX_AGGREGATE_DEPTH};

/// Resolves the clusters named by a virtual host's routes. The client takes them in an order without a meaning (that of a HashSet).
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
/// (grpc-js-xds `getLeafClusters`).
pub(super) fn resolve_whole<'a, 'k>(
    roots: impl IntoIterator<Item = &'a str>,
    known: &dyn Fn(&str) -> KnownCluster<'k>,
) -> Graph {
    let mut graph = resolve(roots, known);
    let names: Vec<String> = graph.entries.keys().cloned().collect();
    let mut depths = BTreeMap::new();
    for name in &names {
        let depth = depth_below(name, known, &mut Vec::new(), &mut depths);
        let is_aggregate = matches!(known(name), KnownCluster::Aggregate(_));
        if is_aggregate && depth.is_none_or(|depth| depth >= MAX_AGGREGATE_DEPTH) {
            graph
                .entries
                .insert(name.clone(), ClusterEntry::Error(ClusterError::TooDeep));
        } else if is_aggregate && let Some(leaves) = leaves_of(name, known) {
            let lost = Vec::new();
            graph
                .entries
                .insert(name.clone(), ClusterEntry::Aggregate { leaves, lost });
        }
    }
    graph
}

/// How many levels are below a cluster; `None` if it leads back to itself.
fn depth_below<'k>(
    name: &str,
    known: &dyn Fn(&str) -> KnownCluster<'k>,
    above: &mut Vec<String>,
    depths: &mut BTreeMap<String, Option<usize>>,
) -> Option<usize> {
    if let Some(depth) = depths.get(name) {
        return *depth;
    }
    let KnownCluster::Aggregate(children) = known(name) else {
        return Some(0);
    };
    if above.len() > MAX_AGGREGATE_DEPTH || above.iter().any(|above| above == name) {
        return None;
    }
    above.push(name.to_owned());
    let mut deepest = Some(0);
    for child in children {
        let below = depth_below(child, known, above, depths);
        deepest = deepest.zip(below).map(|(deepest, below)| deepest.max(below + 1));
    }
    above.pop();
    depths.insert(name.to_owned(), deepest);
    deepest
}

/// The leaves below an aggregate that is not too deep, each once, those that are missing too.
fn leaves_of<'k>(name: &str, known: &dyn Fn(&str) -> KnownCluster<'k>) -> Option<Vec<String>> {
    let KnownCluster::Aggregate(children) = known(name) else {
        return None;
    };
    let mut leaves: Vec<String> = Vec::new();
    for child in children {
        for leaf in leaves_of(child, known).unwrap_or_else(|| vec![child.clone()]) {
            if !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
        }
    }
    Some(leaves)
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
        // One that leads back to itself was found to do so further down.
        self.graph.entries.entry(name.to_owned()).or_insert(entry);
    }

    fn aggregate(&mut self, name: &str, children: &[String]) -> ClusterEntry {
        self.above.push(name.to_owned());
        let mut leaves: Vec<String> = Vec::new();
        for child in children {
            self.visit(child);
            let below = match self.graph.entries.get(child) {
                Some(ClusterEntry::Aggregate { leaves, .. }) => leaves.clone(),
                Some(ClusterEntry::Leaf | ClusterEntry::Error(_)) | None => vec![child.clone()],
            };
            for leaf in below {
                if !leaves.contains(&leaf) {
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
