//! The clusters that a route names.

use xdsctl_channel::rpc::chain;
use xdsctl_model::resource::RouteConfiguration;
use xdsctl_model::resource::route::{Destination, Route};

/// Returns the clusters that a route names. The share of a plugin's default target is not known.
pub(super) fn named_by<'a>(
    routes: Option<&'a RouteConfiguration>,
    route: &'a Route,
) -> impl Iterator<Item = (&'a str, Option<f64>, Option<&'a chain::Overrides>)> {
    let all = destinations(route).map(|(name, share, overrides)| (name, Some(share), overrides));
    let target = routes.and_then(|routes| routes.route_lookup(route.destination()?.plugin()?)?.default_cluster());
    all.chain(target.map(|name| (name, None, None)))
}

/// Returns the clusters of a route, with their shares and their overrides.
pub(super) fn destinations(route: &Route) -> impl Iterator<Item = (&str, f64, Option<&chain::Overrides>)> {
    let (only, all) = match route.destination() {
        Some(Destination::Cluster(name)) => (Some(name), &[][..]),
        Some(Destination::WeightedClusters(all)) => (None, &all[..]),
        Some(Destination::Plugin(_)) | None => (None, &[][..]),
    };
    let sum: f64 = all.iter().map(|one| f64::from(one.weight)).sum();
    let weighted = all.iter().map(move |one| {
        let share = f64::from(one.weight) / sum;
        (one.name.as_str(), share, Some(&one.typed_per_filter_config))
    });
    only.into_iter().map(|name| (name.as_str(), 1.0, None)).chain(weighted)
}
