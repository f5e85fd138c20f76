//! IP addresses as text: Guava's `InetAddresses.forString`, and the JDK's `InetAddress.getByName`,
//! which takes more.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use xdsctl_model::profile::Feature;

/// Reads an address as Guava does. IPv6 may have a zone that is a number. IPv4 in IPv6 is read as
/// IPv4, and must not have a zone.
pub(super) fn for_string(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Some(address.into());
    }
    let Some((address, zone)) = text.split_once('%') else {
        return text.parse::<Ipv6Addr>().ok().map(|address| address.to_canonical());
    };
    // Guava reads dots before it cuts the zone off, and then finds the zone among the digits.
    let address: Ipv6Addr = address.parse().ok().filter(|_| !address.contains('.'))?;
    // The name of a network interface of this host would be valid too.
    let is_number = zone.bytes().all(|byte| byte.is_ascii_digit()) && zone.len() < 10;
    Some(IpAddr::V6(address)).filter(|address| is_number && address.to_canonical().is_ipv6())
}

/// Reads the address of a range, which is a literal in later versions.
pub(super) fn of_range(text: &str, has: impl Fn(Feature) -> bool) -> Option<IpAddr> {
    match has(Feature::RangesAreLiterals) {
        true => for_string(text),
        false => by_name(text),
    }
}

/// Returns the address that the JDK reads without asking DNS. Any other text is a name, which the
/// client looks up.
pub(super) fn by_name(text: &str) -> Option<IpAddr> {
    let bracketed = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    match bracketed {
        Some(inner) => v6(inner),
        // The empty name is this host.
        None if text.is_empty() || text == "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
        None => v4(text).or_else(|| v6(text)),
    }
}

/// Reads an IPv4 address of one to four numbers, of which the last fills the remaining bytes.
/// Numbers may have leading zeros.
fn v4(text: &str) -> Option<IpAddr> {
    let count = text.split('.').count();
    if text.len() > 15 || count > 4 {
        return None;
    }
    let mut bits = 0;
    for (i, part) in text.split('.').enumerate() {
        let is_last = i + 1 == count;
        let size = if is_last { 8 * (5 - count) } else { 8 };
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let number: u64 = part.parse().ok()?;
        if !is_number || number >> size != 0 {
            return None;
        }
        bits |= if is_last { number } else { number << (24 - 8 * i) };
    }
    u32::try_from(bits).ok().map(|bits| Ipv4Addr::from_bits(bits).into())
}

/// Reads an IPv6 address, with a zone if that is a number. A group may have leading zeros.
fn v6(text: &str) -> Option<IpAddr> {
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    let is_number = |zone: &str| !zone.is_empty() && zone.parse::<u32>().is_ok();
    let short = address.split(':').map(|group| match group.trim_start_matches('0') {
        "" if !group.is_empty() => "0",
        short if !group.contains('.') => short,
        _ => group,
    });
    let address: Ipv6Addr = short.collect::<Vec<_>>().join(":").parse().ok()?;
    let is_taken = zone.is_none_or(|zone| is_number(zone) && address.to_ipv4_mapped().is_none());
    is_taken.then(|| address.to_canonical())
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
            assert!(by_name(text).is_some(), "{text:?}");
        }
        assert_eq!(by_name("10.1"), for_string("10.0.0.1"));
        assert_eq!(by_name("[::1]"), for_string("::1"));
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
            assert!(by_name(text).is_none(), "{text:?}");
        }
    }
}
