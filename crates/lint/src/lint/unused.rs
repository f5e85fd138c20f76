//! Resources that nothing in the world asks for, which suggests that names do not match.
//!
//! A finding is only a note, because a partial world is legitimate. There is none if a resource
//! that might ask for them is rejected or missing.

use std::collections::BTreeSet;

use super::users::Users;
use super::{Findings, Usage};
use xdsctl_channel::client::{ClusterFacts, Facts, World};
use xdsctl_model::diag::{FieldPath, rules};
use xdsctl_model::resource::ResourceType;

rules! {
    /// No listener names the RouteConfiguration.
    ROUTES_UNUSED = "rds-route-config-unused", Snapshot, Advice as Note, "gRFC A27; C-core XdsDependencyManager",
        every "no client asks for what no resource names";
    /// No route leads to the cluster.
    CLUSTER_UNUSED = "cds-cluster-unused", Snapshot, Advice as Note, "gRFC A27, A74; C-core XdsDependencyManager";
    /// No cluster has its endpoints from the ClusterLoadAssignment.
    ENDPOINTS_UNUSED = "eds-endpoints-unused", Snapshot, Advice as Note, "gRFC A27; C-core XdsDependencyManager",
        every "no client asks for what no resource names";
}

pub(super) fn check(world: &World, usage: &Usage<'_>, users: &Users<'_>, findings: &mut Findings) {
    if world.may_go_on() {
        return;
    }
    routes(world, users, findings);
    clusters(world, usage, users, findings);
    endpoints(world, findings);
}

/// Says whether the client rejects some resource of this type.
fn has_rejected(world: &World, resource_type: ResourceType) -> bool {
    world.all(resource_type).any(|(_, entry)| !entry.is_accepted())
}

fn routes(world: &World, users: &Users<'_>, findings: &mut Findings) {
    if !world.has(ResourceType::Listener) || users.has_rejected {
        return;
    }
    let mut hints = Hints::new();
    for (name, entry) in world.all(ResourceType::RouteConfiguration) {
        if entry.is_accepted() && !users.names_routes(name) {
            let nearest = hints.nearest(name, || {
                missing(world, ResourceType::RouteConfiguration, users.client_routes())
            });
            let message = format!("no listener names RouteConfiguration `{name}`, so no client asks for it");
            let finding = findings.add(entry.id, &ROUTES_UNUSED, FieldPath::default(), message);
            if let Some(nearest) = nearest {
                finding.help(format!("a listener names `{nearest}`, which is not there"));
            }
        }
    }
}

fn clusters(world: &World, usage: &Usage<'_>, users: &Users<'_>, findings: &mut Findings) {
    let is_partial =
        !users.knows_all_routes(world) || has_rejected(world, ResourceType::Cluster) || usage.routes.is_empty();
    if !usage.is_known() || is_partial {
        return;
    }
    let mut hints = Hints::new();
    for (name, entry) in world.all(ResourceType::Cluster) {
        if !usage.uses_cluster(name) {
            let nearest = hints.nearest(name, || {
                let named = usage
                    .routes
                    .iter()
                    .flat_map(|routes| &routes.facts.virtual_hosts)
                    .flatten();
                missing(
                    world,
                    ResourceType::Cluster,
                    named.map(|reference| reference.cluster.as_str()),
                )
            });
            let message = format!("no route that the client keeps leads to Cluster `{name}`, so no client asks for it");
            let finding = findings.add(entry.id, &CLUSTER_UNUSED, FieldPath::default(), message);
            if let Some(nearest) = nearest {
                finding.help(format!("a route names `{nearest}`, which is not there"));
            }
        }
    }
}

fn endpoints(world: &World, findings: &mut Findings) {
    if !world.has(ResourceType::Cluster) || has_rejected(world, ResourceType::Cluster) {
        return;
    }
    let named: BTreeSet<&str> = world
        .all(ResourceType::Cluster)
        .filter_map(|(name, entry)| match entry.facts() {
            Some(Facts::Cluster(ClusterFacts::Eds { service_name, .. })) => {
                Some(service_name.as_deref().unwrap_or(name))
            }
            _ => None,
        })
        .collect();
    let mut hints = Hints::new();
    for (name, entry) in world.all(ResourceType::Endpoints) {
        if entry.is_accepted() && !named.contains(name) {
            let nearest = hints.nearest(name, || missing(world, ResourceType::Endpoints, named.iter().copied()));
            let message = format!("no cluster has its endpoints from ClusterLoadAssignment `{name}`");
            let finding = findings.add(entry.id, &ENDPOINTS_UNUSED, FieldPath::default(), message);
            if let Some(nearest) = nearest {
                finding.help(format!("a cluster names `{nearest}`, which is not there"));
            }
        }
    }
}

/// Returns those of `names` that the world does not have.
fn missing<'n>(
    world: &World,
    resource_type: ResourceType,
    names: impl Iterator<Item = &'n str>,
) -> impl Iterator<Item = &'n str> {
    names.filter(move |name| world.get(resource_type, name).is_none())
}

/// Most comparisons of names for hints, per type.
const MAX_COMPARISONS: usize = 2_000;

/// Finds missing names for which an unused resource may have been meant.
struct Hints<'n> {
    /// The missing names; `None` before the first lookup.
    missing: Option<BTreeSet<&'n str>>,
    /// How many comparisons of names may still be made.
    left: usize,
}

impl<'n> Hints<'n> {
    const fn new() -> Hints<'n> {
        Hints {
            missing: None,
            left: MAX_COMPARISONS,
        }
    }

    /// Returns the missing name that is most similar to `name`.
    fn nearest<I: Iterator<Item = &'n str>>(&mut self, name: &str, missing: impl FnOnce() -> I) -> Option<&'n str> {
        let missing = self.missing.get_or_insert_with(|| missing().collect());
        self.left = self.left.checked_sub(missing.len())?;
        xdsctl_model::text::nearest(name, missing.iter().copied())
    }
}
