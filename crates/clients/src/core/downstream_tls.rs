//! DownstreamTlsContext, the transport socket of a server's filter chain (A29, A82).
//!
//! A server needs a certificate of its own, and may check the client's against a provider's roots;
//! SNI, OCSP stapling, the system's roots and names to match are refused. Follows C-core
//! `DownstreamTlsContextParse` (xds_listener_parser.cc).

use crate::core::convert::tls;
use crate::shared::fields::socket_config;
use crate::shared::names::DOWNSTREAM;
use crate::shared::rules::{
    CLIENT_CERTIFICATE_WITHOUT_CA, LISTENER_SOCKET_UNSUPPORTED, NO_IDENTITY, OCSP_STAPLE_POLICY, REQUIRE_SNI,
    SAN_MATCH, SYSTEM_ROOTS,
};
use xdsctl_document::proto::any;
use xdsctl_document::proto::pb::envoy::config::core::v3::TransportSocket;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3 as pb;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::tls::{CaCerts, CommonTlsContext, DownstreamTlsContext};

/// Converts the transport socket at `at`.
pub fn transport_socket(
    socket: &TransportSocket,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<DownstreamTlsContext> {
    let at = at.field("typed_config");
    let extension = any::extract(socket_config(socket), &at, cx)?;
    let at = extension.at(&at);
    let name = &extension.type_name;
    let why = format_args!("transport socket `{name}` is not supported on a server, must be DownstreamTlsContext");
    let rule = &LISTENER_SOCKET_UNSUPPORTED;
    cx.check(name == DOWNSTREAM, rule, &at.field("type_url"), why)?;
    let pb: pb::DownstreamTlsContext = extension.decode(&at, cx)?;
    Some(from_proto(&pb, &at, cx))
}

fn from_proto(pb: &pb::DownstreamTlsContext, at: &Path<'_>, cx: &mut Validation<'_>) -> DownstreamTlsContext {
    let common_at = at.field("common_tls_context");
    let common = tls::common_tls_context(pb.common_tls_context.as_ref(), &common_at, cx);
    check_common(pb.common_tls_context.as_ref(), &common, &common_at, cx);
    let has_identity = common.identity.as_ref().is_some_and(|i| !i.instance_name.is_empty());
    let why = "no tls_certificate_provider_instance, a server needs a certificate of its own";
    cx.check(has_identity, &NO_IDENTITY, at, why);
    let require_client_certificate = pb.require_client_certificate == Some(true);
    let has_ca = matches!(&common.ca_certs, CaCerts::Provider(ca) if !ca.instance_name.is_empty());
    let certificate_at = at.field("require_client_certificate");
    let why = "require_client_certificate is true, and no ca_certificate_provider_instance checks the certificate";
    let is_checked = !require_client_certificate || has_ca;
    cx.check(is_checked, &CLIENT_CERTIFICATE_WITHOUT_CA, &certificate_at, why);
    let (sni_at, why) = (at.field("require_sni"), "require_sni is true, must be false");
    cx.check(pb.require_sni != Some(true), &REQUIRE_SNI, &sni_at, why);
    if pb.ocsp_staple_policy != pb::downstream_tls_context::OcspStaplePolicy::LenientStapling as i32 {
        let name = pb::downstream_tls_context::OcspStaplePolicy::try_from(pb.ocsp_staple_policy)
            .map_or("not a known value", |policy| policy.as_str_name());
        cx.report(
            &OCSP_STAPLE_POLICY,
            &at.field("ocsp_staple_policy"),
            format_args!(
                "ocsp_staple_policy is {} ({name}), must be LENIENT_STAPLING",
                pb.ocsp_staple_policy
            ),
        );
    }
    DownstreamTlsContext {
        common,
        require_client_certificate,
    }
}

/// Checks what a server may not have in its CommonTlsContext.
fn check_common(pb: Option<&pb::CommonTlsContext>, common: &CommonTlsContext, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = "system_root_certs is set, a server takes roots from a certificate provider instance only";
    cx.check(common.ca_certs != CaCerts::SystemRoots, &SYSTEM_ROOTS, at, why);
    // A SAN matcher counts even if it was rejected itself.
    let context = pb.and_then(tls::validation_context);
    let is_without = context.is_none_or(|context| context.match_subject_alt_names.is_empty());
    let why = "match_subject_alt_names is set, a server cannot match names in client certificates";
    cx.check(is_without, &SAN_MATCH, at, why);
}
