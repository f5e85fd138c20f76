//! Plain endpoints are looked at once for all clients. The tests compare what each client makes of
//! them with what it makes of endpoints that are read one by one.

use prost::Message as _;
use prost_types::value::Kind as ValueKind;
use prost_types::{Struct, Value};

use super::*;
use crate::shared::names::{ADDRESS, AUDIENCE};
use xdsctl_document::proto;
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::address::Address as Kind;
use xdsctl_document::proto::pb::envoy::config::core::v3::socket_address::PortSpecifier;
use xdsctl_document::proto::pb::envoy::config::core::v3::{Address, HealthStatus, Locality, Metadata, SocketAddress};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::endpoint::AdditionalAddress;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::lb_endpoint::HostIdentifier;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{
    ClusterLoadAssignment, Endpoint, LbEndpoint, LocalityLbEndpoints,
};
use xdsctl_model::profile::Client;

fn address(text: &str, port: u32) -> Address {
    Address {
        address: Some(Kind::SocketAddress(SocketAddress {
            address: text.into(),
            port_specifier: Some(PortSpecifier::PortValue(port)),
            ..SocketAddress::default()
        })),
    }
}

fn endpoint(text: &str, port: u32) -> LbEndpoint {
    LbEndpoint {
        host_identifier: Some(HostIdentifier::Endpoint(Endpoint {
            address: Some(address(text, port)),
            ..Endpoint::default()
        })),
        ..LbEndpoint::default()
    }
}

fn of_health(health: HealthStatus, endpoint: LbEndpoint) -> LbEndpoint {
    LbEndpoint {
        health_status: health.into(),
        ..endpoint
    }
}

fn weighted(weight: u32, endpoint: LbEndpoint) -> LbEndpoint {
    LbEndpoint {
        load_balancing_weight: Some(weight),
        ..endpoint
    }
}

/// An endpoint with an untyped entry in its metadata.
fn noted(entry: &str, value: Option<ValueKind>, endpoint: LbEndpoint) -> LbEndpoint {
    let fields = [("hash_key".to_owned(), Value { kind: value })].into();
    let metadata = Metadata {
        filter_metadata: [(entry.to_owned(), Struct { fields })].into(),
        ..Metadata::default()
    };
    LbEndpoint {
        metadata: Some(proto::keep(&metadata)),
        ..endpoint
    }
}

/// An endpoint with a typed entry in its metadata.
fn typed(type_name: &str, value: Bytes, endpoint: LbEndpoint) -> LbEndpoint {
    let any = Any {
        type_url: format!("type.googleapis.com/{type_name}"),
        value,
    };
    let entry = "envoy.http11_proxy_transport_socket.proxy_address";
    let metadata = Metadata {
        typed_filter_metadata: [(entry.to_owned(), any)].into(),
        ..Metadata::default()
    };
    LbEndpoint {
        metadata: Some(proto::keep(&metadata)),
        ..endpoint
    }
}

fn locality(region: &str, list: &[LbEndpoint]) -> LocalityLbEndpoints {
    LocalityLbEndpoints {
        locality: Some(Locality {
            region: region.to_owned(),
            ..Locality::default()
        }),
        load_balancing_weight: Some(1),
        lb_endpoints: list.iter().map(proto::keep).collect(),
        ..LocalityLbEndpoints::default()
    }
}

/// All clients, each with its switches for metadata off and on.
fn profiles() -> Vec<Profile> {
    let mut profiles = vec![Profile::default()];
    for client in Client::all() {
        let own = Profile::of(client);
        profiles.push(own.clone());
        for switch in [
            "GRPC_EXPERIMENTAL_XDS_HTTP_CONNECT",
            "GRPC_XDS_ENDPOINT_HASH_KEY_BACKWARD_COMPAT",
        ] {
            for value in ["true", "false"] {
                let mut other = own.clone();
                if other.set_env(switch, value).is_ok() {
                    profiles.push(other);
                }
            }
        }
    }
    profiles
}

