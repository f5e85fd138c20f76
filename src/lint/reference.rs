//! References to resources that the world does not have, or that the client rejects.
//!
//! A partial dump is legitimate: a type of which the world has no resource at all is not missed, unless the
//! reader names a channel's target: then the world is all that the channel gets, and RPCs fail where it asks for what is missing. Where
//! the reader says that it is all there is, that holds for every reference.

use std::cell::LazyCell;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::Findings;
use crate::client::graph::Graph;
use crate::client::target::Target;
use crate::client::{ClusterFacts, Facts, ListenerFacts, ResourceId, RouteFacts, World, eds_path, rds_path};
use crate::convert::resource_name::NameFault;
use crate::diag::{Rule, rules};
use crate::model::ResourceType;
use crate::model::domain::best_match;
use crate::text::share_of_one;

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
    /// A reference leads to a resource that is not there, and the input is said to be complete, or all that a channel gets.
    REFERENCE_TO_NOTHING = "reference-to-nothing", Snapshot, Fails, "gRFC A27; C-core XdsDependencyManager",
        every "every client asks for what a resource names, and waits for what is not there";
    /// A reference leads to a resource that the client rejects.
    REFERENCE_TO_REJECTED = "reference-to-rejected", Snapshot, Fails, "C-core XdsDependencyManager, XdsClient";
    /// A reference is a name by which the client cannot ask for anything.
    REFERENCE_NOT_ASKED_FOR = "reference-not-asked-for", Snapshot, Fails, "gRFC A47; C-core XdsClient::WatchResource";
}

/// What is known of resources that are not in the world.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// There may be others: of a type of which there is none at all, everything may be elsewhere.
    Unknown,
    /// A channel gets no others, and this is nothing that it asks for.
    Whole,
    /// There are none: so it is said of the input, or of the channel that asks for it.
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

pub(super) fn check(world: &World, target: Option<&Target>, is_complete: bool, findings: &mut Findings) {
    let extent = match (is_complete, target) {
        (true, _) => Extent::Complete,
        (false, Some(_)) => Extent::Whole,
        (false, None) => Extent::Unknown,
    };
    let channel = target.map(|target| Channel::of(world, target)).unwrap_or_default();
    // Of a type without any resource the rest may be elsewhere.
    let expects = |holder, resource_type, is_asked_for: bool| match extent {
        Extent::Whole if is_asked_for => Some(Extent::Complete),
        Extent::Unknown => world.expects(holder, resource_type).then_some(extent),
        Extent::Whole | Extent::Complete => Some(extent),
    };
    let mut tables = Vec::new();
    for (_, entry) in world.all(ResourceType::Listener) {
        match &entry.facts {
            Some(Facts::Listener(ListenerFacts::Rds(name, _))) => {
                let is_asked_for = channel.listener == Some(entry.id);
                let extent = expects(entry.id, ResourceType::RouteConfiguration, is_asked_for);
                rds(world, entry.id, name, extent, findings);
            }
            Some(Facts::Listener(ListenerFacts::Inline(facts, _))) => tables.push((entry.id, true, facts)),
            _ => {}
        }
    }
    for (_, entry) in world.all(ResourceType::RouteConfiguration) {
        if let Some(Facts::Routes(facts)) = &entry.facts {
            tables.push((entry.id, false, facts));
        }
    }
    let mut clusters = Clusters::of(world);
    for (holder, inline, facts) in tables {
        let host = channel.host.filter(|(of, _)| *of == holder).map(|(_, host)| host);
        let extents = [false, true].map(|is_asked_for| expects(holder, ResourceType::Cluster, is_asked_for));
        routes(&mut clusters, (holder, inline, facts), (host, extents), findings);
    }
    let leaves = LazyCell::new(|| Leaves::of(world));
    for (name, entry) in world.all(ResourceType::Cluster) {
        if let Some(Facts::Cluster(ClusterFacts::Eds { service_name, .. })) = &entry.facts {
            let wanted = service_name.as_deref().unwrap_or(name);
            let extent = expects(entry.id, ResourceType::Endpoints, channel.clusters.contains(name));
            let spare = || leaves.spare(name);
            endpoints(world, (entry.id, wanted), (extent, &spare), findings);
        }
    }
}

