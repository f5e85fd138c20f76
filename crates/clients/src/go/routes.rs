//! RouteConfiguration, as grpc-go reads it (xdsresource/unmarshal_rds.go
//! `generateRDSUpdateFromRouteConfiguration`).
//!
//! The client checks routes first, then retry policies, then filter overrides. It does not look at
//! domains.

use std::collections::BTreeMap;

use super::{http_filter, is_url_of, matcher, rls};
use crate::shared::names::RLS;
use crate::shared::rules::{
    BACK_OFF_NOT_POSITIVE, NUM_RETRIES_ZERO, PLUGIN_TYPE_UNKNOWN, ROUTE_PLUGIN_UNKNOWN, ROUTE_SPECIFIER_UNSUPPORTED,
    ROUTE_WITHOUT_MATCH, WEIGHTED_CLUSTERS_EMPTY, WEIGHTED_CLUSTERS_SUM,
};
use crate::shared::{Checked, OLD_TOTAL_WEIGHT, Opened, OpenedHost, alike, reject};
use xdsctl_document::proto::pb::envoy::config::route::v3::route::Action;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::ClusterSpecifier;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::hash_policy::PolicySpecifier;
use xdsctl_document::proto::pb::envoy::config::route::v3::{
    ClusterSpecifierPlugin, RetryPolicy, Route, RouteAction, RouteConfiguration as Pb, RouteMatch, WeightedCluster,
};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// The declared plugins by name; the value says whether the client has the plugin.
type GoPlugins<'m> = BTreeMap<&'m str, bool>;

/// Converts the configuration at `at`.
pub(super) fn from_proto(message: &Pb, opened: &Opened, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let plugins = plugins(
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
        retry_policy(host.retry_policy.as_ref(), &at.field("retry_policy"), cx)?;
        let at = at.field("typed_per_filter_config");
        http_filter::overrides(&host.typed_per_filter_config, &at, cx)?;
    }
    Ok(())
}

/// Checks the declared plugins (`processClusterSpecifierPlugins`). RLS is the only one that the
/// client has. A later plugin replaces an earlier one of the same name.
fn plugins<'m>(list: &'m [ClusterSpecifierPlugin], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<GoPlugins<'m>> {
    let mut plugins = GoPlugins::new();
    if !cx.has(Feature::RlsLb) {
        return Ok(plugins);
    }
    for (i, plugin) in list.iter().enumerate() {
        let extension = plugin.extension.as_ref();
        let name = extension.map_or("", |extension| extension.name.as_str());
        let any = extension.and_then(|extension| extension.typed_config.as_ref());
        let url = any.map_or("", |any| any.type_url.as_str());
        let known = any.filter(|_| is_url_of(url, RLS));
        if known.is_none() && plugin.is_optional && cx.has(Feature::UnknownClustersSkipped) {
            plugins.insert(name, false);
            continue;
        }
        let at = at.index(i);
        let at = at.field("extension");
        if let Some(any) = known {
            rls::check(any, &at.field("typed_config"), cx)?;
            plugins.insert(name, true);
            continue;
        }
        let message = format_args!("the client has no cluster specifier plugin of type `{url}`");
        return Err(reject(&PLUGIN_TYPE_UNKNOWN, &at.field("typed_config"), message, cx));
    }
    Ok(plugins)
}

/// Checks a retry policy (`generateRetryConfig`); max_interval may be below base_interval.
fn retry_policy(policy: Option<&RetryPolicy>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some(policy) = policy.filter(|_| cx.has(Feature::RetryPolicy)) else {
        return Ok(());
    };
    if policy.num_retries == Some(0) {
        let message = format_args!("num_retries is 0, must be at least 1");
        return Err(reject(&NUM_RETRIES_ZERO, &at.field("num_retries"), message, cx));
    }
    let Some(back_off) = &policy.retry_back_off else {
        return Ok(());
    };
    let at = at.field("retry_back_off");
    // An absent base_interval counts as 0.
    let base = back_off.base_interval.unwrap_or_default();
    let intervals = [("base_interval", Some(base)), ("max_interval", back_off.max_interval)];
    for (field, interval) in intervals {
        if let Some(interval) = interval.filter(|interval| nanos(interval) <= 0) {
            let (seconds, nanos) = (interval.seconds, interval.nanos);
            let message = format_args!("{field} is {seconds} s and {nanos} ns, must be above 0");
            return Err(reject(&BACK_OFF_NOT_POSITIVE, &at.field(field), message, cx));
        }
    }
    Ok(())
}

/// Returns a duration as the client holds it: in nanoseconds, limited to 64 bits
/// (`durationpb.AsDuration`).
fn nanos(duration: &prost_types::Duration) -> i64 {
    let nanos = i128::from(duration.seconds) * 1_000_000_000 + i128::from(duration.nanos);
    nanos.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// Checks a route (`routesProtoToSlice`).
fn route(message: &Route, plugins: &GoPlugins<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let match_at = at.field("match");
    let Some(matches) = &message.r#match else {
        let why = format_args!("the route has no match");
        return Err(reject(&ROUTE_WITHOUT_MATCH, &match_at, why, cx));
    };
    if !matches.query_parameters.is_empty() {
        return Ok(());
    }
    route_match(matches, &match_at, cx)?;
    if let Some(Action::Route(action)) = &message.action
        && !route_action(action, plugins, &at.field("route"), cx)?
    {
        return Ok(());
    }
    http_filter::overrides(
        &message.typed_per_filter_config,
        &at.field("typed_per_filter_config"),
        cx,
    )
}

