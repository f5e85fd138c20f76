//! tonic-xds: converters of the four resources, with its order of checks; a converter stops at the
//! first fault.
//!
//! There is one file for each resource or part of one. The client reads little: no HTTP filter, no
//! LB policy but the enum, no priority, no weight of an endpoint. What it does not read is not
//! checked here either. Follows `src/xds/resource`.

mod cluster;
mod endpoints;
mod listener;
mod matcher;
mod retry;
mod routes;
mod strict;
mod tls;

use bytes::Bytes;

use crate::shared::{Checked, Converter, Message, SentResource, decoded, not_in_any, undecodable};
use xdsctl_document::proto::pb::tables;
use xdsctl_model::diag::{BytesKnowledge, Path, Validation};
use xdsctl_model::resource::Resource;

pub(crate) static CONVERTER: Converter = Converter {
    judge: convert,
    failures_kill: false,
    failing_later: &[],
    rules: &[],
};

/// Converts a resource. The client checks nothing of the wrapper: neither its type nor its name.
fn convert(sent: &SentResource<'_>, cx: &mut Validation<'_>) -> Checked<Option<Resource>> {
    let message = decoded(sent, cx)?;
    let resource_type = sent.resource_type;
    // Bytes that the loader wrote pass this check.
    let table = tables::message(resource_type.type_name()).filter(|_| cx.known() < BytesKnowledge::WellFormed);
    if let Some(table) = table {
        strict::check(sent.bytes, table).map_err(|fault| undecodable(resource_type, fault, cx))?;
    }
    Ok(Some(match message {
        Message::Listener(message) => Resource::Listener(listener::convert(message, cx)?),
        Message::RouteConfiguration(message) => {
            Resource::RouteConfiguration(routes::from_proto(sent.opened.hosts(message), &Path::ROOT, cx)?)
        }
        Message::Cluster(message) => Resource::Cluster(cluster::convert(message, cx)?),
        Message::Endpoints(message) => {
            Resource::Endpoints(endpoints::convert(message, sent.opened.endpoints(message), cx)?)
        }
    }))
}

/// Decodes the bytes in an Any at `at` as a message of this type.
fn decode<T: prost::Message + Default>(
    bytes: &Bytes,
    type_name: &'static str,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<T> {
    let message = T::decode(bytes.clone()).map_err(|fault| not_in_any(type_name, fault, at, cx))?;
    if let Some(table) = tables::message(type_name) {
        strict::check(bytes, table).map_err(|fault| not_in_any(type_name, fault, at, cx))?;
    }
    Ok(message)
}
