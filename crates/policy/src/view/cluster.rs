//! Clusters.

use std::rc::Rc;

use super::{Named, duration, map, object, objects, of_json, optional, text, texts};
use crate::cel::{Record, Text, Value, View};
use xdsctl_channel::parsed;
use xdsctl_model::resource::cluster::{
    Discovery, FailurePercentageEjection, MetadataValue, OutlierDetection, SuccessRateEjection,
};
use xdsctl_model::resource::tls::{
    CaCerts, CommonTlsContext, DownstreamTlsContext, ProviderInstance, UpstreamTlsContext,
};
use xdsctl_model::resource::{Cluster, LbConfig};

/// The names of LB policies from the outermost in.
pub(crate) fn lb_policies<'a>(config: &LbConfig) -> Value<'a> {
    fn collect<'a>(config: &LbConfig, names: &mut Vec<Value<'a>>) {
        names.push(text(xdsctl_lb::name_of(config)));
        config.children().into_iter().for_each(|child| collect(child, names));
    }
    let mut names = Vec::new();
    collect(config, &mut names);
    Value::List(names.into())
}

impl<'a> View<'a> for Named<'a, Cluster> {
    fn get(&self, field: &str) -> Value<'a> {
        let Named(name, of) = *self;
        match field {
            "name" => text(name),
            "discovery" => object(&of.discovery),
            "lb_policy" => Value::of_json(&of.lb_policy.json),
            "lb_policies" => lb_policies(&of.lb_policy.config),
            "connection_idle_timeout" => duration(of.connection_idle_timeout),
            "max_concurrent_requests" => Value::int(of.max_concurrent_requests),
            "outlier_detection" => optional(of.outlier_detection.as_ref(), object),
            "override_host_status" => Value::list(of.override_host_statuses.iter().map(|status| text(status.name()))),
            "lrs_server" if of.lrs_self => text("self"),
            "lrs_report_endpoint_metrics" => texts(&of.lrs_metrics),
            "use_http_connect" => Value::Bool(of.use_http_connect),
            "transport_socket" => optional(of.tls.as_ref(), object),
            "metadata" => {
                let all = of.metadata.iter();
                let all = all.map(|(key, value)| (Text::Borrowed(key.as_str()), metadata(value)));
                Value::Map(Rc::new(all.collect()))
            }
            _ => Value::Null,
        }
    }
}

fn metadata<'a>(value: &MetadataValue) -> Value<'a> {
    match value {
        MetadataValue::Struct(value) => map([("type", text("Struct")), ("value", Value::of_json(value))]),
        _ => of_json(&parsed::metadata(value), "metadata"),
    }
}

impl Record for Discovery {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match (field, self) {
            ("type", of) => text(of.kind()),
            ("service_name", Discovery::Eds { service_name }) => optional(service_name.as_deref(), text),
            ("hostname", Discovery::LogicalDns { hostname }) => text(hostname),
            ("clusters", Discovery::Aggregate { children }) => texts(children),
            _ => Value::Null,
        }
    }
}

impl Record for OutlierDetection {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        let of = self;
        match field {
            "interval" => duration(of.interval),
            "base_ejection_time" => duration(of.base_ejection_time),
            "max_ejection_time" => duration(of.max_ejection_time),
            "max_ejection_percent" => Value::int(of.max_ejection_percent),
            "success_rate" => optional(of.success_rate.as_ref(), object),
            "failure_percentage" => optional(of.failure_percentage.as_ref(), object),
            _ => Value::Null,
        }
    }
}

impl Record for SuccessRateEjection {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "enforcing" => Value::int(self.enforcement_percentage),
            "stdev_factor" => Value::int(self.stdev_factor),
            "minimum_hosts" => Value::int(self.minimum_hosts),
            "request_volume" => Value::int(self.request_volume),
            _ => Value::Null,
        }
    }
}

impl Record for FailurePercentageEjection {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "enforcing" => Value::int(self.enforcement_percentage),
            "threshold" => Value::int(self.threshold),
            "minimum_hosts" => Value::int(self.minimum_hosts),
            "request_volume" => Value::int(self.request_volume),
            _ => Value::Null,
        }
    }
}

impl Record for UpstreamTlsContext {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "sni" => text(&self.sni),
            "auto_host_sni" => Value::Bool(self.auto_host_sni),
            "auto_sni_san_validation" => Value::Bool(self.auto_sni_san_validation),
            _ => common(&self.common, field),
        }
    }
}

impl Record for DownstreamTlsContext {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "require_client_certificate" => Value::Bool(self.require_client_certificate),
            _ => common(&self.common, field),
        }
    }
}

fn common<'a>(of: &'a CommonTlsContext, field: &str) -> Value<'a> {
    match (field, &of.ca_certs) {
        ("ca_certificates", CaCerts::SystemRoots) => text("system_root_certs"),
        ("ca_certificates", CaCerts::Provider(instance)) => object(instance),
        ("match_subject_alt_names", _) => objects(&of.match_subject_alt_names),
        ("identity_certificate", _) => optional(of.identity.as_ref(), object),
        _ => Value::Null,
    }
}

impl Record for ProviderInstance {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "instance_name" => text(&self.instance_name),
            "certificate_name" => text(&self.certificate_name),
            _ => Value::Null,
        }
    }
}
