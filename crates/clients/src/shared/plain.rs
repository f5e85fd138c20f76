//! Plain endpoints: every client reads them in the same way, finds nothing wrong and keeps all of
//! them, so they are looked at once for all clients.
//!
//! An assignment is plain if each of its endpoints has an IPv4 address that no other endpoint has,
//! a port above 0, health UNKNOWN or HEALTHY, a weight above 0, and no metadata that some client
//! looks for. No locality has metadata, or weights that add up to more than 32 bits. The value that
//! is kept is the same as if the endpoints were read one by one.

use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use foldhash::{HashSet, HashSetExt};

use super::fields;
use super::names::LB_METADATA;
use super::opened::KeptEndpoints;
use xdsctl_document::proto;
use xdsctl_document::proto::any::struct_to_json;
use xdsctl_document::proto::pb::envoy::config::core::v3::Metadata;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::lb_endpoint::HostIdentifier;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{ClusterLoadAssignment, LbEndpoint};
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::Endpoint;
use xdsctl_model::resource::pieces::{Builder, Pieces};

/// Returns what every client keeps of the endpoints of each locality, if the assignment is plain.
pub(super) fn endpoints(message: &ClusterLoadAssignment) -> Option<KeptEndpoints> {
    let localities = message.endpoints.iter();
    let mut reader = PlainReader {
        addresses: HashSet::with_capacity(localities.clone().map(|locality| locality.lb_endpoints.len()).sum()),
        metadata: Bytes::new(),
    };
    let all = localities.map(|locality| match locality.metadata {
        Some(_) => None,
        None => reader.locality(&locality.lb_endpoints),
    });
    all.collect()
}

struct PlainReader {
    /// The addresses and ports seen so far. Looked up only, never iterated.
    addresses: HashSet<u64>,
    /// The last metadata that was plain; neighbours mostly have the same.
    metadata: Bytes,
}

impl PlainReader {
    fn locality(&mut self, list: &[Bytes]) -> Option<Pieces<Endpoint>> {
        let mut endpoints = Builder::default();
        let mut sum = 0u64;
        for (index, bytes) in list.iter().enumerate() {
            let endpoint = self.endpoint(proto::kept(bytes), index)?;
            sum += u64::from(endpoint.weight);
            endpoints.push(endpoint);
        }
        (sum <= u64::from(u32::MAX)).then(|| endpoints.done())
    }

    fn endpoint(&mut self, message: LbEndpoint, index: usize) -> Option<Endpoint> {
        let Some(HostIdentifier::Endpoint(endpoint)) = message.host_identifier else {
            return None;
        };
        let socket = fields::socket(endpoint.address.as_ref())?;
        let port = u16::try_from(fields::port(socket)?).ok().filter(|port| *port > 0)?;
        let ip: Ipv4Addr = socket.address.parse().ok()?;
        let health = fields::health_status(message.health_status)?;
        let weight = message.load_balancing_weight.unwrap_or(1);
        let is_new = self.addresses.insert(u64::from(ip.to_bits()) << 16 | u64::from(port));
        let is_plain = is_new
            && health != HealthStatus::Draining
            && weight > 0
            && endpoint.additional_addresses.is_empty()
            && message.metadata.is_none_or(|metadata| self.is_plain(metadata));
        is_plain.then(|| Endpoint {
            weight,
            weight_is_default: message.load_balancing_weight.is_none(),
            health,
            hostname: endpoint.hostname,
            ..Endpoint::of(index, SocketAddr::new(ip.into(), port))
        })
    }

    /// Says whether metadata has nothing that some client looks for: no typed entry, no settings of
    /// load balancing, and no value that is not JSON.
    fn is_plain(&mut self, bytes: Bytes) -> bool {
        if bytes == self.metadata {
            return true;
        }
        let metadata: Metadata = proto::kept(&bytes);
        let is_plain = metadata.typed_filter_metadata.is_empty()
            && !metadata.filter_metadata.contains_key(LB_METADATA)
            && metadata
                .filter_metadata
                .values()
                .all(|value| struct_to_json(Some(value)).is_some());
        if is_plain {
            self.metadata = bytes;
        }
        is_plain
    }
}
