//! RouteConfiguration, as tonic-xds reads it (xds/resource/route_config.rs `validate`).

use std::collections::BTreeMap;

use super::{matcher, retry};
use crate::shared::rules::{
    CLUSTER_NAME_EMPTY, DOMAINS_EMPTY, PATH_SPECIFIER_UNSUPPORTED, ROUTE_ACTION_UNKNOWN, ROUTE_SPECIFIER_UNSUPPORTED,
    ROUTE_WITHOUT_MATCH, VIRTUAL_HOSTS_EMPTY, WEIGHTED_CLUSTERS_EMPTY,
};
use crate::shared::{Checked, OpenedHost, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::RuntimeFractionalPercent;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::ClusterSpecifier;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_match::PathSpecifier;
use xdsctl_document::proto::pb::envoy::config::route::v3::weighted_cluster::ClusterWeight as WeightPb;
use xdsctl_document::proto::pb::envoy::config::route::v3::{
    Route as RoutePb, RouteAction as ActionPb, RouteMatch, route::Action as AnyActionPb,
};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::resource::RouteConfiguration;
use xdsctl_model::resource::matcher::{StringMatch, StringMatcher};
use xdsctl_model::resource::route::{
    Action, ClusterWeight, Destination, PathMatcher, RetryPolicy, Route, RouteAction, VirtualHost,
};

/// All RPCs, in parts per million.
const MILLION: u32 = 1_000_000;

/// Converts the resource, or a route_config inside of a Listener.
pub(super) fn from_proto(hosts: &[OpenedHost], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<RouteConfiguration> {
    let at = at.field("virtual_hosts");
    if hosts.is_empty() {
        let why = format_args!("no virtual host, must be one");
        return Err(reject(&VIRTUAL_HOSTS_EMPTY, &at, why, cx));
    }
    let mut virtual_hosts = Vec::with_capacity(hosts.len());
    for (i, host) in hosts.iter().enumerate() {
        virtual_hosts.push(virtual_host(host, i, &at.index(i), cx)?);
    }
    Ok(RouteConfiguration {
        virtual_hosts,
        cluster_specifier_plugins: BTreeMap::new(),
    })
}

fn virtual_host(
    OpenedHost { host, routes: list }: &OpenedHost,
    index: usize,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<VirtualHost> {
    if host.domains.is_empty() {
        let why = format_args!("domains is empty, must have at least one");
        return Err(reject(&DOMAINS_EMPTY, &at.field("domains"), why, cx));
    }
    let own_retry = retry::policy(host.retry_policy.as_ref(), &at.field("retry_policy"), cx)?;
    let routes_at = at.field("routes");
    let mut routes = Vec::with_capacity(host.routes.len());
    for (i, message) in list.iter().enumerate() {
        routes.extend(route(message, i, own_retry.as_ref(), &routes_at.index(i), cx)?);
    }
    Ok(VirtualHost {
        index,
        name: host.name.clone(),
        domains: host.domains.clone(),
        routes,
        typed_per_filter_config: BTreeMap::new(),
    })
}

/// Converts a route; `None` if the client leaves it out.
fn route(
    message: &RoutePb,
    index: usize,
    of_host: Option<&RetryPolicy>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<Option<Route>> {
    let match_at = at.field("match");
    let Some(matched) = &message.r#match else {
        let why = format_args!("match is missing");
        return Err(reject(&ROUTE_WITHOUT_MATCH, &match_at, why, cx));
    };
    if !matched.query_parameters.is_empty() {
        return Ok(None);
    }
    let path = path(matched, &match_at, cx)?;
    let headers = matcher::headers(&matched.headers, &match_at.field("headers"), cx)?;
    let other = match &message.action {
        Some(AnyActionPb::Route(action)) => {
            let action = route_action(action, of_host, &at.field("route"), cx)?;
            return Ok(action.map(|action| Route {
                index,
                name: message.name.clone(),
                path,
                headers,
                fraction_per_million: matched.runtime_fraction.as_ref().and_then(fraction),
                action: Action::Route(Box::new(action)),
                typed_per_filter_config: BTreeMap::new(),
            }));
        }
        Some(AnyActionPb::Redirect(_)) => "redirect",
        Some(AnyActionPb::DirectResponse(_)) => "direct_response",
        Some(AnyActionPb::FilterAction(_)) => "filter_action",
        Some(AnyActionPb::NonForwardingAction(_)) => "non_forwarding_action",
        None => "no action",
    };
    let why = format_args!("{other} is not supported, must be `route`");
    Err(reject(&ROUTE_ACTION_UNKNOWN, at, why, cx))
}

fn path(matched: &RouteMatch, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<PathMatcher> {
    let kind = match &matched.path_specifier {
        Some(PathSpecifier::Prefix(prefix)) => StringMatch::Prefix(prefix.clone()),
        Some(PathSpecifier::Path(path)) => StringMatch::Exact(path.clone()),
        Some(PathSpecifier::SafeRegex(safe)) => {
            let at = at.field("safe_regex");
            return matcher::regex_of("", &safe.regex, &at.field("regex"), cx).map(PathMatcher::Regex);
        }
        Some(_) | None => {
            let why = format_args!("none of prefix, path and safe_regex is set");
            return Err(reject(&PATH_SPECIFIER_UNSUPPORTED, at, why, cx));
        }
    };
    Ok(PathMatcher::Text(StringMatcher {
        kind,
        ignore_case: matched.case_sensitive == Some(false),
    }))
}

/// Returns parts per million, at most all; an unknown denominator is a million.
fn fraction(message: &RuntimeFractionalPercent) -> Option<u32> {
    let value = message.default_value.as_ref()?;
    let factor = match value.denominator {
        0 => 10_000,
        1 => 100,
        _ => 1,
    };
    Some(value.numerator.saturating_mul(factor).min(MILLION))
}

/// Converts an action; `None` if the client leaves the route out.
fn route_action(
    message: &ActionPb,
    of_host: Option<&RetryPolicy>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<Option<RouteAction>> {
    let destination = match &message.cluster_specifier {
        Some(ClusterSpecifier::Cluster(name)) if name.is_empty() => {
            let why = format_args!("cluster is empty, must have a name");
            return Err(reject(&CLUSTER_NAME_EMPTY, &at.field("cluster"), why, cx));
        }
        Some(ClusterSpecifier::Cluster(name)) => Destination::Cluster(name.clone()),
        Some(ClusterSpecifier::WeightedClusters(list)) if list.clusters.is_empty() => {
            let at = at.field("weighted_clusters");
            let why = format_args!("weighted_clusters has no entry");
            return Err(reject(&WEIGHTED_CLUSTERS_EMPTY, &at.field("clusters"), why, cx));
        }
        Some(ClusterSpecifier::WeightedClusters(list)) => Destination::WeightedClusters(weights(&list.clusters)),
        Some(_) => {
            let why = format_args!("no cluster that the client knows, the route is left out");
            cx.report(&ROUTE_SPECIFIER_UNSUPPORTED, at, why);
            return Ok(None);
        }
        None => {
            let why = format_args!("no cluster is set");
            return Err(reject(&ROUTE_SPECIFIER_UNSUPPORTED, at, why, cx));
        }
    };
    let own = retry::policy(message.retry_policy.as_ref(), &at.field("retry_policy"), cx)?;
    let retry_policy_inherited = own.is_none() && of_host.is_some();
    Ok(Some(RouteAction {
        hash_policies: Vec::new(),
        retry_policy: Some(own.or_else(|| of_host.cloned()).unwrap_or_else(retry::default_policy)),
        retry_policy_inherited,
        destination,
        unweighted: Vec::new(),
        max_stream_duration: None,
        auto_host_rewrite: false,
        untrusted_host_rewrite: false,
    }))
}

/// Returns the entries that get RPCs: those with a weight, or all with equal weights if none has
/// one.
fn weights(entries: &[WeightPb]) -> Vec<ClusterWeight> {
    let weight = |entry: &WeightPb| entry.weight.unwrap_or(0);
    let has_weight = entries.iter().any(|entry| weight(entry) > 0);
    let entries = entries.iter().enumerate();
    let kept = entries.filter(|(_, entry)| !has_weight || weight(entry) > 0);
    kept.map(|(index, entry)| ClusterWeight {
        index,
        name: entry.name.clone(),
        weight: if has_weight { weight(entry) } else { 1 },
        typed_per_filter_config: BTreeMap::new(),
    })
    .collect()
}
