//! Whole parsed forms of small resources, as text and as JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::{ParsedValue, of, write};
use xdsctl_clients::core::cluster::lb_policy::default_policy;
use xdsctl_model::resource::cluster::{Cluster, Discovery, HealthStatus, MetadataValue};
use xdsctl_model::resource::endpoints::{Endpoint, Endpoints, Locality, LocalityName};
use xdsctl_model::resource::filter::{FilterConfig, FilterOverride, HttpFilter};
use xdsctl_model::resource::listener::{HttpConnectionManager, Listener, RouteSource};
use xdsctl_model::resource::matcher::{StringMatch, StringMatcher};
use xdsctl_model::resource::route::{
    Action, Destination, PathMatcher, RetryBounds, RetryOn, RetryPolicy, Route, RouteAction, RouteConfiguration,
    VirtualHost,
};
use xdsctl_model::resource::{Millis, Resource};

fn text(shown: ParsedValue<'_>) -> String {
    let mut out = String::new();
    write(shown, &mut out).unwrap();
    out
}

#[track_caller]
fn check(resource: &Resource, expected: &str) {
    assert_eq!(text(of(resource)), expected);
}

fn cluster() -> Cluster {
    Cluster {
        discovery: Discovery::Eds { service_name: None },
        lb_policy: default_policy().clone(),
        lrs_self: false,
        lrs_metrics: BTreeSet::new(),
        use_http_connect: false,
        tls: None,
        connection_idle_timeout: Millis(3_600_000),
        max_concurrent_requests: 1024,
        outlier_detection: None,
        override_host_statuses: BTreeSet::from([HealthStatus::Unknown, HealthStatus::Healthy]),
        metadata: BTreeMap::new(),
    }
}

#[test]
fn a_bare_cluster_is_all_defaults() {
    check(
        &Resource::Cluster(cluster()),
        r#"connection_idle_timeout: 3600s (default)
lb_policy: [{"xds_wrr_locality_experimental":{"childPolicy":[{"round_robin":{}}]}}] (default)
lrs_report_endpoint_metrics: none (default)
lrs_server: none (default)
max_concurrent_requests: 1024 (default)
metadata: none (default)
outlier_detection: none (default)
override_host_status: UNKNOWN, HEALTHY (default)
transport_socket: none (default)
use_http_connect: false (default)
discovery:
  type: EDS
  service_name: none (default)
"#,
    );
}

