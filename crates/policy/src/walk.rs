//! Goes to every place of a resource that policies may look at, with its path.

use crate::site::Thing;
use crate::uses::ChainNumber;
use xdsctl_model::diag::Path;
use xdsctl_model::resource::listener::{HttpConnectionManager, RouteSource};
use xdsctl_model::resource::{Endpoints, Listener, Resource, RouteConfiguration};

/// The type of the message inside an API listener.
const HCM: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/// What to do at each place; `false` ends the walk.
pub(crate) type Visit<'v, 'a> = &'v mut dyn FnMut(Thing<'a>, &Path<'_>) -> bool;

/// Visits the places of a resource, each before the places in it.
pub(crate) fn resource<'a>(resource: &'a Resource, visit: Visit<'_, 'a>) -> bool {
    let root = &Path::ROOT;
    match resource {
        Resource::Listener(value) => visit(Thing::Listener(value), root) && listener(value, visit),
        Resource::RouteConfiguration(value) => routes(value, None, root, visit),
        Resource::Cluster(value) => visit(Thing::Cluster(value), root),
        Resource::Endpoints(value) => visit(Thing::Endpoints(value), root) && endpoints(value, visit),
    }
}

fn listener<'a>(listener: &'a Listener, visit: Visit<'_, 'a>) -> bool {
    let root = &Path::ROOT;
    match listener {
        Listener::Api(of) => {
            let api = root.field("api_listener");
            let any = api.field("api_listener");
            manager(of, 0, &any.value(HCM), visit)
        }
        Listener::Tcp(tcp) => {
            let chains = root.field("filter_chains");
            let mut used = tcp.used_chains().enumerate();
            used.all(|(number, (index, chain))| {
                let at = match index {
                    Some(index) => chains.index(index),
                    None => root.field("default_filter_chain"),
                };
                let filters = at.field("filters");
                let filter = filters.index(0);
                let config = filter.field("typed_config");
                manager(&chain.http_connection_manager, number, &config.value(HCM), visit)
            })
        }
    }
}

fn manager<'a>(manager: &'a HttpConnectionManager, number: ChainNumber, at: &Path<'_>, visit: Visit<'_, 'a>) -> bool {
    let filters = at.field("http_filters");
    let mut all = manager.http_filters.iter();
    let goes_on = all.all(|filter| visit(Thing::Filter(number, filter), &filters.index(filter.index)));
    goes_on
        && match &manager.routes {
            RouteSource::Inline(config) => routes(config, Some(number), &at.field("route_config"), visit),
            RouteSource::Rds(_) => true,
        }
}

fn routes<'a>(config: &'a RouteConfiguration, chain: Option<ChainNumber>, at: &Path<'_>, visit: Visit<'_, 'a>) -> bool {
    let hosts = at.field("virtual_hosts");
    visit(Thing::RouteConfiguration(chain, config), at)
        && config.virtual_hosts.iter().all(|host| {
            let host_at = hosts.index(host.index);
            let routes = host_at.field("routes");
            visit(Thing::VirtualHost(host), &host_at)
                && host.routes.iter().all(|route| {
                    let at = routes.index(route.index);
                    if !visit(Thing::Route(host, route), &at) {
                        return false;
                    }
                    match route.route_action() {
                        Some(action) if action.retry_policy.is_some() => {
                            let own = at.field("route");
                            // A retry policy that comes from the virtual host is there.
                            let of = if action.retry_policy_inherited { &host_at } else { &own };
                            visit(Thing::RetryPolicy(host, route), &of.field("retry_policy"))
                        }
                        _ => true,
                    }
                })
        })
}

fn endpoints<'a>(endpoints: &'a Endpoints, visit: Visit<'_, 'a>) -> bool {
    let localities = Path::ROOT.field("endpoints");
    endpoints.priorities.iter().enumerate().all(|(priority, all)| {
        all.iter().enumerate().all(|(number, of)| {
            let at = localities.index(of.index);
            let list = at.field("lb_endpoints");
            let locality = Thing::Locality {
                priority,
                all,
                number,
                of,
            };
            visit(locality, &at)
                && of
                    .endpoints
                    .iter()
                    .all(|endpoint| visit(Thing::Endpoint(priority, of, endpoint), &list.index(endpoint.index)))
        })
    })
}

#[cfg(test)]
mod tests;