/// What the channel to a target asks for.
#[derive(Default)]
struct Channel<'w> {
    listener: Option<ResourceId>,
    /// The resource that holds its routes, and the position of its virtual host.
    host: Option<(ResourceId, usize)>,
    /// The clusters that the virtual host leads to. Looked up only.
    clusters: HashSet<&'w str>,
}

impl<'w> Channel<'w> {
    fn of(world: &'w World, target: &Target) -> Channel<'w> {
        let mut channel = Channel::default();
        let Some(listener) = world.get(ResourceType::Listener, &target.listener) else {
            return channel;
        };
        channel.listener = Some(listener.id);
        let (holder, facts) = match &listener.facts {
            Some(Facts::Listener(ListenerFacts::Inline(facts, _))) => (listener.id, facts),
            Some(Facts::Listener(ListenerFacts::Rds(name, _))) => {
                let Some(entry) = world.get(ResourceType::RouteConfiguration, name) else {
                    return channel;
                };
                let Some(Facts::Routes(facts)) = &entry.facts else {
                    return channel;
                };
                (entry.id, facts)
            }
            _ => return channel,
        };
        let Some(found) = best_match(&facts.domains, &target.authority) else {
            return channel;
        };
        channel.host = Some((holder, found.host));
        let references = facts.virtual_hosts.get(found.host).into_iter().flatten();
        let mut open: Vec<&str> = references.map(|reference| reference.cluster.as_str()).collect();
        while let Some(name) = open.pop() {
            if channel.clusters.insert(name)
                && let Some(ClusterFacts::Aggregate { children }) = world.cluster(name)
            {
                open.extend(children.iter().map(String::as_str));
            }
        }
        channel
    }
}

/// Clusters without which RPCs go on, because those come to them by an aggregate that has another leaf.
struct Leaves(
    /// By leaf: an aggregate, if all that it is a leaf of have another one. Looked up only.
    HashMap<String, Option<String>>,
);

impl Leaves {
    fn of(world: &World) -> Leaves {
        let mut leaves = HashMap::new();
        let mut named: HashSet<&str> = HashSet::new();
        for (_, entry) in world
            .all(ResourceType::Listener)
            .chain(world.all(ResourceType::RouteConfiguration))
        {
            let (Some(Facts::Listener(ListenerFacts::Inline(facts, _))) | Some(Facts::Routes(facts))) = &entry.facts
            else {
                continue;
            };
            if facts.has_plugin {
                return Leaves(HashMap::new());
            }
            let references = facts.virtual_hosts.iter().flatten();
            named.extend(references.map(|reference| reference.cluster.as_str()));
        }
        let has_endpoints = |name: &str| match world.cluster(name) {
            Some(ClusterFacts::Eds { service_name, .. }) => {
                let wanted = service_name.as_deref().unwrap_or(name);
                let entry = world.get(ResourceType::Endpoints, wanted);
                entry.is_some_and(|entry| entry.facts.is_some())
            }
            Some(ClusterFacts::LogicalDns { .. }) => true,
            Some(ClusterFacts::Aggregate { .. }) | None => false,
        };
        for (name, _) in world.all(ResourceType::Cluster) {
            if !matches!(world.cluster(name), Some(ClusterFacts::Aggregate { .. })) {
                continue;
            }
            let graph = Graph::resolve([name], &|name| world.known(name));
            let own = graph.leaves(name);
            let useful: Vec<&str> = own.iter().copied().filter(|leaf| has_endpoints(leaf)).take(2).collect();
            for leaf in own {
                let has_other = useful.iter().any(|other| *other != leaf) && !named.contains(leaf);
                let spare = leaves.entry(leaf.to_owned()).or_insert_with(|| Some(name.to_owned()));
                *spare = spare.take().filter(|_| has_other);
            }
        }
        Leaves(leaves)
    }

