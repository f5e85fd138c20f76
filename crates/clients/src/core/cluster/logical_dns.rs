//! LOGICAL_DNS clusters (A37): one locality with one endpoint, whose address is a name to resolve.
//!
//! Follows C-core `LogicalDnsParse` (xds_cluster_parser.cc). The client joins address and port, and
//! later reads `dns:` and the result as a URI (xds_dependency_manager.cc, uri.cc), so some names
//! mean something else than they say, and some end the process. Those are found here with the
//! client's own URI rules.

use crate::core::convert::address::{PORT_IN_TEXT, socket_of};
use crate::core::convert::dns_name;
use crate::shared::fields;
use crate::shared::rules::{
    DNS_LOAD_ASSIGNMENT_MISSING, DNS_NAME_EMPTY, DNS_NOT_ONE_ENDPOINT, DNS_PORT_UNSET, DNS_RESOLVER_NAME,
    ENDPOINT_MISSING,
};
use xdsctl_document::proto;
use xdsctl_document::proto::pb::envoy::config::core::v3::SocketAddress;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{ClusterLoadAssignment, LbEndpoint};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::host_port::parse_ip_port;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::cluster::Discovery;

rules! {
    /// A LOGICAL_DNS name makes the client process die as soon as the cluster is used.
    DNS_CRASH = "cds-dns-crash", Cluster, Fails, "C-core xds_dependency_manager.cc, uri.cc";
    /// A LOGICAL_DNS name is read as something else than a host, so RPCs to the cluster fail.
    DNS_NAME_MISREAD = "cds-dns-name-misread", Cluster, Fails, "C-core xds_dependency_manager.cc, uri.cc, host_port.cc";
    /// A LOGICAL_DNS name is none that is ever looked up, so RPCs to the cluster fail.
    DNS_NAME_MALFORMED = "cds-dns-name-malformed", Cluster, Fails, "C-core dns_resolver_ares.cc, c-ares; seen in the client";
    /// A LOGICAL_DNS name is changed before it is resolved.
    DNS_NAME_CHANGED = "cds-dns-name-changed", Cluster, Advice, "C-core xds_dependency_manager.cc, uri.cc";
    /// A LOGICAL_DNS port is 0 or above 65535, so that another port is used than the one given.
    DNS_PORT_OUT_OF_RANGE = "cds-dns-port-out-of-range", Cluster, Fails, "gRFC A37; C-core LogicalDnsParse, dns_resolver_ares.cc";
    /// A field of a LOGICAL_DNS cluster's load_assignment is set, of which only the address is read.
    DNS_FIELD_IGNORED = "cds-dns-field-ignored", Cluster, Ignored, "gRFC A37; C-core LogicalDnsParse",
        also [Go Java Node] "all read the address of a LOGICAL_DNS cluster and nothing else (dnsHostNameFromCluster, processNonAggregateCluster)";
}

/// Converts the `load_assignment` of a LOGICAL_DNS cluster.
pub(super) fn logical_dns(assignment: Option<&ClusterLoadAssignment>, cx: &mut Validation<'_>) -> Option<Discovery> {
    let at = Path::ROOT.field("load_assignment");
    let why = "load_assignment is missing, a LOGICAL_DNS cluster must have one";
    let assignment = cx.required(assignment, &DNS_LOAD_ASSIGNMENT_MISSING, &at, why)?;
    ignored([("policy", assignment.policy.is_some())], &at, cx);
    let at = at.field("endpoints");
    let [locality] = assignment.endpoints.as_slice() else {
        not_one("locality", assignment.endpoints.len(), &at, cx);
        return None;
    };
    let at = at.index(0);
    let weight = locality.load_balancing_weight;
    let of_locality = [
        ("load_balancing_weight", weight.is_some_and(|weight| weight > 1)),
        ("priority", locality.priority != 0),
        ("metadata", locality.metadata.is_some()),
    ];
    ignored(of_locality, &at, cx);
    let at = at.field("lb_endpoints");
    let [endpoint] = locality.lb_endpoints.as_slice() else {
        not_one("endpoint", locality.lb_endpoints.len(), &at, cx);
        return None;
    };
    let at = at.index(0);
    let endpoint: LbEndpoint = proto::kept(endpoint);
    let weight = endpoint.load_balancing_weight;
    let of_entry = [
        ("health_status", endpoint.health_status > 1),
        ("load_balancing_weight", weight.is_some_and(|weight| weight != 1)),
        ("metadata", endpoint.metadata.is_some()),
    ];
    ignored(of_entry, &at, cx);
    let at = at.field("endpoint");
    let why = "endpoint is missing, must have an address";
    let endpoint = cx.required(fields::endpoint(&endpoint), &ENDPOINT_MISSING, &at, why)?;
    let has_more = !endpoint.additional_addresses.is_empty();
    ignored([("additional_addresses", has_more)], &at, cx);
    let at = at.field("address");
    let socket = socket_of(endpoint.address.as_ref(), &at, cx)?;
    host_and_port(socket, &at.field("socket_address"), cx)
}

