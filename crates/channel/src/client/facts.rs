//! The facts of a resource that other resources need, as the validated value has them.

use std::collections::BTreeMap;

use super::policy::{self, PolicyFacts};
use xdsctl_clients::core::convert::resource_name::NameComparison;
use xdsctl_clients::shared::reach::needs_tls;
use xdsctl_model::resource::cluster::{Discovery, HealthStatus, OutlierDetection};
use xdsctl_model::resource::filter::{FilterConfig, FilterOverride, HttpFilter};
use xdsctl_model::resource::listener::{Listener, RouteSource};
use xdsctl_model::resource::matcher::{StringMatch, StringMatcher};
use xdsctl_model::resource::route::{Action, Destination as Target, PathMatcher, RouteConfiguration};
use xdsctl_model::resource::{Cluster, Endpoints, Resource};

/// What a resource says that concerns other resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Facts {
    /// Facts of a Listener.
    Listener(ListenerFacts),
    /// Facts of a RouteConfiguration.
    Routes(RouteFacts),
    /// Facts of a Cluster.
    Cluster(ClusterFacts),
    /// Facts of a ClusterLoadAssignment.
    Endpoints(EndpointsFacts),
}

/// How much a ClusterLoadAssignment holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndpointsFacts {
    /// How many localities the client keeps.
    pub localities: usize,
    /// How many endpoints the client keeps.
    pub endpoints: usize,
    /// How many priorities have a locality that the client keeps.
    pub priorities: usize,
    /// Whether some priority has localities with endpoints and different weights.
    pub locality_weights_differ: bool,
    /// Whether some locality has endpoints of different weights.
    pub endpoint_weights_differ: bool,
}

/// Where a listener's routes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenerFacts {
    /// An API listener with a RouteConfiguration by name.
    Rds(String, Box<[FilterFacts]>),
    /// An API listener with inline routes.
    Inline(RouteFacts, Box<[FilterFacts]>),
    /// A server's listener: its address as `host:port`, and its filter chains.
    Server(Box<str>, Box<[ChainFacts]>),
}

/// A filter chain of a server that is in use and gets its routes by RDS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainFacts {
    /// Its index in `filter_chains`; `None` for `default_filter_chain`.
    pub index: Option<usize>,
    /// Name of the RouteConfiguration.
    pub routes: String,
    /// The HTTP filters of its connection manager, in their order.
    pub filters: Box<[FilterFacts]>,
    /// Whether it has no TLS.
    pub is_plaintext: bool,
}

/// An HTTP filter of a listener that an override can be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterFacts {
    /// Index in `http_filters`.
    pub index: u32,
    /// Name in the chain.
    pub name: Box<str>,
    /// The filter's [`FilterConfig::kind`].
    pub kind: &'static str,
    /// Whether it is off unless an override switches it on.
    pub disabled: bool,
    /// The cookie's path, if the filter is a stateful session with a cookie.
    pub session_path: Option<Box<str>>,
}

/// The clusters that routes name, and what else must fit a listener.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RouteFacts {
    /// The routes' references to clusters, by virtual host, in the order of the routes.
    pub virtual_hosts: Vec<Vec<RouteReference>>,
    /// Clusters of weight 0, each with the position of its virtual host, where the client watches
    /// them. No RPC goes there.
    pub unweighted: Vec<(usize, RouteReference)>,
    /// The domains of each virtual host.
    pub domains: Vec<Vec<String>>,
    /// Whether some route uses a cluster specifier plugin, so that any cluster may be used.
    pub has_plugin: bool,
    /// Whether a plugin repeats its lookups before their answers are too old.
    pub renews_answers: bool,
    /// Virtual host and index of the routes with a `non_forwarding_action`.
    pub non_forwarding: Box<[(u32, u32)]>,
    /// Filter overrides, one for each name and kind.
    pub overrides: Box<[OverrideFacts]>,
    /// Overrides with an RBAC policy that needs a client authenticated by TLS, with the name of the
    /// first such policy.
    pub needing_tls: Box<[(OverrideFacts, Box<str>)]>,
    /// The paths of all routes, in one text because there may be a hundred thousand.
    paths: String,
}

impl RouteFacts {
    /// Says whether the route of a reference takes every RPC.
    pub fn takes_all(&self, reference: &RouteReference) -> bool {
        reference.is_prefix && !reference.is_conditional && matches!(self.path_of(reference), None | Some("/"))
    }

