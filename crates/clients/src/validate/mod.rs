//! From the bytes of one resource to a validated value and findings.
//!
//! One converter per resource type, in the client's order and with its short-circuits. Validation never fails: it returns
//! what the client would keep, if anything, and every finding.

use bytes::Bytes;

use crate::family::{self, Checked, ConverterStop, FamilyAnswer, Message, SentResource};
use xdsctl_document::proto::any;
use xdsctl_document::proto::wire::Malformed;
use xdsctl_model::diag::{Cx, Diagnostic, Packed, Path, rules};
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::{Resource, ResourceType};

pub mod cluster;
pub mod discovery;
pub mod downstream_tls;
pub mod endpoints;
pub mod filter_chain;
pub mod filter_chain_map;
pub mod hash_policy;
pub mod http_connection_manager;
pub mod listener;
pub mod retry;
pub mod route_action;
pub mod route_config;
pub mod route_match;
pub mod route_shadow;

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
    /// What other clients answer, in the order in which they were to be asked; see [`Cx::asking`].
    pub answers: Vec<FamilyAnswer>,
    /// More findings, on fields that are never read, if they were to be packed (see [`Cx::packing`]).
    pub packed: Packed,
}

/// Validates the wire bytes of a resource of type `resource_type`.
pub fn validate(resource_type: ResourceType, bytes: &Bytes, profile: &Profile, server: &ServerFacts) -> Validated {
    within(Cx::new(profile, server), resource_type, bytes, None)
}

/// Validates the wire bytes of a resource, and asks other clients about it.
pub fn validate_for(
    resource_type: ResourceType,
    bytes: &Bytes,
    outer_name: Option<&str>,
    (profile, others): (&Profile, &[Profile]),
    server: &ServerFacts,
) -> Validated {
    within(
        Cx::new(profile, server).asking(others),
        resource_type,
        bytes,
        outer_name,
    )
}

/// Converts a resource for another version of C-core than the one that decoded it.
pub fn again(sent: &SentResource<'_>, cx: &mut Cx<'_>) -> Checked {
    match sent.message {
        Ok(Message::Listener(message)) => _ = listener::convert(message, cx),
        Ok(Message::RouteConfiguration(message)) => _ = route_config::convert(message, cx),
        Ok(Message::Cluster(message)) => _ = cluster::convert(message, cx),
        Ok(Message::Endpoints(message)) => _ = endpoints::convert(message, cx),
        Err(fault) => {
            report_undecodable(sent.resource_type, fault, cx);
            return Err(ConverterStop::Rejected);
        }
    }
    Ok(())
}

/// Validates the wire bytes of a resource in a context that knows something about them.
fn within(mut cx: Cx<'_>, resource_type: ResourceType, bytes: &Bytes, outer_name: Option<&str>) -> Validated {
    let of = (resource_type, bytes, outer_name);
    let (name, value, answers) = match resource_type {
        ResourceType::Listener => convert(of, &mut cx, listener::convert, |message| Message::Listener(message)),
        ResourceType::RouteConfiguration => convert(of, &mut cx, route_config::convert, |message| {
            Message::RouteConfiguration(message)
        }),
        ResourceType::Cluster => convert(of, &mut cx, cluster::convert, |message| Message::Cluster(message)),
        ResourceType::Endpoints => convert(of, &mut cx, endpoints::convert, |message| Message::Endpoints(message)),
    };
    let value = if cx.nacked() { None } else { value };
    let packed = cx.take_packed();
    Validated {
        name,
        value,
        diagnostics: cx.finish(),
        answers,
        packed,
    }
}

/// A converter of one resource type: the message at the root path to its name and what the client keeps.
type Converter<T> = fn(message: &T, cx: &mut Cx<'_>) -> (String, Option<Resource>);

fn convert<T: prost::Message + Default>(
    (resource_type, bytes, outer_name): (ResourceType, &Bytes, Option<&str>),
    cx: &mut Cx<'_>,
    converter: Converter<T>,
    of: for<'m> fn(&'m T) -> Message<'m>,
) -> (String, Option<Resource>, Vec<FamilyAnswer>) {
    let decoded = any::try_decode::<T>(bytes, resource_type.type_name(), &Path::ROOT, cx);
    let (name, value) = match &decoded {
        Ok(message) => converter(message, cx),
        Err(fault) => {
            report_undecodable(resource_type, *fault, cx);
            (String::new(), None)
        }
    };
    if cx.others().is_empty() {
        return (name, value, Vec::new());
    }
    let sent = SentResource {
        resource_type,
        message: decoded.as_ref().map(of).map_err(|fault| *fault),
        bytes,
        outer_name,
    };
    (name, value, family::ask_all(&sent, cx.others(), cx.server()))
}

fn report_undecodable(resource_type: ResourceType, fault: Malformed, cx: &mut Cx<'_>) {
    cx.report(
        &RESOURCE_UNDECODABLE,
        &Path::ROOT,
        format_args!("not a valid {}: {fault}", resource_type.short_name()),
    );
}
