//! The handshake (A29): who must show what, and what the server then knows about its peer.

use std::collections::BTreeMap;

use crate::connection::{Connection, PeerCertificate, Transport};
use crate::dialect::ServerDialect;
use xdsctl_model::resource::listener::FilterChain;
use xdsctl_model::resource::tls::{CaCerts, DownstreamTlsContext};

/// What a certificate provider of the bootstrap has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provider {
    /// The name of the server's own certificate and key.
    pub identity: Option<String>,
    /// The roots with which the certificates of others are checked.
    pub roots: Option<Roots>,
}

/// The roots that a server trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Roots {
    /// The roots are not known: every certificate counts as below one of them.
    Any,
    /// The roots with these names: the issuer of a certificate must be one of them.
    Of(Vec<String>),
}

/// The program around a server.
#[derive(Debug, Clone, Copy, Default)]
pub struct Program<'p> {
    /// Whether the program has no xDS credentials. If so, the TLS settings of filter chains are not
    /// read, and connections are plaintext.
    pub has_no_credentials: bool,
    /// The time in seconds since 1970. Without it, the validity of certificates is not checked.
    pub at: Option<i64>,
    /// The program's certificate providers by name. Without them, each has whatever it is used for.
    pub providers: Option<&'p BTreeMap<String, Provider>>,
}

/// Whether a server asks its peer for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// There is no TLS.
    Plaintext,
    /// The server asks for no certificate: it has no roots to check one with, or requires none.
    Nothing,
    /// The server asks for a certificate, and accepts a peer without one.
    Optional,
    /// The server requires a certificate (mTLS).
    Required,
}

impl Asks {
    /// Returns what the server of a chain asks for.
    pub fn of(chain: &FilterChain, program: &Program<'_>, dialect: &ServerDialect) -> Asks {
        let Some(DownstreamTlsContext {
            common,
            require_client_certificate,
        }) = chain.tls.as_ref().filter(|_| !program.has_no_credentials)
        else {
            return Asks::Plaintext;
        };
        match (&common.ca_certs, require_client_certificate) {
            (CaCerts::None, _) => Asks::Nothing,
            (CaCerts::Provider(_) | CaCerts::SystemRoots, true) => Asks::Required,
            (CaCerts::Provider(_) | CaCerts::SystemRoots, false) if dialect.asks_optionally => Asks::Optional,
            (CaCerts::Provider(_) | CaCerts::SystemRoots, false) => Asks::Nothing,
        }
    }
}

/// Why a handshake fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandshakeFault {
    /// The certificate provider of this name does not exist, or lacks what it is used for.
    NoProvider(String),
    /// The server does not speak HTTP/2, as `alpn_protocols` says.
    NoHttp2,
    /// The client speaks TLS and the chain has none.
    TlsToPlaintext,
    /// The client speaks plaintext and the chain requires TLS.
    PlaintextToTls,
    /// The client has no certificate to show.
    NoCertificate,
    /// No root that the server trusts is above the certificate.
    Untrusted,
    /// The certificate is not for clients, as its extended key usage says.
    ForOthers,
    /// The certificate is valid from this time on.
    NotYetValid(i64),
    /// The certificate was valid until this time.
    Expired(i64),
}

/// What a server knows about its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer<'c> {
    /// Nothing: there is no TLS.
    Plaintext,
    /// The peer's certificate, if it was asked for and shown.
    Tls(Option<&'c PeerCertificate>),
}

