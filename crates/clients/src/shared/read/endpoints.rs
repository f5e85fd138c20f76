//! ClusterLoadAssignment, as a client keeps it.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::{FamilyReader, opened};
use crate::shared::names::{ADDRESS, LB_METADATA, PROXY_METADATA};
use crate::shared::opened::{KeptEndpoints, Opened, OpenedEndpoints};
use crate::shared::{addresses, fields};
use xdsctl_document::proto;
use xdsctl_document::proto::any::struct_to_json;
use xdsctl_document::proto::pb::envoy::config::core::v3::{Address, Metadata};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::cluster_load_assignment::Policy;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{
    ClusterLoadAssignment as Pb, LbEndpoint, LocalityLbEndpoints,
};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::{DropCategory, DropConfig, Endpoint, Endpoints, Locality, LocalityName};
use xdsctl_model::resource::pieces::{Builder, Pieces};

/// All RPCs, in parts per million.
const ALL_PER_MILLION: u32 = 1_000_000;

impl FamilyReader<'_> {
    /// Reads the endpoints of a cluster. Localities without a weight are left out.
    pub(super) fn endpoints(&self, message: &Pb, opened: &Opened) -> Endpoints {
        let opened_endpoints = opened.endpoints(message);
        let ways = self.endpoint_ways(message, opened_endpoints);
        let kept = opened.kept(ways, message, opened_endpoints);
        let zero_counts = self.has(Feature::ZeroWeightsCount);
        let is_signed = self.has(Feature::WeightsSigned);
        let mut priorities: BTreeMap<u32, BTreeMap<LocalityName, Locality>> = BTreeMap::new();
        for (index, (locality, list)) in message.endpoints.iter().zip(&opened_endpoints.lists).enumerate() {
            let weight = locality.load_balancing_weight;
            let is_below = |weight: u32| is_signed && weight.cast_signed() < 0;
            let Some(weight) = weight.filter(|weight| (*weight > 0 || zero_counts) && !is_below(*weight)) else {
                continue;
            };
            let name = fields::locality_name(locality);
            let kept = Locality {
                index,
                name: name.clone(),
                weight,
                left_out_weight: self.left_out_weight(ways, list),
                endpoints: kept.get(index).cloned().unwrap_or_default(),
            };
            if zero_counts && kept.endpoints.is_empty() {
                continue;
            }
            priorities.entry(locality.priority).or_default().insert(name, kept);
        }
        let in_order = |localities: BTreeMap<LocalityName, Locality>| {
            let mut localities: Vec<Locality> = localities.into_values().collect();
            // Only C-core orders localities by their names.
            localities.sort_by_key(|locality| locality.index);
            localities
        };
        Endpoints {
            priorities: priorities.into_values().map(in_order).collect(),
            drops: drops(message.policy.as_ref()),
            host_name: addresses::host_name(opened_endpoints, |health| ways.health(health).is_some()),
        }
    }

    /// Returns how this client reads the endpoints. Does not ask for features that make no
    /// difference to any of them.
    fn endpoint_ways(&self, message: &Pb, opened: &OpenedEndpoints) -> EndpointWays {
        let has_metadata = opened.has_metadata || message.endpoints.iter().any(|locality| locality.metadata.is_some());
        EndpointWays {
            keeps_draining: opened.has_draining && self.has(Feature::OverrideHost),
            reads_more_addresses: opened.has_more_addresses && self.has(Feature::DualstackEndpoints),
            reads_proxy: has_metadata && self.has(Feature::HttpConnect),
            reads_hash_key: opened.has_metadata
                && !self.has(Feature::EndpointHashKeyBackwardCompat)
                && !self.has(Feature::HashKeyUnread),
        }
    }

    /// Returns the sum of the weights of the endpoints that are left out; 0 for clients to which it
    /// does not matter.
    fn left_out_weight(&self, ways: EndpointWays, list: &[LbEndpoint]) -> u64 {
        if !self.has(Feature::SharesOfAll) {
            return 0;
        }
        let left_out = list
            .iter()
            .filter(|endpoint| ways.health(endpoint.health_status).is_none());
        left_out
            .map(|endpoint| u64::from(endpoint.load_balancing_weight.unwrap_or(1)))
            .sum()
    }
}

/// How a client reads endpoints, as far as clients differ. Clients with equal ways keep the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EndpointWays {
    keeps_draining: bool,
    reads_more_addresses: bool,
    reads_proxy: bool,
    reads_hash_key: bool,
}

