//! The cluster dependency graph of a client whose cds policies watch their clusters themselves.
//!
//! An aggregate has the leaves below it level by level: first its own, then those of the aggregates
//! in it, and so on, without a limit of depth. A cluster that is missing contributes nothing, and
//! an aggregate that leads back to itself somewhere fails as a whole. Follows grpc-java 1.63
//! `CdsLoadBalancer2.CdsLbState.handleClusterDiscovered`.

use std::collections::{BTreeSet, VecDeque};

use super::graph::{ClusterEntry, ClusterError, Graph, KnownCluster};

/// Resolves the clusters named by a virtual host's routes, each as if it were alone.
pub(super) fn resolve<'a, 'k>(
    roots: impl IntoIterator<Item = &'a str>,
    known: &dyn Fn(&str) -> KnownCluster<'k>,
) -> Graph {
    let mut graph = Graph::default();
    for root in roots {
        let entry = match known(root) {
            KnownCluster::Missing => ClusterEntry::Error(ClusterError::Missing),
            KnownCluster::Rejected => ClusterEntry::Error(ClusterError::Rejected),
            KnownCluster::Leaf => ClusterEntry::Leaf,
            KnownCluster::Aggregate(_) => aggregate(root, known),
        };
        if let ClusterEntry::Aggregate { leaves, .. } = &entry {
            for leaf in leaves {
                graph.entries.entry(leaf.clone()).or_insert(ClusterEntry::Leaf);
            }
        }
        graph.entries.insert(root.to_owned(), entry);
    }
    graph
}

fn aggregate<'k>(root: &str, known: &dyn Fn(&str) -> KnownCluster<'k>) -> ClusterEntry {
    if let Some((last, again)) = way_back(root, known) {
        return ClusterEntry::Error(ClusterError::WayBack { last, again });
    }
    let (mut leaves, mut lost) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::from([root.to_owned()]);
    let mut open = VecDeque::from([root.to_owned()]);
    while let Some(name) = open.pop_front() {
        match known(&name) {
            KnownCluster::Leaf => leaves.push(name),
            KnownCluster::Missing => lost.push((name, ClusterError::Missing)),
            KnownCluster::Rejected => lost.push((name, ClusterError::Rejected)),
            KnownCluster::Aggregate(children) => {
                open.extend(children.iter().filter(|child| seen.insert((*child).clone())).cloned());
            }
        }
    }
    ClusterEntry::Aggregate { leaves, lost }
}

/// Finds a cluster below `root` that is above itself. Returns the aggregate that names it again,
/// and the cluster.
fn way_back<'k>(root: &str, known: &dyn Fn(&str) -> KnownCluster<'k>) -> Option<(String, String)> {
    /// A step of the walk: to enter a cluster that `parent` names, or to leave a cluster.
    enum Turn {
        In { parent: String, name: String },
        Out(String),
    }
    let (mut above, mut done) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![Turn::In {
        parent: String::new(),
        name: root.to_owned(),
    }];
    while let Some(turn) = open.pop() {
        match turn {
            Turn::In { parent, name } if above.contains(&name) => return Some((parent, name)),
            Turn::In { name, .. } if done.contains(&name) => {}
            Turn::In { name, .. } => {
                let KnownCluster::Aggregate(children) = known(&name) else {
                    continue;
                };
                above.insert(name.clone());
                open.push(Turn::Out(name.clone()));
                open.extend(children.iter().rev().map(|child| Turn::In {
                    parent: name.clone(),
                    name: child.clone(),
                }));
            }
            Turn::Out(name) => {
                above.remove(&name);
                done.insert(name);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn graph(root: &str, aggregates: &[(&str, &[&str])]) -> Graph {
        let texts = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let world: BTreeMap<&str, Vec<String>> = aggregates.iter().map(|(name, of)| (*name, texts(of))).collect();
        resolve([root], &|name| match world.get(name) {
            Some(children) => KnownCluster::Aggregate(children),
            None if name.starts_with("no") => KnownCluster::Missing,
            None => KnownCluster::Leaf,
        })
    }

    #[test]
    fn leaves_come_level_by_level_and_once() {
        let graph = graph("z", &[("z", &["a", "x", "no"]), ("a", &["b", "y", "x"]), ("b", &["w"])]);
        assert_eq!(graph.leaves("z"), ["x", "y", "w"]);
    }

    #[test]
    fn a_cluster_that_leads_back_fails_as_a_whole() {
        let graph = graph("z", &[("z", &["x", "a"]), ("a", &["b"]), ("b", &["y", "a"])]);
        let way_back = ClusterError::WayBack {
            last: "b".to_owned(),
            again: "a".to_owned(),
        };
        assert_eq!(graph.entries["z"], ClusterEntry::Error(way_back));
    }

    #[test]
    fn a_cluster_may_be_below_two_others() {
        let graph = graph("z", &[("z", &["a", "b"]), ("a", &["c"]), ("b", &["c"]), ("c", &["x"])]);
        assert_eq!(graph.leaves("z"), ["x"]);
    }

    #[test]
    fn what_is_missing_is_told() {
        let graph = graph("z", &[("z", &["no", "a"]), ("a", &["nothing", "x"])]);
        let lost = ["no", "nothing"].map(|name| (name.to_owned(), ClusterError::Missing));
        let leaves = vec!["x".to_owned()];
        let entry = ClusterEntry::Aggregate {
            leaves,
            lost: lost.into(),
        };
        assert_eq!(graph.entries["z"], entry);
    }
}
