//! The fields that findings on several resources are about: those that name other resources, and
//! overrides of filters.

use super::facts::{ChainFacts, NamedDestination, OverrideFacts, RouteReference};
use xdsctl_model::diag::Seg::{self, Field, Index, Key};
use xdsctl_model::diag::{FieldPath, Path};

/// The step into an HttpConnectionManager.
const HCM: Seg<'_> = Seg::Value {
    wrapper: None,
    type_name: "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
};

/// The step into the config of an aggregate cluster.
const AGGREGATE: Seg<'_> = Seg::Value {
    wrapper: None,
    type_name: "envoy.extensions.clusters.aggregate.v3.ClusterConfig",
};

/// The connection manager of an API listener.
const MANAGER: [Seg<'_>; 3] = [Field("api_listener"), Field("api_listener"), HCM];

/// The path of these steps.
fn path(steps: &[Seg<'_>]) -> FieldPath {
    fn below(at: &Path<'_>, steps: &[Seg<'_>]) -> FieldPath {
        match steps.split_first() {
            Some((step, rest)) => below(&at.then(*step), rest),
            None => at.to_owned(),
        }
    }
    below(&Path::ROOT, steps)
}

fn in_manager(steps: &[Seg<'_>]) -> FieldPath {
    path(&[&MANAGER[..], steps].concat())
}

/// The steps to a virtual host; `inline` if the routes stand in a listener.
fn host_steps<'s>(inline: bool, host: u32) -> Vec<Seg<'s>> {
    let mut steps = Vec::new();
    if inline {
        steps.extend(MANAGER);
        steps.push(Field("route_config"));
    }
    steps.extend([Field("virtual_hosts"), Index(host as usize)]);
    steps
}

fn route_steps<'s>(inline: bool, host: u32, route: u32) -> Vec<Seg<'s>> {
    let mut steps = host_steps(inline, host);
    steps.extend([Field("routes"), Index(route as usize)]);
    steps
}

/// The steps from a route to one of its weighted clusters.
fn weighted_steps<'s>(cluster: u32) -> [Seg<'s>; 4] {
    let cluster = Index(cluster as usize);
    [Field("route"), Field("weighted_clusters"), Field("clusters"), cluster]
}

impl ChainFacts {
    /// The field in which the chain names its RouteConfiguration.
    pub fn rds_path(&self) -> FieldPath {
        let mut steps = match self.index {
            Some(index) => vec![Field("filter_chains"), Index(index)],
            None => vec![Field("default_filter_chain")],
        };
        // An HttpConnectionManager is the only network filter that there may be.
        steps.extend([Field("filters"), Index(0), Field("typed_config"), HCM]);
        steps.extend([Field("rds"), Field("route_config_name")]);
        path(&steps)
    }
}

impl RouteReference {
    /// The path of the field with the cluster's name; `inline` if the routes stand in a listener.
    pub fn path(&self, inline: bool) -> FieldPath {
        let mut steps = route_steps(inline, self.virtual_host, self.route);
        match self.destination {
            NamedDestination::Single => steps.extend([Field("route"), Field("cluster")]),
            NamedDestination::Weighted(cluster) => {
                steps.extend(weighted_steps(cluster));
                steps.push(Field("name"));
            }
        }
        path(&steps)
    }

    /// The path of `field` in the route's action, or of the action itself.
    pub fn action_path(&self, inline: bool, field: Option<&'static str>) -> FieldPath {
        let mut steps = route_steps(inline, self.virtual_host, self.route);
        steps.push(Field("route"));
        steps.extend(field.map(Field));
        path(&steps)
    }
}

impl OverrideFacts {
    /// The path of the first entry; `inline` if the routes stand in a listener.
    pub fn path(&self, inline: bool) -> FieldPath {
        let (host, route, cluster) = self.first;
        let mut steps = match route {
            Some(route) => route_steps(inline, host, route),
            None => host_steps(inline, host),
        };
        steps.extend(cluster.into_iter().flat_map(weighted_steps));
        steps.extend([Field("typed_per_filter_config"), Key(&self.name)]);
        path(&steps)
    }
}

/// The path of a route's `non_forwarding_action`, in a RouteConfiguration of its own.
pub fn non_forwarding_path((host, route): (u32, u32)) -> FieldPath {
    let mut steps = route_steps(false, host, route);
    steps.push(Field("non_forwarding_action"));
    path(&steps)
}

/// The path of the filter `index` of an API listener.
pub fn filter_path(index: u32) -> FieldPath {
    in_manager(&[Field("http_filters"), Index(index as usize)])
}

/// The field in which an API listener names its RouteConfiguration.
pub fn rds_path() -> FieldPath {
    in_manager(&[Field("rds"), Field("route_config_name")])
}

/// The field with the virtual hosts of an API listener's inline routes.
pub fn inline_routes_path() -> FieldPath {
    in_manager(&[Field("route_config"), Field("virtual_hosts")])
}

/// The field in which an aggregate cluster names its child `index`.
pub fn child_path(index: usize) -> FieldPath {
    let steps = [Field("cluster_type"), Field("typed_config"), AGGREGATE];
    path(&[&steps[..], &[Field("clusters"), Index(index)]].concat())
}

/// The field in which an EDS cluster names its endpoints.
pub fn eds_path() -> FieldPath {
    path(&[Field("eds_cluster_config"), Field("service_name")])
}
