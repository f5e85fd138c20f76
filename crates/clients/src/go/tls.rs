//! CommonTlsContext, as grpc-go reads it (xdsresource/unmarshal_cds.go
//! `securityConfigFromCommonTLSContext`).
//!
//! The current fields are read first. Only if they hold nothing, or have a fault, the deprecated
//! ones are read instead. If these have a fault too, older versions report that alone.

use super::{Later, matcher};
use crate::shared::alike::{TlsSide, unsupported};
use crate::shared::rules::{
    NO_IDENTITY, SAN_MATCH, SYSTEM_ROOTS, TLS_SECRET_NOT_FROM_PROVIDER, TLS_UNKNOWN_PROVIDER_INSTANCE, WITHOUT_CA,
};
use crate::shared::tls::{secrets_of_common, unsupported_of_common, unsupported_of_validation};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::common_tls_context::ValidationContextType;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::{
    CertificateValidationContext, CommonTlsContext,
};
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::{StringMatcher, string_matcher::MatchPattern};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::profile::Feature;

/// What the client keeps of a context.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SecurityConfig {
    identity: String,
    identity_name: String,
    /// The provider of the roots.
    pub root: String,
    root_name: String,
    has_matchers: bool,
    system_roots: bool,
}

/// Converts the context at `at`.
pub(super) fn security_config(
    common: &CommonTlsContext,
    side: TlsSide,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<SecurityConfig> {
    let is_of_today = cx.has(Feature::TlsOfToday);
    if let Some(field) = unsupported_of_common(common).find(|_| is_of_today) {
        return Err(unsupported(field, at, cx));
    }
    // A fault in the new fields counts only if the old fields do not help either.
    let found = match is_of_today {
        true => cx.unheard(|cx| new_fields(common, side, at, cx)),
        false => Ok(SecurityConfig::default()),
    };
    let config = match found {
        Ok(config) if config != SecurityConfig::default() => config,
        _ => match cx.unheard(|cx| deprecated_fields(common, side, at, cx)) {
            Ok(config) => config,
            Err(_) => {
                if found.is_err() && cx.has(Feature::NewTlsFaultFirst) {
                    new_fields(common, side, at, cx)?;
                }
                deprecated_fields(common, side, at, cx)?
            }
        },
    };
    if side == TlsSide::Server && config.identity.is_empty() {
        let message = format_args!("no certificate provider, a server needs a certificate of its own");
        return Err(reject(&NO_IDENTITY, at, message, cx));
    }
    if side == TlsSide::Client && config.root.is_empty() && !config.system_roots {
        return Err(without_roots(at, cx));
    }
    Ok(config)
}

/// Looks up the names of certificate providers in the bootstrap (`securityConfigValidator`);
/// `later` checks what has to be good before that.
pub(super) fn check_providers(
    config: &SecurityConfig,
    at: &Path<'_>,
    later: Later<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    for name in [&config.identity, &config.root] {
        if !name.is_empty() && !cx.server().knows_provider(name) {
            later(cx)?;
            let message = format_args!("certificate provider instance `{name}` is not in the bootstrap");
            if !cx.has(Feature::ProvidersKnown) {
                cx.report_as(Effect::Fails, &TLS_UNKNOWN_PROVIDER_INSTANCE, at, message);
                return Ok(());
            }
            return Err(reject(&TLS_UNKNOWN_PROVIDER_INSTANCE, at, message, cx));
        }
    }
    Ok(())
}

fn without_roots(at: &Path<'_>, cx: &mut Validation<'_>) -> crate::shared::ConverterStop {
    let message = format_args!("no source of CA certificates, must have ca_certificate_provider_instance");
    reject(&WITHOUT_CA, at, message, cx)
}

/// Reads the current fields (`securityConfigFromCommonTLSContextUsingNewFields`).
fn new_fields(
    common: &CommonTlsContext,
    side: TlsSide,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<SecurityConfig> {
    let mut config = SecurityConfig::default();
    match &common.tls_certificate_provider_instance {
        Some(identity) => {
            config.identity.clone_from(&identity.instance_name);
            config.identity_name.clone_from(&identity.certificate_name);
        }
        None => {
            if let Some(field) = secrets_of_common(common).next() {
                let message = format_args!("{field} is set without tls_certificate_provider_instance");
                return Err(reject(&TLS_SECRET_NOT_FROM_PROVIDER, &at.field(field), message, cx));
            }
        }
    }
    let empty = CertificateValidationContext::default();
    let (context, at) = match &common.validation_context_type {
        Some(ValidationContextType::ValidationContext(context)) => (context, at.field("validation_context")),
        Some(ValidationContextType::CombinedValidationContext(combined)) => (
            combined.default_validation_context.as_ref().unwrap_or(&empty),
            at.field("combined_validation_context"),
        ),
        None => return Ok(config),
        Some(_) => return Err(without_roots(at, cx)),
    };
    let provider = context.ca_certificate_provider_instance.as_ref();
    let wants_system = context.system_root_certs.is_some() && cx.has(Feature::SystemRootCerts);
    if provider.is_none() && wants_system && side == TlsSide::Server {
        let message = format_args!("system_root_certs is set, a server takes roots from a provider only");
        return Err(reject(&SYSTEM_ROOTS, &at.field("system_root_certs"), message, cx));
    }
    let requires_timestamp = context.require_signed_certificate_timestamp == Some(true);
    if let Some(field) = unsupported_of_validation(context, requires_timestamp).next() {
        return Err(unsupported(field, &at, cx));
    }
    match provider {
        Some(provider) => {
            config.root.clone_from(&provider.instance_name);
            config.root_name.clone_from(&provider.certificate_name);
        }
        None if wants_system => config.system_roots = true,
        None => return Err(without_roots(&at, cx)),
    }
    config.has_matchers = matchers(&context.match_subject_alt_names, side, &at, cx)?;
    Ok(config)
}

/// Checks the matchers of the peer's names; says whether there are any.
fn matchers(list: &[StringMatcher], side: TlsSide, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let at = at.field("match_subject_alt_names");
    if !cx.has(Feature::SanMatchersMade) {
        return Ok(list.iter().any(is_exact));
    }
    for (i, matcher) in list.iter().enumerate() {
        matcher::string_matcher(Some(matcher), &at.index(i), cx)?;
    }
    if side == TlsSide::Server && !list.is_empty() && cx.has(Feature::TlsOfToday) {
        let message = format_args!("match_subject_alt_names is set, a server cannot match names in certificates");
        return Err(reject(&SAN_MATCH, &at, message, cx));
    }
    Ok(!list.is_empty())
}

/// Reads the deprecated fields (`securityConfigFromCommonTLSContextWithDeprecatedFields`).
fn deprecated_fields(
    common: &CommonTlsContext,
    side: TlsSide,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<SecurityConfig> {
    let mut config = SecurityConfig::default();
    if let Some(identity) = &common.tls_certificate_certificate_provider_instance {
        config.identity.clone_from(&identity.instance_name);
        config.identity_name.clone_from(&identity.certificate_name);
    }
    match &common.validation_context_type {
        Some(ValidationContextType::CombinedValidationContext(combined)) => {
            let at = at.field("combined_validation_context");
            if let Some(context) = &combined.default_validation_context {
                let at = at.field("default_validation_context");
                config.has_matchers = matchers(&context.match_subject_alt_names, side, &at, cx)?;
            }
            if let Some(provider) = &combined.validation_context_certificate_provider_instance {
                config.root.clone_from(&provider.instance_name);
                config.root_name.clone_from(&provider.certificate_name);
            }
        }
        Some(ValidationContextType::ValidationContextCertificateProviderInstance(provider)) => {
            config.root.clone_from(&provider.instance_name);
            config.root_name.clone_from(&provider.certificate_name);
        }
        None => {}
        Some(_) => return Err(without_roots(at, cx)),
    }
    Ok(config)
}

fn is_exact(matcher: &StringMatcher) -> bool {
    matches!(&matcher.match_pattern, Some(MatchPattern::Exact(name)) if !name.is_empty())
}
