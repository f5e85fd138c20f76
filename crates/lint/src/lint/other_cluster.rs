//! Clusters whose LB policy names another cluster (`cds_experimental`), which must be among those
//! that the routes need.
//!
//! The client looks the cluster up in the configuration of the channel (gRFC A74). This has the
//! clusters that the routes of the virtual host name, and all clusters below them. Nothing is known
//! without routes, or with a cluster specifier plugin.

use std::collections::BTreeSet;

use super::{Findings, Usage};
use xdsctl_channel::client::graph::{ClusterEntry, Graph};
use xdsctl_channel::client::{ClusterFacts, World};
use xdsctl_model::diag::{Path, rules};
use xdsctl_model::resource::ResourceType;

rules! {
    /// A cluster's LB policy names a cluster that the routes do not need.
    OTHER_CLUSTER_NOT_IN_ROUTES = "lb-cluster-not-in-routes", Snapshot, Fails, "gRFC A74; C-core cds.cc UpdateLocked; seen in the client";
}

pub(super) fn check(world: &World, usage: &Usage<'_>, findings: &mut Findings) {
    let mut clusters = world.all(ResourceType::Cluster);
    if !usage.is_known() || clusters.all(|(name, _)| others(world, name).is_empty()) {
        return;
    }
    let (mut done, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for (host, is_reached) in usage.virtual_hosts() {
        let roots: BTreeSet<&str> = host.iter().map(|reference| reference.cluster.as_str()).collect();
        if !is_reached || !done.insert(roots.clone()) {
            continue;
        }
        let graph = Graph::resolve(roots, &|name| world.known(name));
        let leaves = graph.entries.iter().filter(|(_, entry)| **entry == ClusterEntry::Leaf);
        for (name, _) in leaves {
            for other in others(world, name) {
                if !graph.entries.contains_key(other) && seen.insert((name.clone(), other)) {
                    report(world, name, other, findings);
                }
            }
        }
    }
}

fn others<'w>(world: &'w World, name: &str) -> &'w [String] {
    match world.cluster(name) {
        Some(ClusterFacts::Eds { others, .. } | ClusterFacts::LogicalDns { others, .. }) => others,
        Some(ClusterFacts::Aggregate { .. }) | None => &[],
    }
}

fn report(world: &World, name: &str, other: &str, findings: &mut Findings) {
    let Some(entry) = world.get(ResourceType::Cluster, name) else {
        return;
    };
    let message = format!(
        "the LB policy names the cluster `{other}`, which no route of the virtual host needs: RPCs to `{name}` fail or wait"
    );
    let path = Path::ROOT.field("load_balancing_policy").to_owned();
    findings.add(entry.id, &OTHER_CLUSTER_NOT_IN_ROUTES, path, message);
}
