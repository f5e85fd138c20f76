//! Endpoints that are plain are looked at once for all clients: what each makes of them is what it
//! makes of endpoints one by one.

use prost::Message as _;

use super::*;
use xdsctl_document::proto::pb::envoy::config::core::v3::address::Address as Kind;
use xdsctl_document::proto::pb::envoy::config::core::v3::socket_address::PortSpecifier;
use xdsctl_document::proto::pb::envoy::config::core::v3::{Address, HealthStatus, Locality, SocketAddress};
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::lb_endpoint::HostIdentifier;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{
    ClusterLoadAssignment, Endpoint, LbEndpoint, LocalityLbEndpoints,
};
use xdsctl_model::profile::Client;

/// What an endpoint has: its address, port, health and weight.
type Given = (&'static str, u32, HealthStatus, Option<u32>);

fn endpoint((address, port, health, weight): Given) -> Bytes {
    let socket = SocketAddress {
        address: address.into(),
        port_specifier: Some(PortSpecifier::PortValue(port)),
        ..SocketAddress::default()
    };
    let endpoint = Endpoint {
        address: Some(Address {
            address: Some(Kind::SocketAddress(socket)),
        }),
        ..Endpoint::default()
    };
    let endpoint = LbEndpoint {
        host_identifier: Some(HostIdentifier::Endpoint(endpoint)),
        health_status: health.into(),
        load_balancing_weight: weight,
        ..LbEndpoint::default()
    };
    endpoint.encode_to_vec().into()
}

/// The answers of the newest clients to an assignment with a locality for each list, and the
/// endpoints that each keeps of the first of them.
fn answers(lists: &[&[Given]]) -> Vec<String> {
    let locality = |(number, list): (usize, &&[Given])| LocalityLbEndpoints {
        locality: Some(Locality {
            region: format!("r{number}"),
            ..Locality::default()
        }),
        load_balancing_weight: Some(1),
        lb_endpoints: list.iter().copied().map(endpoint).collect(),
        ..LocalityLbEndpoints::default()
    };
    let assignment = ClusterLoadAssignment {
        cluster_name: "c".into(),
        endpoints: lists.iter().enumerate().map(locality).collect(),
        ..ClusterLoadAssignment::default()
    };
    let bytes = Bytes::from(assignment.encode_to_vec());
    let profiles = Client::parse_list("current").unwrap();
    let profiles: Vec<Profile> = profiles.into_iter().map(Profile::of).collect();
    let (server, resource_type) = (ServerFacts::default(), ResourceType::Endpoints);
    let validated = validate_for(resource_type, &bytes, None, (&profiles[0], &profiles), &server);
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
    use HealthStatus::{Healthy, Unknown};
    let plain: &[Given] = &[
        ("10.0.0.1", 80, Unknown, None),
        ("10.0.0.1", 65_535, Healthy, Some(1)),
        ("10.0.0.2", 1, Healthy, Some(7)),
    ];
    // One more that is read as all others, and has the whole list read one by one.
    let odd: &[Given] = &[("2001:db8::1", 80, Healthy, None)];
    let one_by_one = answers(&[plain, odd]);
    assert_eq!(answers(&[plain]), one_by_one);
    assert!(
        one_by_one.iter().all(|answer| answer.contains("Accepted")),
        "{one_by_one:?}"
    );
    assert!(
        one_by_one.iter().all(|answer| answer.contains("10.0.0.2")),
        "{one_by_one:?}"
    );
}
