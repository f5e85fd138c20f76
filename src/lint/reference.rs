//! References to resources that the world does not have, or that the client rejects.
//!
//! A partial dump is legitimate: a reference to a type of which the world has no resource at all is not looked at, unless the
//! reader names a channel's target: then the world is all that the channel gets.

use std::collections::HashMap;

use super::Findings;
use crate::client::{ClusterFacts, Facts, ListenerFacts, ResourceId, RouteFacts, World, eds_path, rds_path};
use crate::diag::rules;
use crate::model::ResourceType;

rules! {
    /// A listener names a RouteConfiguration that is not there.
    LISTENER_ROUTES_MISSING = "lds-route-config-missing", Snapshot, Advice, "gRFC A27; C-core XdsDependencyManager";
    /// A route names a cluster that is not there.
    ROUTE_CLUSTER_MISSING = "rds-cluster-missing", Snapshot, Advice, "gRFC A27; C-core XdsDependencyManager";
    /// A cluster's endpoints are not there.
    CLUSTER_ENDPOINTS_MISSING = "cds-endpoints-missing", Snapshot, Advice, "gRFC A27; C-core XdsDependencyManager";
    /// A reference leads to a resource that the client rejects.
    REFERENCE_TO_REJECTED = "reference-to-rejected", Snapshot, Fails, "C-core XdsDependencyManager, XdsClient";
}

pub(super) fn check(world: &World, is_whole: bool, findings: &mut Findings) {
    let expects = |resource_type| is_whole || world.has(resource_type);
    let mut clusters = expects(ResourceType::Cluster).then(|| Clusters::of(world));
    for (_, entry) in world.all(ResourceType::Listener) {
        match &entry.facts {
            Some(Facts::Listener(ListenerFacts::Rds(name, _))) if expects(ResourceType::RouteConfiguration) => {
                rds(world, entry.id, name, findings)
            }
            Some(Facts::Listener(ListenerFacts::Inline(facts, _))) => {
                if let Some(clusters) = &mut clusters {
                    routes(clusters, entry.id, true, facts, findings);
                }
            }
            _ => {}
        }
    }
    for (_, entry) in world.all(ResourceType::RouteConfiguration) {
        if let (Some(Facts::Routes(facts)), Some(clusters)) = (&entry.facts, &mut clusters) {
            routes(clusters, entry.id, false, facts, findings);
        }
    }
    if expects(ResourceType::Endpoints) {
        for (name, entry) in world.all(ResourceType::Cluster) {
            if let Some(Facts::Cluster(ClusterFacts::Eds { service_name, .. })) = &entry.facts {
                endpoints(world, entry.id, name, service_name.as_deref(), findings);
            }
        }
    }
}

fn rds(world: &World, listener: ResourceId, name: &str, findings: &mut Findings) {
    match world.get(ResourceType::RouteConfiguration, name) {
        None => {
            findings.add(
                listener,
                &LISTENER_ROUTES_MISSING,
                rds_path(),
                format!("RouteConfiguration `{name}` is not there: RPCs wait 15 s, then fail with UNAVAILABLE"),
            );
        }
        Some(entry) if entry.facts.is_none() => {
            findings.add(
                listener,
                &REFERENCE_TO_REJECTED,
                rds_path(),
                format!("RouteConfiguration `{name}` is rejected: every RPC of the channel fails with UNAVAILABLE"),
            );
        }
        Some(_) => {}
    }
}

/// What routes find under a cluster's name.
#[derive(Clone, Copy)]
enum Found {
    Accepted,
    Rejected,
    Nothing,
}

/// The clusters of a world, by the names that routes have named so far: thousands of routes name the same few.
struct Clusters<'w> {
    world: &'w World,
    found: HashMap<&'w str, Found>,
}

impl<'w> Clusters<'w> {
    fn of(world: &'w World) -> Self {
        Clusters {
            world,
            found: HashMap::new(),
        }
    }

    fn find(&mut self, name: &'w str) -> Found {
        let world = self.world;
        *self
            .found
            .entry(name)
            .or_insert_with(|| match world.get(ResourceType::Cluster, name) {
                None => Found::Nothing,
                Some(entry) if entry.facts.is_none() => Found::Rejected,
                Some(_) => Found::Accepted,
            })
    }
}

fn routes<'w>(
    clusters: &mut Clusters<'w>,
    holder: ResourceId,
    inline: bool,
    facts: &'w RouteFacts,
    findings: &mut Findings,
) {
    for reference in facts.virtual_hosts.iter().flatten() {
        let name = &reference.cluster;
        match clusters.find(name) {
            Found::Nothing => {
                let message = format!("Cluster `{name}` is not there: RPCs wait 15 s, then those on this route fail");
                findings.add(holder, &ROUTE_CLUSTER_MISSING, reference.path(inline), message);
            }
            Found::Rejected => {
                let message = format!("Cluster `{name}` is rejected: RPCs on this route fail with UNAVAILABLE");
                findings.add(holder, &REFERENCE_TO_REJECTED, reference.path(inline), message);
            }
            Found::Accepted => {}
        }
    }
}

fn endpoints(world: &World, cluster: ResourceId, name: &str, service_name: Option<&str>, findings: &mut Findings) {
    let wanted = service_name.unwrap_or(name);
    match world.get(ResourceType::Endpoints, wanted) {
        None => {
            let message =
                format!("ClusterLoadAssignment `{wanted}` is not there: RPCs wait 15 s, then fail with UNAVAILABLE");
            findings.add(cluster, &CLUSTER_ENDPOINTS_MISSING, eds_path(), message);
        }
        Some(entry) if entry.facts.is_none() => {
            let message =
                format!("ClusterLoadAssignment `{wanted}` is rejected: RPCs to this cluster fail with UNAVAILABLE");
            findings.add(cluster, &REFERENCE_TO_REJECTED, eds_path(), message);
        }
        Some(_) => {}
    }
}
