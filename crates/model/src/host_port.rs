//! IP addresses with a port, as C-core reads and writes them in text.
//!
//! Follows C-core `StringToSockaddr` (parse_address.cc), `JoinHostPort` and `SplitHostPort`
//! (host_port.cc). These join the address and the port to `host:port`, split that text again, and
//! let the C library read each part. Some texts that are not addresses by themselves therefore
//! pass, such as `[::1]:5`, whose port replaces the port that was joined. The zones of IPv6
//! addresses are network interfaces of the client's machine; `lo` is the only one that is known to
//! exist everywhere.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Largest port.
pub const MAX_PORT: u32 = 65_535;

/// Longest text before a zone, INET6_ADDRSTRLEN of the C library.
const MAX_HOST_BEFORE_ZONE: usize = 46;

/// Reads the text of an address, with `port` unless the text has a port of its own. An IPv6 zone is
/// the `scope_id`, so that two addresses are equal if they are so for the client.
///
/// Accepts an IPv4 dotted quad (four decimal numbers without leading zeros), an IPv6 literal with
/// or without brackets and with a zone (`%` and a number, or `lo`), and a bracketed IPv6 literal
/// followed by `:` and a number, which then is the port. As in the C library the text ends at a
/// NUL.
///
/// ```
/// use xdsctl_model::host_port::parse_ip_port;
/// assert_eq!(parse_ip_port("127.0.0.1", 80), "127.0.0.1:80".parse().ok());
/// assert_eq!(parse_ip_port("[::1]:5", 80), "[::1]:5".parse().ok());
/// assert_eq!(parse_ip_port("127.0.0.1:5", 80), None);
/// ```
pub fn parse_ip_port(text: &str, port: u16) -> Option<SocketAddr> {
    if let Ok(ip) = text.parse::<Ipv4Addr>() {
        return Some(SocketAddr::V4(SocketAddrV4::new(ip, port)));
    }
    if let Ok(ip) = text.parse::<Ipv6Addr>() {
        return Some(SocketAddr::V6(SocketAddrV6::new(ip, port, 0, 0)));
    }
    parse_host_port(&join_host_port(text, i32::from(port)))
}

/// Joins a host and a port with a colon. The host is put in brackets if it has a colon and does not
/// start with a bracket (C-core `JoinHostPort`).
pub fn join_host_port(host: &str, port: i32) -> String {
    if !host.starts_with('[') && host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// Splits `host:port` at the only colon, or after the first closing bracket (C-core
/// `SplitHostPort`). Returns `None` for unbalanced brackets, a bracketed host without a colon, and
/// text other than a port after the bracket.
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

/// Reads `host:port` with an IP address (C-core `grpc_parse_ipv4_hostport`, then
/// `grpc_parse_ipv6_hostport`).
pub fn parse_host_port(text: &str) -> Option<SocketAddr> {
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

/// Returns the part of a text that the C library sees: up to the first NUL.
fn c_text(text: &str) -> &str {
    text.split('\0').next().unwrap_or(text)
}

/// Reads a zone: a decimal number, or the loopback interface.
///
/// The client's overflow check compares with the number before the digit, so a few numbers above
/// 4294967295 wrap around instead of failing (C-core `gpr_parse_bytes_to_uint32`, string.cc).
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
