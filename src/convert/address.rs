//! `envoy.config.core.v3.Address` as an IP address with a port.
//!
//! Follows C-core `ParseXdsAddress` (xds_common_types_parser.cc) and, for the text, `StringToSockaddr`
//! (parse_address.cc): address and port are joined to `host:port`, split again, and each part is read by the C library.
//! Some texts that are no address by themselves therefore pass, such as `[::1]:5`, whose port replaces `port_value`.
//! Network interfaces are the client's own: of the zone names only `lo` is known to exist everywhere.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use crate::diag::{Cx, Path, rules};
use crate::proto::pb::envoy::config::core::v3 as core;

rules! {
    /// An Address is missing.
    ADDRESS_MISSING = "address-missing", Common, Nack, "gRFC A27; C-core ParseXdsAddress";
    /// An Address is not a socket_address.
    ADDRESS_NOT_SOCKET = "address-not-socket-address", Common, Nack, "gRFC A27; C-core ParseXdsAddress";
    /// A port is greater than 65535.
    PORT_OUT_OF_RANGE = "port-out-of-range", Common, Nack, "gRFC A27; C-core ParseXdsAddress";
    /// The text of an address is not an IPv4 or IPv6 literal.
    ADDRESS_NOT_IP = "address-not-ip", Common, Nack, "gRFC A27; C-core ParseXdsAddress, StringToSockaddr";
    /// An address has no port_value, which this client takes for port 0.
    PORT_UNSET = "address-port-unset", Common, Spec, "gRFC A27; C-core ParseXdsAddress";
    /// An address has port 0, where nothing can be reached.
    PORT_ZERO = "address-port-zero", Common, Advice, "C-core ParseXdsAddress",
        every "nobody can connect to port 0";
    /// The text of an address has a port of its own, which replaces port_value.
    PORT_IN_TEXT = "address-port-in-text", Common, Advice, "C-core JoinHostPort, SplitHostPort (host_port.cc)";
}

/// An address and port; IPv6 with its zone as `scope_id`, so that equality is the client's.
pub type ParsedAddress = SocketAddr;

/// Largest port.
const MAX_PORT: u32 = 65_535;

/// Longest text before a zone, INET6_ADDRSTRLEN of the C library.
const MAX_HOST_BEFORE_ZONE: usize = 46;

/// Converts the Address at `at`.
///
/// Reports [`ADDRESS_MISSING`] at `at`; [`ADDRESS_NOT_SOCKET`], [`ADDRESS_NOT_IP`] at `.socket_address`;
/// [`PORT_OUT_OF_RANGE`] at `.socket_address.port_value`, after which the text is not looked at. A `named_port` or no port
/// counts as port 0. `protocol` and `resolver_name` are not read.
pub fn socket_address(address: Option<&core::Address>, at: &Path<'_>, cx: &mut Cx<'_>) -> Option<ParsedAddress> {
    let Some(address) = address else {
        cx.report(&ADDRESS_MISSING, at, format_args!("address is missing"));
        return None;
    };
    let at = at.field("socket_address");
    let Some(core::address::Address::SocketAddress(socket)) = &address.address else {
        cx.report(
            &ADDRESS_NOT_SOCKET,
            &at,
            format_args!("address has no socket_address, no other kind of address is supported"),
        );
        return None;
    };
    let set = match socket.port_specifier {
        Some(core::socket_address::PortSpecifier::PortValue(port)) => Some(port),
        Some(core::socket_address::PortSpecifier::NamedPort(_)) | None => None,
    };
    let port = set.unwrap_or(0);
    let Ok(port) = u16::try_from(port) else {
        cx.report(
            &PORT_OUT_OF_RANGE,
            &at.field("port_value"),
            format_args!("port_value is {port}, must be 0 to {MAX_PORT}"),
        );
        return None;
    };
    let Some(parsed) = parse_ip_port(&socket.address, port) else {
        report_not_ip(&socket.address, &at, cx);
        return None;
    };
    if set.is_none() || parsed.port() == 0 || parsed.port() != port {
        report_port(set, parsed, &at, cx);
    }
    Some(parsed)
}

