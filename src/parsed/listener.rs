//! A Listener as the client or server keeps it.

use serde_json::{Value, json};

use super::object::Object;
use super::{filter, route, tls};
use crate::model::Millis;
use crate::model::listener::{
    Cidr, FilterChain, HttpConnectionManager, Listener, RouteSource, SourceType, TcpListener,
};

pub(super) fn listener(listener: &Listener) -> Value {
    match listener {
        Listener::Api(manager) => Object::new()
            .put("api_listener", http_connection_manager(manager))
            .done(),
        Listener::Tcp(listener) => tcp(listener),
    }
}

fn http_connection_manager(manager: &HttpConnectionManager) -> Value {
    let filters: Vec<Value> = manager.http_filters.iter().map(filter::http_filter).collect();
    let object = match &manager.routes {
        RouteSource::Rds(name) => {
            Object::new().put("rds", Object::new().put("route_config_name", name.as_str()).done())
        }
        RouteSource::Inline(config) => Object::new().put("route_config", route::route_configuration(config)),
    };
    object
        .time("max_stream_duration", manager.http_max_stream_duration, Millis(0))
        .put("http_filters", filters)
        .done()
}

fn tcp(listener: &TcpListener) -> Value {
    let chains: Vec<Value> = listener
        .filter_chains
        .iter()
        .enumerate()
        .map(|(index, chain)| filter_chain(chain).put("index", index).done())
        .collect();
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
    let default = listener.default_filter_chain.as_ref().map(|c| filter_chain(c).done());
    Object::new()
        .put("address", listener.address.as_str())
        .list("filter_chains", chains)
        .list("destinations", destinations)
        .optional("default_filter_chain", default)
        .done()
}

fn filter_chain(chain: &FilterChain) -> Object {
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
        .put(
            "http_connection_manager",
            http_connection_manager(&chain.http_connection_manager),
        )
}

fn cidr(range: &Cidr) -> Value {
    range.to_string().into()
}
