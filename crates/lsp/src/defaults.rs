//! The defaults that clients use if a field is not set. The reference client is asked once.
//!
//! Small resources that do not set these fields are validated. What the client keeps of them
//! contains the defaults.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;
use xdsctl_channel::client::{Keep, Reading, ValidationInput};
use xdsctl_channel::parsed;
use xdsctl_document::envelope::LoadOptions;
use xdsctl_document::proto::message_type::FieldType;
use xdsctl_document::source::SourceMap;
use xdsctl_model::profile::{Profile, ServerFacts};

/// The resources that are validated: a cluster, its endpoints, and routes to it.
const RESOURCES: &str = r#"{"resources": [
  {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a", "type": "EDS", "lb_policy": "RING_HASH",
   "eds_cluster_config": {"eds_config": {"ads": {}}}, "outlier_detection": {}},
  {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "a",
   "endpoints": [{"locality": {}, "load_balancing_weight": 1, "lb_endpoints":
     [{"endpoint": {"address": {"socket_address": {"address": "1.2.3.4", "port_value": 1}}}}]}]},
  {"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r",
   "virtual_hosts": [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "route":
     {"cluster": "a", "retry_policy": {"retry_on": "unavailable", "retry_back_off": {"base_interval": "1s"}}}}]}]}
]}"#;

/// Message and name of each field, the index of the resource, and the place of the field in what
/// the client keeps of that resource.
static FIELDS: &[(&str, &str, usize, &str)] = &[
    (
        "envoy.config.cluster.v3.OutlierDetection",
        "interval",
        0,
        "/outlier_detection/interval",
    ),
    (
        "envoy.config.cluster.v3.OutlierDetection",
        "base_ejection_time",
        0,
        "/outlier_detection/base_ejection_time",
    ),
    (
        "envoy.config.cluster.v3.OutlierDetection",
        "max_ejection_time",
        0,
        "/outlier_detection/max_ejection_time",
    ),
    (
        "envoy.config.cluster.v3.OutlierDetection",
        "max_ejection_percent",
        0,
        "/outlier_detection/max_ejection_percent",
    ),
    (
        "envoy.config.cluster.v3.CircuitBreakers.Thresholds",
        "max_requests",
        0,
        "/max_concurrent_requests",
    ),
    (
        "envoy.config.cluster.v3.Cluster.RingHashLbConfig",
        "minimum_ring_size",
        0,
        "/lb_policy/0/ring_hash_experimental/minRingSize",
    ),
    (
        "envoy.config.cluster.v3.Cluster.RingHashLbConfig",
        "maximum_ring_size",
        0,
        "/lb_policy/0/ring_hash_experimental/maxRingSize",
    ),
    (
        "envoy.config.endpoint.v3.LbEndpoint",
        "load_balancing_weight",
        1,
        "/priorities/0/localities/0/lb_endpoints/0/load_balancing_weight",
    ),
    (
        "envoy.config.endpoint.v3.LbEndpoint",
        "health_status",
        1,
        "/priorities/0/localities/0/lb_endpoints/0/health_status",
    ),
    (
        "envoy.config.endpoint.v3.LocalityLbEndpoints",
        "priority",
        1,
        "/priorities/0/priority",
    ),
    (
        "envoy.config.route.v3.RetryPolicy",
        "num_retries",
        2,
        "/virtual_hosts/0/routes/0/route/retry_policy/num_retries",
    ),
    (
        "envoy.config.route.v3.RetryPolicy.RetryBackOff",
        "max_interval",
        2,
        "/virtual_hosts/0/routes/0/route/retry_policy/max_interval",
    ),
    (
        "envoy.config.route.v3.RouteMatch",
        "case_sensitive",
        2,
        "/virtual_hosts/0/routes/0/match/case_sensitive",
    ),
];

/// Message and name of a field.
type Key = (&'static str, &'static str);

static BY_FIELD: LazyLock<BTreeMap<Key, String>> = LazyLock::new(|| {
    let kept = kept();
    let value = |(message, field, number, place): &(&'static str, &'static str, usize, &str)| {
        let value = kept.get(*number)?.pointer(place)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Some(((*message, *field), text))
    };
    FIELDS.iter().filter_map(value).collect()
});

/// Returns what the client keeps of each resource.
fn kept() -> Vec<Value> {
    let mut sources = SourceMap::new();
    let id = sources.add("defaults", RESOURCES.as_bytes().to_vec());
    let (profile, server) = (Profile::default(), ServerFacts::default());
    let against = ValidationInput {
        profile: &profile,
        others: &[],
        server: &server,
        keep: Keep::Parsed,
    };
    let mut reading = Reading::default();
    reading.read(Some(1), &against, |loader, emit| {
        loader.json(id, RESOURCES.as_bytes(), LoadOptions::default(), emit);
    });
    let resources = reading.finish(&against, false).resources.into_iter();
    let kept = resources.map(|checked| checked.parsed.map(|parsed| parsed::of(&parsed).to_value()));
    kept.map(Option::unwrap_or_default).collect()
}

/// Returns the default of the reference client for a field; `None` if it is not in the table.
pub fn default_of(field: FieldType) -> Option<&'static str> {
    let key = (field.owner().name(), field.name());
    BY_FIELD.get(&key).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_document::proto::message_type::MessageType;

    #[test]
    fn every_field_has_the_default_of_the_client() {
        let default = |message: &str, field: &str| {
            let message = MessageType::named(message).unwrap();
            default_of(message.field(field).unwrap())
        };
        for (message, field, ..) in FIELDS {
            assert!(default(message, field).is_some(), "{message} {field}");
        }
        // gRFC A50 and A42.
        assert_eq!(
            default("envoy.config.cluster.v3.OutlierDetection", "interval"),
            Some("10s")
        );
        let ring = "envoy.config.cluster.v3.Cluster.RingHashLbConfig";
        assert_eq!(default(ring, "minimum_ring_size"), Some("1024"));
        assert_eq!(default(ring, "maximum_ring_size"), Some("8388608"));
        assert_eq!(default("envoy.config.cluster.v3.Cluster", "name"), None);
    }
}
