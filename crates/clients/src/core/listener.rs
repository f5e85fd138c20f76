//! Listener: the API listener of a client channel, or the TCP listener of a server (A27, A36).
//!
//! `api_listener` decides: with it, everything that a server would read is ignored. Follows C-core
//! `LdsResourceParse`, `LdsResourceParseClient` and `LdsResourceParseServer`
//! (xds_listener_parser.cc), in their order and without short-circuits between the fields.

use super::filter_chain;
use super::filter_chain_map;
use super::http_connection_manager::{self, ListenerSide};
use crate::core::convert::address::{port_of, socket_of};
use crate::shared::chain_policies;
use crate::shared::fields;
use crate::shared::rules::{
    ADDRESS_NOT_LITERAL, ADDRESS_WITHOUT_PORT, NEITHER_CLIENT_NOR_SERVER, NO_FILTER_CHAIN, USE_ORIGINAL_DST,
};
use xdsctl_document::proto::pb::envoy::config::core::v3 as core;
use xdsctl_document::proto::pb::envoy::config::listener::v3 as pb;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::host_port::{join_host_port, parse_ip_port};
use xdsctl_model::resource::listener::TcpListener;
use xdsctl_model::resource::{self, Resource};

rules! {
    /// A Listener with an api_listener has fields for servers.
    SERVER_FIELD_IGNORED = "lds-server-field-beside-api-listener", Listener, Ignored, "C-core LdsResourceParse",
        also [Go Java] "both read an api_listener before everything else";
    /// A server's address is not a TCP address.
    ADDRESS_NOT_TCP = "lds-address-not-tcp", Listener, Nack, "gRFC A36; C-core AddressParse";
    /// The default filter chain has a match, which is not used.
    DEFAULT_CHAIN_MATCH = "lds-default-filter-chain-match", Listener, Ignored, "gRFC A36; C-core LdsResourceParseServer";
}

/// Converts the resource.
pub fn convert(message: &pb::Listener, cx: &mut Validation<'_>) -> Option<Resource> {
    let listener = match (&message.api_listener, &message.address) {
        (Some(api), _) => client(message, api, cx)?,
        (None, address) => {
            let why = "neither api_listener nor address is set, so it is for neither a client nor a server";
            let address = cx.required(address.as_ref(), &NEITHER_CLIENT_NOR_SERVER, &Path::ROOT, why)?;
            server(message, address, cx)?
        }
    };
    Some(Resource::Listener(listener))
}

fn client(message: &pb::Listener, api: &pb::ApiListener, cx: &mut Validation<'_>) -> Option<resource::Listener> {
    let for_servers = [
        ("address", message.address.is_some()),
        ("filter_chains", !message.filter_chains.is_empty()),
        ("use_original_dst", message.use_original_dst.is_some()),
        ("default_filter_chain", message.default_filter_chain.is_some()),
    ];
    for field in fields::set_of(for_servers) {
        cx.report(
            &SERVER_FIELD_IGNORED,
            &Path::ROOT.field(field),
            format_args!("gRPC does not read {field} when api_listener is set"),
        );
    }
    let outer = Path::ROOT.field("api_listener");
    let inner = outer.field("api_listener");
    http_connection_manager::from_any(api.api_listener.as_ref(), ListenerSide::Client, &inner, cx)
        .map(resource::Listener::Api)
}

fn server(message: &pb::Listener, address: &core::Address, cx: &mut Validation<'_>) -> Option<resource::Listener> {
    let mark = cx.mark();
    let address = server_address(address, &Path::ROOT.field("address"), cx);
    let (dst, dst_at) = (message.use_original_dst, Path::ROOT.field("use_original_dst"));
    let why = "use_original_dst is true, must be false";
    cx.check(dst != Some(true), &USE_ORIGINAL_DST, &dst_at, why);
    let chains_at = Path::ROOT.field("filter_chains");
    let mut chains = Vec::with_capacity(message.filter_chains.len());
    for (i, chain) in message.filter_chains.iter().enumerate() {
        chains.push(filter_chain::from_proto(chain, false, &chains_at.index(i), cx));
    }
    let has_default = message.default_filter_chain.is_some();
    let destinations = filter_chain_map::build(&chains, has_default, &chains_at, cx);
    let default_at = Path::ROOT.field("default_filter_chain");
    let default = message.default_filter_chain.as_ref();
    let has_chain = has_default || !message.filter_chains.is_empty();
    let why = "neither filter_chains nor default_filter_chain is set, a server needs a filter chain";
    cx.check(has_chain, &NO_FILTER_CHAIN, &default_at, why);
    let default_filter_chain = default.and_then(|chain| default_filter_chain(chain, &default_at, cx));
    let address = address?;
    if !cx.nacked_since(mark) {
        for (i, converted) in chains.iter().enumerate() {
            chain_policies::check(converted.chain.as_ref(), &address, &chains_at.index(i), cx);
        }
        chain_policies::check(default_filter_chain.as_ref(), &address, &default_at, cx);
    }
    Some(resource::Listener::Tcp(TcpListener {
        uses_all_chains: false,
        address,
        default_filter_chain,
        filter_chains: chains.into_iter().map(|c| c.chain).collect::<Option<_>>()?,
        destinations,
    }))
}

