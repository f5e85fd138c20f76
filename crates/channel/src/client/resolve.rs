//! From a target to its configuration: Listener, routes, virtual host, clusters and endpoints (A74).
//!
//! Follows C-core `XdsDependencyManager` (xds_dependency_manager.cc) at the moment when all its
//! watches have answers: a resource that is not there does not exist. Failures and notes are in the
//! client's words. Every error of the xDS client ends in the node's id, and those of the dependency
//! manager itself do not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Client;
use super::config::{
    Aggregate, ChannelFailure, ChannelFailureClass, ClusterFailure, ClusterFailureClass, ClusterState, Leaf,
    RoutesHeld, XdsConfig,
};
use super::dns::{DnsNames, from_dns};
use super::graph::{ClusterEntry, ClusterError, FaultOrder, Graph, KnownCluster};
use super::handed_on::{absent_in_words, in_words};
use super::held::{Cache, HeldResource, ResourceKind};
use super::java;
use super::target::Target;
use super::{levels, nested};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::resource::domain::{DomainClass, DomainComparison, DomainMatch, best_match_by};
use xdsctl_model::resource::listener::{HttpConnectionManager, RouteSource};
use xdsctl_model::resource::route::{Action, Destination, Route, RouteAction, VirtualHost};
use xdsctl_model::resource::{Cluster, Endpoints, Listener, Millis, ResourceType, RouteConfiguration};
use xdsctl_model::status::{Code, Status};

/// What a channel wants beside what its start leads to.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Clusters beside those that the routes name: of lookups (RLS), and of RPCs under way.
    pub clusters: &'a BTreeSet<String>,
    /// The routes in use, with which the channel goes on while its Listener names others that are
    /// not there.
    pub routes: Option<&'a RoutesHeld>,
    /// A random number, for a client that takes clusters in a random order. Without it, a cluster
    /// that a route names has its own result ([`Feature::RootsOverwritten`]).
    pub draw: Option<u64>,
}

/// Why a resource cannot be used.
pub(super) struct Absent {
    pub class: ChannelFailureClass,
    pub text: String,
    /// Whether its rejection goes unnoticed, so that the client waits for it
    /// ([`Feature::BrokenStreamUnheard`]).
    pub is_unheard: bool,
}

impl Client {
    /// The node's id, with which every error of the xDS client ends.
    fn node(&self) -> String {
        if self.node_id.is_empty() {
            String::new()
        } else {
            format!(" (node ID:{})", self.node_id)
        }
    }

    /// The value in use under a name, or why there is none.
    fn value<'h, T: ResourceKind>(&self, cache: &'h Cache<T>, name: &str) -> Result<&'h Arc<T>, Absent> {
        if let Err(fault) = self.ask(T::TYPE, name) {
            return Err(Absent {
                class: ChannelFailureClass::NotAskedFor,
                text: format!("{}{}", fault.words(name), self.node()),
                is_unheard: false,
            });
        }
        let held = cache.get(name);
        let rejected = held.and_then(HeldResource::rejected);
        let missing = Absent {
            class: ChannelFailureClass::Missing,
            text: format!("does not exist{}", self.node()),
            is_unheard: false,
        };
        match (held.and_then(HeldResource::value), rejected) {
            (Some(value), _) => Ok(value),
            // Watchers of a type whose responses are not complete lists are not told of the
            // rejection.
            (None, Some(_)) if self.awaits_rejected(T::TYPE, name) => Err(missing),
            (None, Some(why)) => Err(Absent {
                class: ChannelFailureClass::Rejected,
                text: format!("{why}{}", self.node()),
                is_unheard: java::is_unheard(T::TYPE, name, self),
            }),
            (None, None) => Err(missing),
        }
    }

    /// Says whether the client waits for rejected routes, as if they had not come.
    fn awaits_rejected(&self, resource_type: ResourceType, name: &str) -> bool {
        resource_type == ResourceType::RouteConfiguration
            && self.profile.has(Feature::RejectedAwaited)
            && !java::is_unheard(resource_type, name, self)
    }

    /// The note about a newer version that was rejected; empty without one.
    fn ambient<T: ResourceKind>(&self, kind: &str, name: &str, held: Option<&HeldResource<T>>) -> String {
        let rejected = held.filter(|held| held.is_accepted()).and_then(HeldResource::rejected);
        match rejected {
            Some(why) => format!("{kind} resource {name}: {why}{}", self.node()),
            None => String::new(),
        }
    }
}

