//! What the resources of this crate say to the bytes of one. It is put into a copy of the crate, where they are private.

use envoy_types::pb::google::protobuf::Any;
use prost::Message as _;
use xds_client::{Error, Resource};

use crate::xds::resource::{ClusterResource, EndpointsResource, ListenerResource, RouteConfigResource};

fn checked<R: Resource>(bytes: Vec<u8>) -> Result<(), Error> {
    R::validate(R::deserialize(bytes.into())?).map(drop)
}

/// Takes the bytes of an Any, of which the client reads the value alone.
pub fn decode(kind: &str, any: &[u8]) -> Result<(), String> {
    let any = Any::decode(any).map_err(|error| error.to_string())?;
    let said = match kind {
        "lds" => checked::<ListenerResource>(any.value),
        "rds" => checked::<RouteConfigResource>(any.value),
        "cds" => checked::<ClusterResource>(any.value),
        _ => checked::<EndpointsResource>(any.value),
    };
    said.map_err(|error| error.to_string())
}