fn route_match(matches: &RouteMatch, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    alike::path_specifier(matches, matcher::regex, at, cx)?;
    let headers = at.field("headers");
    for (i, header) in matches.headers.iter().enumerate() {
        matcher::header_matcher(header, &headers.index(i), cx)?;
    }
    Ok(())
}

/// Checks the action; says whether the route is kept.
fn route_action(
    action: &RouteAction,
    plugins: &GoPlugins<'_>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<bool> {
    let policies = at.field("hash_policy");
    let is_hashed = cx.has(Feature::RingHashPolicy);
    for (i, policy) in action.hash_policy.iter().enumerate().filter(|_| is_hashed) {
        if let Some(PolicySpecifier::Header(header)) = &policy.policy_specifier
            && let Some(rewrite) = &header.regex_rewrite
        {
            let at = policies.index(i);
            let at = at.field("header");
            let at = at.field("regex_rewrite");
            let pattern = rewrite.pattern.as_ref().map_or("", |pattern| pattern.regex.as_str());
            matcher::plain_regex(pattern, &at.field("pattern"), cx)?;
        }
    }
    match &action.cluster_specifier {
        Some(ClusterSpecifier::Cluster(_)) => {}
        Some(ClusterSpecifier::WeightedClusters(clusters)) => {
            weighted_clusters(clusters, &at.field("weighted_clusters"), cx)?;
        }
        Some(ClusterSpecifier::ClusterSpecifierPlugin(_))
            if cx.has(Feature::SpecifierChecked) && !cx.has(Feature::RlsLb) =>
        {
            return without_cluster(cx.has(Feature::PluginRoutesSkipped), at, cx);
        }
        Some(ClusterSpecifier::ClusterSpecifierPlugin(name)) if cx.has(Feature::RlsLb) => {
            match plugins.get(name.as_str()) {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => {
                    let message = format_args!("plugin `{name}` is not one of cluster_specifier_plugins");
                    let at = at.field("cluster_specifier_plugin");
                    return Err(reject(&ROUTE_PLUGIN_UNKNOWN, &at, message, cx));
                }
            }
        }
        Some(ClusterSpecifier::ClusterHeader(_)) => return Ok(false),
        Some(_) | None if !cx.has(Feature::SpecifierChecked) => {}
        Some(_) | None => return without_cluster(cx.has(Feature::UnknownClustersSkipped), at, cx),
    }
    retry_policy(action.retry_policy.as_ref(), &at.field("retry_policy"), cx)?;
    Ok(true)
}

/// Handles a route without a cluster specifier that the client knows: later versions leave the
/// route out, earlier ones reject it.
fn without_cluster(is_skipped: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked<bool> {
    if is_skipped {
        return Ok(false);
    }
    let message = format_args!("no cluster specifier that the client has, must be cluster or weighted_clusters");
    Err(reject(&ROUTE_SPECIFIER_UNSUPPORTED, at, message, cx))
}

/// Checks weighted clusters; entries of weight 0 are skipped unseen.
fn weighted_clusters(message: &WeightedCluster, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let clusters = at.field("clusters");
    let reads_total = cx.has(Feature::TotalWeightChecked);
    let mut sum = 0u64;
    for (i, cluster) in message.clusters.iter().enumerate() {
        let weight = cluster.weight.unwrap_or(0);
        if weight == 0 {
            continue;
        }
        sum += u64::from(weight);
        if sum > u64::from(u32::MAX) && !reads_total {
            let message = format_args!("the weights add up to {sum}, must be at most {}", u32::MAX);
            return Err(reject(&WEIGHTED_CLUSTERS_SUM, at, message, cx));
        }
        let at = clusters.index(i);
        http_filter::overrides(
            &cluster.typed_per_filter_config,
            &at.field("typed_per_filter_config"),
            cx,
        )?;
    }
    let unset = match cx.has(Feature::TotalWeightAsWritten) {
        true => 0,
        false => OLD_TOTAL_WEIGHT,
    };
    let total = message.total_weight.unwrap_or(unset);
    // The client's own sum has 32 bits.
    let kept = sum & u64::from(u32::MAX);
    if reads_total && kept != u64::from(total) {
        let message = format_args!("the weights add up to {sum}, must be total_weight, which is {total}");
        return Err(reject(&WEIGHTED_CLUSTERS_SUM, at, message, cx));
    }
    if kept == 0 {
        let message = format_args!("no cluster has a weight above 0, at least one must");
        return Err(reject(&WEIGHTED_CLUSTERS_EMPTY, at, message, cx));
    }
    Ok(())
}
