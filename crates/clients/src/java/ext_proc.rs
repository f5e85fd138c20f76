//! The ext_proc filter and the service that it calls, as grpc-java reads them
//! (ExternalProcessorFilter, GrpcServiceConfigParser).

use super::matcher::{self, Catches};
use super::uri::Uri;
use super::{holds, is_url_of, is_valid, to_nanos, unpack_as};
use crate::shared::ext_proc::{self, ACCESS_TOKEN, CREDENTIALS, XDS};
use crate::shared::rules::{
    CHANNEL_CREDENTIALS_MISSING, DURATION_NOT_POSITIVE, GRPC_SERVICE_NOT_GOOGLE_GRPC, GRPC_SERVICE_TARGET_INVALID,
    HEADER_KEY_RESERVED, HEADER_VALUE_ILLEGAL,
};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::duration::DURATION_OUT_OF_RANGE;
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::grpc_service::{GoogleGrpc, TargetSpecifier};
use xdsctl_document::proto::pb::envoy::config::core::v3::{GrpcService, HeaderValue};
use xdsctl_document::proto::pb::envoy::extensions::filters::http::ext_proc::v3::ExternalProcessor;
use xdsctl_document::proto::pb::envoy::extensions::grpc_service::call_credentials::access_token::v3::AccessTokenCredentials;
use xdsctl_document::proto::pb::envoy::extensions::grpc_service::channel_credentials::xds::v3::XdsCredentials;
use xdsctl_model::diag::{Path, Validation};

/// The longest key or value of a header, in UTF-16 units.
const HEADER_LENGTH: usize = 16_384;

/// The schemes of targets for which the client brings a resolver.
const SCHEMES: &[&str] = &["dns", "unix", "xds"];

/// Converts the config (`ExternalProcessorFilterConfig.create`).
pub(super) fn parse(message: &ExternalProcessor, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    ext_proc::expressions(
        message,
        |pattern, at, cx| matcher::regex(pattern, true, at, cx),
        |pattern, at, cx| matcher::string(pattern, Catches::Nothing, at, cx),
        at,
        cx,
    )?;
    if let Some(timeout) = &message.deferred_close_timeout {
        let at = at.field("deferred_close_timeout");
        if !is_valid(timeout) {
            let message = format_args!("deferred_close_timeout is no duration");
            return Err(reject(&DURATION_OUT_OF_RANGE, &at, message, cx));
        }
        let nanos = to_nanos(timeout, &at, cx)?;
        if nanos <= 0 {
            let message = format_args!("deferred_close_timeout is {nanos} ns, must be above 0");
            return Err(reject(&DURATION_NOT_POSITIVE, &at, message, cx));
        }
    }
    let mode = message.processing_mode.unwrap_or_default();
    ext_proc::processing_mode(&mode, &at.field("processing_mode"), cx)?;
    grpc_service(message.grpc_service.as_ref(), &at.field("grpc_service"), cx)
}

/// Checks the service to call (`GrpcServiceConfigParser.parse`).
fn grpc_service(service: Option<&GrpcService>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some((service, TargetSpecifier::GoogleGrpc(google))) =
        service.and_then(|service| Some((service, service.target_specifier.as_ref()?)))
    else {
        let message = format_args!("google_grpc is missing, gRPC knows no other kind of service");
        return Err(reject(&GRPC_SERVICE_NOT_GOOGLE_GRPC, at, message, cx));
    };
    google_grpc(google, &at.field("google_grpc"), cx)?;
    let list = at.field("initial_metadata");
    for (i, header) in service.initial_metadata.iter().enumerate() {
        initial_metadata(header, &list.index(i), cx)?;
    }
    ext_proc::timeout(service, at, cx)
}

/// Checks a `google_grpc` service (`parseGoogleGrpcConfig`).
fn google_grpc(google: &GoogleGrpc, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let uri = google.target_uri.as_str();
    if !has_resolver(uri) {
        let message = format_args!("the client has no resolver for the scheme of `{uri}`");
        let at = at.field("target_uri");
        return Err(reject(&GRPC_SERVICE_TARGET_INVALID, &at, message, cx));
    }
    if !ext_proc::is_trusted(uri, at, cx)? {
        return Ok(());
    }
    ext_proc::channel_credentials(&google.channel_credentials_plugin, has_credentials, at, cx)?;
    let list = at.field("call_credentials_plugin");
    for (i, any) in google.call_credentials_plugin.iter().enumerate() {
        if !holds(any, ACCESS_TOKEN) {
            continue;
        }
        let at = list.index(i);
        let credentials: AccessTokenCredentials = unpack_as(any, ACCESS_TOKEN, &at, cx)?;
        ext_proc::token(&credentials, &at, cx)?;
    }
    Ok(())
}

/// Says whether there is a resolver for the scheme of a URI. A URI without a scheme is a DNS name.
fn has_resolver(uri: &str) -> bool {
    let Some(uri) = Uri::parse(uri) else {
        return false;
    };
    let is_known = |scheme: &str| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    uri.scheme.is_none_or(is_known)
}

/// Checks channel credentials; says whether the client has them (`channelCredsFromProto`).
fn has_credentials(any: &Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let is_of = |kind: &str| {
        let name = any.type_url.strip_prefix(super::URL_PREFIX);
        name.and_then(|name| name.strip_prefix(CREDENTIALS)) == Some(kind)
    };
    if is_of("google_default.v3.GoogleDefaultCredentials") || is_of("insecure.v3.InsecureCredentials") {
        return Ok(true);
    }
    if is_of("local.v3.LocalCredentials") || is_of("tls.v3.TlsCredentials") {
        let message = format_args!("the client knows `{}` and cannot use it yet", any.type_url);
        return Err(reject(&CHANNEL_CREDENTIALS_MISSING, at, message, cx));
    }
    if !is_url_of(&any.type_url, XDS) {
        return Ok(false);
    }
    let credentials: XdsCredentials = unpack_as(any, XDS, at, cx)?;
    ext_proc::fallback(&credentials, has_credentials, at, cx)
}

/// Checks a header (`HeaderValue.create`, `isDisallowed`). A binary value comes from raw_value, any
/// other from value.
fn initial_metadata(header: &HeaderValue, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let key = header.key.as_str();
    let key_len = key.encode_utf16().count();
    let is_reserved = key.is_empty()
        || key_len > HEADER_LENGTH
        || key.to_lowercase() != key
        || key.starts_with("grpc-")
        || key.starts_with(':')
        || key == "host";
    let is_text = |text: &str| text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    let is_legal = if key.ends_with("-bin") {
        header.raw_value.len() <= HEADER_LENGTH
    } else {
        header.value.encode_utf16().count() <= HEADER_LENGTH && is_text(&header.value)
    };
    if !is_legal {
        let message = format_args!("the value of `{key}` is longer than {HEADER_LENGTH} bytes or not ASCII text");
        return Err(reject(&HEADER_VALUE_ILLEGAL, &at.field("value"), message, cx));
    }
    if is_reserved {
        let message = format_args!("key `{key}` is empty, too long, reserved or not in lower case");
        return Err(reject(&HEADER_KEY_RESERVED, &at.field("key"), message, cx));
    }
    Ok(())
}
