//! Which failures really occur in a world. Those of a resource that nobody uses do not, nor do
//! those of a cluster from which another cluster takes over.
//!
//! A rule with the effect `fails` is about RPCs that use a resource. Validation sees one resource
//! and states what would fail; here the whole world is known. A failure is withheld if the
//! listeners of the world do not lead to it. If there is no listener and no route, or if there is a
//! cluster specifier plugin, nothing is known and every failure is shown.

use std::collections::{BTreeMap, BTreeSet};

use super::{Reason, Withheld};
use crate::lint::Usage;
use xdsctl_channel::client::graph::Graph;
use xdsctl_channel::client::{Checked, ClusterFacts, Facts, ResourceId, World, is_live};
use xdsctl_clients::core::cluster::lb_policy::RING_MAXIMUM_BELOW_DEFAULT;
use xdsctl_clients::core::cluster::logical_dns::{DNS_NAME_MALFORMED, DNS_NAME_MISREAD, DNS_PORT_OUT_OF_RANGE};
use xdsctl_clients::core::cluster::outlier_detection::THRESHOLD_FAILS;
use xdsctl_clients::core::endpoints::{ALL_DRAINING, WITHOUT_ENDPOINTS, WITHOUT_LOCALITIES};
use xdsctl_model::diag::{Diagnostic, Effect, Rule, Seg, rules};
use xdsctl_model::resource::ResourceType;

rules! {
    /// A cluster can take no RPC, and every aggregate cluster that uses it has another one to go on to.
    AGGREGATE_LEAF_PASSED_OVER = "aggregate-leaf-passed-over", Snapshot, Advice, "gRFC A37, A56; C-core priority.cc";
}

/// Faults that put the cluster into TRANSIENT_FAILURE, so that an aggregate cluster goes on to its
/// next cluster.
///
/// Other faults crash the client, leave RPCs waiting, or fail RPCs behind a picker that counts as
/// working.
static FAIL_OVER: [&Rule; 8] = [
    &THRESHOLD_FAILS,
    &RING_MAXIMUM_BELOW_DEFAULT,
    &DNS_NAME_MISREAD,
    &DNS_NAME_MALFORMED,
    &DNS_PORT_OUT_OF_RANGE,
    &WITHOUT_LOCALITIES,
    &WITHOUT_ENDPOINTS,
    &ALL_DRAINING,
];

/// Withholds the failures that do not occur in this world.
pub(super) fn withhold(world: &World, usage: &Usage<'_>, resources: &mut [Checked], withheld: &mut Withheld) {
    let has_failure = |checked: &Checked| checked.diagnostics.iter().any(is_failure);
    if !usage.is_known() || !resources.iter().any(has_failure) {
        return;
    }
    routes(world, usage, resources, withheld);
    let clusters = AcceptedClusters::of(world, resources);
    let passed_over = clusters.passed_over(world, usage);
    for (name, cluster) in &clusters.by_name {
        let fate = clusters.fate([*name], usage, &passed_over);
        apply(fate, resources, cluster.id, withheld);
    }
    // Endpoints count as used if the dump has no clusters at all, or lacks the clusters that use
    // them.
    if world.has(ResourceType::Cluster) {
        for (key, entry) in world.all(ResourceType::Endpoints) {
            let users = clusters.by_endpoints.get(key).into_iter().flatten().copied();
            let fate = clusters.fate(users, usage, &passed_over);
            apply(fate, resources, entry.id, withheld);
        }
    }
}

fn is_failure(diagnostic: &Diagnostic) -> bool {
    diagnostic.effect == Effect::Fails && !is_live(diagnostic.rule)
}

/// What happens to the RPCs that would use a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// No listener leads an RPC there.
    Unused,
    /// Another cluster takes the RPCs.
    PassedOver,
    /// RPCs that get there fail.
    Harmed,
}

/// Withholds the failures of a resource, or turns them into advice, by what becomes of its RPCs.
fn apply(fate: Fate, resources: &mut [Checked], ResourceId(number): ResourceId, withheld: &mut Withheld) {
    let Some(checked) = resources.get_mut(number) else {
        return;
    };
    match fate {
        Fate::Harmed => {}
        Fate::Unused => withheld.sift(number, &mut checked.diagnostics, |d| {
            is_failure(d).then_some(Reason::Unused)
        }),
        Fate::PassedOver => {
            for diagnostic in checked.diagnostics.iter_mut().filter(|d| is_failure(d)) {
                withheld.add(Some(number), diagnostic, None, Reason::PassedOver);
                diagnostic.turn_into(&AGGREGATE_LEAF_PASSED_OVER);
                diagnostic
                    .message
                    .push_str("; the aggregate clusters that use it go on to another one");
            }
        }
    }
}

