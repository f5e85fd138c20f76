//! The lookup that the client makes for a LOGICAL_DNS cluster's name, and the endpoint that it
//! makes of the answer.
//!
//! [`dns_name`] gives the name that is looked up. `core::cluster::logical_dns` reports a name that
//! is looked up otherwise than it was meant, or not at all.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use xdsctl_clients::core::convert::dns_name;
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::Endpoints;
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::resource::endpoints::{Endpoint, Locality, LocalityName};

/// Answers of DNS by `host:port`, as the cluster has it or as the client looks it up.
pub type DnsAnswers = BTreeMap<String, Result<Vec<SocketAddr>, String>>;

/// Why there is no address.
const UNKNOWN: &str = "its address is not known";

/// The port of a name without one (C-core dns_resolver.cc, `kDefaultSecurePort`).
const DEFAULT_PORT: u16 = 443;

/// Says whether a lookup is made for the host name, so that an answer can be given.
pub fn can_be_answered(hostname: &str) -> bool {
    dns_name::looked_up(hostname).is_ok_and(|name| dns_name::check(&name).is_ok())
}

/// Says whether a client never gets an answer for a cluster's DNS name: the port is too big, and
/// the client throws an exception for it.
pub(crate) fn never_resolves(discovery: &Discovery, profile: &Profile) -> bool {
    let Discovery::LogicalDns { hostname } = discovery else {
        return false;
    };
    let port = hostname.rsplit_once(':').and_then(|(_, port)| port.parse::<u64>().ok());
    profile.has(Feature::DnsPortThrows) && port.is_some_and(|port| u16::try_from(port).is_err())
}

/// Says whether the name that this client looks up is already an address.
pub fn is_literal(hostname: &str, profile: &Profile) -> bool {
    match DnsNames::of(profile) {
        DnsNames::Plain => plain_literal(hostname).is_some(),
        DnsNames::RootedUri if hostname.starts_with('/') => false,
        DnsNames::RootedUri | DnsNames::Uri => dns_name::looked_up(hostname).is_ok_and(|name| literal(&name).is_some()),
    }
}

/// How a client reads the name of a LOGICAL_DNS cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DnsNames {
    /// As the path of a URI `dns:NAME`.
    Uri,
    /// As the path of a URI `dns:///NAME`, so that a slash at the start of the name is part of it.
    RootedUri,
    /// As it is written, and not as a URI.
    Plain,
}

impl DnsNames {
    /// Returns how this client reads names.
    pub fn of(profile: &Profile) -> DnsNames {
        if profile.has(Feature::DnsPolicyReplaced) || profile.has(Feature::DnsNameAsIs) {
            DnsNames::Plain
        } else if profile.has(Feature::DnsSlashKept) {
            DnsNames::RootedUri
        } else {
            DnsNames::Uri
        }
    }
}

/// Makes one locality with one endpoint that has all addresses, or without endpoint if there is no
/// answer. Also returns a note on the failure, and whether there is no address.
pub(super) fn from_dns(hostname: &str, dns: &DnsAnswers, names: DnsNames) -> (Option<Arc<Endpoints>>, String, bool) {
    let answer = match dns_name::looked_up(hostname) {
        _ if names == DnsNames::Plain => match (dns.get(hostname), plain_literal(hostname)) {
            (Some(answer), _) => answer.clone(),
            (None, Some(address)) => Ok(vec![address]),
            (None, None) => Err(UNKNOWN.to_owned()),
        },
        Ok(name) => match dns_name::check(&name) {
            Ok(()) if names == DnsNames::RootedUri && hostname.starts_with('/') => {
                answer(hostname, &format!("/{name}"), dns)
            }
            Ok(()) => answer(hostname, &name, dns),
            Err(fault) => Err(format!("Misformatted domain name: {fault}")),
        },
        Err(fault) => Err(format!(
            "not a URI as `dns:{hostname}`, the client's process dies: {fault}"
        )),
    };
    let (addresses, note) = match answer {
        Ok(addresses) => (addresses, String::new()),
        Err(why) => {
            let note = format!("DNS resolution failed for {hostname}: UNAVAILABLE: {why}");
            (Vec::new(), note)
        }
    };
    let mut addresses = addresses.into_iter();
    let endpoint = addresses.next().map(|address| Endpoint {
        additional_addresses: addresses.collect(),
        hostname: hostname.to_owned(),
        ..Endpoint::of(0, address)
    });
    let is_unresolved = endpoint.is_none();
    let locality = Locality {
        index: 0,
        name: LocalityName::default(),
        weight: 1,
        left_out_weight: 0,
        endpoints: endpoint.into_iter().collect(),
    };
    let endpoints = Endpoints {
        priorities: vec![vec![locality]],
        drops: None,
        host_name: None,
    };
    (Some(Arc::new(endpoints)), note, is_unresolved)
}

