//! HttpConnectionManager, the one network filter that gRPC has, on clients and servers.
//!
//! Checks in the client's order and without short-circuits between them: trusted hops, IP detection, maximum stream duration,
//! HTTP filters, routes (A27, A31, A39, A41). Follows C-core `HttpConnectionManagerParse` (xds_listener_parser.cc). What a
//! filter's config means is the filter's business; what a route means is `route_config`'s.

use std::collections::BTreeSet;

use crate::diag::{Cx, Path, rules};
use crate::filter::{self, FilterType};
use crate::model::Millis;
use crate::model::filter::HttpFilter;
use crate::model::listener::{HttpConnectionManager, RouteSource};
use crate::proto::any::{self, Extension};
use crate::proto::duration;
use crate::proto::pb::Any;
use crate::proto::pb::envoy::config::core::v3::config_source::ConfigSourceSpecifier;
use crate::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3 as pb;
use crate::validate::route_config;

rules! {
    /// A listener's network filter is not an HttpConnectionManager.
    NETWORK_FILTER_UNSUPPORTED = "lds-network-filter-unsupported", Listener, Nack, "gRFC A27, A36; C-core HttpConnectionManagerParse";
    /// xff_num_trusted_hops is not 0.
    XFF_NUM_TRUSTED_HOPS = "hcm-xff-num-trusted-hops", Listener, Nack, "gRFC A41; C-core HttpConnectionManagerParse";
    /// original_ip_detection_extensions is not empty.
    ORIGINAL_IP_DETECTION = "hcm-original-ip-detection", Listener, Nack, "gRFC A41; C-core HttpConnectionManagerParse";
    /// An HTTP filter has no name.
    FILTER_UNNAMED = "hcm-filter-unnamed", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// Two HTTP filters have the same name.
    FILTER_NAME_TWICE = "hcm-filter-name-twice", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// The client does not have an HTTP filter that is not optional.
    FILTER_UNSUPPORTED = "hcm-filter-unsupported", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// An HTTP filter is for the other side: for clients in a server's listener, or for servers in a client's.
    FILTER_ON_WRONG_SIDE = "hcm-filter-on-wrong-side", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// An optional HTTP filter that the client does not have is left out.
    OPTIONAL_FILTER_DROPPED = "hcm-optional-filter-dropped", Listener, Dropped, "gRFC A39; C-core HttpConnectionManagerParse";
    /// No HTTP filter is left to run.
    NO_FILTER = "hcm-no-filter", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// A terminal HTTP filter is not the last one.
    TERMINAL_FILTER_NOT_LAST = "hcm-terminal-filter-not-last", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// The last HTTP filter is not a terminal one.
    LAST_FILTER_NOT_TERMINAL = "hcm-last-filter-not-terminal", Listener, Nack, "gRFC A39; C-core HttpConnectionManagerParse";
    /// An HTTP filter is disabled, which other clients do not heed.
    FILTER_DISABLED = "hcm-filter-disabled", Listener, Advice as Note, "C-core HttpConnectionManagerParse, xds_routing.cc";
    /// There is neither route_config nor rds.
    NO_ROUTES = "hcm-no-routes", Listener, Nack, "gRFC A27; C-core HttpConnectionManagerParse";
    /// The config_source of rds is missing, or neither ads nor self.
    RDS_NOT_FROM_ADS = "hcm-rds-not-from-ads", Listener, Nack, "gRFC A27, A30; C-core HttpConnectionManagerParse";
    /// route_config_name is empty.
    RDS_NAME_EMPTY = "hcm-rds-name-empty", Listener, Advice, "C-core HttpConnectionManagerParse; grpc-go rejects it";
}

/// Message type of the network filter.
const TYPE_NAME: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/// Who runs the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A client channel.
    Client,
    /// A server.
    Server,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Side::Client => "client",
            Side::Server => "server",
        }
    }

    const fn runs(self, filter: &FilterType) -> bool {
        match self {
            Side::Client => filter.on_client,
            Side::Server => filter.on_server,
        }
    }
}

