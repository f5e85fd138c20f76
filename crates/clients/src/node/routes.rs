//! RouteConfiguration, as grpc-js-xds reads it (xds-resource-type/route-config-resource-type.ts
//! `validateResource`).

use super::regex::{self, PatternUse};
use super::{fault, http_filter};
use crate::shared::rules::{
    BACK_OFF_BELOW_1MS, BACK_OFF_NOT_POSITIVE, BACK_OFF_TOO_LONG, BASE_INTERVAL_MISSING, CLUSTER_NAME_EMPTY,
    DOMAIN_PATTERN_BAD, DOMAIN_STAR_LITERAL, HEADER_MATCHER_WITHOUT_KIND, MAX_INTERVAL_BELOW_BASE, NUM_RETRIES_ZERO,
    PATH_SPECIFIER_UNSUPPORTED, ROUTE_ACTION_UNKNOWN, ROUTE_SPECIFIER_UNSUPPORTED, ROUTE_WITHOUT_MATCH,
    WEIGHTED_CLUSTERS_SUM,
};
use crate::shared::{Checked, OLD_TOTAL_WEIGHT, OpenedHost};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::route::v3::header_matcher::HeaderMatchSpecifier;
use xdsctl_document::proto::pb::envoy::config::route::v3::retry_policy::RetryBackOff;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::hash_policy::PolicySpecifier;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::{ClusterSpecifier, HashPolicy};
use xdsctl_document::proto::pb::envoy::config::route::v3::route_match::PathSpecifier;
use xdsctl_document::proto::pb::envoy::config::route::v3::{
    HeaderMatcher, RetryPolicy, Route, RouteAction, RouteMatch, WeightedCluster, route::Action,
};
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::string_matcher::MatchPattern;
use xdsctl_document::proto::pb::well_known::Duration;
use xdsctl_model::diag::{Effect, Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// A route has a non_forwarding_action, of which a client's process dies as soon as it uses the virtual host.
    NON_FORWARDING_KILLS = "rds-non-forwarding-action-kills", RouteConfiguration, Fails, "grpc-js-xds xds-dependency-manager.ts handleRouteConfig";
}

/// Which side uses the routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoutesUser {
    Client,
    Server,
    /// Either side: the configuration is a resource of its own.
    Unknown,
}

/// Converts the resource, or a route_config inside of a Listener.
pub(super) fn from_proto(hosts: &[OpenedHost], user: RoutesUser, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let hosts_at = at.field("virtual_hosts");
    for (i, host) in hosts.iter().enumerate() {
        virtual_host(host, user, &hosts_at.index(i), cx)?;
    }
    Ok(())
}

fn virtual_host(
    OpenedHost { host, routes }: &OpenedHost,
    user: RoutesUser,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    domains(&host.domains, &at.field("domains"), cx);
    overrides(&host.typed_per_filter_config, at, cx)?;
    retry_policy(host.retry_policy.as_ref(), &at.field("retry_policy"), cx);
    let routes_at = at.field("routes");
    let mut of_servers = Vec::new();
    for (i, message) in routes.iter().enumerate() {
        if matches!(message.action, Some(Action::NonForwardingAction(_))) {
            of_servers.push(i);
        }
        route(message, &routes_at.index(i), cx)?;
    }
    if !of_servers.is_empty() {
        http_filter::note_not_applied(&host.typed_per_filter_config, &at.field("typed_per_filter_config"), cx);
    }
    // If all routes of a virtual host are for servers, the virtual host is too.
    let kills = match user {
        RoutesUser::Client => true,
        RoutesUser::Server => false,
        RoutesUser::Unknown => of_servers.len() < routes.len(),
    };
    let kills = kills && cx.has(Feature::LenientRoutes);
    for i in of_servers.into_iter().filter(|_| kills) {
        let why = format_args!("it is accepted, and a client's process dies when it uses the virtual host");
        let at = routes_at.index(i);
        cx.report_if_accepted(&NON_FORWARDING_KILLS, &at.field("non_forwarding_action"), why);
    }
    Ok(())
}

