//! Which channels of clients other than the reference client cannot be followed, and in which
//! worlds no channel can.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::client::config::{ChannelFailure, ClusterState, XdsConfig};
use crate::client::{Client, Rejected};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::resource::{LbConfig, ResourceType};

/// Says why the channel cannot be followed: it depends on a resource of which it is not known what
/// the client keeps or does.
pub(super) fn why_not(client: &Client, config: &Result<Arc<XdsConfig>, ChannelFailure>) -> Option<String> {
    let nests = !client.profile.is_core() && !client.profile.has(Feature::PathNamesConsumed);
    if let (true, Ok(config)) = (nests, config) {
        let mut leaves = config.leaves();
        if let Some((name, _)) = leaves.find(|(_, leaf)| nests_wrr_locality(&leaf.cluster.lb_policy.config, false)) {
            return Some(nested(name, &client.profile.name()));
        }
    }
    if let Ok(config) = config
        && let Some(why) = host_name(config, &client.profile.name())
    {
        return Some(why);
    }
    let mut unknown = client.resources.rejected();
    unknown.retain(|rejected| rejected.is_unknown);
    if unknown.is_empty() {
        return None;
    }
    let (clusters, endpoints) = match config {
        Ok(config) => used(config),
        Err(_) => Default::default(),
    };
    let is_used = |rejected: &&Rejected<'_>| match rejected.resource_type {
        ResourceType::Listener | ResourceType::RouteConfiguration => config.is_err(),
        ResourceType::Cluster => clusters.contains(rejected.name),
        ResourceType::Endpoints => endpoints.contains(rejected.name),
    };
    unknown.iter().find(is_used).map(words)
}

fn words(unknown: &Rejected<'_>) -> String {
    let why = unknown.why.strip_prefix("rejected, ").unwrap_or(unknown.why);
    format!("{} `{}`: {why}", unknown.resource_type.short_name(), unknown.name)
}

/// Says why no channel of the client can be followed: it holds a resource of which it is not known
/// what the client keeps or does.
pub fn why_none(client: &Client) -> Option<String> {
    let rejected = client.resources.rejected();
    if let Some(first) = rejected.iter().find(|rejected| rejected.is_unknown) {
        return Some(words(first));
    }
    let profile = &client.profile;
    if profile.is_core() {
        return None;
    }
    let actual = profile.name();
    for (name, held) in client.resources.clusters.iter() {
        let Some(cluster) = held.value() else { continue };
        if !profile.has(Feature::PathNamesConsumed) && nests_wrr_locality(&cluster.lb_policy.config, false) {
            return Some(nested(name, &actual));
        }
    }
    None
}

/// Names an endpoint of the channel whose address depends on DNS.
fn host_name(config: &XdsConfig, actual: &str) -> Option<String> {
    config.leaves().find_map(|(cluster, leaf)| {
        let host = leaf.endpoints.as_ref()?.host_name.as_ref()?;
        Some(format!(
            "Cluster `{cluster}`: an endpoint has the address `{host}`, which {actual} looks up in DNS as it connects"
        ))
    })
}

fn nested(cluster: &str, actual: &str) -> String {
    format!("Cluster `{cluster}`: {actual} takes wrr_locality inside of itself, and what becomes of it is not known")
}

/// The names of the clusters and of the EDS resources of a channel, whether or not these exist.
fn used(config: &XdsConfig) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let (mut clusters, mut endpoints) = (BTreeSet::new(), BTreeSet::new());
    for (name, state) in &config.clusters {
        clusters.insert(name.as_str());
        let discovery = match state {
            ClusterState::Aggregate(aggregate) => Some(&aggregate.cluster.discovery),
            ClusterState::Leaf(leaf) => Some(&leaf.cluster.discovery),
            ClusterState::Error(_) => None,
        };
        match discovery {
            Some(Discovery::Aggregate { children }) => clusters.extend(children.iter().map(String::as_str)),
            Some(Discovery::Eds {
                service_name: Some(service),
            }) => _ = endpoints.insert(service.as_str()),
            Some(Discovery::Eds { service_name: None } | Discovery::LogicalDns { .. }) | None => {
                endpoints.insert(name.as_str());
            }
        }
    }
    (clusters, endpoints)
}

/// Says whether a config has a wrr_locality policy inside another one, which other clients cannot
/// run. `is_inside` says that the config itself is inside of one.
fn nests_wrr_locality(config: &LbConfig, is_inside: bool) -> bool {
    let is_one = matches!(config, LbConfig::WrrLocality(_));
    let below = || config.children().into_iter();
    (is_one && is_inside) || below().any(|child| nests_wrr_locality(child, is_inside || is_one))
}
