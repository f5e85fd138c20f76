//! Cluster, as a client keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::lb::CHOICES;
use super::{FamilyReader, millis, opened};
use crate::shared::fields;
use crate::shared::names::{ADDRESS, AUDIENCE};
use xdsctl_document::proto;
use xdsctl_document::proto::any::struct_to_json;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::cluster::{
    ClusterDiscoveryType, DiscoveryType, LbConfig as PbConfig, LbPolicy as PbPolicy,
};
use xdsctl_document::proto::pb::envoy::config::cluster::v3::{Cluster as Pb, OutlierDetection as OutlierPb};
use xdsctl_document::proto::pb::envoy::config::core::v3::{Address, Metadata};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::LbEndpoint;
use xdsctl_document::proto::pb::envoy::extensions::clusters::aggregate::v3::ClusterConfig;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::gcp_authn::v3::Audience;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::{
    Cluster, DEFAULT_MAX_CONCURRENT_REQUESTS, Discovery, FailurePercentageEjection, HealthStatus, MetadataValue,
    OutlierDetection, SuccessRateEjection,
};
use xdsctl_model::resource::{LbPolicy, Millis};

/// How long a session's connection is kept by clients that do not read the idle timeout: one hour
/// (A75).
const IDLE_TIMEOUT: Millis = Millis(3_600_000);

/// The metrics that clients report, besides those whose names begin with `named_metrics.` (A85).
pub(crate) const METRICS: [&str; 3] = ["cpu_utilization", "mem_utilization", "application_utilization"];

/// Says whether clients report a metric that lrs_report_endpoint_metrics names.
pub(crate) fn is_reported(metric: &str) -> bool {
    METRICS.contains(&metric) || metric.starts_with("named_metrics.")
}

