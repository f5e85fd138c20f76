//! Listener, as grpc-java reads it (XdsListenerResource `doParse`).

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::filter_chain::{self, Matches};
use super::http_connection_manager;
use crate::shared::rules::{
    ADDRESS_NOT_LITERAL, ADDRESS_WITHOUT_PORT, LISTENER_FILTERS, NO_FILTER_CHAIN, USE_ORIGINAL_DST,
};
use crate::shared::{Checked, fields, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::TrafficDirection;
use xdsctl_document::proto::pb::envoy::config::core::v3::socket_address::PortSpecifier;
use xdsctl_document::proto::pb::envoy::config::listener::v3::Listener as Pb;
use xdsctl_model::diag::{Effect, Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// A server listener is for outbound traffic, or of a direction that does not exist.
    TRAFFIC_DIRECTION = "lds-traffic-direction", Listener, Nack, "grpc-java parseServerSideListener";
    /// Two filter chains of a listener have one name.
    FILTER_CHAIN_NAME = "lds-filter-chain-name-twice", Listener, Nack, "grpc-java parseServerSideListener";
}

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

/// Converts the Listener of a server (`parseServerSideListener`), which needs neither an address
/// nor a filter chain.
fn server(message: &Pb, root: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    const SERVERS: [i32; 2] = [TrafficDirection::Inbound as i32, TrafficDirection::Unspecified as i32];
    let (wanted, words): (&[i32], _) = match cx.has(Feature::TrafficInbound) {
        true => (&SERVERS[..1], "INBOUND (1)"),
        false => (&SERVERS, "UNSPECIFIED (0) or INBOUND (1)"),
    };
    if !wanted.contains(&message.traffic_direction) {
        let why = format_args!("traffic_direction is {}, must be {words}", message.traffic_direction);
        return Err(reject(&TRAFFIC_DIRECTION, &root.field("traffic_direction"), why, cx));
    }
    if !message.listener_filters.is_empty() {
        let why = format_args!("listener_filters is not empty, must be");
        return Err(reject(&LISTENER_FILTERS, &root.field("listener_filters"), why, cx));
    }
    if let Some(value) = message.use_original_dst {
        let why = format_args!("use_original_dst is set to {value}, must not be set");
        return Err(reject(&USE_ORIGINAL_DST, &root.field("use_original_dst"), why, cx));
    }
    if cx.has(Feature::ListenerAddressChecked) {
        address(message, &root.field("address"), cx)?;
    }
    let at = root.field("filter_chains");
    if message.filter_chains.is_empty() && message.default_filter_chain.is_none() {
        let why = format_args!("there is no filter chain: the server closes every connection");
        let at = root.field("default_filter_chain");
        cx.report_as(Effect::Advice, &NO_FILTER_CHAIN, &at, why);
    }
    let mut names = BTreeSet::new();
    let mut matches = Vec::with_capacity(message.filter_chains.len());
    for (i, chain) in message.filter_chains.iter().enumerate() {
        let here = at.index(i);
        let name = match chain.name.as_str() {
            "" => Cow::Owned(format!("chain_{i}")),
            name => Cow::Borrowed(name),
        };
        if names.contains(&name) && cx.has(Feature::ChainNamesCompared) {
            let why = format_args!("filter chain name `{name}` is that of an earlier chain");
            return Err(reject(&FILTER_CHAIN_NAME, &here.field("name"), why, cx));
        }
        names.insert(name);
        matches.push(filter_chain::parse(chain, &here, cx)?);
    }
    Matches::compare(&matches, &at, cx)?;
    if let Some(chain) = &message.default_filter_chain {
        filter_chain::parse(chain, &root.field("default_filter_chain"), cx)?;
    }
    Ok(())
}

fn address(message: &Pb, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some(socket) = fields::socket(message.address.as_ref()) else {
        return Ok(());
    };
    let at = at.field("socket_address");
    if socket.address.is_empty() {
        let why = format_args!("the address is empty, must not be");
        return Err(reject(&ADDRESS_NOT_LITERAL, &at.field("address"), why, cx));
    }
    if let Some(PortSpecifier::NamedPort(name)) = &socket.port_specifier {
        let why = format_args!("named_port `{name}` is not supported, must be port_value");
        return Err(reject(&ADDRESS_WITHOUT_PORT, &at.field("named_port"), why, cx));
    }
    Ok(())
}
