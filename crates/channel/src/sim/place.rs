//! Finds where in the configuration the endpoint of an attempt stands, without a search for each
//! RPC.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;

use super::outcome::EndpointPlace;
use crate::client::config::XdsConfig;
use xdsctl_lb::picker::Complete;
use xdsctl_model::resource::Endpoints;
use xdsctl_model::resource::endpoints::Endpoint;

/// The localities of endpoints, for each cluster that was asked about, and the endpoints for which
/// they were found.
#[derive(Debug, Default)]
pub(super) struct LocalityPlaces {
    clusters: BTreeMap<Arc<str>, (Arc<Endpoints>, Localities)>,
}

/// The locality of each address. Looked up, never iterated.
type Localities = HashMap<SocketAddr, Arc<str>>;

fn localities(endpoints: &Endpoints) -> Localities {
    let mut localities = HashMap::new();
    for locality in endpoints.priorities.iter().flatten() {
        let name: Arc<str> = locality.name.short().into();
        for address in locality.endpoints.iter().flat_map(Endpoint::addresses) {
            // If an address occurs twice, its first place counts.
            localities.entry(address).or_insert_with(|| name.clone());
        }
    }
    localities
}

impl LocalityPlaces {
    /// The place of the endpoint of an attempt; `None` if the attempt did not go through a cluster.
    pub fn find(&mut self, complete: &Complete, config: Option<&XdsConfig>) -> Option<EndpointPlace> {
        let cluster = complete.cluster.as_ref()?;
        let endpoints = config.and_then(|config| config.leaf(cluster)?.endpoints.as_ref());
        let locality = endpoints.and_then(|endpoints| {
            let known = self.clusters.get(cluster);
            if known.is_none_or(|(of, _)| !Arc::ptr_eq(of, endpoints)) {
                let found = (endpoints.clone(), localities(endpoints));
                self.clusters.insert(cluster.clone(), found);
            }
            self.clusters.get(cluster)?.1.get(&complete.socket).cloned()
        });
        Some(EndpointPlace {
            cluster: cluster.clone(),
            locality: locality.unwrap_or_else(|| "".into()),
        })
    }
}
