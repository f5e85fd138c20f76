//! TLS contexts, as grpc-js-xds reads them (`validateTransportSocket` of cluster-resource-type.ts
//! and listener-resource-type.ts).

use super::regex::{self, PatternUse};
use super::{OBJECT_PROTOTYPE, decode, fault, is_url_of};
use crate::shared::names::{DOWNSTREAM, SOCKET_NAME, UPSTREAM};
use crate::shared::rules::{
    CLIENT_CERTIFICATE_WITHOUT_CA, LISTENER_SOCKET_UNSUPPORTED, NO_IDENTITY, OCSP_STAPLE_POLICY, REQUIRE_SNI,
    SAN_MATCH, TLS_DEPRECATED_PROVIDER_FIELD, TLS_SECRET_NOT_FROM_PROVIDER, TLS_UNKNOWN_PROVIDER_INSTANCE,
    TLS_UNSUPPORTED_FEATURE, TRANSPORT_SOCKET_NAME, TRANSPORT_SOCKET_UNSUPPORTED, WITHOUT_CA,
};
use crate::shared::tls::{secrets_of_common, unsupported_of_common, unsupported_of_validation};
use crate::shared::{Checked, fields};
use xdsctl_document::proto::any::ANY_MISSING;
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::TransportSocket;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::common_tls_context::ValidationContextType;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::{
    CertificateProviderPluginInstance, CertificateValidationContext, DownstreamTlsContext, UpstreamTlsContext,
};
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::string_matcher::MatchPattern;
use xdsctl_model::diag::{Effect, Path, Rule, Validation};

/// Converts the transport socket of a cluster.
pub(super) fn upstream(socket: &TransportSocket, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let rule = &TRANSPORT_SOCKET_UNSUPPORTED;
    let at = at.field("typed_config");
    let Some(any) = typed_config(socket, UPSTREAM, rule, &at, cx) else {
        return Ok(());
    };
    let message: UpstreamTlsContext = decode(&any.value, UPSTREAM, &at, cx)?;
    let at = at.value(UPSTREAM);
    let at = at.field("common_tls_context");
    let Some(common) = &message.common_tls_context else {
        without_ca(&at, cx);
        return Ok(());
    };
    match &common.tls_certificate_provider_instance {
        Some(instance) => provider(instance, &at.field("tls_certificate_provider_instance"), cx),
        None => {
            for field in secrets_of_common(common) {
                secret(field, &at, cx);
            }
        }
    }
    unsupported(unsupported_of_common(common), &at, cx);
    match &common.validation_context_type {
        Some(ValidationContextType::ValidationContext(context)) => {
            validation_of_client(context, &at.field("validation_context"), cx);
        }
        Some(ValidationContextType::CombinedValidationContext(combined)) => {
            let at = at.field("combined_validation_context");
            let at = at.field("default_validation_context");
            match &combined.default_validation_context {
                Some(context) => validation_of_client(context, &at, cx),
                None => without_ca(&at, cx),
            }
        }
        None => without_ca(&at, cx),
        Some(other) => other_validation(other, &at, cx),
    }
    Ok(())
}

/// Converts the transport socket of a filter chain.
pub(super) fn downstream(socket: &TransportSocket, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if socket.name != SOCKET_NAME {
        let why = format_args!("name is `{}`, must be `{SOCKET_NAME}`", socket.name);
        fault(&TRANSPORT_SOCKET_NAME, &at.field("name"), why, cx);
    }
    let rule = &LISTENER_SOCKET_UNSUPPORTED;
    let at = at.field("typed_config");
    let Some(any) = typed_config(socket, DOWNSTREAM, rule, &at, cx) else {
        return Ok(());
    };
    let message: DownstreamTlsContext = decode(&any.value, DOWNSTREAM, &at, cx)?;
    let at = at.value(DOWNSTREAM);
    if message.require_sni == Some(true) {
        let why = format_args!("require_sni is true, must be false");
        fault(&REQUIRE_SNI, &at.field("require_sni"), why, cx);
    }
    if message.ocsp_staple_policy != 0 {
        let policy = message.ocsp_staple_policy;
        let why = format_args!("ocsp_staple_policy is {policy}, must be LENIENT_STAPLING");
        fault(&OCSP_STAPLE_POLICY, &at.field("ocsp_staple_policy"), why, cx);
    }
    let common_at = at.field("common_tls_context");
    let Some(common) = &message.common_tls_context else {
        let why = format_args!("common_tls_context is missing, a server needs a certificate of its own");
        fault(&NO_IDENTITY, &common_at, why, cx);
        return Ok(());
    };
    let combined_at = common_at.field("combined_validation_context");
    let (context, context_at) = match &common.validation_context_type {
        Some(ValidationContextType::ValidationContext(context)) => {
            (Some(context), common_at.field("validation_context"))
        }
        Some(ValidationContextType::CombinedValidationContext(combined)) => (
            combined.default_validation_context.as_ref(),
            combined_at.field("default_validation_context"),
        ),
        None => (None, common_at),
        Some(other) => {
            other_validation(other, &common_at, cx);
            (None, common_at)
        }
    };
    // Presence counts, not the value: false is set too.
    if message.require_client_certificate.is_some() && context.is_none() {
        let why = format_args!("require_client_certificate is set, and there is no validation context");
        let at = at.field("require_client_certificate");
        fault(&CLIENT_CERTIFICATE_WITHOUT_CA, &at, why, cx);
    }
    if let Some(context) = context {
        if let Some(instance) = &context.ca_certificate_provider_instance {
            provider(instance, &context_at.field("ca_certificate_provider_instance"), cx);
        }
        unsupported(of_validation(context), &context_at, cx);
        if !context.match_subject_alt_names.is_empty() {
            let why = format_args!("no name of a client's certificate is compared: whom a root has signed is let in");
            let at = context_at.field("match_subject_alt_names");
            cx.report_as(Effect::Open, &SAN_MATCH, &at, why);
        }
    }
    match &common.tls_certificate_provider_instance {
        Some(instance) => provider(instance, &common_at.field("tls_certificate_provider_instance"), cx),
        None => {
            let why =
                format_args!("tls_certificate_provider_instance is missing, a server needs a certificate of its own");
            fault(&NO_IDENTITY, &common_at, why, cx);
        }
    }
    unsupported(unsupported_of_common(common), &common_at, cx);
    Ok(())
}