/// Checks that each pattern has at most one `*`, at the beginning or at the end.
fn domains(patterns: &[String], at: &Path<'_>, cx: &mut Validation<'_>) {
    for (i, pattern) in patterns.iter().enumerate() {
        let Some(first) = pattern.find('*') else { continue };
        if pattern.rfind('*') != Some(first) {
            let why = format_args!("domain pattern `{pattern}` has more than one `*`");
            fault(&DOMAIN_STAR_LITERAL, &at.index(i), why, cx);
        }
        if first != 0 && first != pattern.len() - 1 {
            let why = format_args!("domain pattern `{pattern}` has a `*` in the middle");
            fault(&DOMAIN_PATTERN_BAD, &at.index(i), why, cx);
        }
    }
}

/// Checks `typed_per_filter_config` below `at`.
fn overrides(map: &std::collections::BTreeMap<String, Any>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if !cx.has(Feature::FaultInjection) {
        return Ok(());
    }
    http_filter::overrides(map, &at.field("typed_per_filter_config"), cx)
}

fn route(route: &Route, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let match_at = at.field("match");
    match &route.r#match {
        Some(matches) => route_match(matches, &match_at, cx),
        None => fault(&ROUTE_WITHOUT_MATCH, &match_at, format_args!("match is missing"), cx),
    }
    let other = match &route.action {
        Some(Action::Route(action)) => return route_action(route, action, at, cx),
        Some(Action::NonForwardingAction(_)) if !cx.has(Feature::LenientRoutes) => "non_forwarding_action",
        Some(Action::NonForwardingAction(_)) => {
            http_filter::note_not_applied(&route.typed_per_filter_config, &at.field("typed_per_filter_config"), cx);
            return Ok(());
        }
        Some(Action::Redirect(_)) => "redirect",
        Some(Action::DirectResponse(_)) => "direct_response",
        Some(Action::FilterAction(_)) => "filter_action",
        None => {
            fault(&ROUTE_ACTION_UNKNOWN, at, format_args!("the route has no action"), cx);
            return Ok(());
        }
    };
    let why = format_args!("action {other} is not supported, must be route");
    fault(&ROUTE_ACTION_UNKNOWN, &at.field(other), why, cx);
    Ok(())
}

fn route_match(matches: &RouteMatch, at: &Path<'_>, cx: &mut Validation<'_>) {
    match &matches.path_specifier {
        Some(PathSpecifier::Prefix(_) | PathSpecifier::Path(_)) => {}
        Some(PathSpecifier::SafeRegex(safe)) => regex::note_death(&safe.regex, PatternUse::Match(""), at, cx),
        Some(_) | None => {
            let why = format_args!("the path specifier must be prefix, path or safe_regex");
            fault(&PATH_SPECIFIER_UNSUPPORTED, at, why, cx);
        }
    }
    let headers_at = at.field("headers");
    for (i, header) in matches.headers.iter().enumerate() {
        header_matcher(header, &headers_at.index(i), cx);
    }
}

fn header_matcher(header: &HeaderMatcher, at: &Path<'_>, cx: &mut Validation<'_>) {
    let of_header = PatternUse::Match(&header.name);
    match &header.header_match_specifier {
        Some(HeaderMatchSpecifier::ContainsMatch(_)) => {
            let why = format_args!("the client does not know contains_match, must be another kind of match");
            fault(&HEADER_MATCHER_WITHOUT_KIND, at, why, cx);
        }
        Some(HeaderMatchSpecifier::SafeRegexMatch(safe)) => regex::note_death(&safe.regex, of_header, at, cx),
        Some(HeaderMatchSpecifier::StringMatch(matcher)) => {
            if let Some(MatchPattern::SafeRegex(safe)) = &matcher.match_pattern {
                regex::note_death(&safe.regex, of_header, &at.field("string_match"), cx);
            }
        }
        None if !cx.has(Feature::LenientRoutes) => {
            let why = format_args!("no kind of match is set, must be");
            fault(&HEADER_MATCHER_WITHOUT_KIND, at, why, cx);
        }
        Some(_) | None => {}
    }
}