#[cold]
pub(crate) fn report_not_ip(text: &str, at: &Path<'_>, cx: &mut Cx<'_>) {
    let zone = text
        .rsplit_once('%')
        .map(|(host, zone)| (host, zone.trim_end_matches(']')));
    match zone {
        Some((host, zone)) if is_interface_name(zone) && host.trim_start_matches('[').parse::<Ipv6Addr>().is_ok() => {
            cx.report(
                &ADDRESS_NOT_IP,
                at,
                format_args!(
                    "zone of `{text}` is not a number, so only a host with an interface `{zone}` would accept it"
                ),
            )
            .help("write the zone as a number, or leave it out");
        }
        _ if text.is_empty() => {
            cx.report(
                &ADDRESS_NOT_IP,
                at,
                format_args!("address is empty, must be an IPv4 or IPv6 literal"),
            );
        }
        _ => {
            cx.report(
                &ADDRESS_NOT_IP,
                at,
                format_args!("address `{text}` is not an IPv4 or IPv6 literal"),
            );
        }
    }
}

/// Reports what is odd about the port of an address that the client accepts.
#[cold]
fn report_port(set: Option<u32>, parsed: ParsedAddress, at: &Path<'_>, cx: &mut Cx<'_>) {
    let port_value = at.field("port_value");
    match set {
        None => {
            cx.report(
                &PORT_UNSET,
                at,
                format_args!("port_value is not set, the client takes port {}", parsed.port()),
            )
            .help("set port_value; named_port is not read");
        }
        Some(set) if set != u32::from(parsed.port()) => {
            cx.report(
                &PORT_IN_TEXT,
                &at.field("address"),
                format_args!(
                    "port {} in the text of the address replaces port_value {set}",
                    parsed.port()
                ),
            );
        }
        Some(_) => {
            cx.report(
                &PORT_ZERO,
                &port_value,
                format_args!("port_value is 0, no connection can be made to it"),
            );
        }
    }
}

/// Reads the text of an address, with `port` unless the text brings one of its own.
///
/// Accepts an IPv4 dotted quad (four decimal numbers without leading zeros), an IPv6 literal with or without brackets
/// and with a zone (`%` and a number, or `lo`), and a bracketed IPv6 literal followed by `:` and a number, which then is
/// the port. As in the C library the text ends at a NUL.
///
/// ```
/// use xdsctl::convert::address::parse_ip_port;
/// assert_eq!(parse_ip_port("127.0.0.1", 80), "127.0.0.1:80".parse().ok());
/// assert_eq!(parse_ip_port("[::1]:5", 80), "[::1]:5".parse().ok());
/// assert_eq!(parse_ip_port("127.0.0.1:5", 80), None);
/// ```
pub fn parse_ip_port(text: &str, port: u16) -> Option<ParsedAddress> {
    if let Ok(ip) = text.parse::<Ipv4Addr>() {
        return Some(SocketAddr::V4(SocketAddrV4::new(ip, port)));
    }
    if let Ok(ip) = text.parse::<Ipv6Addr>() {
        return Some(SocketAddr::V6(SocketAddrV6::new(ip, port, 0, 0)));
    }
    parse_host_port(&join_host_port(text, i32::from(port)))
}

