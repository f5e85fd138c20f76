//! Finds where in the configuration the endpoint of an attempt stands, without a search for each
//! RPC.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;

use super::outcome::EndpointPlace;
use crate::client::config::XdsConfig;
use xdsctl_lb::picker::Complete;
use xdsctl_model::resource::Endpoints;
use xdsctl_model::resource::endpoints::{Endpoint, Locality};

/// The localities of endpoints, for each cluster that was asked about.
#[derive(Debug, Default)]
pub(super) struct LocalityPlaces {
    clusters: BTreeMap<Arc<str>, OfCluster>,
}

#[derive(Debug)]
struct OfCluster {
    endpoints: Arc<Endpoints>,
    // Looked up, never iterated.
    localities: HashMap<SocketAddr, Arc<str>>,
    /// Whether an address occurs twice.
    has_twice: bool,
}

impl OfCluster {
    fn of(endpoints: &Arc<Endpoints>) -> OfCluster {
        let mut localities = HashMap::new();
        let mut has_twice = false;
        for locality in all(endpoints) {
            let name: Arc<str> = locality.name.short().into();
            for address in locality.endpoints.iter().flat_map(Endpoint::addresses) {
                // If an address occurs twice, its first place counts.
                has_twice |= localities.contains_key(&address);
                localities.entry(address).or_insert_with(|| name.clone());
            }
        }
        OfCluster {
            endpoints: endpoints.clone(),
            localities,
            has_twice,
        }
    }

    /// Applies an update that leaves the localities as they are. Returns `false` if the update does
    /// not.
    fn update(&mut self, endpoints: &Arc<Endpoints>) -> bool {
        let names = |endpoints: &Endpoints| all(endpoints).map(|locality| locality.name.clone()).collect::<Vec<_>>();
        if self.has_twice || names(&self.endpoints) != names(endpoints) {
            return false;
        }
        let before = std::mem::replace(&mut self.endpoints, endpoints.clone());
        let has_same = |one: &Endpoint, other: &Endpoint| one.addresses().eq(other.addresses());
        let mut added = Vec::new();
        for (old, new) in all(&before).zip(all(endpoints)) {
            let difference = old.endpoints.difference(&new.endpoints, has_same);
            for address in difference.old.into_iter().flat_map(Endpoint::addresses) {
                self.localities.remove(&address);
            }
            let addresses = difference.new.into_iter().flat_map(Endpoint::addresses);
            added.extend(addresses.map(|address| (address, new)));
        }
        for (address, locality) in added {
            self.has_twice |= self.localities.insert(address, locality.name.short().into()).is_some();
        }
        !self.has_twice
    }
}

fn all(endpoints: &Endpoints) -> impl Iterator<Item = &Locality> {
    endpoints.priorities.iter().flatten()
}

impl LocalityPlaces {
    /// The place of the endpoint of an attempt; `None` if the attempt did not go through a cluster.
    pub fn find(&mut self, complete: &Complete, config: Option<&XdsConfig>) -> Option<EndpointPlace> {
        let cluster = complete.cluster.as_ref()?;
        let endpoints = config.and_then(|config| config.leaf(cluster)?.endpoints.as_ref());
        let locality = endpoints.and_then(|endpoints| {
            let is_new = |known: &mut OfCluster| !Arc::ptr_eq(&known.endpoints, endpoints) && !known.update(endpoints);
            if self.clusters.get_mut(cluster).is_none_or(is_new) {
                self.clusters.insert(cluster.clone(), OfCluster::of(endpoints));
            }
            self.clusters.get(cluster)?.localities.get(&complete.socket).cloned()
        });
        Some(EndpointPlace {
            cluster: cluster.clone(),
            locality: locality.unwrap_or_else(|| "".into()),
        })
    }
}
