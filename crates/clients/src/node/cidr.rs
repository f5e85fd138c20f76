//! IP addresses and ranges of them, as grpc-js-xds reads them (cidr.ts, and Node's `net.isIP`).

use std::net::{Ipv4Addr, Ipv6Addr};

use super::listener::CIDR_ADDRESS_UNREADABLE;
use crate::shared::rules::ADDRESS_NOT_IP;
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::listener::Cidr;

/// Says whether a text is an IP address (`net.isIP`): IPv6 may have a zone, and brackets are never
/// allowed.
pub(super) fn is_ip(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok() || without_zone(text).parse::<Ipv6Addr>().is_ok()
}

/// Returns an IPv6 text without the zone after a `%`, if there is a valid one.
fn without_zone(text: &str) -> &str {
    let is_of_zone = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':');
    match text.split_once('%') {
        Some((address, zone)) if !zone.is_empty() && zone.chars().all(is_of_zone) => address,
        _ => text,
    }
}

/// Reads a range (`cidrRangeMessageToCidrRange`, `normalizeCidrRange`). A prefix length that is too
/// long is cut.
pub(super) fn range(range: &CidrRange, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<Cidr> {
    let text = range.address_prefix.as_str();
    let len = range.prefix_len.unwrap_or(0);
    let at = at.field("address_prefix");
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Ok(Cidr::of_ip(address, len));
    }
    if !is_ip(text) {
        let message = format_args!("`{text}` is not an IP address");
        return Err(reject(&ADDRESS_NOT_IP, &at, message, cx));
    }
    // The client puts the parts of the text together itself, and only knows hexadecimal ones.
    match text.parse::<Ipv6Addr>() {
        Ok(address) if !text.contains('.') => Ok(Cidr::of_ip(address, len)),
        _ => {
            let message = format_args!("`{text}` has a zone or IPv4 in it, must be hexadecimal IPv6");
            Err(reject(&CIDR_ADDRESS_UNREADABLE, &at, message, cx))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_ip;

    #[test]
    fn addresses_are_those_of_node() {
        for text in [
            "10.0.0.1",
            "::",
            "::1",
            "1:2:3:4:5:6:7::",
            "::ffff:1.2.3.4",
            "fe80::1%lo",
            "fe80::1%a-b.c:d",
        ] {
            assert!(is_ip(text), "{text}");
        }
        for text in [
            "",
            "10.0.0",
            "010.0.0.1",
            "10.0.0.1%1",
            "[::1]",
            "fe80::1%",
            "fe80::1%a/b",
            "1::2::3",
            "1:2:3:4:5:6:7:8::",
        ] {
            assert!(!is_ip(text), "{text}");
        }
    }
}
