//! ClusterLoadAssignment, as grpc-go reads it (xdsresource/unmarshal_eds.go `parseEDSRespProto`).

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashSet, HashSetExt};

use super::{is_url_of, unmarshal};
use crate::shared::names::ADDRESS;
use crate::shared::rules::{
    ADDRESS_MISSING, ADDRESS_NOT_IP, ADDRESS_NOT_SOCKET, DROP_DENOMINATOR_UNKNOWN, ENDPOINT_ADDRESS_DUPLICATE,
    ENDPOINT_WEIGHT_SUM, ENDPOINT_WEIGHT_ZERO, LOCALITY_DUPLICATE, LOCALITY_MISSING, LOCALITY_WEIGHT_SUM, PORT_ZERO,
    PRIORITY_GAP,
};
use crate::shared::{Checked, OpenedEndpoints, addresses, fields, reject};
use xdsctl_document::proto;
use xdsctl_document::proto::pb::envoy::config::core::v3::{Address, Metadata};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{ClusterLoadAssignment as Pb, LbEndpoint};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// The addresses seen so far, as host and port; the client joins the two. Looked up only, never
/// iterated.
type Addresses<'m> = HashSet<(&'m str, u32)>;

/// The localities of a priority, by name.
type Localities<'m> = BTreeSet<(&'m str, &'m str, &'m str)>;

/// Converts the resource.
pub(super) fn convert(message: &Pb, opened: &OpenedEndpoints, cx: &mut Validation<'_>) -> Checked {
    drops(message, cx)?;
    let at = Path::ROOT.field("endpoints");
    let mut priorities: BTreeMap<u32, (u64, Localities<'_>)> = BTreeMap::new();
    let mut addresses = Addresses::new();
    for (index, (locality, list)) in message.endpoints.iter().zip(&opened.lists).enumerate() {
        let here = at.index(index);
        let Some(name) = &locality.locality else {
            let why = format_args!("locality is missing");
            return Err(reject(&LOCALITY_MISSING, &here.field("locality"), why, cx));
        };
        let weight = locality.load_balancing_weight.unwrap_or(0);
        if weight == 0 && cx.has(Feature::ZeroLocalitiesUnread) {
            continue;
        }
        let priority = locality.priority;
        let (sum, names) = priorities.entry(priority).or_default();
        *sum += u64::from(weight);
        if *sum > u64::from(u32::MAX) && cx.has(Feature::EndpointsCompared) {
            let why = format_args!(
                "locality weights of priority {priority} add up to {sum}, must be at most {}",
                u32::MAX
            );
            return Err(reject(&LOCALITY_WEIGHT_SUM, &at, why, cx));
        }
        if !names.insert((&name.region, &name.zone, &name.sub_zone)) && cx.has(Feature::LocalitiesCompared) {
            let message = format_args!("the locality is already in priority {priority}");
            return Err(reject(&LOCALITY_DUPLICATE, &here, message, cx));
        }
        endpoints(list, &mut addresses, &here, cx)?;
        if cx.has(Feature::HttpConnect)
            && let Some(metadata) = &locality.metadata
        {
            proxies(&proto::kept(metadata), &here, cx)?;
        }
    }
    let mut numbered = priorities.keys().zip(0u32..);
    if numbered.any(|(priority, expected)| *priority != expected) {
        let why = format_args!("priorities must be contiguous from 0");
        return Err(reject(&PRIORITY_GAP, &at, why, cx));
    }
    Ok(())
}

/// Checks what to drop (`parseDropPolicy`): an unknown denominator is rejected; in older versions,
/// it kills the parser.
fn drops(message: &Pb, cx: &mut Validation<'_>) -> Checked {
    let Some(policy) = &message.policy else {
        return Ok(());
    };
    let at = Path::ROOT.field("policy");
    let at = at.field("drop_overloads");
    for (i, drop) in policy.drop_overloads.iter().enumerate() {
        let percentage = drop.drop_percentage.as_ref();
        let denominator = percentage.map_or(0, |percentage| percentage.denominator);
        if !(0..=2).contains(&denominator) && cx.has(Feature::DropDenominatorChecked) {
            let at = at.index(i);
            let at = at.field("drop_percentage");
            let message = format_args!("denominator {denominator} is not known");
            return Err(reject(&DROP_DENOMINATOR_UNKNOWN, &at.field("denominator"), message, cx));
        }
    }
    Ok(())
}

/// Checks the endpoints of a locality, healthy or not (`parseEndpoints`).
fn endpoints<'m>(
    list: &'m [LbEndpoint],
    addresses: &mut Addresses<'m>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    let at = at.field("lb_endpoints");
    addresses.reserve(list.len());
    let mut sum = 0u64;
    let reads_metadata = cx.has(Feature::HttpConnect);
    for (i, endpoint) in list.iter().enumerate() {
        let here = at.index(i);
        let weight = endpoint.load_balancing_weight.unwrap_or(1);
        if weight == 0 && cx.has(Feature::EndpointWeightChecked) {
            let at = here.field("load_balancing_weight");
            let why = format_args!("endpoint weight is 0, must be at least 1");
            return Err(reject(&ENDPOINT_WEIGHT_ZERO, &at, why, cx));
        }
        sum += u64::from(weight);
        if sum > u64::from(u32::MAX) && cx.has(Feature::EndpointWeightSum) {
            let message = format_args!("endpoint weights add up to {sum}, must be at most {}", u32::MAX);
            return Err(reject(&ENDPOINT_WEIGHT_SUM, &at, message, cx));
        }
        let host = fields::endpoint(endpoint);
        see(host.and_then(|host| host.address.as_ref()), addresses, &here, cx)?;
        if cx.has(Feature::DualstackEndpoints) {
            for more in host.iter().flat_map(|host| &host.additional_addresses) {
                see(more.address.as_ref(), addresses, &here, cx)?;
            }
        }
        if reads_metadata && let Some(metadata) = &endpoint.metadata {
            proxies(&proto::kept(metadata), &here, cx)?;
        }
    }
    Ok(())
}

