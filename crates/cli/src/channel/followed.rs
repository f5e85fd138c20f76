//! Which channels of other clients than the reference cannot be followed.

use std::sync::Arc;

use serde_json::Value;
use xdsctl::client::config::{ChannelFailure, ClusterState, XdsConfig};
use xdsctl::client::{Client, NOT_FOLLOWED, Rejected};
use xdsctl::model::ResourceType;
use xdsctl::model::cluster::Discovery;

/// Names a resource that the channel hangs on, and of which it is not known what the client keeps.
pub(super) fn why_not(client: &Client, config: &Result<Arc<XdsConfig>, ChannelFailure>) -> Option<String> {
    let is_used = |kind: ResourceType, name: &str| match (kind, config) {
        (ResourceType::Listener | ResourceType::RouteConfiguration, config) => config.is_err(),
        (_, Err(_)) => false,
        (ResourceType::Cluster, Ok(config)) => {
            let children = config.clusters.values().filter_map(|state| match state {
                ClusterState::Aggregate(aggregate) => Some(&aggregate.cluster.discovery),
                ClusterState::Leaf(_) | ClusterState::Error(_) => None,
            });
            let named = |discovery: &Discovery| matches!(discovery, Discovery::Aggregate { children } if children.iter().any(|child| child == name));
            config.clusters.contains_key(name) || children.into_iter().any(named)
        }
        (ResourceType::Endpoints, Ok(config)) => config.clusters.keys().any(|cluster| {
            let service = config.leaf(cluster).and_then(|leaf| match &leaf.cluster.discovery {
                Discovery::Eds { service_name } => service_name.as_deref(),
                Discovery::LogicalDns { .. } | Discovery::Aggregate { .. } => None,
            });
            service.unwrap_or(cluster) == name
        }),
    };
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
    let rejected = client.resources.rejected();
    let unknown = |r: &&Rejected<'_>| r.why.contains(NOT_FOLLOWED) && is_used(r.resource_type, r.name);
    let first = rejected.iter().find(unknown)?;
    let why = first.why.strip_prefix("rejected, ").unwrap_or(first.why);
    Some(format!("{} `{}`: {why}", first.resource_type.short_name(), first.name))
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
