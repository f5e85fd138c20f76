//! A Listener as the client or server keeps it.

use serde_json::{Value, json};

use super::object::{Object, Streaming};
use super::parsed_value::Shown;
use super::{filter, route, tls};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::listener::{
    Cidr, FilterChain, HttpConnectionManager, Listener, RouteSource, SourceType, TcpListener,
};

/// The parsed form of a Listener.
pub fn listener(listener: &Listener) -> Shown<'_> {
    match listener {
        Listener::Api(manager) => Object::new()
            .part("api_listener", http_connection_manager(manager))
            .done(),
        Listener::Tcp(listener) => tcp(listener),
    }
}

fn http_connection_manager(manager: &HttpConnectionManager) -> Shown<'_> {
    let filters: Vec<Value> = manager.http_filters.iter().map(filter::http_filter).collect();
    let object = Object::new()
        .time("max_stream_duration", manager.http_max_stream_duration, Millis(0))
        .put("http_filters", filters);
    match &manager.routes {
        RouteSource::Rds(name) => {
            let rds = Object::new().put("route_config_name", name.as_str()).done();
            Shown::Plain(object.put("rds", rds).done())
        }
        RouteSource::Inline(config) => object.part("route_config", route::route_configuration(config)).done(),
    }
}

fn tcp(listener: &TcpListener) -> Shown<'_> {
    let chain = |index, chain| filter_chain(chain).with(|object| object.put("index", index)).done();
    let destinations: Vec<Value> = listener
        .destinations
        .iter()
        .map(|destination| {
            Object::new()
                .mark(
                    "prefix_range",
                    destination.prefix.as_ref().map_or(json!("any"), cidr),
                    destination.prefix.is_none(),
                )
                .put("filter_chains", json!(destination.chains))
                .done()
        })
        .collect();
    let object = Object::new()
        .put("address", listener.address.as_str())
        .stream("filter_chains", &listener.filter_chains, chain)
        .with(|object| object.list("destinations", destinations));
    match &listener.default_filter_chain {
        Some(chain) => object.part("default_filter_chain", filter_chain(chain).done()),
        None => object.with(|object| object.optional("default_filter_chain", None)),
    }
    .done()
}

fn filter_chain(chain: &FilterChain) -> Streaming<'_> {
    let source_type = match chain.source.source_type {
        SourceType::Any => "ANY",
        SourceType::SameIpOrLoopback => "SAME_IP_OR_LOOPBACK",
        SourceType::External => "EXTERNAL",
    };
    Object::new()
        .set("source_type", source_type, "ANY")
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
