//! The ext_proc filter and the service that it calls, as grpc-go reads them
//! (internal/xds/httpfilter/extproc, internal/xds/grpcservice).

use super::target::is_target;
use super::{matcher, unmarshal};
use crate::shared::ext_proc::{self, ACCESS_TOKEN, CREDENTIALS, TLS, XDS};
use crate::shared::rules::{
    GRPC_SERVICE_NOT_ALLOWED, GRPC_SERVICE_NOT_GOOGLE_GRPC, GRPC_SERVICE_TARGET_INVALID, HEADER_KEY_RESERVED,
    HEADER_VALUE_ILLEGAL, TLS_CREDENTIALS_PROVIDER_UNKNOWN, TLS_CREDENTIALS_WITHOUT_ROOT,
};
use crate::shared::{Checked, ConverterStop, URL_PREFIX, reject};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::grpc_service::TargetSpecifier;
use xdsctl_document::proto::pb::envoy::config::core::v3::{GrpcService, HeaderValue};
use xdsctl_document::proto::pb::envoy::extensions::filters::http::ext_proc::v3::{
    ExtProcPerRoute, ExternalProcessor, ext_proc_per_route::Override,
};
use xdsctl_document::proto::pb::envoy::extensions::grpc_service::call_credentials::access_token::v3::AccessTokenCredentials;
use xdsctl_document::proto::pb::envoy::extensions::grpc_service::channel_credentials::tls::v3::TlsCredentials;
use xdsctl_document::proto::pb::envoy::extensions::grpc_service::channel_credentials::xds::v3::XdsCredentials;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// An ext_proc filter has no processing_mode.
    EXT_PROC_MODE_MISSING = "ext-proc-processing-mode-missing", Filter, Nack, "grpc-go internal/xds/httpfilter/extproc ParseFilterConfig";
}

/// The longest key or value of a header, in bytes.
const HEADER_LENGTH: usize = 16_384;

/// Checks the filter's config at `at` (`ParseFilterConfig`).
pub(super) fn config(config: &ExternalProcessor, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let at_mode = at.field("processing_mode");
    match &config.processing_mode {
        Some(mode) => ext_proc::processing_mode(mode, &at_mode, cx)?,
        None => {
            let message = format_args!("processing_mode is missing");
            return Err(reject(&EXT_PROC_MODE_MISSING, &at_mode, message, cx));
        }
    }
    if cx.has(Feature::GrpcServiceRead) {
        // grpc-go does this in `HeaderMutationRulesFromProto` and `ConvertStringMatchers`.
        ext_proc::expressions(
            config,
            matcher::regex,
            |pattern, at, cx| matcher::string_matcher(Some(pattern), at, cx),
            at,
            cx,
        )?;
    }
    let at = at.field("grpc_service");
    match &config.grpc_service {
        Some(service) => grpc_service(service, &at, cx),
        None => Err(no_service(&at, cx)),
    }
}

/// Checks an override of the filter at `at` (`ParseFilterConfigOverride`).
pub(super) fn overrides(config: &ExtProcPerRoute, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some(Override::Overrides(overrides)) = &config.r#override else {
        return Ok(());
    };
    let at = at.field("overrides");
    if let Some(mode) = &overrides.processing_mode {
        ext_proc::processing_mode(mode, &at.field("processing_mode"), cx)?;
    }
    match &overrides.grpc_service {
        Some(service) => grpc_service(service, &at.field("grpc_service"), cx),
        None => Ok(()),
    }
}

fn no_service(at: &Path<'_>, cx: &mut Validation<'_>) -> ConverterStop {
    let message = format_args!("google_grpc is missing, gRPC knows no other kind of service");
    reject(&GRPC_SERVICE_NOT_GOOGLE_GRPC, at, message, cx)
}

/// Checks the service to call (`grpcservice.Parse`).
fn grpc_service(service: &GrpcService, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if !cx.has(Feature::GrpcServiceRead) {
        let message = format_args!("this version takes no grpc_service");
        return Err(reject(&GRPC_SERVICE_NOT_ALLOWED, at, message, cx));
    }
    let Some(TargetSpecifier::GoogleGrpc(google)) = &service.target_specifier else {
        return Err(no_service(at, cx));
    };
    let uri = google.target_uri.as_str();
    let at_google = at.field("google_grpc");
    if uri.is_empty() || !is_target(uri) {
        let message = format_args!("no channel can be made to `{uri}`, which is no URI");
        let at = at_google.field("target_uri");
        return Err(reject(&GRPC_SERVICE_TARGET_INVALID, &at, message, cx));
    }
    ext_proc::timeout(service, at, cx)?;
    let list = at.field("initial_metadata");
    for (i, header) in service.initial_metadata.iter().enumerate() {
        initial_metadata(header, &list.index(i), cx)?;
    }
    if !ext_proc::is_trusted(uri, &at_google, cx)? {
        return Ok(());
    }
    ext_proc::channel_credentials(&google.channel_credentials_plugin, has_credentials, &at_google, cx)?;
    call_credentials(&google.call_credentials_plugin, &at_google, cx)
}

