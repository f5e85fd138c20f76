//! CommonTlsContext and CertificateValidationContext, shared by UpstreamTlsContext and
//! DownstreamTlsContext (A29, A82).
//!
//! gRPC takes certificates from the providers that the bootstrap names, and from nowhere else: keys
//! and roots given inline or by SDS, pins, CRLs and TLS parameters reject the resource. Follows
//! C-core `CommonTlsContextParse` (xds_tls_context_parser.cc), in its order: validation context,
//! identity, tls_params, custom_handshaker.
//!
//! This file knows nothing of the two contexts around the message: their converters check what a
//! client or a server demands beyond this.

use crate::shared::rules::{
    TLS_DEPRECATED_PROVIDER_FIELD, TLS_SECRET_NOT_FROM_PROVIDER, TLS_UNKNOWN_PROVIDER_INSTANCE, TLS_UNSUPPORTED_FEATURE,
};
use crate::shared::tls::{secrets_of_common, unsupported_of_common, unsupported_of_validation};
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3 as pb;
use xdsctl_document::proto::wire::SECURITY_FIELD_IGNORED;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::tls::{CaCerts, CommonTlsContext, ProviderInstance};

use super::matcher::string_matcher;

rules! {
    /// A TLS field is not looked at, because another one that is set goes before it.
    TLS_FIELD_SUPERSEDED = "tls-field-superseded", Tls, Ignored, "C-core CommonTlsContextParse, CertificateValidationContextParse",
        also [Go Java] "both take the newer field where there are two";
}

type ValidationContextType = pb::common_tls_context::ValidationContextType;
type Combined = pb::common_tls_context::CombinedCertificateValidationContext;