fn route_action(route: &Route, action: &RouteAction, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let action_at = at.field("route");
    let unsupported = match &action.cluster_specifier {
        Some(ClusterSpecifier::ClusterSpecifierPlugin(_)) => Some("cluster_specifier_plugin"),
        Some(ClusterSpecifier::InlineClusterSpecifierPlugin(_)) => Some("inline_cluster_specifier_plugin"),
        Some(
            ClusterSpecifier::Cluster(_) | ClusterSpecifier::WeightedClusters(_) | ClusterSpecifier::ClusterHeader(_),
        )
        | None => None,
    };
    if action.cluster_specifier.is_none() && !cx.has(Feature::LenientRoutes) {
        let why = format_args!("no cluster is named");
        fault(&ROUTE_SPECIFIER_UNSUPPORTED, &action_at, why, cx);
    }
    if let Some(field) = unsupported {
        let why = format_args!("{field} is not supported, must be cluster or weighted_clusters");
        fault(&ROUTE_SPECIFIER_UNSUPPORTED, &action_at.field(field), why, cx);
    }
    overrides(&route.typed_per_filter_config, at, cx)?;
    retry_policy(action.retry_policy.as_ref(), &action_at.field("retry_policy"), cx);
    hash_policies(&action.hash_policy, &action_at.field("hash_policy"), cx);
    match &action.cluster_specifier {
        Some(ClusterSpecifier::Cluster(name)) => {
            cluster_name(name, &action_at.field("cluster"), cx);
            Ok(())
        }
        Some(ClusterSpecifier::WeightedClusters(clusters)) => {
            weighted_clusters(clusters, &action_at.field("weighted_clusters"), cx)
        }
        Some(_) | None => Ok(()),
    }
}

/// Notes rewrites of hash policies that kill the process. The client checks nothing here: it
/// compiles a pattern when the route is used, and reads the substitution when something matches.
fn hash_policies(policies: &[HashPolicy], at: &Path<'_>, cx: &mut Validation<'_>) {
    for (i, policy) in policies.iter().enumerate() {
        let Some(PolicySpecifier::Header(header)) = &policy.policy_specifier else {
            continue;
        };
        if let Some(rewrite) = &header.regex_rewrite {
            let at = at.index(i);
            let at = at.field("header");
            regex::note_rewrite(rewrite, &at.field("regex_rewrite"), cx);
        }
    }
}

/// Reports an empty cluster name: a client waits until it has all clusters of its virtual host,
/// also this one.
fn cluster_name(name: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    if name.is_empty() && !cx.has(Feature::ReadsAsServer) {
        let why = format_args!("the name of a cluster is empty: it is accepted, and RPCs of the virtual host wait");
        cx.report_if_accepted(&CLUSTER_NAME_EMPTY, at, why);
    }
}

fn weighted_clusters(message: &WeightedCluster, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let clusters = message.clusters.iter();
    let sum: u64 = clusters.map(|cluster| u64::from(cluster.weight.unwrap_or(0))).sum();
    if sum == 0 || sum > u64::from(u32::MAX) {
        let why = format_args!("weights add up to {sum}, must be 1 to {}", u32::MAX);
        fault(&WEIGHTED_CLUSTERS_SUM, at, why, cx);
    }
    let total = message.total_weight.unwrap_or(OLD_TOTAL_WEIGHT);
    if cx.has(Feature::TotalWeightDrawn) && sum < u64::from(total) {
        let why = format_args!(
            "the weights add up to {sum}, and a number below total_weight, {total}, is drawn: RPCs beyond the sum end with a TypeError"
        );
        cx.report_as(Effect::Advice, &WEIGHTED_CLUSTERS_SUM, at, why);
    }
    let clusters_at = at.field("clusters");
    for (i, cluster) in message.clusters.iter().enumerate() {
        cluster_name(&cluster.name, &clusters_at.index(i).field("name"), cx);
        overrides(&cluster.typed_per_filter_config, &clusters_at.index(i), cx)?;
    }
    Ok(())
}

