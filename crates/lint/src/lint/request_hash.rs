//! Hash policies and ring_hash: one has no effect without the other (gRFC A42).
//!
//! Without a hash policy each RPC gets a random hash, so `ring_hash` picks at random. A cluster is
//! checked only if the world shows all routes to it, and is reported if none of these has a hash
//! policy. Conversely, a hash policy is reported if no cluster of its route uses the hash.

use std::collections::{BTreeMap, BTreeSet};

use super::usage::RoutesInUse;
use super::users::Users;
use super::{Findings, Usage};
use xdsctl_channel::client::{ClusterFacts, ResourceId, RouteReference, World};
use xdsctl_model::diag::rules;
use xdsctl_model::resource::ResourceType;

rules! {
    /// A cluster picks by ring_hash, and no route to it has a hash policy that the client keeps.
    RING_HASH_WITHOUT_HASH = "rds-ring-hash-without-hash-policy", Snapshot, Advice, "gRFC A42; C-core xds_resolver.cc GetCallConfig",
        also [Go Java Node] "they keep the same hash policies, and give an RPC without a hash a random one";
    /// A route has a hash policy, and none of its clusters looks at the hash.
    HASH_POLICY_UNUSED = "rds-hash-policy-unused", Snapshot, Advice as Note, "gRFC A42; C-core ring_hash.cc",
        every "only ring_hash looks at the hash";
}

/// A reference, with the resource that holds it and whether the routes are inline.
type ReferencePlace<'w> = (ResourceId, bool, &'w RouteReference);

pub(super) fn check(world: &World, usage: &Usage<'_>, users: &Users<'_>, findings: &mut Findings) {
    if usage.is_known() && world.has(ResourceType::Cluster) {
        if users.knows_all_routes(world) {
            without_policy(world, usage, findings);
        }
        without_ring(world, usage, findings);
    }
}

fn references<'w>(usage: &Usage<'w>) -> impl Iterator<Item = ReferencePlace<'w>> {
    usage.routes.iter().flat_map(
        |&RoutesInUse {
             holder, inline, facts, ..
         }| {
            let references = facts.virtual_hosts.iter().flatten();
            references.map(move |reference| (holder, inline, reference))
        },
    )
}

fn without_policy(world: &World, usage: &Usage<'_>, findings: &mut Findings) {
    let needs_hash = |name: &str| match world.cluster(name) {
        Some(ClusterFacts::Eds { policy, .. } | ClusterFacts::LogicalDns { policy, .. }) => policy.needs_hash(),
        Some(ClusterFacts::Aggregate { .. }) | None => false,
    };
    if !world.all(ResourceType::Cluster).any(|(name, _)| needs_hash(name)) {
        return;
    }
    let passes_over = |name: &str| match world.cluster(name) {
        Some(ClusterFacts::Eds { policy, .. } | ClusterFacts::LogicalDns { policy, .. }) => policy.passes_over,
        Some(ClusterFacts::Aggregate { .. }) | None => false,
    };
    let with = reached(world, references(usage).filter(|(_, _, r)| r.has_hash_policy));
    let without = reached(world, references(usage).filter(|(_, _, r)| !r.has_hash_policy));
    for (name, (holder, inline, reference)) in without {
        if !needs_hash(name) || with.contains_key(name) {
            continue;
        }
        let message =
            format!("Cluster `{name}` picks by ring_hash, and no route to it has a hash policy: it picks at random");
        let finding = findings.add(
            holder,
            &RING_HASH_WITHOUT_HASH,
            reference.action_path(inline, None),
            message,
        );
        // Other clients may choose another entry of the list of policies. Before gRFC A75, they use
        // the policy of the aggregate for everything below it.
        if name != reference.cluster || passes_over(name) {
            finding.shared_with(&[]);
        }
        finding.help("add a hash_policy of a header, or of filter_state with key `io.grpc.channel_id`");
    }
}

/// Returns the clusters that references lead to, also through aggregates, each with its first
/// reference.
fn reached<'w>(
    world: &'w World,
    references: impl Iterator<Item = ReferencePlace<'w>>,
) -> BTreeMap<&'w str, ReferencePlace<'w>> {
    let mut reached = BTreeMap::new();
    let mut open = Vec::new();
    for place in references {
        open.push(place.2.cluster.as_str());
        while let Some(name) = open.pop() {
            if reached.contains_key(name) {
                continue;
            }
            reached.insert(name, place);
            if let Some(ClusterFacts::Aggregate { children }) = world.cluster(name) {
                open.extend(children.iter().rev().map(String::as_str));
            }
        }
    }
    reached
}

fn without_ring(world: &World, usage: &Usage<'_>, findings: &mut Findings) {
    if !references(usage).any(|(_, _, reference)| reference.has_hash_policy) {
        return;
    }
    let users = hash_users(world);
    let is_aggregate = |name: &str| matches!(world.cluster(name), Some(ClusterFacts::Aggregate { .. }));
    let may_use = |name: &str| world.cluster(name).is_none() || users.contains(name);
    for &RoutesInUse {
        holder, inline, facts, ..
    } in &usage.routes
    {
        let mut unused: Vec<&RouteReference> = Vec::new();
        let mut is_below_aggregate = false;
        for host in &facts.virtual_hosts {
            // The references of one route are adjacent.
            for route in host.chunk_by(|a, b| a.route == b.route) {
                let Some(first) = route.first().filter(|first| first.has_hash_policy) else {
                    continue;
                };
                if !route.iter().any(|reference| may_use(&reference.cluster)) {
                    unused.push(first);
                    is_below_aggregate |= route.iter().any(|reference| is_aggregate(&reference.cluster));
                }
            }
        }
        let Some(first) = unused.first() else { continue };
        let others = match unused.len() {
            1 => String::new(),
            2 => ", as on another route".to_owned(),
            count => format!(", as on {} other routes", count - 1),
        };
        let finding = findings.add(
            holder,
            &HASH_POLICY_UNUSED,
            first.action_path(inline, Some("hash_policy")),
            format!(
                "no effect{others}: only ring_hash looks at the hash, and `{}` does not pick by it",
                first.cluster
            ),
        );
        // Before gRFC A75, the aggregate's own policy may use the hash.
        if is_below_aggregate {
            finding.shared_with(&[]);
        }
    }
}

/// Returns the clusters that may use the hash, and the aggregates with such a cluster or an unknown
/// one below them.
fn hash_users(world: &World) -> BTreeSet<&str> {
    let mut users = BTreeSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut parents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, _) in world.all(ResourceType::Cluster) {
        match world.cluster(name) {
            Some(ClusterFacts::Eds { policy, .. } | ClusterFacts::LogicalDns { policy, .. })
                if policy.ignores_hash() => {}
            Some(ClusterFacts::Eds { .. } | ClusterFacts::LogicalDns { .. }) => open.push(name),
            Some(ClusterFacts::Aggregate { children }) => {
                for child in children {
                    parents.entry(child).or_default().push(name);
                    if world.cluster(child).is_none() {
                        open.push(name);
                    }
                }
            }
            None => {}
        }
    }
    while let Some(name) = open.pop() {
        if users.insert(name) {
            open.extend(parents.get(name).into_iter().flatten());
        }
    }
    users
}
