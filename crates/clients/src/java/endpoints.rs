//! ClusterLoadAssignment, as grpc-java reads it (XdsEndpointResource
//! `processClusterLoadAssignment`).
//!
//! Every endpoint of a locality with a weight is checked, healthy or not. An address may occur
//! twice.

use std::collections::{BTreeMap, BTreeSet};

use super::address::{by_name, for_string};
use super::{metadata, thrown};
use crate::shared::rules::{
    ADDRESS_MISSING, ADDRESS_NOT_IP, DROP_DENOMINATOR_UNKNOWN, LOCALITY_DUPLICATE, PORT_OUT_OF_RANGE, PRIORITY_GAP,
    PRIORITY_TOO_HIGH,
};
use crate::shared::{Checked, OpenedEndpoints, fields, reject};
use xdsctl_document::proto;
use xdsctl_document::proto::pb::envoy::config::core::v3::Address;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{
    ClusterLoadAssignment as Pb, LbEndpoint, LocalityLbEndpoints,
};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::host_port::MAX_PORT;
use xdsctl_model::profile::Feature;

/// Converts the resource.
pub(super) fn convert(message: &Pb, opened: &OpenedEndpoints, cx: &mut Validation<'_>) -> Checked {
    let at = Path::ROOT.field("endpoints");
    let mut priorities: BTreeMap<u32, BTreeSet<(&str, &str, &str)>> = BTreeMap::new();
    for (i, (locality, list)) in message.endpoints.iter().zip(&opened.lists).enumerate() {
        let here = at.index(i);
        // A weight of 2^31 or more is negative in Java, and counts as none.
        if locality.load_balancing_weight.unwrap_or(0).cast_signed() < 1 {
            continue;
        }
        of_locality(locality, &here, cx)?;
        lb_endpoints(list, &here, cx)?;
        let name = locality.locality.as_ref();
        let name = name.map_or(("", "", ""), |name| (&name.region, &name.zone, &name.sub_zone));
        let priority = locality.priority;
        if !priorities.entry(priority).or_default().insert(name) && cx.has(Feature::LocalitiesCompared) {
            let message = format_args!("the locality is already in priority {priority}");
            return Err(reject(&LOCALITY_DUPLICATE, &here, message, cx));
        }
    }
    let mut numbered = priorities.keys().zip(0u32..);
    if numbered.any(|(priority, expected)| *priority != expected) {
        let message = format_args!("priorities must be contiguous from 0");
        return Err(reject(&PRIORITY_GAP, &at, message, cx));
    }
    drops(message, &Path::ROOT.field("policy"), cx)
}

/// Checks the drops (`parseDropOverload`).
fn drops(message: &Pb, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let at = at.field("drop_overloads");
    let list = message.policy.iter().flat_map(|policy| &policy.drop_overloads);
    for (i, drop) in list.enumerate() {
        let percentage = drop.drop_percentage.as_ref();
        let denominator = percentage.map_or(0, |percentage| percentage.denominator);
        if !(0..=2).contains(&denominator) {
            let at = at.index(i);
            let at = at.field("drop_percentage");
            let message = format_args!("denominator {denominator} is not known");
            return Err(thrown(&DROP_DENOMINATOR_UNKNOWN, &at.field("denominator"), message, cx));
        }
    }
    Ok(())
}

/// Checks a locality up to its endpoints (`parseLocalityLbEndpoints`).
fn of_locality(locality: &LocalityLbEndpoints, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if locality.priority.cast_signed() < 0 {
        let message = format_args!("priority {} is a negative number in Java", locality.priority);
        return Err(reject(&PRIORITY_TOO_HIGH, &at.field("priority"), message, cx));
    }
    if cx.has(Feature::EndpointMetadata)
        && let Some(bytes) = &locality.metadata
    {
        metadata::parse(&proto::kept(bytes), &at.field("metadata"), cx)?;
    }
    Ok(())
}

/// Checks the endpoints of a locality (`parseLocalityLbEndpoints`).
fn lb_endpoints(endpoints: &[LbEndpoint], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let reads_metadata = cx.has(Feature::EndpointMetadata);
    let list = at.field("lb_endpoints");
    for (i, endpoint) in endpoints.iter().enumerate() {
        let at = list.index(i);
        let endpoint_at = at.field("endpoint");
        let found = fields::endpoint(endpoint);
        let Some((found, address)) = found.and_then(|found| Some((found, found.address.as_ref()?))) else {
            let message = format_args!("the endpoint has no address");
            return Err(reject(&ADDRESS_MISSING, &endpoint_at.field("address"), message, cx));
        };
        if reads_metadata && let Some(metadata) = &endpoint.metadata {
            metadata::parse(&proto::kept(metadata), &at.field("metadata"), cx)?;
        }
        socket_address(address, &endpoint_at.field("address"), cx)?;
        if cx.has(Feature::DualstackEndpoints) {
            let list = endpoint_at.field("additional_addresses");
            let empty = Address::default();
            for (i, additional) in found.additional_addresses.iter().enumerate() {
                let address = additional.address.as_ref().unwrap_or(&empty);
                socket_address(address, &list.index(i).field("address"), cx)?;
            }
        }
    }
    Ok(())
}

/// Reports what the client does with a text that is no IP address, where nobody rejects it.
fn looked_up(text: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    if text.is_empty() {
        let message = format_args!("the address is empty, which is the client's own host");
        cx.report_as(Effect::Advice, &ADDRESS_NOT_IP, at, message);
    } else if by_name(text).is_none() {
        let message = format_args!("`{text}` is a name, which this version looks up in DNS; later ones reject it");
        cx.report_as(Effect::Advice, &ADDRESS_NOT_IP, at, message);
    }
}

/// Checks an address (`getInetSocketAddress`).
fn socket_address(address: &Address, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let at = at.field("socket_address");
    let socket = fields::socket(Some(address));
    let text = socket.map_or("", |socket| socket.address.as_str());
    let port = socket.and_then(fields::port).unwrap_or(0);
    if cx.has(Feature::EndpointAddressChecked) && for_string(text).is_none() {
        let message = format_args!("`{text}` is not an IP address");
        return Err(reject(&ADDRESS_NOT_IP, &at.field("address"), message, cx));
    }
    if !cx.has(Feature::EndpointAddressChecked) {
        looked_up(text, &at.field("address"), cx);
    }
    if port > MAX_PORT {
        let message = format_args!("port {port} is above {MAX_PORT}");
        return Err(thrown(&PORT_OUT_OF_RANGE, &at.field("port_value"), message, cx));
    }
    Ok(())
}
