//! How a cluster finds its endpoints: EDS (A27), LOGICAL_DNS or other clusters (A37).
//!
//! Follows C-core `EdsConfigParse`, `LogicalDnsParse` and `AggregateClusterParse`
//! (xds_cluster_parser.cc). EDS and LOGICAL_DNS are values of `type`; an aggregate cluster is known
//! by the type in `cluster_type.typed_config` alone, not by a name. Empty, repeated and missing
//! names, cycles and depth concern several resources: `lint` checks them.

use crate::shared::names::AGGREGATE;
use crate::shared::rules::{
    AGGREGATE_EMPTY, CLUSTER_TYPE_UNSUPPORTED, DISCOVERY_UNSUPPORTED, EDS_CONFIG_MISSING, EDS_SERVICE_NAME_MISSING,
    EDS_SOURCE_UNSUPPORTED,
};
use crate::shared::{URL_PREFIX, fields};
use xdsctl_document::proto::any;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::Cluster as Pb;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::cluster::{
    ClusterDiscoveryType, CustomClusterType, DiscoveryType, EdsClusterConfig,
};
use xdsctl_document::proto::pb::envoy::extensions::clusters::aggregate::v3::ClusterConfig;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::Discovery;

use super::logical_dns;

rules! {
    /// A field belongs to another kind of cluster and is not read.
    OTHER_DISCOVERY_FIELD = "cds-field-of-other-discovery", Cluster, Ignored, "gRFC A27, A37; C-core CdsResourceParse",
        also [Go Java Node] "each reads the fields of the kind that the cluster is of";
}

/// Converts the discovery type; `None` after an error that leaves none.
pub(super) fn discovery(message: &Pb, cx: &mut Validation<'_>) -> Option<Discovery> {
    let number = match &message.cluster_discovery_type {
        Some(ClusterDiscoveryType::Type(number)) => *number,
        Some(ClusterDiscoveryType::ClusterType(custom)) => {
            other_field(message.eds_cluster_config.is_some(), "eds_cluster_config", cx);
            other_field(message.load_assignment.is_some(), "load_assignment", cx);
            return aggregate(custom, cx);
        }
        None => DiscoveryType::Static as i32,
    };
    let known = DiscoveryType::try_from(number);
    match known {
        Ok(DiscoveryType::Eds) => {
            other_field(message.load_assignment.is_some(), "load_assignment", cx);
            eds(message.eds_cluster_config.as_ref(), &message.name, cx)
        }
        Ok(DiscoveryType::LogicalDns) => {
            other_field(message.eds_cluster_config.is_some(), "eds_cluster_config", cx);
            logical_dns::logical_dns(message.load_assignment.as_ref(), cx)
        }
        Ok(DiscoveryType::Static | DiscoveryType::StrictDns | DiscoveryType::OriginalDst) | Err(_) => {
            cx.report(
                &DISCOVERY_UNSUPPORTED,
                &Path::ROOT.field("type"),
                format_args!(
                    "type {number} ({}) is not supported, must be EDS, LOGICAL_DNS or an aggregate in cluster_type",
                    known.map_or("an unknown number", |t| t.as_str_name())
                ),
            );
            None
        }
    }
}

fn other_field(set: bool, field: &str, cx: &mut Validation<'_>) {
    if set {
        cx.report(
            &OTHER_DISCOVERY_FIELD,
            &Path::ROOT.field(field),
            format_args!("not read, it belongs to another kind of cluster"),
        );
    }
}

/// Converts an EDS cluster. Without a service name, the client asks EDS for the cluster's own name.
fn eds(config: Option<&EdsClusterConfig>, name: &str, cx: &mut Validation<'_>) -> Option<Discovery> {
    let at = Path::ROOT.field("eds_cluster_config");
    let why = "eds_cluster_config is missing, an EDS cluster must have one";
    let config = cx.required(config, &EDS_CONFIG_MISSING, &at, why)?;
    if !fields::is_ads_or_self(config.eds_config.as_ref()) {
        let what = match config.eds_config {
            Some(_) => "is neither `ads` nor `self`",
            None => "is missing, must be `ads` or `self`",
        };
        let why = format_args!("eds_config {what}");
        cx.report(&EDS_SOURCE_UNSUPPORTED, &at.field("eds_config"), why);
    }
    if config.service_name.is_empty() && name.starts_with("xdstp:") && cx.has(Feature::XdstpServiceName) {
        cx.report(
            &EDS_SERVICE_NAME_MISSING,
            &at.field("service_name"),
            format_args!("service_name is empty, must be set for a cluster with an xdstp name"),
        );
    }
    Some(Discovery::Eds {
        service_name: (!config.service_name.is_empty()).then(|| config.service_name.clone()),
    })
}

/// Converts an aggregate cluster (A37). Its Any is not opened like others: a TypedStruct is a wrong
/// type here, and only the usual prefix is stripped from the type URL.
fn aggregate(custom: &CustomClusterType, cx: &mut Validation<'_>) -> Option<Discovery> {
    let at = Path::ROOT.field("cluster_type");
    let at = at.field("typed_config");
    let why = format_args!("missing, must hold `{AGGREGATE}`");
    let config = cx.required(custom.typed_config.as_ref(), &any::ANY_MISSING, &at, why)?;
    // The client strips this prefix and no other.
    let type_name = config.type_url.strip_prefix(URL_PREFIX).unwrap_or(&config.type_url);
    let (url, rule) = (&config.type_url, &CLUSTER_TYPE_UNSUPPORTED);
    let why = format_args!("`{url}` is not supported, must be `{URL_PREFIX}{AGGREGATE}`");
    cx.check(type_name == AGGREGATE, rule, &at.field("type_url"), why)?;
    let at = at.value(AGGREGATE);
    let config: ClusterConfig = any::decode(&config.value, AGGREGATE, &at, cx)?;
    let at = at.field("clusters");
    let holds = !config.clusters.is_empty() || !cx.has(Feature::CollectsFaults);
    let why = "clusters is empty, an aggregate cluster must have a child";
    cx.check(holds, &AGGREGATE_EMPTY, &at, why)?;
    Some(Discovery::Aggregate {
        children: config.clusters,
    })
}
