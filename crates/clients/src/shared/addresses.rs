//! Addresses of endpoints, for clients that accept texts that are no IP address.

use std::net::SocketAddr;

use super::rules::{ADDRESS_NOT_IP, PORT_OUT_OF_RANGE};
use super::{OpenedEndpoints, fields};
use xdsctl_document::proto::pb::envoy::config::core::v3::SocketAddress;
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::host_port::{MAX_PORT, parse_ip_port};

/// Returns the IP address in a text, with a port beside it. A text in brackets has a port of its
/// own, which only C-core looks for.
pub(crate) fn ip_address(text: &str, port: u16) -> Option<SocketAddr> {
    match text.starts_with('[') {
        true => None,
        false => parse_ip_port(text, port),
    }
}

/// Reports an address that is no IP address, for clients that accept any text: they look up the
/// name of a host, and cannot connect to anything else.
pub(crate) fn tell_of_address(socket: &SocketAddress, at: &Path<'_>, cx: &mut Validation<'_>) {
    let text = &*socket.address;
    if is_host_name(text) {
        let why = format_args!(
            "`{text}` is no IP address: this client looks it up as it connects, others reject the resource"
        );
        cx.report_as(Effect::Advice, &ADDRESS_NOT_IP, at, why);
    } else if ip_address(text, 0).is_none() {
        let why = format_args!("`{text}` is no IP address: it is accepted, and no connection can be made to it");
        cx.report_if_accepted(&ADDRESS_NOT_IP, at, why);
    }
}

/// Reports a port that is too large, for clients that accept it.
pub(crate) fn tell_of_port(socket: &SocketAddress, at: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(port) = fields::port(socket).filter(|port| *port > MAX_PORT) {
        let why = format_args!("port_value is {port}: it is accepted, and no connection can be made to it");
        cx.report_if_accepted(&PORT_OUT_OF_RANGE, &at.field("port_value"), why);
    }
}

/// Returns the first host name of an endpoint whose health lets it get RPCs.
pub(crate) fn host_name(endpoints: &OpenedEndpoints, is_used: impl Fn(i32) -> bool) -> Option<String> {
    let entries = endpoints.lists.iter().flatten();
    let mut used = entries.filter(|entry| is_used(entry.health_status));
    used.find_map(|entry| {
        let socket = fields::socket(fields::endpoint(entry)?.address.as_ref())?;
        is_host_name(&socket.address).then(|| socket.address.clone())
    })
}

/// Says whether a text in the place of an IP address can be the name of a host. An empty text
/// stands for the machine itself.
fn is_host_name(text: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.is_empty() || text.bytes().all(is_of_name) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}