/// Converts the HttpConnectionManager in the Any at `at`.
pub fn from_any(any: Option<&Any>, side: Side, at: &Path<'_>, cx: &mut Cx<'_>) -> Option<HttpConnectionManager> {
    let extension = any::extract(any, at, cx)?;
    let at = extension.at(at);
    if extension.type_name != TYPE_NAME {
        cx.report(
            &NETWORK_FILTER_UNSUPPORTED,
            &at,
            format_args!(
                "network filter `{}` is not supported, must be HttpConnectionManager",
                extension.type_name
            ),
        );
        return None;
    }
    let pb: pb::HttpConnectionManager = extension.decode(&at, cx)?;
    Some(from_proto(&pb, side, &at, cx))
}

fn from_proto(pb: &pb::HttpConnectionManager, side: Side, at: &Path<'_>, cx: &mut Cx<'_>) -> HttpConnectionManager {
    if pb.xff_num_trusted_hops != 0 {
        cx.report(
            &XFF_NUM_TRUSTED_HOPS,
            &at.field("xff_num_trusted_hops"),
            format_args!("xff_num_trusted_hops is {}, must be 0", pb.xff_num_trusted_hops),
        );
    }
    if !pb.original_ip_detection_extensions.is_empty() {
        cx.report(
            &ORIGINAL_IP_DETECTION,
            &at.field("original_ip_detection_extensions"),
            format_args!("original_ip_detection_extensions is set, must be empty"),
        );
    }
    let http_max_stream_duration = pb
        .common_http_protocol_options
        .as_ref()
        .and_then(|options| options.max_stream_duration.as_ref())
        .map_or(Millis(0), |duration| {
            let options = at.field("common_http_protocol_options");
            duration::parse(duration, &options.field("max_stream_duration"), cx)
        });
    let http_filters = http_filters(&pb.http_filters, side, &at.field("http_filters"), cx);
    let routes = routes(pb.route_specifier.as_ref(), at, cx);
    HttpConnectionManager {
        routes,
        http_max_stream_duration,
        http_filters,
    }
}

/// Converts the filters and checks their order.
///
/// The order is that of the entries that the client has and runs on this side, whether their configs are good or not.
fn http_filters(filters: &[pb::HttpFilter], side: Side, at: &Path<'_>, cx: &mut Cx<'_>) -> Vec<HttpFilter> {
    let mark = cx.mark();
    let mut kept = Vec::with_capacity(filters.len());
    let mut names = BTreeSet::new();
    let mut last: Option<(usize, &FilterType)> = None;
    for (i, filter) in filters.iter().enumerate() {
        let entry = at.index(i);
        if !check_name(&filter.name, &mut names, &entry, cx) {
            continue;
        }
        let here = entry.field("typed_config");
        let Some(extension) = any::extract(typed_config(filter), &here, cx) else {
            continue;
        };
        let here = extension.at(&here);
        let Some(found) = supported(filter, &extension, side, &here, cx) else {
            continue;
        };
        if let Some((before, terminal)) = last.replace((i, found)).filter(|(_, f)| f.is_terminal) {
            cx.report(
                &TERMINAL_FILTER_NOT_LAST,
                at,
                format_args!(
                    "http_filters[{before}] is terminal (`{}`), must be the last filter",
                    terminal.type_name
                ),
            );
        }
        if filter.disabled {
            cx.report(
                &FILTER_DISABLED,
                &entry.field("disabled"),
                format_args!("filter `{}` is disabled, other clients may run it", filter.name),
            );
        }
        if let Some(config) = (found.parse)(&extension, &here, cx) {
            kept.push(HttpFilter {
                index: i,
                name: filter.name.clone(),
                disabled: filter.disabled,
                config,
            });
        }
    }
    match last {
        Some((i, filter)) if !filter.is_terminal => {
            cx.report(
                &LAST_FILTER_NOT_TERMINAL,
                at,
                format_args!(
                    "the last filter, http_filters[{i}], is not terminal (`{}`)",
                    filter.type_name
                ),
            )
            .help("put the router at the end");
        }
        // The client counts errors, not entries: one error in the list is enough not to add this one.
        None if !cx.nacked_since(mark) => {
            let left = if filters.is_empty() { "" } else { " that the client has" };
            cx.report(
                &NO_FILTER,
                at,
                format_args!("no HTTP filter{left}, must have the router at least"),
            );
        }
        Some(_) | None => {}
    }
    kept
}

