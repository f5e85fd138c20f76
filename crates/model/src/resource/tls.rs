//! TLS contexts as the client keeps them (A29, A82, A101).

use super::matcher::StringMatcher;

/// A certificate provider instance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderInstance {
    /// Name in the bootstrap's `certificate_providers`.
    pub instance_name: String,
    /// Opaque to the client.
    pub certificate_name: String,
}

/// Where the CA certificates come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CaCerts {
    /// There are none: the certificate of the other side is not checked.
    #[default]
    None,
    /// A provider from the bootstrap.
    Provider(ProviderInstance),
    /// The system's roots.
    SystemRoots,
}

/// CommonTlsContext.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommonTlsContext {
    /// CA certificates.
    pub ca_certs: CaCerts,
    /// Subject alternative names that the peer must have one of.
    pub match_subject_alt_names: Vec<StringMatcher>,
    /// The provider of the certificate that this side shows.
    pub identity: Option<ProviderInstance>,
    /// `alpn_protocols`, where the client uses them; empty for the usual ones, which gRPC has.
    pub alpn_protocols: Vec<String>,
}

/// UpstreamTlsContext of a cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UpstreamTlsContext {
    /// What contexts of clients and of servers have in common.
    pub common: CommonTlsContext,
    /// At most 255 bytes.
    pub sni: String,
    /// SNI from the endpoint's hostname.
    pub auto_host_sni: bool,
    /// SAN check against the SNI.
    pub auto_sni_san_validation: bool,
}

/// DownstreamTlsContext of a server's filter chain.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DownstreamTlsContext {
    /// What contexts of clients and of servers have in common.
    pub common: CommonTlsContext,
    /// A client must show a certificate (mTLS).
    pub require_client_certificate: bool,
}