/// Resolves a target.
///
/// # Errors
/// The failure that every RPC of the channel gets.
pub(super) fn target(target: &Target, client: &Client, wanted: Wanted<'_>) -> Result<XdsConfig, ChannelFailure> {
    let name = target.listener.as_str();
    let held = client.resources.listeners.get(name);
    let listener = client
        .value(&client.resources.listeners, name)
        .map_err(|absent| fail("LDS", (name, ""), absent, client))?;
    let Listener::Api(manager) = &**listener else {
        let absent = Absent {
            class: ChannelFailureClass::NotApiListener,
            text: "not an API listener".to_owned(),
            is_unheard: false,
        };
        return Err(fail("LDS", (name, ""), absent, client));
    };
    let mut notes = vec![client.ambient("LDS", name, held)];
    let (kind, route_name, route_config) = match &manager.routes {
        RouteSource::Inline(routes) => ("LDS", None, Arc::clone(routes)),
        RouteSource::Rds(rds) => {
            let route_configs = &client.resources.route_configs;
            let held = route_configs.get(rds);
            match (client.value(route_configs, rds), wanted.routes) {
                (Ok(routes), _) => {
                    notes.push(client.ambient("RDS", rds, held));
                    ("RDS", Some(rds.clone()), Arc::clone(routes))
                }
                (Err(absent), Some(before))
                    if matches!(
                        absent.class,
                        ChannelFailureClass::Missing | ChannelFailureClass::Rejected
                    ) =>
                {
                    let kind = if before.name.is_some() { "RDS" } else { "LDS" };
                    (kind, before.name.clone(), Arc::clone(&before.value))
                }
                (Err(absent), _) => return Err(fail("RDS", (rds, ""), absent, client)),
            }
        }
    };
    let config = XdsConfig {
        listener_name: name.to_owned(),
        listener: Arc::clone(listener),
        authority: target.authority.clone(),
        ..of_routes(route_name, route_config, client)
    };
    routed(config, kind, &notes, client, wanted)
}

/// Resolves a RouteConfiguration by itself, as if a Listener without HTTP filters led to it.
///
/// # Errors
/// The failure that every RPC of the channel gets.
pub(super) fn routes(
    name: &str,
    authority: &str,
    client: &Client,
    wanted: Wanted<'_>,
) -> Result<XdsConfig, ChannelFailure> {
    let route_configs = &client.resources.route_configs;
    let route_config = client
        .value(route_configs, name)
        .map_err(|absent| fail("RDS", (name, ""), absent, client))?;
    let notes = [client.ambient("RDS", name, route_configs.get(name))];
    let config = XdsConfig {
        authority: authority.to_owned(),
        ..of_routes(Some(name.to_owned()), Arc::clone(route_config), client)
    };
    routed(config, "RDS", &notes, client, wanted)
}

/// The configuration of a channel that does not start at a Listener and has these routes, before
/// its virtual host and its clusters are known.
fn of_routes(name: Option<String>, routes: Arc<RouteConfiguration>, client: &Client) -> XdsConfig {
    XdsConfig {
        listener_name: String::new(),
        listener: Arc::new(Listener::Api(HttpConnectionManager {
            routes: RouteSource::Inline(Arc::default()),
            http_max_stream_duration: Millis(0),
            http_filters: Vec::new(),
        })),
        route_config_name: name,
        route_config: routes,
        authority: String::new(),
        domain: DomainMatch {
            host: 0,
            domain: 0,
            class: DomainClass::Universe,
        },
        clusters: BTreeMap::new(),
        skipped: Vec::new(),
        missing: Vec::new(),
        starts_at_cluster: false,
        asked: client.profile.client(),
    }
}

