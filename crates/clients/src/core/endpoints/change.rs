//! A ClusterLoadAssignment as a control plane would send it next: some endpoints in another health,
//! or gone.
//!
//! The message is changed, not what the client keeps of it: so an endpoint that the client drops
//! can come back, and the converter decides what the client makes of the change.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;

use crate::core::convert::address::socket_address;
use crate::shared::fields;
use xdsctl_document::proto;
use xdsctl_document::proto::pb::envoy::config::core::v3 as core;
use xdsctl_document::proto::pb::envoy::config::core::v3::HealthStatus as PbHealth;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3 as pb;
use xdsctl_model::diag::{Path, Validation};

/// A change to the endpoints that have an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointChange {
    /// The primary or a further address of the endpoint. An address and its IPv4-mapped form are
    /// the same.
    pub address: SocketAddr,
    pub(super) what: EndpointEffect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndpointEffect {
    Health(PbHealth),
    Weight(u32),
    Gone,
}

impl EndpointEffect {
    /// Applies the change to an endpoint; does nothing if the endpoint is to be removed.
    pub(super) fn apply(self, endpoint: &mut pb::LbEndpoint) {
        match self {
            EndpointEffect::Weight(weight) => endpoint.load_balancing_weight = Some(weight),
            EndpointEffect::Health(health) => endpoint.health_status = health.into(),
            EndpointEffect::Gone => {}
        }
    }
}

impl EndpointChange {
    /// Gives the endpoint another health, by the name of the enum value (`DRAINING`); `None` if
    /// there is no such value.
    pub fn health(address: SocketAddr, name: &str) -> Option<EndpointChange> {
        let what = EndpointEffect::Health(PbHealth::from_str_name(name)?);
        Some(EndpointChange { address, what })
    }

    /// Gives the endpoint another weight. The client rejects a weight of 0.
    pub const fn weight(address: SocketAddr, weight: u32) -> EndpointChange {
        EndpointChange {
            address,
            what: EndpointEffect::Weight(weight),
        }
    }

    /// Removes the endpoint.
    pub const fn removal(address: SocketAddr) -> EndpointChange {
        EndpointChange {
            address,
            what: EndpointEffect::Gone,
        }
    }

    /// Returns the names of all health states.
    pub fn health_names() -> impl Iterator<Item = &'static str> {
        (0..).map_while(|number| PbHealth::try_from(number).ok().map(|health| health.as_str_name()))
    }

    /// Returns the health that the endpoint gets; `None` if the change is a weight or a removal.
    pub fn health_name(&self) -> Option<&'static str> {
        match self.what {
            EndpointEffect::Health(health) => Some(health.as_str_name()),
            EndpointEffect::Weight(_) | EndpointEffect::Gone => None,
        }
    }

    /// Says whether the client keeps an endpoint after this change, as far as the change decides
    /// it.
    pub fn is_kept(&self) -> bool {
        match self.what {
            EndpointEffect::Health(health) => fields::health_status(health.into()).is_some(),
            EndpointEffect::Weight(weight) => weight > 0,
            EndpointEffect::Gone => false,
        }
    }

    fn is_about(&self, other: SocketAddr) -> bool {
        self.address == other
            || self.address.port() == other.port() && self.address.ip().to_canonical() == other.ip().to_canonical()
    }
}

/// Applies the changes to a resource; of several for one address the last one counts. Calls `met`
/// with the index of each change that matches an endpoint, and returns `None` if none does.
///
/// `bytes` must have passed validation.
pub fn changed(
    bytes: &Bytes,
    changes: &[EndpointChange],
    cx: &mut Validation<'_>,
    met: &mut dyn FnMut(usize),
) -> Option<Bytes> {
    let mut message: pb::ClusterLoadAssignment = proto::kept(bytes);
    let mut is_changed = false;
    let mut of_endpoint = Vec::new();
    for locality in &mut message.endpoints {
        locality.lb_endpoints.retain_mut(|kept| {
            let mut endpoint: pb::LbEndpoint = proto::kept(kept);
            let mut last = None;
            of_endpoint.clear();
            of_endpoint.extend(addresses(&endpoint, cx));
            for (number, change) in changes.iter().enumerate() {
                if of_endpoint.iter().any(|address| change.is_about(*address)) {
                    met(number);
                    last = Some(change.what);
                }
            }
            is_changed |= last.is_some();
            match last {
                None => true,
                Some(EndpointEffect::Gone) => false,
                Some(what) => {
                    what.apply(&mut endpoint);
                    *kept = proto::keep(&endpoint);
                    true
                }
            }
        });
    }
    is_changed.then(|| proto::keep(&message))
}

