//! What grpc-go and grpc-java read in the same way of ext_proc and of the service that it calls.

use super::rules::{
    ACCESS_TOKEN_EMPTY, CHANNEL_CREDENTIALS_MISSING, DURATION_NOT_POSITIVE, EXT_PROC_BODY_MODE_UNSUPPORTED,
    EXT_PROC_TRAILERS_NOT_SENT, GRPC_SERVICE_NOT_ALLOWED, XDS_CREDENTIALS_WITHOUT_FALLBACK,
};
use super::{Checked, is_valid, reject};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::GrpcService;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::ext_proc::v3::{
    ExternalProcessor, ProcessingMode,
    processing_mode::{BodySendMode, HeaderSendMode},
};
use xdsctl_document::proto::pb::envoy::extensions::grpc_service::call_credentials::access_token::v3::AccessTokenCredentials;
use xdsctl_document::proto::pb::envoy::extensions::grpc_service::channel_credentials::xds::v3::XdsCredentials;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::StringMatcher;
use xdsctl_model::diag::{Path, Validation};

/// The only kind of call credentials.
pub(crate) const ACCESS_TOKEN: &str =
    "envoy.extensions.grpc_service.call_credentials.access_token.v3.AccessTokenCredentials";

/// The beginning of the name of each kind of channel credentials.
pub(crate) const CREDENTIALS: &str = "envoy.extensions.grpc_service.channel_credentials.";

/// The type of TLS channel credentials.
pub(crate) const TLS: &str = "envoy.extensions.grpc_service.channel_credentials.tls.v3.TlsCredentials";
/// The type of xDS channel credentials, which name others to fall back to.
pub(crate) const XDS: &str = "envoy.extensions.grpc_service.channel_credentials.xds.v3.XdsCredentials";

/// Checks channel credentials; says whether the client has them.
type HasCredentials = fn(&Any, &Path<'_>, &mut Validation<'_>) -> Checked<bool>;

/// Checks which bodies and trailers are sent (`validateBodyProcessingMode`, `parseAndValidate`).
pub(crate) fn processing_mode(mode: &ProcessingMode, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    const NONE: i32 = BodySendMode::None as i32;
    const GRPC: i32 = BodySendMode::Grpc as i32;
    const SEND: i32 = HeaderSendMode::Send as i32;
    for (field, body) in [
        ("request_body_mode", mode.request_body_mode),
        ("response_body_mode", mode.response_body_mode),
    ] {
        if body != NONE && body != GRPC {
            let message = format_args!("{field} is {body}, must be NONE or GRPC");
            return Err(reject(&EXT_PROC_BODY_MODE_UNSUPPORTED, &at.field(field), message, cx));
        }
    }
    if mode.response_body_mode == GRPC && mode.response_trailer_mode != SEND {
        let message = format_args!("response_trailer_mode must be SEND beside a response_body_mode of GRPC");
        let at = at.field("response_trailer_mode");
        return Err(reject(&EXT_PROC_TRAILERS_NOT_SENT, &at, message, cx));
    }
    Ok(())
}

/// Checks the patterns of headers that may be changed and sent, each with `regex` or `string`.
pub(crate) fn expressions(
    config: &ExternalProcessor,
    regex: fn(&str, &Path<'_>, &mut Validation<'_>) -> Checked,
    string: fn(&StringMatcher, &Path<'_>, &mut Validation<'_>) -> Checked,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    if let Some(rules) = &config.mutation_rules {
        let at = at.field("mutation_rules");
        for (field, pattern) in [
            ("allow_expression", &rules.allow_expression),
            ("disallow_expression", &rules.disallow_expression),
        ] {
            if let Some(pattern) = pattern {
                regex(&pattern.regex, &at.field(field), cx)?;
            }
        }
    }
    if let Some(rules) = &config.forward_rules {
        let at = at.field("forward_rules");
        for (field, list) in [
            ("allowed_headers", &rules.allowed_headers),
            ("disallowed_headers", &rules.disallowed_headers),
        ] {
            let at = at.field(field);
            let at = at.field("patterns");
            for (i, pattern) in list.iter().flat_map(|list| &list.patterns).enumerate() {
                string(pattern, &at.index(i), cx)?;
            }
        }
    }
    Ok(())
}

/// Checks how long the client waits for the service.
pub(crate) fn timeout(service: &GrpcService, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if let Some(timeout) = &service.timeout
        && (!is_valid(timeout) || (timeout.seconds, timeout.nanos) <= (0, 0))
    {
        let (seconds, nanos) = (timeout.seconds, timeout.nanos);
        let message = format_args!("timeout is {seconds} s and {nanos} ns, must be a duration above 0");
        return Err(reject(&DURATION_NOT_POSITIVE, &at.field("timeout"), message, cx));
    }
    Ok(())
}

/// Says whether the client uses the credentials in the message, because the xDS server is trusted.
/// Otherwise the bootstrap must list the service, with other credentials.
pub(crate) fn is_trusted(uri: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    if cx.server().trusted_xds_server || cx.server().allowed_grpc_services.contains_key(uri) {
        return Ok(cx.server().trusted_xds_server);
    }
    let message = format_args!("`{uri}` is not in allowed_grpc_services of the bootstrap");
    Err(reject(&GRPC_SERVICE_NOT_ALLOWED, &at.field("target_uri"), message, cx))
}

/// Checks the channel credentials up to the first that the client has, which it uses.
pub(crate) fn channel_credentials(
    list: &[Any],
    has: HasCredentials,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    let at = at.field("channel_credentials_plugin");
    for (i, any) in list.iter().enumerate() {
        if has(any, &at.index(i), cx)? {
            return Ok(());
        }
    }
    let message = format_args!("no channel credentials that the client has");
    Err(reject(&CHANNEL_CREDENTIALS_MISSING, &at, message, cx))
}

/// Checks the credentials that replace those of xDS; `at` is the path of the Any.
pub(crate) fn fallback(
    credentials: &XdsCredentials,
    has: HasCredentials,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<bool> {
    let at = at.value(XDS);
    let at = at.field("fallback_credentials");
    let is_known = match &credentials.fallback_credentials {
        Some(any) => has(any, &at, cx)?,
        None => false,
    };
    if !is_known {
        let message = format_args!("no fallback credentials that the client has");
        return Err(reject(&XDS_CREDENTIALS_WITHOUT_FALLBACK, &at, message, cx));
    }
    Ok(true)
}

/// Checks the token of call credentials; `at` is the path of the Any.
pub(crate) fn token(credentials: &AccessTokenCredentials, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if credentials.token.is_empty() {
        let message = format_args!("token is empty, must not be");
        let at = at.value(ACCESS_TOKEN);
        return Err(reject(&ACCESS_TOKEN_EMPTY, &at.field("token"), message, cx));
    }
    Ok(())
}
