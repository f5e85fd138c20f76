//! References to resources that the world does not have, or that the client rejects.
//!
//! A partial dump is legitimate: a type of which the world has no resource at all is not missed, unless the
//! reader names a channel's target: then the world is all that the channel gets. Where the reader says that it is all there is, nothing
//! that is missing will come, and RPCs fail.

use foldhash::{HashMap, HashMapExt};

use super::Findings;
use crate::client::{ClusterFacts, Facts, ListenerFacts, ResourceId, RouteFacts, World, eds_path, rds_path};
use crate::convert::resource_name::NameFault;
use crate::diag::{Rule, rules};
use crate::model::ResourceType;

rules! {
    /// A listener names a RouteConfiguration that is not there.
    LISTENER_ROUTES_MISSING = "lds-route-config-missing", Snapshot, Advice, "gRFC A27; C-core XdsDependencyManager",
        every "every client asks for what a resource names, and waits for what is not there";
    /// A route names a cluster that is not there.
    ROUTE_CLUSTER_MISSING = "rds-cluster-missing", Snapshot, Advice, "gRFC A27; C-core XdsDependencyManager",
        every "every client asks for what a resource names, and waits for what is not there";
    /// A cluster's endpoints are not there.
    CLUSTER_ENDPOINTS_MISSING = "cds-endpoints-missing", Snapshot, Advice, "gRFC A27; C-core XdsDependencyManager",
        every "every client asks for what a resource names, and waits for what is not there";
    /// A reference leads to a resource that is not there, and the input is said to be complete.
    REFERENCE_TO_NOTHING = "reference-to-nothing", Snapshot, Fails, "gRFC A27; C-core XdsDependencyManager",
        every "every client asks for what a resource names, and waits for what is not there";
    /// A reference leads to a resource that the client rejects.
    REFERENCE_TO_REJECTED = "reference-to-rejected", Snapshot, Fails, "C-core XdsDependencyManager, XdsClient";
    /// A reference is a name by which the client cannot ask for anything.
    REFERENCE_NOT_ASKED_FOR = "reference-not-asked-for", Snapshot, Fails, "gRFC A47; C-core XdsClient::WatchResource";
}

/// What is known of resources that are not in the world.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// There may be others: of a type of which there is none at all, everything may be elsewhere.
    Unknown,
    /// A channel gets no others, for now.
    Whole,
    /// There are none.
    Complete,
}

impl Extent {
    /// The rule for a reference to nothing, which is `otherwise` while something may still come.
    fn rule(self, otherwise: &'static Rule) -> &'static Rule {
        match self {
            Extent::Complete => &REFERENCE_TO_NOTHING,
            Extent::Whole | Extent::Unknown => otherwise,
        }
    }
}

pub(super) fn check(world: &World, extent: Extent, findings: &mut Findings) {
    // Of a type without any resource the rest may be elsewhere.
    let expects = |holder, resource_type| {
        let is_expected = extent != Extent::Unknown || world.expects(holder, resource_type);
        is_expected.then_some(extent)
    };
    let mut clusters = Clusters::of(world);
    for (_, entry) in world.all(ResourceType::Listener) {
        match &entry.facts {
            Some(Facts::Listener(ListenerFacts::Rds(name, _))) => {
                rds(
                    world,
                    entry.id,
                    name,
                    expects(entry.id, ResourceType::RouteConfiguration),
                    findings,
                );
            }
            Some(Facts::Listener(ListenerFacts::Inline(facts, _))) => {
                clusters.extent = expects(entry.id, ResourceType::Cluster);
                routes(&mut clusters, entry.id, true, facts, findings);
            }
            _ => {}
        }
    }
    for (_, entry) in world.all(ResourceType::RouteConfiguration) {
        if let Some(Facts::Routes(facts)) = &entry.facts {
            clusters.extent = expects(entry.id, ResourceType::Cluster);
            routes(&mut clusters, entry.id, false, facts, findings);
        }
    }
    for (name, entry) in world.all(ResourceType::Cluster) {
        if let Some(Facts::Cluster(ClusterFacts::Eds { service_name, .. })) = &entry.facts {
            let wanted = service_name.as_deref().unwrap_or(name);
            let extent = expects(entry.id, ResourceType::Endpoints);
            endpoints(world, entry.id, wanted, extent, findings);
        }
    }
}

/// Why the client does not ask for a resource, in words.
pub(super) fn not_asked_for(resource_type: ResourceType, name: &str, fault: &NameFault) -> String {
    let short = resource_type.short_name();
    match fault {
        NameFault::NotUri(fault) => format!("{short} `{name}` cannot be asked for: not a URI: {fault}"),
        NameFault::OtherType(first) => format!(
            "{short} `{name}` cannot be asked for: its path begins with `{first}`, must begin with `{}/`",
            resource_type.type_name()
        ),
        NameFault::UnknownAuthority(authority) => {
            format!("{short} `{name}` cannot be asked for: authority `{authority}` is not in the bootstrap")
        }
    }
}

fn rds(world: &World, listener: ResourceId, name: &str, extent: Option<Extent>, findings: &mut Findings) {
    if let Err(fault) = world.ask(ResourceType::RouteConfiguration, name) {
        let why = not_asked_for(ResourceType::RouteConfiguration, name, &fault);
        let message = format!("{why}: every RPC of the channel fails with UNAVAILABLE");
        findings.add(listener, &REFERENCE_NOT_ASKED_FOR, rds_path(), message);
        return;
    }
    match world.get(ResourceType::RouteConfiguration, name) {
        None => {
            let Some(extent) = extent else { return };
            findings.add(
                listener,
                extent.rule(&LISTENER_ROUTES_MISSING),
                rds_path(),
                format!("RouteConfiguration `{name}` is not there: RPCs wait 15 s, then fail with UNAVAILABLE"),
            );
        }
        Some(entry) if entry.facts.is_none() => {
            findings
                .add(
                    listener,
                    &REFERENCE_TO_REJECTED,
                    rds_path(),
                    format!("RouteConfiguration `{name}` is rejected: every RPC of the channel fails with UNAVAILABLE"),
                )
                .follows_from(entry.id.0);
        }
        Some(_) => {}
    }
}

/// What routes find under a cluster's name.
enum Found {
    NotAskedFor(NameFault),
    Accepted,
    Rejected(ResourceId),
    Nothing,
}

/// The clusters of a world, by the names that routes have named so far: thousands of routes name the same few.
struct Clusters<'w> {
    world: &'w World,
    /// What is known of them where routes name them; `None`: those that are not there are not missed.
    extent: Option<Extent>,
    found: HashMap<&'w str, Found>,
}

