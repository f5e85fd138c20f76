//! Cluster, as grpc-go reads it (xdsresource/unmarshal_cds.go
//! `validateClusterAndConstructClusterUpdate`).

use super::{Later, holds, is_url_of, lb, tls, unmarshal};
use crate::shared::alike::{self, TlsSide};
use crate::shared::names::{AGGREGATE, AGGREGATE_NAME, AUDIENCE, HTTP_11_PROXY, SOCKET_NAME, UPSTREAM};
use crate::shared::rules::{
    ADDRESS_NOT_SOCKET, DISCOVERY_UNSUPPORTED, DNS_LOAD_ASSIGNMENT_MISSING, DNS_NAME_EMPTY, DNS_NOT_ONE_ENDPOINT,
    DNS_PORT_UNSET, DNS_RESOLVER_NAME, ENDPOINT_MISSING, LEAST_REQUEST_CHOICES, LRS_SERVER_NOT_SELF,
    METADATA_AUDIENCE_WITHOUT_URL, SNI_TOO_LONG, TRANSPORT_SOCKET_MATCHES, TRANSPORT_SOCKET_NAME,
    TRANSPORT_SOCKET_UNSUPPORTED, WITHOUT_CA,
};
use crate::shared::tls::MAX_SNI_BYTES;
use crate::shared::{Checked, fields, outlier_detection, reject};
use xdsctl_document::proto::any::TYPED_STRUCTS;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::Cluster as Pb;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::cluster::{
    ClusterDiscoveryType, DiscoveryType, LbConfig, LbPolicy, RingHashLbConfig,
};
use xdsctl_document::proto::pb::envoy::config::core::v3::{Metadata, TransportSocket};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::LbEndpoint;
use xdsctl_document::proto::pb::envoy::extensions::clusters::aggregate::v3::ClusterConfig;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::gcp_authn::v3::Audience;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::http_11_proxy::v3::Http11ProxyUpstreamTransport;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::UpstreamTlsContext;
use xdsctl_document::proto::{self, pb::Any};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::{Feature, Profile};

/// Converts the resource.
pub(super) fn convert(message: &Pb, cx: &mut Validation<'_>) -> Checked {
    let root = &Path::ROOT;
    lb_policy(message, root, cx)?;
    // The names of certificate providers are looked up when all else is known to be good.
    security_config(message, root, &|cx| convert_rest(message, root, cx), cx)?;
    convert_rest(message, root, cx)
}

/// Converts what comes after the transport socket.
fn convert_rest(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if cx.has(Feature::OutlierDetection)
        && let Some(detection) = &message.outlier_detection
    {
        // grpc-go does this in `outlierConfigFromCluster`.
        outlier_detection::check(detection, |value| value > 100, &root.field("outlier_detection"), cx)?;
    }
    if cx.has(Feature::CustomLbConfig)
        && let Some(policy) = &message.load_balancing_policy
    {
        lb::list(policy, (&message.name, 0), &root.field("load_balancing_policy"), cx)?;
    }
    if cx.has(Feature::GcpAuthnFilter)
        && let Some(metadata) = &message.metadata
    {
        audiences(&proto::kept(metadata), &root.field("metadata"), cx)?;
    }
    if cx.has(Feature::LrsServerChecked)
        && let Some(server) = &message.lrs_server
        && !fields::is_self(server)
    {
        let at = root.field("lrs_server");
        let why = format_args!("lrs_server is not `self`");
        return Err(reject(&LRS_SERVER_NOT_SELF, &at, why, cx));
    }
    discovery(message, root, cx)
}

/// Checks the enum, which the client also reads beside `load_balancing_policy`.
fn lb_policy(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match LbPolicy::try_from(message.lb_policy) {
        Ok(LbPolicy::RoundRobin) => Ok(()),
        Ok(LbPolicy::RingHash) if cx.has(Feature::RingHashPolicy) => match &message.lb_config {
            Some(LbConfig::RingHashLbConfig(config)) => ring_hash(config, &root.field("ring_hash_lb_config"), cx),
            _ => Ok(()),
        },
        Ok(LbPolicy::LeastRequest) if cx.has(Feature::LeastRequest) => match &message.lb_config {
            Some(LbConfig::LeastRequestLbConfig(config)) => {
                let at = root.field("least_request_lb_config");
                choice_count(config.choice_count, &at.field("choice_count"), cx)
            }
            _ => Ok(()),
        },
        _ => Err(alike::no_lb_policy(message.lb_policy, root, cx)),
    }
}