/// The config, which in a filter with `config_discovery` is missing.
fn typed_config(filter: &pb::HttpFilter) -> Option<&Any> {
    match filter.config_type.as_ref()? {
        pb::http_filter::ConfigType::TypedConfig(any) => Some(any),
        pb::http_filter::ConfigType::ConfigDiscovery(_) => None,
    }
}

/// Checks that the name is there and new; an entry with a bad name is passed over. Names of passed-over entries count.
fn check_name<'a>(name: &'a str, seen: &mut BTreeSet<&'a str>, entry: &Path<'_>, cx: &mut Cx<'_>) -> bool {
    let at = entry.field("name");
    if name.is_empty() {
        cx.report(&FILTER_UNNAMED, &at, format_args!("filter name is empty"));
        return false;
    }
    if !seen.insert(name) {
        cx.report(
            &FILTER_NAME_TWICE,
            &at,
            format_args!("filter name `{name}` is that of an earlier filter"),
        );
        return false;
    }
    true
}

/// Looks up the filter's type; `None` after saying that the client does not have it on this side.
fn supported(
    filter: &pb::HttpFilter,
    extension: &Extension<'_>,
    side: Side,
    at: &Path<'_>,
    cx: &mut Cx<'_>,
) -> Option<&'static FilterType> {
    let found = filter::by_type(&extension.type_name, cx);
    if let Some(found) = found.filter(|found| side.runs(found)) {
        return Some(found);
    }
    let (rule, what) = match found {
        Some(_) => (&FILTER_ON_WRONG_SIDE, "not supported on this side"),
        None => (&FILTER_UNSUPPORTED, "not supported"),
    };
    let rule = if filter.is_optional {
        &OPTIONAL_FILTER_DROPPED
    } else {
        rule
    };
    cx.report(
        rule,
        at,
        format_args!(
            "filter type `{}` of `{}` is {what} ({})",
            extension.type_name,
            filter.name,
            side.name()
        ),
    );
    None
}

fn routes(
    specifier: Option<&pb::http_connection_manager::RouteSpecifier>,
    at: &Path<'_>,
    cx: &mut Cx<'_>,
) -> RouteSource {
    use pb::http_connection_manager::RouteSpecifier;
    let rds = match specifier {
        Some(RouteSpecifier::RouteConfig(config)) => {
            let config = route_config::from_proto(config, &at.field("route_config"), cx);
            return RouteSource::Inline(Box::new(config));
        }
        Some(RouteSpecifier::Rds(rds)) => rds,
        Some(RouteSpecifier::ScopedRoutes(_)) | None => {
            cx.report(&NO_ROUTES, at, format_args!("neither route_config nor rds is set"));
            return RouteSource::Rds(String::new());
        }
    };
    let here = at.field("rds");
    let source = rds.config_source.as_ref();
    match source.map(|source| source.config_source_specifier.as_ref()) {
        Some(Some(ConfigSourceSpecifier::Ads(_) | ConfigSourceSpecifier::Self_(_))) => {}
        Some(_) => {
            cx.report(
                &RDS_NOT_FROM_ADS,
                &here.field("config_source"),
                format_args!("config_source is neither ads nor self"),
            );
        }
        None => {
            cx.report(
                &RDS_NOT_FROM_ADS,
                &here.field("config_source"),
                format_args!("config_source is missing, must be ads or self"),
            );
        }
    }
    if rds.route_config_name.is_empty() {
        cx.report(
            &RDS_NAME_EMPTY,
            &here.field("route_config_name"),
            format_args!("route_config_name is empty, the client asks for a RouteConfiguration with an empty name"),
        );
    }
    RouteSource::Rds(rds.route_config_name.clone())
}