fn of_locality(ways: EndpointWays, message: &LocalityLbEndpoints, list: &[LbEndpoint]) -> Pieces<Endpoint> {
    let metadata = message.metadata.as_ref().filter(|_| ways.reads_proxy);
    let proxy = metadata.and_then(|metadata| proxy(&proto::kept(metadata)));
    let mut endpoints = Builder::default();
    for (index, message) in list.iter().enumerate() {
        if let Some(mut endpoint) = ways.endpoint(message, index) {
            endpoint.proxy = endpoint.proxy.or_else(|| proxy.clone());
            endpoints.push(endpoint);
        }
    }
    endpoints.done()
}

impl EndpointWays {
    /// Returns what is kept of the endpoints of each locality.
    pub(crate) fn kept(self, message: &Pb, opened: &OpenedEndpoints) -> KeptEndpoints {
        let localities = message.endpoints.iter().zip(&opened.lists);
        localities.map(|(one, list)| of_locality(self, one, list)).collect()
    }

    /// Returns the health of an endpoint; `None` if the endpoint gets no RPCs.
    fn health(self, number: i32) -> Option<HealthStatus> {
        fields::health_status(number).filter(|health| *health != HealthStatus::Draining || self.keeps_draining)
    }

    /// Reads an endpoint; `None` if it gets no RPCs, because of its health or because nothing can
    /// connect to its address.
    fn endpoint(self, message: &LbEndpoint, index: usize) -> Option<Endpoint> {
        let health = self.health(message.health_status)?;
        let metadata = |is_read, name| {
            let bytes = message.metadata.as_ref();
            let bytes = bytes.filter(|bytes| is_read && fields::has_metadata(bytes, &[name]));
            bytes.map(proto::kept::<Metadata>)
        };
        let endpoint = fields::endpoint(message)?;
        let more = endpoint.additional_addresses.iter();
        let more = more.filter(|_| self.reads_more_addresses);
        let addresses = std::iter::once(&endpoint.address).chain(more.map(|more| &more.address));
        let mut addresses = addresses.filter_map(|address| socket_address(address.as_ref()?));
        Some(Endpoint {
            index,
            address: addresses.next()?,
            additional_addresses: addresses.collect(),
            weight: message.load_balancing_weight.unwrap_or(1),
            weight_is_default: message.load_balancing_weight.is_none(),
            health,
            hostname: endpoint.hostname.clone(),
            proxy: metadata(self.reads_proxy, PROXY_METADATA).and_then(|metadata| proxy(&metadata)),
            hash_key: metadata(self.reads_hash_key, LB_METADATA).and_then(|metadata| hash_key(&metadata)),
        })
    }
}

/// Returns the proxy in metadata (A86).
fn proxy(metadata: &Metadata) -> Option<String> {
    let any = metadata.typed_filter_metadata.get(PROXY_METADATA)?;
    Some(socket_address(&opened(any, ADDRESS)?)?.to_string())
}

/// Returns the ring hash key in metadata (A76); an empty one counts as none.
fn hash_key(metadata: &Metadata) -> Option<String> {
    let json = struct_to_json(Some(metadata.filter_metadata.get(LB_METADATA)?))?;
    let key = json.get("hash_key")?.as_str()?;
    (!key.is_empty()).then(|| key.to_owned())
}

/// Returns an address as an IP address and a port; `None` if nothing can connect to it.
pub(super) fn socket_address(address: &Address) -> Option<SocketAddr> {
    let socket = fields::socket(Some(address))?;
    let port = u16::try_from(fields::port(socket).unwrap_or(0)).ok()?;
    addresses::ip_address(&socket.address, port)
}

/// Reads the shares of RPCs to drop; more than all counts as all.
fn drops(policy: Option<&Policy>) -> Option<DropConfig> {
    let list = policy.map(|policy| policy.drop_overloads.as_slice());
    let list = list.filter(|list| !list.is_empty())?;
    let categories: Vec<DropCategory> = list
        .iter()
        .map(|drop| {
            let percentage = drop.drop_percentage.as_ref();
            let denominator = percentage.map_or(0, |percentage| percentage.denominator);
            let factor = fields::per_million(denominator).unwrap_or(10_000);
            let numerator = percentage.map_or(0, |percentage| percentage.numerator);
            DropCategory {
                category: drop.category.clone(),
                per_million: numerator.saturating_mul(factor).min(ALL_PER_MILLION),
            }
        })
        .collect();
    Some(DropConfig {
        drop_all: categories.iter().any(|drop| drop.per_million == ALL_PER_MILLION),
        categories,
    })
}
