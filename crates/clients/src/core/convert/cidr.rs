//! `envoy.config.core.v3.CidrRange` in a listener's filter chain match.
//!
//! The text is read like any other address (so an IPv6 literal may bring a zone and a port),
//! prefix_len is cut to the address's length, and the bits behind it are cleared. Follows C-core
//! `CidrRangeParse` (xds_listener_parser.cc) and `grpc_sockaddr_mask_bits` (sockaddr_utils.cc).
//! RBAC reads its ranges in another way, without any check.

use crate::shared::rules::CIDR_PREFIX_LEN_TOO_LONG;
use xdsctl_document::proto::pb::envoy::config::core::v3 as core;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::host_port::parse_ip_port;
use xdsctl_model::resource::listener::Cidr;

rules! {
    /// A range names an address and no prefix_len, and thus is every address.
    CIDR_PREFIX_LEN_UNSET = "cidr-prefix-len-unset", Listener, Advice, "C-core CidrRangeParse";
}

/// Converts the CidrRange at `at`.
///
/// Reports [`ADDRESS_NOT_IP`](crate::shared::rules::ADDRESS_NOT_IP) at `.address_prefix`. An absent
/// prefix_len is 0.
pub fn cidr_range(range: &core::CidrRange, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Cidr> {
    let Some(address) = parse_ip_port(&range.address_prefix, 0) else {
        super::address::report_not_ip(&range.address_prefix, &at.field("address_prefix"), cx);
        return None;
    };
    let max: u32 = if address.is_ipv4() { 32 } else { 128 };
    match range.prefix_len {
        Some(len) if len > max => {
            cx.report(
                &CIDR_PREFIX_LEN_TOO_LONG,
                &at.field("prefix_len"),
                format_args!("prefix_len is {len}, the client takes {max}"),
            );
        }
        None if !address.ip().is_unspecified() => {
            cx.report(
                &CIDR_PREFIX_LEN_UNSET,
                at,
                format_args!(
                    "no prefix_len, so the range of `{}` is every address",
                    range.address_prefix
                ),
            )
            .help(format!("set prefix_len, to {max} for the one address"));
        }
        _ => {}
    }
    Some(Cidr::new(address, range.prefix_len.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::profile::{Profile, ServerFacts};

    fn check(address_prefix: &str, prefix_len: Option<u32>) -> (Option<String>, Vec<(&'static str, String)>) {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let range = core::CidrRange {
            address_prefix: address_prefix.to_owned(),
            prefix_len,
        };
        let cidr = cidr_range(&range, &Path::ROOT, &mut cx).map(|c| c.to_string());
        let found = cx.finish().into_iter().map(|d| (d.rule.id, d.path.to_string()));
        (cidr, found.collect())
    }

    #[test]
    fn host_bits_are_cleared() {
        for (address, len, cidr) in [
            ("10.1.2.3", 0, "0.0.0.0/0"),
            ("10.1.2.3", 9, "10.0.0.0/9"),
            ("10.1.2.3", 31, "10.1.2.2/31"),
            ("10.1.2.3", 32, "10.1.2.3/32"),
            ("ffff:ffff:ffff:ffff::1", 0, "::/0"),
            ("ffff:ffff:ffff:ffff::1", 33, "ffff:ffff:8000::/33"),
            ("[ffff::1]", 128, "ffff::1/128"),
        ] {
            assert_eq!(check(address, Some(len)), (Some(cidr.to_owned()), vec![]));
        }
    }

    #[test]
    fn a_length_beyond_the_address_is_cut() {
        let found = vec![("cidr-prefix-len-too-long", "prefix_len".to_owned())];
        assert_eq!(
            check("10.1.2.3", Some(33)),
            (Some("10.1.2.3/32".to_owned()), found.clone())
        );
        assert_eq!(check("::1", Some(256)), (Some("::1/128".to_owned()), found));
    }

    #[test]
    fn no_length_is_everything() {
        let found = vec![("cidr-prefix-len-unset", String::new())];
        assert_eq!(check("10.1.2.3", None), (Some("0.0.0.0/0".to_owned()), found));
        assert_eq!(check("::", None), (Some("::/0".to_owned()), vec![]));
    }

    #[test]
    fn text_that_is_no_address_is_rejected_at_address_prefix() {
        for text in ["", "10.1.2", "10.1.2.3/8", "localhost"] {
            assert_eq!(
                check(text, Some(8)),
                (None, vec![("address-not-ip", "address_prefix".to_owned())])
            );
        }
    }
}
