//! A Cluster as the client keeps it.

use serde_json::{Value, json};

use super::object::ParsedObject;
use super::tls;
use xdsctl_clients::core::cluster::lb_policy::default_policy;
use xdsctl_clients::core::cluster::outlier_detection as outlier;
use xdsctl_clients::core::cluster::upstream_config;
use xdsctl_model::resource::Cluster;
use xdsctl_model::resource::cluster::{
    DEFAULT_MAX_CONCURRENT_REQUESTS, Discovery, FailurePercentageEjection, HealthStatus, MetadataValue,
    OutlierDetection, SuccessRateEjection,
};

pub(super) fn cluster(cluster: &Cluster) -> Value {
    let statuses = &cluster.override_host_statuses;
    let default_statuses = statuses.len() == 2 && !statuses.contains(&HealthStatus::Draining);
    let names: Vec<&str> = statuses.iter().map(|s| s.name()).collect();
    ParsedObject::new()
        .put("discovery", discovery(&cluster.discovery))
        .set(
            "lb_policy",
            cluster.lb_policy.json.clone(),
            default_policy().json.clone(),
        )
        .time(
            "connection_idle_timeout",
            cluster.connection_idle_timeout,
            upstream_config::DEFAULT_IDLE_TIMEOUT,
        )
        .set(
            "max_concurrent_requests",
            cluster.max_concurrent_requests,
            DEFAULT_MAX_CONCURRENT_REQUESTS,
        )
        .optional(
            "outlier_detection",
            cluster.outlier_detection.as_ref().map(outlier_detection),
        )
        .mark("override_host_status", names, default_statuses)
        .optional("lrs_server", cluster.lrs_self.then(|| "self".into()))
        .list(
            "lrs_report_endpoint_metrics",
            cluster.lrs_metrics.iter().map(|name| name.as_str().into()),
        )
        .set("use_http_connect", cluster.use_http_connect, false)
        .optional("transport_socket", cluster.tls.as_ref().map(tls::upstream))
        .map(
            "metadata",
            cluster.metadata.iter().map(|(key, value)| (key, metadata(value))),
        )
        .done()
}

fn discovery(discovery: &Discovery) -> Value {
    let object = ParsedObject::new().put("type", discovery.kind());
    match discovery {
        Discovery::Eds { service_name } => object.optional("service_name", service_name.as_deref().map(Value::from)),
        Discovery::LogicalDns { hostname } => object.put("hostname", hostname.as_str()),
        Discovery::Aggregate { children } => object.put("clusters", json!(children)),
    }
    .done()
}

fn outlier_detection(config: &OutlierDetection) -> Value {
    ParsedObject::new()
        .time("interval", config.interval, outlier::DEFAULT_INTERVAL)
        .time(
            "base_ejection_time",
            config.base_ejection_time,
            outlier::DEFAULT_BASE_EJECTION_TIME,
        )
        .time(
            "max_ejection_time",
            config.max_ejection_time,
            outlier::DEFAULT_MAX_EJECTION_TIME,
        )
        .set(
            "max_ejection_percent",
            config.max_ejection_percent,
            outlier::DEFAULT_MAX_EJECTION_PERCENT,
        )
        .optional("success_rate", config.success_rate.as_ref().map(success_rate))
        .optional(
            "failure_percentage",
            config.failure_percentage.as_ref().map(failure_percentage),
        )
        .done()
}

fn success_rate(config: &SuccessRateEjection) -> Value {
    ParsedObject::new()
        .put("enforcing", config.enforcement_percentage)
        .set("stdev_factor", config.stdev_factor, outlier::DEFAULT_STDEV_FACTOR)
        .set("minimum_hosts", config.minimum_hosts, outlier::DEFAULT_MINIMUM_HOSTS)
        .set(
            "request_volume",
            config.request_volume,
            outlier::DEFAULT_SUCCESS_RATE_VOLUME,
        )
        .done()
}

fn failure_percentage(config: &FailurePercentageEjection) -> Value {
    ParsedObject::new()
        .put("enforcing", config.enforcement_percentage)
        .set("threshold", config.threshold, outlier::DEFAULT_THRESHOLD)
        .set("minimum_hosts", config.minimum_hosts, outlier::DEFAULT_MINIMUM_HOSTS)
        .set(
            "request_volume",
            config.request_volume,
            outlier::DEFAULT_FAILURE_PERCENTAGE_VOLUME,
        )
        .done()
}

/// The parsed form of an entry of metadata.
pub fn metadata(value: &MetadataValue) -> Value {
    match value {
        MetadataValue::Struct(value) => ParsedObject::new().put("type", "Struct").put("value", value.clone()),
        MetadataValue::Audience { url } => ParsedObject::new().put("type", "Audience").put("url", url.as_str()),
        MetadataValue::Address(address) => ParsedObject::new()
            .put("type", "Address")
            .put("address", address.as_str()),
    }
    .done()
}