fn ring_hash(config: &RingHashLbConfig, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    alike::hash_function(config.hash_function, at, cx)?;
    if cx.has(Feature::ClusterRingChecked) {
        // A 0 is a size here.
        let sizes = lb::ring(config.minimum_ring_size, config.maximum_ring_size);
        lb::ring_sizes(sizes, false, at, cx)?;
    }
    Ok(())
}

/// Checks how many endpoints least_request compares: 2 by default, and not fewer.
pub(super) fn choice_count(count: Option<u32>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match count.filter(|count| *count < 2) {
        Some(count) => {
            let why = format_args!("choice_count is {count}, must be at least 2");
            Err(reject(&LEAST_REQUEST_CHOICES, at, why, cx))
        }
        None => Ok(()),
    }
}

/// Checks the transport socket (`securityConfigFromCluster`).
fn security_config(message: &Pb, root: &Path<'_>, later: Later<'_>, cx: &mut Validation<'_>) -> Checked {
    if !cx.has(Feature::ClusterTls) {
        return Ok(());
    }
    if !message.transport_socket_matches.is_empty() && cx.has(Feature::TlsOfToday) {
        let at = root.field("transport_socket_matches");
        let why =
            format_args!("transport_socket_matches is set, must not be: one transport socket serves all endpoints");
        return Err(reject(&TRANSPORT_SOCKET_MATCHES, &at, why, cx));
    }
    let Some(socket) = &message.transport_socket else {
        return Ok(());
    };
    let at = root.field("transport_socket");
    match fields::socket_config(socket) {
        Some(any) if cx.has(Feature::HttpProxySocket) && is_url_of(&any.type_url, HTTP_11_PROXY) => {
            let here = at.field("typed_config");
            let proxy: Http11ProxyUpstreamTransport = unmarshal(&any.value, HTTP_11_PROXY, &here, cx)?;
            match &proxy.transport_socket {
                Some(socket) => tls_socket(socket, &here.value(HTTP_11_PROXY).field("transport_socket"), later, cx),
                None => Ok(()),
            }
        }
        _ => tls_socket(socket, &at, later, cx),
    }
}

/// Opens a transport socket that must be called TLS; `type_name` is the context that it must hold.
pub(super) fn tls_config<'s>(
    socket: &'s TransportSocket,
    type_name: &'static str,
    rule: &'static xdsctl_model::diag::Rule,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<&'s Any> {
    if socket.name != SOCKET_NAME {
        let why = format_args!(
            "the transport socket is called `{}`, must be `{}`",
            socket.name, SOCKET_NAME
        );
        return Err(reject(&TRANSPORT_SOCKET_NAME, &at.field("name"), why, cx));
    }
    let here = at.field("typed_config");
    match fields::socket_config(socket) {
        Some(any) if is_url_of(&any.type_url, type_name) => Ok(any),
        Some(any) => {
            let why = format_args!("`{}` is not supported, must be `{type_name}`", any.type_url);
            Err(reject(rule, &here, why, cx))
        }
        None => {
            let why = format_args!("missing, must hold `{type_name}`");
            let is_checked = cx.has(Feature::TypedConfigChecked);
            let stop = if is_checked { reject } else { super::panic };
            Err(stop(rule, &here, why, cx))
        }
    }
}

fn tls_socket(socket: &TransportSocket, at: &Path<'_>, later: Later<'_>, cx: &mut Validation<'_>) -> Checked {
    let any = tls_config(socket, UPSTREAM, &TRANSPORT_SOCKET_UNSUPPORTED, at, cx)?;
    let at = at.field("typed_config");
    let context: UpstreamTlsContext = unmarshal(&any.value, UPSTREAM, &at, cx)?;
    let at = at.value(UPSTREAM);
    let common_at = at.field("common_tls_context");
    let Some(common) = &context.common_tls_context else {
        let why = format_args!("common_tls_context is missing");
        return Err(reject(&WITHOUT_CA, &common_at, why, cx));
    };
    let config = tls::security_config(common, TlsSide::Client, &common_at, cx)?;
    if cx.has(Feature::Sni) && context.sni.len() > MAX_SNI_BYTES {
        let why = format_args!("sni has {} bytes, must have at most {MAX_SNI_BYTES}", context.sni.len());
        return Err(reject(&SNI_TOO_LONG, &at.field("sni"), why, cx));
    }
    tls::check_providers(&config, &common_at, later, cx)
}

/// Checks typed metadata, which is read under the switch of gcp_authn
/// (`validateAndConstructMetadata`).
fn audiences(metadata: &Metadata, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let typed = at.field("typed_filter_metadata");
    for (key, any) in &metadata.typed_filter_metadata {
        if !is_url_of(&any.type_url, AUDIENCE) {
            continue;
        }
        let at = typed.key(key);
        let audience: Audience = unmarshal(&any.value, AUDIENCE, &at, cx)?;
        if audience.url.is_empty() {
            let at = at.value(AUDIENCE);
            let why = format_args!("url is empty, must be the audience of the token");
            return Err(reject(&METADATA_AUDIENCE_WITHOUT_URL, &at.field("url"), why, cx));
        }
    }
    Ok(())
}

