//! Tests of the ClusterLoadAssignment converter.

use std::collections::BTreeMap;

use super::*;
use xdsctl_document::proto::pb::envoy::config::core::v3::{
    Address, Locality as PbLocality, Metadata, SocketAddress, address, socket_address::PortSpecifier,
};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::cluster_load_assignment::{Policy, policy::DropOverload};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::endpoint::AdditionalAddress;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{Endpoint, LbEndpoint, lb_endpoint::HostIdentifier};
use xdsctl_document::proto::pb::envoy::r#type::v3::FractionalPercent;
use xdsctl_model::diag::Diagnostic;
use xdsctl_model::profile::{Profile, ServerFacts};

/// Returns what the client makes of an assignment. It must be the same whether the client reads it
/// alone or together with others.
fn run(message: &Pb, env: &[(&str, &str)]) -> (Option<Endpoints>, Vec<(&'static str, String)>) {
    let alone = run_on(message, &Opened::default(), env);
    assert_eq!(run_on(message, &Opened::shared(), env), alone);
    alone
}

fn run_on(message: &Pb, opened: &Opened, env: &[(&str, &str)]) -> (Option<Endpoints>, Vec<(&'static str, String)>) {
    let mut profile = Profile::default();
    for (name, value) in env {
        profile.set_env(name, value).unwrap();
    }
    let server = ServerFacts::default();
    let mut cx = Validation::new(&profile, &server);
    let value = convert(message, opened, &mut cx);
    let value = match value {
        Resource::Endpoints(endpoints) if !cx.nacked() => Some(endpoints),
        _ => None,
    };
    let pairs = |d: &Diagnostic| (d.rule.id, d.path.to_string());
    (value, cx.finish().iter().map(pairs).collect())
}

/// Requires exactly these (rule, path) findings, in order.
#[track_caller]
fn check(endpoints: Vec<LocalityLbEndpoints>, expected: &[(&str, &str)]) {
    let (_, findings) = run(&assignment(endpoints), &[]);
    let expected: Vec<_> = expected.iter().map(|(r, p)| (*r, (*p).to_owned())).collect();
    assert_eq!(findings, expected);
}

fn assignment(endpoints: Vec<LocalityLbEndpoints>) -> Pb {
    Pb {
        cluster_name: "c".into(),
        endpoints,
        ..Pb::default()
    }
}

fn address(port: u32) -> Option<Address> {
    Some(Address {
        address: Some(address::Address::SocketAddress(SocketAddress {
            address: "10.0.0.1".into(),
            port_specifier: Some(PortSpecifier::PortValue(port)),
            ..SocketAddress::default()
        })),
    })
}

fn endpoint(port: u32) -> LbEndpoint {
    LbEndpoint {
        host_identifier: Some(HostIdentifier::Endpoint(Endpoint {
            address: address(port),
            ..Endpoint::default()
        })),
        ..LbEndpoint::default()
    }
}

/// A locality of weight 1.
fn locality(region: &str, priority: u32, lb_endpoints: Vec<LbEndpoint>) -> LocalityLbEndpoints {
    LocalityLbEndpoints {
        locality: Some(PbLocality {
            region: region.into(),
            ..PbLocality::default()
        }),
        load_balancing_weight: Some(1),
        priority,
        lb_endpoints: lb_endpoints.iter().map(proto::keep).collect(),
        ..LocalityLbEndpoints::default()
    }
}

#[test]
fn a_locality_without_weight_is_dropped_unseen() {
    let broken = |weight| LocalityLbEndpoints {
        load_balancing_weight: weight,
        locality: None,
        priority: 9,
        ..locality("x", 0, vec![LbEndpoint::default()])
    };
    for weight in [None, Some(0)] {
        check(
            vec![broken(weight), locality("a", 0, vec![endpoint(1)])],
            &[("eds-locality-without-weight", "endpoints[0].load_balancing_weight")],
        );
        check(
            vec![broken(weight)],
            &[("eds-without-localities", "endpoints[0].load_balancing_weight")],
        );
    }
    check(
        vec![broken(Some(1))],
        &[("eds-locality-missing", "endpoints[0].locality")],
    );
}

#[test]
fn priorities_are_contiguous_and_below_the_count() {
    let at = |priority| locality("a", priority, vec![endpoint(priority % 100 + 1)]);
    check(vec![at(1), at(0)], &[]);
    check(vec![at(1)], &[("eds-priority-too-high", "endpoints[0].priority")]);
    check(
        vec![at(u32::MAX)],
        &[("eds-priority-too-high", "endpoints[0].priority")],
    );
    check(
        vec![at(0), at(2), locality("b", 2, vec![endpoint(9)])],
        &[("eds-priority-gap", "endpoints")],
    );
    // A dropped locality counts in the bound, but does not fill its priority.
    let weightless = LocalityLbEndpoints {
        load_balancing_weight: None,
        ..at(0)
    };
    check(
        vec![weightless, at(1)],
        &[
            ("eds-locality-without-weight", "endpoints[0].load_balancing_weight"),
            ("eds-priority-gap", "endpoints"),
        ],
    );
}

#[test]
fn an_error_in_a_locality_leaves_a_gap() {
    let zero = LbEndpoint {
        load_balancing_weight: Some(0),
        ..endpoint(1)
    };
    check(
        vec![locality("a", 0, vec![zero]), locality("a", 1, vec![endpoint(2)])],
        &[
            (
                "eds-endpoint-weight-zero",
                "endpoints[0].lb_endpoints[0].load_balancing_weight",
            ),
            ("eds-priority-gap", "endpoints"),
        ],
    );
}

#[test]
fn a_locality_is_unique_in_its_priority() {
    check(
        vec![locality("a", 0, vec![endpoint(1)]), locality("a", 0, vec![endpoint(2)])],
        &[("eds-locality-duplicate", "endpoints[1]")],
    );
}

#[test]
fn locality_weights_of_a_priority_fit_in_32_bits() {
    let with = |region: &str, port, weight| LocalityLbEndpoints {
        load_balancing_weight: Some(weight),
        ..locality(region, 0, vec![endpoint(port)])
    };
    check(vec![with("a", 1, u32::MAX - 1), with("b", 2, 1)], &[]);
    check(
        vec![with("a", 1, u32::MAX), with("b", 2, 1)],
        &[("eds-locality-weight-sum", "endpoints")],
    );
}

#[test]
fn localities_are_kept_in_the_order_of_their_names() {
    let message = assignment(vec![
        locality("b", 0, vec![endpoint(1)]),
        locality("a", 0, vec![endpoint(2)]),
    ]);
    let kept = run(&message, &[]).0.unwrap();
    let names: Vec<_> = kept.priorities[0]
        .iter()
        .map(|l| (l.name.region.as_str(), l.index))
        .collect();
    assert_eq!(names, [("a", 1), ("b", 0)]);
}

#[test]
fn only_unknown_healthy_and_draining_endpoints_are_looked_at() {
    let broken = |health_status| LbEndpoint {
        health_status,
        load_balancing_weight: Some(0),
        ..LbEndpoint::default()
    };
    check(
        vec![locality(
            "a",
            0,
            vec![broken(2), endpoint(1), broken(5), broken(99), broken(4)],
        )],
        &[
            ("eds-endpoint-unhealthy", "endpoints[0].lb_endpoints[0].health_status"),
            (
                "eds-endpoint-health-unsupported",
                "endpoints[0].lb_endpoints[2].health_status",
            ),
        ],
    );
    check(
        vec![locality("a", 0, vec![broken(2)])],
        &[
            ("eds-endpoint-unhealthy", "endpoints[0].lb_endpoints[0].health_status"),
            ("eds-without-endpoints", "endpoints"),
        ],
    );
}

#[test]
fn draining_endpoints_alone_serve_no_new_rpc() {
    let draining = |port| LbEndpoint {
        health_status: 3,
        ..endpoint(port)
    };
    check(
        vec![locality("a", 0, vec![draining(1), draining(2)])],
        &[("eds-all-draining", "endpoints")],
    );
    check(vec![locality("a", 0, vec![draining(1), endpoint(2)])], &[]);
}

#[test]
fn an_address_is_used_once_in_the_resource() {
    let twice = LbEndpoint {
        host_identifier: Some(HostIdentifier::Endpoint(Endpoint {
            address: address(1),
            additional_addresses: vec![AdditionalAddress { address: address(1) }],
            ..Endpoint::default()
        })),
        ..LbEndpoint::default()
    };
    let rule = "eds-endpoint-address-duplicate";
    check(
        vec![locality("a", 0, vec![twice])],
        &[(rule, "endpoints[0].lb_endpoints[0]")],
    );
    check(
        vec![
            locality("a", 0, vec![endpoint(1)]),
            locality("a", 1, vec![endpoint(2), endpoint(1)]),
        ],
        &[(rule, "endpoints[1].lb_endpoints[1]")],
    );
}

#[test]
fn an_endpoint_needs_an_ip_address() {
    let with = |address| LbEndpoint {
        host_identifier: Some(HostIdentifier::Endpoint(Endpoint {
            address,
            additional_addresses: vec![AdditionalAddress {
                address: address_of("x", Some(65_536)),
            }],
            ..Endpoint::default()
        })),
        ..LbEndpoint::default()
    };
    let at = "endpoints[0].lb_endpoints[0].endpoint";
    let second = (
        "port-out-of-range",
        &*format!("{at}.additional_addresses[0].address.socket_address.port_value"),
    );
    check(
        vec![locality("a", 0, vec![with(None)])],
        &[("address-missing", &format!("{at}.address")), second],
    );
    check(
        vec![locality("a", 0, vec![with(Some(Address::default()))])],
        &[
            ("address-not-socket-address", &format!("{at}.address.socket_address")),
            second,
        ],
    );
    check(
        vec![locality("a", 0, vec![with(address_of("host", Some(1)))])],
        &[("address-not-ip", &format!("{at}.address.socket_address")), second],
    );
    let named = LbEndpoint {
        host_identifier: Some(HostIdentifier::EndpointName("e".into())),
        ..LbEndpoint::default()
    };
    check(vec![locality("a", 0, vec![named])], &[("endpoint-missing", at)]);
}

fn address_of(text: &str, port: Option<u32>) -> Option<Address> {
    Some(Address {
        address: Some(address::Address::SocketAddress(SocketAddress {
            address: text.into(),
            port_specifier: port.map(PortSpecifier::PortValue),
            ..SocketAddress::default()
        })),
    })
}

#[test]
fn odd_ports_are_accepted_and_reported() {
    let at = "endpoints[0].lb_endpoints[0].endpoint.address.socket_address";
    for (text, port, rule, field) in [
        ("10.0.0.1", None, "address-port-unset", ""),
        ("10.0.0.1", Some(0), "address-port-zero", ".port_value"),
        ("[::1]:5", Some(80), "address-port-in-text", ".address"),
    ] {
        let lb = LbEndpoint {
            host_identifier: Some(HostIdentifier::Endpoint(Endpoint {
                address: address_of(text, port),
                ..Endpoint::default()
            })),
            ..LbEndpoint::default()
        };
        check(vec![locality("a", 0, vec![lb])], &[(rule, &format!("{at}{field}"))]);
    }
}

#[test]
fn ring_hash_key_is_read_under_its_switch() {
    let metadata = |json: prost_types::value::Kind| Metadata {
        filter_metadata: BTreeMap::from([(
            "envoy.lb".to_owned(),
            prost_types::Struct {
                fields: BTreeMap::from([("hash_key".to_owned(), prost_types::Value { kind: Some(json) })]),
            },
        )]),
        ..Metadata::default()
    };
    let with = |json| {
        assignment(vec![locality(
            "a",
            0,
            vec![LbEndpoint {
                metadata: Some(proto::keep(&metadata(json))),
                ..endpoint(1)
            }],
        )])
    };
    let key = |kept: Option<Endpoints>| {
        kept.unwrap().priorities[0][0]
            .endpoints
            .first()
            .unwrap()
            .hash_key
            .clone()
    };
    let text = || prost_types::value::Kind::StringValue("k".into());
    let on = [("GRPC_XDS_ENDPOINT_HASH_KEY_BACKWARD_COMPAT", "false")];
    let (kept, findings) = run(&with(text()), &on);
    assert_eq!((key(kept), findings), (Some("k".to_owned()), vec![]));
    let (kept, findings) = run(&with(text()), &[]);
    let off = ("field-switched-off", "endpoints[0].lb_endpoints[0].metadata".to_owned());
    assert_eq!((key(kept), findings), (None, vec![off]));
    let (kept, findings) = run(&with(prost_types::value::Kind::NumberValue(1.0)), &on);
    let at = "endpoints[0].lb_endpoints[0].filter_metadata[envoy.lb]".to_owned();
    assert_eq!((key(kept), findings), (None, vec![("eds-hash-key-not-string", at)]));
}

#[track_caller]
fn check_drop(category: &str, percentage: Option<(u32, i32)>, per_million: Option<u32>, expected: &[(&str, &str)]) {
    let drop = DropOverload {
        category: category.into(),
        drop_percentage: percentage.map(|(numerator, denominator)| FractionalPercent { numerator, denominator }),
    };
    let message = Pb {
        policy: Some(Policy {
            drop_overloads: vec![drop],
        }),
        ..assignment(vec![locality("a", 0, vec![endpoint(1)])])
    };
    let (kept, findings) = run(&message, &[]);
    let expected: Vec<_> = expected
        .iter()
        .map(|(r, p)| (*r, format!("policy.drop_overloads[0].{p}")))
        .collect();
    assert_eq!(findings, expected);
    let drops = kept.and_then(|k| k.drops);
    assert_eq!(drops.as_ref().map(|d| d.categories[0].per_million), per_million);
    assert_eq!(
        drops.is_some_and(|d| d.drop_all),
        expected.iter().any(|(r, _)| *r == "eds-drop-all")
    );
}

#[test]
fn drops_are_parts_per_million() {
    check_drop("x", Some((1, 0)), Some(10_000), &[]);
    check_drop("x", Some((1, 1)), Some(100), &[]);
    check_drop("x", Some((999_999, 2)), Some(999_999), &[]);
    let all = ("eds-drop-all", "drop_percentage");
    let above = ("eds-drop-above-all", "drop_percentage.numerator");
    check_drop("x", Some((100, 0)), Some(1_000_000), &[all]);
    check_drop("x", Some((101, 0)), Some(1_000_000), &[above, all]);
    // 429497 * 10000 = 4294970000, and 2704 more than 2^32.
    check_drop("x", Some((429_497, 0)), Some(2704), &[above]);
}

#[test]
fn drops_need_category_percentage_and_denominator() {
    check_drop(
        "",
        None,
        None,
        &[
            ("eds-drop-category-empty", "category"),
            ("eds-drop-percentage-missing", "drop_percentage"),
        ],
    );
    check_drop(
        "x",
        Some((1, 3)),
        None,
        &[("eds-drop-denominator-unknown", "drop_percentage.denominator")],
    );
}