/// Shakes hands. Returns what the server then knows about its peer.
///
/// # Errors
/// Fails if the handshake fails, and says why.
pub fn shake<'c>(
    chain: &FilterChain,
    connection: &'c Connection,
    program: &Program<'_>,
    dialect: &ServerDialect,
) -> Result<Peer<'c>, HandshakeFault> {
    let asks = Asks::of(chain, program, dialect);
    if asks != Asks::Plaintext {
        own_side(chain, program, dialect)?;
    }
    let certificate = match (&connection.transport, asks) {
        (Transport::Plaintext, Asks::Plaintext) => return Ok(Peer::Plaintext),
        (Transport::Plaintext, _) => return Err(HandshakeFault::PlaintextToTls),
        (Transport::Tls(_), Asks::Plaintext) => return Err(HandshakeFault::TlsToPlaintext),
        (Transport::Tls(_), Asks::Nothing) => return Ok(Peer::Tls(None)),
        (Transport::Tls(None), Asks::Required) => return Err(HandshakeFault::NoCertificate),
        (Transport::Tls(None), Asks::Optional) => return Ok(Peer::Tls(None)),
        (Transport::Tls(Some(certificate)), Asks::Required | Asks::Optional) => certificate,
    };
    match fault(certificate, chain, program, dialect) {
        None => Ok(Peer::Tls(Some(certificate))),
        Some(_) if asks == Asks::Optional && dialect.takes_bad_certificates => Ok(Peer::Tls(None)),
        Some(fault) => Err(fault),
    }
}

/// Returns what is wrong with a certificate.
fn fault(
    certificate: &PeerCertificate,
    chain: &FilterChain,
    program: &Program<'_>,
    dialect: &ServerDialect,
) -> Option<HandshakeFault> {
    if certificate.is_untrusted || !is_below_roots(certificate, chain, program, dialect) {
        return Some(HandshakeFault::Untrusted);
    }
    if certificate.is_for_others {
        return Some(HandshakeFault::ForOthers);
    }
    if let Some(at) = program.at {
        if let Some(from) = certificate.not_before.filter(|from| at < *from) {
            return Some(HandshakeFault::NotYetValid(from));
        }
        if let Some(until) = certificate.not_after.filter(|until| at > *until) {
            return Some(HandshakeFault::Expired(until));
        }
    }
    None
}

/// Says whether the issuer of a certificate is one of the roots, as far as these are known.
fn is_below_roots(
    certificate: &PeerCertificate,
    chain: &FilterChain,
    program: &Program<'_>,
    dialect: &ServerDialect,
) -> bool {
    let Some(CaCerts::Provider(own)) = chain.tls.as_ref().map(|tls| &tls.common.ca_certs) else {
        return true;
    };
    let named = program.providers.and_then(|all| all.get(&own.instance_name));
    let provider = borrowed(chain, program, dialect).or(named);
    match provider.and_then(|provider| provider.roots.as_ref()) {
        Some(Roots::Of(names)) => names.contains(&certificate.issuer),
        Some(Roots::Any) | None => true,
    }
}

/// Returns the provider of the identity, if its roots are used because the provider of the roots
/// has no files.
fn borrowed<'p>(chain: &FilterChain, program: &Program<'p>, dialect: &ServerDialect) -> Option<&'p Provider> {
    let common = &chain.tls.as_ref()?.common;
    let (CaCerts::Provider(roots), Some(identity)) = (&common.ca_certs, &common.identity) else {
        return None;
    };
    let providers = program.providers.filter(|_| dialect.borrows_roots)?;
    let is_empty = providers.get(&roots.instance_name)? == &Provider::default();
    providers
        .get(&identity.instance_name)
        .filter(|own| is_empty && own.roots.is_some())
}

/// Returns the name of the certificate that the server of a chain shows; `None` if it is not known.
pub fn identity<'p>(chain: &FilterChain, program: &Program<'p>) -> Option<&'p str> {
    let own = chain.tls.as_ref()?.common.identity.as_ref()?;
    program.providers?.get(&own.instance_name)?.identity.as_deref()
}

