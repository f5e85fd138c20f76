//! Tests of the Cluster converter: A37 (discovery), A75 (idle timeout), A55 (override_host_status), A42, A32, A50.

use prost::Message as _;
use prost_types::Duration;

use super::*;
use crate::diag::Diagnostic;
use crate::model::Millis;
use crate::profile::{Profile, ServerFacts};
use crate::proto::pb::Any;
use crate::proto::pb::envoy::config::core::v3::{
    Address, AggregatedConfigSource, ApiConfigSource, ConfigSource, HealthStatusSet,
    HttpProtocolOptions as CommonOptions, SelfConfigSource, SocketAddress, TypedExtensionConfig, address,
    config_source::ConfigSourceSpecifier, socket_address::PortSpecifier,
};
use crate::proto::pb::envoy::config::endpoint::v3::{
    ClusterLoadAssignment, Endpoint, LbEndpoint, LocalityLbEndpoints, lb_endpoint::HostIdentifier,
};
use crate::proto::pb::envoy::extensions::clusters::aggregate::v3::ClusterConfig;
use crate::proto::pb::envoy::extensions::upstreams::http::v3::HttpProtocolOptions;
use pb::cluster::{
    ClusterDiscoveryType, CommonLbConfig, CustomClusterType, EdsClusterConfig, LbConfig, RingHashLbConfig,
};

