//! References to resources that the world does not have, or that the client rejects.
//!
//! A partial dump is legitimate: a type of which the world has no resource at all is not missed,
//! unless the reader names a channel's target: then the world is all that the channel gets, and
//! RPCs fail where it asks for what is missing. Where the reader says that it is all there is, that
//! holds for every reference.

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
    // Of a type without any resource the rest may be elsewhere.
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
            // Whether another server's listener is one, or a proxy's, is not known.
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

/// What the channel to a target asks for.
#[derive(Default)]
struct TargetChannel<'w> {
    listener: Option<ResourceId>,
    /// The resource that holds its routes, and the position of its virtual host.
    host: Option<(ResourceId, usize)>,
    /// The clusters that the virtual host leads to. Looked up only.
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

/// Clusters without which RPCs go on, because those come to them by an aggregate that has another
/// leaf.
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

/// What becomes of RPCs for which something is not there: some clients wait as long as it is.
fn then(rpcs: &str, end: UnmetEnd, fail: &str) -> String {
    match end {
        UnmetEnd::Waits => format!("{rpcs} {}", end.of_several()),
        UnmetEnd::Unavailable | UnmetEnd::Unknown => format!("{WAIT}{rpcs} {fail}"),
    }
}

/// Comparisons of names that are made in a world for hints.
const MAX_COMPARISONS: usize = 1 << 20;

/// What is found under a name.
#[derive(Clone)]
enum NameAnswer {
    NotAskedFor(NameFault),
    There(Taken),
    /// With the name that may have been meant.
    Nothing(Option<String>),
}

/// What the clients make of a resource that is there.
#[derive(Clone, Copy)]
struct Taken {
    id: ResourceId,
    /// The base rejects it.
    is_rejected: bool,
    /// A client other than the base, which is asked too, rejects it.
    others_reject: bool,
}

/// The families that fail the RPCs of a rejected RouteConfiguration or ClusterLoadAssignment at
/// once. In Node they wait.
const FAIL_AT_ONCE: &[Family] = &[Family::Cpp, Family::Go, Family::Java];

/// What becomes of RPCs where a resource is rejected: measured with C-core 1.85.1, grpc-go 1.85.0,
/// grpc-java 1.85.1 and grpc-js-xds 1.14.1.
struct RejectionEffects {
    /// Whose, in words: `RPCs on this route`.
    rpcs: String,
    /// What they do in the client of the world.
    end: &'static str,
    /// What they do in grpc-js-xds, where it is not the same as in C-core (measured with 1.14.1).
    wait: Option<&'static str>,
}

impl Taken {
    const fn is_good(self) -> bool {
        !self.is_rejected && !self.others_reject
    }

    /// Reports a reference of `holder` to a resource that somebody rejects.
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

/// The names of a world.
struct WorldNames<'w> {
    world: &'w World,
    asked: WorldQuestion<'w>,
    /// Comparisons left.
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

    /// The name that a name of nothing may be a misspelling of: not one that differs in digits
    /// alone, as those of shards do.
    fn nearest(&mut self, resource_type: ResourceType, name: &str) -> Option<String> {
        let all = || self.world.all(resource_type).map(|(name, _)| name);
        self.left = self.left.checked_sub(all().count())?;
        let near = text::nearest(name, all().filter(|other| !text::differ_in_digits(other, name)));
        near.map(str::to_owned)
    }
}

/// Adds the name that may have been meant.
fn add_hint(finding: &mut Diagnostic, near: Option<&str>) {
    if let Some(near) = near {
        finding.help(format!("did you mean `{near}`?"));
    }
}

/// Which RPCs a listener's routes are for, in words.
struct OfRoutes {
    /// The subject of "is not there: ... fail".
    rpcs: &'static str,
    /// The subject where the routes cannot be had.
    each: &'static str,
    /// They are those of a channel, and not of a server.
    is_channel: bool,
}

impl OfRoutes {
    /// What becomes of the RPCs without the routes.
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
/// Measured with grpc-go 1.85.0 and grpc-java 1.85.1, which serve, and fail each RPC.
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

/// The clusters that routes have named so far: thousands of routes name the same few.
type NamedClusters<'w> = HashMap<&'w str, NameAnswer>;

/// `extents`: what is known of the clusters of a virtual host that is not the channel's, and of
/// those of `host`, which is. `None`: those that are not there are not missed.
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

/// `spare` finds the aggregate by which alone RPCs come here, if it has another leaf.
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
                // No RPC fails, whatever else there is.
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
