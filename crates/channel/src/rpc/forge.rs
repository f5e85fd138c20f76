//! Session cookies as the client would have set them, for RPCs that begin with one.

use std::net::SocketAddr;

use super::{CLUSTER_PREFIX, Request, Selector, words};
use crate::client::config::Leaf;
use xdsctl_model::cookie;
use xdsctl_model::resource::endpoints::Endpoint;

/// The cookie of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forged<'s> {
    /// The cookie, as `NAME=VALUE`.
    pub cookie: String,
    /// The clusters to which the route may lead; empty if lookups (RLS) choose the cluster.
    pub clusters: Vec<&'s str>,
    /// Whether one of the clusters has an endpoint with the address.
    pub is_known: bool,
}

/// Why an RPC has no session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoSession {
    /// No route takes the RPC, or it fails at once.
    NoRoute,
    /// No session filter is active for the RPC's method. The text says why a session filter does
    /// nothing, if there is one.
    NoFilter(Option<String>),
}

/// Makes the cookie of a session with the endpoint of an address, as an answer to an RPC like this
/// one would have set it.
///
/// If several leaves of an aggregate have the address, the one counts that the client tries first.
/// An address that no endpoint has stands for an endpoint that is gone. Random numbers are drawn
/// from `seed`, and shift no other draw.
///
/// # Errors
/// Why there is no cookie.
pub fn session_cookie<'s>(
    selector: &'s Selector,
    request: &Request<'_>,
    seed: u64,
    address: &SocketAddr,
) -> Result<Forged<'s>, NoSession> {
    let selection = selector.select_first(request, seed, None);
    let selection = selection.map_err(|_| NoSession::NoRoute)?;
    let Some(session) = selection.sessions.last() else {
        let idle = words::idle_sessions(selection.chain, request.path).last();
        return Err(NoSession::NoFilter(idle));
    };
    let name = &session.cookie.name;
    let config = selector.config();
    let keys = selector.choices(selection.route);
    let clusters: Vec<&str> = keys.filter_map(|(key, _)| key.strip_prefix(CLUSTER_PREFIX)).collect();
    let found = match clusters.is_empty() {
        true => config
            .leaves()
            .find_map(|(_, leaf)| Some((of_leaf(leaf, address)?, ""))),
        false => clusters.iter().find_map(|cluster| {
            let mut leaves = config.leaves_of(cluster).into_iter();
            leaves.find_map(|(_, leaf)| Some((of_leaf(leaf, address)?, *cluster)))
        }),
    };
    let is_known = found.is_some();
    let (list, cluster) = found.unwrap_or_else(|| (address.to_string(), clusters.first().copied().unwrap_or_default()));
    Ok(Forged {
        cookie: format!("{name}={}", cookie::encode(&list, cluster)),
        clusters,
        is_known,
    })
}

/// The addresses of an endpoint as a cookie lists them: the one in use first.
pub fn address_list(address: &SocketAddr, endpoint: &Endpoint) -> String {
    let others = endpoint.addresses().filter(|one| one != address);
    let list: Vec<String> = std::iter::once(*address)
        .chain(others)
        .map(|one| one.to_string())
        .collect();
    list.join(",")
}

/// The address list of the endpoint of a leaf cluster with this address.
fn of_leaf(leaf: &Leaf, address: &SocketAddr) -> Option<String> {
    let localities = leaf.endpoints.as_ref()?.priorities.iter().flatten();
    let mut endpoints = localities.flat_map(|locality| &locality.endpoints);
    let endpoint = endpoints.find(|endpoint| endpoint.addresses().any(|one| one == *address))?;
    Some(address_list(address, endpoint))
}