impl<'w> Clusters<'w> {
    fn of(world: &'w World) -> Self {
        Clusters {
            world,
            extent: None,
            found: HashMap::new(),
        }
    }

    fn find(&mut self, name: &'w str) -> &Found {
        let world = self.world;
        self.found.entry(name).or_insert_with(|| {
            if let Err(fault) = world.ask(ResourceType::Cluster, name) {
                return Found::NotAskedFor(fault);
            }
            match world.get(ResourceType::Cluster, name) {
                None => Found::Nothing,
                Some(entry) if entry.facts.is_none() => Found::Rejected(entry.id),
                Some(_) => Found::Accepted,
            }
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
    let extent = clusters.extent;
    for reference in facts.virtual_hosts.iter().flatten() {
        let name = &reference.cluster;
        match clusters.find(name) {
            Found::NotAskedFor(fault) => {
                let why = not_asked_for(ResourceType::Cluster, name, fault);
                let message = format!("{why}: RPCs on this route fail with UNAVAILABLE");
                findings.add(holder, &REFERENCE_NOT_ASKED_FOR, reference.path(inline), message);
            }
            Found::Nothing => {
                let Some(extent) = extent else { continue };
                let message = format!("Cluster `{name}` is not there: RPCs wait 15 s, then those on this route fail");
                findings.add(
                    holder,
                    extent.rule(&ROUTE_CLUSTER_MISSING),
                    reference.path(inline),
                    message,
                );
            }
            Found::Rejected(id) => {
                let ResourceId(cause) = *id;
                let message = format!("Cluster `{name}` is rejected: RPCs on this route fail with UNAVAILABLE");
                findings
                    .add(holder, &REFERENCE_TO_REJECTED, reference.path(inline), message)
                    .follows_from(cause);
            }
            Found::Accepted => {}
        }
    }
}

fn endpoints(world: &World, cluster: ResourceId, wanted: &str, extent: Option<Extent>, findings: &mut Findings) {
    if let Err(fault) = world.ask(ResourceType::Endpoints, wanted) {
        let why = not_asked_for(ResourceType::Endpoints, wanted, &fault);
        let message = format!("{why}: RPCs to this cluster fail with UNAVAILABLE");
        findings.add(cluster, &REFERENCE_NOT_ASKED_FOR, eds_path(), message);
        return;
    }
    match world.get(ResourceType::Endpoints, wanted) {
        None => {
            let Some(extent) = extent else { return };
            let message =
                format!("ClusterLoadAssignment `{wanted}` is not there: RPCs wait 15 s, then fail with UNAVAILABLE");
            findings.add(cluster, extent.rule(&CLUSTER_ENDPOINTS_MISSING), eds_path(), message);
        }
        Some(entry) if entry.facts.is_none() => {
            let message =
                format!("ClusterLoadAssignment `{wanted}` is rejected: RPCs to this cluster fail with UNAVAILABLE");
            findings
                .add(cluster, &REFERENCE_TO_REJECTED, eds_path(), message)
                .follows_from(entry.id.0);
        }
        Some(_) => {}
    }
}
