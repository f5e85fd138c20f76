//! From the bytes of one resource to a validated value and findings.
//!
//! One converter per resource type, in the client's order and with its short-circuits. Validation never fails: it returns
//! what the client would keep, if anything, and every finding.

use bytes::Bytes;

use crate::diag::{Cx, Diagnostic, Packed, Path, rules};
use crate::model::{Resource, ResourceType};
use crate::profile::{Profile, ServerFacts};
use crate::proto::any;

pub(crate) mod cluster;
pub mod discovery;
pub(crate) mod downstream_tls;
pub(crate) mod endpoints;
pub(crate) mod filter_chain;
pub(crate) mod filter_chain_map;
pub(crate) mod hash_policy;
pub(crate) mod http_connection_manager;
pub(crate) mod listener;
pub(crate) mod retry;
pub(crate) mod route_action;
pub(crate) mod route_config;
pub(crate) mod route_match;
pub(crate) mod route_shadow;

rules! {
    /// The bytes of a resource are not a message of its type.
    RESOURCE_UNDECODABLE = "resource-undecodable", Common, Nack, "C-core XdsResourceTypeImpl::Decode; upb";
}

/// The outcome of validating one resource.
#[derive(Debug)]
pub struct Validated {
    /// `name` or `cluster_name`; empty when the bytes cannot be parsed.
    pub name: String,
    /// What the client keeps; `None` when it rejects the resource.
    pub value: Option<Resource>,
    /// Findings in the order in which the client comes across them.
    pub diagnostics: Vec<Diagnostic>,
    /// More findings, on fields that are never read, if they were to be packed (see [`Cx::packing`]).
    pub packed: Packed,
}

/// Validates the wire bytes of a resource of type `resource_type`.
pub fn validate(resource_type: ResourceType, bytes: &Bytes, profile: &Profile, server: &ServerFacts) -> Validated {
    within(Cx::new(profile, server), resource_type, bytes)
}

/// Validates the wire bytes of a resource in a context that knows something about them.
fn within(mut cx: Cx<'_>, resource_type: ResourceType, bytes: &Bytes) -> Validated {
    let (name, value) = match resource_type {
        ResourceType::Listener => convert(bytes, resource_type, &mut cx, listener::convert),
        ResourceType::RouteConfiguration => convert(bytes, resource_type, &mut cx, route_config::convert),
        ResourceType::Cluster => convert(bytes, resource_type, &mut cx, cluster::convert),
        ResourceType::Endpoints => convert(bytes, resource_type, &mut cx, endpoints::convert),
    };
    let value = if cx.nacked() { None } else { value };
    let packed = cx.take_packed();
    Validated {
        name,
        value,
        diagnostics: cx.finish(),
        packed,
    }
}

/// A converter of one resource type: the message at the root path to its name and what the client keeps.
type Converter<T> = fn(message: &T, cx: &mut Cx<'_>) -> (String, Option<Resource>);

fn convert<T: prost::Message + Default>(
    bytes: &Bytes,
    resource_type: ResourceType,
    cx: &mut Cx<'_>,
    converter: Converter<T>,
) -> (String, Option<Resource>) {
    match any::try_decode::<T>(bytes, resource_type.type_name(), &Path::ROOT, cx) {
        Ok(message) => converter(&message, cx),
        Err(fault) => {
            cx.report(
                &RESOURCE_UNDECODABLE,
                &Path::ROOT,
                format_args!("not a valid {}: {fault}", resource_type.short_name()),
            );
            (String::new(), None)
        }
    }
}