/// Checks what the server itself needs for a handshake.
fn own_side(chain: &FilterChain, program: &Program<'_>, dialect: &ServerDialect) -> Result<(), HandshakeFault> {
    let Some(DownstreamTlsContext { common, .. }) = &chain.tls else {
        return Ok(());
    };
    let whole = dialect.needs_whole_provider;
    let identity = common.identity.as_ref().map(|own| (own, true, whole));
    let roots = match &common.ca_certs {
        CaCerts::Provider(_) if borrowed(chain, program, dialect).is_some() => None,
        CaCerts::Provider(own) => Some((own, whole, true)),
        CaCerts::None | CaCerts::SystemRoots => None,
    };
    for (own, needs_identity, needs_roots) in identity.into_iter().chain(roots) {
        let Some(providers) = program.providers else { break };
        let has = providers
            .get(&own.instance_name)
            .is_some_and(|own| (own.identity.is_some() || !needs_identity) && (own.roots.is_some() || !needs_roots));
        if !has {
            return Err(HandshakeFault::NoProvider(own.instance_name.clone()));
        }
    }
    let speaks = &common.alpn_protocols;
    match speaks.is_empty() || speaks.iter().any(|name| name == "h2") {
        true => Ok(()),
        false => Err(HandshakeFault::NoHttp2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::resource::Millis;
    use xdsctl_model::resource::listener::{HttpConnectionManager, RouteSource, SourceMatch};
    use xdsctl_model::resource::tls::{CommonTlsContext, ProviderInstance};

    fn chain(tls: Option<(bool, bool)>) -> FilterChain {
        FilterChain {
            name: String::new(),
            source: SourceMatch::default(),
            tls: tls.map(|(has_roots, require_client_certificate)| DownstreamTlsContext {
                common: CommonTlsContext {
                    ca_certs: match has_roots {
                        true => CaCerts::Provider(ProviderInstance::default()),
                        false => CaCerts::None,
                    },
                    ..CommonTlsContext::default()
                },
                require_client_certificate,
            }),
            http_connection_manager: HttpConnectionManager {
                routes: RouteSource::Rds(String::new()),
                http_max_stream_duration: Millis(0),
                http_filters: Vec::new(),
            },
        }
    }

    #[track_caller]
    fn check(tls: Option<(bool, bool)>, transport: &Transport, wanted: Result<Peer<'_>, HandshakeFault>) {
        let connection = Connection {
            from: "127.0.0.1:1".parse().unwrap(),
            to: "127.0.0.1:2".parse().unwrap(),
            transport: transport.clone(),
        };
        let dialect = ServerDialect::of(&xdsctl_model::profile::Profile::default()).unwrap();
        let program = Program {
            at: Some(100),
            ..Program::default()
        };
        assert_eq!(shake(&chain(tls), &connection, &program, &dialect), wanted);
    }

    #[test]
    fn plaintext_and_tls_do_not_mix() {
        check(None, &Transport::Plaintext, Ok(Peer::Plaintext));
        check(None, &Transport::Tls(None), Err(HandshakeFault::TlsToPlaintext));
        check(
            Some((false, false)),
            &Transport::Plaintext,
            Err(HandshakeFault::PlaintextToTls),
        );
    }

    #[test]
    fn a_certificate_is_looked_at_where_there_are_roots() {
        let own = PeerCertificate {
            not_before: Some(50),
            not_after: Some(100),
            ..PeerCertificate::default()
        };
        let shown = Transport::Tls(Some(own.clone()));
        check(Some((false, false)), &shown, Ok(Peer::Tls(None)));
        for required in [false, true] {
            check(Some((true, required)), &shown, Ok(Peer::Tls(Some(&own))));
        }
        check(Some((true, false)), &Transport::Tls(None), Ok(Peer::Tls(None)));
        check(
            Some((true, true)),
            &Transport::Tls(None),
            Err(HandshakeFault::NoCertificate),
        );
        let with = |change: fn(&mut PeerCertificate)| {
            let mut other = own.clone();
            change(&mut other);
            Transport::Tls(Some(other))
        };
        let tls = Some((true, true));
        check(
            tls,
            &with(|own| own.is_untrusted = true),
            Err(HandshakeFault::Untrusted),
        );
        check(
            tls,
            &with(|own| own.not_after = Some(99)),
            Err(HandshakeFault::Expired(99)),
        );
        check(
            tls,
            &with(|own| own.not_before = Some(101)),
            Err(HandshakeFault::NotYetValid(101)),
        );
    }
}
