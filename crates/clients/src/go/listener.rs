//! Listener, as grpc-go reads it (xdsresource/unmarshal_lds.go `processListener`).

use super::{filter_chain, http_connection_manager, listener_before_maps};
use crate::shared::rules::{
    ADDRESS_NOT_SOCKET, LISTENER_FILTERS, NEITHER_CLIENT_NOR_SERVER, NO_FILTER_CHAIN, USE_ORIGINAL_DST,
};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::{SocketAddress, address::Address};
use xdsctl_document::proto::pb::envoy::config::listener::v3::Listener as Pb;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// Converts the resource.
pub(super) fn convert(message: &Pb, cx: &mut Validation<'_>) -> Checked {
    let root = &Path::ROOT;
    match &message.api_listener {
        Some(api) => {
            let at = root.field("api_listener");
            http_connection_manager::of_client(api.api_listener.as_ref(), &at.field("api_listener"), cx)
        }
        None => server(message, root, cx),
    }
}

/// Converts the Listener of a server (`processServerSideListener`).
fn server(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if cx.has(Feature::ListenerNamed) {
        return listener_before_maps::named(message, root, cx);
    }
    if !message.listener_filters.is_empty() {
        let why = format_args!("listener_filters is not empty, must be");
        return Err(reject(&LISTENER_FILTERS, &root.field("listener_filters"), why, cx));
    }
    if message.use_original_dst == Some(true) {
        let why = format_args!("use_original_dst is true, must be false");
        return Err(reject(&USE_ORIGINAL_DST, &root.field("use_original_dst"), why, cx));
    }
    socket_address(message, root, cx)?;
    if !cx.has(Feature::ChainsMapped) {
        return listener_before_maps::chains(message, root, cx);
    }
    let is_first = cx.has(Feature::DefaultChainFirst);
    if is_first {
        default_chain(message, root, cx)?;
    }
    let at = root.field("filter_chains");
    let has_chain = filter_chain::map(&message.filter_chains, &at, cx)?;
    if !is_first {
        default_chain(message, root, cx)?;
    }
    if !has_chain && message.default_filter_chain.is_none() {
        let why = format_args!("no filter chain is left and there is no default_filter_chain");
        return Err(reject(&NO_FILTER_CHAIN, &root.field("default_filter_chain"), why, cx));
    }
    Ok(())
}

/// Returns the address that a server's Listener must have.
pub(super) fn socket_address<'m>(
    message: &'m Pb,
    root: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<&'m SocketAddress> {
    match message.address.as_ref().map(|address| address.address.as_ref()) {
        Some(Some(Address::SocketAddress(socket))) => Ok(socket),
        Some(_) => {
            let at = root.field("address");
            let why = format_args!("address has no socket_address");
            Err(reject(&ADDRESS_NOT_SOCKET, &at.field("socket_address"), why, cx))
        }
        None => {
            let why = format_args!("neither api_listener nor address is set");
            Err(reject(&NEITHER_CLIENT_NOR_SERVER, root, why, cx))
        }
    }
}

fn default_chain(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match &message.default_filter_chain {
        Some(chain) => filter_chain::content(chain, &root.field("default_filter_chain"), cx),
        None => Ok(()),
    }
}
