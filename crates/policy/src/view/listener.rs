//! Listeners and their HTTP filters.

use super::{Named, duration, filter_config, object, objects, optional, text};
use crate::cel::{Record, Value, View};
use xdsctl_model::resource::Listener;
use xdsctl_model::resource::filter::HttpFilter;
use xdsctl_model::resource::listener::{FilterChain, HttpConnectionManager, RouteSource};

impl<'a> View<'a> for Named<'a, Listener> {
    fn get(&self, field: &str) -> Value<'a> {
        let Named(name, of) = *self;
        match (field, of) {
            ("name", _) => text(name),
            ("api_listener", Listener::Api(manager)) => object(manager),
            ("address", Listener::Tcp(tcp)) => text(&tcp.address),
            ("filter_chains", Listener::Tcp(tcp)) => objects(&tcp.filter_chains),
            ("filter_chains", Listener::Api(_)) => Value::list([]),
            ("default_filter_chain", Listener::Tcp(tcp)) => optional(tcp.default_filter_chain.as_ref(), object),
            _ => Value::Null,
        }
    }
}

impl Record for HttpConnectionManager {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match (field, &self.routes) {
            ("max_stream_duration", _) => duration(self.http_max_stream_duration),
            ("http_filters", _) => objects(&self.http_filters),
            ("rds", RouteSource::Rds(name)) => Value::object(Rds(name)),
            ("route_config", RouteSource::Inline(routes)) => Value::object(Named("", &**routes)),
            _ => Value::Null,
        }
    }
}

struct Rds<'a>(&'a str);

impl<'a> View<'a> for Rds<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "route_config_name" => text(self.0),
            _ => Value::Null,
        }
    }
}

impl Record for FilterChain {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        let of = self;
        match field {
            "source_type" => text(of.source.source_type.name()),
            "source_prefix_ranges" => {
                Value::list(of.source.prefixes.iter().map(|range| Value::text(range.to_string())))
            }
            "source_ports" => Value::list(of.source.ports.iter().map(|port| Value::int(*port))),
            "transport_socket" => optional(of.tls.as_ref(), object),
            "http_connection_manager" => object(&of.http_connection_manager),
            _ => Value::Null,
        }
    }
}

impl Record for HttpFilter {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "index" => Value::int(self.index),
            "name" => text(&self.name),
            "disabled" => Value::Bool(self.disabled),
            "config" => filter_config(&self.config, false),
            _ => Value::Null,
        }
    }
}
