//! Checks that grpc-go, grpc-java and grpc-js-xds make alike, each at its own place and in versions
//! of its own.

use super::names::AGGREGATE;
use super::rules::{
    AGGREGATE_EMPTY, DISCOVERY_UNSUPPORTED, EDS_SERVICE_NAME_MISSING, EDS_SOURCE_UNSUPPORTED, LB_POLICY_UNSUPPORTED,
    ORIGINAL_IP_DETECTION, PATH_SPECIFIER_UNSUPPORTED, TLS_UNSUPPORTED_FEATURE, XFF_NUM_TRUSTED_HOPS,
};
use super::{Checked, ConverterStop, fields, reject};
use xdsctl_document::proto::pb::envoy::config::cluster::v3::Cluster;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::cluster::{DiscoveryType, LbPolicy};
use xdsctl_document::proto::pb::envoy::config::route::v3::RouteMatch;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_match::PathSpecifier;
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
use xdsctl_lb::ring_hash::LB_RING_HASH_FUNCTION;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// Which side runs a connection manager, or has a TLS context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsSide {
    Client,
    Server,
}

/// Reports a field of the message at `at` that is set and not supported.
#[cold]
pub(crate) fn unsupported(field: &'static str, at: &Path<'_>, cx: &mut Validation<'_>) -> ConverterStop {
    let why = format_args!("{field} is not supported, must not be set");
    reject(&TLS_UNSUPPORTED_FEATURE, &at.field(field), why, cx)
}

/// Checks where the endpoints of an EDS cluster come from, and that a cluster with an xdstp name
/// also names its service.
pub(crate) fn eds(message: &Cluster, has_xdstp_name: bool, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let at = root.field("eds_cluster_config");
    let config = message.eds_cluster_config.as_ref();
    let source = config.and_then(|config| config.eds_config.as_ref());
    if !fields::is_ads(source, cx.has(Feature::SelfSource)) {
        let why = format_args!("eds_config is neither `ads` nor `self`");
        return Err(reject(&EDS_SOURCE_UNSUPPORTED, &at.field("eds_config"), why, cx));
    }
    let is_unnamed = config.is_none_or(|config| config.service_name.is_empty());
    if cx.has(Feature::XdstpServiceName) && has_xdstp_name && is_unnamed {
        let why = format_args!("service_name is empty, must be set for a cluster with an xdstp name");
        return Err(reject(&EDS_SERVICE_NAME_MISSING, &at.field("service_name"), why, cx));
    }
    Ok(())
}

/// Reports a type of cluster that the client does not have.
#[cold]
pub(crate) fn no_cluster_type(number: i32, root: &Path<'_>, cx: &mut Validation<'_>) -> ConverterStop {
    let name = DiscoveryType::try_from(number).map_or("an unknown number", |kind| kind.as_str_name());
    let why = format_args!("type {number} ({name}) is not supported, must be EDS or LOGICAL_DNS");
    reject(&DISCOVERY_UNSUPPORTED, &root.field("type"), why, cx)
}

/// Reports an aggregate without a child in the Any at `at`.
#[cold]
pub(crate) fn no_child(at: &Path<'_>, cx: &mut Validation<'_>) -> ConverterStop {
    let at = at.value(AGGREGATE);
    let why = format_args!("clusters is empty, an aggregate cluster must have a child");
    reject(&AGGREGATE_EMPTY, &at.field("clusters"), why, cx)
}

/// Reports a value of the enum `lb_policy` that the client does not have.
#[cold]
pub(crate) fn no_lb_policy(number: i32, root: &Path<'_>, cx: &mut Validation<'_>) -> ConverterStop {
    let name = LbPolicy::try_from(number).map_or("an unknown number", |policy| policy.as_str_name());
    let why = format_args!("lb_policy {number} ({name}) is not supported");
    reject(&LB_POLICY_UNSUPPORTED, &root.field("lb_policy"), why, cx)
}

/// Checks the hash function in a cluster's `ring_hash_lb_config`.
pub(crate) fn hash_function(number: i32, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match number {
        0 => Ok(()),
        _ => {
            let why = format_args!("hash_function is {number}, must be XX_HASH (0)");
            Err(reject(&LB_RING_HASH_FUNCTION, &at.field("hash_function"), why, cx))
        }
    }
}

/// Checks the fields of a connection manager that only a proxy uses (A41): the hops, and the
/// detection of addresses.
pub(crate) fn proxy_fields(
    message: &HttpConnectionManager,
    (checks_hops, checks_detection): (bool, bool),
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    if message.xff_num_trusted_hops != 0 && checks_hops {
        let at = at.field("xff_num_trusted_hops");
        let why = format_args!("xff_num_trusted_hops is {}, must be 0", message.xff_num_trusted_hops);
        return Err(reject(&XFF_NUM_TRUSTED_HOPS, &at, why, cx));
    }
    if !message.original_ip_detection_extensions.is_empty() && checks_detection {
        let at = at.field("original_ip_detection_extensions");
        let why = format_args!("original_ip_detection_extensions is set, must be empty");
        return Err(reject(&ORIGINAL_IP_DETECTION, &at, why, cx));
    }
    Ok(())
}

/// Checks the path of a route's match at `at`; `regex` checks an expression.
pub(crate) fn path_specifier(
    matches: &RouteMatch,
    regex: fn(&str, &Path<'_>, &mut Validation<'_>) -> Checked,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    match &matches.path_specifier {
        Some(PathSpecifier::Prefix(_) | PathSpecifier::Path(_)) => Ok(()),
        Some(PathSpecifier::SafeRegex(safe)) => {
            let at = at.field("safe_regex");
            regex(&safe.regex, &at.field("regex"), cx)
        }
        Some(_) | None => {
            let why = format_args!("no path specifier that the client has, must be prefix, path or safe_regex");
            Err(reject(&PATH_SPECIFIER_UNSUPPORTED, at, why, cx))
        }
    }
}
