//! Compares what the real client keeps of an accepted Cluster or ClusterLoadAssignment, word for
//! word.
//!
//! Some recorded rows have the client's own dump of the parsed resource (`parsed`). Here, the same
//! text is made from the model, so that defaults, orders and conversions are compared, not just the
//! verdict.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use serde::Deserialize;
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::cluster::{Cluster, Discovery, HealthStatus, MetadataValue};
use xdsctl_model::resource::endpoints::{Endpoint, Endpoints};
use xdsctl_model::resource::tls::{CaCerts, UpstreamTlsContext};
use xdsctl_model::resource::{Resource, ResourceType};

use crate::support::recorded;

#[derive(Deserialize)]
struct Row {
    id: String,
    kind: String,
    any_b64: String,
    parsed: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

fn rows() -> Vec<(Row, String)> {
    recorded("rules-cds-eds")
        .lines()
        .map(|line| serde_json::from_str::<Row>(line).unwrap())
        .filter_map(|mut row| row.parsed.take().map(|parsed| (row, parsed)))
        .collect()
}

fn kept(row: &Row) -> Option<Resource> {
    let mut profile = Profile::default();
    for (name, value) in &row.env {
        profile.set_env(name, value).unwrap();
    }
    let bytes = base64::engine::general_purpose::STANDARD.decode(&row.any_b64).unwrap();
    let any = <xdsctl_document::proto::pb::Any as prost::Message>::decode(bytes.as_slice()).unwrap();
    let resource_type = match row.kind.as_str() {
        "cds" => ResourceType::Cluster,
        _ => ResourceType::Endpoints,
    };
    xdsctl_clients::judge::validate(resource_type, &any.value, &profile, &ServerFacts::default()).value
}

fn dump(resource: &Resource) -> String {
    match resource {
        Resource::Cluster(cluster) => dump_cluster(cluster),
        Resource::Endpoints(endpoints) => dump_endpoints(endpoints),
        Resource::Listener(_) | Resource::RouteConfiguration(_) => String::new(),
    }
}

fn dump_cluster(cluster: &Cluster) -> String {
    let mut parts = match &cluster.discovery {
        Discovery::Eds { service_name } => vec![
            Some("type=EDS".to_owned()),
            service_name.as_ref().map(|name| format!("eds_service_name={name}")),
        ],
        Discovery::LogicalDns { hostname } => vec![
            Some("type=LOGICAL_DNS".to_owned()),
            Some(format!("dns_hostname={hostname}")),
        ],
        Discovery::Aggregate { children } => vec![
            Some("type=AGGREGATE".to_owned()),
            Some(format!("prioritized_cluster_names=[{}]", children.join(", "))),
        ],
    };
    parts.push(Some(format!("lb_policy_config={}", cluster.lb_policy.json)));
    parts.push(
        cluster
            .lrs_self
            .then(|| "lrs_load_reporting_server_name=127.0.0.1:PORT".to_owned()),
    );
    parts.push(Some(format!("lrs_backend_metric_propagation={{{}}}", metrics(cluster))));
    parts.push(cluster.use_http_connect.then(|| "use_http_connect=true".to_owned()));
    parts.push(Some(format!("upstream_tls_context={{{}}}", tls(cluster.tls.as_ref()))));
    parts.push(Some(format!(
        "connection_idle_timeout={}ms",
        cluster.connection_idle_timeout.0
    )));
    parts.push(Some(format!(
        "max_concurrent_requests={}",
        cluster.max_concurrent_requests
    )));
    let statuses: Vec<_> = cluster.override_host_statuses.iter().map(|s| status_name(*s)).collect();
    parts.push(Some(format!("override_host_statuses={{{}}}", statuses.join(", "))));
    let metadata: Vec<_> = cluster.metadata.iter().map(|(k, v)| metadata(k, v)).collect();
    parts.push((!metadata.is_empty()).then(|| format!("metadata={{{{{}}}}}", metadata.join(", "))));
    format!("{{{}}}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn metrics(cluster: &Cluster) -> String {
    let has = |name: &str| cluster.lrs_metrics.contains(name);
    let mut names: Vec<&str> = ["cpu_utilization", "mem_utilization", "application_utilization"]
        .into_iter()
        .filter(|name| has(name))
        .collect();
    if has("named_metrics.*") {
        names.push("named_metrics.*");
    } else {
        names.extend(
            cluster
                .lrs_metrics
                .iter()
                .map(String::as_str)
                .filter(|n| n.starts_with("named_metrics.")),
        );
    }
    names.join(",")
}

fn tls(context: Option<&UpstreamTlsContext>) -> String {
    let Some(tls) = context else {
        return String::new();
    };
    let CaCerts::Provider(provider) = &tls.common.ca_certs else {
        return "not compared".to_owned();
    };
    let mut text = format!(
        "common_tls_context={{certificate_validation_context={{ca_certs=cert_provider{{instance_name={}}}}}}}",
        provider.instance_name
    );
    if !tls.sni.is_empty() {
        write!(text, ", sni={}", tls.sni).unwrap();
    }
    if tls.auto_host_sni {
        text.push_str(", auto_host_sni=true");
    }
    if tls.auto_sni_san_validation {
        text.push_str(", auto_sni_san_validation=true");
    }
    text
}

fn metadata(key: &str, value: &MetadataValue) -> String {
    match value {
        MetadataValue::Struct(json) => format!("{key}=google.protobuf.Struct{{{json}}}"),
        MetadataValue::Audience { url } => {
            format!("{key}=envoy.extensions.filters.http.gcp_authn.v3.Audience{{url=\"{url}\"}}")
        }
        MetadataValue::Address(address) => format!("{key}=envoy.config.core.v3.Address{{address=\"{address}\"}}"),
    }
}

fn status_name(status: HealthStatus) -> &'static str {
    match status {
        HealthStatus::Unknown => "UNKNOWN",
        HealthStatus::Healthy => "HEALTHY",
        HealthStatus::Draining => "DRAINING",
    }
}

fn dump_endpoints(endpoints: &Endpoints) -> String {
    let mut priorities = Vec::new();
    for (i, localities) in endpoints.priorities.iter().enumerate() {
        let localities: Vec<_> = localities
            .iter()
            .map(|l| {
                let endpoints: Vec<_> = l.endpoints.iter().map(dump_endpoint).collect();
                format!(
                    "{{name={}, lb_weight={}, endpoints=[{}]}}",
                    l.name,
                    l.weight,
                    endpoints.join(", ")
                )
            })
            .collect();
        priorities.push(format!("priority {i}: [{}]", localities.join(", ")));
    }
    let mut text = format!("{{priorities=[{}]", priorities.join(", "));
    if let Some(drops) = &endpoints.drops {
        let categories: Vec<_> = drops
            .categories
            .iter()
            .map(|c| format!("{}={}", c.category, c.per_million))
            .collect();
        write!(
            text,
            ", drop_config={{[{}], drop_all={}}}",
            categories.join(", "),
            drops.drop_all
        )
        .unwrap();
    }
    text.push('}');
    text
}

fn dump_endpoint(endpoint: &Endpoint) -> String {
    let addresses: Vec<_> = endpoint.addresses().map(|a| a.to_string()).collect();
    let mut args = Vec::new();
    if !endpoint.hostname.is_empty() {
        args.push(format!("grpc.address_name={}", endpoint.hostname));
    }
    args.push(format!(
        "grpc.internal.no_subchannel.address.weight={}",
        endpoint.weight
    ));
    if let Some(key) = &endpoint.hash_key {
        args.push(format!("grpc.internal.no_subchannel.hash_key={key}"));
    }
    let health = match endpoint.health {
        HealthStatus::Unknown => 0,
        HealthStatus::Healthy => 1,
        HealthStatus::Draining => 2,
    };
    args.push(format!("grpc.internal.no_subchannel.xds_health_status={health}"));
    if let Some(proxy) = &endpoint.proxy {
        args.push(format!("grpc.internal.xds_http_proxy={proxy}"));
    }
    format!("addrs=[{}] args={{{}}}", addresses.join(", "), args.join(", "))
}

#[test]
fn clusters_and_endpoints_are_kept_as_the_client_keeps_them() {
    let rows = rows();
    assert!(rows.len() > 100);
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(row, parsed)| {
            let dump = kept(row).map(|r| dump(&r)).unwrap_or_default();
            (dump != *parsed).then(|| format!("{}:\n  client {parsed}\n  xdsctl {dump}", row.id))
        })
        .collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
