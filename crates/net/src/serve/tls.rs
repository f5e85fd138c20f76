//! TLS towards the clients: the server's certificate, and the authority for theirs.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::error::Error;

/// The TLS settings of the server, all in PEM. They cannot be printed for debugging, because of the
/// key.
#[derive(Clone)]
pub struct ServerTls {
    /// The server's certificate, followed by those up to the one that clients trust.
    pub chain: Vec<u8>,
    /// The private key of the first certificate.
    pub key: Vec<u8>,
    /// The authorities for clients' certificates; `None` if clients need no certificate.
    pub client_ca: Option<Vec<u8>>,
}

impl ServerTls {
    /// Returns the acceptor of TLS connections.
    ///
    /// # Errors
    /// The PEM has no certificate or key, or they do not belong together.
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
        // gRPC clients close the connection if the server does not choose h2.
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
