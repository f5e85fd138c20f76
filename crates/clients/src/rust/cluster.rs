//! Cluster, as tonic-xds reads it (xds/resource/cluster.rs `validate`).
//!
//! Whatever the type of the cluster, the client asks EDS for its endpoints, by the service name or
//! else the cluster's name. Of LB policies it reads only the enum, and both values that it accepts
//! mean the same policy: the less busy of two endpoints.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use super::tls;
use crate::shared::rules::{DISCOVERY_UNSUPPORTED, LB_POLICY_UNSUPPORTED, RESOURCE_NAME_EMPTY};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::cluster::v3::Cluster as Pb;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::cluster::{
    ClusterDiscoveryType, DiscoveryType, LbPolicy as PolicyPb,
};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::resource::cluster::{Cluster, Discovery, HealthStatus};
use xdsctl_model::resource::lb_policy::P2cConfig;
use xdsctl_model::resource::{LbConfig, LbPolicy, Millis};

/// Converts the resource.
pub(super) fn convert(message: &Pb, cx: &mut Validation<'_>) -> Checked<Cluster> {
    let root = &Path::ROOT;
    if message.name.is_empty() {
        let why = format_args!("name is empty, must not be");
        return Err(reject(&RESOURCE_NAME_EMPTY, &root.field("name"), why, cx));
    }
    note_type(message, cx);
    let config = message.eds_cluster_config.as_ref();
    let service_name = config.map(|config| config.service_name.clone());
    match PolicyPb::try_from(message.lb_policy) {
        Ok(PolicyPb::RoundRobin | PolicyPb::LeastRequest) => {}
        _ => {
            let number = message.lb_policy;
            let why = format_args!("lb_policy is {number}, must be ROUND_ROBIN or LEAST_REQUEST");
            return Err(reject(&LB_POLICY_UNSUPPORTED, &root.field("lb_policy"), why, cx));
        }
    }
    let socket = message.transport_socket.as_ref();
    let tls = socket.map(|socket| tls::upstream(socket, &root.field("transport_socket"), cx));
    Ok(Cluster {
        discovery: Discovery::Eds {
            service_name: service_name.filter(|name| !name.is_empty()),
        },
        lb_policy: policy(),
        lrs_self: false,
        lrs_metrics: BTreeSet::new(),
        use_http_connect: false,
        tls: tls.transpose()?,
        connection_idle_timeout: Millis(0),
        max_concurrent_requests: u32::MAX,
        outlier_detection: None,
        override_host_statuses: BTreeSet::from([HealthStatus::Unknown, HealthStatus::Healthy]),
        metadata: BTreeMap::new(),
    })
}

/// Reports that a cluster of another type than EDS has no endpoints but those of EDS.
fn note_type(message: &Pb, cx: &mut Validation<'_>) {
    let (field, what) = match &message.cluster_discovery_type {
        Some(ClusterDiscoveryType::Type(kind)) if *kind == DiscoveryType::Eds as i32 => return,
        Some(ClusterDiscoveryType::Type(_)) => ("type", "the cluster is not of type EDS"),
        Some(ClusterDiscoveryType::ClusterType(_)) => ("cluster_type", "the cluster has a type of its own"),
        None => ("type", "the cluster has no type, which is STATIC"),
    };
    let why = format_args!("{what}: its endpoints are asked for as those of EDS, and RPCs wait if there are none");
    cx.report_as(Effect::Fails, &DISCOVERY_UNSUPPORTED, &Path::ROOT.field(field), why);
}

/// Returns the only LB policy: the less busy of two endpoints.
fn policy() -> Arc<LbPolicy> {
    Arc::new(LbPolicy {
        config: LbConfig::P2c(P2cConfig {}),
        refusal: None,
        json: json!([{ "p2c": {} }]),
    })
}
