//! What a server's line says about a connection or an RPC: who asked whom for what.
//!
//! `xdsctl admit` can then be asked about it. Addresses are read only if they can be parsed, and a
//! method only behind the word `method`. What cannot be read stays open for the user to fill in.

use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

use super::squeeze::Squeezed;

/// Pages about things that happen in servers only.
const PAGES: [&str; 8] = [
    "server-method-unknown",
    "server-not-serving",
    "server-listener-missing",
    "server-listener-api",
    "server-listener-other-address",
    "rbac-denied",
    "connection-drained",
    "hcm-route-action-for-other-side",
];

/// Texts that only servers write, in lower case and without white space.
const WORDS: &str = "\
    xds-server xds_server| |server| [server# serverlistener serverhandshake( [port: incomingrpc listeningaddress connectionfrom \
    unavailable:unavailable: didn'tprovideacertificate peer_did_not_return_a_certificate emptyclientcertificatechain";

/// What a server writes about a caller that has shown no certificate; in lower case, without white
/// space.
const NO_CERTIFICATE: &str = "didn'tprovideacertificate peer_did_not_return_a_certificate emptyclientcertificatechain";

/// What a server writes about a certificate that it rejects.
const BAD_CERTIFICATE: &str = "x509: certificate_verify_failed";

/// The words before the address that a server listens on.
const BEFORE_LISTEN: [&str; 4] = ["Listener \"", "for port ", "listening address: (", "serving on "];

/// The words before the address of a caller.
const BEFORE_CALLER: [&str; 4] = [
    "onnection from ",
    "ServerHandshake(",
    "onnection from {\"address\":\"",
    "security handshake from ",
];

/// What a server's line says; `None` for what it leaves open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AtServer {
    /// The address that the server listens on: an IP address and a port.
    pub listen: Option<String>,
    /// The caller's address, with or without its port.
    pub from: Option<String>,
    /// The server's own IP address on this connection.
    pub to: Option<IpAddr>,
    /// The method of the RPC.
    pub method: Option<String>,
    /// The authority of the RPC.
    pub authority: Option<String>,
    /// The RBAC policy that denied the RPC.
    pub policy: Option<String>,
    /// Whether the caller uses TLS.
    #[serde(rename = "over_tls")]
    pub is_over_tls: bool,
    /// Whether the caller has shown a certificate.
    #[serde(rename = "certificate")]
    pub shows_certificate: bool,
}

/// Returns what a line that leads to `page` says about a connection or RPC, if a server wrote it.
pub(super) fn told(squeezed: &Squeezed, page: &str, resource: Option<&str>) -> Option<AtServer> {
    let has = |list: &str| {
        list.split_ascii_whitespace()
            .any(|words| squeezed.lower.contains(words))
    };
    let named = resource.and_then(listening);
    if !PAGES.contains(&page) && named.is_none() && !has(WORDS) {
        return None;
    }
    let line = squeezed.line();
    let behind = |words: &str| line.split_once(words).map(|(_, rest)| rest);
    let first = |all: &[&str]| all.iter().filter_map(|words| behind(words)).find_map(address);
    let port = behind("[port:").and_then(|rest| rest.split_once(']')?.0.parse::<u16>().ok());
    let quoted = |rest: &str| Some(rest.split_once('"')?.0.to_owned()).filter(|name| is_plain(name));
    let shows_certificate = has(BAD_CERTIFICATE);
    Some(AtServer {
        is_over_tls: shows_certificate || has(NO_CERTIFICATE),
        shows_certificate,
        listen: named
            .or_else(|| listening(behind("resource \"")?.split_once('"')?.0))
            .or_else(|| first(&BEFORE_LISTEN).and_then(|(ip, port)| Some(SocketAddr::new(ip, port?).to_string())))
            .or_else(|| port.map(|port| format!("0.0.0.0:{port}"))),
        from: first(&BEFORE_CALLER).map(written),
        to: behind("onnection from ")
            .and_then(|rest| rest.split_once(" to "))
            .and_then(|(_, rest)| address(rest))
            .map(|(ip, _)| ip),
        method: behind("method").and_then(method),
        authority: behind("VirtualHost for ")
            .and_then(|rest| rest.split_once(" in RouteConfiguration"))
            .map(|(name, _)| name.to_owned())
            .filter(|name| is_plain(name)),
        policy: behind("deny policy \"").and_then(quoted),
    })
}

/// Returns the address at the end of a server's Listener name, where a template puts it. The name
/// of a client's Listener may end in the same way.
fn listening(name: &str) -> Option<String> {
    if !["=", "server", "inbound"].iter().any(|words| name.contains(words)) {
        return None;
    }
    let last = name.rsplit(['=', '/']).next()?;
    let address: SocketAddr = last.parse().ok()?;
    (last.len() < name.len()).then(|| address.to_string())
}