/// Converts the CommonTlsContext at `at`. An absent one counts as empty, without a finding.
pub fn common_tls_context(
    pb: Option<&pb::CommonTlsContext>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> CommonTlsContext {
    let mut tls = CommonTlsContext::default();
    let Some(pb) = pb else { return tls };
    match &pb.validation_context_type {
        Some(ValidationContextType::CombinedValidationContext(combined)) => {
            combined_validation_context(combined, &mut tls, &at.field("combined_validation_context"), cx);
        }
        Some(ValidationContextType::ValidationContext(context)) => {
            certificate_validation_context(context, &mut tls, &at.field("validation_context"), cx);
        }
        Some(ValidationContextType::ValidationContextSdsSecretConfig(_)) => {
            secret_not_from_provider(at, "validation_context_sds_secret_config", cx);
        }
        Some(ValidationContextType::ValidationContextCertificateProvider(_)) => {
            roots_ignored(at, "validation_context_certificate_provider", cx);
        }
        Some(ValidationContextType::ValidationContextCertificateProviderInstance(_)) => {
            roots_ignored(at, "validation_context_certificate_provider_instance", cx);
        }
        None => {}
    }
    tls.identity = identity(pb, at, cx);
    unsupported(unsupported_of_common(pb), at, cx);
    tls
}

/// Returns the CertificateValidationContext that the client reads, if there is one.
pub fn validation_context(pb: &pb::CommonTlsContext) -> Option<&pb::CertificateValidationContext> {
    match pb.validation_context_type.as_ref()? {
        ValidationContextType::CombinedValidationContext(combined) => combined.default_validation_context.as_ref(),
        ValidationContextType::ValidationContext(context) => Some(context),
        ValidationContextType::ValidationContextSdsSecretConfig(_)
        | ValidationContextType::ValidationContextCertificateProvider(_)
        | ValidationContextType::ValidationContextCertificateProviderInstance(_) => None,
    }
}

/// Converts a CombinedCertificateValidationContext.
///
/// The deprecated instance counts only if default_validation_context has no provider; it then takes
/// precedence over system_root_certs.
fn combined_validation_context(
    combined: &Combined,
    tls: &mut CommonTlsContext,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    const DEPRECATED: &str = "validation_context_certificate_provider_instance";
    if let Some(context) = &combined.default_validation_context {
        certificate_validation_context(context, tls, &at.field("default_validation_context"), cx);
    }
    let Some(deprecated) = &combined.validation_context_certificate_provider_instance else {
        return;
    };
    match tls.ca_certs {
        CaCerts::Provider(_) => {
            superseded(at, DEPRECATED, "ca_certificate_provider_instance", cx);
        }
        CaCerts::None | CaCerts::SystemRoots => {
            if tls.ca_certs == CaCerts::SystemRoots {
                let context = at.field("default_validation_context");
                superseded(&context, "system_root_certs", DEPRECATED, cx);
            }
            let here = at.field(DEPRECATED);
            deprecated_field(&here, "ca_certificate_provider_instance", cx);
            tls.ca_certs = CaCerts::Provider(instance(
                &deprecated.instance_name,
                &deprecated.certificate_name,
                &here,
                cx,
            ));
        }
    }
}

/// Converts a CertificateValidationContext into `tls`.
fn certificate_validation_context(
    context: &pb::CertificateValidationContext,
    tls: &mut CommonTlsContext,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let names = at.field("match_subject_alt_names");
    let matchers = context.match_subject_alt_names.iter().enumerate();
    let matchers = matchers.filter_map(|(i, name)| string_matcher(Some(name), &names.index(i), cx));
    tls.match_subject_alt_names = matchers.collect();
    if let Some(provider) = &context.ca_certificate_provider_instance {
        let here = at.field("ca_certificate_provider_instance");
        tls.ca_certs = CaCerts::Provider(instance(&provider.instance_name, &provider.certificate_name, &here, cx));
        if context.system_root_certs.is_some() {
            superseded(at, "system_root_certs", "ca_certificate_provider_instance", cx);
        }
    } else if context.system_root_certs.is_some() && cx.has(Feature::SystemRootCerts) {
        tls.ca_certs = CaCerts::SystemRoots;
    }
    let requires_timestamp = context.require_signed_certificate_timestamp == Some(true);
    unsupported(unsupported_of_validation(context, requires_timestamp), at, cx);
}

/// Returns the provider of the client's or server's own certificate: the current field, or else the
/// deprecated one. If neither is set, no other source of certificates may be set.
fn identity(pb: &pb::CommonTlsContext, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<ProviderInstance> {
    const CURRENT: &str = "tls_certificate_provider_instance";
    const DEPRECATED: &str = "tls_certificate_certificate_provider_instance";
    let (name, provider) = if let Some(current) = &pb.tls_certificate_provider_instance {
        let provider = instance(
            &current.instance_name,
            &current.certificate_name,
            &at.field(CURRENT),
            cx,
        );
        if pb.tls_certificate_certificate_provider_instance.is_some() {
            superseded(at, DEPRECATED, CURRENT, cx);
        }
        (CURRENT, Some(provider))
    } else if let Some(old) = &pb.tls_certificate_certificate_provider_instance {
        let here = at.field(DEPRECATED);
        deprecated_field(&here, CURRENT, cx);
        let provider = instance(&old.instance_name, &old.certificate_name, &here, cx);
        (DEPRECATED, Some(provider))
    } else {
        ("", None)
    };
    for field in secrets_of_common(pb) {
        if provider.is_some() {
            superseded(at, field, name, cx);
        } else {
            secret_not_from_provider(at, field, cx);
        }
    }
    provider
}

/// Checks that the bootstrap has the provider.
///
/// Without a bootstrap, any name may be known but the empty one, which no bootstrap would have.
fn instance(instance_name: &str, certificate_name: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> ProviderInstance {
    let providers = cx.server().certificate_providers.as_ref();
    if !cx.server().knows_provider(instance_name) || (instance_name.is_empty() && providers.is_none()) {
        let nearest = xdsctl_model::text::nearest(instance_name, providers.into_iter().flatten().map(String::as_str));
        let finding = cx.report(
            &TLS_UNKNOWN_PROVIDER_INSTANCE,
            &at.field("instance_name"),
            format_args!(
                "certificate provider instance `{instance_name}` is not in the bootstrap's certificate_providers"
            ),
        );
        if let Some(nearest) = nearest {
            finding.help(format!("did you mean `{nearest}`?"));
        }
    }
    ProviderInstance {
        instance_name: instance_name.to_owned(),
        certificate_name: certificate_name.to_owned(),
    }
}

fn unsupported(fields: impl Iterator<Item = &'static str>, at: &Path<'_>, cx: &mut Validation<'_>) {
    for field in fields {
        let message = format_args!("gRPC does not support {field}, must not be set");
        cx.report(&TLS_UNSUPPORTED_FEATURE, &at.field(field), message);
    }
}

fn secret_not_from_provider(at: &Path<'_>, field: &str, cx: &mut Validation<'_>) {
    cx.report(
        &TLS_SECRET_NOT_FROM_PROVIDER,
        &at.field(field),
        format_args!("{field} is set, gRPC takes certificates from a certificate provider instance only"),
    );
}

fn roots_ignored(at: &Path<'_>, field: &str, cx: &mut Validation<'_>) {
    cx.report(
        &SECURITY_FIELD_IGNORED,
        &at.field(field),
        format_args!("gRPC does not read `{field}`: the peer's certificate is not checked with it"),
    )
    .help("use ca_certificate_provider_instance in validation_context");
}

fn superseded(at: &Path<'_>, field: &str, by: &str, cx: &mut Validation<'_>) {
    cx.report(
        &TLS_FIELD_SUPERSEDED,
        &at.field(field),
        format_args!("gRPC does not read {field} when {by} is set"),
    );
}

fn deprecated_field(at: &Path<'_>, instead: &str, cx: &mut Validation<'_>) {
    cx.report(
        &TLS_DEPRECATED_PROVIDER_FIELD,
        at,
        format_args!("deprecated field, which some clients reject or do not read"),
    )
    .help(format!("use {instead}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::profile::{Profile, ServerFacts};

    fn check(pb: &pb::CommonTlsContext, expected: &[(&str, &str)]) -> CommonTlsContext {
        let profile = Profile::default();
        let server = ServerFacts {
            certificate_providers: Some(["id".to_owned(), "ca".to_owned()].into()),
            ..Default::default()
        };
        let mut cx = Validation::new(&profile, &server);
        let tls = common_tls_context(Some(pb), &Path::ROOT, &mut cx);
        let found: Vec<_> = cx.finish().iter().map(|d| (d.rule.id, d.path.to_string())).collect();
        let expected: Vec<_> = expected.iter().map(|(r, p)| (*r, (*p).to_owned())).collect();
        assert_eq!(found, expected);
        tls
    }

    fn provider(name: &str) -> ProviderInstance {
        ProviderInstance {
            instance_name: name.to_owned(),
            certificate_name: String::new(),
        }
    }

    fn instance_pb(name: &str) -> Option<pb::CertificateProviderPluginInstance> {
        Some(pb::CertificateProviderPluginInstance {
            instance_name: name.to_owned(),
            ..Default::default()
        })
    }

    fn deprecated_pb(name: &str) -> Option<pb::common_tls_context::CertificateProviderInstance> {
        Some(pb::common_tls_context::CertificateProviderInstance {
            instance_name: name.to_owned(),
            ..Default::default()
        })
    }

    fn combined(context: Option<pb::CertificateValidationContext>, deprecated: &str) -> pb::CommonTlsContext {
        pb::CommonTlsContext {
            validation_context_type: Some(ValidationContextType::CombinedValidationContext(Combined {
                default_validation_context: context,
                validation_context_certificate_provider_instance: deprecated_pb(deprecated),
            })),
            ..Default::default()
        }
    }

    const DEPRECATED_CA: &str = "combined_validation_context.validation_context_certificate_provider_instance";

    #[test]
    fn the_deprecated_roots_go_before_system_roots_and_after_a_provider() {
        let system = pb::CertificateValidationContext {
            system_root_certs: Some(pb::certificate_validation_context::SystemRootCerts::default()),
            ..Default::default()
        };
        let tls = check(
            &combined(Some(system), "ca"),
            &[
                (
                    "tls-field-superseded",
                    "combined_validation_context.default_validation_context.system_root_certs",
                ),
                ("tls-deprecated-provider-field", DEPRECATED_CA),
            ],
        );
        assert_eq!(tls.ca_certs, CaCerts::Provider(provider("ca")));
        let current = pb::CertificateValidationContext {
            ca_certificate_provider_instance: instance_pb("id"),
            ..Default::default()
        };
        let tls = check(
            &combined(Some(current), "unknown, not looked at"),
            &[("tls-field-superseded", DEPRECATED_CA)],
        );
        assert_eq!(tls.ca_certs, CaCerts::Provider(provider("id")));
    }

    #[test]
    fn certificates_beside_a_provider_are_not_looked_at() {
        let mut context = pb::CommonTlsContext {
            tls_certificates: vec![pb::TlsCertificate::default()],
            tls_certificate_sds_secret_configs: vec![pb::SdsSecretConfig::default()],
            ..Default::default()
        };
        let fields = ["tls_certificates", "tls_certificate_sds_secret_configs"];
        check(&context, &fields.map(|f| ("tls-secret-not-from-provider", f)));
        context.tls_certificate_provider_instance = instance_pb("id");
        let tls = check(&context, &fields.map(|f| ("tls-field-superseded", f)));
        assert_eq!(tls.identity, Some(provider("id")));
    }

    #[test]
    fn an_unknown_provider_is_rejected_and_counts_as_one() {
        let context = pb::CommonTlsContext {
            tls_certificate_provider_instance: instance_pb(""),
            ..Default::default()
        };
        let tls = check(
            &context,
            &[(
                "tls-unknown-provider-instance",
                "tls_certificate_provider_instance.instance_name",
            )],
        );
        assert_eq!(tls.identity, Some(provider("")));
    }
}
