//! The facts of a resource that other resources need, taken from the validated value.

use crate::diag::{FieldPath, Path};
use crate::model::cluster::Discovery;
use crate::model::listener::{Listener, RouteSource};
use crate::model::route::{Action, Destination as Target, RouteConfiguration};
use crate::model::{Endpoints, Resource};

/// Type of the message inside an API listener.
const HCM: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/// Type of the message inside an aggregate cluster.
const AGGREGATE: &str = "envoy.extensions.clusters.aggregate.v3.ClusterConfig";

/// What a resource says about others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Facts {
    /// Listener.
    Listener(ListenerFacts),
    /// RouteConfiguration.
    Routes(RouteFacts),
    /// Cluster.
    Cluster(ClusterFacts),
    /// ClusterLoadAssignment.
    Endpoints {
        /// Kept localities.
        localities: usize,
        /// Kept endpoints.
        endpoints: usize,
    },
}

/// Where a listener's routes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenerFacts {
    /// An API listener with a RouteConfiguration by name.
    Rds(String),
    /// An API listener with inline routes.
    Inline(RouteFacts),
    /// A server's listener, with the names of its RouteConfigurations.
    Server(Vec<String>),
}

/// The clusters that routes name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RouteFacts {
    /// Per virtual host, in the order of the routes.
    pub virtual_hosts: Vec<Vec<RouteReference>>,
    /// The domains of each virtual host.
    pub domains: Vec<Vec<String>>,
    /// Some route uses a cluster specifier plugin: any cluster may be used.
    pub has_plugin: bool,
}

/// A route's reference to a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteReference {
    /// Cluster name.
    pub cluster: String,
    /// Index of the virtual host in the resource.
    pub virtual_host: u32,
    /// Index of the route in the virtual host.
    pub route: u32,
    /// How the route names it.
    pub destination: Destination,
}

/// How a route names a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// `route.cluster`.
    Single,
    /// `route.weighted_clusters.clusters[i]`.
    Weighted(u32),
}

/// How a cluster finds its endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterFacts {
    /// By EDS.
    Eds {
        /// `service_name`; `None` for the cluster's own name.
        service_name: Option<String>,
    },
    /// By DNS.
    LogicalDns,
    /// From other clusters.
    Aggregate {
        /// In order of priority.
        children: Vec<String>,
    },
}

impl RouteReference {
    /// The field that holds the name; `inline` when the routes stand in a listener.
    pub fn path(&self, inline: bool) -> FieldPath {
        let root = Path::ROOT;
        let (api, inner) = (root.field("api_listener"), "api_listener");
        let any = api.field(inner);
        let hcm = any.value(HCM);
        let config = hcm.field("route_config");
        let base = if inline { &config } else { &root };
        let hosts = base.field("virtual_hosts");
        let host = hosts.index(self.virtual_host as usize);
        let routes = host.field("routes");
        let route = routes.index(self.route as usize);
        let action = route.field("route");
        match self.destination {
            Destination::Single => action.field("cluster").to_owned(),
            Destination::Weighted(i) => {
                let weighted = action.field("weighted_clusters");
                let clusters = weighted.field("clusters");
                clusters.index(i as usize).field("name").to_owned()
            }
        }
    }
}

/// The field in which an API listener names its RouteConfiguration.
pub fn rds_path() -> FieldPath {
    let root = Path::ROOT;
    let api = root.field("api_listener");
    let any = api.field("api_listener");
    let hcm = any.value(HCM);
    let rds = hcm.field("rds");
    rds.field("route_config_name").to_owned()
}

/// The field in which an aggregate cluster names its child `index`.
pub fn child_path(index: usize) -> FieldPath {
    let root = Path::ROOT;
    let cluster_type = root.field("cluster_type");
    let any = cluster_type.field("typed_config");
    let config = any.value(AGGREGATE);
    let clusters = config.field("clusters");
    clusters.index(index).to_owned()
}

/// The field in which an EDS cluster names its endpoints.
pub fn eds_path() -> FieldPath {
    Path::ROOT.field("eds_cluster_config").field("service_name").to_owned()
}

impl Facts {
    /// Takes the facts out of a validated resource.
    pub fn of(resource: &Resource) -> Facts {
        match resource {
            Resource::Listener(listener) => Facts::Listener(of_listener(listener)),
            Resource::RouteConfiguration(routes) => Facts::Routes(of_routes(routes)),
            Resource::Cluster(cluster) => Facts::Cluster(match &cluster.discovery {
                Discovery::Eds { service_name } => ClusterFacts::Eds {
                    service_name: service_name.clone(),
                },
                Discovery::LogicalDns { .. } => ClusterFacts::LogicalDns,
                Discovery::Aggregate { children } => ClusterFacts::Aggregate {
                    children: children.clone(),
                },
            }),
            Resource::Endpoints(endpoints) => of_endpoints(endpoints),
        }
    }
}

fn of_listener(listener: &Listener) -> ListenerFacts {
    match listener {
        Listener::Api(hcm) => match &hcm.routes {
            RouteSource::Rds(name) => ListenerFacts::Rds(name.clone()),
            RouteSource::Inline(routes) => ListenerFacts::Inline(of_routes(routes)),
        },
        Listener::Tcp(tcp) => {
            let mut names: Vec<String> = tcp
                .used_chains()
                .filter_map(|chain| match &chain.http_connection_manager.routes {
                    RouteSource::Rds(name) => Some(name.clone()),
                    RouteSource::Inline(_) => None,
                })
                .collect();
            names.sort_unstable();
            names.dedup();
            ListenerFacts::Server(names)
        }
    }
}

fn of_routes(routes: &RouteConfiguration) -> RouteFacts {
    let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let mut facts = RouteFacts::default();
    for host in &routes.virtual_hosts {
        let mut references = Vec::new();
        for route in &host.routes {
            let Action::Route(action) = &route.action else {
                continue;
            };
            let reference = |cluster: &str, destination| RouteReference {
                cluster: cluster.to_owned(),
                virtual_host: number(host.index),
                route: number(route.index),
                destination,
            };
            match &action.destination {
                Target::Cluster(name) => references.push(reference(name, Destination::Single)),
                Target::WeightedClusters(entries) => references.extend(
                    entries
                        .iter()
                        .map(|entry| reference(&entry.name, Destination::Weighted(number(entry.index)))),
                ),
                Target::Plugin(_) => facts.has_plugin = true,
            }
        }
        facts.virtual_hosts.push(references);
        facts.domains.push(host.domains.clone());
    }
    facts
}

fn of_endpoints(endpoints: &Endpoints) -> Facts {
    let localities = endpoints.priorities.iter().flatten();
    Facts::Endpoints {
        localities: localities.clone().count(),
        endpoints: localities.map(|l| l.endpoints.len()).sum(),
    }
}