    /// An aggregate that has another leaf than this one, if RPCs come by such aggregates only.
    fn spare(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_deref()
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

/// What every client does first; which RPCs wait with it is not the same in all of them.
const WAIT: &str = "the client waits 15 s for it, then ";

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
                format!("RouteConfiguration `{name}` is not there: {WAIT}RPCs fail with UNAVAILABLE"),
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
    found: HashMap<&'w str, Found>,
}

impl<'w> Clusters<'w> {
    fn of(world: &'w World) -> Self {
        Clusters {
            world,
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

/// `extents`: what is known of the clusters of a virtual host that is not the channel's, and of those of `host`, which is. `None`:
/// those that are not there are not missed.
fn routes<'w>(
    clusters: &mut Clusters<'w>,
    (holder, inline, facts): (ResourceId, bool, &'w RouteFacts),
    (host, extents): (Option<usize>, [Option<Extent>; 2]),
    findings: &mut Findings,
) {
    let hosts = facts.virtual_hosts.iter().enumerate();
    let references = hosts.flat_map(|(number, references)| {
        let extent = extents[usize::from(host == Some(number))];
        references.iter().map(move |reference| (reference, extent))
    });
    for (reference, extent) in references {
        let name = &reference.cluster;
        let share = match reference.share() {
            share if share < 1.0 => format!("{} of the ", share_of_one(share)),
            _ => String::new(),
        };
        match clusters.find(name) {
            Found::NotAskedFor(fault) => {
                let why = not_asked_for(ResourceType::Cluster, name, fault);
                let message = format!("{why}: {share}RPCs on this route fail with UNAVAILABLE");
                findings.add(holder, &REFERENCE_NOT_ASKED_FOR, reference.path(inline), message);
            }
            Found::Nothing => {
                let Some(extent) = extent else { continue };
                let those = match share.is_empty() {
                    true => "the RPCs".to_owned(),
                    false => format!("{share}RPCs"),
                };
                let message = format!("Cluster `{name}` is not there: {WAIT}{those} on this route fail");
                findings.add(
                    holder,
                    extent.rule(&ROUTE_CLUSTER_MISSING),
                    reference.path(inline),
                    message,
                );
            }
            Found::Rejected(id) => {
                let ResourceId(cause) = *id;
                let message = format!("Cluster `{name}` is rejected: {share}RPCs on this route fail with UNAVAILABLE");
                findings
                    .add(holder, &REFERENCE_TO_REJECTED, reference.path(inline), message)
                    .follows_from(cause);
            }
            Found::Accepted => {}
        }
    }
}

/// `spare` finds the aggregate by which alone RPCs come here, if it has another leaf.
fn endpoints<'l>(
    world: &World,
    (cluster, wanted): (ResourceId, &str),
    (extent, spare): (Option<Extent>, &dyn Fn() -> Option<&'l str>),
    findings: &mut Findings,
) {
    if let Err(fault) = world.ask(ResourceType::Endpoints, wanted) {
        let why = not_asked_for(ResourceType::Endpoints, wanted, &fault);
        let message = format!("{why}: RPCs to this cluster fail with UNAVAILABLE");
        findings.add(cluster, &REFERENCE_NOT_ASKED_FOR, eds_path(), message);
        return;
    }
    match world.get(ResourceType::Endpoints, wanted) {
        None => {
            let Some(extent) = extent else { return };
            let (rule, then) = match spare() {
                // No RPC fails, whatever else there is.
                Some(aggregate) => (
                    &CLUSTER_ENDPOINTS_MISSING,
                    format!("go to the other leaves of aggregate `{aggregate}`, without this one to fail over to"),
                ),
                None => (
                    extent.rule(&CLUSTER_ENDPOINTS_MISSING),
                    "fail with UNAVAILABLE".to_owned(),
                ),
            };
            let message = format!("ClusterLoadAssignment `{wanted}` is not there: {WAIT}RPCs {then}");
            findings.add(cluster, rule, eds_path(), message);
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
