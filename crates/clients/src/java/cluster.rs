//! Cluster, as grpc-java reads it (XdsClusterResource `processCluster`): the kind, LB, metadata.

use super::{holds, lb, metadata, tls, to_nanos, unpack};
use crate::shared::names::{AGGREGATE, AGGREGATE_NAME, HTTP_11_PROXY, SOCKET_NAME};
use crate::shared::rules::{
    ADDRESS_NOT_SOCKET, CLUSTER_TYPE_UNSUPPORTED, DISCOVERY_UNSUPPORTED, DNS_LOAD_ASSIGNMENT_MISSING,
    DNS_NOT_ONE_ENDPOINT, DNS_PORT_UNSET, DNS_RESOLVER_NAME, LRS_SERVER_NOT_SELF, TRANSPORT_SOCKET_MATCHES,
    TRANSPORT_SOCKET_NAME,
};
use crate::shared::{self, Checked, alike, fields, reject};
use xdsctl_document::proto;
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::Cluster as Pb;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::OutlierDetection;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::cluster::{
    ClusterDiscoveryType, CustomClusterType, DiscoveryType,
};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::LbEndpoint;
use xdsctl_document::proto::pb::envoy::extensions::clusters::aggregate::v3::ClusterConfig;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::http_11_proxy::v3::Http11ProxyUpstreamTransport;
use xdsctl_document::proto::pb::well_known::Duration;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// The interval of outlier detection is 0, which is accepted and then kills the channel.
    OUTLIER_ZERO_INTERVAL_KILLS = "cds-outlier-zero-interval-kills", Cluster, Fails, "grpc-java OutlierDetectionLoadBalancer acceptResolvedAddresses, ManagedChannelImpl.panic";
}

/// Converts the resource.
pub(super) fn convert(message: &Pb, cx: &mut Validation<'_>) -> Checked {
    let root = &Path::ROOT;
    match &message.cluster_discovery_type {
        Some(ClusterDiscoveryType::Type(kind)) => non_aggregate(message, *kind, root, cx)?,
        Some(ClusterDiscoveryType::ClusterType(custom)) if cx.has(Feature::AggregateAndDns) => {
            aggregate(custom, &root.field("cluster_type"), cx)?
        }
        Some(ClusterDiscoveryType::ClusterType(_)) => {
            let why = format_args!("cluster_type is set, must be EDS");
            return Err(reject(&DISCOVERY_UNSUPPORTED, &root.field("cluster_type"), why, cx));
        }
        None => {
            let why = format_args!("neither type nor cluster_type is set");
            return Err(reject(&DISCOVERY_UNSUPPORTED, &root.field("type"), why, cx));
        }
    }
    lb::of_cluster(message, root, cx)?;
    if matches!(
        message.cluster_discovery_type,
        Some(ClusterDiscoveryType::ClusterType(_))
    ) {
        shared::aggregate::unused(message, cx);
    }
    match &message.metadata {
        Some(bytes) if cx.has(Feature::ClusterMetadata) => {
            metadata::parse(&proto::kept(bytes), &root.field("metadata"), cx)
        }
        _ => Ok(()),
    }
}

/// Checks an aggregate cluster, which is known by its name and by its type
/// (`parseAggregateCluster`).
fn aggregate(custom: &CustomClusterType, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if custom.name != AGGREGATE_NAME {
        let why = format_args!("cluster_type is called `{}`, must be `{AGGREGATE_NAME}`", custom.name);
        return Err(reject(&CLUSTER_TYPE_UNSUPPORTED, &at.field("name"), why, cx));
    }
    let empty = Any::default();
    let any = custom.typed_config.as_ref().unwrap_or(&empty);
    let at = at.field("typed_config");
    let config: ClusterConfig = unpack(any, AGGREGATE, &CLUSTER_TYPE_UNSUPPORTED, &at, cx)?;
    if config.clusters.is_empty() && cx.has(Feature::AggregateChecked) {
        return Err(alike::no_child(&at, cx));
    }
    Ok(())
}

