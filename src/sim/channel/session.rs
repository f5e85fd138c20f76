//! Session cookies as the client would have set them, for RPCs that are to begin with one.

use std::net::SocketAddr;

use crate::client::config::{ClusterState, XdsConfig};
use crate::cookie;
use crate::rpc::{CLUSTER_PREFIX, ChannelFacts, Draws, Request, Selector};
use crate::sim::Rpc;

/// The cookie of a session with the endpoint of an address.
pub(super) fn cookie(selector: &Selector, rpc: &Rpc, address: &SocketAddr) -> Option<String> {
    let request = Request {
        path: &rpc.method,
        headers: &rpc.headers,
        timeout: None,
    };
    // Which route takes the RPC is asked with draws of its own, that no other is shifted.
    let mut draws = Draws::new(0);
    let channel = ChannelFacts {
        id: draws.channel_id(),
        active_faults: 0,
    };
    let selection = selector.select(
        &request,
        channel,
        &mut |purpose, bound| draws.draw(purpose, bound),
        None,
    );
    let selection = selection.ok()?;
    let name = &selection.sessions.last()?.cookie.name;
    let clusters = || {
        let keys = selector.choices(selection.route);
        keys.filter_map(|(key, _)| key.strip_prefix(CLUSTER_PREFIX))
    };
    let config = selector.config();
    let found = clusters().find_map(|cluster| Some((addresses(cluster, address, config)?, cluster)));
    let (list, cluster) = match found {
        Some(found) => found,
        None => (address.to_string(), clusters().next()?),
    };
    Some(format!("{name}={}", cookie::encode(&list, cluster)))
}

/// The addresses of the endpoint of a cluster that has this one, which comes first.
fn addresses(cluster: &str, address: &SocketAddr, config: &XdsConfig) -> Option<String> {
    let leaves = match config.clusters.get(cluster)? {
        ClusterState::Leaf(_) => vec![cluster],
        ClusterState::Aggregate(aggregate) => aggregate.leaves.iter().map(String::as_str).collect(),
        ClusterState::Error(_) => return None,
    };
    let endpoints = leaves
        .into_iter()
        .filter_map(|leaf| config.leaf(leaf)?.endpoints.as_deref());
    let mut all = endpoints
        .flat_map(|endpoints| endpoints.priorities.iter().flatten())
        .flat_map(|locality| &locality.endpoints);
    let endpoint = all.find(|endpoint| endpoint.addresses().any(|one| one == *address))?;
    let others = endpoint.addresses().filter(|one| one != address);
    let list: Vec<String> = std::iter::once(*address)
        .chain(others)
        .map(|one| one.to_string())
        .collect();
    Some(list.join(","))
}
