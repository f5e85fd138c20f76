//! A connection to a server, who is at its other end, and an RPC on it.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

/// A connection as a server sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The address at the other end.
    pub from: SocketAddr,
    /// The server's own address, which the connection is to.
    pub to: SocketAddr,
    /// What the client speaks.
    pub transport: Transport,
}

/// What a client speaks on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// HTTP/2 without TLS.
    Plaintext,
    /// TLS, with a certificate of its own or without.
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
    /// Not valid before this time; `None` if that is not known.
    pub not_before: Option<i64>,
    /// Not valid after this time.
    pub not_after: Option<i64>,
    /// It does not lead to a root that the server trusts.
    pub is_untrusted: bool,
    /// Its extended key usage is not that of clients.
    pub is_for_others: bool,
}

impl PeerCertificate {
    /// Adds an alternative name: `uri:NAME`, `dns:NAME`, `email:NAME` or `ip:ADDRESS`. Says whether it is one.
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

/// An RPC as it comes in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rpc {
    /// `/package.Service/Method`.
    pub method: String,
    /// `:authority`, compared with the domains of virtual hosts.
    pub authority: String,
    /// Metadata in the order of sending; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The server has no such method.
    pub is_unimplemented: bool,
    /// The connection has TLS, so that `:scheme` is `https`.
    pub is_https: bool,
}

/// An address in the only form that servers see: IPv4 in IPv6 clothes is IPv4.
pub(crate) fn plain(address: SocketAddr) -> IpAddr {
    address.ip().to_canonical()
}

/// The values of a header, joined by a comma.
pub(crate) fn joined<'r>(headers: &'r [(String, String)], name: &str) -> Option<Cow<'r, str>> {
    joined_by(headers, name, ",", |_| true)
}

/// Those values of a header that are handed on, with a text between them.
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