#[test]
fn what_is_no_default_is_not_marked_so() {
    let resource = Resource::Cluster(Cluster {
        discovery: Discovery::Aggregate {
            children: vec!["a".into(), "b".into()],
        },
        connection_idle_timeout: Millis(250),
        override_host_statuses: BTreeSet::from([HealthStatus::Unknown, HealthStatus::Draining]),
        metadata: BTreeMap::from([("k".into(), MetadataValue::Struct(json!({"defaults": 1})))]),
        ..cluster()
    });
    let parsed = of(&resource).to_value();
    assert_eq!(parsed["connection_idle_timeout"], json!("0.250s"));
    assert_eq!(
        parsed["discovery"],
        json!({"type": "AGGREGATE", "clusters": ["a", "b"], "defaults": []})
    );
    assert_eq!(parsed["override_host_status"], json!(["UNKNOWN", "DRAINING"]));
    let defaults: Vec<&str> = parsed["defaults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d.as_str().unwrap())
        .collect();
    assert_eq!(
        defaults,
        [
            "lb_policy",
            "max_concurrent_requests",
            "outlier_detection",
            "lrs_server",
            "lrs_report_endpoint_metrics",
            "use_http_connect",
            "transport_socket"
        ]
    );
    assert!(
        text(of(&resource)).contains("metadata:\n  k:\n    type: Struct\n    value: {\"defaults\":1}\n"),
        "{}",
        text(of(&resource))
    );
}

#[test]
fn endpoints_stand_below_their_priority_and_locality() {
    let endpoint = Endpoint {
        index: 0,
        address: "[::1]:80".parse().unwrap(),
        additional_addresses: vec!["127.0.0.1:80".parse().unwrap()],
        weight: 1,
        weight_is_default: true,
        health: HealthStatus::Draining,
        hostname: String::new(),
        proxy: None,
        hash_key: None,
    };
    let locality = Locality {
        index: 2,
        name: LocalityName {
            region: "r".into(),
            ..LocalityName::default()
        },
        weight: 3,
        left_out_weight: 0,
        endpoints: vec![endpoint].into(),
    };
    check(
        &Resource::Endpoints(Endpoints {
            priorities: vec![vec![locality]],
            drops: None,
            host_name: None,
        }),
        "drop_overloads: none (default)
priorities:
- priority: 0
  localities:
  - index: 2
    load_balancing_weight: 3
    lb_endpoints:
    - index: 0
      address: [::1]:80
      additional_addresses: 127.0.0.1:80
      hash_key: none (default)
      health_status: DRAINING
      hostname: \"\" (default)
      load_balancing_weight: 1 (default)
      proxy: none (default)
    locality:
      region: r
      sub_zone: \"\" (default)
      zone: \"\" (default)
",
    );
}

fn routes() -> RouteConfiguration {
    let action = RouteAction {
        hash_policies: Vec::new(),
        retry_policy: Some(RetryPolicy {
            retry_on: BTreeSet::from([RetryOn::Unavailable]),
            num_retries: 7,
            base_interval: Millis(25),
            max_interval: Millis(250),
            lost_tokens: Vec::new(),
            bounds: RetryBounds::Channel,
        }),
        retry_policy_inherited: true,
        destination: Destination::Cluster("c".into()),
        unweighted: Vec::new(),
        max_stream_duration: None,
        auto_host_rewrite: false,
        untrusted_host_rewrite: false,
    };
    let route = Route {
        index: 1,
        name: String::new(),
        path: PathMatcher::Text(StringMatcher {
            kind: StringMatch::Prefix("/".into()),
            ignore_case: false,
        }),
        headers: Vec::new(),
        fraction_per_million: None,
        action: Action::Route(Box::new(action)),
        typed_per_filter_config: BTreeMap::from([(
            "defaults".to_owned(),
            FilterOverride {
                disabled: true,
                config: None,
            },
        )]),
    };
    RouteConfiguration {
        virtual_hosts: vec![VirtualHost {
            index: 0,
            name: "h".into(),
            domains: vec!["*".into()],
            routes: vec![route],
            typed_per_filter_config: BTreeMap::new(),
        }],
        cluster_specifier_plugins: BTreeMap::new(),
    }
}

#[test]
fn a_route_shows_the_retry_policy_in_effect_and_its_grpc_form() {
    check(
        &Resource::RouteConfiguration(routes()),
        "cluster_specifier_plugins: none (default)
virtual_hosts:
- index: 0
  name: h
  domains: *
  typed_per_filter_config: none (default)
  routes:
  - index: 1
    name: \"\" (default)
    match:
      prefix: /
      case_sensitive: true (default)
      fraction_per_million: none (default)
      headers: none (default)
    route:
      auto_host_rewrite: false (default)
      cluster: c
      hash_policy: none (default)
      max_stream_duration: none (default)
      retry_policy:
        base_interval: 0.025s (default)
        from: virtual_host
        max_interval: 0.250s (default)
        num_retries: 7
        retry_on: unavailable
        grpc:
          backoff_multiplier: 2
          initial_backoff: 0.025s
          max_attempts: 5
          max_backoff: 0.250s
          retryable_status_codes: UNAVAILABLE
    typed_per_filter_config:
      defaults:
        config: none (default)
        disabled: true
",
    );
}

#[test]
fn a_listener_shows_its_filters() {
    let manager = HttpConnectionManager {
        routes: RouteSource::Rds("rc 1".into()),
        http_max_stream_duration: Millis(0),
        http_filters: vec![HttpFilter {
            index: 0,
            name: "router".into(),
            disabled: false,
            config: FilterConfig::Router,
        }],
    };
    check(
        &Resource::Listener(Listener::Api(manager)),
        "api_listener:
  max_stream_duration: 0s (default)
  http_filters:
  - index: 0
    name: router
    disabled: false (default)
    config:
      type: router
  rds:
    route_config_name: \"rc 1\"
",
    );
}