/// Returns what DNS answers for `name`, which the client looks up for `hostname`.
fn answer(hostname: &str, name: &str, dns: &DnsAnswers) -> Result<Vec<SocketAddr>, String> {
    // An answer for the name as the cluster has it will do, unless the URI cuts off the port.
    let is_whole = !hostname.contains(['?', '#']);
    let written = is_whole.then(|| dns.get(hostname)).flatten();
    match (dns.get(name).or(written), literal(name)) {
        (Some(answer), _) => answer.clone(),
        (None, Some(address)) => Ok(vec![address]),
        (None, None) => Err(UNKNOWN.to_owned()),
    }
}

/// Returns the address, if the name is one and needs no lookup. The name is a host and a port and
/// nothing else (grpc-js `splitHostPort`). With a second colon it is a host alone.
fn plain_literal(name: &str) -> Option<SocketAddr> {
    let (host, port) = match name.split_once(':') {
        _ if name.starts_with('[') => name.strip_prefix('[')?.rsplit_once("]:")?,
        Some((host, port)) if !port.contains(':') => (host, port),
        _ => return Some(SocketAddr::new(name.parse().ok()?, DEFAULT_PORT)),
    };
    // Nothing can be connected to a port that is too big.
    let port = port.parse::<u64>().ok()?;
    Some(SocketAddr::new(host.parse().ok()?, u16::try_from(port).unwrap_or(0)))
}

/// Returns the address, if the name is one and needs no lookup. Of a port that is too big the
/// client takes the low 16 bits.
fn literal(name: &str) -> Option<SocketAddr> {
    let ip = |host: &str| {
        let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        inner.unwrap_or(host).parse::<IpAddr>().ok()
    };
    if let Some(ip) = ip(name) {
        return Some(SocketAddr::new(ip, DEFAULT_PORT));
    }
    let (host, port) = name.rsplit_once(':')?;
    let port = u16::try_from(port.parse::<i64>().ok()? & 0xffff).ok()?;
    Some(SocketAddr::new(ip(host)?, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(hostname: &str, known: &[(&str, &str)]) -> Vec<String> {
        addresses_by(hostname, known, DnsNames::Uri)
    }

    fn addresses_by(hostname: &str, known: &[(&str, &str)], names: DnsNames) -> Vec<String> {
        let of = |(name, address): &(&str, &str)| ((*name).to_owned(), Ok(vec![address.parse().unwrap()]));
        let (endpoints, _, _) = from_dns(hostname, &known.iter().map(of).collect(), names);
        let endpoints = endpoints.unwrap();
        let endpoints = endpoints.priorities[0][0].endpoints.iter();
        endpoints.map(|endpoint| endpoint.address.to_string()).collect()
    }

    /// `ok-slash`, `ok-fragment` and `named-group` of the recorded CDS-DNS-CRASH configurations.
    #[test]
    fn the_name_is_looked_up_as_the_client_reads_it() {
        assert_eq!(addresses("/127.0.8.1:7103", &[]), ["127.0.8.1:7103"]);
        assert_eq!(addresses("127.0.8.1#x:7103", &[]), ["127.0.8.1:443"]);
        let known = [("(?<x>a):7103", "127.0.8.1:7103"), ("a#x:80", "127.0.8.1:80")];
        assert_eq!(addresses("(?<x>a):7103", &known), [""; 0]);
        assert_eq!(addresses("a#x:80", &known), [""; 0]);
    }

    #[test]
    fn below_a_root_a_slash_is_a_part_of_the_name() {
        let rooted = |name, known: &[(&str, &str)]| addresses_by(name, known, DnsNames::RootedUri);
        assert_eq!(rooted("/127.0.8.1:7103", &[]), [""; 0]);
        assert_eq!(rooted("127.0.8.1:7103", &[]), ["127.0.8.1:7103"]);
        assert_eq!(rooted("/a:80", &[("/a:80", "127.0.0.1:80")]), ["127.0.0.1:80"]);
    }

    #[test]
    fn a_plain_name_is_a_host_and_a_port() {
        let literal = |name| plain_literal(name).map(|address| address.to_string());
        assert_eq!(literal("127.0.8.1:80").as_deref(), Some("127.0.8.1:80"));
        assert_eq!(literal("[::1]:80").as_deref(), Some("[::1]:80"));
        assert_eq!(literal("127.0.8.1:65536").as_deref(), Some("127.0.8.1:0"));
        assert_eq!(literal("::1:80").as_deref(), Some("[::1:80]:443"));
        for name in ["/127.0.8.1:7103", "127.0.8.1#x:7103", "127.0.8.1:7103:80"] {
            assert_eq!(literal(name), None, "{name}");
        }
    }

    #[test]
    fn an_answer_may_be_for_the_name_as_written_or_as_looked_up() {
        for name in ["/a%2Eb:80", "a.b:80"] {
            assert_eq!(addresses("/a%2Eb:80", &[(name, "127.0.0.1:80")]), ["127.0.0.1:80"]);
        }
    }

    #[test]
    fn a_port_that_is_too_big_loses_its_high_bits() {
        assert_eq!(addresses("127.0.0.1:65536", &[]), ["127.0.0.1:0"]);
        assert_eq!(addresses("[::1]:-1", &[]), ["[::1]:65535"]);
    }
}
