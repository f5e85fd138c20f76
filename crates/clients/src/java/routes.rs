//! RouteConfiguration, as grpc-java reads it (XdsRouteConfigureResource `extractVirtualHosts`).
//!
//! Neither domains nor the retry policy of a virtual host are checked. Of a route, the client
//! checks the match first, then the overrides, then the action. A reason to skip the route ends its
//! checks.

use super::matcher::{self, Catches};
use super::plugin::{self, JavaPlugins};
use super::{http_filter, route_action};
use crate::shared::rules::{FRACTION_DENOMINATOR_UNKNOWN, ROUTE_ACTION_UNKNOWN};
use crate::shared::{Checked, Opened, OpenedHost, alike, reject};
use xdsctl_document::proto::pb::envoy::config::route::v3::route::Action;
use xdsctl_document::proto::pb::envoy::config::route::v3::{Route, RouteConfiguration as Pb, RouteMatch};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// Converts the configuration at `at`.
pub(super) fn extract_virtual_hosts(message: &Pb, opened: &Opened, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let plugins = plugin::parse_all(
        &message.cluster_specifier_plugins,
        &at.field("cluster_specifier_plugins"),
        cx,
    )?;
    let hosts = at.field("virtual_hosts");
    for (i, OpenedHost { host, routes: list }) in opened.hosts(message).iter().enumerate() {
        let at = hosts.index(i);
        let routes = at.field("routes");
        for (i, message) in list.iter().enumerate() {
            route(message, &plugins, &routes.index(i), cx)?;
        }
        let at = at.field("typed_per_filter_config");
        http_filter::overrides(&host.typed_per_filter_config, &at, cx)?;
    }
    Ok(())
}

/// Checks a route (`parseRoute`).
fn route(message: &Route, plugins: &JavaPlugins<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let no_match = RouteMatch::default();
    let matches = message.r#match.as_ref().unwrap_or(&no_match);
    if !matches.query_parameters.is_empty() {
        return Ok(());
    }
    route_match(matches, &at.field("match"), cx)?;
    let overrides = at.field("typed_per_filter_config");
    http_filter::overrides(&message.typed_per_filter_config, &overrides, cx)?;
    match &message.action {
        Some(Action::Route(action)) => route_action::parse(action, plugins, &at.field("route"), cx),
        Some(Action::NonForwardingAction(_)) if cx.has(Feature::NonForwardingKnown) => Ok(()),
        Some(_) | None => {
            let message = format_args!("the action is neither route nor non_forwarding_action");
            Err(reject(&ROUTE_ACTION_UNKNOWN, at, message, cx))
        }
    }
}

/// Checks the match of a route (`parseRouteMatch`).
fn route_match(matches: &RouteMatch, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    alike::path_specifier(matches, |pattern, at, cx| matcher::regex(pattern, true, at, cx), at, cx)?;
    if let Some(fraction) = &matches.runtime_fraction {
        let denominator = fraction.default_value.as_ref().map_or(0, |value| value.denominator);
        if !(0..=2).contains(&denominator) {
            let at = at.field("runtime_fraction");
            let at = at.field("default_value");
            let message = format_args!("denominator {denominator} is not known");
            let at = at.field("denominator");
            return Err(reject(&FRACTION_DENOMINATOR_UNKNOWN, &at, message, cx));
        }
    }
    let headers = at.field("headers");
    for (i, header) in matches.headers.iter().enumerate() {
        matcher::header(header, Catches::Arguments, &headers.index(i), cx)?;
    }
    Ok(())
}
