//! Tests of the Cluster converter: A37 (discovery), A75 (idle timeout), A55 (override_host_status),
//! A42, A32, A50.

mod a37_discovery;
mod a50_outlier_detection;
mod a55_override_host_status;
mod a75_idle_timeout;

use prost::Message as _;
use prost_types::Duration;

use super::*;
use pb::cluster::{
    ClusterDiscoveryType, CommonLbConfig, CustomClusterType, EdsClusterConfig, LbConfig, RingHashLbConfig,
};
use xdsctl_document::proto::keep;
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::{
    Address, AggregatedConfigSource, ApiConfigSource, ConfigSource, HealthStatusSet,
    HttpProtocolOptions as CommonOptions, SelfConfigSource, SocketAddress, TypedExtensionConfig, address,
    config_source::ConfigSourceSpecifier, socket_address::PortSpecifier,
};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{
    ClusterLoadAssignment, Endpoint, LbEndpoint, LocalityLbEndpoints, lb_endpoint::HostIdentifier,
};
use xdsctl_document::proto::pb::envoy::extensions::clusters::aggregate::v3::ClusterConfig;
use xdsctl_document::proto::pb::envoy::extensions::upstreams::http::v3::HttpProtocolOptions;
use xdsctl_model::diag::Diagnostic;
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::Millis;

fn run(message: &Pb, env: &[(&str, &str)]) -> (Option<Cluster>, Vec<Diagnostic>) {
    let mut profile = Profile::default();
    for (name, value) in env {
        profile.set_env(name, value).unwrap();
    }
    let server = ServerFacts::default();
    let mut cx = Validation::new(&profile, &server);
    let value = convert(message, &mut cx);
    let value = match value {
        Some(Resource::Cluster(cluster)) if !cx.nacked() => Some(cluster),
        _ => None,
    };
    (value, cx.finish())
}

fn pairs(findings: &[Diagnostic]) -> Vec<(&'static str, String)> {
    findings.iter().map(|d| (d.rule.id, d.path.to_string())).collect()
}

/// Requires exactly these (rule, path) findings, in order.
#[track_caller]
fn check(message: &Pb, expected: &[(&str, &str)]) {
    let (_, findings) = run(message, &[]);
    let expected: Vec<_> = expected.iter().map(|(r, p)| (*r, (*p).to_owned())).collect();
    assert_eq!(pairs(&findings), expected, "{findings:#?}");
}

/// Returns what is kept of a cluster that must have no finding at all.
#[track_caller]
fn kept(message: &Pb) -> Cluster {
    check(message, &[]);
    run(message, &[]).0.unwrap()
}

fn source(specifier: ConfigSourceSpecifier) -> Option<ConfigSource> {
    Some(ConfigSource {
        config_source_specifier: Some(specifier),
    })
}

fn ads() -> Option<ConfigSource> {
    source(ConfigSourceSpecifier::Ads(AggregatedConfigSource::default()))
}

fn discovery_type(number: i32) -> Option<ClusterDiscoveryType> {
    Some(ClusterDiscoveryType::Type(number))
}

fn eds() -> Pb {
    Pb {
        name: "c".into(),
        cluster_discovery_type: discovery_type(3),
        eds_cluster_config: Some(EdsClusterConfig {
            eds_config: ads(),
            service_name: String::new(),
        }),
        ..Pb::default()
    }
}

fn any(type_name: &str, value: Vec<u8>) -> Any {
    Any {
        type_url: format!("type.googleapis.com/{type_name}"),
        value: value.into(),
    }
}

const AGGREGATE: &str = "envoy.extensions.clusters.aggregate.v3.ClusterConfig";

fn aggregate(children: &[&str]) -> Pb {
    let config = ClusterConfig {
        clusters: children.iter().map(|&c| c.to_owned()).collect(),
    };
    of_cluster_type(Some(any(AGGREGATE, config.encode_to_vec())))
}

fn of_cluster_type(typed_config: Option<Any>) -> Pb {
    Pb {
        name: "c".into(),
        cluster_discovery_type: Some(ClusterDiscoveryType::ClusterType(CustomClusterType {
            typed_config,
            ..Default::default()
        })),
        ..Pb::default()
    }
}

fn socket(name: &str, port: u32) -> SocketAddress {
    SocketAddress {
        address: name.into(),
        port_specifier: Some(PortSpecifier::PortValue(port)),
        ..SocketAddress::default()
    }
}

fn dns(socket: SocketAddress) -> Pb {
    let endpoint = Endpoint {
        address: Some(Address {
            address: Some(address::Address::SocketAddress(socket)),
        }),
        ..Endpoint::default()
    };
    dns_of(vec![LocalityLbEndpoints {
        lb_endpoints: vec![keep(&LbEndpoint {
            host_identifier: Some(HostIdentifier::Endpoint(endpoint)),
            ..LbEndpoint::default()
        })],
        ..LocalityLbEndpoints::default()
    }])
}

fn dns_of(endpoints: Vec<LocalityLbEndpoints>) -> Pb {
    Pb {
        name: "c".into(),
        cluster_discovery_type: discovery_type(2),
        load_assignment: Some(ClusterLoadAssignment {
            endpoints,
            ..ClusterLoadAssignment::default()
        }),
        ..Pb::default()
    }
}

