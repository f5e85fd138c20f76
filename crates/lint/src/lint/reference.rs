//! References to resources that the world does not have, or that the client rejects.
//!
//! A partial dump is legitimate: if a world has no resource of a type at all, none of that type
//! counts as missing. If the user names the target of a channel, the world is all that the channel
//! gets, and RPCs fail if it asks for a missing resource. If the user says that the input is
//! complete, that holds for every reference.

use std::cell::LazyCell;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::{Findings, Who, WorldQuestion};
use xdsctl_channel::client::graph::Graph;
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::unmet::{Unmet, UnmetEnd};
use xdsctl_channel::client::{ClusterFacts, Facts, ListenerFacts, ResourceId, RouteFacts, World, eds_path, rds_path};
use xdsctl_clients::core::convert::resource_name::NameFault;
use xdsctl_model::diag::{Diagnostic, FieldPath, Rule, rules};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::ResourceType;
use xdsctl_model::resource::domain::best_match;
use xdsctl_model::text::{self, share_of_one};

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

/// What is known about resources that are not in the world.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// There may be other resources. If the world has no resource of a type, all of that type may
    /// be elsewhere.
    Unknown,
    /// The channel or server in question gets no other resources, but does not ask for this one.
    Whole,
    /// There are no other resources: the user says that the input is complete, or the channel asks
    /// for this one.
    Complete,
}

impl Extent {
    /// Returns the rule for a reference to a missing resource; it is `otherwise` while the resource
    /// may still exist.
    fn rule(self, otherwise: &'static Rule) -> &'static Rule {
        match self {
            Extent::Complete => &REFERENCE_TO_NOTHING,
            Extent::Whole | Extent::Unknown => otherwise,
        }
    }
}

pub(super) fn check(world: &World, asked: WorldQuestion<'_>, findings: &mut Findings) {
    let target = asked.target;
    let extent = match (asked.is_complete, target.is_some() || asked.server.is_some()) {
        (true, _) => Extent::Complete,
        (false, true) => Extent::Whole,
        (false, false) => Extent::Unknown,
    };
    let channel = target
        .map(|target| TargetChannel::of(world, target))
        .unwrap_or_default();
    // If the world has no resource of a type, those of this type may be elsewhere.
    let expects = |holder, resource_type, is_asked_for: bool| match extent {
        Extent::Whole if is_asked_for => Some(Extent::Complete),
        Extent::Unknown => world.expects(holder, resource_type).then_some(extent),
        Extent::Whole | Extent::Complete => Some(extent),
    };
    let mut tables = Vec::new();
    let mut names = WorldNames::of(world, asked);
    for (name, entry) in world.all(ResourceType::Listener) {
        match entry.facts() {
            Some(Facts::Listener(ListenerFacts::Rds(name, _))) => {
                let is_asked_for = channel.listener == Some(entry.id);
                let extent = expects(entry.id, ResourceType::RouteConfiguration, is_asked_for);
                rds(
                    &mut names,
                    (entry.id, rds_path()),
                    (name, &OF_CHANNEL),
                    extent,
                    findings,
                );
            }
            // Another listener of this kind may be a server's or a proxy's; that is not known.
            Some(Facts::Listener(ListenerFacts::Server(_, chains)))
                if asked.server.is_some_and(|server| server.listener == name) =>
            {
                for chain in chains.iter().filter(|chain| !chain.routes.is_empty()) {
                    let (holder, wanted) = ((entry.id, chain.rds_path()), (chain.routes.as_str(), &OF_CHAIN));
                    rds(&mut names, holder, wanted, Some(Extent::Complete), findings);
                }
            }
            Some(Facts::Listener(ListenerFacts::Inline(facts, _))) => tables.push((entry.id, true, facts)),
            _ => {}
        }
    }
    for (_, entry) in world.all(ResourceType::RouteConfiguration) {
        if let Some(Facts::Routes(facts)) = entry.facts() {
            tables.push((entry.id, false, facts));
        }
    }
    let mut clusters = NamedClusters::default();
    for (holder, inline, facts) in tables {
        let host = channel.host.filter(|(of, _)| *of == holder).map(|(_, host)| host);
        let extents = [false, true].map(|is_asked_for| expects(holder, ResourceType::Cluster, is_asked_for));
        let found = (&mut names, &mut clusters);
        routes(found, (holder, inline, facts), (host, extents), findings);
    }
    let leaves = LazyCell::new(|| Leaves::of(world));
    for (name, entry) in world.all(ResourceType::Cluster) {
        if let Some(Facts::Cluster(ClusterFacts::Eds { service_name, .. })) = entry.facts() {
            let wanted = service_name.as_deref().unwrap_or(name);
            let extent = expects(entry.id, ResourceType::Endpoints, channel.clusters.contains(name));
            let spare = || leaves.spare(name);
            endpoints(&mut names, (entry.id, wanted), (extent, &spare), findings);
        }
    }
}

/// The resources that the channel to a target asks for.
#[derive(Default)]
struct TargetChannel<'w> {
    listener: Option<ResourceId>,
    /// The resource that holds the routes, and the index of the channel's virtual host in it.
    host: Option<(ResourceId, usize)>,
    /// The clusters that the virtual host leads to. Never iterated.
    clusters: HashSet<&'w str>,
}

