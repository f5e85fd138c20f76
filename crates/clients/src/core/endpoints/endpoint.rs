//! One endpoint of a locality: health, weight, metadata, addresses.
//!
//! Follows C-core `EndpointAddressesParse` (xds_endpoint_parser.cc). An endpoint whose health the
//! client does not keep is dropped before anything else of it is looked at.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::net::SocketAddr;

use bytes::Bytes;
use foldhash::HashMap;

use crate::core::convert::address::socket_address;
use crate::core::convert::health::{health_status_name, kept_status};
use crate::core::convert::metadata;
use crate::core::convert::switch::report_off;
use crate::shared::names::{LB_METADATA, PROXY_METADATA};
use crate::shared::rules::{ENDPOINT_ADDRESS_DUPLICATE, ENDPOINT_MISSING, ENDPOINT_WEIGHT_ZERO};
use crate::shared::{fields, opened_or_kept};
use xdsctl_document::proto;
use xdsctl_document::proto::pb::envoy::config::core::v3::{HealthStatus as PbHealth, Metadata};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3 as pb;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::{HealthStatus, MetadataValue};
use xdsctl_model::resource::endpoints::Endpoint;
use xdsctl_model::resource::pieces::{Builder, Pieces};

rules! {
    /// An endpoint is UNHEALTHY or TIMEOUT, so it is dropped.
    ENDPOINT_UNHEALTHY = "eds-endpoint-unhealthy", Endpoints, Dropped as Note, "gRFC A27; C-core EndpointAddressesParse",
        also [Go Java Node] "all keep endpoints of health UNKNOWN and HEALTHY alone";
    /// An endpoint has a health_status that gRPC does not use, so it is dropped.
    ENDPOINT_HEALTH_UNSUPPORTED = "eds-endpoint-health-unsupported", Endpoints, Dropped, "gRFC A27, A55; C-core XdsHealthStatus::FromUpb",
        also [Go Java Node] "all keep endpoints of health UNKNOWN and HEALTHY alone";
    /// The hash_key in an endpoint's metadata is not a string.
    HASH_KEY_NOT_STRING = "eds-hash-key-not-string", Endpoints, Ignored as Warning, "gRFC A76; C-core GetHashKeyFromMetadata";
}

/// The addresses seen so far in the resource, with the indices of their locality and endpoint.
///
/// Looked up only, never iterated.
pub(super) type Addresses = HashMap<SocketAddr, (usize, usize)>;