    /// The path or prefix of a reference's route; `None` for a regex.
    pub fn path_of(&self, reference: &RouteReference) -> Option<&str> {
        let (start, end) = reference.path;
        (start < end).then(|| self.paths.get(start as usize..end as usize))?
    }
}

/// Entries of `typed_per_filter_config` with the same name and kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrideFacts {
    /// Key in the map: the filter's name.
    pub name: Box<str>,
    /// [`FilterConfig::kind`] of the override; `None` if it overrides nothing.
    pub kind: Option<&'static str>,
    /// Whether some entry switches the filter off, or is one of a session without a cookie.
    pub switches_off: bool,
    /// How many entries have this name and kind.
    pub count: u32,
    /// The first of the entries: indices of its virtual host, route and weighted cluster.
    pub first: (u32, Option<u32>, Option<u32>),
}

/// A route's reference to a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteReference {
    /// The name of the cluster that the route sends RPCs to.
    pub cluster: String,
    /// Index of the virtual host in the resource.
    pub virtual_host: u32,
    /// Index of the route in the virtual host.
    pub route: u32,
    /// How the route names the cluster.
    pub destination: NamedDestination,
    /// Whether the route has a hash policy that the client keeps.
    pub has_hash_policy: bool,
    /// The range of the route's path in [`RouteFacts::paths`].
    path: (u32, u32),
    /// Whether the path is a prefix.
    pub is_prefix: bool,
    /// Whether headers or a fraction decide too, so that RPCs of this path may go on to a later
    /// route.
    pub is_conditional: bool,
    /// The weight of the cluster, and the sum of the route's weights.
    weight: (u32, u32),
}

/// How a route names a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedDestination {
    /// The field is `route.cluster`.
    Single,
    /// The field is `route.weighted_clusters.clusters[i]`, and the number is `i`.
    Weighted(u32),
}

/// How a cluster finds its endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterFacts {
    /// EDS has the endpoints.
    Eds {
        /// `service_name`; `None` for the cluster's own name.
        service_name: Option<String>,
        /// How an endpoint is picked.
        policy: PolicyFacts,
        /// The other clusters that the policy names.
        others: Box<[String]>,
        /// Whether sessions go to endpoints of some health, but not to draining ones.
        loses_draining: bool,
        /// How many endpoints there must be for outlier detection to eject one; `None` if it is
        /// off.
        ejects_from: Option<u64>,
    },
    /// DNS has the endpoints.
    LogicalDns {
        /// `host:port` that DNS is asked for.
        hostname: Box<str>,
        /// How an endpoint is picked.
        policy: PolicyFacts,
        /// The other clusters that the policy names.
        others: Box<[String]>,
    },
    /// Other clusters have the endpoints: it is an aggregate.
    Aggregate {
        /// The clusters that the aggregate names, in order of priority.
        children: Vec<String>,
    },
}

impl ClusterFacts {
    /// The facts of the LB policy, if the cluster has endpoints of its own.
    pub(super) fn policy_mut(&mut self) -> Option<&mut PolicyFacts> {
        match self {
            ClusterFacts::Eds { policy, .. } | ClusterFacts::LogicalDns { policy, .. } => Some(policy),
            ClusterFacts::Aggregate { .. } => None,
        }
    }
}

impl RouteReference {
    /// The share of the route's RPCs that go to the cluster, up to 1.
    pub fn share(&self) -> f64 {
        let (weight, sum) = self.weight;
        f64::from(weight) / f64::from(sum)
    }
}

impl Facts {
    /// Collects the facts of a validated resource. The resources that it refers to are named by the
    /// keys of their names.
    pub fn of(resource: &Resource, names: NameComparison) -> Facts {
        let key = |name: &String| names.key(name).into_owned();
        let others = |cluster: &Cluster| {
            let found = policy::clusters(&cluster.lb_policy.config);
            found.into_iter().map(|name| names.key(name).into_owned()).collect()
        };
        match resource {
            Resource::Listener(listener) => Facts::Listener(of_listener(listener, names)),
            Resource::RouteConfiguration(routes) => Facts::Routes(of_routes(routes, names)),
            Resource::Cluster(cluster) => Facts::Cluster(match &cluster.discovery {
                Discovery::Eds { service_name } => ClusterFacts::Eds {
                    service_name: service_name.as_ref().map(key),
                    policy: PolicyFacts::new(&cluster.lb_policy),
                    others: others(cluster),
                    loses_draining: {
                        let statuses = &cluster.override_host_statuses;
                        !statuses.is_empty() && !statuses.contains(&HealthStatus::Draining)
                    },
                    ejects_from: cluster
                        .outlier_detection
                        .as_ref()
                        .and_then(OutlierDetection::ejects_from),
                },
                Discovery::LogicalDns { hostname } => ClusterFacts::LogicalDns {
                    hostname: hostname.as_str().into(),
                    policy: PolicyFacts::new(&cluster.lb_policy),
                    others: others(cluster),
                },
                Discovery::Aggregate { children } => ClusterFacts::Aggregate {
                    children: children.iter().map(key).collect(),
                },
            }),
            Resource::Endpoints(endpoints) => of_endpoints(endpoints),
        }
    }
}

