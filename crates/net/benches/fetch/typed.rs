//! The messages of endpoints as prost generates them, for a client that decodes what it gets.

use bytes::Bytes;
use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
struct ClusterLoadAssignment {
    #[prost(string, tag = "1")]
    cluster_name: String,
    #[prost(message, repeated, tag = "2")]
    endpoints: Vec<LocalityLbEndpoints>,
}

#[derive(Clone, PartialEq, Message)]
struct LocalityLbEndpoints {
    #[prost(message, optional, tag = "1")]
    locality: Option<Locality>,
    #[prost(message, repeated, tag = "2")]
    lb_endpoints: Vec<LbEndpoint>,
    #[prost(message, optional, tag = "3")]
    load_balancing_weight: Option<u32>,
    #[prost(uint32, tag = "5")]
    priority: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Locality {
    #[prost(string, tag = "1")]
    region: String,
    #[prost(string, tag = "2")]
    zone: String,
    #[prost(string, tag = "3")]
    sub_zone: String,
}

#[derive(Clone, PartialEq, Message)]
struct LbEndpoint {
    #[prost(oneof = "Host", tags = "1, 5")]
    host: Option<Host>,
    #[prost(int32, tag = "2")]
    health_status: i32,
    #[prost(message, optional, tag = "4")]
    load_balancing_weight: Option<u32>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Host {
    #[prost(message, tag = "1")]
    Endpoint(Endpoint),
    #[prost(string, tag = "5")]
    Name(String),
}

#[derive(Clone, PartialEq, Message)]
struct Endpoint {
    #[prost(message, optional, tag = "1")]
    address: Option<Address>,
    #[prost(string, tag = "3")]
    hostname: String,
}

#[derive(Clone, PartialEq, Message)]
struct Address {
    #[prost(message, optional, tag = "1")]
    socket_address: Option<SocketAddress>,
}

#[derive(Clone, PartialEq, Message)]
struct SocketAddress {
    #[prost(int32, tag = "1")]
    protocol: i32,
    #[prost(string, tag = "2")]
    address: String,
    #[prost(oneof = "Port", tags = "3, 4")]
    port: Option<Port>,
    #[prost(string, tag = "5")]
    resolver_name: String,
    #[prost(bool, tag = "6")]
    ipv4_compat: bool,
}

#[derive(Clone, PartialEq, Oneof)]
enum Port {
    #[prost(uint32, tag = "3")]
    Value(u32),
    #[prost(string, tag = "4")]
    Named(String),
}

/// Decodes a ClusterLoadAssignment and throws it away. Returns the number of its endpoints.
pub fn endpoints(bytes: Bytes) -> usize {
    let assignment = ClusterLoadAssignment::decode(bytes).unwrap();
    assignment
        .endpoints
        .iter()
        .map(|locality| locality.lb_endpoints.len())
        .sum()
}
