//! `envoy.config.core.v3.Address` as an IP address with a port.
//!
//! Follows C-core `ParseXdsAddress` (xds_common_types_parser.cc) and, for the text,
//! `StringToSockaddr` (parse_address.cc): address and port are joined to `host:port`, split again,
//! and each part is read by the C library. Some texts that are no address by themselves therefore
//! pass, such as `[::1]:5`, whose port replaces `port_value`. A zone names a network interface of
//! the client's host; only `lo` is known to exist everywhere.

use std::net::{Ipv6Addr, SocketAddr};

use crate::shared::fields;
use crate::shared::rules::{
    ADDRESS_MISSING, ADDRESS_NOT_IP, ADDRESS_NOT_SOCKET, PORT_OUT_OF_RANGE, PORT_UNSET, PORT_ZERO,
};
use xdsctl_document::proto::pb::envoy::config::core::v3 as core;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::host_port::{MAX_PORT, parse_ip_port};

rules! {
    /// The text of an address has a port of its own, which replaces port_value.
    PORT_IN_TEXT = "address-port-in-text", Common, Advice, "C-core JoinHostPort, SplitHostPort (host_port.cc)";
}

/// Returns the socket address in the Address at `at`.
///
/// Reports [`ADDRESS_MISSING`] at `at` and [`ADDRESS_NOT_SOCKET`] at `.socket_address`.
pub fn socket_of<'m>(
    address: Option<&'m core::Address>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<&'m core::SocketAddress> {
    let address = cx.required(address, &ADDRESS_MISSING, at, "address is missing")?;
    let why = "address has no socket_address, no other kind of address is supported";
    let socket = fields::socket(Some(address));
    cx.required(socket, &ADDRESS_NOT_SOCKET, &at.field("socket_address"), why)
}

/// Converts the Address at `at`.
///
/// Reports [`ADDRESS_MISSING`] at `at`; [`ADDRESS_NOT_SOCKET`], [`ADDRESS_NOT_IP`] at
/// `.socket_address`; [`PORT_OUT_OF_RANGE`] at `.socket_address.port_value`, after which the text
/// is not looked at. A `named_port` or no port counts as port 0. `protocol` and `resolver_name` are
/// not read.
pub fn socket_address(address: Option<&core::Address>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<SocketAddr> {
    let socket = socket_of(address, at, cx)?;
    let at = at.field("socket_address");
    let (set, port) = (fields::port(socket), port_of(socket, &at, cx)?);
    let Some(parsed) = parse_ip_port(&socket.address, port) else {
        report_not_ip(&socket.address, &at, cx);
        return None;
    };
    if set.is_none() || parsed.port() == 0 || parsed.port() != port {
        report_port(set, parsed, &at, cx);
    }
    Some(parsed)
}

/// Returns the port of the socket address at `at`. A `named_port` or no port counts as port 0.
///
/// Reports [`PORT_OUT_OF_RANGE`] at `.port_value`.
pub fn port_of(socket: &core::SocketAddress, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<u16> {
    let port = fields::port(socket).unwrap_or(0);
    let why = format_args!("port_value is {port}, must be 0 to {MAX_PORT}");
    cx.required(
        u16::try_from(port).ok(),
        &PORT_OUT_OF_RANGE,
        &at.field("port_value"),
        why,
    )
}

/// Reports that a text is no IP address ([`ADDRESS_NOT_IP`]), and why not.
pub fn report_not_ip(text: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let zone = text
        .rsplit_once('%')
        .map(|(host, zone)| (host, zone.trim_end_matches(']')));
    if let Some((host, zone)) = zone
        && is_interface_name(zone)
        && host.trim_start_matches('[').parse::<Ipv6Addr>().is_ok()
    {
        let why =
            format_args!("zone of `{text}` is not a number, so only a host with an interface `{zone}` would accept it");
        cx.report(&ADDRESS_NOT_IP, at, why)
            .help("write the zone as a number, or leave it out");
        return;
    }
    let what = match text {
        "" => "is empty, must be".to_owned(),
        text => format!("`{text}` is not"),
    };
    cx.report(
        &ADDRESS_NOT_IP,
        at,
        format_args!("address {what} an IPv4 or IPv6 literal"),
    );
}

/// Reports what is odd about the port of an address that the client accepts.
fn report_port(set: Option<u32>, parsed: SocketAddr, at: &Path<'_>, cx: &mut Validation<'_>) {
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

/// Says whether a zone that is not a number could name a network interface (Linux: 1 to 15 bytes,
/// no `/`, `:`, space).
fn is_interface_name(zone: &str) -> bool {
    (1..16).contains(&zone.len()) && !zone.bytes().any(|b| b == b'/' || b == b':' || b <= b' ')
}
