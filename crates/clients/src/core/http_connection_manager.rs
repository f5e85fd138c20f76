//! HttpConnectionManager, the one network filter that gRPC has, on clients and servers.
//!
//! Checks in the client's order and without short-circuits between them: trusted hops, IP
//! detection, maximum stream duration, HTTP filters, routes (A27, A31, A39, A41). Follows C-core
//! `HttpConnectionManagerParse` (xds_listener_parser.cc). What a filter's config means is the
//! filter's business; what a route means is `route_config`'s.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::core::filter::{self, FilterPlace, FilterType};
use crate::core::route_config;
use crate::shared::names::HCM;
use crate::shared::rules::OPTIONAL_FILTER_DROPPED;
use crate::shared::rules::{
    FILTER_NAME_TWICE, FILTER_ON_WRONG_SIDE, FILTER_UNNAMED, FILTER_UNSUPPORTED, LAST_FILTER_NOT_TERMINAL,
    NETWORK_FILTER_UNSUPPORTED, NO_FILTER, NO_ROUTES, ORIGINAL_IP_DETECTION, RDS_NOT_FROM_ADS,
    TERMINAL_FILTER_NOT_LAST, XFF_NUM_TRUSTED_HOPS,
};
use crate::shared::{Opened, fields};
use xdsctl_document::proto::any::{self, Extension};
use xdsctl_document::proto::duration;
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3 as pb;
use xdsctl_document::proto::wire::FIELD_IGNORED;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::filter::HttpFilter;
use xdsctl_model::resource::listener::{HttpConnectionManager, RouteSource};
use xdsctl_model::resource::route::{Action, RouteConfiguration};

rules! {
    /// An HTTP filter is disabled, which other clients do not heed.
    FILTER_DISABLED = "hcm-filter-disabled", Listener, Advice as Note, "C-core HttpConnectionManagerParse, xds_routing.cc";
    /// route_config_name is empty.
    RDS_NAME_EMPTY = "hcm-rds-name-empty", Listener, Advice, "C-core HttpConnectionManagerParse; grpc-go rejects it";
    /// A route's action is for the other side, and the RPCs that it matches fail.
    ROUTE_FOR_OTHER_SIDE = "hcm-route-action-for-other-side", Listener, Fails, "gRFC A28, A36; C-core xds_server_config_fetcher.cc, xds_resolver.cc",
        also [Go Java] "they keep the route and fail its RPCs with UNAVAILABLE (routeAndProcess; XdsServerWrapper, XdsNameResolver)";
}

/// Which side runs the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenerSide {
    /// A client channel.
    Client,
    /// A server.
    Server,
}

impl ListenerSide {
    const fn name(self) -> &'static str {
        match self {
            ListenerSide::Client => "client",
            ListenerSide::Server => "server",
        }
    }

    const fn runs(self, filter: &FilterType) -> bool {
        match self {
            ListenerSide::Client => filter.on_client,
            ListenerSide::Server => filter.on_server,
        }
    }
}