/// Checks a header (`parseInitialMetadata`); raw_value counts if it is set.
fn initial_metadata(header: &HeaderValue, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let key = header.key.as_str();
    let is_legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_');
    let is_reserved = key.is_empty()
        || key.len() > HEADER_LENGTH
        || key == "host"
        || key.starts_with("grpc-")
        || !key.bytes().all(is_legal);
    if is_reserved {
        let message = format_args!("key `{key}` is empty, too long, reserved or not of `a` to `z`, digits and `.-_`");
        return Err(reject(&HEADER_KEY_RESERVED, &at.field("key"), message, cx));
    }
    let (field, value) = match header.raw_value.is_empty() {
        true => ("value", header.value.as_bytes()),
        false => ("raw_value", header.raw_value.as_ref()),
    };
    let is_text = key.ends_with("-bin") || value.iter().all(|byte| matches!(byte, b' '..=b'~'));
    if value.len() > HEADER_LENGTH || !is_text {
        let message = format_args!("the value of `{key}` is longer than {HEADER_LENGTH} bytes or not ASCII text");
        return Err(reject(&HEADER_VALUE_ILLEGAL, &at.field(field), message, cx));
    }
    Ok(())
}

/// Builds channel credentials; says whether the client has them (`buildChannelCredentials`).
fn has_credentials(any: &Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let name = any.type_url.strip_prefix(URL_PREFIX);
    match name.and_then(|name| name.strip_prefix(CREDENTIALS)) {
        Some("google_default.v3.GoogleDefaultCredentials" | "insecure.v3.InsecureCredentials") => Ok(true),
        Some("tls.v3.TlsCredentials") => tls_credentials(any, at, cx).map(|()| true),
        Some("xds.v3.XdsCredentials") => {
            let credentials: XdsCredentials = unmarshal(&any.value, XDS, at, cx)?;
            ext_proc::fallback(&credentials, has_credentials, at, cx)
        }
        _ => Ok(false),
    }
}

/// Checks TLS credentials (`buildTLSCredentials`).
fn tls_credentials(any: &Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let credentials: TlsCredentials = unmarshal(&any.value, TLS, at, cx)?;
    let at = at.value(TLS);
    let root = credentials.root_certificate_provider.as_ref();
    if root.is_none_or(|root| root.instance_name.is_empty()) {
        let message = format_args!("no root_certificate_provider with an instance_name");
        let at = at.field("root_certificate_provider");
        return Err(reject(&TLS_CREDENTIALS_WITHOUT_ROOT, &at, message, cx));
    }
    let identity = credentials.identity_certificate_provider.as_ref();
    for (field, provider) in [
        ("root_certificate_provider", root),
        ("identity_certificate_provider", identity),
    ] {
        if let Some(provider) = provider
            && (provider.instance_name.is_empty() || !cx.server().knows_provider(&provider.instance_name))
        {
            let name = &provider.instance_name;
            let message = format_args!("certificate provider instance `{name}` is not in the bootstrap");
            return Err(reject(&TLS_CREDENTIALS_PROVIDER_UNKNOWN, &at.field(field), message, cx));
        }
    }
    Ok(())
}

/// Checks call credentials, of which all that the client has are used (`buildCallCredentials`).
fn call_credentials(list: &[Any], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let at = at.field("call_credentials_plugin");
    for (i, any) in list.iter().enumerate() {
        if any.type_url.strip_prefix(URL_PREFIX) != Some(ACCESS_TOKEN) {
            continue;
        }
        let at = at.index(i);
        let credentials: AccessTokenCredentials = unmarshal(&any.value, ACCESS_TOKEN, &at, cx)?;
        ext_proc::token(&credentials, &at, cx)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_target;

    #[test]
    fn a_target_is_a_uri_or_a_name() {
        for uri in [
            "dns:///a:1",
            "a",
            "a:1",
            "nosuch://%41",
            "dns:%zz",
            "a?%zz",
            "[::1]:80",
            "UNIX:x",
        ] {
            assert!(is_target(uri), "{uri}");
        }
        for uri in ["%", "%zz", "dns:///%zz", "a#%4", "a\u{7f}", "nosuch:%zz"] {
            assert!(!is_target(uri), "{uri}");
        }
    }
}
