//! A server's Listener, as grpc-go read it before it made a map of the filter chains: each chain
//! alone (xds/internal/client/xds.go `getFilterChain`), and before that a single chain under the
//! name of its address (`processServerSideListener`).
//!
//! The client does not look at network filters.

use super::filter_chain::{prefixes, transport_socket};
use super::listener::socket_address;
use crate::shared::names::RAW_BUFFER;
use crate::shared::rules::{NO_FILTER_CHAIN, SOURCE_TYPE_UNKNOWN};
use crate::shared::{Checked, fields, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::SocketAddress;
use xdsctl_document::proto::pb::envoy::config::listener::v3::{FilterChain, FilterChainMatch, Listener as Pb};
use xdsctl_model::diag::{Path, Validation, rules};

rules! {
    /// A server's Listener is not named after its address.
    LISTENER_NOT_NAMED = "lds-name-without-address", Listener, Nack, "grpc-go 1.36 processServerSideListener, getAddressFromName";
    /// A server's Listener has several filter chains, or a default one alone.
    NOT_ONE_CHAIN = "lds-not-one-filter-chain", Listener, Nack, "grpc-go 1.36 processServerSideListener";
}

/// The text before the address in a Listener's name.
const ADDRESS_IN_NAME: &str = "udpa.resource.listening_address=";

/// Converts a Listener that must be named after its address.
pub(super) fn named(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let socket = socket_address(message, root, cx)?;
    if !is_named(&message.name, socket) {
        let why = format_args!("the name does not end with `{ADDRESS_IN_NAME}` and the address of the Listener");
        return Err(reject(&LISTENER_NOT_NAMED, &root.field("name"), why, cx));
    }
    let at = root.field("filter_chains");
    let [chain] = message.filter_chains.as_slice() else {
        let why = format_args!("{} filter chains, must be one", message.filter_chains.len());
        return Err(reject(&NOT_ONE_CHAIN, &at, why, cx));
    };
    transport_socket(chain, &at.index(0), cx)
}

/// Says whether the address in a Listener's name (`getAddressFromName`) is that of the Listener.
fn is_named(name: &str, socket: &SocketAddress) -> bool {
    let port = fields::port(socket).unwrap_or(0);
    let Some((_, address)) = name.split_once(ADDRESS_IN_NAME) else {
        return false;
    };
    let host = &socket.address;
    let is_bare = !host.contains([':', '[', ']']) && address == format!("{host}:{port}");
    is_bare || !host.contains(['[', ']']) && address == format!("[{host}]:{port}")
}

/// Converts the chains, each alone. The match of the default chain counts too.
pub(super) fn chains(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let at = root.field("filter_chains");
    for (i, chain) in message.filter_chains.iter().enumerate() {
        alone(chain, &at.index(i), cx)?;
    }
    let at = root.field("default_filter_chain");
    let has_default = match &message.default_filter_chain {
        Some(chain) => alone(chain, &at, cx)?,
        None => false,
    };
    if message.filter_chains.is_empty() && !has_default {
        let why = format_args!("no filter chain is left and there is no default_filter_chain");
        return Err(reject(&NO_FILTER_CHAIN, &at, why, cx));
    }
    Ok(())
}

/// Converts a chain; says whether it can match anything.
fn alone(chain: &FilterChain, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    let any_match = FilterChainMatch::default();
    let matches = chain.filter_chain_match.as_ref().unwrap_or(&any_match);
    let is_supported = matches.destination_port.unwrap_or(0) == 0
        && matches.server_names.is_empty()
        && matches!(matches.transport_protocol.as_str(), "" | RAW_BUFFER)
        && matches.application_protocols.is_empty();
    if !is_supported {
        return Ok(false);
    }
    let here = at.field("filter_chain_match");
    prefixes(&matches.prefix_ranges, &here.field("prefix_ranges"), cx)?;
    if !(0..=2).contains(&matches.source_type) {
        let message = format_args!("source_type {} is not known", matches.source_type);
        return Err(reject(&SOURCE_TYPE_UNKNOWN, &here.field("source_type"), message, cx));
    }
    prefixes(&matches.source_prefix_ranges, &here.field("source_prefix_ranges"), cx)?;
    transport_socket(chain, at, cx)?;
    Ok(true)
}
