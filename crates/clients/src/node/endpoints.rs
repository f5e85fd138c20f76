//! ClusterLoadAssignment, as grpc-js-xds reads it (xds-resource-type/endpoint-resource-type.ts
//! `validateResource`).
//!
//! Every endpoint counts, whatever its health and the weight of its locality.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashSet, HashSetExt};

use super::{cidr, fault};
use crate::shared::rules::{
    ADDRESS_MISSING, ADDRESS_NOT_IP, ADDRESS_NOT_SOCKET, ENDPOINT_ADDRESS_DUPLICATE, ENDPOINT_MISSING,
    LOCALITY_DUPLICATE, LOCALITY_MISSING, LOCALITY_WEIGHT_SUM, PORT_UNSET, PRIORITY_GAP,
};
use crate::shared::{OpenedEndpoints, addresses, fields};
use xdsctl_document::proto::pb::envoy::config::core::v3::{Address, SocketAddress};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{ClusterLoadAssignment as Pb, Endpoint, LbEndpoint};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// The addresses and ports seen in the resource. Looked up only, never iterated.
type SeenAddresses<'m> = HashSet<(&'m str, Option<u32>)>;

/// Converts the resource.
pub(super) fn convert(message: &Pb, opened: &OpenedEndpoints, cx: &mut Validation<'_>) {
    let at = Path::ROOT.field("endpoints");
    let mut localities = BTreeSet::new();
    let mut addresses = SeenAddresses::new();
    let mut priorities: BTreeMap<u32, u64> = BTreeMap::new();
    for (i, (entry, list)) in message.endpoints.iter().zip(&opened.lists).enumerate() {
        let at = at.index(i);
        let locality_at = at.field("locality");
        let Some(locality) = &entry.locality else {
            fault(&LOCALITY_MISSING, &locality_at, format_args!("locality is missing"), cx);
            continue;
        };
        let key = (entry.priority, &locality.region, &locality.zone, &locality.sub_zone);
        if !localities.insert(key) {
            let why = format_args!("the locality is already in priority {}", entry.priority);
            fault(&LOCALITY_DUPLICATE, &at, why, cx);
        }
        lb_endpoints(list, &mut addresses, &at.field("lb_endpoints"), cx);
        *priorities.entry(entry.priority).or_default() += u64::from(entry.load_balancing_weight.unwrap_or(0));
    }
    for (&priority, &sum) in &priorities {
        if sum > u64::from(u32::MAX) {
            let most = u32::MAX;
            let why = format_args!("weights of priority {priority} add up to {sum}, must be at most {most}");
            fault(&LOCALITY_WEIGHT_SUM, &at, why, cx);
        }
        let before = priority.checked_sub(1);
        if let Some(before) = before.filter(|before| !priorities.contains_key(before)) {
            let why = format_args!("there is a priority {priority}, but no priority {before}");
            fault(&PRIORITY_GAP, &at, why, cx);
        }
    }
}

fn lb_endpoints<'m>(list: &'m [LbEndpoint], seen: &mut SeenAddresses<'m>, at: &Path<'_>, cx: &mut Validation<'_>) {
    seen.reserve(list.len());
    for (i, lb) in list.iter().enumerate() {
        let entry_at = at.index(i);
        let at = entry_at.field("endpoint");
        let Some(endpoint) = fields::endpoint(lb) else {
            let why = format_args!("endpoint is missing, must have an address");
            fault(&ENDPOINT_MISSING, &at, why, cx);
            continue;
        };
        one_endpoint(endpoint, seen, (&entry_at, &at), cx);
    }
}

/// Checks the addresses of an endpoint; `entry` is the path of its entry in the list, `at` its own.
fn one_endpoint<'m>(
    endpoint: &'m Endpoint,
    seen: &mut SeenAddresses<'m>,
    (entry, at): (&Path<'_>, &Path<'_>),
    cx: &mut Validation<'_>,
) {
    one_address(endpoint.address.as_ref(), seen, (entry, &at.field("address")), cx);
    if !cx.has(Feature::DualstackEndpoints) {
        return;
    }
    let at = at.field("additional_addresses");
    for (i, additional) in endpoint.additional_addresses.iter().enumerate() {
        let at = at.index(i);
        one_address(additional.address.as_ref(), seen, (entry, &at.field("address")), cx);
    }
}

fn one_address<'m>(
    address: Option<&'m Address>,
    seen: &mut SeenAddresses<'m>,
    (entry, at): (&Path<'_>, &Path<'_>),
    cx: &mut Validation<'_>,
) {
    let Some(address) = address else {
        return fault(&ADDRESS_MISSING, at, format_args!("address is missing"), cx);
    };
    let at = at.field("socket_address");
    match fields::socket(Some(address)) {
        Some(socket) => socket_address(socket, seen, (entry, &at), cx),
        None => {
            let why = format_args!("address has no socket_address, no other kind is supported");
            fault(&ADDRESS_NOT_SOCKET, &at, why, cx);
        }
    }
}

/// Checks an address (`validateAddress`).
fn socket_address<'m>(
    socket: &'m SocketAddress,
    seen: &mut SeenAddresses<'m>,
    (entry, at): (&Path<'_>, &Path<'_>),
    cx: &mut Validation<'_>,
) {
    let port = fields::port(socket);
    addresses::tell_of_port(socket, at, cx);
    if port.is_none() {
        let why = format_args!("port_value is not set");
        fault(&PORT_UNSET, at, why, cx);
    }
    if !cidr::is_ip(&socket.address) {
        let why = format_args!("`{}` is not an IP address", socket.address);
        fault(&ADDRESS_NOT_IP, at, why, cx);
    }
    if !seen.insert((&socket.address, port)) {
        let text = &socket.address;
        let why = format_args!("another endpoint of the resource has the address `{text}` and the same port");
        fault(&ENDPOINT_ADDRESS_DUPLICATE, entry, why, cx);
    }
}
