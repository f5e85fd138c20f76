//! `transport_socket`: UpstreamTlsContext (A29, A101), and the HTTP CONNECT proxy around it (A86).
//!
//! Follows C-core `UpstreamTlsContextParse` and `Http11ProxyUpstreamTransportParse`
//! (xds_cluster_parser.cc). Without a transport socket the channel uses its fallback credentials,
//! which may be plaintext.

use crate::core::convert::switch::report_off;
use crate::core::convert::tls::common_tls_context;
use crate::shared::fields::{set_of, socket_config};
use crate::shared::names::{HTTP_11_PROXY, UPSTREAM};
use crate::shared::rules::{SNI_TOO_LONG, TRANSPORT_SOCKET_UNSUPPORTED, WITHOUT_CA};
use crate::shared::tls::MAX_SNI_BYTES;
use xdsctl_document::proto::any::{self, Extension};
use xdsctl_document::proto::pb::envoy::config::core::v3::TransportSocket;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::http_11_proxy::v3::Http11ProxyUpstreamTransport;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3 as pb;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::tls::{CaCerts, UpstreamTlsContext};

/// Converts the cluster's transport socket. Returns whether connections go through an HTTP CONNECT
/// proxy, and the TLS context; it is `None` if the channel uses its fallback credentials.
pub(super) fn transport_socket(
    socket: &TransportSocket,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> (bool, Option<UpstreamTlsContext>) {
    let at = at.field("typed_config");
    let Some(extension) = any::extract(socket_config(socket), &at, cx) else {
        return (false, None);
    };
    if extension.type_name == HTTP_11_PROXY && cx.has(Feature::HttpConnect) {
        return (true, http_11_proxy(&extension, &extension.at(&at), cx));
    }
    (false, tls_extension(&extension, &at, cx))
}

/// Converts the socket inside the proxy's; if it is absent, the connection through the proxy is
/// plaintext.
fn http_11_proxy(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<UpstreamTlsContext> {
    let proxy: Http11ProxyUpstreamTransport = extension.decode(at, cx)?;
    let socket = proxy.transport_socket?;
    let at = at.field("transport_socket");
    let at = at.field("typed_config");
    let inner = any::extract(socket_config(&socket), &at, cx)?;
    tls_extension(&inner, &at, cx)
}

/// Converts the extension in the Any at `at`, which must be an UpstreamTlsContext.
fn tls_extension(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<UpstreamTlsContext> {
    let at = extension.at(at);
    let (name, rule) = (&extension.type_name, &TRANSPORT_SOCKET_UNSUPPORTED);
    let why = format_args!("`{name}` is not supported, must be `{UPSTREAM}`");
    cx.check(name == UPSTREAM, rule, &at.field("type_url"), why)?;
    let tls: pb::UpstreamTlsContext = extension.decode(&at, cx)?;
    let mut context = UpstreamTlsContext::default();
    if cx.has(Feature::Sni) {
        let length = tls.sni.len();
        let why = format_args!("sni has {length} bytes, must have at most {MAX_SNI_BYTES}");
        cx.check(length <= MAX_SNI_BYTES, &SNI_TOO_LONG, &at.field("sni"), why);
        context.sni = tls.sni;
        context.auto_host_sni = tls.auto_host_sni;
        context.auto_sni_san_validation = tls.auto_sni_san_validation;
    } else {
        let fields = [
            ("sni", !tls.sni.is_empty()),
            ("auto_host_sni", tls.auto_host_sni),
            ("auto_sni_san_validation", tls.auto_sni_san_validation),
        ];
        for field in set_of(fields) {
            report_off(Feature::Sni, &at.field(field), cx);
        }
    }
    let at = at.field("common_tls_context");
    context.common = common_tls_context(tls.common_tls_context.as_ref(), &at, cx);
    let why = "no source of CA certificates, must have ca_certificate_provider_instance or system_root_certs";
    cx.check(context.common.ca_certs != CaCerts::None, &WITHOUT_CA, &at, why);
    Some(context)
}