/// Checks the fields of EDS and LOGICAL_DNS clusters (`parseNonAggregateCluster`).
fn non_aggregate(message: &Pb, kind: i32, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if let Some(server) = &message.lrs_server
        && !fields::is_self(server)
    {
        let why = format_args!("lrs_server is not `self`");
        return Err(reject(&LRS_SERVER_NOT_SELF, &root.field("lrs_server"), why, cx));
    }
    if !message.transport_socket_matches.is_empty() && cx.has(Feature::TlsOfToday) {
        let at = root.field("transport_socket_matches");
        let why =
            format_args!("transport_socket_matches is set, must not be: one transport socket serves all endpoints");
        return Err(reject(&TRANSPORT_SOCKET_MATCHES, &at, why, cx));
    }
    transport_socket(message, &root.field("transport_socket"), cx)?;
    let detection = message.outlier_detection.as_ref();
    if let Some(detection) = detection.filter(|_| cx.has(Feature::OutlierDetection)) {
        outlier_detection(detection, &root.field("outlier_detection"), cx)?;
    }
    match DiscoveryType::try_from(kind) {
        Ok(DiscoveryType::Eds) => {
            let scheme = message.name.get(..6).unwrap_or_default();
            alike::eds(message, scheme.eq_ignore_ascii_case("xdstp:"), root, cx)
        }
        Ok(DiscoveryType::LogicalDns) if cx.has(Feature::AggregateAndDns) => match cx.has(Feature::DnsClusterChecked) {
            true => logical_dns(message, root, cx),
            false => Ok(()),
        },
        _ => Err(alike::no_cluster_type(kind, root, cx)),
    }
}

/// Checks the transport socket, which is TLS by its name. A proxy's socket may hold another one.
fn transport_socket(message: &Pb, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let socket = message.transport_socket.as_ref();
    let Some(socket) = socket.filter(|_| cx.has(Feature::ClusterTls)) else {
        return Ok(());
    };
    let empty = Any::default();
    let any = fields::socket_config(socket).unwrap_or(&empty);
    let is_proxy = cx.has(Feature::HttpConnect)
        && if cx.has(Feature::HttpProxyByType) {
            holds(any, HTTP_11_PROXY)
        } else {
            super::is_url_of(&socket.name, HTTP_11_PROXY)
        };
    if is_proxy {
        let at = at.field("typed_config");
        let proxy: Http11ProxyUpstreamTransport = unpack(any, HTTP_11_PROXY, &TRANSPORT_SOCKET_NAME, &at, cx)?;
        return match &proxy.transport_socket {
            Some(socket) if socket.name == SOCKET_NAME => {
                tls::upstream(socket, &at.value(HTTP_11_PROXY).field("transport_socket"), cx)
            }
            // A socket of another name is not looked at, and there is no TLS.
            _ => Ok(()),
        };
    }
    if socket.name != SOCKET_NAME {
        return Err(tls::misnamed(&socket.name, at, cx));
    }
    tls::upstream(socket, at, cx)
}

/// Checks outlier detection (`validateOutlierDetection`). A percentage of 2^31 or more counts as
/// negative.
fn outlier_detection(message: &OutlierDetection, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    shared::outlier_detection::check(message, |value| value.cast_signed() > 100, at, cx)?;
    for (field, duration) in shared::outlier_detection::durations(message) {
        if let Some(duration) = duration {
            to_nanos(duration, &at.field(field), cx)?;
        }
    }
    // `ScheduledExecutorService.scheduleWithFixedDelay` throws at a delay of 0.
    let is_zero = |interval: &Duration| (interval.seconds, interval.nanos) == (0, 0);
    if message.interval.as_ref().is_some_and(is_zero) {
        let why = format_args!("interval is 0: it is accepted, and every RPC of the channel fails with INTERNAL");
        cx.report_if_accepted(&OUTLIER_ZERO_INTERVAL_KILLS, &at.field("interval"), why);
    }
    Ok(())
}

/// Checks the one name to look up, which may be empty.
fn logical_dns(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let at = root.field("load_assignment");
    let Some(assignment) = &message.load_assignment else {
        let why = format_args!("load_assignment is missing, must name the one host");
        return Err(reject(&DNS_LOAD_ASSIGNMENT_MISSING, &at, why, cx));
    };
    let at = at.field("endpoints");
    let one = match assignment.endpoints.as_slice() {
        [locality] => locality.lb_endpoints.as_slice(),
        _ => &[],
    };
    let [one] = one else {
        let why = format_args!("must have one locality with one endpoint");
        return Err(reject(&DNS_NOT_ONE_ENDPOINT, &at, why, cx));
    };
    let endpoint: LbEndpoint = proto::kept(one);
    let at = at.index(0);
    let at = at.field("lb_endpoints");
    let at = at.index(0);
    let at = at.field("endpoint");
    let at = at.field("address");
    let at = at.field("socket_address");
    let endpoint = fields::endpoint(&endpoint);
    let Some(socket) = endpoint.and_then(|endpoint| fields::socket(endpoint.address.as_ref())) else {
        let why = format_args!("the endpoint has no socket_address");
        return Err(reject(&ADDRESS_NOT_SOCKET, &at, why, cx));
    };
    if !socket.resolver_name.is_empty() {
        let why = format_args!("resolver_name is set, must be empty");
        return Err(reject(&DNS_RESOLVER_NAME, &at.field("resolver_name"), why, cx));
    }
    if fields::port(socket).is_none() {
        let why = format_args!("port_value is not set");
        return Err(reject(&DNS_PORT_UNSET, &at.field("port_value"), why, cx));
    }
    Ok(())
}