fn of_listener(listener: &Listener, names: NameComparison) -> ListenerFacts {
    match listener {
        Listener::Api(hcm) => {
            let filters = of_filters(&hcm.http_filters);
            match &hcm.routes {
                RouteSource::Rds(name) => ListenerFacts::Rds(names.key(name).into_owned(), filters),
                RouteSource::Inline(routes) => ListenerFacts::Inline(of_routes(routes, names), filters),
            }
        }
        Listener::Tcp(tcp) => {
            let mut chains: Vec<ChainFacts> = Vec::new();
            for (index, chain) in tcp.used_chains() {
                let hcm = &chain.http_connection_manager;
                let RouteSource::Rds(routes) = &hcm.routes else {
                    continue;
                };
                chains.push(ChainFacts {
                    index,
                    routes: names.key(routes).into_owned(),
                    filters: of_filters(&hcm.http_filters),
                    is_plaintext: chain.tls.is_none(),
                });
            }
            chains.sort_by(|a, b| a.routes.cmp(&b.routes));
            // Chains differ in what they match; their filters are mostly the same.
            chains.dedup_by(|next, first| {
                next.routes == first.routes && next.filters == first.filters && next.is_plaintext == first.is_plaintext
            });
            ListenerFacts::Server(tcp.address.as_str().into(), chains.into())
        }
    }
}

