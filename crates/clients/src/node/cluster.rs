//! Cluster, as grpc-js-xds reads it (xds-resource-type/cluster-resource-type.ts
//! `validateResource`).

use super::{decode, fault, is_url_of, lb, tls};
use crate::shared::names::AGGREGATE;
use crate::shared::rules::{
    ADDRESS_MISSING, ADDRESS_NOT_SOCKET, CLUSTER_TYPE_UNSUPPORTED, DISCOVERY_UNSUPPORTED, DNS_LOAD_ASSIGNMENT_MISSING,
    DNS_NAME_EMPTY, DNS_NOT_ONE_ENDPOINT, DNS_PORT_UNSET, EDS_CONFIG_MISSING, EDS_SERVICE_NAME_MISSING,
    EDS_SOURCE_UNSUPPORTED, ENDPOINT_MISSING, LRS_SERVER_NOT_SELF,
};
use crate::shared::{self, Checked, alike, fields, outlier_detection};
use xdsctl_document::proto;
use xdsctl_document::proto::any::ANY_MISSING;
use xdsctl_document::proto::duration::DURATION_OUT_OF_RANGE;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::cluster::{
    ClusterDiscoveryType, CustomClusterType, DiscoveryType, LbConfig, LbPolicy,
};
use xdsctl_document::proto::pb::envoy::config::cluster::v3::{Cluster as Pb, OutlierDetection};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::LbEndpoint;
use xdsctl_document::proto::pb::envoy::extensions::clusters::aggregate::v3::ClusterConfig;
use xdsctl_document::proto::wire::CLIENT_FIELD_IGNORED;
use xdsctl_lb::ring_hash::LB_RING_HASH_SIZE;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// Outlier detection by success rate has no fewest hosts, which is accepted and then kills the process.
    OUTLIER_WITHOUT_HOSTS_KILLS = "cds-outlier-without-hosts-kills", Cluster, Fails, "grpc-js load-balancer-outlier-detection.ts runSuccessRateCheck";
}

/// The largest ring, in entries.
pub(super) const MAX_RING_SIZE: u64 = 8_388_608;

/// Converts the resource.
pub(super) fn convert(message: &Pb, cx: &mut Validation<'_>) -> Checked {
    let root = &Path::ROOT;
    let policy = message.load_balancing_policy.as_ref();
    match policy.filter(|_| cx.has(Feature::CustomLbConfig)) {
        // The client catches an exception from here, and counts it as one more fault.
        Some(policy) => _ = lb::list(policy, 0, &root.field("load_balancing_policy"), cx),
        None => lb_policy(message, root, cx),
    }
    let lrs_server = message.lrs_server.as_ref();
    if lrs_server.is_some_and(|source| !fields::is_self(source)) {
        let why = format_args!("lrs_server is not `self`");
        fault(&LRS_SERVER_NOT_SELF, &root.field("lrs_server"), why, cx);
    }
    let detection = message.outlier_detection.as_ref();
    if let Some(detection) = detection.filter(|_| cx.has(Feature::OutlierDetection)) {
        let at = root.field("outlier_detection");
        check_outlier_detection(detection, &at, cx);
        if matches!(message.cluster_discovery_type, Some(ClusterDiscoveryType::Type(_))) {
            kills(detection, &at, cx);
        }
    }
    if let Some(socket) = &message.transport_socket {
        let at = root.field("transport_socket");
        if cx.has(Feature::ClusterTls) {
            tls::upstream(socket, &at, cx)?;
        } else {
            let why = format_args!("the client does not read `transport_socket`: it connects without TLS");
            cx.report(&CLIENT_FIELD_IGNORED, &at, why);
        }
    }
    match &message.cluster_discovery_type {
        Some(ClusterDiscoveryType::ClusterType(custom)) => {
            shared::aggregate::unused(message, cx);
            aggregate(custom, &root.field("cluster_type"), cx)
        }
        Some(ClusterDiscoveryType::Type(number)) => {
            match DiscoveryType::try_from(*number) {
                Ok(DiscoveryType::Eds) => eds(message, root, cx),
                Ok(DiscoveryType::LogicalDns) => logical_dns(message, root, cx),
                other => {
                    let name = other.map_or("an unknown number", |kind| kind.as_str_name());
                    let why = format_args!("type {number} ({name}) is not supported");
                    fault(&DISCOVERY_UNSUPPORTED, &root.field("type"), why, cx);
                }
            }
            Ok(())
        }
        None => {
            let why = format_args!("type is not set, must be EDS or LOGICAL_DNS");
            fault(&DISCOVERY_UNSUPPORTED, &root.field("type"), why, cx);
            Ok(())
        }
    }
}

/// Checks the enum, which the client reads only without `load_balancing_policy`.
fn lb_policy(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) {
    match LbPolicy::try_from(message.lb_policy) {
        Ok(LbPolicy::RoundRobin) => {}
        Ok(LbPolicy::RingHash) if cx.has(Feature::RingHashPolicy) => {
            let Some(LbConfig::RingHashLbConfig(config)) = &message.lb_config else {
                return;
            };
            let at = root.field("ring_hash_lb_config");
            _ = alike::hash_function(config.hash_function, &at, cx);
            for (field, size) in [
                ("minimum_ring_size", config.minimum_ring_size),
                ("maximum_ring_size", config.maximum_ring_size),
            ] {
                let at = at.field(field);
                match size {
                    Some(0) => {
                        let why = format_args!("{field} is 0: it is accepted, and RPCs fail because the ring is empty");
                        cx.report_if_accepted(&LB_RING_HASH_SIZE, &at, why);
                    }
                    Some(size) if size > MAX_RING_SIZE => {
                        let why = format_args!("{field} is {size}, must be at most {MAX_RING_SIZE}");
                        fault(&LB_RING_HASH_SIZE, &at, why, cx);
                    }
                    Some(_) | None => {}
                }
            }
        }
        _ => _ = alike::no_lb_policy(message.lb_policy, root, cx),
    }
}

