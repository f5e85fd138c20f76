//! TLS contexts as the client keeps them (A29, A82, A101).

use super::matcher::StringMatcher;

/// A certificate provider instance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderInstance {
    /// The name in the bootstrap's `certificate_providers`.
    pub instance_name: String,
    /// The name of the certificate, which only the provider interprets.
    pub certificate_name: String,
}

/// Where the CA certificates come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CaCerts {
    /// There are no CA certificates: the peer's certificate is not checked.
    #[default]
    None,
    /// A provider from the bootstrap.
    Provider(ProviderInstance),
    /// The system's roots.
    SystemRoots,
}

/// The CommonTlsContext message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommonTlsContext {
    /// The source of the CA certificates.
    pub ca_certs: CaCerts,
    /// The matchers for the peer's subject alternative names; one name must match one of them.
    pub match_subject_alt_names: Vec<StringMatcher>,
    /// The provider of this side's own certificate.
    pub identity: Option<ProviderInstance>,
    /// The value of `alpn_protocols`, where the client uses it; empty for gRPC's usual protocols.
    pub alpn_protocols: Vec<String>,
}

/// The UpstreamTlsContext of a cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UpstreamTlsContext {
    /// The fields that the contexts of clients and servers share.
    pub common: CommonTlsContext,
    /// The server name for SNI, at most 255 bytes.
    pub sni: String,
    /// Whether SNI is taken from the endpoint's hostname.
    pub auto_host_sni: bool,
    /// Whether the peer's subject alternative names are checked against the SNI.
    pub auto_sni_san_validation: bool,
}

/// The DownstreamTlsContext of a server's filter chain.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DownstreamTlsContext {
    /// The fields that the contexts of clients and servers share.
    pub common: CommonTlsContext,
    /// Whether a client must present a certificate (mTLS).
    pub require_client_certificate: bool,
}
