//! Which channels of other clients than the reference cannot be followed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use xdsctl::client::config::{ChannelFailure, ClusterState, XdsConfig};
use xdsctl::client::{Client, NOT_FOLLOWED, Rejected};
use xdsctl::model::ResourceType;
use xdsctl::model::cluster::Discovery;

/// Names a resource that the channel hangs on, and of which it is not known what the client keeps.
pub(super) fn why_not(client: &Client, config: &Result<Arc<XdsConfig>, ChannelFailure>) -> Option<String> {
    if let (Some(actual), Ok(config)) = (client.profile.stands_for(), config) {
        let mut leaves = config
            .clusters
            .keys()
            .filter_map(|name| Some((name, config.leaf(name)?)));
        if let Some((name, _)) = leaves.find(|(_, leaf)| nests_wrr_locality(&leaf.cluster.lb_policy, 0)) {
            let actual = actual.name();
            return Some(format!(
                "Cluster `{name}`: {actual} takes wrr_locality inside of itself, and what becomes of it is not known"
            ));
        }
    }
    let mut unknown = client.resources.rejected();
    unknown.retain(|rejected| rejected.why.contains(NOT_FOLLOWED));
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
    let first = unknown.iter().find(is_used)?;
    let why = first.why.strip_prefix("rejected, ").unwrap_or(first.why);
    Some(format!("{} `{}`: {why}", first.resource_type.short_name(), first.name))
}

/// The names of the clusters and of the EDS resources of a channel, whether or not they are there.
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

/// Says whether a config has a policy that other clients cannot run inside of itself; `outer` are around it.
fn nests_wrr_locality(config: &Value, outer: usize) -> bool {
    match config {
        Value::Array(list) => list.iter().any(|inner| nests_wrr_locality(inner, outer)),
        Value::Object(fields) => fields.iter().any(|(name, inner)| {
            let here = usize::from(name == "xds_wrr_locality_experimental");
            (here > 0 && outer > 0) || nests_wrr_locality(inner, outer + here)
        }),
        _ => false,
    }
}