fn default_filter_chain(
    chain: &pb::FilterChain,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<resource::listener::FilterChain> {
    let converted = filter_chain::from_proto(chain, true, at, cx);
    let unused = chain.filter_chain_match.as_ref();
    if unused.is_some_and(|unused| *unused != pb::FilterChainMatch::default()) {
        cx.report(
            &DEFAULT_CHAIN_MATCH,
            &at.field("filter_chain_match"),
            format_args!(
                "the default filter chain takes every connection that no other chain matches, its match is not used"
            ),
        );
    }
    converted.chain
}

/// Reads the address of a server as text; the host is not checked.
fn server_address(address: &core::Address, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<String> {
    let socket = socket_of(Some(address), at, cx)?;
    let at = at.field("socket_address");
    let is_tcp = socket.protocol == core::socket_address::Protocol::Tcp as i32;
    let why = format_args!("protocol is {}, must be 0 (TCP)", socket.protocol);
    cx.check(is_tcp, &ADDRESS_NOT_TCP, &at.field("protocol"), why);
    let port = port_of(socket, &at, cx)?;
    let (text, literal) = (&socket.address, parse_ip_port(&socket.address, port));
    let why =
        format_args!("address `{text}` is not an IP address: a server serves only if it listens on exactly this text");
    cx.required(literal, &ADDRESS_NOT_LITERAL, &at.field("address"), why);
    let why = "the port is 0, this client takes the listener for a server on any port, other clients do not";
    cx.check(port != 0, &ADDRESS_WITHOUT_PORT, &at.field("port_value"), why);
    Some(join_host_port(&socket.address, i32::from(port)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::profile::{Profile, ServerFacts};

    fn check(message: &pb::Listener, expected: &[(&str, &str)]) {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        convert(message, &mut cx);
        let found: Vec<_> = cx.finish().iter().map(|d| (d.rule.id, d.path.to_string())).collect();
        let expected: Vec<_> = expected.iter().map(|(r, p)| (*r, (*p).to_owned())).collect();
        assert_eq!(found, expected);
    }

    fn address(host: &str, port: u32) -> core::Address {
        core::Address {
            address: Some(core::address::Address::SocketAddress(core::SocketAddress {
                address: host.to_owned(),
                port_specifier: Some(core::socket_address::PortSpecifier::PortValue(port)),
                ..Default::default()
            })),
        }
    }

    #[test]
    fn without_api_listener_and_address_nothing_else_is_checked() {
        let message = pb::Listener {
            use_original_dst: Some(true),
            ..Default::default()
        };
        check(&message, &[("lds-neither-api-listener-nor-address", "")]);
    }

    #[test]
    fn api_listener_hides_everything_for_servers() {
        let message = pb::Listener {
            api_listener: Some(pb::ApiListener::default()),
            address: Some(core::Address::default()),
            filter_chains: vec![pb::FilterChain::default()],
            ..Default::default()
        };
        let hidden = "lds-server-field-beside-api-listener";
        check(
            &message,
            &[
                (hidden, "address"),
                (hidden, "filter_chains"),
                ("any-missing", "api_listener.api_listener"),
            ],
        );
    }

    #[test]
    fn a_server_listener_is_checked_to_its_end() {
        let message = pb::Listener {
            address: Some(address("127.0.0.1", 65_536)),
            use_original_dst: Some(true),
            filter_chains: vec![pb::FilterChain::default()],
            default_filter_chain: Some(pb::FilterChain::default()),
            ..Default::default()
        };
        check(
            &message,
            &[
                ("port-out-of-range", "address.socket_address.port_value"),
                ("lds-use-original-dst", "use_original_dst"),
                ("lds-network-filters-not-one", "filter_chains[0].filters"),
                ("lds-network-filters-not-one", "default_filter_chain.filters"),
            ],
        );
    }

    #[test]
    fn any_text_is_an_address() {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        for (host, port, joined, rules) in [
            ("127.0.0.1", 80, "127.0.0.1:80", &[][..]),
            ("::1", 80, "[::1]:80", &[]),
            ("[::1]", 80, "[::1]:80", &[]),
            ("", 80, ":80", &["lds-address-not-literal"]),
            (
                "a.b",
                0,
                "a.b:0",
                &["lds-address-not-literal", "lds-address-without-port"],
            ),
        ] {
            let mut cx = Validation::new(&profile, &server);
            let address = server_address(&address(host, port), &Path::ROOT, &mut cx);
            assert_eq!(address.as_deref(), Some(joined));
            let found: Vec<_> = cx.finish().iter().map(|d| d.rule.id).collect();
            assert_eq!(found, rules, "{host}");
        }
    }
}
