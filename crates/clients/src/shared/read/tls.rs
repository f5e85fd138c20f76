//! TLS contexts, as a client keeps them.

use super::{FamilyReader, opened};
use crate::shared::fields;
use crate::shared::names::{DOWNSTREAM, HTTP_11_PROXY, UPSTREAM};
use xdsctl_document::proto::pb::envoy::config::core::v3::TransportSocket;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::http_11_proxy::v3::Http11ProxyUpstreamTransport;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3 as pb;
use xdsctl_document::proto::pb::envoy::extensions::transport_sockets::tls::v3::common_tls_context::ValidationContextType;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::tls::{
    CaCerts, CommonTlsContext, DownstreamTlsContext, ProviderInstance, UpstreamTlsContext,
};

impl FamilyReader<'_> {
    /// Returns whether the connections of a cluster go through an HTTP proxy, and their TLS; `None`
    /// for plaintext.
    pub(super) fn upstream_tls(&self, socket: &TransportSocket) -> (bool, Option<UpstreamTlsContext>) {
        let proxies = self.has(Feature::HttpConnect) || self.has(Feature::HttpProxySocket);
        let proxy = in_socket::<Http11ProxyUpstreamTransport>(socket, HTTP_11_PROXY).filter(|_| proxies);
        let inner = match &proxy {
            Some(proxy) => proxy.transport_socket.as_ref(),
            None => Some(socket),
        };
        let context = inner.and_then(|socket| in_socket::<pb::UpstreamTlsContext>(socket, UPSTREAM));
        let context = context.map(|context| {
            let common = self.common_tls(context.common_tls_context.as_ref());
            match self.has(Feature::Sni) {
                true => UpstreamTlsContext {
                    common,
                    sni: context.sni,
                    auto_host_sni: context.auto_host_sni,
                    auto_sni_san_validation: context.auto_sni_san_validation,
                },
                false => UpstreamTlsContext {
                    common,
                    ..UpstreamTlsContext::default()
                },
            }
        });
        (proxy.is_some(), context)
    }

    /// Returns the TLS of a server's filter chain.
    pub(super) fn downstream_tls(&self, socket: &TransportSocket) -> Option<DownstreamTlsContext> {
        let context: pb::DownstreamTlsContext = in_socket(socket, DOWNSTREAM)?;
        let mut common = self.common_tls(context.common_tls_context.as_ref());
        if let (true, Some(own)) = (self.dialect.uses_alpn, context.common_tls_context) {
            common.alpn_protocols = own.alpn_protocols;
        }
        Some(DownstreamTlsContext {
            common,
            require_client_certificate: context
                .require_client_certificate
                .is_some_and(|required| required || self.dialect.requires_if_set),
        })
    }

    fn common_tls(&self, message: Option<&pb::CommonTlsContext>) -> CommonTlsContext {
        let Some(message) = message else {
            return CommonTlsContext::default();
        };
        let provider = |instance: &str, certificate: &str| ProviderInstance {
            instance_name: instance.to_owned(),
            certificate_name: certificate.to_owned(),
        };
        let (context, deprecated) = match &message.validation_context_type {
            Some(ValidationContextType::CombinedValidationContext(combined)) => (
                combined.default_validation_context.as_ref(),
                combined.validation_context_certificate_provider_instance.as_ref(),
            ),
            Some(ValidationContextType::ValidationContext(context)) => (Some(context), None),
            _ => (None, None),
        };
        let own = context.and_then(|context| context.ca_certificate_provider_instance.as_ref());
        let has_roots = context.is_some_and(|context| context.system_root_certs.is_some());
        let names = context.map_or(&[][..], |context| &context.match_subject_alt_names);
        let identity = message.tls_certificate_provider_instance.as_ref();
        let old_identity = message.tls_certificate_certificate_provider_instance.as_ref();
        CommonTlsContext {
            ca_certs: match (own, deprecated) {
                (Some(own), _) => CaCerts::Provider(provider(&own.instance_name, &own.certificate_name)),
                (None, Some(old)) => CaCerts::Provider(provider(&old.instance_name, &old.certificate_name)),
                (None, None) if has_roots && self.has(Feature::SystemRootCerts) => CaCerts::SystemRoots,
                (None, None) => CaCerts::None,
            },
            match_subject_alt_names: names.iter().filter_map(|name| self.string_matcher(name)).collect(),
            identity: match (identity, old_identity) {
                (Some(own), _) => Some(provider(&own.instance_name, &own.certificate_name)),
                (None, Some(old)) => Some(provider(&old.instance_name, &old.certificate_name)),
                (None, None) => None,
            },
            alpn_protocols: Vec::new(),
        }
    }
}

fn in_socket<T: prost::Message + Default>(socket: &TransportSocket, type_name: &str) -> Option<T> {
    opened(fields::socket_config(socket)?, type_name)
}
