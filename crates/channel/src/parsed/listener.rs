//! A Listener as the client or server keeps it.

use serde_json::{Value, json};

use super::object::{ParsedObject, Streaming};
use super::parsed_value::ParsedValue;
use super::{filter, route, tls};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::listener::{
    Cidr, FilterChain, HttpConnectionManager, Listener, RouteSource, SourceType, TcpListener,
};

/// The parsed form of a Listener.
pub fn listener(listener: &Listener) -> ParsedValue<'_> {
    match listener {
        Listener::Api(manager) => ParsedObject::new()
            .part("api_listener", http_connection_manager(manager))
            .done(),
        Listener::Tcp(listener) => tcp(listener),
    }
}

fn http_connection_manager(manager: &HttpConnectionManager) -> ParsedValue<'_> {
    let filters: Vec<Value> = manager.http_filters.iter().map(filter::http_filter).collect();
    let object = ParsedObject::new()
        .time("max_stream_duration", manager.http_max_stream_duration, Millis(0))
        .put("http_filters", filters);
    match &manager.routes {
        RouteSource::Rds(name) => {
            let rds = ParsedObject::new().put("route_config_name", name.as_str()).done();
            ParsedValue::Plain(object.put("rds", rds).done())
        }
        RouteSource::Inline(config) => object.part("route_config", route::route_configuration(config)).done(),
    }
}

fn tcp(listener: &TcpListener) -> ParsedValue<'_> {
    let chain = |index, chain| chain_of(chain).with(|object| object.put("index", index)).done();
    let destinations: Vec<Value> = listener
        .destinations
        .iter()
        .map(|destination| {
            ParsedObject::new()
                .mark(
                    "prefix_range",
                    destination.prefix.as_ref().map_or(json!("any"), cidr),
                    destination.prefix.is_none(),
                )
                .put("filter_chains", json!(destination.chains))
                .done()
        })
        .collect();
    let object = ParsedObject::new()
        .put("address", listener.address.as_str())
        .stream("filter_chains", &listener.filter_chains, chain)
        .with(|object| object.list("destinations", destinations));
    match &listener.default_filter_chain {
        Some(chain) => object.part("default_filter_chain", filter_chain(chain)),
        None => object.with(|object| object.optional("default_filter_chain", None)),
    }
    .done()
}

/// The parsed form of a filter chain.
pub fn filter_chain(chain: &FilterChain) -> ParsedValue<'_> {
    chain_of(chain).done()
}

fn chain_of(chain: &FilterChain) -> Streaming<'_> {
    ParsedObject::new()
        .set("source_type", chain.source.source_type.name(), SourceType::Any.name())
        .list("source_prefix_ranges", chain.source.prefixes.iter().map(cidr))
        .list("source_ports", chain.source.ports.iter().map(|port| json!(port)))
        .optional("transport_socket", chain.tls.as_ref().map(tls::downstream))
        .part(
            "http_connection_manager",
            http_connection_manager(&chain.http_connection_manager),
        )
}

fn cidr(range: &Cidr) -> Value {
    range.to_string().into()
}