/// Checks a retry policy (`validateRetryPolicy`).
fn retry_policy(policy: Option<&RetryPolicy>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(policy) = policy.filter(|_| cx.has(Feature::RetryPolicy)) else {
        return;
    };
    if policy.num_retries == Some(0) {
        let why = format_args!("num_retries is 0, must be at least 1");
        fault(&NUM_RETRIES_ZERO, &at.field("num_retries"), why, cx);
    }
    if let Some(back_off) = &policy.retry_back_off {
        retry_back_off(back_off, &at.field("retry_back_off"), cx);
    }
}

fn retry_back_off(back_off: &RetryBackOff, at: &Path<'_>, cx: &mut Validation<'_>) {
    let base_at = at.field("base_interval");
    let Some(base) = &back_off.base_interval else {
        let why = format_args!("base_interval is missing");
        return fault(&BASE_INTERVAL_MISSING, &base_at, why, cx);
    };
    let base_ms = millis(base);
    let max = back_off.max_interval.as_ref();
    let max_ms = max.map_or(10 * i64::from(base_ms), |max| millis(max).into());
    if base_ms <= 0 && !cx.has(Feature::BaseIntervalChecked) {
        // These versions check neither interval.
        return;
    }
    if base_ms <= 0 {
        if is_wrapped(base, base_ms) {
            too_long("base_interval", base_ms.into(), &base_at, cx);
        } else if (base.seconds, base.nanos) > (0, 0) {
            let why = format_args!("base_interval is below 1 ms, which counts as 0");
            fault(&BACK_OFF_BELOW_1MS, &base_at, why, cx);
        } else {
            let why = format_args!("base_interval is not above 0, must be");
            fault(&BACK_OFF_NOT_POSITIVE, &base_at, why, cx);
        }
    }
    if max_ms < base_ms.into() {
        let max_at = at.field("max_interval");
        match &back_off.max_interval {
            Some(max) if is_wrapped(max, millis(max)) => too_long("max_interval", max_ms, &max_at, cx),
            // If the base is not above 0, ten times the base is not above it either. That is the
            // same fault again.
            None => {}
            Some(_) => {
                let why = format_args!("max_interval is below base_interval");
                fault(&MAX_INTERVAL_BELOW_BASE, &max_at, why, cx);
            }
        }
    }
}

fn too_long(field: &str, read: i64, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("{field} is 2147483648 ms or more, of which 32 bits are kept: {read} ms");
    fault(&BACK_OFF_TOO_LONG, at, why, cx);
}

/// Returns a Duration in milliseconds, of which the low 32 bits are kept (`durationToMs`).
fn millis(duration: &Duration) -> i32 {
    to_int32(exact_millis(duration))
}

#[expect(clippy::cast_precision_loss, reason = "the client has one kind of number")]
fn exact_millis(duration: &Duration) -> f64 {
    duration.seconds as f64 * 1000.0 + f64::from(duration.nanos) / 1_000_000.0
}

/// Says whether `durationToMs` has cut bits off.
fn is_wrapped(duration: &Duration, millis: i32) -> bool {
    exact_millis(duration).trunc() != f64::from(millis)
}

/// Converts a number as `| 0` does in JavaScript (ECMAScript ToInt32).
fn to_int32(number: f64) -> i32 {
    const TWO_TO_32: f64 = 4_294_967_296.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the remainder is below 2^32"
    )]
    let low = number.trunc().rem_euclid(TWO_TO_32) as u32;
    low.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::to_int32;

    #[test]
    fn numbers_wrap_at_32_bits() {
        assert_eq!(to_int32(0.9), 0);
        assert_eq!(to_int32(-0.9), 0);
        assert_eq!(to_int32(-1.0), -1);
        assert_eq!(to_int32(2_147_483_648.0), i32::MIN);
        assert_eq!(to_int32(4_294_967_297.0), 1);
    }
}