/// The failure of a channel that lacks this resource.
fn fail(kind: &str, (name, authority): (&str, &str), absent: Absent, client: &Client) -> ChannelFailure {
    ChannelFailure {
        keeps_routes: kind == "LDS" && absent.class != ChannelFailureClass::NoVirtualHost,
        missing: match absent.class {
            ChannelFailureClass::Missing if kind == "LDS" => vec![(ResourceType::Listener, name.to_owned())],
            ChannelFailureClass::Missing => vec![(ResourceType::RouteConfiguration, name.to_owned())],
            _ => Vec::new(),
        },
        class: absent.class,
        note: match client.profile.has(Feature::FailuresHandedOn) {
            true => in_words(client, kind, (name, authority), &absent),
            false => format!("{kind} resource {name}: {}", absent.text),
        },
        at_once: None,
        is_handed_on: client.profile.has(Feature::FailuresHandedOn),
        waits: client.profile.has(Feature::WaitsForConfiguration) || absent.is_unheard,
    }
}

/// Finds the virtual host and the clusters of a configuration with routes. `kind` is the type of the
/// resource in which they stand, as the client calls it.
fn routed(
    mut config: XdsConfig,
    kind: &str,
    notes: &[String],
    client: &Client,
    wanted: Wanted<'_>,
) -> Result<XdsConfig, ChannelFailure> {
    let domains = config.route_config.virtual_hosts.iter().map(|host| &host.domains);
    let has = |feature| client.profile.has(feature);
    let listener = config.listener_name.as_str();
    let by_listener = has(Feature::HostByListener) && !listener.is_empty();
    let looked_up = if by_listener {
        listener
    } else {
        config.authority.as_str()
    };
    let Some(domain) = best_match_by(domains, looked_up, DomainComparison::of(has)) else {
        let absent = Absent {
            class: ChannelFailureClass::NoVirtualHost,
            text: format!("could not find VirtualHost for {looked_up} in RouteConfiguration"),
            is_unheard: false,
        };
        let name = config.route_config_name.as_deref().unwrap_or(listener);
        let mut failure = fail(kind, (name, looked_up), absent, client);
        if has(Feature::UnroutedUnknown) {
            let text = format!("no matching virtual host for authority '{looked_up}'");
            failure.at_once = Some(Status::new(Code::Unknown, text));
        }
        return Err(failure);
    };
    config.domain = domain;
    let broken = config.virtual_host().and_then(broken_method_config);
    let config = with_clusters(config, notes, client, wanted);
    match broken {
        Some(note) => Err(ChannelFailure {
            missing: config.missing,
            keeps_routes: true,
            ..ChannelFailure::new(ChannelFailureClass::BadRetryPolicy, note)
        }),
        None => Ok(config),
    }
}

/// The note for a virtual host with a retry policy that the client cannot use.
fn broken_method_config(host: &VirtualHost) -> Option<String> {
    host.routes.iter().find_map(|route| {
        let unusable = route.route_action()?.retry_policy.as_ref()?.unusable();
        if unusable.is_empty() {
            return None;
        }
        let list: Vec<String> = unusable
            .iter()
            .map(|why| {
                format!(
                    "field:methodConfig[0].retryPolicy.{} error:{}",
                    why.field(),
                    why.error()
                )
            })
            .collect();
        Some(format!(
            "could not create ConfigSelector: errors validating service config: [{}]",
            list.join("; ")
        ))
    })
}