/// Records an address. Nothing counts but whether it is new: it may be no IP address, or be
/// missing.
fn see<'m>(
    address: Option<&'m Address>,
    addresses: &mut Addresses<'m>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    let key = fields::socket(address).map_or(("", 0), |socket| (&*socket.address, fields::port(socket).unwrap_or(0)));
    if addresses.contains(&key) && cx.has(Feature::EndpointsCompared) {
        let (host, port) = &key;
        let message = format_args!("address `{host}:{port}` is that of an earlier endpoint");
        return Err(reject(&ENDPOINT_ADDRESS_DUPLICATE, &at.field("endpoint"), message, cx));
    }
    addresses.insert(key);
    unusable(address, &at.field("endpoint"), cx);
    Ok(())
}

/// Reports an address to which no connection can be made.
fn unusable(address: Option<&Address>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(address) = address else {
        let why = format_args!("address is missing: the endpoint is accepted, and no connection can be made to it");
        return cx.report_if_accepted(&ADDRESS_MISSING, at, why);
    };
    let at = at.field("address");
    let Some(socket) = fields::socket(Some(address)) else {
        let why = format_args!("address has no socket_address: it is accepted, and no connection can be made to it");
        return cx.report_if_accepted(&ADDRESS_NOT_SOCKET, &at, why);
    };
    let at = at.field("socket_address");
    addresses::tell_of_port(socket, &at, cx);
    addresses::tell_of_address(socket, &at.field("address"), cx);
}

/// Checks proxy addresses in metadata, which are read under a switch (`proxyAddressConverter`).
fn proxies(metadata: &Metadata, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let typed = at.field("typed_filter_metadata");
    for (key, any) in &metadata.typed_filter_metadata {
        if !is_url_of(&any.type_url, ADDRESS) {
            continue;
        }
        let at = typed.key(key);
        let address: Address = unmarshal(&any.value, ADDRESS, &at, cx)?;
        let at = at.value(ADDRESS);
        let at = at.field("socket_address");
        let Some(socket) = fields::socket(Some(&address)) else {
            let why = format_args!("address has no socket_address");
            return Err(reject(&ADDRESS_NOT_SOCKET, &at, why, cx));
        };
        if super::matcher::parse_addr(&socket.address).is_none() {
            let message = format_args!("`{}` is not an IP address", socket.address);
            return Err(reject(&ADDRESS_NOT_IP, &at.field("address"), message, cx));
        }
        if fields::port(socket).unwrap_or(0) == 0 {
            let why = format_args!("the port is 0 or missing");
            return Err(reject(&PORT_ZERO, &at.field("port_value"), why, cx));
        }
    }
    Ok(())
}