impl FamilyReader<'_> {
    /// Reads a Cluster that the client has accepted.
    pub(super) fn cluster(&self, message: &Pb) -> Cluster {
        let socket = message.transport_socket.as_ref();
        let (use_http_connect, tls) = socket.map(|socket| self.upstream_tls(socket)).unwrap_or_default();
        let metrics = message.lrs_report_endpoint_metrics.iter();
        let outliers = message.outlier_detection.as_ref();
        let outliers = outliers.filter(|_| self.has(Feature::OutlierDetection));
        Cluster {
            discovery: discovery(message),
            lb_policy: self.cluster_policy(message),
            lrs_self: message.lrs_server.is_some(),
            lrs_metrics: match self.has(Feature::OrcaLrsPropagation) {
                true => metrics.filter(|name| is_reported(name)).cloned().collect(),
                false => BTreeSet::new(),
            },
            use_http_connect,
            tls,
            connection_idle_timeout: IDLE_TIMEOUT,
            max_concurrent_requests: self.max_requests(message),
            outlier_detection: outliers.map(|outliers| self.outlier_detection(outliers)),
            override_host_statuses: BTreeSet::from([HealthStatus::Unknown, HealthStatus::Healthy]),
            metadata: self.metadata(message),
        }
    }

    fn cluster_policy(&self, message: &Pb) -> Arc<LbPolicy> {
        if self.has(Feature::DnsPolicyReplaced) && matches!(discovery(message), Discovery::LogicalDns { .. }) {
            return self.lb_policy(json!([{ "pick_first": {} }]));
        }
        let list = message.load_balancing_policy.as_ref();
        if let Some(list) = list.filter(|_| self.has(Feature::CustomLbConfig)) {
            return self.lb_policy(self.policies(list));
        }
        let json = match (PbPolicy::try_from(message.lb_policy), &message.lb_config) {
            (Ok(PbPolicy::RingHash), Some(PbConfig::RingHashLbConfig(config))) => {
                let ring = self.ring(config.minimum_ring_size, config.maximum_ring_size);
                json!([{ "ring_hash_experimental": ring }])
            }
            (Ok(PbPolicy::RingHash), _) => json!([{ "ring_hash_experimental": self.ring(None, None) }]),
            (Ok(PbPolicy::LeastRequest), config) => {
                let count = match config {
                    Some(PbConfig::LeastRequestLbConfig(config)) => config.choice_count,
                    _ => None,
                };
                let policy = json!([{ "least_request_experimental": { "choiceCount": count.unwrap_or(CHOICES) } }]);
                match self.dialect.least_request_in_localities {
                    true => json!([{ "xds_wrr_locality_experimental": { "childPolicy": policy } }]),
                    false => policy,
                }
            }
            _ => json!([{"xds_wrr_locality_experimental": {"childPolicy": [{"round_robin": {}}]}}]),
        };
        self.lb_policy(json)
    }

    /// Returns `max_requests` of the threshold with priority DEFAULT that counts for this client.
    fn max_requests(&self, message: &Pb) -> u32 {
        let thresholds = message.circuit_breakers.as_ref().map_or(&[][..], |it| &it.thresholds);
        let mut of_default = thresholds.iter().filter(|threshold| threshold.priority == 0);
        let found = match self.dialect.last_breaker {
            true if self.dialect.unset_breaker_counts => of_default.next_back().and_then(|last| last.max_requests),
            true => of_default.filter_map(|threshold| threshold.max_requests).next_back(),
            false => of_default.next().and_then(|threshold| threshold.max_requests),
        };
        found.unwrap_or(DEFAULT_MAX_CONCURRENT_REQUESTS)
    }

    /// Reads outlier detection (A50), with the defaults of this client's policy.
    fn outlier_detection(&self, pb: &OutlierPb) -> OutlierDetection {
        let ways = OutlierWays {
            zero_is_default: self.has(Feature::OutlierDefaults),
            success_rate_by_default: true,
            max_ejection_time: OutlierDetection::DEFAULT.max_ejection_time,
        };
        let read = outlier_detection(pb, ways);
        match self.has(Feature::OutlierDefaultsLost) {
            true => OutlierDetection {
                success_rate: success_rate_as_set(pb),
                failure_percentage: failure_percentage_as_set(pb),
                ..read
            },
            false => read,
        }
    }

    /// Reads the typed metadata that the client knows, and then Structs under other keys.
    fn metadata(&self, message: &Pb) -> BTreeMap<String, MetadataValue> {
        let mut map = BTreeMap::new();
        let is_read = self.has(Feature::ClusterMetadata) || self.has(Feature::GcpAuthnFilter);
        let Some(metadata) = message.metadata.as_ref().filter(|_| is_read) else {
            return map;
        };
        let metadata: Metadata = proto::kept(metadata);
        for (key, any) in &metadata.typed_filter_metadata {
            if let Some(audience) = opened::<Audience>(any, AUDIENCE).filter(|_| self.has(Feature::GcpAuthnFilter)) {
                map.insert(key.clone(), MetadataValue::Audience { url: audience.url });
            } else if let Some(address) = opened::<Address>(any, ADDRESS).filter(|_| self.has(Feature::HttpConnect))
                && let Some(address) = super::endpoints::socket_address(&address)
            {
                map.insert(key.clone(), MetadataValue::Address(address.to_string()));
            }
        }
        for (key, value) in &metadata.filter_metadata {
            if !map.contains_key(key) {
                let json = struct_to_json(Some(value)).unwrap_or(Value::Null);
                map.insert(key.clone(), MetadataValue::Struct(json));
            }
        }
        map
    }
}

/// How a client reads outlier detection, as far as clients differ.
pub(crate) struct OutlierWays {
    /// A field that is 0 counts as not set.
    pub zero_is_default: bool,
    /// The client ejects by success rate unless that is switched off.
    pub success_rate_by_default: bool,
    /// The default of `max_ejection_time`.
    pub max_ejection_time: Millis,
}

