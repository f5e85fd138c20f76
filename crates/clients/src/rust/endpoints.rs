//! ClusterLoadAssignment, as tonic-xds reads it (xds/resource/endpoints.rs `validate`,
//! client/endpoint.rs).
//!
//! All endpoints are one list. Localities and priorities are read but have no effect; weights and
//! drops are not even read.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use foldhash::{HashSet, HashSetExt};

use crate::shared::rules::{
    ADDRESS_MISSING, ADDRESS_NOT_SOCKET, ENDPOINT_MISSING, PORT_OUT_OF_RANGE, PORT_UNSET, RESOURCE_NAME_EMPTY,
};
use crate::shared::{Checked, OpenedEndpoints, addresses, fields, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::HealthStatus as HealthPb;
use xdsctl_document::proto::pb::envoy::config::core::v3::SocketAddress;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{ClusterLoadAssignment as Pb, LbEndpoint};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::host_port::MAX_PORT;
use xdsctl_model::resource::Endpoints;
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::{Endpoint, Locality};
use xdsctl_model::resource::pieces::Builder;

/// Converts the resource. Of an address that occurs twice, the first is kept.
pub(super) fn convert(message: &Pb, opened: &OpenedEndpoints, cx: &mut Validation<'_>) -> Checked<Endpoints> {
    if message.cluster_name.is_empty() {
        let why = format_args!("cluster_name is empty, must not be");
        return Err(reject(&RESOURCE_NAME_EMPTY, &Path::ROOT.field("cluster_name"), why, cx));
    }
    let at = Path::ROOT.field("endpoints");
    // Looked up only, never iterated.
    let mut seen: HashSet<SocketAddr> = HashSet::new();
    let mut priorities: BTreeMap<u32, Vec<Locality>> = BTreeMap::new();
    for (index, (entry, list)) in message.endpoints.iter().zip(&opened.lists).enumerate() {
        let at = at.index(index);
        let at = at.field("lb_endpoints");
        let mut endpoints = Builder::default();
        seen.reserve(list.len());
        for (i, one) in list.iter().enumerate() {
            if let Some(endpoint) = endpoint(one, i, &at.index(i), cx)?
                && seen.insert(endpoint.address)
            {
                endpoints.push(endpoint);
            }
        }
        let plain = opened.plain().and_then(|plain| plain.get(index));
        for kept in plain.into_iter().flatten() {
            endpoints.push(Endpoint {
                health: kept.health,
                ..Endpoint::of(kept.index, kept.address)
            });
        }
        priorities.entry(entry.priority).or_default().push(Locality {
            index,
            name: fields::locality_name(entry),
            weight: 1,
            left_out_weight: 0,
            endpoints: endpoints.done(),
        });
    }
    Ok(Endpoints {
        priorities: priorities.into_values().collect(),
        drops: None,
        host_name: addresses::host_name(opened, |number| health(number).is_some()),
    })
}

/// Converts an endpoint; `None` if it gets no RPCs.
fn endpoint(lb: &LbEndpoint, index: usize, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Option<Endpoint>> {
    let at = at.field("endpoint");
    let Some(endpoint) = fields::endpoint(lb) else {
        let why = format_args!("endpoint is missing, the entry is left out");
        cx.report_as(Effect::Dropped, &ENDPOINT_MISSING, &at, why);
        return Ok(None);
    };
    let at = at.field("address");
    let Some(address) = &endpoint.address else {
        return Err(reject(&ADDRESS_MISSING, &at, format_args!("address is missing"), cx));
    };
    let at = at.field("socket_address");
    let Some(socket) = fields::socket(Some(address)) else {
        let why = format_args!("address has no socket_address, no other kind is supported");
        return Err(reject(&ADDRESS_NOT_SOCKET, &at, why, cx));
    };
    let Some(port) = fields::port(socket) else {
        return Err(reject(&PORT_UNSET, &at, format_args!("port_value is not set"), cx));
    };
    let Some(health) = health(lb.health_status) else {
        return Ok(None);
    };
    if port > MAX_PORT {
        let why = format_args!(
            "port_value is {port}: it is accepted, and the client connects to {}",
            port as u16
        );
        cx.report_as(Effect::Fails, &PORT_OUT_OF_RANGE, &at.field("port_value"), why);
    }
    addresses::tell_of_address(socket, &at.field("address"), cx);
    // Nothing but the address is kept.
    Ok(address_of(socket, port).map(|address| Endpoint {
        health,
        ..Endpoint::of(index, address)
    }))
}

/// Returns the address; of the port, the client uses the lower 16 bits. `None` for the name of a
/// host.
fn address_of(socket: &SocketAddress, port: u32) -> Option<SocketAddr> {
    let ip = socket.address.parse().ok()?;
    Some(SocketAddr::new(ip, port as u16))
}

/// Returns the health of an endpoint; `None` if it gets no RPCs.
fn health(number: i32) -> Option<HealthStatus> {
    match HealthPb::try_from(number) {
        Ok(HealthPb::Unhealthy | HealthPb::Timeout | HealthPb::Draining) => None,
        Ok(HealthPb::Healthy) => Some(HealthStatus::Healthy),
        Ok(HealthPb::Unknown | HealthPb::Degraded) | Err(_) => Some(HealthStatus::Unknown),
    }
}