/// Resolves a cluster by itself, as if one route took all RPCs to it.
pub(super) fn cluster(name: &str, client: &Client, wanted: Wanted<'_>) -> XdsConfig {
    let action = RouteAction {
        hash_policies: Vec::new(),
        retry_policy: None,
        retry_policy_inherited: false,
        destination: Destination::Cluster(name.to_owned()),
        unweighted: Vec::new(),
        max_stream_duration: None,
        auto_host_rewrite: false,
        untrusted_host_rewrite: false,
    };
    let routes = RouteConfiguration::of_everything(Action::Route(Box::new(action)));
    let config = XdsConfig {
        starts_at_cluster: true,
        ..of_routes(None, Arc::new(routes), client)
    };
    with_clusters(config, &[], client, wanted)
}

/// Resolves the clusters that routes and `wanted` name, and all below them, in the way of the
/// client: each family has its own, some versions of grpc-go have others, and the first feature
/// that a client has decides. C-core has none of them.
fn graph_of<'k>(
    routes: &'k [Route],
    client: &Client,
    wanted: Wanted<'k>,
    known: &dyn Fn(&str) -> KnownCluster<'k>,
) -> Graph {
    let of_routes: Vec<&str> = routes.iter().flat_map(Route::clusters).collect();
    let more = wanted.clusters.iter().map(String::as_str);
    let names: BTreeSet<&str> = of_routes.iter().copied().chain(more.clone()).collect();
    let has = |feature| client.profile.has(feature);
    if has(Feature::AggregateFailsInPlace) {
        nested::resolve(nested::in_hash_order(of_routes).into_iter().chain(more), known)
    } else if has(Feature::AggregateFailsWhole) {
        nested::resolve_whole(names, known)
    } else if has(Feature::AggregateByLevels) {
        levels::resolve(names, known)
    } else if has(Feature::RootsOverwritten) {
        Graph::resolve_each(names, known, FaultOrder::FirstCounts, wanted.draw)
    } else if has(Feature::LastDepthCounts) {
        Graph::resolve_each(names, known, FaultOrder::LastCounts, None)
    } else if has(Feature::ClustersApart) {
        Graph::resolve_each(names, known, FaultOrder::MissingPassedOver, None)
    } else {
        Graph::resolve(names, known)
    }
}