/// Reads outlier detection (A50). An algorithm exists only if its enforcement percentage is not 0.
pub(crate) fn outlier_detection(pb: &OutlierPb, ways: OutlierWays) -> OutlierDetection {
    let is_set = |is_zero: bool| !(is_zero && ways.zero_is_default);
    let time = |value: &Option<prost_types::Duration>, default| {
        let given = value.as_ref().map(millis);
        given.filter(|time| is_set(time.0 == 0)).unwrap_or(default)
    };
    let number = |value: Option<u32>, default| value.filter(|value| is_set(*value == 0)).unwrap_or(default);
    let by_rate = match pb.enforcing_success_rate {
        None if ways.success_rate_by_default => Some(SuccessRateEjection::DEFAULT.enforcement_percentage),
        given => given.filter(|percentage| *percentage != 0),
    };
    let by_failures = pb.enforcing_failure_percentage.filter(|percentage| *percentage != 0);
    let (default, rate, failures) = (
        OutlierDetection::DEFAULT,
        SuccessRateEjection::DEFAULT,
        FailurePercentageEjection::DEFAULT,
    );
    OutlierDetection {
        interval: time(&pb.interval, default.interval),
        base_ejection_time: time(&pb.base_ejection_time, default.base_ejection_time),
        max_ejection_time: time(&pb.max_ejection_time, ways.max_ejection_time),
        max_ejection_percent: number(pb.max_ejection_percent, default.max_ejection_percent),
        success_rate: by_rate.map(|enforcement_percentage| SuccessRateEjection {
            stdev_factor: number(pb.success_rate_stdev_factor, rate.stdev_factor),
            enforcement_percentage,
            minimum_hosts: number(pb.success_rate_minimum_hosts, rate.minimum_hosts),
            request_volume: number(pb.success_rate_request_volume, rate.request_volume),
        }),
        failure_percentage: by_failures.map(|enforcement_percentage| FailurePercentageEjection {
            threshold: number(pb.failure_percentage_threshold, failures.threshold),
            enforcement_percentage,
            minimum_hosts: number(pb.failure_percentage_minimum_hosts, failures.minimum_hosts),
            request_volume: number(pb.failure_percentage_request_volume, failures.request_volume),
        }),
    }
}

/// Reads ejection by success rate for versions in which a field that is not set has no value:
/// without a volume no endpoint is compared, and without a factor or a percentage none is ejected
/// (grpc-js `OutlierDetectionLoadBalancer.runSuccessRateCheck`).
fn success_rate_as_set(pb: &OutlierPb) -> Option<SuccessRateEjection> {
    if pb.enforcing_success_rate == Some(0) {
        return None;
    }
    let share = pb.success_rate_stdev_factor.and(pb.enforcing_success_rate);
    Some(SuccessRateEjection {
        stdev_factor: pb.success_rate_stdev_factor.unwrap_or(0),
        enforcement_percentage: share.unwrap_or(0),
        minimum_hosts: pb.success_rate_minimum_hosts.unwrap_or(0),
        request_volume: pb.success_rate_request_volume.unwrap_or(u32::MAX),
    })
}

/// Reads ejection by failure percentage for versions in which a field that is not set has no value:
/// without a volume each endpoint is compared, but none counts towards the minimum of hosts
/// (`runFailurePercentageCheck`).
fn failure_percentage_as_set(pb: &OutlierPb) -> Option<FailurePercentageEjection> {
    let share = pb.enforcing_failure_percentage.filter(|share| *share > 0)?;
    let hosts = pb.failure_percentage_minimum_hosts.unwrap_or(0);
    let (minimum_hosts, request_volume) = match pb.failure_percentage_request_volume {
        Some(volume) => (hosts, volume),
        None if hosts == 0 => (0, 0),
        None => (hosts, u32::MAX),
    };
    Some(FailurePercentageEjection {
        threshold: pb.failure_percentage_threshold.unwrap_or(0),
        enforcement_percentage: pb.failure_percentage_threshold.map_or(0, |_| share),
        minimum_hosts,
        request_volume,
    })
}

/// Reads how the endpoints of a cluster are found.
fn discovery(message: &Pb) -> Discovery {
    match &message.cluster_discovery_type {
        Some(ClusterDiscoveryType::ClusterType(custom)) => {
            let any = custom.typed_config.as_ref();
            let config: Option<ClusterConfig> = any.and_then(|any| prost::Message::decode(any.value.clone()).ok());
            Discovery::Aggregate {
                children: config.unwrap_or_default().clusters,
            }
        }
        Some(ClusterDiscoveryType::Type(kind)) if *kind == DiscoveryType::LogicalDns as i32 => Discovery::LogicalDns {
            hostname: dns_name(message).unwrap_or_default(),
        },
        Some(ClusterDiscoveryType::Type(_)) | None => {
            let config = message.eds_cluster_config.as_ref();
            let service = config.map(|config| config.service_name.as_str());
            Discovery::Eds {
                service_name: service.filter(|name| !name.is_empty()).map(str::to_owned),
            }
        }
    }
}

/// Returns the host and port of the only endpoint.
fn dns_name(message: &Pb) -> Option<String> {
    let locality = message.load_assignment.as_ref()?.endpoints.first()?;
    let endpoint: LbEndpoint = proto::kept(locality.lb_endpoints.first()?);
    fields::socket(fields::endpoint(&endpoint)?.address.as_ref()).map(fields::host_port)
}