fn run(message: &Pb, env: &[(&str, &str)]) -> (Option<Cluster>, Vec<Diagnostic>) {
    let mut profile = Profile::default();
    for (name, value) in env {
        profile.set_env(name, value).unwrap();
    }
    let server = ServerFacts::default();
    let mut cx = Cx::new(&profile, &server);
    let (_, value) = convert(message, &mut cx);
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

/// What is kept of a cluster that must have no finding at all.
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
        cluster_discovery_type: Some(ClusterDiscoveryType::ClusterType(CustomClusterType { typed_config })),
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
        lb_endpoints: vec![LbEndpoint {
            host_identifier: Some(HostIdentifier::Endpoint(endpoint)),
            ..LbEndpoint::default()
        }],
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
        cluster.lb_policy.to_string(),
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

mod a37_discovery {
    use super::*;

    #[test]
    fn only_eds_logical_dns_and_cluster_type_are_known() {
        for number in [0, 1, 4, 99] {
            let message = Pb {
                cluster_discovery_type: discovery_type(number),
                ..Pb::default()
            };
            check(&message, &[("cds-discovery-unsupported", "type")]);
        }
        check(&Pb::default(), &[("cds-discovery-unsupported", "type")]);
    }

    #[test]
    fn eds_needs_a_config_with_ads_or_self() {
        let with = |config| Pb {
            eds_cluster_config: config,
            ..eds()
        };
        let eds_config = |eds_config| {
            Some(EdsClusterConfig {
                eds_config,
                service_name: "s".into(),
            })
        };
        check(&with(None), &[("cds-eds-cluster-config-missing", "eds_cluster_config")]);
        let rejected = [("cds-eds-source-unsupported", "eds_cluster_config.eds_config")];
        check(&with(eds_config(None)), &rejected);
        let api = source(ConfigSourceSpecifier::ApiConfigSource(ApiConfigSource::default()));
        check(&with(eds_config(api)), &rejected);
        let itself = source(ConfigSourceSpecifier::Self_(SelfConfigSource::default()));
        assert_eq!(
            kept(&with(eds_config(itself))).discovery,
            Discovery::Eds {
                service_name: Some("s".into())
            }
        );
    }

    #[test]
    fn an_xdstp_cluster_needs_a_service_name() {
        let message = Pb {
            name: "xdstp://a/envoy.config.cluster.v3.Cluster/x".into(),
            ..eds()
        };
        check(
            &message,
            &[("cds-eds-service-name-missing", "eds_cluster_config.service_name")],
        );
    }

    #[test]
    fn logical_dns_has_one_locality_with_one_endpoint() {
        let assignment = "load_assignment.endpoints";
        let endpoints = "load_assignment.endpoints[0].lb_endpoints";
        let missing = Pb {
            load_assignment: None,
            ..dns_of(vec![])
        };
        check(&missing, &[("cds-dns-load-assignment-missing", "load_assignment")]);
        check(&dns_of(vec![]), &[("cds-dns-not-one-endpoint", assignment)]);
        let locality = LocalityLbEndpoints::default();
        check(
            &dns_of(vec![locality.clone(), locality.clone()]),
            &[("cds-dns-not-one-endpoint", assignment)],
        );
        check(&dns_of(vec![locality]), &[("cds-dns-not-one-endpoint", endpoints)]);
        let two = LocalityLbEndpoints {
            lb_endpoints: vec![LbEndpoint::default(); 2],
            ..LocalityLbEndpoints::default()
        };
        check(&dns_of(vec![two]), &[("cds-dns-not-one-endpoint", endpoints)]);
        let one = LocalityLbEndpoints {
            lb_endpoints: vec![LbEndpoint::default()],
            ..LocalityLbEndpoints::default()
        };
        check(
            &dns_of(vec![one]),
            &[(
                "endpoint-missing",
                "load_assignment.endpoints[0].lb_endpoints[0].endpoint",
            )],
        );
    }

    const SOCKET: &str = "load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.socket_address";

    #[test]
    fn logical_dns_address_is_name_and_port_value() {
        let at = |field: &str| format!("{SOCKET}.{field}");
        let named = SocketAddress {
            port_specifier: Some(PortSpecifier::NamedPort("http".into())),
            resolver_name: "r".into(),
            ..SocketAddress::default()
        };
        check(
            &dns(named),
            &[
                ("cds-dns-resolver-name", &at("resolver_name")),
                ("cds-dns-name-empty", &at("address")),
                ("cds-dns-port-unset", &at("port_value")),
            ],
        );
        for (name, hostname) in [("a.test", "a.test:80"), ("::1", "[::1]:80"), ("[::1]", "[::1]:80")] {
            assert_eq!(
                kept(&dns(socket(name, 80))).discovery,
                Discovery::LogicalDns {
                    hostname: hostname.into()
                }
            );
        }
    }

    #[test]
    fn logical_dns_port_is_cut_to_16_bits() {
        for port in [0, 65_536, 72_639, u32::MAX] {
            check(
                &dns(socket("a", port)),
                &[("cds-dns-port-out-of-range", &format!("{SOCKET}.port_value"))],
            );
        }
    }

    #[test]
    fn logical_dns_name_is_read_as_a_uri() {
        let at = format!("{SOCKET}.address");
        for name in [
            "?<", "?[", "? ", "?#", "##", "# ", "a?b:c", "a#b:c", "[?]", "?\u{e9}", "?\0",
        ] {
            check(&dns(socket(name, 80)), &[("cds-dns-crash", &at)]);
        }
        for name in [
            "?",
            "#",
            "?x",
            "?a#b",
            "<?x",
            "??",
            "[::1]?x:1",
            "a:b",
            "127.0.0.1:80",
            "[]",
        ] {
            check(&dns(socket(name, 80)), &[("cds-dns-name-misread", &at)]);
        }
        for name in ["/a", "a%3F"] {
            check(&dns(socket(name, 80)), &[("cds-dns-name-changed", &at)]);
        }
        check(&dns(socket("[::1]:5", 80)), &[("address-port-in-text", &at)]);
    }

    #[test]
    fn aggregate_is_known_by_the_type_url_alone() {
        let config = ClusterConfig {
            clusters: vec!["a".into()],
        }
        .encode_to_vec();
        check(&of_cluster_type(None), &[("any-missing", "cluster_type.typed_config")]);
        for url in ["other/", "", "type.googleapis.com/type.googleapis.com/"] {
            let any = Any {
                type_url: format!("{url}{AGGREGATE}"),
                value: config.clone().into(),
            };
            // The prefix may be missing, but no other may be there.
            let expected = [("cds-cluster-type-unsupported", "cluster_type.typed_config.type_url")];
            let expected: &[_] = if url.is_empty() { &[] } else { &expected };
            check(&of_cluster_type(Some(any)), expected);
        }
        let broken = any(AGGREGATE, vec![0x0a, 5]);
        let at = format!("cluster_type.typed_config.value[{AGGREGATE}]");
        check(&of_cluster_type(Some(broken)), &[("any-undecodable", &at)]);
        check(&aggregate(&[]), &[("cds-aggregate-empty", &format!("{at}.clusters"))]);
        assert_eq!(
            kept(&aggregate(&["a", "b"])).discovery,
            Discovery::Aggregate {
                children: vec!["a".into(), "b".into()]
            }
        );
    }

    #[test]
    fn repeated_children_are_skipped_and_the_cluster_itself_too() {
        let at = |i: usize| format!("cluster_type.typed_config.value[{AGGREGATE}].clusters[{i}]");
        check(
            &aggregate(&["a", "", "a", "c", "b"]),
            &[
                ("cds-aggregate-child-unnamed", &at(1)),
                ("cds-aggregate-child-skipped", &at(2)),
                ("cds-aggregate-child-skipped", &at(3)),
            ],
        );
    }

    #[test]
    fn an_aggregate_needs_a_valid_policy_that_it_does_not_use() {
        let provided = Pb {
            lb_policy: 6,
            ..aggregate(&["a"])
        };
        let (value, findings) = run(&provided, &[]);
        assert!(value.is_none());
        assert_eq!(
            pairs(&findings),
            [
                ("cds-lb-policy-unsupported", "lb_policy".to_owned()),
                ("cds-aggregate-field-unused", "lb_policy".to_owned()),
            ]
        );
    }
}

mod a75_idle_timeout {
    use super::*;

    const OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

    fn with(typed_config: Option<Any>) -> Pb {
        Pb {
            upstream_config: Some(TypedExtensionConfig {
                typed_config,
                ..TypedExtensionConfig::default()
            }),
            ..eds()
        }
    }

    fn options(common_http_protocol_options: Option<CommonOptions>) -> Pb {
        let options = HttpProtocolOptions {
            common_http_protocol_options,
        };
        with(Some(any(OPTIONS, options.encode_to_vec())))
    }

    fn idle(seconds: i64, nanos: i32) -> Pb {
        options(Some(CommonOptions {
            idle_timeout: Some(Duration { seconds, nanos }),
            ..CommonOptions::default()
        }))
    }

    #[test]
    fn one_hour_where_a_step_of_the_chain_is_absent() {
        for message in [eds(), options(None), options(Some(CommonOptions::default()))] {
            assert_eq!(kept(&message).connection_idle_timeout, Millis(3_600_000));
        }
    }

    #[test]
    fn the_value_is_kept_in_whole_milliseconds() {
        for (seconds, nanos, millis) in [
            (0, 0, 0),
            (0, 999_999, 0),
            (1, 1_999_999, 1001),
            (315_576_000_000, 999_999_999, 315_576_000_000_999),
        ] {
            assert_eq!(kept(&idle(seconds, nanos)).connection_idle_timeout, Millis(millis));
        }
    }

    #[test]
    fn each_part_of_the_duration_has_its_range() {
        let at = format!("upstream_config.typed_config.value[{OPTIONS}].common_http_protocol_options.idle_timeout");
        let seconds = ("duration-out-of-range", format!("{at}.seconds"));
        let nanos = ("duration-out-of-range", format!("{at}.nanos"));
        for (s, n, expected) in [
            (-1, 0, vec![seconds.clone()]),
            (315_576_000_001, 0, vec![seconds.clone()]),
            (0, -1, vec![nanos.clone()]),
            (0, 1_000_000_000, vec![nanos.clone()]),
            (-1, -1, vec![seconds, nanos]),
        ] {
            let (value, findings) = run(&idle(s, n), &[]);
            assert!(value.is_none());
            assert_eq!(pairs(&findings), expected, "{s} {n}");
        }
    }

    #[test]
    fn anything_but_http_protocol_options_is_rejected() {
        let at = "upstream_config.typed_config";
        check(&with(None), &[("any-missing", at)]);
        check(
            &with(Some(any("a.B", vec![]))),
            &[("cds-upstream-config-unsupported", &format!("{at}.value[a.B].type_url"))],
        );
        check(
            &with(Some(any(OPTIONS, vec![0x0a, 5]))),
            &[("any-undecodable", &format!("{at}.value[{OPTIONS}]"))],
        );
    }
}

mod a55_override_host_status {
    use super::*;

    fn with(statuses: &[i32]) -> Pb {
        Pb {
            common_lb_config: Some(CommonLbConfig {
                override_host_status: Some(HealthStatusSet {
                    statuses: statuses.to_vec(),
                }),
            }),
            ..eds()
        }
    }

    #[test]
    fn unknown_and_healthy_where_the_message_is_absent() {
        let message = Pb {
            common_lb_config: Some(CommonLbConfig::default()),
            ..eds()
        };
        let default = BTreeSet::from([HealthStatus::Unknown, HealthStatus::Healthy]);
        assert_eq!(kept(&message).override_host_statuses, default);
    }

    #[test]
    fn unknown_healthy_and_draining_are_kept() {
        for (number, status) in [
            (0, HealthStatus::Unknown),
            (1, HealthStatus::Healthy),
            (3, HealthStatus::Draining),
        ] {
            assert_eq!(kept(&with(&[number])).override_host_statuses, BTreeSet::from([status]));
        }
    }

    #[test]
    fn every_other_status_is_ignored_not_rejected() {
        let at = "common_lb_config.override_host_status";
        let (value, findings) = run(&with(&[2, 1, 4, 5, 99]), &[]);
        assert_eq!(
            value.unwrap().override_host_statuses,
            BTreeSet::from([HealthStatus::Healthy])
        );
        let ignored = |i: usize| ("cds-override-host-status-unsupported", format!("{at}.statuses[{i}]"));
        assert_eq!(pairs(&findings), [ignored(0), ignored(2), ignored(3), ignored(4)]);
    }

    #[test]
    fn a_set_without_a_known_status_is_empty() {
        let at = "common_lb_config.override_host_status";
        let (value, _) = run(&with(&[]), &[]);
        assert_eq!(value.unwrap().override_host_statuses, BTreeSet::new());
        check(&with(&[]), &[("cds-override-host-status-empty", at)]);
        check(
            &with(&[2]),
            &[
                ("cds-override-host-status-unsupported", &format!("{at}.statuses[0]")),
                ("cds-override-host-status-empty", at),
            ],
        );
    }
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
        kept(&ring_hash(Some(3), Some(5))).lb_policy.to_string(),
        r#"[{"ring_hash_experimental":{"maxRingSize":5,"minRingSize":3}}]"#
    );
    check(&ring_hash(None, None), &[]);
    check(&ring_hash(None, Some(1024)), &[]);
    check(&ring_hash(None, Some(0)), &[("cds-ring-size-out-of-range", max)]);
    check(
        &ring_hash(None, Some(8_388_609)),
        &[("cds-ring-size-out-of-range", max)],
    );
    check(&ring_hash(Some(0), None), &[("cds-ring-size-out-of-range", min)]);
    check(
        &ring_hash(Some(8_388_609), None),
        &[("cds-ring-size-out-of-range", min), ("cds-ring-sizes-reversed", min)],
    );
    check(&ring_hash(Some(6), Some(5)), &[("cds-ring-sizes-reversed", min)]);
    check(&ring_hash(Some(4096), None), &[]);
    check(&ring_hash(Some(4097), None), &[("cds-ring-size-capped", min)]);
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

mod a50_outlier_detection {
    use super::*;

    fn with(outlier_detection: pb::OutlierDetection) -> Pb {
        Pb {
            outlier_detection: Some(outlier_detection),
            ..eds()
        }
    }

    fn failure_percentage(enforcing: Option<u32>, threshold: Option<u32>) -> Pb {
        with(pb::OutlierDetection {
            enforcing_success_rate: Some(1),
            enforcing_failure_percentage: enforcing,
            failure_percentage_threshold: threshold,
            ..pb::OutlierDetection::default()
        })
    }

    #[test]
    fn defaults_are_the_clients() {
        let kept = kept(&with(pb::OutlierDetection {
            enforcing_success_rate: Some(1),
            enforcing_failure_percentage: Some(2),
            ..pb::OutlierDetection::default()
        }));
        assert_eq!(
            kept.outlier_detection,
            Some(cluster::OutlierDetection {
                interval: Millis(10_000),
                base_ejection_time: Millis(30_000),
                max_ejection_time: Millis(30_000),
                max_ejection_percent: 10,
                success_rate: Some(cluster::SuccessRateEjection {
                    stdev_factor: 1900,
                    enforcement_percentage: 1,
                    minimum_hosts: 5,
                    request_volume: 100,
                }),
                failure_percentage: Some(cluster::FailurePercentageEjection {
                    threshold: 85,
                    enforcement_percentage: 2,
                    minimum_hosts: 5,
                    request_volume: 50,
                }),
            })
        );
    }

    #[test]
    fn an_algorithm_exists_only_while_enforced() {
        let (value, findings) = run(&with(pb::OutlierDetection::default()), &[]);
        let kept = value.unwrap().outlier_detection.unwrap();
        assert_eq!((kept.success_rate, kept.failure_percentage), (None, None));
        assert_eq!(
            pairs(&findings),
            [("cds-outlier-without-algorithm", "outlier_detection".to_owned())]
        );
        check(
            &with(pb::OutlierDetection {
                enforcing_success_rate: Some(0),
                success_rate_minimum_hosts: Some(7),
                failure_percentage_request_volume: Some(7),
                ..pb::OutlierDetection::default()
            }),
            &[
                (
                    "cds-outlier-algorithm-not-enforced",
                    "outlier_detection.success_rate_minimum_hosts",
                ),
                (
                    "cds-outlier-algorithm-not-enforced",
                    "outlier_detection.failure_percentage_request_volume",
                ),
            ],
        );
    }

    #[test]
    fn percentages_end_at_100() {
        check(
            &with(pb::OutlierDetection {
                max_ejection_percent: Some(101),
                enforcing_success_rate: Some(101),
                enforcing_failure_percentage: Some(101),
                ..pb::OutlierDetection::default()
            }),
            &[
                (
                    "cds-outlier-percentage-above-100",
                    "outlier_detection.max_ejection_percent",
                ),
                (
                    "cds-outlier-percentage-above-100",
                    "outlier_detection.enforcing_success_rate",
                ),
                (
                    "cds-outlier-percentage-above-100",
                    "outlier_detection.enforcing_failure_percentage",
                ),
            ],
        );
    }

    #[test]
    fn the_threshold_is_judged_by_the_enforcement_percentage() {
        let at = "outlier_detection.failure_percentage_threshold";
        let enforcing = "outlier_detection.enforcing_failure_percentage";
        check(&failure_percentage(Some(100), Some(100)), &[]);
        check(
            &failure_percentage(Some(101), Some(1)),
            &[
                ("cds-outlier-percentage-above-100", enforcing),
                ("cds-outlier-percentage-above-100", at),
            ],
        );
        check(
            &failure_percentage(Some(100), Some(101)),
            &[
                ("cds-outlier-threshold-above-100", at),
                ("cds-outlier-threshold-fails", at),
            ],
        );
        for enforcing in [None, Some(0)] {
            check(
                &failure_percentage(enforcing, Some(101)),
                &[
                    ("cds-outlier-threshold-above-100", at),
                    ("cds-outlier-algorithm-not-enforced", at),
                ],
            );
        }
    }
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
