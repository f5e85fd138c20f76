//! One endpoint of a locality: health, weight, metadata, addresses.
//!
//! Follows C-core `EndpointAddressesParse` (xds_endpoint_parser.cc). An endpoint whose health the
//! client does not keep is dropped before anything else of it is looked at.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::net::SocketAddr;

use bytes::Bytes;
use foldhash::{HashMap, HashMapExt};

use crate::core::convert::address::socket_address;
use crate::core::convert::health::{health_status_name, kept_status};
use crate::core::convert::metadata;
use crate::core::convert::switch::report_off;
use crate::shared::names::{LB_METADATA, PROXY_METADATA};
use crate::shared::rules::{ENDPOINT_ADDRESS_DUPLICATE, ENDPOINT_MISSING, ENDPOINT_WEIGHT_ZERO};
use crate::shared::{OpenedEndpoint, fields};
use xdsctl_document::proto;
use xdsctl_document::proto::pb::envoy::config::core::v3::{HealthStatus as PbHealth, Metadata};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3 as pb;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::MetadataValue;
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

/// The weight of an endpoint that sets none.
const DEFAULT_WEIGHT: u32 = 1;

/// The addresses seen so far in the resource, with the indices of their locality and endpoint.
///
/// Looked up only, never iterated.
pub(super) struct Addresses(HashMap<HashedAddress, (usize, usize)>);

/// An address with a hash that takes one step.
#[derive(PartialEq, Eq)]
struct HashedAddress(SocketAddr);

impl Hash for HashedAddress {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            SocketAddr::V4(address) => {
                state.write_u64(u64::from(address.ip().to_bits()) << 16 | u64::from(address.port()));
            }
            SocketAddr::V6(address) => {
                state.write_u128(address.ip().to_bits());
                state.write_u64(u64::from(address.scope_id()) << 16 | u64::from(address.port()));
            }
        }
    }
}

impl Addresses {
    /// Makes an empty map with room for `count` addresses.
    pub(super) fn with_capacity(count: usize) -> Self {
        Addresses(HashMap::with_capacity(count))
    }
}

/// The endpoints of a locality.
pub(super) struct Listed<'m> {
    /// The endpoints as bytes.
    pub bytes: &'m [Bytes],
    /// The endpoints as messages, as far as they were opened for several clients.
    pub opened: &'m [OpenedEndpoint],
}

/// Converts the endpoints of the locality at `at`, which is the one at `locality_index`.
pub(super) fn endpoints(
    list: Listed<'_>,
    locality_index: usize,
    locality_proxy: Option<&str>,
    addresses: &mut Addresses,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Pieces<Endpoint> {
    let at = at.field("lb_endpoints");
    let mut endpoints = Builder::default();
    let mut dropped = Dropped::default();
    for (index, bytes) in list.bytes.iter().enumerate() {
        let at = at.index(index);
        let own;
        let pb: &pb::LbEndpoint = match list.opened.get(index) {
            Some(opened) => &opened.message,
            None => {
                own = proto::kept(bytes);
                &own
            }
        };
        if kept_status(pb.health_status, cx).is_none() {
            dropped.add(pb.health_status, index);
            continue;
        }
        let Some(mut endpoint) = endpoint(pb, index, &at, cx) else {
            continue;
        };
        if endpoint.proxy.is_none() {
            endpoint.proxy = locality_proxy.map(str::to_owned);
        }
        for address in endpoint.addresses() {
            match addresses.0.entry(HashedAddress(address)) {
                Entry::Vacant(entry) => {
                    entry.insert((locality_index, index));
                }
                Entry::Occupied(first) => report_duplicate(address, *first.get(), &at, cx),
            }
        }
        endpoints.push(endpoint);
    }
    dropped.report(list.bytes.len(), &at, cx);
    endpoints.done()
}

#[cold]
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

/// Endpoints of a locality that are dropped for their health: how many, and the first of them.
#[derive(Default)]
struct Dropped {
    unhealthy: usize,
    first_unhealthy: usize,
    unsupported: usize,
    first_unsupported: usize,
    /// The enum number of the first unsupported health status.
    number: i32,
}

impl Dropped {
    fn add(&mut self, number: i32, index: usize) {
        if matches!(PbHealth::try_from(number), Ok(PbHealth::Unhealthy | PbHealth::Timeout)) {
            if self.unhealthy == 0 {
                self.first_unhealthy = index;
            }
            self.unhealthy += 1;
        } else {
            if self.unsupported == 0 {
                (self.first_unsupported, self.number) = (index, number);
            }
            self.unsupported += 1;
        }
    }

    /// Reports each kind once for the locality, at the first endpoint: there may be thousands.
    fn report(&self, count: usize, at: &Path<'_>, cx: &mut Validation<'_>) {
        if self.unhealthy > 0 {
            cx.report(
                &ENDPOINT_UNHEALTHY,
                &at.index(self.first_unhealthy).field("health_status"),
                format_args!(
                    "{} of {count} endpoints of the locality are UNHEALTHY or TIMEOUT and dropped, this is the first",
                    self.unhealthy
                ),
            );
        }
        if self.unsupported > 0 {
            cx.report(
                &ENDPOINT_HEALTH_UNSUPPORTED,
                &at.index(self.first_unsupported).field("health_status"),
                format_args!(
                    "health_status {} ({}) is none that this client uses, {} of {count} endpoints of the locality are dropped so",
                    self.number,
                    health_status_name(self.number),
                    self.unsupported
                ),
            );
        }
    }
}

/// Converts an endpoint; `None` when it is dropped, or has no address after an error.
fn endpoint(lb: &pb::LbEndpoint, index: usize, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Endpoint> {
    let health = kept_status(lb.health_status, cx)?;
    let weight = lb.load_balancing_weight.unwrap_or(DEFAULT_WEIGHT);
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
        if metadata::has_any(pb, &[LB_METADATA, PROXY_METADATA]) {
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
#[cold]
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
