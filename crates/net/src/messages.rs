//! The messages of the discovery services, with resources as bytes.
//!
//! Field numbers are those of envoy/service/discovery/v3/discovery.proto,
//! envoy/service/status/v3/csds.proto and google/rpc/status.proto. A message of the schema that is
//! not looked into here is a `bytes` field, which is the same on the wire.

use bytes::Bytes;
use prost::Message;

/// google.protobuf.Any
#[derive(Clone, PartialEq, Message)]
pub struct Any {
    #[prost(string, tag = "1")]
    pub type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
}

/// google.rpc.Status
#[derive(Clone, PartialEq, Message)]
pub struct Status {
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
}

/// envoy.service.discovery.v3.DiscoveryRequest
#[derive(Clone, PartialEq, Message)]
pub struct DiscoveryRequest {
    #[prost(string, tag = "1")]
    pub version_info: String,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub node: Option<Bytes>,
    #[prost(string, repeated, tag = "3")]
    pub resource_names: Vec<String>,
    #[prost(string, tag = "4")]
    pub type_url: String,
    #[prost(string, tag = "5")]
    pub response_nonce: String,
    #[prost(message, optional, tag = "6")]
    pub error_detail: Option<Status>,
}

/// envoy.service.discovery.v3.DiscoveryResponse
#[derive(Clone, PartialEq, Message)]
pub struct DiscoveryResponse {
    #[prost(string, tag = "1")]
    pub version_info: String,
    #[prost(message, repeated, tag = "2")]
    pub resources: Vec<Any>,
    #[prost(string, tag = "4")]
    pub type_url: String,
    #[prost(string, tag = "5")]
    pub nonce: String,
}

/// envoy.service.discovery.v3.DeltaDiscoveryRequest
#[derive(Clone, PartialEq, Message)]
pub struct DeltaRequest {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub node: Option<Bytes>,
    #[prost(string, tag = "2")]
    pub type_url: String,
    #[prost(string, repeated, tag = "3")]
    pub subscribe: Vec<String>,
    #[prost(string, repeated, tag = "4")]
    pub unsubscribe: Vec<String>,
    #[prost(string, tag = "6")]
    pub response_nonce: String,
    #[prost(message, optional, tag = "7")]
    pub error_detail: Option<Status>,
}

/// envoy.service.discovery.v3.Resource
#[derive(Clone, PartialEq, Message)]
pub struct Resource {
    #[prost(string, tag = "1")]
    pub version: String,
    #[prost(message, optional, tag = "2")]
    pub resource: Option<Any>,
    #[prost(string, tag = "3")]
    pub name: String,
}

/// envoy.service.discovery.v3.DeltaDiscoveryResponse
#[derive(Clone, PartialEq, Message)]
pub struct DeltaResponse {
    #[prost(string, tag = "1")]
    pub system_version_info: String,
    #[prost(message, repeated, tag = "2")]
    pub resources: Vec<Resource>,
    #[prost(string, tag = "4")]
    pub type_url: String,
    #[prost(string, tag = "5")]
    pub nonce: String,
    #[prost(string, repeated, tag = "6")]
    pub removed_resources: Vec<String>,
}

/// envoy.service.status.v3.ClientStatusRequest, without its fields.
#[derive(Clone, PartialEq, Message)]
pub struct ClientStatusRequest {}

/// envoy.service.status.v3.ClientStatusResponse
#[derive(Clone, PartialEq, Message)]
pub struct ClientStatusResponse {
    #[prost(message, repeated, tag = "1")]
    pub config: Vec<ClientConfig>,
}

/// envoy.service.status.v3.ClientConfig
#[derive(Clone, PartialEq, Message)]
pub struct ClientConfig {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub node: Option<Bytes>,
    /// PerXdsConfig, deprecated.
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub xds_config: Vec<Bytes>,
    /// GenericXdsConfig.
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub generic_xds_configs: Vec<Bytes>,
    #[prost(string, tag = "4")]
    pub client_scope: String,
}

/// envoy.service.status.v3.ClientConfig.GenericXdsConfig
#[derive(Clone, PartialEq, Message)]
pub struct GenericXdsConfig {
    #[prost(string, tag = "1")]
    pub type_url: String,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(string, tag = "3")]
    pub version_info: String,
    #[prost(message, optional, tag = "4")]
    pub xds_config: Option<Any>,
    #[prost(message, optional, tag = "5")]
    pub last_updated: Option<Timestamp>,
    #[prost(int32, tag = "7")]
    pub client_status: i32,
    #[prost(message, optional, tag = "8")]
    pub error_state: Option<UpdateFailureState>,
}

/// google.protobuf.Timestamp
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Timestamp {
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

/// envoy.admin.v3.UpdateFailureState
#[derive(Clone, PartialEq, Message)]
pub struct UpdateFailureState {
    #[prost(message, optional, tag = "1")]
    pub failed_configuration: Option<Any>,
    #[prost(message, optional, tag = "2")]
    pub last_update_attempt: Option<Timestamp>,
    #[prost(string, tag = "3")]
    pub details: String,
    #[prost(string, tag = "4")]
    pub version_info: String,
}

/// envoy.admin.v3.ClientResourceStatus
pub mod status {
    pub const DOES_NOT_EXIST: i32 = 2;
    pub const ACKED: i32 = 3;
    pub const NACKED: i32 = 4;
}

impl Timestamp {
    /// Returns the time that is so many milliseconds after 1970.
    pub fn of_millis(millis: u64) -> Timestamp {
        Timestamp {
            seconds: i64::try_from(millis / 1000).unwrap_or(i64::MAX),
            nanos: i32::try_from(millis % 1000 * 1_000_000).unwrap_or_default(),
        }
    }
}
