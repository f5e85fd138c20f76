//! A Cluster as the client keeps it.

use super::fields::{FieldValue, Fields, Form};
use xdsctl_clients::core::cluster::lb_policy::default_policy;
use xdsctl_clients::core::cluster::outlier_detection::DEFAULT_MAX_EJECTION_TIME;
use xdsctl_clients::core::cluster::upstream_config;
use xdsctl_model::resource::cluster::{
    DEFAULT_MAX_CONCURRENT_REQUESTS, Discovery, FailurePercentageEjection, HealthStatus, MetadataValue,
    OutlierDetection, SuccessRateEjection,
};
use xdsctl_model::resource::{Cluster, LbConfig};

impl Fields for Cluster {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        let statuses = &self.override_host_statuses;
        let default_statuses = statuses.len() == 2 && !statuses.contains(&HealthStatus::Draining);
        form.put("discovery", &self.discovery)
            .set("lb_policy", &self.lb_policy.json, &default_policy().json)
            .unprinted("lb_policies", || FieldValue::list(lb_policies(&self.lb_policy.config)))
            .set(
                "connection_idle_timeout",
                self.connection_idle_timeout,
                upstream_config::DEFAULT_IDLE_TIMEOUT,
            )
            .set(
                "max_concurrent_requests",
                self.max_concurrent_requests,
                DEFAULT_MAX_CONCURRENT_REQUESTS,
            )
            .optional("outlier_detection", self.outlier_detection.as_ref())
            .mark(
                "override_host_status",
                FieldValue::list(statuses.iter().map(|status| status.name())),
                default_statuses,
            )
            .optional("lrs_server", self.lrs_self.then_some("self"))
            .list("lrs_report_endpoint_metrics", &self.lrs_metrics)
            .set("use_http_connect", self.use_http_connect, false)
            .optional("transport_socket", self.tls.as_ref())
            .map("metadata", &self.metadata);
    }
}

/// The names of the LB policies, from the outermost inwards.
pub fn lb_policies(config: &LbConfig) -> Vec<&'static str> {
    let mut names = vec![xdsctl_lb::name_of(config)];
    names.extend(config.children().into_iter().flat_map(lb_policies));
    names
}

impl Fields for Discovery {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("type", self.kind());
        match self {
            Discovery::Eds { service_name } => form.optional("service_name", service_name.as_deref()),
            Discovery::LogicalDns { hostname } => form.put("hostname", hostname),
            Discovery::Aggregate { children } => form.items("clusters", children),
        };
    }
}

impl Fields for OutlierDetection {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        let default = OutlierDetection::DEFAULT;
        let (max, percent) = (self.max_ejection_time, self.max_ejection_percent);
        form.set("interval", self.interval, default.interval)
            .set(
                "base_ejection_time",
                self.base_ejection_time,
                default.base_ejection_time,
            )
            .set("max_ejection_time", max, DEFAULT_MAX_EJECTION_TIME)
            .set("max_ejection_percent", percent, default.max_ejection_percent)
            .optional("success_rate", self.success_rate.as_ref())
            .optional("failure_percentage", self.failure_percentage.as_ref());
    }
}

impl Fields for SuccessRateEjection {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        let default = SuccessRateEjection::DEFAULT;
        form.put("enforcing", self.enforcement_percentage)
            .set("stdev_factor", self.stdev_factor, default.stdev_factor)
            .set("minimum_hosts", self.minimum_hosts, default.minimum_hosts)
            .set("request_volume", self.request_volume, default.request_volume);
    }
}

impl Fields for FailurePercentageEjection {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        let default = FailurePercentageEjection::DEFAULT;
        form.put("enforcing", self.enforcement_percentage)
            .set("threshold", self.threshold, default.threshold)
            .set("minimum_hosts", self.minimum_hosts, default.minimum_hosts)
            .set("request_volume", self.request_volume, default.request_volume);
    }
}

impl Fields for MetadataValue {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        match self {
            MetadataValue::Struct(value) => form.put("type", "Struct").put("value", value),
            MetadataValue::Audience { url } => form.put("type", "Audience").put("url", url),
            MetadataValue::Address(address) => form.put("type", "Address").put("address", address),
        };
    }
}