#[test]
fn defaults_are_the_clients() {
    let cluster = kept(&eds());
    assert_eq!(cluster.discovery, Discovery::Eds { service_name: None });
    assert_eq!(
        cluster.lb_policy.json.to_string(),
        r#"[{"xds_wrr_locality_experimental":{"childPolicy":[{"round_robin":{}}]}}]"#
    );
    assert_eq!(cluster.connection_idle_timeout, Millis(3_600_000));
    assert_eq!(cluster.max_concurrent_requests, 1024);
    assert_eq!(cluster.outlier_detection, None);
    assert_eq!(
        cluster.override_host_statuses,
        BTreeSet::from([HealthStatus::Unknown, HealthStatus::Healthy])
    );
}

fn ring_hash(minimum: Option<u64>, maximum: Option<u64>) -> Pb {
    Pb {
        lb_policy: 2,
        lb_config: Some(LbConfig::RingHashLbConfig(RingHashLbConfig {
            minimum_ring_size: minimum,
            maximum_ring_size: maximum,
            hash_function: 0,
        })),
        ..eds()
    }
}

#[test]
fn ring_sizes_have_a_range_and_an_order() {
    let (min, max) = (
        "ring_hash_lb_config.minimum_ring_size",
        "ring_hash_lb_config.maximum_ring_size",
    );
    assert_eq!(
        kept(&ring_hash(Some(3), Some(5))).lb_policy.json.to_string(),
        r#"[{"ring_hash_experimental":{"maxRingSize":5,"minRingSize":3}}]"#
    );
    check(&ring_hash(None, None), &[]);
    check(&ring_hash(None, Some(1024)), &[]);
    check(&ring_hash(None, Some(0)), &[("lb-ring-hash-size", max)]);
    check(&ring_hash(None, Some(8_388_609)), &[("lb-ring-hash-size", max)]);
    check(&ring_hash(Some(0), None), &[("lb-ring-hash-size", min)]);
    check(
        &ring_hash(Some(8_388_609), None),
        &[("lb-ring-hash-size", min), ("lb-ring-hash-min-above-max", min)],
    );
    check(&ring_hash(Some(6), Some(5)), &[("lb-ring-hash-min-above-max", min)]);
    check(&ring_hash(Some(4096), None), &[]);
    check(&ring_hash(Some(4097), None), &[("lb-ring-hash-capped", min)]);
}

#[test]
fn ring_maximum_below_the_default_minimum_fails_where_a_policy_is_made() {
    let max = "ring_hash_lb_config.maximum_ring_size";
    check(&ring_hash(None, Some(1023)), &[("cds-ring-maximum-below-default", max)]);
    let message = Pb {
        cluster_discovery_type: aggregate(&["a"]).cluster_discovery_type,
        eds_cluster_config: None,
        ..ring_hash(None, Some(1023))
    };
    check(&message, &[("cds-aggregate-field-unused", "lb_policy")]);
    let (_, findings) = run(&message, &[("GRPC_XDS_AGGREGATE_CLUSTER_BACKWARD_COMPAT", "true")]);
    assert_eq!(pairs(&findings), [("cds-ring-maximum-below-default", max.to_owned())]);
}

#[test]
fn only_round_robin_and_ring_hash_are_known() {
    for number in [1, 3, 4, 5, 6, 7, 99] {
        let message = Pb {
            lb_policy: number,
            ..eds()
        };
        check(&message, &[("cds-lb-policy-unsupported", "lb_policy")]);
    }
}

#[test]
fn circuit_breaker_is_the_first_default_threshold() {
    let threshold = |priority, max_requests| pb::circuit_breakers::Thresholds { priority, max_requests };
    let with = |thresholds| Pb {
        circuit_breakers: Some(pb::CircuitBreakers { thresholds }),
        ..eds()
    };
    assert_eq!(kept(&with(vec![threshold(0, Some(5))])).max_concurrent_requests, 5);
    assert_eq!(kept(&with(vec![threshold(0, None)])).max_concurrent_requests, 1024);
    let message = with(vec![
        threshold(1, Some(3)),
        threshold(0, Some(0)),
        threshold(0, Some(7)),
    ]);
    check(
        &message,
        &[
            (
                "cds-circuit-breaker-thresholds-unread",
                "circuit_breakers.thresholds[0]",
            ),
            (
                "cds-circuit-breaker-thresholds-unread",
                "circuit_breakers.thresholds[2]",
            ),
            (
                "cds-circuit-breaker-zero",
                "circuit_breakers.thresholds[1].max_requests",
            ),
        ],
    );
    assert_eq!(run(&message, &[]).0.unwrap().max_concurrent_requests, 0);
}

#[test]
fn load_reports_go_to_the_sender_only() {
    let with = |lrs_server| Pb { lrs_server, ..eds() };
    check(&with(ads()), &[("cds-lrs-server-not-self", "lrs_server")]);
    check(
        &with(Some(ConfigSource::default())),
        &[("cds-lrs-server-not-self", "lrs_server")],
    );
    let itself = source(ConfigSourceSpecifier::Self_(SelfConfigSource::default()));
    assert!(kept(&with(itself)).lrs_self);
}

#[test]
fn unknown_metrics_are_not_reported() {
    let message = Pb {
        lrs_report_endpoint_metrics: ["cpu_utilization", "named_metrics.", "cpu_utilisation", "named_metrics"]
            .map(str::to_owned)
            .to_vec(),
        ..eds()
    };
    check(
        &message,
        &[
            ("cds-lrs-metric-unknown", "lrs_report_endpoint_metrics[2]"),
            ("cds-lrs-metric-unknown", "lrs_report_endpoint_metrics[3]"),
        ],
    );
}
