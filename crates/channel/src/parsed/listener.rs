//! A Listener as the client or server keeps it.

use super::fields::{FieldValue, Fields, Form};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::listener::{
    Cidr, DestinationChains, FilterChain, HttpConnectionManager, Listener, RouteSource, SourceType, TcpListener,
};

impl Fields for Listener {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        match self {
            Listener::Api(manager) => _ = form.put("api_listener", manager).unprinted("filter_chains", no_chains),
            Listener::Tcp(listener) => tcp(listener, form),
        }
    }
}

const fn no_chains<'a>() -> FieldValue<'a> {
    FieldValue::List(Vec::new())
}

impl Fields for HttpConnectionManager {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.set("max_stream_duration", self.http_max_stream_duration, Millis(0))
            .items("http_filters", &self.http_filters);
        match &self.routes {
            RouteSource::Rds(name) => form.object("rds", move |form| _ = form.put("route_config_name", name)),
            RouteSource::Inline(config) => form.put("route_config", &**config),
        };
    }
}

fn tcp<'a>(listener: &'a TcpListener, form: &mut Form<'a, '_>) {
    let chains = listener.filter_chains.iter().enumerate();
    let chain = |(index, chain): (usize, &'a FilterChain)| {
        FieldValue::named(move |form| {
            chain.fields(form);
            form.put("index", index);
        })
    };
    form.put("address", &listener.address)
        .objects("filter_chains", chains.map(chain), true)
        .list("destinations", &listener.destinations)
        .optional("default_filter_chain", listener.default_filter_chain.as_ref());
}

impl Fields for DestinationChains {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        let range = self.prefix.as_ref().map_or("any".to_owned(), Cidr::to_string);
        form.mark("prefix_range", range, self.prefix.is_none())
            .items("filter_chains", self.chains.iter().copied());
    }
}

impl Fields for FilterChain {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.set("source_type", self.source.source_type.name(), SourceType::Any.name())
            .list("source_prefix_ranges", self.source.prefixes.iter().map(Cidr::to_string))
            .list("source_ports", self.source.ports.iter().copied())
            .optional("transport_socket", self.tls.as_ref())
            .put("http_connection_manager", &self.http_connection_manager);
    }
}
