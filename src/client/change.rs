//! What if: EDS updates that change the health of endpoints of a channel, or take them away.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use super::{Client, Start};
use crate::client::config::{ClusterState, XdsConfig};
use crate::validate::endpoints::change::EndpointChange;

impl Client {
    /// Takes EDS updates that change endpoints of a channel, of several changes of one address the last one. Returns the
    /// addresses that no EDS resource of the channel has; those of DNS are among them.
    ///
    /// An endpoint that the client drops for its health is known too, and can come back. An update that the client rejects
    /// leaves the resource before it in use, as [`Resources::rejected`](super::Resources::rejected) then says. Of a channel that has no
    /// configuration nothing is changed, and nothing is unknown.
    pub fn change_endpoints(&mut self, start: &Start, changes: &[EndpointChange]) -> Vec<SocketAddr> {
        let Ok(config) = self.resolve(start) else {
            return Vec::new();
        };
        let mut is_met = vec![false; changes.len()];
        for name in service_names(&config) {
            self.resources.change_endpoints(&name, changes, &mut |number| {
                if let Some(met) = is_met.get_mut(number) {
                    *met = true;
                }
            });
        }
        let unmet = changes.iter().zip(&is_met).filter(|(_, is_met)| !**is_met);
        unmet.map(|(change, _)| change.address).collect()
    }
}

/// The names of the EDS resources of a channel.
fn service_names(config: &XdsConfig) -> BTreeSet<String> {
    let leaves = config.clusters.iter().filter_map(|(name, state)| match state {
        ClusterState::Leaf(leaf) => Some((name, &leaf.cluster.discovery)),
        ClusterState::Aggregate(_) | ClusterState::Error(_) => None,
    });
    leaves
        .filter_map(|(name, discovery)| discovery.eds_name(name).map(str::to_owned))
        .collect()
}