/// Reports ejection by success rate without a minimum of hosts: the process dies when there is
/// nothing to compare (`runSuccessRateCheck`).
fn kills(detection: &OutlierDetection, at: &Path<'_>, cx: &mut Validation<'_>) {
    let compares = detection.enforcing_success_rate != Some(0) && detection.success_rate_request_volume != Some(0);
    if compares && detection.success_rate_minimum_hosts.unwrap_or(0) == 0 {
        let why = format_args!(
            "success_rate_minimum_hosts is not set: it is accepted, and the process dies after an interval in which no endpoint got success_rate_request_volume RPCs"
        );
        cx.report_if_accepted(&OUTLIER_WITHOUT_HOSTS_KILLS, at, why);
    }
}

fn check_outlier_detection(detection: &OutlierDetection, at: &Path<'_>, cx: &mut Validation<'_>) {
    for (field, duration) in outlier_detection::durations(detection) {
        if duration.is_some_and(|duration| !outlier_detection::is_nonnegative(&duration)) {
            let why = format_args!("{field} is negative or too long");
            fault(&DURATION_OUT_OF_RANGE, &at.field(field), why, cx);
        }
    }
    for (field, percentage, rule) in outlier_detection::percentages(detection) {
        if let Some(value) = percentage.filter(|value| *value > 100) {
            let why = format_args!("{field} is {value}, must be at most 100");
            fault(rule, &at.field(field), why, cx);
        }
    }
}

fn aggregate(custom: &CustomClusterType, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let at = at.field("typed_config");
    let Some(any) = &custom.typed_config else {
        fault(&ANY_MISSING, &at, format_args!("missing, must hold `{AGGREGATE}`"), cx);
        return Ok(());
    };
    if !is_url_of(&any.type_url, AGGREGATE) {
        let why = format_args!("`{}` is not supported, must be `{AGGREGATE}`", any.type_url);
        fault(&CLUSTER_TYPE_UNSUPPORTED, &at.field("type_url"), why, cx);
        return Ok(());
    }
    let config: ClusterConfig = decode(&any.value, AGGREGATE, &at, cx)?;
    if config.clusters.is_empty() {
        _ = alike::no_child(&at, cx);
    }
    Ok(())
}

fn eds(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) {
    let at = root.field("eds_cluster_config");
    let Some(config) = &message.eds_cluster_config else {
        let why = format_args!("eds_cluster_config is missing, an EDS cluster must have one");
        return fault(&EDS_CONFIG_MISSING, &at, why, cx);
    };
    if !fields::is_ads_or_self(config.eds_config.as_ref()) {
        let why = format_args!("eds_config is neither `ads` nor `self`");
        fault(&EDS_SOURCE_UNSUPPORTED, &at.field("eds_config"), why, cx);
    }
    if message.name.starts_with("xdstp:") && config.service_name.is_empty() {
        let why = format_args!("service_name is empty, must be set for a cluster with an xdstp name");
        fault(&EDS_SERVICE_NAME_MISSING, &at.field("service_name"), why, cx);
    }
}

fn logical_dns(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) {
    let at = root.field("load_assignment");
    let Some(assignment) = &message.load_assignment else {
        let why = format_args!("load_assignment is missing, a LOGICAL_DNS cluster must have one");
        return fault(&DNS_LOAD_ASSIGNMENT_MISSING, &at, why, cx);
    };
    let at = at.field("endpoints");
    let [locality] = assignment.endpoints.as_slice() else {
        return not_one("locality", assignment.endpoints.len(), &at, cx);
    };
    let at = at.index(0);
    let at = at.field("lb_endpoints");
    let [bytes] = locality.lb_endpoints.as_slice() else {
        return not_one("endpoint", locality.lb_endpoints.len(), &at, cx);
    };
    let at = at.index(0);
    let at = at.field("endpoint");
    let lb: LbEndpoint = proto::kept(bytes);
    let Some(endpoint) = fields::endpoint(&lb) else {
        let why = format_args!("endpoint is missing, must have an address");
        return fault(&ENDPOINT_MISSING, &at, why, cx);
    };
    let at = at.field("address");
    let Some(address) = &endpoint.address else {
        return fault(&ADDRESS_MISSING, &at, format_args!("address is missing"), cx);
    };
    let at = at.field("socket_address");
    let Some(socket) = fields::socket(Some(address)) else {
        let why = format_args!("address has no socket_address, no other kind is supported");
        return fault(&ADDRESS_NOT_SOCKET, &at, why, cx);
    };
    if socket.address.is_empty() {
        let why = format_args!("address is empty, must be a host name or an IP address");
        fault(&DNS_NAME_EMPTY, &at.field("address"), why, cx);
    }
    if fields::port(socket).is_none() {
        let why = format_args!("port_value is not set, named_port is not read");
        fault(&DNS_PORT_UNSET, &at.field("port_value"), why, cx);
    }
}

fn not_one(what: &str, count: usize, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("a LOGICAL_DNS cluster must have exactly one {what}, has {count}");
    fault(&DNS_NOT_ONE_ENDPOINT, at, why, cx);
}
