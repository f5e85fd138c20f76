//! How a cluster finds its endpoints: EDS, LOGICAL_DNS, aggregate (A27, A37).

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
        lb_endpoints: vec![keep(&LbEndpoint::default()); 2],
        ..LocalityLbEndpoints::default()
    };
    check(&dns_of(vec![two]), &[("cds-dns-not-one-endpoint", endpoints)]);
    let one = LocalityLbEndpoints {
        lb_endpoints: vec![keep(&LbEndpoint::default())],
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
    for name in ["/a", "a%2Db"] {
        check(&dns(socket(name, 80)), &[("cds-dns-name-changed", &at)]);
    }
    for name in ["a%3F", "a b"] {
        check(&dns(socket(name, 80)), &[("cds-dns-name-malformed", &at)]);
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
fn names_of_children_are_not_checked() {
    check(&aggregate(&["a", "", "a", "c"]), &[]);
}

#[test]
fn an_aggregate_needs_a_valid_policy_that_it_does_not_use() {
    let provided = Pb {
        lb_policy: 6,
        ..aggregate(&["a"])
    };
    let (value, findings) = run(&provided, &[]);
    assert!(value.is_none());
    // The policy would not be used either, but that is no second finding.
    assert_eq!(
        pairs(&findings),
        [("cds-lb-policy-unsupported", "lb_policy".to_owned())]
    );
}
