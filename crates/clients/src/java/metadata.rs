//! Metadata of a cluster, a locality or an endpoint, as grpc-java reads it (MetadataRegistry
//! `parseMetadata`).

use prost_types::value::Kind as ValueKind;
use prost_types::{Struct, Value};

use super::address::for_string;
use super::{is_url_of, thrown, unpack_as};
use crate::shared::names::{ADDRESS, AUDIENCE};
use crate::shared::rules::{ADDRESS_NOT_IP, METADATA_AUDIENCE_WITHOUT_URL, METADATA_NOT_JSON, PORT_OUT_OF_RANGE};
use crate::shared::{Checked, fields, reject};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::{Address, Metadata};
use xdsctl_document::proto::pb::envoy::extensions::filters::http::gcp_authn::v3::Audience;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::host_port::MAX_PORT;
use xdsctl_model::profile::Feature;

/// Converts the metadata at `at`: typed entries come first, and hide untyped ones of the same key.
pub(super) fn parse(metadata: &Metadata, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let typed = at.field("typed_filter_metadata");
    // The client knows addresses since endpoints may have them.
    let has_addresses = cx.has(Feature::EndpointMetadata);
    let is_address = |any: &Any| has_addresses && is_url_of(&any.type_url, ADDRESS);
    let is_known = |any: &Any| is_url_of(&any.type_url, AUDIENCE) || is_address(any);
    for (key, any) in &metadata.typed_filter_metadata {
        let at = typed.key(key);
        if is_url_of(&any.type_url, AUDIENCE) {
            audience(any, &at, cx)?;
        } else if is_address(any) {
            address(any, &at, cx)?;
        }
    }
    let untyped = at.field("filter_metadata");
    for (key, value) in &metadata.filter_metadata {
        let is_hidden = metadata.typed_filter_metadata.get(key).is_some_and(is_known);
        if !is_hidden && !is_json(value) {
            let message = format_args!("a value in it has no kind");
            return Err(thrown(&METADATA_NOT_JSON, &untyped.key(key), message, cx));
        }
    }
    Ok(())
}

fn audience(any: &Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if cx.has(Feature::AudienceNeedsSwitch) && !cx.has(Feature::GcpAuthnFilter) {
        let message = format_args!("an Audience is rejected while gcp_authn is switched off");
        return Err(reject(&METADATA_AUDIENCE_WITHOUT_URL, at, message, cx));
    }
    let audience: Audience = unpack_as(any, AUDIENCE, at, cx)?;
    if audience.url.is_empty() {
        let at = at.value(AUDIENCE);
        let message = format_args!("url is empty, must be the audience of the token");
        return Err(reject(&METADATA_AUDIENCE_WITHOUT_URL, &at.field("url"), message, cx));
    }
    Ok(())
}

/// Checks an address (`AddressMetadataParser`).
fn address(any: &Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let message: Address = unpack_as(any, ADDRESS, at, cx)?;
    let at = at.value(ADDRESS);
    let at = at.field("socket_address");
    let socket = fields::socket(Some(&message));
    let text = socket.map_or("", |socket| socket.address.as_str());
    let port = socket.and_then(fields::port).unwrap_or(0);
    if port > MAX_PORT && !text.is_empty() {
        let message = format_args!("port {port} is above {MAX_PORT}");
        return Err(reject(&PORT_OUT_OF_RANGE, &at.field("port_value"), message, cx));
    }
    if for_string(text).is_none() {
        let message = format_args!("`{text}` is not an IP address");
        return Err(reject(&ADDRESS_NOT_IP, &at.field("address"), message, cx));
    }
    Ok(())
}

/// Says whether each value has a kind (`ProtobufJsonConverter`).
fn is_json(fields: &Struct) -> bool {
    fn has_kind(value: &Value) -> bool {
        match &value.kind {
            Some(ValueKind::StructValue(fields)) => is_json(fields),
            Some(ValueKind::ListValue(list)) => list.values.iter().all(has_kind),
            kind => kind.is_some(),
        }
    }
    fields.fields.values().all(has_kind)
}