/// Converts the HttpConnectionManager in the Any at `at`.
pub fn from_any(
    any: Option<&Any>,
    side: ListenerSide,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<HttpConnectionManager> {
    let extension = any::extract(any, at, cx)?;
    let at = extension.at(at);
    let name = &extension.type_name;
    let why = format_args!("network filter `{name}` is not supported, must be HttpConnectionManager");
    cx.check(name == HCM, &NETWORK_FILTER_UNSUPPORTED, &at, why)?;
    let pb: pb::HttpConnectionManager = extension.decode(&at, cx)?;
    Some(from_proto(&pb, side, &at, cx))
}

fn from_proto(
    pb: &pb::HttpConnectionManager,
    side: ListenerSide,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> HttpConnectionManager {
    let (hops, hops_at) = (pb.xff_num_trusted_hops, at.field("xff_num_trusted_hops"));
    let why = format_args!("xff_num_trusted_hops is {hops}, must be 0");
    cx.check(hops == 0, &XFF_NUM_TRUSTED_HOPS, &hops_at, why);
    let is_empty = pb.original_ip_detection_extensions.is_empty();
    let detection_at = at.field("original_ip_detection_extensions");
    let why = "original_ip_detection_extensions is set, must be empty";
    cx.check(is_empty, &ORIGINAL_IP_DETECTION, &detection_at, why);
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
    if let RouteSource::Inline(config) = &routes {
        check_sides(config, side, &at.field("route_config"), cx);
    }
    HttpConnectionManager {
        routes,
        http_max_stream_duration,
        http_filters,
    }
}

/// Converts the filters and checks their order.
///
/// The order is checked among the entries that the client has and runs on this side, whether their
/// configs are good or not.
fn http_filters(
    filters: &[pb::HttpFilter],
    side: ListenerSide,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Vec<HttpFilter> {
    let mark = cx.mark();
    let mut kept = Vec::with_capacity(filters.len());
    let mut names = BTreeSet::new();
    let mut last: Option<(usize, &FilterType)> = None;
    for (i, filter) in filters.iter().enumerate() {
        let entry = at.index(i);
        if check_name(&filter.name, &mut names, &entry, cx).is_none() {
            continue;
        }
        let here = entry.field("typed_config");
        let config = fields::http_config(filter);
        note_discovery(filter.config_type.is_some() && config.is_none(), &entry, cx);
        if config.is_none() && filter.is_optional && !cx.has(Feature::CollectsFaults) {
            continue;
        }
        let Some(extension) = any::extract(config, &here, cx) else {
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
                disabled: filter.disabled && !cx.has(Feature::DisabledFiltersRun),
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
        // The client counts errors, not entries: one error in the list is enough not to add this
        // one.
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

/// Reports that the config of the filter at `at` would have to be fetched by ECDS, which gRPC does
/// not have; `is_set` says whether it would.
pub(super) fn note_discovery(is_set: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    if is_set {
        let why = format_args!("gRPC does not read `config_discovery`: it has no ECDS");
        cx.report(&FIELD_IGNORED, &at.field("config_discovery"), why)
            .help("give the config itself as typed_config");
    }
}

/// Checks that the name is set and new; an entry with a bad name is skipped. The names of skipped
/// entries count as seen.
fn check_name<'a>(
    name: &'a str,
    seen: &mut BTreeSet<&'a str>,
    entry: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<()> {
    let at = entry.field("name");
    cx.check(!name.is_empty(), &FILTER_UNNAMED, &at, "filter name is empty")?;
    let why = format_args!("filter name `{name}` is that of an earlier filter");
    cx.check(seen.insert(name), &FILTER_NAME_TWICE, &at, why)
}

/// Returns the filter's type; `None` after reporting that the client does not have it on this side.
fn supported(
    filter: &pb::HttpFilter,
    extension: &Extension<'_>,
    side: ListenerSide,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<&'static FilterType> {
    let found = filter::by_type(&extension.type_name, FilterPlace::TopLevel, cx);
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
    cx: &mut Validation<'_>,
) -> RouteSource {
    use pb::http_connection_manager::RouteSpecifier;
    let rds = match specifier {
        Some(RouteSpecifier::RouteConfig(config)) => {
            let config = route_config::from_proto(config, &Opened::default(), &at.field("route_config"), cx);
            return RouteSource::Inline(Arc::new(config));
        }
        Some(RouteSpecifier::Rds(rds)) => rds,
        Some(RouteSpecifier::ScopedRoutes(_)) => {
            cx.report(
                &NO_ROUTES,
                at,
                format_args!("scoped_routes is not supported, must have route_config or rds"),
            );
            return RouteSource::Rds(String::new());
        }
        None => {
            cx.report(&NO_ROUTES, at, format_args!("neither route_config nor rds is set"));
            return RouteSource::Rds(String::new());
        }
    };
    let here = at.field("rds");
    let source = rds.config_source.as_ref();
    if !fields::is_ads_or_self(source) {
        let what = match source {
            Some(_) => "neither ads nor self",
            None => "missing, must be ads or self",
        };
        let message = format_args!("config_source is {what}");
        cx.report(&RDS_NOT_FROM_ADS, &here.field("config_source"), message);
    }
    let (name, name_at) = (rds.route_config_name.clone(), here.field("route_config_name"));
    let why = "route_config_name is empty, the client asks for a RouteConfiguration with an empty name";
    cx.check(!name.is_empty(), &RDS_NAME_EMPTY, &name_at, why);
    RouteSource::Rds(name)
}

/// Reports the routes at `at` that only the other side could follow. A route without a usable
/// action is good for neither side, and is not reported.
fn check_sides(config: &RouteConfiguration, side: ListenerSide, at: &Path<'_>, cx: &mut Validation<'_>) {
    let hosts = at.field("virtual_hosts");
    for host in &config.virtual_hosts {
        let host_at = hosts.index(host.index);
        let routes = host_at.field("routes");
        for route in &host.routes {
            let field = match (&route.action, side) {
                (Action::Route(_), ListenerSide::Server) => "route",
                (Action::NonForwarding, ListenerSide::Client) => "non_forwarding_action",
                (Action::Route(_) | Action::NonForwarding | Action::Unknown, _) => continue,
            };
            cx.report(
                &ROUTE_FOR_OTHER_SIDE,
                &routes.index(route.index).field(field),
                format_args!(
                    "a {} does not follow {field}, RPCs that the route matches fail",
                    side.name()
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::profile::{Profile, ServerFacts};

    const ROUTER: &str = "envoy.extensions.filters.http.router.v3.Router";
    const UNKNOWN: &str = "a.B";

    /// Makes a filter with a name and a type; a question mark behind the type makes it optional.
    fn filter(name: &str, type_name: &str) -> pb::HttpFilter {
        let any = Any {
            type_url: format!("type.googleapis.com/{}", type_name.trim_end_matches('?')),
            value: bytes::Bytes::new(),
        };
        pb::HttpFilter {
            name: name.to_owned(),
            is_optional: type_name.ends_with('?'),
            config_type: Some(pb::http_filter::ConfigType::TypedConfig(any)),
            ..Default::default()
        }
    }

    fn check(filters: &[(&str, &str)], kept: &[usize], expected: &[(&str, &str)]) {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let filters: Vec<_> = filters.iter().map(|(n, t)| filter(n, t)).collect();
        let at = Path::ROOT.field("f");
        let indices: Vec<_> = http_filters(&filters, ListenerSide::Client, &at, &mut cx)
            .iter()
            .map(|f| f.index)
            .collect();
        assert_eq!(indices, kept);
        let found: Vec<_> = cx.finish().iter().map(|d| (d.rule.id, d.path.to_string())).collect();
        let expected: Vec<_> = expected.iter().map(|(r, p)| (*r, (*p).to_owned())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_empty_list_is_an_error_only_without_another() {
        check(&[], &[], &[("hcm-no-filter", "f")]);
        let dropped = ("hcm-optional-filter-dropped", "f[0].typed_config.value[a.B]");
        check(&[("a", "a.B?")], &[], &[dropped, ("hcm-no-filter", "f")]);
        check(
            &[("a", UNKNOWN)],
            &[],
            &[("hcm-filter-unsupported", "f[0].typed_config.value[a.B]")],
        );
        check(&[("", ROUTER)], &[], &[("hcm-filter-unnamed", "f[0].name")]);
    }

    #[test]
    fn the_terminal_filter_is_the_last_of_those_that_are_kept() {
        check(&[("r", ROUTER)], &[0], &[]);
        check(
            &[("r", ROUTER), ("a", "a.B?")],
            &[0],
            &[("hcm-optional-filter-dropped", "f[1].typed_config.value[a.B]")],
        );
        check(
            &[("r", ROUTER), ("s", ROUTER)],
            &[0, 1],
            &[("hcm-terminal-filter-not-last", "f")],
        );
    }

    #[test]
    fn names_of_dropped_filters_count() {
        check(
            &[("a", "a.B?"), ("a", ROUTER)],
            &[],
            &[
                ("hcm-optional-filter-dropped", "f[0].typed_config.value[a.B]"),
                ("hcm-filter-name-twice", "f[1].name"),
            ],
        );
    }

    #[test]
    fn an_optional_filter_needs_a_config_all_the_same() {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let filter = pb::HttpFilter {
            name: "a".to_owned(),
            is_optional: true,
            ..Default::default()
        };
        http_filters(&[filter], ListenerSide::Client, &Path::ROOT, &mut cx);
        let found: Vec<_> = cx.finish().iter().map(|d| (d.rule.id, d.path.to_string())).collect();
        assert_eq!(found, [("any-missing", "[0].typed_config".to_owned())]);
    }
}
