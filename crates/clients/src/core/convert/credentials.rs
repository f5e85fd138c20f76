//! Channel and call credentials in a GrpcService (A102), read only from a trusted xDS server.
//!
//! Follows C-core `ParseXdsGrpcService` and the factories' `ParseProto`
//! (channel_creds_registry_init.cc, call_creds_registry_init.cc). Types that the client does not
//! have are skipped; the first channel credentials that it has are used and the rest is not read,
//! while all call credentials that it has are used.

use bytes::Bytes;

use super::nested::nested;
use crate::shared::URL_PREFIX;
use crate::shared::ext_proc::{ACCESS_TOKEN, TLS, XDS};
use crate::shared::rules::{
    ACCESS_TOKEN_EMPTY, CHANNEL_CREDENTIALS_MISSING, TLS_CREDENTIALS_PROVIDER_UNKNOWN, TLS_CREDENTIALS_WITHOUT_ROOT,
    XDS_CREDENTIALS_WITHOUT_FALLBACK,
};
use xdsctl_document::proto::any::{Extension, Payload, decode, extract};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::extensions::grpc_service::call_credentials::access_token::v3::AccessTokenCredentials;
use xdsctl_document::proto::pb::envoy::extensions::grpc_service::channel_credentials::tls::v3::TlsCredentials;
use xdsctl_document::proto::pb::envoy::extensions::grpc_service::channel_credentials::xds::v3::XdsCredentials;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::common_tls_context::CertificateProviderInstance;
use xdsctl_model::diag::{Path, Validation, rules};

rules! {
    /// An entry of a credentials list is skipped or never looked at.
    CREDENTIALS_SKIPPED = "credentials-skipped", Common, Dropped, "gRFC A102; C-core ParseXdsGrpcService";
}

const GOOGLE_DEFAULT: &str =
    "envoy.extensions.grpc_service.channel_credentials.google_default.v3.GoogleDefaultCredentials";
const INSECURE: &str = "envoy.extensions.grpc_service.channel_credentials.insecure.v3.InsecureCredentials";
/// The channel credentials that the client has.
const CHANNEL_TYPES: [&str; 4] = [GOOGLE_DEFAULT, INSECURE, TLS, XDS];

/// Checks `channel_credentials_plugin` at `at`.
pub fn check_channel(list: &[Any], at: &Path<'_>, cx: &mut Validation<'_>) {
    let mut found = false;
    for (i, any) in list.iter().enumerate() {
        let at = at.index(i);
        if found {
            cx.report(
                &CREDENTIALS_SKIPPED,
                &at,
                format_args!("not looked at: earlier channel credentials are used"),
            );
            continue;
        }
        let Some(extension) = extract(Some(any), &at, cx) else {
            continue;
        };
        if !CHANNEL_TYPES.contains(&&*extension.type_name) {
            skipped(&extension, &at, cx);
            continue;
        }
        let at = extension.at(&at);
        if let Payload::Wire(bytes) = &extension.payload {
            if !check_channel_config(&extension.type_name, bytes, &at, cx) {
                break;
            }
            found = true;
        } else {
            // Reports that a TypedStruct is no message of the type; the next entry gets its chance.
            let _: Option<TlsCredentials> = extension.decode(&at, cx);
        }
    }
    let why = "no channel credentials that gRPC has";
    cx.check(found, &CHANNEL_CREDENTIALS_MISSING, at, why);
}

/// Checks one config; `false` if its bytes cannot be parsed. Those of Google default and insecure
/// credentials are not read.
fn check_channel_config(type_name: &str, bytes: &Bytes, at: &Path<'_>, cx: &mut Validation<'_>) -> bool {
    match type_name {
        TLS => decode::<TlsCredentials>(bytes, TLS, at, cx).is_some_and(|tls| {
            let root_at = at.field("root_certificate_provider");
            let root = tls.root_certificate_provider.as_ref();
            let why = "missing, must say how servers are verified";
            let root = cx.required(root, &TLS_CREDENTIALS_WITHOUT_ROOT, &root_at, why);
            check_provider(root, &root_at, cx);
            let identity_at = at.field("identity_certificate_provider");
            check_provider(tls.identity_certificate_provider.as_ref(), &identity_at, cx);
            true
        }),
        XDS => decode::<XdsCredentials>(bytes, XDS, at, cx).is_some_and(|xds| {
            check_fallback(xds.fallback_credentials.as_ref(), &at.field("fallback_credentials"), cx);
            true
        }),
        _ => true,
    }
}

/// Checks the credentials that XdsCredentials fall back to. Unlike in other extensions, the type is
/// not part of the path, and a type that the client does not have is no fault.
fn check_fallback(fallback: Option<&Any>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = "missing, must hold channel credentials";
    let Some(any) = cx.required(fallback, &XDS_CREDENTIALS_WITHOUT_FALLBACK, at, why) else {
        return;
    };
    // Only this prefix is cut off: with any other URL, the type is unknown.
    let type_name = any.type_url.strip_prefix(URL_PREFIX).unwrap_or(&any.type_url);
    let at = at.field("value");
    if CHANNEL_TYPES.contains(&type_name) {
        nested(&at, cx, |cx| check_channel_config(type_name, &any.value, &at, cx));
    }
}

fn check_provider(provider: Option<&CertificateProviderInstance>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(provider) = provider else {
        return;
    };
    let (name, rule) = (&provider.instance_name, &TLS_CREDENTIALS_PROVIDER_UNKNOWN);
    let is_known = cx.server().knows_provider(name);
    let why = format_args!("certificate provider instance `{name}` is not in the bootstrap");
    cx.check(is_known, rule, &at.field("instance_name"), why);
}

/// Checks `call_credentials_plugin` at `at`; the list may be empty.
pub fn check_call(list: &[Any], at: &Path<'_>, cx: &mut Validation<'_>) {
    for (i, any) in list.iter().enumerate() {
        let at = at.index(i);
        let Some(extension) = extract(Some(any), &at, cx) else {
            continue;
        };
        if extension.type_name != ACCESS_TOKEN {
            skipped(&extension, &at, cx);
            continue;
        }
        let at = extension.at(&at);
        if let Some(AccessTokenCredentials { token }) = extension.decode(&at, cx) {
            cx.check(
                !token.is_empty(),
                &ACCESS_TOKEN_EMPTY,
                &at.field("token"),
                "the token is empty",
            );
        }
    }
}

fn skipped(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) {
    cx.report(
        &CREDENTIALS_SKIPPED,
        at,
        format_args!(
            "gRPC has no credentials `{}`, the entry is skipped",
            extension.type_name
        ),
    );
}
