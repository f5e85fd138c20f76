//! TLS towards the clients: what they are shown, and what they must show.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::error::Error;

/// Who a server is, and whom it lets in; all of it PEM.
#[derive(Clone)]
pub struct ServerTls {
    /// Its certificate, and those that lead to the one that clients trust.
    pub chain: Vec<u8>,
    /// The private key of the first.
    pub key: Vec<u8>,
    /// Clients must have a certificate that leads to one of these; `None` to ask for none.
    pub client_ca: Option<Vec<u8>>,
}

impl std::fmt::Debug for ServerTls {
    /// Leaves the key out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerTls")
            .field("has_client_ca", &self.client_ca.is_some())
            .finish_non_exhaustive()
    }
}

impl ServerTls {
    /// What takes connections.
    ///
    /// # Errors
    /// The PEM has no certificate or key, or they do not fit.
    pub(super) fn acceptor(&self) -> Result<TlsAcceptor, Error> {
        let cannot = |what: &str, why: String| Error::Tls(format!("{what} cannot be used: {why}"));
        let certificates = |pem: &[u8]| CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
        let chain = certificates(&self.chain).map_err(|e| cannot("the server's certificate", e.to_string()))?;
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|e| cannot("the server's key", e.to_string()))?;
        let builder = ServerConfig::builder();
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(ca) => {
                let trusted = certificates(ca).map_err(|e| cannot("the clients' authority", e.to_string()))?;
                let mut roots = RootCertStore::empty();
                for certificate in trusted {
                    roots
                        .add(certificate)
                        .map_err(|e| cannot("the clients' authority", e.to_string()))?;
                }
                let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build();
                builder
                    .with_client_cert_verifier(verifier.map_err(|e| cannot("the clients' authority", e.to_string()))?)
            }
        };
        let config = builder.with_single_cert(chain, key);
        let mut config = config.map_err(|e| cannot("the server's certificate", e.to_string()))?;
        // gRPC clients hang up on a server that does not choose it.
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
