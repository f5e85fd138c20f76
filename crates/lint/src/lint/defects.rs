//! Known defects of clients whose trigger is in the dump. [`Defect`] has the data: what they are
//! and which versions have them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use super::{Findings, Usage, Who, WorldQuestion};
use xdsctl_channel::client::graph::Graph;
use xdsctl_channel::client::{ClusterFacts, Facts, ListenerFacts, PolicyKind, ResourceId, World};
use xdsctl_model::diag::{Diagnostic, Effect, FieldPath, Path, rules};
use xdsctl_model::profile::{Client, Defect, DefectTrigger, Family};
use xdsctl_model::resource::ResourceType;

rules! {
    /// A version of the client has a known defect that shows with this resource.
    CLIENT_DEFECT = "client-defect", Snapshot, Advice as Note, "the defect's own source, `docs/clients.md`";
}

pub(super) fn check(world: &World, usage: &Usage<'_>, asked: WorldQuestion<'_>, findings: &mut Findings) {
    let findings = &mut Shown {
        clients: asked.clients,
        findings,
    };
    if let Some(target) = asked.target.filter(|target| target.authority != target.listener)
        && let Some(entry) = world.get(ResourceType::Listener, &target.listener)
    {
        add(DefectTrigger::OtherAuthority, entry.id, FieldPath::default(), findings);
    }
    let shared = match had(DefectTrigger::RingOfShared, findings.clients).next() {
        Some(_) => shared_services(world),
        None => BTreeSet::new(),
    };
    for (name, entry) in world.all(ResourceType::Cluster) {
        if let Some(Facts::Cluster(cluster)) = entry.facts() {
            of_cluster(world, (name, entry.id), cluster, findings);
            if let ClusterFacts::Eds { policy, .. } = cluster
                && policy.kind == PolicyKind::RingHash
                && shared.contains(service(name, cluster))
            {
                let path = Path::ROOT.field("lb_policy").to_owned();
                add(DefectTrigger::RingOfShared, entry.id, path, findings);
            }
        }
    }
    if had(DefectTrigger::NestedRoot, findings.clients).next().is_some() {
        for entry in nested_roots(world, usage)
            .into_iter()
            .filter_map(|name| world.get(ResourceType::Cluster, name))
        {
            let path = Path::ROOT.field("cluster_type").to_owned();
            add(DefectTrigger::NestedRoot, entry.id, path, findings);
        }
    }
    for (_, entry) in world.all(ResourceType::Listener) {
        let Some(Facts::Listener(ListenerFacts::Server(_, chains))) = entry.facts() else {
            continue;
        };
        let (named, unnamed): (Vec<_>, Vec<_>) = chains.iter().partition(|chain| !chain.routes.is_empty());
        let found = [
            (named, DefectTrigger::ServerRoutes),
            (unnamed, DefectTrigger::NoServerRoutes),
        ];
        for (chains, trigger) in found {
            if let Some(first) = chains.first() {
                add(trigger, entry.id, first.rds_path(), findings);
            }
        }
    }
    for (_, entry) in world.all(ResourceType::RouteConfiguration) {
        if matches!(entry.facts(), Some(Facts::Routes(routes)) if routes.renews_answers) {
            let path = Path::ROOT.field("cluster_specifier_plugins").to_owned();
            add(DefectTrigger::RenewedAnswers, entry.id, path, findings);
        }
        if let Some(Facts::Routes(routes)) = entry.facts()
            && let Some(host) = routes
                .virtual_hosts
                .iter()
                .position(|host| !host.iter().any(|one| routes.takes_all(one)))
        {
            let hosts = Path::ROOT.field("virtual_hosts");
            let path = hosts.index(host).field("routes").to_owned();
            add(DefectTrigger::Unrouted, entry.id, path, findings);
        }
    }
    for (_, entry) in world.all(ResourceType::Endpoints) {
        if let Some(Facts::Endpoints(endpoints)) = entry.facts()
            && endpoints.priorities > 1
        {
            add(
                DefectTrigger::Priorities,
                entry.id,
                Path::ROOT.field("endpoints").to_owned(),
                findings,
            );
        }
    }
}

fn of_cluster(world: &World, (name, id): (&str, ResourceId), cluster: &ClusterFacts, findings: &mut Shown<'_>) {
    let root = Path::ROOT;
    let policy = match cluster {
        ClusterFacts::Eds {
            policy, service_name, ..
        } => {
            let wanted = service_name.as_deref().unwrap_or(name);
            let endpoints = world.get(ResourceType::Endpoints, wanted);
            let has_priorities = endpoints.is_some_and(
                |entry| matches!(entry.facts(), Some(Facts::Endpoints(endpoints)) if endpoints.priorities > 1),
            );
            if policy.kind == PolicyKind::RingHash {
                add(DefectTrigger::Ring, id, root.field("lb_policy").to_owned(), findings);
                if has_priorities {
                    add(
                        DefectTrigger::RingOfPriorities,
                        id,
                        root.field("lb_policy").to_owned(),
                        findings,
                    );
                }
            }
            policy
        }
        ClusterFacts::LogicalDns { policy, hostname, .. } => {
            add(DefectTrigger::Dns, id, root.field("type").to_owned(), findings);
            if is_literal(hostname) {
                add(DefectTrigger::DnsLiteral, id, root.field("type").to_owned(), findings);
            }
            if policy.kind != PolicyKind::PickFirst {
                add(
                    DefectTrigger::DnsLbPolicy,
                    id,
                    root.field("lb_policy").to_owned(),
                    findings,
                );
            }
            policy
        }
        ClusterFacts::Aggregate { .. } => {
            if had(DefectTrigger::SharedService, findings.clients).next().is_some() && shares_service(world, name) {
                let path = root.field("cluster_type").to_owned();
                add(DefectTrigger::SharedService, id, path, findings);
            }
            return;
        }
    };
    if policy.has_weight_periods {
        add(
            DefectTrigger::WeightPeriods,
            id,
            root.field("load_balancing_policy").to_owned(),
            findings,
        );
    }
}

