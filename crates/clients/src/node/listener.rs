//! Listener, as grpc-js-xds reads it (xds-resource-type/listener-resource-type.ts
//! `validateResource`).
//!
//! The client checks both halves: filter chains count also beside an api_listener.

use super::{fault, filter_chain, http_connection_manager, is_url_of};
use crate::shared::names::HCM;
use crate::shared::rules::{
    LISTENER_FILTERS, NEITHER_CLIENT_NOR_SERVER, NETWORK_FILTER_UNSUPPORTED, NO_FILTER_CHAIN, USE_ORIGINAL_DST,
};
use crate::shared::{Checked, die};
use xdsctl_document::proto::any::ANY_MISSING;
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::listener::v3::Listener as Pb;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// An api_listener is empty, which is accepted and then kills the process of a client.
    API_LISTENER_EMPTY_KILLS = "lds-api-listener-empty-kills", Listener, Fails, "grpc-js-xds xds-dependency-manager.ts, watcher of the Listener";
    /// The address of a range is one that the client takes for an IP address and then cannot read.
    CIDR_ADDRESS_UNREADABLE = "cidr-address-unreadable", Listener, Nack, "grpc-js-xds cidr.ts parseIPv6";
}

/// Converts the resource.
pub(super) fn convert(message: &Pb, cx: &mut Validation<'_>) -> Checked {
    let root = &Path::ROOT;
    let api_at = root.field("api_listener");
    if !cx.has(Feature::FilterChains) {
        return of_client(message, &api_at, cx);
    }
    if let Some(any) = message.api_listener.as_ref().and_then(|api| api.api_listener.as_ref()) {
        connection_manager(any, &api_at.field("api_listener"), cx)?;
    }
    if !message.listener_filters.is_empty() {
        let why = format_args!("listener_filters is not empty, must be");
        fault(&LISTENER_FILTERS, &root.field("listener_filters"), why, cx);
    }
    if message.use_original_dst == Some(true) {
        let why = format_args!("use_original_dst is true, must be false");
        fault(&USE_ORIGINAL_DST, &root.field("use_original_dst"), why, cx);
    }
    filter_chain::list(&message.filter_chains, &root.field("filter_chains"), cx)?;
    let default_at = root.field("default_filter_chain");
    if let Some(chain) = &message.default_filter_chain {
        filter_chain::content(chain, &default_at, cx)?;
    }
    let has_chain = message.default_filter_chain.is_some() || !message.filter_chains.is_empty();
    if message.api_listener.is_none() && !has_chain {
        if message.address.is_some() {
            let why = format_args!("no filter chain, and no default_filter_chain");
            fault(&NO_FILTER_CHAIN, &default_at, why, cx);
        } else {
            let why = format_args!("neither api_listener nor a filter chain is set");
            fault(&NEITHER_CLIENT_NOR_SERVER, root, why, cx);
        }
    }
    let api = message.api_listener.as_ref();
    if api.is_some_and(|api| api.api_listener.is_none()) && !cx.nacked() {
        let why = format_args!("api_listener is empty: it is accepted, and a client's process dies of it");
        return Err(die(&API_LISTENER_EMPTY_KILLS, &api_at, why, cx));
    }
    Ok(())
}

/// Checks a client's Listener, for versions without servers.
fn of_client(message: &Pb, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some(api) = &message.api_listener else {
        let why = format_args!("api_listener is not set, must be");
        fault(&NEITHER_CLIENT_NOR_SERVER, &Path::ROOT, why, cx);
        return Ok(());
    };
    let at = at.field("api_listener");
    match &api.api_listener {
        Some(any) => connection_manager(any, &at, cx),
        None => {
            fault(&ANY_MISSING, &at, format_args!("missing, must hold `{HCM}`"), cx);
            Ok(())
        }
    }
}

fn connection_manager(any: &Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if is_url_of(&any.type_url, HCM) {
        return http_connection_manager::from_any(any, true, at, cx);
    }
    let why = format_args!("`{}` is not supported, must be `{HCM}`", any.type_url);
    fault(&NETWORK_FILTER_UNSUPPORTED, at, why, cx);
    Ok(())
}