/// The filters that an override can be about.
fn of_filters(filters: &[HttpFilter]) -> Box<[FilterFacts]> {
    filters
        .iter()
        .filter(|filter| !matches!(filter.config, FilterConfig::Router))
        .map(|filter| FilterFacts {
            index: number(filter.index),
            name: filter.name.as_str().into(),
            kind: filter.config.kind(),
            disabled: filter.disabled,
            session_path: match &filter.config {
                FilterConfig::StatefulSession(Some(cookie)) => Some(cookie.path.as_str().into()),
                _ => None,
            },
        })
        .collect()
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn of_routes(routes: &RouteConfiguration, names: NameComparison) -> RouteFacts {
    let mut facts = RouteFacts::default();
    let mut overrides = Overrides::new();
    let mut non_forwarding = Vec::new();
    let mut needing_tls = Vec::new();
    for host in &routes.virtual_hosts {
        let host_index = number(host.index);
        let at = (host_index, None, None);
        add_overrides(&host.typed_per_filter_config, at, &mut overrides);
        add_needing_tls(&host.typed_per_filter_config, at, &mut needing_tls);
        let mut references = Vec::new();
        for route in &host.routes {
            let at = (host_index, Some(number(route.index)), None);
            add_overrides(&route.typed_per_filter_config, at, &mut overrides);
            add_needing_tls(&route.typed_per_filter_config, at, &mut needing_tls);
            let action = match &route.action {
                Action::Route(action) => action,
                Action::NonForwarding => {
                    non_forwarding.push((host_index, number(route.index)));
                    continue;
                }
                Action::Unknown => continue,
            };
            let (path, is_prefix) = add_path(&route.path, &mut facts.paths);
            let reference = |cluster: &str, destination, weight| RouteReference {
                weight,
                path,
                is_prefix,
                is_conditional: route.is_conditional(),
                cluster: names.key(cluster).into_owned(),
                virtual_host: host_index,
                route: number(route.index),
                destination,
                has_hash_policy: !action.hash_policies.is_empty(),
            };
            match &action.destination {
                Target::Cluster(name) => references.push(reference(name, NamedDestination::Single, (1, 1))),
                Target::WeightedClusters(entries) => {
                    let sum = entries
                        .iter()
                        .fold(0, |sum: u32, entry| sum.saturating_add(entry.weight));
                    for entry in entries {
                        let index = number(entry.index);
                        let weight = (entry.weight, sum);
                        references.push(reference(&entry.name, NamedDestination::Weighted(index), weight));
                        let at = (host_index, Some(number(route.index)), Some(index));
                        add_overrides(&entry.typed_per_filter_config, at, &mut overrides);
                    }
                    let unweighted = action.unweighted.iter().map(|(index, name)| {
                        let destination = NamedDestination::Weighted(number(*index));
                        (facts.virtual_hosts.len(), reference(name, destination, (0, sum)))
                    });
                    facts.unweighted.extend(unweighted);
                }
                Target::Plugin(name) => {
                    let lookup = routes.route_lookup(name);
                    facts.has_plugin = true;
                    facts.renews_answers |= lookup.is_some_and(|lookup| lookup.stale_age < lookup.max_age);
                }
            }
        }
        facts.virtual_hosts.push(references);
        facts.domains.push(host.domains.clone());
    }
    facts.non_forwarding = non_forwarding.into();
    facts.needing_tls = needing_tls.into();
    facts.overrides = overrides.into_values().collect();
    facts
}

/// Adds what a path must equal or begin with to `paths`; an empty prefix becomes `/`. Returns where
/// the text is, and whether it is a prefix.
fn add_path(path: &PathMatcher, paths: &mut String) -> ((u32, u32), bool) {
    let start = paths.len();
    let is_prefix = match path {
        PathMatcher::Text(StringMatcher { kind, .. }) => match kind {
            StringMatch::Exact(text) => {
                paths.push_str(text);
                false
            }
            StringMatch::Prefix(text) => {
                paths.push_str(if text.is_empty() { "/" } else { text });
                true
            }
            StringMatch::Suffix(_) | StringMatch::Contains(_) | StringMatch::Regex(_) => false,
        },
        PathMatcher::Regex(_) => false,
    };
    ((number(start), number(paths.len())), is_prefix)
}

/// Overrides by name and kind.
type Overrides<'a> = BTreeMap<(&'a str, Option<&'static str>), OverrideFacts>;

fn add_overrides<'a>(
    entries: &'a BTreeMap<String, FilterOverride>,
    at: (u32, Option<u32>, Option<u32>),
    overrides: &mut Overrides<'a>,
) {
    for (name, entry) in entries {
        let kind = entry.config.as_deref().map(FilterConfig::kind);
        let facts = overrides.entry((name, kind)).or_insert_with(|| OverrideFacts {
            name: name.as_str().into(),
            kind,
            switches_off: false,
            count: 0,
            first: at,
        });
        facts.count = facts.count.saturating_add(1);
        facts.switches_off |=
            entry.disabled || matches!(entry.config.as_deref(), Some(FilterConfig::StatefulSession(None)));
    }
}

/// The most overrides that need TLS and are reported: each route of a server may have one.
const MAX_NEEDING_TLS: usize = 100;

fn add_needing_tls(
    entries: &BTreeMap<String, FilterOverride>,
    at: (u32, Option<u32>, Option<u32>),
    found: &mut Vec<(OverrideFacts, Box<str>)>,
) {
    for (name, entry) in entries.iter().filter(|(_, entry)| !entry.disabled) {
        let rules = entry.config.as_deref().and_then(FilterConfig::rbac_rules);
        let policies = rules.into_iter().flat_map(|rules| &rules.policies);
        let mut needing = policies.filter(|(_, policy)| needs_tls(policy));
        if let Some((policy, _)) = needing.next().filter(|_| found.len() < MAX_NEEDING_TLS) {
            let facts = OverrideFacts {
                name: name.as_str().into(),
                kind: Some("rbac"),
                switches_off: false,
                count: 1,
                first: at,
            };
            found.push((facts, policy.as_str().into()));
        }
    }
}

/// Says whether some weights differ.
fn differ(mut weights: impl Iterator<Item = u32>) -> bool {
    weights.next().is_some_and(|first| weights.any(|w| w != first))
}

fn of_endpoints(endpoints: &Endpoints) -> Facts {
    let localities = endpoints.priorities.iter().flatten();
    Facts::Endpoints(EndpointsFacts {
        localities: localities.clone().count(),
        endpoints: localities.clone().map(|l| l.endpoints.len()).sum(),
        priorities: endpoints.priorities.iter().filter(|p| !p.is_empty()).count(),
        locality_weights_differ: endpoints.priorities.iter().any(|priority| {
            let used = priority.iter().filter(|l| !l.endpoints.is_empty());
            differ(used.map(|l| l.weight))
        }),
        endpoint_weights_differ: localities.clone().any(|l| differ(l.endpoints.iter().map(|e| e.weight))),
    })
}
