//! UpstreamTlsContext, as tonic-xds reads it (xds/resource/security.rs, san_matcher.rs).
//!
//! The client looks up the names of certificate providers when the cluster is used, not here.

use super::{decode, matcher};
use crate::shared::names::{SOCKET_NAME, UPSTREAM};
use crate::shared::rules::{
    SAN_TYPE_UNSUPPORTED, STRING_MATCHER_WITHOUT_PATTERN, TLS_SECRET_NOT_FROM_PROVIDER, TLS_UNSUPPORTED_FEATURE,
    TRANSPORT_SOCKET_NAME, TRANSPORT_SOCKET_UNSUPPORTED, WITHOUT_CA,
};
use crate::shared::tls::{secrets_of_common, unsupported_of_common, unsupported_of_validation};
use crate::shared::{Checked, ConverterStop, fields, is_url_of, reject};
use xdsctl_document::proto::any::ANY_MISSING;
use xdsctl_document::proto::pb::envoy::config::core::v3::TransportSocket;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::common_tls_context::ValidationContextType;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::{
    CertificateValidationContext, CommonTlsContext, UpstreamTlsContext as Pb,
};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::matcher::StringMatcher;
use xdsctl_model::resource::tls::{CaCerts, CommonTlsContext as Common, ProviderInstance, UpstreamTlsContext};

/// The kinds of names that the client compares: EMAIL, DNS, URI and IP_ADDRESS.
const SAN_TYPES: std::ops::RangeInclusive<i32> = 1..=4;

/// Converts the transport socket of a cluster.
pub(super) fn upstream(
    socket: &TransportSocket,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<UpstreamTlsContext> {
    if socket.name != SOCKET_NAME {
        let why = format_args!("name is `{}`, must be `{SOCKET_NAME}`", socket.name);
        return Err(reject(&TRANSPORT_SOCKET_NAME, &at.field("name"), why, cx));
    }
    let at = at.field("typed_config");
    let Some(any) = fields::socket_config(socket) else {
        let why = format_args!("missing, must hold `{UPSTREAM}`");
        return Err(reject(&ANY_MISSING, &at, why, cx));
    };
    if !is_url_of(&any.type_url, UPSTREAM) {
        let url = &any.type_url;
        let why = format_args!("transport socket `{url}` is not supported, must be `{UPSTREAM}`");
        return Err(reject(&TRANSPORT_SOCKET_UNSUPPORTED, &at.field("type_url"), why, cx));
    }
    let message: Pb = decode(&any.value, UPSTREAM, &at, cx)?;
    let at = at.value(UPSTREAM);
    let at = at.field("common_tls_context");
    match &message.common_tls_context {
        Some(common) => Ok(UpstreamTlsContext {
            common: self::common(common, &at, cx)?,
            ..UpstreamTlsContext::default()
        }),
        None => Err(without_ca(&at, cx)),
    }
}

fn common(message: &CommonTlsContext, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Common> {
    unsupported(unsupported_of_common(message), at, cx)?;
    let identity = message.tls_certificate_provider_instance.as_ref();
    if identity.is_none() {
        secret(secrets_of_common(message), at, cx)?;
    }
    let combined_at = at.field("combined_validation_context");
    let (context, at) = match &message.validation_context_type {
        Some(ValidationContextType::ValidationContext(context)) => (context, at.field("validation_context")),
        Some(ValidationContextType::CombinedValidationContext(combined)) => {
            let at = combined_at.field("default_validation_context");
            match &combined.default_validation_context {
                Some(context) => (context, at),
                None => return Err(without_ca(&at, cx)),
            }
        }
        Some(ValidationContextType::ValidationContextSdsSecretConfig(_)) => {
            secret(["validation_context_sds_secret_config"], at, cx)?;
            return Err(without_ca(at, cx));
        }
        Some(_) | None => return Err(without_ca(at, cx)),
    };
    let match_subject_alt_names = validation(context, &at, cx)?;
    let ca_at = at.field("ca_certificate_provider_instance");
    let Some(ca) = &context.ca_certificate_provider_instance else {
        return Err(without_ca(&at, cx));
    };
    if ca.instance_name.is_empty() {
        return Err(without_ca(&ca_at.field("instance_name"), cx));
    }
    let provider = |instance: &str, certificate: &str| ProviderInstance {
        instance_name: instance.to_owned(),
        certificate_name: certificate.to_owned(),
    };
    Ok(Common {
        ca_certs: CaCerts::Provider(provider(&ca.instance_name, &ca.certificate_name)),
        match_subject_alt_names,
        identity: identity
            .filter(|identity| !identity.instance_name.is_empty())
            .map(|identity| provider(&identity.instance_name, &identity.certificate_name)),
        alpn_protocols: Vec::new(),
    })
}

/// Checks a validation context, and returns the matchers of the peer's names: those of
/// match_typed_subject_alt_names if there are any, otherwise those of match_subject_alt_names.
fn validation(
    context: &CertificateValidationContext,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<Vec<StringMatcher>> {
    // A field that is set to false counts too.
    let requires_timestamp = context.require_signed_certificate_timestamp.is_some();
    unsupported(unsupported_of_validation(context, requires_timestamp), at, cx)?;
    let mut matchers = Vec::new();
    let typed_at = at.field("match_typed_subject_alt_names");
    for (i, typed) in context.match_typed_subject_alt_names.iter().enumerate() {
        let at = typed_at.index(i);
        let Some(matcher) = &typed.matcher else {
            let why = format_args!("matcher is missing");
            return Err(reject(&STRING_MATCHER_WITHOUT_PATTERN, &at.field("matcher"), why, cx));
        };
        if !SAN_TYPES.contains(&typed.san_type) {
            let why = format_args!("san_type is {}, must be EMAIL, DNS, URI or IP_ADDRESS", typed.san_type);
            return Err(reject(&SAN_TYPE_UNSUPPORTED, &at.field("san_type"), why, cx));
        }
        matchers.push(matcher::string("", matcher, &at.field("matcher"), cx)?);
    }
    if context.match_typed_subject_alt_names.is_empty() {
        let at = at.field("match_subject_alt_names");
        for (i, matcher) in context.match_subject_alt_names.iter().enumerate() {
            matchers.push(matcher::string("", matcher, &at.index(i), cx)?);
        }
    }
    Ok(matchers)
}

fn without_ca(at: &Path<'_>, cx: &mut Validation<'_>) -> ConverterStop {
    let why = format_args!("no ca_certificate_provider_instance, a client must have one");
    reject(&WITHOUT_CA, at, why, cx)
}

fn unsupported(fields: impl IntoIterator<Item = &'static str>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some(field) = fields.into_iter().next() else {
        return Ok(());
    };
    let why = format_args!("{field} is not supported, must not be set");
    Err(reject(&TLS_UNSUPPORTED_FEATURE, &at.field(field), why, cx))
}

fn secret(fields: impl IntoIterator<Item = &'static str>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some(field) = fields.into_iter().next() else {
        return Ok(());
    };
    let why = format_args!("{field} is set, certificates come from a provider of the bootstrap only");
    Err(reject(&TLS_SECRET_NOT_FROM_PROVIDER, &at.field(field), why, cx))
}