/// Joins a host and a port: with a colon, the host in brackets when it has a colon and does not start with a bracket
/// (C-core `JoinHostPort`).
pub fn join_host_port(host: &str, port: i32) -> String {
    if !host.starts_with('[') && host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// Splits `host:port` at the only colon, or behind the first closing bracket; `None` for unbalanced brackets, a bracketed
/// host without a colon, and text other than a port behind the bracket (C-core `SplitHostPort`).
fn split_host_port(text: &str) -> Option<(&str, &str)> {
    let Some(bracketed) = text.strip_prefix('[') else {
        return match text.split_once(':') {
            Some((host, port)) if !port.contains(':') => Some((host, port)),
            _ => Some((text, "")),
        };
    };
    let (host, rest) = bracketed.split_once(']')?;
    let port = if rest.is_empty() { "" } else { rest.strip_prefix(':')? };
    host.contains(':').then_some((host, port))
}

/// Reads `host:port` with an IP address (C-core `grpc_parse_ipv4_hostport`, then `grpc_parse_ipv6_hostport`).
pub(crate) fn parse_host_port(text: &str) -> Option<ParsedAddress> {
    let (host, port) = split_host_port(text)?;
    let port = scan_port(port)?;
    if let Ok(ip) = c_text(host).parse::<Ipv4Addr>() {
        return Some(SocketAddr::V4(SocketAddrV4::new(ip, port)));
    }
    let (ip, scope) = match host.rsplit_once('%') {
        Some((ip, _)) if ip.len() > MAX_HOST_BEFORE_ZONE => return None,
        Some((ip, zone)) => (ip, scope_id(zone)?),
        None => (host, 0),
    };
    let ip = c_text(ip).parse::<Ipv6Addr>().ok()?;
    Some(SocketAddr::V6(SocketAddrV6::new(ip, port, 0, scope)))
}

/// The part of a text that the C library sees: up to the first NUL.
fn c_text(text: &str) -> &str {
    text.split('\0').next().unwrap_or(text)
}

/// Reads a zone: a decimal number, or the loopback interface.
///
/// The client's overflow check compares with the number before the digit, so a few numbers above 4294967295 wrap
/// around instead of failing (C-core `gpr_parse_bytes_to_uint32`, string.cc).
fn scope_id(zone: &str) -> Option<u32> {
    if c_text(zone) == "lo" {
        return Some(1);
    }
    let mut value = 0u32;
    for byte in zone.bytes() {
        let digit = byte.checked_sub(b'0').filter(|d| *d < 10)?;
        let next = value.wrapping_mul(10).wrapping_add(u32::from(digit));
        if next < value {
            return None;
        }
        value = next;
    }
    (!zone.is_empty()).then_some(value)
}

/// Says whether a zone that is not a number could name a network interface (Linux: 1 to 15 bytes, no `/`, `:`, space).
fn is_interface_name(zone: &str) -> bool {
    (1..16).contains(&zone.len()) && !zone.bytes().any(|b| b == b'/' || b == b':' || b <= b' ')
}

/// Reads a port as `scanf("%d")` does: spaces, a sign and digits at the start are enough.
///
/// The number saturates at 64 bits and is then cut to 32, as in glibc.
fn scan_port(text: &str) -> Option<u16> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..)?),
        Some(b'+') => (false, text.get(1..)?),
        _ => (false, text),
    };
    let end = digits.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    let digits = digits.get(..end).filter(|d| !d.is_empty())?;
    let value = digits.bytes().fold(0i64, |value, digit| {
        let digit = i64::from(digit - b'0');
        let value = value.saturating_mul(10);
        if negative {
            value.saturating_sub(digit)
        } else {
            value.saturating_add(digit)
        }
    });
    #[expect(clippy::cast_possible_truncation, reason = "the C library cuts the number to an int")]
    let value = value as i32;
    u16::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let parsed = parse_ip_port(text, 80).map(|a| a.to_string());
        assert_eq!(parsed.as_deref(), expected, "{text:?}");
    }

    #[test]
    fn ipv4_is_four_decimal_numbers() {
        check("1.2.3.4", Some("1.2.3.4:80"));
        check("1.2.3.4\0x", Some("1.2.3.4:80"));
        for text in [
            "",
            "1.2.3",
            "1.2.3.256",
            "01.2.3.4",
            "0x7f.0.0.1",
            "2130706433",
            " 1.2.3.4",
            "1.2.3.4:5",
            "[1.2.3.4]",
            "1.2.3.4%1",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn ipv6_may_have_brackets_a_zone_and_its_own_port() {
        check("::1", Some("[::1]:80"));
        check("[::1]", Some("[::1]:80"));
        check("::ffff:1.2.3.4", Some("[::ffff:1.2.3.4]:80"));
        check("[fe80::1%1]", Some("[fe80::1%1]:80"));
        check("fe80::1%25", Some("[fe80::1%25]:80"));
        check("fe80::1%lo", Some("[fe80::1%1]:80"));
        check("::1%9999999999", Some("[::1%1410065407]:80"));
        for (text, port) in [
            ("5", 5),
            ("5x", 5),
            (" 5", 5),
            ("+5", 5),
            ("65535", 65_535),
            ("4294967301", 5),
            ("0", 0),
        ] {
            check(&format!("[::1]:{text}"), Some(&format!("[::1]:{port}")));
        }
        check("::1]:5", Some("[::1]:5"));
    }

    #[test]
    fn ipv6_rejects() {
        for text in [
            "[::1",
            "[]",
            "[::1]x",
            "[::1]:",
            "[::1]:-1",
            "[::1]:65536",
            "[::1]:+ 5",
            "::1/128",
            "1::2::3",
            "12345::",
            "1:2:3:4:5:6:7:8:9",
            "fe80::1%",
            "fe80::1%1x",
            "fe80::1%eth0",
            "fe80::1%4294967296",
        ] {
            check(text, None);
        }
    }
}