/// The aggregate clusters of a virtual host that are below another cluster of it, and have other
/// leaves there than alone.
fn nested_roots<'w>(world: &'w World, usage: &Usage<'w>) -> BTreeSet<&'w str> {
    let known = |name: &str| world.known(name);
    let mut nested = BTreeSet::new();
    for (host, _) in usage.virtual_hosts().filter(|(_, is_reached)| *is_reached) {
        let roots = host.iter().map(|reference| reference.cluster.as_str());
        let aggregates = roots.filter(|name| matches!(world.cluster(name), Some(ClusterFacts::Aggregate { .. })));
        let graphs: BTreeMap<&str, Graph> = aggregates.map(|name| (name, Graph::resolve([name], &known))).collect();
        for (name, entry) in graphs.values().flat_map(|graph| &graph.entries) {
            if let Some((name, alone)) = graphs.get_key_value(name.as_str())
                && alone.entries.get(*name) != Some(entry)
            {
                nested.insert(*name);
            }
        }
    }
    nested
}

/// Returns the name under which an EDS cluster asks for its endpoints; for others, the cluster's
/// own name.
fn service<'w>(name: &'w str, cluster: &'w ClusterFacts) -> &'w str {
    match cluster {
        ClusterFacts::Eds { service_name, .. } => service_name.as_deref().unwrap_or(name),
        ClusterFacts::LogicalDns { .. } | ClusterFacts::Aggregate { .. } => name,
    }
}

/// Returns the EDS services that several clusters use.
fn shared_services(world: &World) -> BTreeSet<&str> {
    let mut services = BTreeSet::new();
    let clusters = world
        .all(ResourceType::Cluster)
        .filter_map(|(name, entry)| match entry.facts() {
            Some(Facts::Cluster(cluster @ ClusterFacts::Eds { .. })) => Some(service(name, cluster)),
            _ => None,
        });
    clusters.filter(|service| !services.insert(*service)).collect()
}

/// Says whether two leaves of an aggregate cluster use the same EDS service.
fn shares_service(world: &World, aggregate: &str) -> bool {
    let known = |name: &str| world.known(name);
    let graph = Graph::resolve([aggregate], &known);
    let mut services = BTreeSet::new();
    graph
        .leaves(aggregate)
        .into_iter()
        .any(|leaf| match world.cluster(leaf) {
            Some(ClusterFacts::Eds { service_name, .. }) => !services.insert(service_name.as_deref().unwrap_or(leaf)),
            _ => false,
        })
}

/// Says whether a host and port consists of an IP address and a port.
fn is_literal(hostname: &str) -> bool {
    hostname.parse::<SocketAddr>().is_ok()
}

/// The findings so far, and the clients for which defects are reported.
pub(super) struct Shown<'a> {
    pub clients: &'a [Client],
    pub findings: &'a mut Findings,
}

/// Returns the defects with this trigger that some of these clients have, each with its family and
/// with the clients that have it.
fn had(trigger: DefectTrigger, clients: &[Client]) -> impl Iterator<Item = (Family, &'static Defect, Who)> {
    let all = Family::ALL
        .into_iter()
        .flat_map(|family| family.defects().iter().map(move |defect| (family, defect)));
    all.filter(move |(_, defect)| defect.trigger == trigger)
        .map(|(family, defect)| (family, defect, Who::Having(family, defect)))
        .filter(|(_, _, who)| clients.iter().any(|client| who.is_client(*client)))
}

/// Adds the defects with this trigger of the clients that are asked.
pub(super) fn add(trigger: DefectTrigger, id: ResourceId, path: FieldPath, shown: &mut Shown<'_>) {
    let Shown { clients, findings } = shown;
    for (family, defect, who) in had(trigger, clients) {
        let versions = defect.versions();
        let project = family.project();
        let message = format!("{project} {versions} {}: {}", defect.what, defect.source);
        let mut diagnostic = Diagnostic::of_whole(&CLIENT_DEFECT, message);
        diagnostic.path.clone_from(&path);
        if defect.is_fatal {
            diagnostic.effect = Effect::Fails;
        }
        findings.add_for(who, id, diagnostic);
    }
}