impl<'w> TargetChannel<'w> {
    fn of(world: &'w World, target: &Target) -> TargetChannel<'w> {
        let mut channel = TargetChannel::default();
        let Some(listener) = world.get(ResourceType::Listener, &target.listener) else {
            return channel;
        };
        channel.listener = Some(listener.id);
        let (holder, facts) = match listener.facts() {
            Some(Facts::Listener(ListenerFacts::Inline(facts, _))) => (listener.id, facts),
            Some(Facts::Listener(ListenerFacts::Rds(name, _))) => {
                let Some(entry) = world.get(ResourceType::RouteConfiguration, name) else {
                    return channel;
                };
                let Some(Facts::Routes(facts)) = entry.facts() else {
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

/// Leaves of aggregate clusters that RPCs can do without, because every aggregate that leads to
/// them has another leaf.
struct Leaves(
    /// For each leaf one of its aggregates, or `None` if some aggregate has no other leaf. Never
    /// iterated.
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
            let (Some(Facts::Listener(ListenerFacts::Inline(facts, _))) | Some(Facts::Routes(facts))) = entry.facts()
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
                entry.is_some_and(|entry| entry.is_accepted())
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

    /// Returns an aggregate with another leaf than this one, if RPCs reach this leaf only through
    /// such aggregates.
    fn spare(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_deref()
    }
}

/// Says in words why the client does not ask for a resource.
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

/// What every client does first. It depends on the client which RPCs wait with it.
const WAIT: &str = "the client waits 15 s for it, then ";

/// Says what happens to RPCs if a resource is missing: in some clients they wait as long as it is.
fn then(rpcs: &str, end: UnmetEnd, fail: &str) -> String {
    match end {
        UnmetEnd::Waits => format!("{rpcs} {}", end.of_several()),
        UnmetEnd::Unavailable | UnmetEnd::Unknown => format!("{WAIT}{rpcs} {fail}"),
    }
}

/// Most comparisons of names in a world to find misspelt ones.
const MAX_COMPARISONS: usize = 1 << 20;

/// The result of looking up a name.
#[derive(Clone)]
enum NameAnswer {
    NotAskedFor(NameFault),
    There(Taken),
    /// There is no such resource. The name that may have been meant is given, if there is one.
    Nothing(Option<String>),
}

/// Which clients reject a resource that exists.
#[derive(Clone, Copy)]
struct Taken {
    id: ResourceId,
    /// Whether the base rejects it.
    is_rejected: bool,
    /// Whether another client that is asked rejects it.
    others_reject: bool,
}

/// The families in which RPCs fail at once if a RouteConfiguration or ClusterLoadAssignment is
/// rejected. In Node the RPCs wait.
const FAIL_AT_ONCE: &[Family] = &[Family::Cpp, Family::Go, Family::Java];

/// What happens to RPCs if a resource is rejected; measured with C-core 1.85.1, grpc-go 1.85.0,
/// grpc-java 1.85.1 and grpc-js-xds 1.14.1.
struct RejectionEffects {
    /// Which RPCs are affected, in words: `RPCs on this route`.
    rpcs: String,
    /// What happens to these RPCs in the client of the world.
    end: &'static str,
    /// What happens to these RPCs in grpc-js-xds, if that differs from C-core (measured with
    /// 1.14.1).
    wait: Option<&'static str>,
}

impl Taken {
    const fn is_good(self) -> bool {
        !self.is_rejected && !self.others_reject
    }

    /// Reports a reference of `holder` to a resource that some client rejects.
    fn report(
        self,
        (holder, path): (ResourceId, FieldPath),
        what: &str,
        effects: RejectionEffects,
        findings: &mut Findings,
    ) {
        let fails = format!("{what} is rejected: {} {}", effects.rpcs, effects.end);
        if self.others_reject {
            let mut tell = |families, message| {
                let mut diagnostic = Diagnostic::of_whole(&REFERENCE_TO_REJECTED, message);
                diagnostic.path.clone_from(&path);
                diagnostic.follows_from(self.id.0);
                findings.add_for(Who::Rejecting(self.id, families), holder, diagnostic);
            };
            match effects.wait {
                Some(wait) => {
                    tell(FAIL_AT_ONCE, fails.clone());
                    tell(&[Family::Node], format!("{what} is rejected: {} {wait}", effects.rpcs));
                }
                None => tell(&Family::ALL, fails.clone()),
            }
        }
        if self.is_rejected {
            let finding = findings.add(holder, &REFERENCE_TO_REJECTED, path, fails);
            finding.follows_from(self.id.0);
        }
    }
}

/// The names of the resources of a world.
struct WorldNames<'w> {
    world: &'w World,
    asked: WorldQuestion<'w>,
    /// How many comparisons of names may still be made.
    left: usize,
}

impl<'w> WorldNames<'w> {
    const fn of(world: &'w World, asked: WorldQuestion<'w>) -> WorldNames<'w> {
        WorldNames {
            world,
            asked,
            left: MAX_COMPARISONS,
        }
    }

    fn find(&mut self, resource_type: ResourceType, name: &str) -> NameAnswer {
        if let Err(fault) = self.world.ask(resource_type, name) {
            return NameAnswer::NotAskedFor(fault);
        }
        match self.world.get(resource_type, name) {
            None => NameAnswer::Nothing(self.nearest(resource_type, name)),
            Some(entry) => NameAnswer::There(Taken {
                id: entry.id,
                is_rejected: entry.is_rejected(),
                others_reject: (self.asked.others_reject)(entry.id),
            }),
        }
    }

    /// Returns the name of which `name` may be a misspelling. Names that differ in digits only do
    /// not count: shards have such names.
    fn nearest(&mut self, resource_type: ResourceType, name: &str) -> Option<String> {
        let all = || self.world.all(resource_type).map(|(name, _)| name);
        self.left = self.left.checked_sub(all().count())?;
        let near = text::nearest(name, all().filter(|other| !text::differ_in_digits(other, name)));
        near.map(str::to_owned)
    }
}

/// Adds a hint with the name that may have been meant.
fn add_hint(finding: &mut Diagnostic, near: Option<&str>) {
    if let Some(near) = near {
        finding.help(format!("did you mean `{near}`?"));
    }
}

/// Which RPCs the routes of a listener are for, in words.
struct OfRoutes {
    /// The subject of a message about missing routes.
    rpcs: &'static str,
    /// The subject of a message about routes that cannot be asked for or are rejected.
    each: &'static str,
    /// Whether the routes are a channel's; if not, they are a server's.
    is_channel: bool,
}

impl OfRoutes {
    /// Returns what happens to the RPCs if the routes are missing.
    fn end(&self, world: &World) -> UnmetEnd {
        match self.is_channel {
            true => world.end_without(Unmet::Configuration),
            false => UnmetEnd::Unavailable,
        }
    }
}

const OF_CHANNEL: OfRoutes = OfRoutes {
    rpcs: "RPCs",
    each: "every RPC of the channel",
    is_channel: true,
};
/// Measured with grpc-go 1.85.0 and grpc-java 1.85.1: such a server serves, and each RPC fails.
const OF_CHAIN: OfRoutes = OfRoutes {
    rpcs: "the RPCs of the filter chain",
    each: "every RPC of the filter chain",
    is_channel: false,
};

fn rds(
    names: &mut WorldNames<'_>,
    (listener, path): (ResourceId, FieldPath),
    (name, of): (&str, &OfRoutes),
    extent: Option<Extent>,
    findings: &mut Findings,
) {
    match names.find(ResourceType::RouteConfiguration, name) {
        NameAnswer::NotAskedFor(fault) => {
            let why = not_asked_for(ResourceType::RouteConfiguration, name, &fault);
            let message = format!("{why}: {} {}", of.each, of.end(names.world).of_each());
            findings.add(listener, &REFERENCE_NOT_ASKED_FOR, path, message);
        }
        NameAnswer::Nothing(near) => {
            let Some(extent) = extent else { return };
            let then = then(of.rpcs, of.end(names.world), of.end(names.world).of_several());
            let message = format!("RouteConfiguration `{name}` is not there: {then}");
            let rule = extent.rule(&LISTENER_ROUTES_MISSING);
            add_hint(findings.add(listener, rule, path, message), near.as_deref());
        }
        NameAnswer::There(taken) if taken.is_good() => {}
        NameAnswer::There(taken) => {
            let effects = RejectionEffects {
                rpcs: of.each.to_owned(),
                end: of.end(names.world).of_each(),
                wait: of.is_channel.then(|| UnmetEnd::Waits.of_each()),
            };
            let what = format!("RouteConfiguration `{name}`");
            taken.report((listener, path), &what, effects, findings);
        }
    }
}

/// The clusters that routes have named so far. They are looked up once, because thousands of routes
/// name the same few.
type NamedClusters<'w> = HashMap<&'w str, NameAnswer>;

/// Checks the clusters that routes name.
///
/// `extents` says what is known of missing clusters: first for virtual hosts that are not the
/// channel's, then for `host`, which is. With `None`, missing clusters are not reported.
fn routes<'w>(
    (names, clusters): (&mut WorldNames<'w>, &mut NamedClusters<'w>),
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
        let share = || match reference.share() {
            share if share < 1.0 => format!("{} of the ", share_of_one(share)),
            _ => String::new(),
        };
        let found = clusters
            .entry(name)
            .or_insert_with(|| names.find(ResourceType::Cluster, name));
        match found {
            NameAnswer::NotAskedFor(fault) => {
                let why = not_asked_for(ResourceType::Cluster, name, fault);
                let end = names.world.end_without(Unmet::Cluster).of_several();
                let message = format!("{why}: {}RPCs on this route {end}", share());
                findings.add(holder, &REFERENCE_NOT_ASKED_FOR, reference.path(inline), message);
            }
            NameAnswer::Nothing(near) => {
                let Some(extent) = extent else { continue };
                let those = match share() {
                    share if share.is_empty() => "the RPCs".to_owned(),
                    share => format!("{share}RPCs"),
                };
                let those = format!("{those} on this route");
                let message = format!(
                    "Cluster `{name}` is not there: {}",
                    then(&those, names.world.end_without(Unmet::Cluster), "fail")
                );
                let rule = extent.rule(&ROUTE_CLUSTER_MISSING);
                let finding = findings.add(holder, rule, reference.path(inline), message);
                add_hint(finding, near.as_deref());
            }
            NameAnswer::There(taken) if taken.is_good() => {}
            NameAnswer::There(taken) => {
                let effects = RejectionEffects {
                    rpcs: format!("{}RPCs on this route", share()),
                    end: names.world.end_without(Unmet::Cluster).of_several(),
                    wait: None,
                };
                let what = format!("Cluster `{name}`");
                taken.report((holder, reference.path(inline)), &what, effects, findings);
            }
        }
    }
    for (number, reference) in &facts.unweighted {
        let name = &reference.cluster;
        let found = clusters
            .entry(name)
            .or_insert_with(|| names.find(ResourceType::Cluster, name));
        if let (NameAnswer::Nothing(near), Some(_)) = (found, extents[usize::from(host == Some(*number))]) {
            let message = format!(
                "Cluster `{name}` is not there: the client waits 15 s for it, and all RPCs with it, though its weight is 0"
            );
            let finding = findings.add(holder, &ROUTE_CLUSTER_MISSING, reference.path(inline), message);
            add_hint(finding, near.as_deref());
        }
    }
}

/// Checks the endpoints of a cluster. `spare` returns an aggregate with another leaf, if RPCs reach
/// the cluster only through such aggregates.
fn endpoints<'l>(
    names: &mut WorldNames<'_>,
    (cluster, wanted): (ResourceId, &str),
    (extent, spare): (Option<Extent>, &dyn Fn() -> Option<&'l str>),
    findings: &mut Findings,
) {
    let end = |names: &WorldNames<'_>| names.world.end_without(Unmet::Endpoints);
    match names.find(ResourceType::Endpoints, wanted) {
        NameAnswer::NotAskedFor(fault) => {
            let why = not_asked_for(ResourceType::Endpoints, wanted, &fault);
            let message = format!("{why}: RPCs to this cluster {}", end(names).of_several());
            findings.add(cluster, &REFERENCE_NOT_ASKED_FOR, eds_path(), message);
        }
        NameAnswer::Nothing(near) => {
            let Some(extent) = extent else { return };
            let (rule, then) = match spare() {
                // In this case no RPC fails.
                Some(aggregate) => (
                    &CLUSTER_ENDPOINTS_MISSING,
                    format!(
                        "{WAIT}RPCs go to the other leaves of aggregate `{aggregate}`, without this one to fail over to"
                    ),
                ),
                None => (
                    extent.rule(&CLUSTER_ENDPOINTS_MISSING),
                    then("RPCs", end(names), end(names).of_several()),
                ),
            };
            let message = format!("ClusterLoadAssignment `{wanted}` is not there: {then}");
            add_hint(findings.add(cluster, rule, eds_path(), message), near.as_deref());
        }
        NameAnswer::There(taken) if taken.is_good() => {}
        NameAnswer::There(taken) => {
            let effects = RejectionEffects {
                rpcs: "RPCs to this cluster".to_owned(),
                end: end(names).of_several(),
                wait: Some(UnmetEnd::Waits.of_several()),
            };
            let what = format!("ClusterLoadAssignment `{wanted}`");
            taken.report((cluster, eds_path()), &what, effects, findings);
        }
    }
}
