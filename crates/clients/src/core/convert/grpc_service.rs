//! `envoy.config.core.v3.GrpcService` (A102): a gRPC server that the client calls itself, such as
//! an ext_proc server.
//!
//! Follows C-core `ParseXdsGrpcService` (xds_grpc_service_parser.cc). From a trusted xDS server
//! (A81) the message brings its credentials and headers; from any other one they are not read, and
//! the target must be listed in the bootstrap's `allowed_grpc_services`.

use super::{credentials, header_value};
use crate::shared::rules::{
    DURATION_NOT_POSITIVE, GRPC_SERVICE_NOT_ALLOWED, GRPC_SERVICE_NOT_GOOGLE_GRPC, GRPC_SERVICE_TARGET_INVALID,
};
use xdsctl_document::proto::duration;
use xdsctl_document::proto::pb::envoy::config::core::v3::GrpcService;
use xdsctl_document::proto::pb::envoy::config::core::v3::grpc_service::{GoogleGrpc, TargetSpecifier};
use xdsctl_document::proto::pb::well_known::Duration;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::resource::Millis;
use xdsctl_model::target_uri;

rules! {
    /// A GrpcService is missing where one is needed.
    GRPC_SERVICE_MISSING = "grpc-service-missing", Common, Nack, "gRFC A102; C-core ParseXdsGrpcService";
    /// Headers or credentials of a GrpcService are not read, because the xDS server is not trusted.
    GRPC_SERVICE_UNTRUSTED_FIELD = "grpc-service-untrusted-field", Common, Ignored as Warning, "gRFC A102; C-core ParseXdsGrpcService";
}

/// Checks the service at `at`; it must be there.
pub fn check(service: Option<&GrpcService>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = "missing, must say which server to call";
    let Some(service) = cx.required(service, &GRPC_SERVICE_MISSING, at, why) else {
        return;
    };
    if let Some(timeout) = &service.timeout {
        positive(timeout, &at.field("timeout"), cx);
    }
    let metadata_at = at.field("initial_metadata");
    if cx.server().trusted_xds_server {
        for (i, header) in service.initial_metadata.iter().enumerate() {
            header_value::check(header, &metadata_at.index(i), cx);
        }
    } else if !service.initial_metadata.is_empty() {
        untrusted(&metadata_at, cx);
    }
    let at = at.field("google_grpc");
    let google_grpc = match &service.target_specifier {
        Some(TargetSpecifier::GoogleGrpc(google_grpc)) => Some(google_grpc),
        Some(TargetSpecifier::EnvoyGrpc(_)) | None => None,
    };
    let why = "missing, gRPC knows no other kind of service";
    if let Some(google_grpc) = cx.required(google_grpc, &GRPC_SERVICE_NOT_GOOGLE_GRPC, &at, why) {
        check_google_grpc(google_grpc, &at, cx);
    }
}

fn check_google_grpc(google_grpc: &GoogleGrpc, at: &Path<'_>, cx: &mut Validation<'_>) {
    let uri_at = at.field("target_uri");
    let uri = google_grpc.target_uri.as_str();
    if let Err(fault) = target_uri::check(uri) {
        cx.report(
            &GRPC_SERVICE_TARGET_INVALID,
            &uri_at,
            format_args!("no channel can be made to `{uri}`: {fault}"),
        );
    }
    let channel_at = at.field("channel_credentials_plugin");
    let call_at = at.field("call_credentials_plugin");
    if cx.server().trusted_xds_server {
        credentials::check_channel(&google_grpc.channel_credentials_plugin, &channel_at, cx);
        credentials::check_call(&google_grpc.call_credentials_plugin, &call_at, cx);
        return;
    }
    if !cx.server().allowed_grpc_services.contains_key(uri) {
        cx.report(
            &GRPC_SERVICE_NOT_ALLOWED,
            &uri_at,
            format_args!("`{uri}` is not in allowed_grpc_services of the bootstrap"),
        )
        .help("add it there, or give the xDS server the feature `trusted_xds_server`");
    }
    for (list, at) in [
        (&google_grpc.channel_credentials_plugin, &channel_at),
        (&google_grpc.call_credentials_plugin, &call_at),
    ] {
        if !list.is_empty() {
            untrusted(at, cx);
        }
    }
}

fn untrusted(at: &Path<'_>, cx: &mut Validation<'_>) {
    cx.report(
        &GRPC_SERVICE_UNTRUSTED_FIELD,
        at,
        format_args!("not read, because the xDS server is not trusted"),
    );
}

/// Checks a duration that must be more than 0 ms.
///
/// The range and the sign are checked separately, and the sign is that of the whole value: a
/// negative `nanos` beside 1 s is out of range, yet positive.
pub fn positive(value: &Duration, at: &Path<'_>, cx: &mut Validation<'_>) {
    let millis = duration::parse(value, at, cx);
    let why = format_args!("{millis} in whole milliseconds, must be at least 0.001s");
    cx.check(millis > Millis(0), &DURATION_NOT_POSITIVE, at, why);
}
