//! TLS contexts, as grpc-java reads them (XdsClusterResource `validateCommonTlsContext`,
//! XdsListenerResource `validateDownstreamTlsContext`).

use super::{unpack, unpack_as};
use crate::shared::alike::{TlsSide, unsupported};
use crate::shared::names::{DOWNSTREAM, SOCKET_NAME, UPSTREAM};
use crate::shared::rules::{
    CLIENT_CERTIFICATE_WITHOUT_CA, LISTENER_SOCKET_UNSUPPORTED, NO_IDENTITY, OCSP_STAPLE_POLICY, REQUIRE_SNI,
    SAN_MATCH, TLS_SECRET_NOT_FROM_PROVIDER, TLS_UNKNOWN_PROVIDER_INSTANCE, TLS_UNSUPPORTED_FEATURE,
    TRANSPORT_SOCKET_NAME, TRANSPORT_SOCKET_UNSUPPORTED, WITHOUT_CA,
};
use crate::shared::tls::{secrets_of_common, unsupported_of_common, unsupported_of_validation};
use crate::shared::{Checked, ConverterStop, fields, reject};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::TransportSocket;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::common_tls_context::ValidationContextType;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::downstream_tls_context::OcspStaplePolicy;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::{
    CertificateValidationContext, CommonTlsContext, DownstreamTlsContext, UpstreamTlsContext,
};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::profile::Feature;

/// The type URL of the context in version 2 of the protocol, which the client still accepts.
const UPSTREAM_V2: &str = "type.googleapis.com/envoy.api.v2.auth.UpstreamTlsContext";

