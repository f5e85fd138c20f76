//! Fields of a TLS context that clients reject, in the order in which most clients check them. Each
//! family decides when to check them and what to say.

use super::fields::set_of;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::{
    CertificateValidationContext, CommonTlsContext,
};

/// The longest server name in bytes (A101).
pub(crate) const MAX_SNI_BYTES: usize = 255;

/// Returns the fields of a CommonTlsContext that are set and not supported.
pub(crate) fn unsupported_of_common(common: &CommonTlsContext) -> impl Iterator<Item = &'static str> {
    set_of([
        ("tls_params", common.tls_params.is_some()),
        ("custom_handshaker", common.custom_handshaker.is_some()),
    ])
}

/// Returns the fields that are set with certificates that come from no provider.
pub(crate) fn secrets_of_common(common: &CommonTlsContext) -> impl Iterator<Item = &'static str> {
    let secrets = &common.tls_certificate_sds_secret_configs;
    set_of([
        ("tls_certificates", !common.tls_certificates.is_empty()),
        ("tls_certificate_sds_secret_configs", !secrets.is_empty()),
    ])
}

/// Returns the fields of a validation context that are set and not supported. Clients do not agree
/// on whether a timestamp that is set to false is required; `requires_timestamp` says so.
pub(crate) fn unsupported_of_validation(
    context: &CertificateValidationContext,
    requires_timestamp: bool,
) -> impl Iterator<Item = &'static str> {
    set_of([
        ("verify_certificate_spki", !context.verify_certificate_spki.is_empty()),
        ("verify_certificate_hash", !context.verify_certificate_hash.is_empty()),
        ("require_signed_certificate_timestamp", requires_timestamp),
        ("crl", context.crl.is_some()),
        ("custom_validator_config", context.custom_validator_config.is_some()),
    ])
}
