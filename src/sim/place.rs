//! Where in the configuration the endpoint of an attempt stands, found without a search for each RPC.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;

use super::outcome::Place;
use crate::client::config::XdsConfig;
use crate::lb::picker::Complete;
use crate::model::Endpoints;

/// The localities of the endpoints of the clusters that were asked about.
#[derive(Debug, Default)]
pub(super) struct Places {
    clusters: BTreeMap<Arc<str>, OfCluster>,
}

#[derive(Debug)]
struct OfCluster {
    endpoints: Arc<Endpoints>,
    // Only looked up in, so that its order is never seen.
    localities: HashMap<SocketAddr, Arc<str>>,
}

impl OfCluster {
    fn of(endpoints: &Arc<Endpoints>) -> OfCluster {
        let mut localities = HashMap::new();
        for locality in endpoints.priorities.iter().flatten() {
            let name: Arc<str> = locality.name.short().into();
            for endpoint in &locality.endpoints {
                for address in endpoint.addresses() {
                    // Of an address that is there twice, the first place counts.
                    localities.entry(address).or_insert_with(|| name.clone());
                }
            }
        }
        OfCluster {
            endpoints: endpoints.clone(),
            localities,
        }
    }
}

impl Places {
    /// The place of the endpoint of an attempt; `None` for one that went around the clusters.
    pub fn find(&mut self, complete: &Complete, config: Option<&XdsConfig>) -> Option<Place> {
        let cluster = complete.cluster.as_ref()?;
        let endpoints = config.and_then(|config| config.leaf(cluster)?.endpoints.as_ref());
        let locality = endpoints.and_then(|endpoints| {
            let known = self.clusters.get(cluster);
            if known.is_none_or(|known| !Arc::ptr_eq(&known.endpoints, endpoints)) {
                self.clusters.insert(cluster.clone(), OfCluster::of(endpoints));
            }
            self.clusters.get(cluster)?.localities.get(&complete.socket).cloned()
        });
        Some(Place {
            cluster: cluster.clone(),
            locality: locality.unwrap_or_else(|| "".into()),
        })
    }
}
