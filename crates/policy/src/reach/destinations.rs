//! The clusters that a route names.

use xdsctl_channel::rpc::chain;
use xdsctl_model::resource::route::{Action, Destination, Route};
use xdsctl_model::resource::{LbConfig, RouteConfiguration};

/// The cluster to which the plugin of a route sends RPCs while lookups fail.
fn default_target<'a>(routes: &'a RouteConfiguration, route: &Route) -> Option<&'a str> {
    let Action::Route(action) = &route.action else {
        return None;
    };
    let Destination::Plugin(name) = &action.destination else {
        return None;
    };
    match &routes.cluster_specifier_plugins.get(name)?.config {
        LbConfig::Rls(config) => Some(config.route_lookup.default_target.as_str()).filter(|target| !target.is_empty()),
        _ => None,
    }
}

/// The clusters that a route names; the default target of a plugin has no share that is known.
pub(super) fn named_by<'a>(
    routes: Option<&'a RouteConfiguration>,
    route: &'a Route,
) -> impl Iterator<Item = (&'a str, Option<f64>, Option<&'a chain::Overrides>)> {
    let all = destinations(route).map(|(name, share, overrides)| (name, Some(share), overrides));
    let target = routes.and_then(|routes| default_target(routes, route));
    all.chain(target.map(|name| (name, None, None)))
}

/// The clusters of a route with their shares, and what they override.
pub(super) fn destinations(route: &Route) -> impl Iterator<Item = (&str, f64, Option<&chain::Overrides>)> {
    let (only, all) = match &route.action {
        Action::Route(action) => match &action.destination {
            Destination::Cluster(name) => (Some(name), &[][..]),
            Destination::WeightedClusters(all) => (None, &all[..]),
            Destination::Plugin(_) => (None, &[][..]),
        },
        Action::NonForwarding | Action::Unknown => (None, &[][..]),
    };
    let sum: f64 = all.iter().map(|one| f64::from(one.weight)).sum();
    let weighted = all.iter().map(move |one| {
        let share = f64::from(one.weight) / sum;
        (one.name.as_str(), share, Some(&one.typed_per_filter_config))
    });
    only.into_iter().map(|name| (name.as_str(), 1.0, None)).chain(weighted)
}