/// Reports a transport socket at `at` that is not called TLS.
#[cold]
pub(super) fn misnamed(name: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> ConverterStop {
    let message = format_args!("the transport socket is called `{name}`, must be `{SOCKET_NAME}`");
    reject(&TRANSPORT_SOCKET_NAME, &at.field("name"), message, cx)
}

/// Checks the TLS context of a cluster.
pub(super) fn upstream(socket: &TransportSocket, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let at = at.field("typed_config");
    let empty = Any::default();
    let any = fields::socket_config(socket).unwrap_or(&empty);
    let context: UpstreamTlsContext = match any.type_url.as_str() {
        UPSTREAM_V2 => unpack_as(any, UPSTREAM, &at, cx)?,
        _ => unpack(any, UPSTREAM, &TRANSPORT_SOCKET_UNSUPPORTED, &at, cx)?,
    };
    let at = at.value(UPSTREAM);
    let common_at = at.field("common_tls_context");
    match &context.common_tls_context {
        Some(common) => common_context(common, TlsSide::Client, &common_at, cx)?,
        None => {
            let message = format_args!("common_tls_context is missing");
            return Err(reject(&WITHOUT_CA, &common_at, message, cx));
        }
    }
    if !context.sni.is_empty() && !cx.has(Feature::TlsOfToday) {
        return Err(unsupported("sni", &at, cx));
    }
    Ok(())
}

/// Checks the TLS context of a filter chain.
pub(super) fn downstream(socket: &TransportSocket, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    const REJECTED: [i32; 2] = [
        OcspStaplePolicy::StrictStapling as i32,
        OcspStaplePolicy::MustStaple as i32,
    ];
    if socket.name != SOCKET_NAME {
        return Err(misnamed(&socket.name, at, cx));
    }
    let at = at.field("typed_config");
    let empty = Any::default();
    let any = fields::socket_config(socket).unwrap_or(&empty);
    let context: DownstreamTlsContext = unpack(any, DOWNSTREAM, &LISTENER_SOCKET_UNSUPPORTED, &at, cx)?;
    let at = at.value(DOWNSTREAM);
    let common_at = at.field("common_tls_context");
    match &context.common_tls_context {
        Some(common) => common_context(common, TlsSide::Server, &common_at, cx)?,
        None => {
            let message = format_args!("common_tls_context is missing, a server needs a certificate of its own");
            return Err(reject(&NO_IDENTITY, &common_at, message, cx));
        }
    }
    if let Some(value) = context.require_sni {
        let message = format_args!("require_sni is set to {value}, must not be set");
        return Err(reject(&REQUIRE_SNI, &at.field("require_sni"), message, cx));
    }
    // A number that the enum does not have is accepted.
    if REJECTED.contains(&context.ocsp_staple_policy) {
        let policy = context.ocsp_staple_policy;
        let message = format_args!("ocsp_staple_policy is {policy}, must be LENIENT_STAPLING");
        let at = at.field("ocsp_staple_policy");
        return Err(reject(&OCSP_STAPLE_POLICY, &at, message, cx));
    }
    let has_roots = context.common_tls_context.as_ref().is_some_and(has_roots);
    if context.require_client_certificate == Some(true) && !has_roots {
        let message = format_args!("there are no roots, so no certificate is asked for, and everybody is let in");
        let at = at.field("require_client_certificate");
        cx.report_as(Effect::Open, &CLIENT_CERTIFICATE_WITHOUT_CA, &at, message);
    }
    Ok(())
}

/// Says whether there are roots to check the certificates of clients with.
fn has_roots(common: &CommonTlsContext) -> bool {
    let of = |context: &CertificateValidationContext| {
        context.ca_certificate_provider_instance.is_some() || context.system_root_certs.is_some()
    };
    match &common.validation_context_type {
        Some(ValidationContextType::ValidationContext(context)) => of(context),
        Some(ValidationContextType::CombinedValidationContext(combined)) => {
            combined.default_validation_context.as_ref().is_some_and(of)
                || combined.validation_context_certificate_provider_instance.is_some()
        }
        Some(ValidationContextType::ValidationContextCertificateProviderInstance(_)) => true,
        Some(_) | None => false,
    }
}

/// Checks a CommonTlsContext (`validateCommonTlsContext`).
fn common_context(common: &CommonTlsContext, side: TlsSide, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    use ValidationContextType::{
        CombinedValidationContext, ValidationContext, ValidationContextCertificateProvider,
        ValidationContextCertificateProviderInstance, ValidationContextSdsSecretConfig,
    };
    // The client looks at custom_handshaker first.
    if let Some(field) = unsupported_of_common(common).last() {
        return Err(unsupported(field, at, cx));
    }
    let rejects_oldest = cx.has(Feature::OldestProviderFields);
    let is_of_today = cx.has(Feature::TlsOfToday);
    let unsupported_context = match &common.validation_context_type {
        Some(ValidationContext(_)) if !is_of_today => Some("validation_context"),
        Some(ValidationContextSdsSecretConfig(_)) => Some("validation_context_sds_secret_config"),
        Some(ValidationContextCertificateProvider(_)) if rejects_oldest => {
            Some("validation_context_certificate_provider")
        }
        Some(ValidationContextCertificateProviderInstance(_)) if rejects_oldest => {
            Some("validation_context_certificate_provider_instance")
        }
        _ => None,
    };
    if let Some(field) = unsupported_context {
        let message = format_args!("{field} is not supported, must not be set");
        return Err(reject(&TLS_SECRET_NOT_FROM_PROVIDER, &at.field(field), message, cx));
    }
    identity(common, side, at, cx)?;
    let (context, provider) = match &common.validation_context_type {
        Some(ValidationContext(context)) => (Some(context), None),
        Some(CombinedValidationContext(combined)) => {
            let provider = combined.validation_context_certificate_provider_instance.as_ref();
            (combined.default_validation_context.as_ref(), provider)
        }
        _ => (None, None),
    };
    let new = context.and_then(|context| context.ca_certificate_provider_instance.as_ref());
    let new = new.filter(|_| is_of_today).map(|provider| &provider.instance_name);
    let old = provider.filter(|_| cx.has(Feature::OldProviderFields));
    let Some(root) = new.or(old.map(|provider| &provider.instance_name)) else {
        let has_system = context.is_some_and(|context| context.system_root_certs.is_some());
        // A combined context without a provider is rejected before 1.41, also by a server.
        let is_refused = !is_of_today && matches!(common.validation_context_type, Some(CombinedValidationContext(_)));
        if side == TlsSide::Server && !is_refused || has_system && cx.has(Feature::SystemRootCerts) {
            return Ok(());
        }
        let message = format_args!("no source of CA certificates, must have ca_certificate_provider_instance");
        return Err(reject(&WITHOUT_CA, at, message, cx));
    };
    known_provider(root, at, cx)?;
    match context {
        Some(context) => validation_context(context, side, at, cx),
        None => Ok(()),
    }
}

/// Checks the side's own certificate, which must come from a provider, whatever else is set.
fn identity(common: &CommonTlsContext, side: TlsSide, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let new = common.tls_certificate_provider_instance.as_ref();
    let new = new
        .filter(|_| cx.has(Feature::TlsOfToday))
        .map(|provider| &provider.instance_name);
    let old = common.tls_certificate_certificate_provider_instance.as_ref();
    let old = old.filter(|_| cx.has(Feature::OldProviderFields));
    if let Some(name) = new.or(old.map(|provider| &provider.instance_name)) {
        return known_provider(name, at, cx);
    }
    if side == TlsSide::Server {
        let message = format_args!("no certificate provider, a server needs a certificate of its own");
        return Err(reject(&NO_IDENTITY, at, message, cx));
    }
    let has_oldest = common.tls_certificate_certificate_provider.is_some() && cx.has(Feature::OldestProviderFields);
    let oldest = has_oldest.then_some("tls_certificate_certificate_provider");
    if let Some(field) = secrets_of_common(common).chain(oldest).next() {
        let message = format_args!("{field} is set without tls_certificate_provider_instance");
        return Err(reject(&TLS_SECRET_NOT_FROM_PROVIDER, &at.field(field), message, cx));
    }
    Ok(())
}

fn known_provider(name: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if cx.server().knows_provider(name) || !cx.has(Feature::ProvidersKnown) {
        return Ok(());
    }
    let message = format_args!("certificate provider instance `{name}` is not in the bootstrap");
    Err(reject(&TLS_UNKNOWN_PROVIDER_INSTANCE, at, message, cx))
}

/// Checks what a validation context with roots from a provider must not have. Without such roots,
/// the client checks nothing of this.
fn validation_context(
    context: &CertificateValidationContext,
    side: TlsSide,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    let requires_timestamp = context.require_signed_certificate_timestamp.is_some();
    let is_matched = side == TlsSide::Server && !context.match_subject_alt_names.is_empty();
    let matched = is_matched.then_some((&SAN_MATCH, "match_subject_alt_names"));
    let unsupported = unsupported_of_validation(context, requires_timestamp);
    let unsupported = unsupported.map(|field| (&TLS_UNSUPPORTED_FEATURE, field));
    match matched.into_iter().chain(unsupported).next() {
        Some((rule, field)) => {
            let message = format_args!("{field} is not supported here, must not be set");
            Err(reject(rule, &at.field(field), message, cx))
        }
        None => Ok(()),
    }
}