/// Checks the kind of cluster: EDS, LOGICAL_DNS, or an aggregate, which is known by the name of its
/// type.
fn discovery(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let number = match &message.cluster_discovery_type {
        Some(ClusterDiscoveryType::Type(number)) => *number,
        Some(ClusterDiscoveryType::ClusterType(custom))
            if custom.name == AGGREGATE_NAME && cx.has(Feature::AggregateAndDns) =>
        {
            let at = root.field("cluster_type");
            let at = at.field("typed_config");
            let empty = Any::default();
            let any = custom.typed_config.as_ref().unwrap_or(&empty);
            // The type URL is not looked at.
            let config: ClusterConfig = unmarshal(&any.value, AGGREGATE, &at, cx)?;
            if config.clusters.is_empty() && cx.has(Feature::AggregateChecked) {
                return Err(alike::no_child(&at, cx));
            }
            return Ok(());
        }
        Some(ClusterDiscoveryType::ClusterType(custom)) => {
            let at = root.field("cluster_type");
            let why = format_args!("cluster_type is called `{}`, must be `{AGGREGATE_NAME}`", custom.name);
            return Err(reject(&DISCOVERY_UNSUPPORTED, &at.field("name"), why, cx));
        }
        None => DiscoveryType::Static as i32,
    };
    match DiscoveryType::try_from(number) {
        Ok(DiscoveryType::Eds) => alike::eds(message, message.name.starts_with("xdstp:"), root, cx),
        Ok(DiscoveryType::LogicalDns) if cx.has(Feature::AggregateAndDns) => logical_dns(message, root, cx),
        _ => Err(alike::no_cluster_type(number, root, cx)),
    }
}

/// Checks the name to resolve (`dnsHostNameFromCluster`).
fn logical_dns(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let at = root.field("load_assignment");
    let Some(assignment) = &message.load_assignment else {
        let why = format_args!("load_assignment is missing");
        return Err(reject(&DNS_LOAD_ASSIGNMENT_MISSING, &at, why, cx));
    };
    let at = at.field("endpoints");
    let [locality] = assignment.endpoints.as_slice() else {
        let count = assignment.endpoints.len();
        let why = format_args!("{count} localities, must be one");
        return Err(reject(&DNS_NOT_ONE_ENDPOINT, &at, why, cx));
    };
    let at = at.index(0);
    let at = at.field("lb_endpoints");
    let [endpoint] = locality.lb_endpoints.as_slice() else {
        let count = locality.lb_endpoints.len();
        let why = format_args!("{count} endpoints, must be one");
        return Err(reject(&DNS_NOT_ONE_ENDPOINT, &at, why, cx));
    };
    let at = at.index(0);
    let at = at.field("endpoint");
    let endpoint: LbEndpoint = proto::kept(endpoint);
    let Some(endpoint) = fields::endpoint(&endpoint) else {
        return Err(reject(&ENDPOINT_MISSING, &at, format_args!("endpoint is missing"), cx));
    };
    let at = at.field("address");
    let at = at.field("socket_address");
    let Some(socket) = fields::socket(endpoint.address.as_ref()) else {
        let message = format_args!("address has no socket_address");
        return Err(reject(&ADDRESS_NOT_SOCKET, &at, message, cx));
    };
    if !socket.resolver_name.is_empty() {
        let name = &socket.resolver_name;
        let message = format_args!("resolver_name is `{name}`, must be empty");
        return Err(reject(&DNS_RESOLVER_NAME, &at.field("resolver_name"), message, cx));
    }
    if socket.address.is_empty() {
        let why = format_args!("address is empty");
        return Err(reject(&DNS_NAME_EMPTY, &at.field("address"), why, cx));
    }
    match fields::port(socket) {
        Some(port) if port != 0 => Ok(()),
        _ => {
            let why = format_args!("the port is 0 or missing");
            Err(reject(&DNS_PORT_UNSET, &at.field("port_value"), why, cx))
        }
    }
}

/// Returns the name of the TypedStruct that an Any holds, in either spelling; `None` if it holds
/// another message.
pub(super) fn typed_struct_name(url: &str, profile: &Profile) -> Option<&'static str> {
    let is_known = |name: &&str| profile.has(Feature::TypedStructOfXds) || name.starts_with("udpa");
    TYPED_STRUCTS.into_iter().filter(is_known).find(|name| holds(url, name))
}