/// Converts the endpoints of the locality at `at`, which is the one at `locality_index`. `opened`
/// has them as messages if they were opened for several clients.
pub(super) fn endpoints(
    (list, opened): (&[Bytes], &[pb::LbEndpoint]),
    locality_index: usize,
    locality_proxy: Option<&str>,
    addresses: &mut Addresses,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Pieces<Endpoint> {
    let at = at.field("lb_endpoints");
    let mut endpoints = Builder::default();
    let mut dropped = Vec::new();
    for (index, bytes) in list.iter().enumerate() {
        let at = at.index(index);
        let pb = opened_or_kept(opened.get(index), bytes);
        let Some(health) = kept_status(pb.health_status, cx) else {
            dropped.push((index, pb.health_status));
            continue;
        };
        let Some(mut endpoint) = endpoint(&pb, (index, health), &at, cx) else {
            continue;
        };
        if endpoint.proxy.is_none() {
            endpoint.proxy = locality_proxy.map(str::to_owned);
        }
        for address in endpoint.addresses() {
            match addresses.entry(address) {
                Entry::Vacant(entry) => {
                    entry.insert((locality_index, index));
                }
                Entry::Occupied(first) => report_duplicate(address, *first.get(), &at, cx),
            }
        }
        endpoints.push(endpoint);
    }
    report_dropped(&dropped, list.len(), &at, cx);
    endpoints.done()
}

fn report_duplicate(address: SocketAddr, (locality, endpoint): (usize, usize), at: &Path<'_>, cx: &mut Validation<'_>) {
    let root = Path::ROOT;
    let list = root.field("endpoints");
    let locality = list.index(locality);
    let list = locality.field("lb_endpoints");
    let first = list.index(endpoint).to_owned();
    cx.report(
        &ENDPOINT_ADDRESS_DUPLICATE,
        at,
        format_args!("address `{address}` occurs a second time in the resource"),
    )
    .related(first, "first used here");
}

/// Reports the endpoints of a locality that are dropped, each with its index and the number of its
/// health. Each kind is reported once, at the first endpoint: there may be thousands.
fn report_dropped(dropped: &[(usize, i32)], count: usize, at: &Path<'_>, cx: &mut Validation<'_>) {
    let is_down = |(_, number): &&(usize, i32)| {
        matches!(PbHealth::try_from(*number), Ok(PbHealth::Unhealthy | PbHealth::Timeout))
    };
    let (down, unsupported): (Vec<_>, Vec<_>) = dropped.iter().partition(is_down);
    if let Some((first, _)) = down.first() {
        cx.report(
            &ENDPOINT_UNHEALTHY,
            &at.index(*first).field("health_status"),
            format_args!(
                "{} of {count} endpoints of the locality are UNHEALTHY or TIMEOUT and dropped, this is the first",
                down.len()
            ),
        );
    }
    if let Some((first, number)) = unsupported.first() {
        cx.report(
            &ENDPOINT_HEALTH_UNSUPPORTED,
            &at.index(*first).field("health_status"),
            format_args!(
                "health_status {number} ({}) is none that this client uses, {} of {count} endpoints of the locality are dropped so",
                health_status_name(*number),
                unsupported.len()
            ),
        );
    }
}

/// Converts an endpoint that is kept in this health; `None` when it has no address after an error.
fn endpoint(
    lb: &pb::LbEndpoint,
    (index, health): (usize, HealthStatus),
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<Endpoint> {
    let weight = lb.load_balancing_weight.unwrap_or(1);
    if weight == 0 {
        cx.report(
            &ENDPOINT_WEIGHT_ZERO,
            &at.field("load_balancing_weight"),
            format_args!("endpoint weight is 0, must be at least 1"),
        )
        .help("leave the endpoint out, or mark it UNHEALTHY, to send it no traffic");
    }
    let (proxy, hash_key) = lb
        .metadata
        .as_ref()
        .map_or((None, None), |metadata| read_metadata(metadata, at, cx));
    let at = at.field("endpoint");
    let why = "endpoint is missing, must have an address";
    let endpoint = cx.required(fields::endpoint(lb), &ENDPOINT_MISSING, &at, why)?;
    let address = socket_address(endpoint.address.as_ref(), &at.field("address"), cx);
    let additional_addresses = additional_addresses(&endpoint.additional_addresses, &at, cx);
    Some(Endpoint {
        index,
        // Without a primary address the resource is rejected; the first further one stands in until
        // then, so that duplicates are still found as the client finds them.
        address: address.or_else(|| additional_addresses.first().copied())?,
        additional_addresses: match address {
            Some(_) => additional_addresses,
            None => additional_addresses.into_iter().skip(1).collect(),
        },
        weight,
        weight_is_default: lb.load_balancing_weight.is_none(),
        health,
        hostname: endpoint.hostname.clone(),
        proxy,
        hash_key,
    })
}

fn additional_addresses(
    list: &[pb::endpoint::AdditionalAddress],
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Vec<SocketAddr> {
    let at = at.field("additional_addresses");
    if list.is_empty() {
        return Vec::new();
    }
    if !cx.has(Feature::DualstackEndpoints) {
        report_off(Feature::DualstackEndpoints, &at, cx);
        return Vec::new();
    }
    list.iter()
        .enumerate()
        .filter_map(|(i, a)| socket_address(a.address.as_ref(), &at.index(i).field("address"), cx))
        .collect()
}

/// Reads an endpoint's metadata: the proxy (A86) and the ring hash key (A76), each under its
/// switch.
fn read_metadata(pb: &Bytes, at: &Path<'_>, cx: &mut Validation<'_>) -> (Option<String>, Option<String>) {
    let hash_key = !cx.has(Feature::EndpointHashKeyBackwardCompat);
    let http_connect = cx.has(Feature::HttpConnect);
    if !hash_key && !http_connect {
        if fields::has_metadata(pb, &[LB_METADATA, PROXY_METADATA]) {
            report_unread(&proto::kept(pb), &at.field("metadata"), cx);
        }
        return (None, None);
    }
    let mut map = metadata::metadata(pb, at, cx);
    let key = if hash_key { take_hash_key(&map, at, cx) } else { None };
    let proxy = if http_connect { take_proxy(&mut map) } else { None };
    (proxy, key)
}

/// Reports a key in the metadata that the client would read if a switch were on.
fn report_unread(metadata: &Metadata, at: &Path<'_>, cx: &mut Validation<'_>) {
    // Only the switch for the key that is there is reported.
    if metadata.filter_metadata.contains_key(LB_METADATA) {
        report_off(Feature::EndpointHashKeyBackwardCompat, at, cx);
    } else if metadata.typed_filter_metadata.contains_key(PROXY_METADATA) {
        report_off(Feature::HttpConnect, at, cx);
    }
}

/// Removes the proxy's address from converted metadata and returns it.
pub(super) fn take_proxy(map: &mut BTreeMap<String, MetadataValue>) -> Option<String> {
    match map.remove(PROXY_METADATA) {
        Some(MetadataValue::Address(address)) => Some(address),
        Some(MetadataValue::Struct(_) | MetadataValue::Audience { .. }) | None => None,
    }
}

/// Returns the ring hash key; an empty one counts as none.
fn take_hash_key(map: &BTreeMap<String, MetadataValue>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<String> {
    let Some(MetadataValue::Struct(json)) = map.get(LB_METADATA) else {
        return None;
    };
    match json.get("hash_key")? {
        serde_json::Value::String(key) => (!key.is_empty()).then(|| key.clone()),
        _ => {
            let map = at.field("filter_metadata");
            cx.report(
                &HASH_KEY_NOT_STRING,
                &map.key(LB_METADATA),
                format_args!("hash_key is not a string, the endpoint is hashed by its address"),
            );
            None
        }
    }
}