fn with_clusters(mut config: XdsConfig, notes: &[String], client: &Client, wanted: Wanted<'_>) -> XdsConfig {
    let resources = &client.resources;
    let known = |name: &str| match resources.clusters.get(name) {
        _ if client.ask(ResourceType::Cluster, name).is_err() => KnownCluster::Rejected,
        None => KnownCluster::Missing,
        Some(held) => match held.value().map(|cluster| &cluster.discovery) {
            None => KnownCluster::Rejected,
            Some(Discovery::Aggregate { children }) => KnownCluster::Aggregate(children),
            Some(Discovery::Eds { .. } | Discovery::LogicalDns { .. }) => KnownCluster::Leaf,
        },
    };
    let has = |feature| client.profile.has(feature);
    let graph = graph_of(config.routes(), client, wanted, &known);
    let (hands_on, awaits_rejected) = (has(Feature::FailuresHandedOn), has(Feature::RejectedAwaited));
    let mut clusters = BTreeMap::new();
    for (name, entry) in graph.entries {
        let held = resources.clusters.get(&name);
        let state = match (client.value(&resources.clusters, &name), entry) {
            (Ok(cluster), ClusterEntry::Leaf) => {
                if let Discovery::Eds { service_name } = &cluster.discovery {
                    let resource = service_name.as_deref().unwrap_or(&name);
                    let is_asked_for = client.ask(ResourceType::Endpoints, resource).is_ok();
                    let held = resources.endpoints.get(resource);
                    let is_missing = held.is_none_or(|held| awaits_rejected && held.value().is_none());
                    if is_asked_for && is_missing {
                        config.missing.push((ResourceType::Endpoints, resource.to_owned()));
                    }
                }
                ClusterState::Leaf(leaf(&name, cluster, held, notes, client))
            }
            (Ok(_), ClusterEntry::Aggregate { lost, .. })
                if !lost.is_empty() && client.profile.has(Feature::AggregateNeedsAll) =>
            {
                let first = lost.first();
                let absent = first.and_then(|(name, _)| Some((name, client.value(&resources.clusters, name).err()?)));
                let text = absent
                    .as_ref()
                    .map(|(name, absent)| absent_in_words("ClusterResource", name, absent));
                let words = client.with_node_id(&text.unwrap_or_default());
                let is_rejected = absent.is_some_and(|(_, absent)| absent.class == ChannelFailureClass::Rejected);
                let class = match is_rejected {
                    true => ClusterFailureClass::Rejected,
                    false => ClusterFailureClass::Missing,
                };
                failure(class, words)
            }
            (Ok(_), ClusterEntry::Aggregate { leaves, lost }) if leaves.is_empty() && awaits_rejected => {
                config.missing.extend(awaited(&lost));
                let words = format!("CDS error: found 0 leaf (logical DNS or EDS) clusters for root cluster {name}");
                failure(ClusterFailureClass::NoLeaf, words)
            }
            (Ok(cluster), ClusterEntry::Aggregate { leaves, lost }) => {
                config.missing.extend(awaited(&lost).filter(|_| awaits_rejected));
                let lost: Vec<String> = lost
                    .iter()
                    .map(|(name, _)| match client.value(&resources.clusters, name) {
                        Ok(_) => String::new(),
                        Err(absent) => format!("CDS resource {name}: {}", absent.text),
                    })
                    .collect();
                ClusterState::Aggregate(Aggregate {
                    cluster: Arc::clone(cluster),
                    leaves,
                    note: lost.join("; "),
                })
            }
            (_, ClusterEntry::Error(ClusterError::TooDeepBelow(above))) => {
                failure_in_place(ClusterFailureClass::Depth, "Recursion limit reached", &above)
            }
            (_, ClusterEntry::Error(ClusterError::Cycle(above))) => {
                failure_in_place(ClusterFailureClass::Cycle, "Aggregate cluster cycle detected", &above)
            }
            (_, ClusterEntry::Error(ClusterError::WayBack { last, again })) => failure(
                ClusterFailureClass::Cycle,
                format!(
                    "CDS error: circular aggregate clusters directly under {last} for root cluster {name}, named [{again}]"
                ),
            ),
            (_, ClusterEntry::Error(error @ (ClusterError::TooDeep | ClusterError::NeverWhole))) if hands_on => {
                failure(
                    match error {
                        ClusterError::NeverWhole => ClusterFailureClass::NeverWhole,
                        _ => ClusterFailureClass::Depth,
                    },
                    client.with_node_id("aggregate cluster graph exceeds max depth (16)"),
                )
            }
            (_, ClusterEntry::Error(ClusterError::NoLeaf { has_lost })) if hands_on => failure(
                if has_lost {
                    ClusterFailureClass::Missing
                } else {
                    ClusterFailureClass::NoLeaf
                },
                client.with_node_id("aggregate cluster graph has no leaf clusters"),
            ),
            (_, ClusterEntry::Error(ClusterError::TooDeep | ClusterError::NeverWhole)) => failure(
                ClusterFailureClass::Depth,
                "aggregate cluster graph exceeds max depth".to_owned(),
            ),
            (_, ClusterEntry::Error(ClusterError::NoLeaf { .. })) => failure(
                ClusterFailureClass::NoLeaf,
                format!("aggregate cluster dependency graph for {name} has no leaf clusters"),
            ),
            (Err(absent), _) => {
                let is_java = client.profile.has(Feature::FailsAtOnce);
                let words = match absent.class {
                    ChannelFailureClass::Missing if is_java => java::absent("CDS", &name, client),
                    _ => format!("CDS resource {name}: {}", absent.text),
                };
                let class = match absent.class {
                    ChannelFailureClass::Rejected if !absent.is_unheard => ClusterFailureClass::Rejected,
                    ChannelFailureClass::NotAskedFor => ClusterFailureClass::NotAskedFor,
                    _ => {
                        config.missing.push((ResourceType::Cluster, name.clone()));
                        ClusterFailureClass::Missing
                    }
                };
                failure(
                    class,
                    match hands_on {
                        true => client.with_node_id(&absent_in_words("ClusterResource", &name, &absent)),
                        false => words,
                    },
                )
            }
            // Not reached: such a cluster has no value.
            (Ok(_), ClusterEntry::Error(ClusterError::Missing | ClusterError::Rejected)) => continue,
        };
        clusters.insert(name, state);
    }
    config.clusters = clusters;
    config.skipped = graph.skipped;
    config
}