/// Returns the address at the start of a text, behind quotes and the characters that Java writes
/// before it.
fn address(text: &str) -> Option<(IpAddr, Option<u16>)> {
    let text = text.trim_start_matches(['"', '\'', '(', '/', ' ']);
    let end = text.find(|c: char| !c.is_ascii_hexdigit() && !".:[]".contains(c));
    let text = text.get(..end.unwrap_or(text.len()))?.trim_end_matches(['.', ':']);
    let (ip, port) = match text.parse::<SocketAddr>() {
        Ok(address) => (address.ip(), Some(address.port())),
        Err(_) => (text.parse().ok()?, None),
    };
    Some((ip.to_canonical(), port))
}

fn written((ip, port): (IpAddr, Option<u16>)) -> String {
    port.map_or_else(|| ip.to_string(), |port| SocketAddr::new(ip, port).to_string())
}

/// Returns the method at the start of a text that follows the word `method`.
fn method(text: &str) -> Option<String> {
    let text = text.trim_start_matches([' ', ':', '=', '"', '\'']);
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"/._".contains(c));
    let text = text.get(..end.unwrap_or(text.len()))?;
    let (service, method) = text.strip_prefix('/')?.split_once('/')?;
    (!service.is_empty() && !method.is_empty()).then(|| text.to_owned())
}

/// Says whether a word needs no quotes in a shell.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "._-:/[]".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: &str) -> Option<AtServer> {
        told(&Squeezed::of(line), "x", None)
    }

    #[test]
    fn a_line_tells_who_came_where() {
        let go = at("[xds-server-listener 0xc1] Connection from 127.0.0.2:39360 to 127.0.0.1:7102 failed to find any")
            .unwrap();
        assert_eq!(go.from.as_deref(), Some("127.0.0.2:39360"));
        assert_eq!(go.to, "127.0.0.1".parse().ok());
        let java = at("Connection from /10.0.0.9:5 to /10.0.0.1:80 has no matching filter chain. Closing").unwrap();
        assert_eq!(java.from.as_deref(), Some("10.0.0.9:5"));
        let node = at("xds_server | Rejecting connection from ::ffff:127.0.0.2: No filter matched").unwrap();
        assert_eq!(node.from.as_deref(), Some("127.0.0.2"));
        assert_eq!(at("a client's line, from 10.0.0.9:5 to 10.0.0.1:80"), None);
    }

    #[test]
    fn a_handshake_tells_what_the_caller_speaks() {
        let of = |words: &str| {
            let told = at(&format!(
                "[Server #2] ServerHandshake(\"10.0.0.7:5\") failed: tls: {words}"
            ))
            .unwrap();
            (told.is_over_tls, told.shows_certificate)
        };
        assert_eq!(of("first record does not look like a TLS handshake"), (false, false));
        assert_eq!(of("client didn't provide a certificate"), (true, false));
        assert_eq!(
            of("failed to verify certificate: x509: certificate signed by unknown authority"),
            (true, true)
        );
        assert_eq!(
            at("E ssl.cc] Handshake failed: CERTIFICATE_VERIFY_FAILED: certificate has expired"),
            None
        );
    }

    #[test]
    fn a_server_is_known_by_its_port_or_its_listener() {
        let listen = |line: &str| at(line).and_then(|told| told.listen);
        let go = "[xds-server 0xc0] entering mode: \"NOT_SERVING\" due to error: resource \"grpc/server?address=10.0.0.1:80\" of type";
        assert_eq!(listen(go).as_deref(), Some("10.0.0.1:80"));
        assert_eq!(
            listen("WARNING: [port:50051] NOT_FOUND: x").as_deref(),
            Some("0.0.0.0:50051")
        );
        assert_eq!(
            listen("xds-server Listener \"[::]:17070\" entering mode").as_deref(),
            Some("[::]:17070")
        );
        assert_eq!(
            listening("grpc/server?address=0.0.0.0:7102").as_deref(),
            Some("0.0.0.0:7102")
        );
        assert_eq!(listening("a/lds/inbound/[::]:17070").as_deref(), Some("[::]:17070"));
        assert_eq!(listening("10.0.0.1:80"), None);
        assert_eq!(
            listening("xdstp://a/envoy.config.listener.v3.Listener/10.0.0.1:80"),
            None
        );
    }

    #[test]
    fn an_rpc_is_told_only_where_it_stands() {
        let told = at("incoming RPC to method=/shop.Cart/Pay matched a deny policy \"admins\"").unwrap();
        assert_eq!(told.method.as_deref(), Some("/shop.Cart/Pay"));
        assert_eq!(told.policy.as_deref(), Some("admins"));
        let none = at("incoming RPC, method Pay, matched a deny policy \"$(x)\"").unwrap();
        assert_eq!((none.method, none.policy), (None, None));
        let host = at("UNAVAILABLE: UNAVAILABLE:could not find VirtualHost for a.test in RouteConfiguration").unwrap();
        assert_eq!(host.authority.as_deref(), Some("a.test"));
    }
}