/// Returns the answers of the clients to an assignment, and the endpoints that each keeps of the
/// first locality.
fn answers(localities: Vec<LocalityLbEndpoints>, profiles: &[Profile]) -> Vec<String> {
    let assignment = ClusterLoadAssignment {
        cluster_name: "c".into(),
        endpoints: localities,
        ..ClusterLoadAssignment::default()
    };
    let bytes = Bytes::from(assignment.encode_to_vec());
    let (server, resource_type) = (ServerFacts::default(), ResourceType::Endpoints);
    let cx = Validation::new(&profiles[0], &server);
    let validated = within(cx, resource_type, &bytes, (None, profiles));
    let answers = validated.answers.iter().zip(&validated.values);
    let told = answers.map(|(answer, value)| {
        let found: Vec<String> = answer
            .diagnostics
            .iter()
            .map(|found| format!("{} {}", found.path, found.message))
            .collect();
        let first = match value.as_deref() {
            Some(Resource::Endpoints(endpoints)) => {
                let mut all = endpoints.priorities.iter().flatten();
                let first = all.find(|locality| locality.index == 0);
                first.map(|locality| locality.endpoints.iter().cloned().collect::<Vec<_>>())
            }
            _ => None,
        };
        format!("{} {:?} {found:?} {first:?}", answer.client, answer.verdict)
    });
    told.collect()
}

#[test]
fn plain_endpoints_are_kept_as_they_are_one_by_one() {
    use HealthStatus::{Draining, Healthy, Unhealthy, Unknown};
    use ValueKind::{NumberValue, StringValue};
    let text = || Some(StringValue("v".into()));
    let usual = || endpoint("10.0.0.1", 80);
    let named = LbEndpoint {
        host_identifier: Some(HostIdentifier::Endpoint(Endpoint {
            address: Some(address("10.0.0.1", 80)),
            hostname: "host".into(),
            ..Endpoint::default()
        })),
        ..LbEndpoint::default()
    };
    let with_two = LbEndpoint {
        host_identifier: Some(HostIdentifier::Endpoint(Endpoint {
            address: Some(address("10.0.0.1", 80)),
            additional_addresses: vec![AdditionalAddress {
                address: Some(address("10.0.0.2", 80)),
            }],
            ..Endpoint::default()
        })),
        ..LbEndpoint::default()
    };
    let plain = [
        vec![
            of_health(Unknown, usual()),
            weighted(1, of_health(Healthy, endpoint("10.0.0.1", 65_535))),
            weighted(7, endpoint("10.0.0.2", 1)),
        ],
        vec![named],
        vec![
            noted("a", text(), usual()),
            noted("a", text(), endpoint("10.0.0.2", 80)),
        ],
        vec![noted("a", Some(NumberValue(1.0)), usual())],
        vec![weighted(u32::MAX, usual())],
    ];
    let odd = [
        vec![usual(), usual()],
        vec![endpoint("10.0.0.1", 0)],
        vec![endpoint("10.0.0.1", 65_536)],
        vec![endpoint("10.0.0.1\0x", 80)],
        vec![endpoint("010.0.0.1", 80)],
        vec![endpoint("host", 80)],
        vec![endpoint("[::1]:5", 80)],
        vec![LbEndpoint::default()],
        vec![of_health(Draining, usual())],
        vec![of_health(Unhealthy, usual()), endpoint("10.0.0.2", 80)],
        vec![weighted(0, usual())],
        vec![weighted(u32::MAX, usual()), endpoint("10.0.0.2", 80)],
        vec![with_two],
        vec![noted("envoy.lb", text(), usual())],
        vec![noted("a", None, usual())],
        vec![noted("a", Some(NumberValue(f64::NAN)), usual())],
        vec![noted("a", text(), usual()), noted("a", None, endpoint("10.0.0.2", 80))],
        vec![typed(ADDRESS, proto::keep(&address("10.0.0.9", 1)), usual())],
        vec![typed(ADDRESS, proto::keep(&address("host", 1)), usual())],
        vec![typed(AUDIENCE, Bytes::new(), usual())],
        vec![typed("a.B", Bytes::new(), usual())],
    ];
    let profiles = profiles();
    // A further locality that clients keep like all others, and that makes them read the whole list
    // one by one.
    let last = || locality("b", &[endpoint("2001:db8::1", 80)]);
    let is_plain = |localities| {
        let message = ClusterLoadAssignment {
            endpoints: localities,
            ..ClusterLoadAssignment::default()
        };
        Opened::shared().endpoints(&message).plain().is_some()
    };
    for list in plain {
        let first = || locality("a", &list);
        assert!(is_plain(vec![first()]) && !is_plain(vec![first(), last()]), "{list:?}");
        let one_by_one = answers(vec![first(), last()], &profiles);
        assert_eq!(answers(vec![first()], &profiles), one_by_one);
        let is_taken = |answer: &String| answer.contains("Accepted [] Some([Endpoint");
        assert!(one_by_one.iter().all(is_taken), "{one_by_one:?}");
    }
    for list in odd {
        assert!(!is_plain(vec![locality("a", &list)]), "{list:?}");
    }
}