/// Returns the config of a socket, or reports that it has none of this type.
fn typed_config<'s>(
    socket: &'s TransportSocket,
    type_name: &str,
    rule: &'static Rule,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<&'s Any> {
    let Some(any) = fields::socket_config(socket) else {
        fault(&ANY_MISSING, at, format_args!("missing, must hold `{type_name}`"), cx);
        return None;
    };
    if is_url_of(&any.type_url, type_name) {
        return Some(any);
    }
    let url = &any.type_url;
    let why = format_args!("transport socket `{url}` is not supported, must be `{type_name}`");
    fault(rule, &at.field("type_url"), why, cx);
    None
}

/// Returns the fields that are set and not supported. A signed certificate timestamp that is set to
/// false counts too.
fn of_validation(context: &CertificateValidationContext) -> impl Iterator<Item = &'static str> {
    unsupported_of_validation(context, context.require_signed_certificate_timestamp.is_some())
}

/// Checks the validation context of a client, which must name a provider.
fn validation_of_client(context: &CertificateValidationContext, at: &Path<'_>, cx: &mut Validation<'_>) {
    unsupported(of_validation(context), at, cx);
    let matchers_at = at.field("match_subject_alt_names");
    for (i, matcher) in context.match_subject_alt_names.iter().enumerate() {
        if let Some(MatchPattern::SafeRegex(safe)) = &matcher.match_pattern {
            regex::note_death(&safe.regex, PatternUse::Match(""), &matchers_at.index(i), cx);
        }
    }
    match &context.ca_certificate_provider_instance {
        Some(instance) => provider(instance, &at.field("ca_certificate_provider_instance"), cx),
        None => without_ca(at, cx),
    }
}

/// Checks the other members of `validation_context_type`, which the client does not support.
fn other_validation(other: &ValidationContextType, at: &Path<'_>, cx: &mut Validation<'_>) {
    match other {
        ValidationContextType::ValidationContextSdsSecretConfig(_) => {
            secret("validation_context_sds_secret_config", at, cx);
        }
        ValidationContextType::ValidationContextCertificateProvider(_) => {
            unsupported(["validation_context_certificate_provider"], at, cx);
        }
        ValidationContextType::ValidationContextCertificateProviderInstance(_) => {
            let at = at.field("validation_context_certificate_provider_instance");
            let why = format_args!("the deprecated field is not supported, must be ca_certificate_provider_instance");
            fault(&TLS_DEPRECATED_PROVIDER_FIELD, &at, why, cx);
        }
        ValidationContextType::ValidationContext(_) | ValidationContextType::CombinedValidationContext(_) => {}
    }
}

fn without_ca(at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("no ca_certificate_provider_instance, a client must have one");
    fault(&WITHOUT_CA, at, why, cx);
}

fn unsupported(fields: impl IntoIterator<Item = &'static str>, at: &Path<'_>, cx: &mut Validation<'_>) {
    for field in fields {
        let why = format_args!("{field} is not supported, must not be set");
        fault(&TLS_UNSUPPORTED_FEATURE, &at.field(field), why, cx);
    }
}

fn secret(field: &'static str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("{field} is set, certificates come from a provider of the bootstrap only");
    fault(&TLS_SECRET_NOT_FROM_PROVIDER, &at.field(field), why, cx);
}

/// Checks a certificate provider, which must be in the bootstrap. The client looks its name up in a
/// plain JavaScript object, so names of the object's prototype pass.
fn provider(instance: &CertificateProviderPluginInstance, at: &Path<'_>, cx: &mut Validation<'_>) {
    let name = instance.instance_name.as_str();
    if cx.server().knows_provider(name) || OBJECT_PROTOTYPE.contains(&name) {
        return;
    }
    let why = format_args!("certificate provider instance `{name}` is not in the bootstrap");
    fault(&TLS_UNKNOWN_PROVIDER_INSTANCE, &at.field("instance_name"), why, cx);
}