/// The members that are missing or rejected, as resources for which the client waits.
fn awaited(lost: &[(String, ClusterError)]) -> impl Iterator<Item = (ResourceType, String)> {
    lost.iter().map(|(name, _)| (ResourceType::Cluster, name.clone()))
}

fn failure(class: ClusterFailureClass, message: String) -> ClusterState {
    let code = Code::Unavailable;
    ClusterState::Error(ClusterFailure { class, code, message })
}

/// The failure of a cluster in its place below aggregates.
fn failure_in_place(class: ClusterFailureClass, what: &str, above: &[String]) -> ClusterState {
    let code = Code::Internal;
    let message = format!("{what}: [{}]", above.join(", "));
    ClusterState::Error(ClusterFailure { class, code, message })
}

fn leaf(
    name: &str,
    cluster: &Arc<Cluster>,
    held: Option<&HeldResource<Cluster>>,
    notes: &[String],
    client: &Client,
) -> Leaf {
    let (endpoints, endpoint_note, is_unresolved) = match &cluster.discovery {
        Discovery::LogicalDns { hostname } => from_dns(hostname, &client.dns, DnsNames::of(&client.profile)),
        Discovery::Eds { service_name } => {
            let (endpoints, note) = from_eds(service_name.as_deref().unwrap_or(name), client);
            (endpoints, note, false)
        }
        // Not reached: an aggregate is no leaf.
        Discovery::Aggregate { .. } => (None, String::new(), false),
    };
    let cluster_note = client.ambient("CDS", name, held);
    let all: Vec<&str> = notes
        .iter()
        .map(String::as_str)
        .chain([cluster_note.as_str(), endpoint_note.as_str()])
        .filter(|note| !note.is_empty())
        .collect();
    let note = if all.is_empty() && !client.node_id.is_empty() {
        format!("xDS node ID:{}", client.node_id)
    } else {
        all.join("; ")
    };
    Leaf {
        cluster: Arc::clone(cluster),
        endpoints,
        note,
        is_unresolved,
    }
}

fn from_eds(resource: &str, client: &Client) -> (Option<Arc<Endpoints>>, String) {
    let held = client.resources.endpoints.get(resource);
    let endpoints = match client.value(&client.resources.endpoints, resource) {
        Ok(endpoints) => endpoints,
        Err(absent) => return (None, format!("EDS resource {resource}: {}", absent.text)),
    };
    let once = client.profile.has(Feature::LocalityOnce);
    let once = once.then(|| endpoints.with_localities_once()).flatten().map(Arc::new);
    let endpoints = once.as_ref().unwrap_or(endpoints);
    let ambient = client.ambient("EDS", resource, held);
    if !ambient.is_empty() {
        return (Some(Arc::clone(endpoints)), ambient);
    }
    let note = if endpoints.priorities.is_empty() {
        format!("EDS resource {resource}: contains no localities")
    } else {
        let empty: BTreeSet<String> = endpoints
            .priorities
            .iter()
            .flatten()
            .filter(|locality| locality.endpoints.is_empty())
            .map(|locality| locality.name.to_string())
            .collect();
        if empty.is_empty() {
            String::new()
        } else {
            let list: Vec<String> = empty.into_iter().collect();
            format!(
                "EDS resource {resource}: contains empty localities: [{}]",
                list.join("; ")
            )
        }
    };
    (Some(Arc::clone(endpoints)), note)
}