fn not_one(what: &str, count: usize, at: &Path<'_>, cx: &mut Validation<'_>) {
    cx.report(
        &DNS_NOT_ONE_ENDPOINT,
        at,
        format_args!("a LOGICAL_DNS cluster must have exactly one {what}, has {count}"),
    );
}

/// Converts the name and port.
fn host_and_port(socket: &SocketAddress, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Discovery> {
    let start = cx.mark();
    let (resolver, resolver_at) = (&socket.resolver_name, at.field("resolver_name"));
    let why = format_args!("resolver_name is `{resolver}`, must not be set");
    cx.check(resolver.is_empty(), &DNS_RESOLVER_NAME, &resolver_at, why);
    let why = "address is empty, must be a host name or an IP address";
    cx.check(!socket.address.is_empty(), &DNS_NAME_EMPTY, &at.field("address"), why);
    let why = "port_value is not set, named_port is not read";
    let port = cx.required(fields::port(socket), &DNS_PORT_UNSET, &at.field("port_value"), why);
    let port = port.unwrap_or(0);
    // The client prints the port as an int, so that values from 2^31 become negative.
    let hostname = fields::host_port(socket);
    if !cx.nacked_since(start) {
        advise_port(port, at, cx);
        advise_name(&socket.address, &hostname, port, at, cx);
    }
    Some(Discovery::LogicalDns { hostname })
}

fn advise_port(port: u32, at: &Path<'_>, cx: &mut Validation<'_>) {
    let at = at.field("port_value");
    if port == 0 {
        cx.report(
            &DNS_PORT_OUT_OF_RANGE,
            &at,
            format_args!("port_value is 0, no connection can be made to it"),
        );
    } else if port > u32::from(u16::MAX) {
        cx.report(
            &DNS_PORT_OUT_OF_RANGE,
            &at,
            format_args!("port_value is {port}, the client connects to port {}", port & 0xffff),
        );
    }
}

/// Reports what becomes of the name when `dns:` and `hostname` are read as a URI.
fn advise_name(name: &str, hostname: &str, port: u32, at: &Path<'_>, cx: &mut Validation<'_>) {
    let at = at.field("address");
    let Ok(looked_up) = dns_name::looked_up(hostname) else {
        if !cx.has(Feature::DnsNameCrash) {
            return;
        }
        cx.report(
            &DNS_CRASH,
            &at,
            format_args!(
                "address `{name}` is not a URI as `dns:{hostname}`, the client process dies when the cluster is used"
            ),
        );
        return;
    };
    if name.contains(['?', '#']) {
        cx.report(
            &DNS_NAME_MISREAD,
            &at,
            format_args!(
                "everything from `?` or `#` on is lost with the port, the client resolves `{looked_up}` and port 443"
            ),
        );
    } else if name.contains(':') || name.starts_with('[') {
        let port = (port & u32::from(u16::MAX)) as u16;
        match parse_ip_port(name, port) {
            Some(address) if address.port() == port => {}
            Some(address) => {
                cx.report(
                    &PORT_IN_TEXT,
                    &at,
                    format_args!("port {} in the text of the address replaces port_value", address.port()),
                );
            }
            None => {
                cx.report(
                    &DNS_NAME_MISREAD,
                    &at,
                    format_args!("`{hostname}` does not resolve: `{name}` is neither a host name nor an IPv6 literal"),
                )
                .help("give the port in port_value only");
            }
        }
    } else if let Err(fault) = dns_name::check(&looked_up) {
        cx.report(
            &DNS_NAME_MALFORMED,
            &at,
            format_args!("address `{name}` is not looked up: {fault}, RPCs to the cluster fail"),
        );
    } else if name.contains('%') || name.starts_with('/') {
        cx.report(
            &DNS_NAME_CHANGED,
            &at,
            format_args!("address `{name}` is decoded as a URI path: `%xx` is one byte, one leading `/` is left out"),
        );
    }
}

fn ignored<const N: usize>(fields: [(&'static str, bool); N], at: &Path<'_>, cx: &mut Validation<'_>) {
    for field in fields::set_of(fields) {
        let why = format_args!("not read in a LOGICAL_DNS cluster");
        cx.report(&DNS_FIELD_IGNORED, &at.field(field), why);
    }
}
