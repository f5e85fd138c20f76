//! Short forms of EDS updates: `drain`, `health`, `weight`, `scale`, and `remove` of an address.

use std::net::SocketAddr;

use super::value::{Located, address, address_key, object, one_or_more, wrong};
use crate::client::EndpointChange;
use xdsctl_document::source::node::JsonNode;

/// The most endpoints that `scale` gives a locality.
pub const MAX_SCALE: u32 = 100_000;

/// How many endpoints a cluster or a locality is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// The cluster, or one of its localities (`REGION/ZONE/SUB_ZONE`).
    pub name: String,
    /// The number of endpoints.
    pub count: u32,
}

/// The health of endpoints that take no new sessions.
const DRAINING: &str = "DRAINING";

/// Reads `drain: ADDRESS`.
pub(super) fn drain(node: &JsonNode) -> Result<Vec<EndpointChange>, Located> {
    let drained = |node: &JsonNode| {
        let change = EndpointChange::health(address("drain", node)?, DRAINING);
        change.ok_or_else(|| wrong("drain", node, "an address like 10.0.0.1:80"))
    };
    one_or_more(node, drained)
}

/// Reads `remove: ADDRESS`; `None` if the value is neither an address nor a list of addresses.
pub(super) fn removals(node: &JsonNode) -> Option<Vec<EndpointChange>> {
    let one = |node: &JsonNode| {
        node.text()
            .and_then(|text| text.parse().ok())
            .map(EndpointChange::removal)
    };
    match node.list() {
        Some(list) if !list.is_empty() => list.iter().map(one).collect(),
        Some(_) => None,
        None => one(node).map(|change| vec![change]),
    }
}

/// Reads `health: {ADDRESS: HEALTH}`.
pub(super) fn health(node: &JsonNode) -> Result<Vec<EndpointChange>, Located> {
    by_address("health", node, |address, value| {
        let change = value
            .text()
            .and_then(|health| EndpointChange::health(address, &health.to_ascii_uppercase()));
        change.ok_or_else(|| wrong("health", value, "a HealthStatus like HEALTHY, UNHEALTHY or DRAINING"))
    })
}

/// Reads `weight: {ADDRESS: WEIGHT}`.
pub(super) fn weight(node: &JsonNode) -> Result<Vec<EndpointChange>, Located> {
    by_address("weight", node, |address, value| {
        let weight = value.whole().and_then(|weight| u32::try_from(weight).ok());
        let weight = weight.ok_or_else(|| wrong("weight", value, "a whole number from 0 to 4294967295"))?;
        Ok(EndpointChange::weight(address, weight))
    })
}

fn by_address(
    member: &'static str,
    node: &JsonNode,
    read: impl Fn(SocketAddr, &JsonNode) -> Result<EndpointChange, Located>,
) -> Result<Vec<EndpointChange>, Located> {
    let map = object(member, node, "an object by address")?;
    map.iter()
        .map(|one| read(address_key(member, one)?, &one.node))
        .collect()
}

/// Reads `scale: {CLUSTER: COUNT}`.
pub(super) fn scale(node: &JsonNode) -> Result<Vec<Scale>, Located> {
    let map = object("scale", node, "an object of numbers by cluster")?;
    let one = |member: &xdsctl_document::source::node::JsonMember| {
        let count = member.node.whole().and_then(|count| u32::try_from(count).ok());
        let count = count.filter(|count| *count <= MAX_SCALE);
        Ok(Scale {
            name: member.name.clone(),
            count: count.ok_or_else(|| wrong("scale", &member.node, "a number of endpoints up to 100,000"))?,
        })
    };
    map.iter().map(one).collect()
}
