//! `envoy.config.core.v3.Metadata` of clusters, localities and endpoints (A83, A86, A76).
//!
//! Follows C-core `ParseXdsMetadataMap` (xds_metadata_parser.cc): typed entries of a known type
//! first, then the Structs under keys that are still free. Every Struct is checked, kept or not.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::core::convert::address;
use crate::shared::names::{ADDRESS, AUDIENCE};
use crate::shared::rules::{METADATA_AUDIENCE_WITHOUT_URL, METADATA_NOT_JSON};
use xdsctl_document::proto;
use xdsctl_document::proto::any::{self, Extension};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3 as core;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::gcp_authn::v3::Audience;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::MetadataValue;

rules! {
    /// A typed metadata entry has a type that the client does not know.
    METADATA_TYPE_UNKNOWN = "metadata-type-unknown", Common, Ignored, "gRFC A83; C-core ParseXdsMetadataMap";
    /// A Struct in filter_metadata has the key of a typed entry, which is used instead.
    METADATA_SHADOWED = "metadata-shadowed", Common, Ignored, "gRFC A83; C-core ParseXdsMetadataMap";
}

/// Converts metadata; `at` is the path in front of `.typed_filter_metadata` and `.filter_metadata`.
///
/// In a cluster that is the `metadata` field, in localities and endpoints the locality or endpoint
/// itself: the client leaves the field's name out there.
pub fn metadata(metadata: &Bytes, at: &Path<'_>, cx: &mut Validation<'_>) -> BTreeMap<String, MetadataValue> {
    let metadata: core::Metadata = proto::kept(metadata);
    let mut map = BTreeMap::new();
    let typed = at.field("typed_filter_metadata");
    for (key, any) in &metadata.typed_filter_metadata {
        if let Some(value) = typed_value(any, &typed.key(key), cx) {
            map.insert(key.clone(), value);
        }
    }
    let untyped = at.field("filter_metadata");
    for (key, value) in &metadata.filter_metadata {
        let at = untyped.key(key);
        let Some(json) = any::struct_to_json(Some(value)) else {
            cx.report(
                &METADATA_NOT_JSON,
                &at,
                format_args!("a value in it has no kind or is not a finite number"),
            );
            continue;
        };
        if map.contains_key(key) {
            cx.report(
                &METADATA_SHADOWED,
                &at,
                format_args!("not used, typed_filter_metadata has an entry `{key}` too"),
            );
            continue;
        }
        map.insert(key.clone(), MetadataValue::Struct(json));
    }
    map
}

fn typed_value(any: &Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<MetadataValue> {
    let extension = any::extract(Some(any), at, cx)?;
    let at = extension.at(at);
    match extension.type_name.as_ref() {
        AUDIENCE if cx.has(Feature::GcpAuthnFilter) => audience(&extension, &at, cx),
        ADDRESS if cx.has(Feature::HttpConnect) => {
            let address: core::Address = extension.decode(&at, cx)?;
            let parsed = address::socket_address(Some(&address), &at, cx)?;
            Some(MetadataValue::Address(parsed.to_string()))
        }
        name => {
            cx.report(
                &METADATA_TYPE_UNKNOWN,
                &at,
                format_args!("metadata of type `{name}` is not kept"),
            );
            None
        }
    }
}

fn audience(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<MetadataValue> {
    let audience: Audience = extension.decode(at, cx)?;
    let (url, at) = (Some(audience.url), at.field("url"));
    let why = "url is empty, must be the audience of the token";
    let url = cx.required(
        url.filter(|url| !url.is_empty()),
        &METADATA_AUDIENCE_WITHOUT_URL,
        &at,
        why,
    )?;
    Some(MetadataValue::Audience { url })
}
