//! Channels of grpc-js-xds: they take a configuration only as a whole, and some configurations kill
//! the process.
//!
//! Its dependency manager hands nothing on while a cluster of the routes has neither endpoints nor
//! an error, and RPCs wait (`isClusterTreeFullyUpdated`). A route without `route` in the channel's
//! virtual host throws an exception that nobody catches (`handleRouteConfig`).

use super::Client;
use super::config::{ChannelFailure, ChannelFailureClass, ClusterState, XdsConfig};
use super::dns::never_resolves;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::route::Action;
use xdsctl_model::status::Status;

/// The message of RPCs in a process that is dead.
const DEAD: &str = "the process dies of the configuration";

/// Fails the channel of a client whose process dies of its routes.
///
/// # Errors
/// Why every RPC fails.
pub(super) fn fail_if_it_dies(
    resolved: Result<XdsConfig, ChannelFailure>,
    client: &Client,
) -> Result<XdsConfig, ChannelFailure> {
    let config = resolved?;
    if !client.profile.has(Feature::WaitsForConfiguration) {
        return Ok(config);
    }
    let mut routes = config.routes().iter();
    match routes.find(|route| !matches!(route.action, Action::Route(_))) {
        None => Ok(config),
        Some(route) => {
            let note = format!("routes[{}] has no `route`", route.index);
            Err(ChannelFailure {
                at_once: Some(Status::unavailable(DEAD)),
                ..ChannelFailure::new(ChannelFailureClass::Panic, note)
            })
        }
    }
}

/// Returns what a configuration still lacks before the client takes it; `None` if nothing. With
/// `asks_dns`, a name counts as answered if it is not known what DNS says.
pub(crate) fn held_up(config: &XdsConfig, client: &Client, asks_dns: bool) -> Option<ChannelFailure> {
    let awaits_endpoints = client.profile.has(Feature::EndpointsAwaited);
    let awaits_dns = client.profile.has(Feature::AwaitsAll);
    let lacking = config.clusters.iter().find_map(|(name, state)| match state {
        ClusterState::Leaf(leaf) if awaits_dns && never_resolves(&leaf.cluster.discovery, &client.profile) => {
            Some((name, leaf))
        }
        ClusterState::Leaf(_) if !awaits_endpoints => None,
        ClusterState::Leaf(leaf) if asks_dns && leaf.unanswered().is_some() => None,
        ClusterState::Leaf(leaf) if leaf.endpoints.is_none() || leaf.is_unresolved => Some((name, leaf)),
        ClusterState::Leaf(_) | ClusterState::Aggregate(_) | ClusterState::Error(_) => None,
    });
    let (name, leaf) = lacking?;
    let note = format!("cluster {name} has no endpoints, {}", leaf.note);
    Some(ChannelFailure {
        missing: config.missing.clone(),
        keeps_routes: true,
        waits: true,
        ..ChannelFailure::new(ChannelFailureClass::NoEndpoints, note)
    })
}
