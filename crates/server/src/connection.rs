//! A connection to a server, the peer at its other end, and an RPC on it.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

/// A connection as a server sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The address at the other end.
    pub from: SocketAddr,
    /// The server's own address, to which the client connects.
    pub to: SocketAddr,
    /// The protocol of the connection.
    pub transport: Transport,
}

/// The protocol that a client speaks on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// HTTP/2 without TLS.
    Plaintext,
    /// TLS, with or without a certificate of the client.
    Tls(Option<PeerCertificate>),
}

/// A certificate that a client shows. Times are in seconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeerCertificate {
    /// Alternative names that are URIs, such as `spiffe://prod/ns/shop/sa/cart`.
    pub uris: Vec<String>,
    /// Alternative names that are DNS names.
    pub dns_names: Vec<String>,
    /// Alternative names that are email addresses, which no gRPC server looks at.
    pub emails: Vec<String>,
    /// Alternative names that are IP addresses, which no gRPC server looks at.
    pub ips: Vec<IpAddr>,
    /// The subject as RFC 2253 writes it: `CN=cart,O=Shop`.
    pub subject: String,
    /// The issuer in the same form.
    pub issuer: String,
    /// The time from which on the certificate is valid; `None` if that is not known.
    pub not_before: Option<i64>,
    /// The time until which the certificate is valid; `None` if that is not known.
    pub not_after: Option<i64>,
    /// Whether the certificate does not lead to a root that the server trusts.
    pub is_untrusted: bool,
    /// Whether the certificate's extended key usage is not that of clients.
    pub is_for_others: bool,
}

impl PeerCertificate {
    /// Adds an alternative name: `uri:NAME`, `dns:NAME`, `email:NAME` or `ip:ADDRESS`. Says whether
    /// the text is such a name.
    pub fn add_name(&mut self, name: &str) -> bool {
        match name.split_once(':') {
            Some(("dns", name)) => self.dns_names.push(name.to_owned()),
            Some(("uri", name)) => self.uris.push(name.to_owned()),
            Some(("email", name)) => self.emails.push(name.to_owned()),
            Some(("ip", name)) => match name.parse() {
                Ok(ip) => self.ips.push(ip),
                Err(_) => return false,
            },
            Some(_) | None => return false,
        }
        true
    }
}

/// An RPC as a server receives it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rpc {
    /// `/package.Service/Method`.
    pub method: String,
    /// `:authority`, compared with the domains of virtual hosts.
    pub authority: String,
    /// Metadata in the order of sending; names in lower case.
    pub headers: Vec<(String, String)>,
    /// Whether the server does not have the method.
    pub is_unimplemented: bool,
    /// Whether the connection has TLS, so that `:scheme` is `https`.
    pub is_https: bool,
}

/// Returns an address in the only form that servers see: an IPv4-mapped IPv6 address is IPv4.
pub(crate) fn plain(address: SocketAddr) -> IpAddr {
    address.ip().to_canonical()
}

/// Returns the values of a header, joined by commas.
pub(crate) fn joined<'r>(headers: &'r [(String, String)], name: &str) -> Option<Cow<'r, str>> {
    joined_by(headers, name, ",", |_| true)
}

/// Returns those values of a header that are passed on, with a text between them.
pub(crate) fn joined_by<'r>(
    headers: &'r [(String, String)],
    name: &str,
    between: &str,
    is_handed_on: impl Fn(&str) -> bool,
) -> Option<Cow<'r, str>> {
    let mut values = headers
        .iter()
        .filter(|(key, value)| key == name && is_handed_on(value))
        .map(|(_, value)| value.as_str());
    let first = values.next()?;
    let mut all = Cow::Borrowed(first);
    for value in values {
        let all = all.to_mut();
        all.push_str(between);
        all.push_str(value);
    }
    Some(all)
}
