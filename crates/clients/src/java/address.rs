//! IP addresses as text: Guava's `InetAddresses.forString`, and the JDK's `InetAddress.getByName`, which takes more.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address as Guava reads it: with a zone that is a number, but then not of IPv4 in IPv6, which otherwise is IPv4.
pub(super) fn for_string(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Some(address.into());
    }
    let Some((address, zone)) = text.split_once('%') else {
        return text.parse::<Ipv6Addr>().ok().map(|address| address.to_canonical());
    };
    // Dots are read before the zone is cut off, and find it among the digits.
    let address: Ipv6Addr = address.parse().ok().filter(|_| !address.contains('.'))?;
    // The name of an interface of this host would do, too.
    let is_number = zone.bytes().all(|byte| byte.is_ascii_digit()) && zone.len() < 10;
    Some(IpAddr::V6(address)).filter(|address| is_number && address.to_canonical().is_ipv6())
}

/// Says whether the JDK takes the text without asking DNS. What is left is a name; the client looks it up.
pub(super) fn is_known_by_name(text: &str) -> bool {
    let bracketed = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    match bracketed {
        Some(inner) => is_v6(inner),
        // The empty name is this host.
        None => text.is_empty() || text == "localhost" || is_v4(text) || is_v6(text),
    }
}

/// An IPv4 address of one to four numbers, of which the last fills what is left; zeros may lead.
fn is_v4(text: &str) -> bool {
    let mut parts = text.split('.').rev();
    let (Some(last), count) = (parts.next(), text.split('.').count()) else {
        return false;
    };
    let number = |part: &str| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u64>().ok().filter(|_| is_number)
    };
    let max = |bytes: usize| (1u64 << (8 * bytes)) - 1;
    text.len() <= 15
        && count <= 4
        && number(last).is_some_and(|last| last <= max(5 - count))
        && parts.all(|part| number(part).is_some_and(|part| part <= max(1)))
}

/// An IPv6 address, with a zone if that is a number; a group may have leading zeros.
fn is_v6(text: &str) -> bool {
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    let is_number = |zone: &str| !zone.is_empty() && zone.parse::<u32>().is_ok();
    let short: Vec<&str> = address
        .split(':')
        .map(|group| match group.trim_start_matches('0') {
            "" if !group.is_empty() => "0",
            short if !group.contains('.') => short,
            _ => group,
        })
        .collect();
    let address: Option<Ipv6Addr> = short.join(":").parse().ok();
    address.is_some_and(|address| zone.is_none_or(|zone| is_number(zone) && address.to_ipv4_mapped().is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guava_takes_literals_only() {
        for text in [
            "1.2.3.4",
            "::1",
            "::ffff:1.2.3.4",
            "fe80::1%1",
            "fe80::1%",
            "1:2:3:4:5:6:7::",
        ] {
            assert!(for_string(text).is_some(), "{text:?}");
        }
        assert_eq!(for_string("::ffff:1.2.3.4"), for_string("1.2.3.4"));
        for text in [
            "",
            "1.2.3",
            "01.2.3.4",
            "1.2.3.4%1",
            "::1.2.3.4%1",
            "::ffff:102:304%1",
            "fe80::1%eth9",
            "[::1]",
            "h",
        ] {
            assert!(for_string(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn the_jdk_takes_short_and_bracketed_addresses() {
        for text in [
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "010.0.0.1",
            "4294967295",
            "[::1]",
            "::1%2",
            "0:0:0:0:0:0:0:00001",
        ] {
            assert!(is_known_by_name(text), "{text:?}");
        }
        for text in [
            "a",
            "1.2.3.4.5",
            "256.1.1.1",
            "4294967296",
            "[1.2.3.4]",
            "::1%eth9",
            "::ffff:1.2.3.4%1",
            ":x",
            "1.",
        ] {
            assert!(!is_known_by_name(text), "{text:?}");
        }
    }
}