/// Returns the names of the localities, `REGION/ZONE/SUB_ZONE` without slashes at the end.
pub fn localities(bytes: &Bytes) -> Vec<String> {
    let message: pb::ClusterLoadAssignment = proto::kept(bytes);
    let groups = message.endpoints.iter();
    groups.map(|group| fields::locality_name(group).short()).collect()
}

/// Returns the resource with `count` endpoints in the locality with index `locality`. The last
/// endpoints are removed, or copies of the last one are added, each at the next IP address and
/// without a health of its own.
///
/// # Errors
/// The reason why the locality cannot have that many endpoints.
pub fn scaled(bytes: &Bytes, locality: usize, count: u32, cx: &mut Validation<'_>) -> Result<Bytes, &'static str> {
    let mut message: pb::ClusterLoadAssignment = proto::kept(bytes);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let Some(group) = message.endpoints.get_mut(locality) else {
        return Err("has no such locality");
    };
    if count > group.lb_endpoints.len() {
        let all = group.lb_endpoints.iter().flat_map(|kept| {
            let endpoint: pb::LbEndpoint = proto::kept(kept);
            addresses(&endpoint, cx).collect::<Vec<_>>()
        });
        let mut last = all.max().ok_or("has no endpoint that could be copied")?;
        let model = group
            .lb_endpoints
            .last()
            .ok_or("has no endpoint that could be copied")?;
        let model: pb::LbEndpoint = proto::kept(model);
        for _ in group.lb_endpoints.len()..count {
            last = next(last).ok_or("has no further IP address")?;
            group.lb_endpoints.push(proto::keep(&at(&model, last)));
        }
    }
    group.lb_endpoints.truncate(count);
    Ok(proto::keep(&message))
}

/// Returns the next IP address with the same port.
fn next(address: SocketAddr) -> Option<SocketAddr> {
    let ip = match address.ip() {
        IpAddr::V4(ip) => IpAddr::V4(ip.to_bits().checked_add(1)?.into()),
        IpAddr::V6(ip) => IpAddr::V6(ip.to_bits().checked_add(1)?.into()),
    };
    Some(SocketAddr::new(ip, address.port()))
}

/// Returns a copy of an endpoint at another address, without a health of its own.
fn at(model: &pb::LbEndpoint, address: SocketAddr) -> pb::LbEndpoint {
    let socket = core::SocketAddress {
        address: address.ip().to_string(),
        port_specifier: Some(core::socket_address::PortSpecifier::PortValue(address.port().into())),
        ..core::SocketAddress::default()
    };
    let address = core::Address {
        address: Some(core::address::Address::SocketAddress(socket)),
    };
    let mut copy = model.clone();
    copy.health_status = PbHealth::Unknown.into();
    if let Some(pb::lb_endpoint::HostIdentifier::Endpoint(endpoint)) = &mut copy.host_identifier {
        endpoint.address = Some(address);
        endpoint.additional_addresses.clear();
    }
    copy
}

/// Returns the addresses of an endpoint, whether the client keeps it or not.
pub(super) fn addresses<'e>(
    endpoint: &'e pb::LbEndpoint,
    cx: &'e mut Validation<'_>,
) -> impl Iterator<Item = SocketAddr> + 'e {
    let all = fields::endpoint(endpoint).into_iter().flat_map(|endpoint| {
        let further = endpoint.additional_addresses.iter().map(|one| one.address.as_ref());
        std::iter::once(endpoint.address.as_ref()).chain(further)
    });
    all.filter_map(move |address| socket_address(address, &Path::ROOT, cx))
}