/// A cluster that is no aggregate: it finds its own endpoints, or fails to.
struct ReachedCluster {
    id: ResourceId,
    /// Whether the cluster has a failure.
    is_failing: bool,
    /// Whether all its failures let an aggregate cluster go on to the next cluster.
    fails_over: bool,
}

/// The accepted clusters, each with the failures of its endpoints.
struct AcceptedClusters<'w> {
    by_name: BTreeMap<&'w str, ReachedCluster>,
    /// The names of the clusters that use a ClusterLoadAssignment.
    by_endpoints: BTreeMap<&'w str, Vec<&'w str>>,
}

impl<'w> AcceptedClusters<'w> {
    fn of(world: &'w World, resources: &[Checked]) -> Self {
        let mut clusters = AcceptedClusters {
            by_name: BTreeMap::new(),
            by_endpoints: BTreeMap::new(),
        };
        for (name, entry) in world.all(ResourceType::Cluster) {
            let Some(Facts::Cluster(facts)) = entry.facts() else {
                continue;
            };
            let mut ids = vec![entry.id];
            if let ClusterFacts::Eds { service_name, .. } = facts {
                let key = service_name.as_deref().unwrap_or(name);
                clusters.by_endpoints.entry(key).or_default().push(name);
                ids.extend(world.get(ResourceType::Endpoints, key).map(|e| e.id));
            }
            let failures = || {
                let checked = ids.iter().filter_map(|id| resources.get(id.0));
                checked.flat_map(|c| &c.diagnostics).filter(|d| is_failure(d))
            };
            let cluster = ReachedCluster {
                id: entry.id,
                is_failing: failures().next().is_some(),
                fails_over: failures().all(|d| FAIL_OVER.contains(&d.rule)),
            };
            clusters.by_name.insert(name, cluster);
        }
        clusters
    }

    /// Returns what happens to the RPCs that use one of `names`.
    fn fate<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
        usage: &Usage<'_>,
        passed_over: &BTreeSet<&str>,
    ) -> Fate {
        let mut fate = Fate::Unused;
        for name in names.into_iter().filter(|name| usage.uses_cluster(name)) {
            if !passed_over.contains(name) {
                return Fate::Harmed;
            }
            fate = Fate::PassedOver;
        }
        fate
    }

    /// Returns the failing clusters that every user can do without.
    fn passed_over(&self, world: &World, usage: &Usage<'_>) -> BTreeSet<&'w str> {
        let failing = |name: &str| self.by_name.get(name).is_some_and(|c| c.is_failing);
        let mut candidates: BTreeSet<&str> = self
            .by_name
            .iter()
            .filter(|(_, cluster)| cluster.is_failing && cluster.fails_over)
            .map(|(name, _)| *name)
            .collect();
        let mut done = BTreeSet::new();
        for (host, is_reached) in usage.virtual_hosts() {
            if candidates.is_empty() {
                break;
            }
            if !is_reached {
                continue;
            }
            let roots: BTreeSet<&str> = host.iter().map(|r| r.cluster.as_str()).collect();
            if !done.insert(roots.clone()) {
                continue;
            }
            let graph = Graph::resolve(roots.iter().copied(), &|name| world.known(name));
            for root in &roots {
                let leaves = graph.leaves(root);
                if leaves.iter().all(|leaf| failing(leaf)) {
                    for leaf in leaves {
                        candidates.remove(leaf);
                    }
                }
            }
        }
        candidates
    }
}

/// Withholds the failures of virtual hosts and RouteConfigurations that no listener's name leads
/// to.
fn routes(world: &World, usage: &Usage<'_>, resources: &mut [Checked], withheld: &mut Withheld) {
    for routes in &usage.routes {
        let Some(checked) = resources.get_mut(routes.holder.0) else {
            continue;
        };
        if !checked.diagnostics.iter().any(is_failure) {
            continue;
        }
        if let Some(reached) = routes.reached() {
            withheld.sift(routes.holder.0, &mut checked.diagnostics, |d| {
                let is_unused = virtual_host(d).is_some_and(|host| !reached.contains(&host));
                (is_failure(d) && is_unused).then_some(Reason::Unused)
            });
        }
    }
    if usage.has_channels() {
        for (_, entry) in world.all(ResourceType::RouteConfiguration) {
            if !usage.routes.iter().any(|routes| routes.holder == entry.id) {
                apply(Fate::Unused, resources, entry.id, withheld);
            }
        }
    }
}

/// Returns the index of the virtual host that a finding is about.
fn virtual_host(diagnostic: &Diagnostic) -> Option<usize> {
    let mut segs = diagnostic.path.segs();
    segs.find(|seg| matches!(seg, Seg::Field("virtual_hosts")))?;
    match segs.next()? {
        Seg::Index(index) => Some(index),
        _ => None,
    }
}
