//! The action of a route, as grpc-java reads it (XdsRouteConfigureResource `parseRouteAction`).

use prost_types::Duration;

use super::plugin::JavaPlugins;
use super::{check_valid, http_filter, matcher, rewrite, to_nanos};
use crate::shared::rules::{
    BACK_OFF_NOT_POSITIVE, BASE_INTERVAL_MISSING, MAX_INTERVAL_BELOW_BASE, NUM_RETRIES_TOO_BIG, NUM_RETRIES_ZERO,
    ROUTE_PLUGIN_UNKNOWN, ROUTE_SPECIFIER_UNSUPPORTED, WEIGHTED_CLUSTERS_EMPTY, WEIGHTED_CLUSTERS_SUM,
};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::ClusterSpecifier;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::hash_policy::PolicySpecifier;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::{HashPolicy, MaxStreamDuration};
use xdsctl_document::proto::pb::envoy::config::route::v3::{RetryPolicy, RouteAction, WeightedCluster};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::retry::DEFAULT_NUM_RETRIES;
use xdsctl_model::resource::route::RetryOn;

/// Converts the action at `at`.
pub(super) fn parse(
    action: &RouteAction,
    plugins: &JavaPlugins<'_>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked {
    if let Some(duration) = &action.max_stream_duration {
        max_stream_duration(duration, &at.field("max_stream_duration"), cx)?;
    }
    if let Some(policy) = action.retry_policy.as_ref().filter(|_| cx.has(Feature::RetryPolicy)) {
        retry_policy(policy, &at.field("retry_policy"), cx)?;
    }
    hash_policies(&action.hash_policy, &at.field("hash_policy"), cx)?;
    match &action.cluster_specifier {
        Some(ClusterSpecifier::WeightedClusters(clusters)) => {
            weighted_clusters(clusters, &at.field("weighted_clusters"), cx)
        }
        Some(ClusterSpecifier::ClusterSpecifierPlugin(name))
            if cx.has(Feature::RlsLb) && !plugins.contains(name.as_str()) =>
        {
            let message = format_args!("plugin `{name}` is not one of cluster_specifier_plugins");
            let at = at.field("cluster_specifier_plugin");
            Err(reject(&ROUTE_PLUGIN_UNKNOWN, &at, message, cx))
        }
        Some(ClusterSpecifier::ClusterSpecifierPlugin(_)) if !cx.has(Feature::RlsLb) => without_cluster(at, cx),
        Some(
            ClusterSpecifier::Cluster(_)
            | ClusterSpecifier::ClusterHeader(_)
            | ClusterSpecifier::ClusterSpecifierPlugin(_),
        ) => Ok(()),
        Some(_) | None => without_cluster(at, cx),
    }
}

/// Handles an action without a cluster specifier that the client knows: later versions skip the
/// route, earlier ones reject it.
fn without_cluster(at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if cx.has(Feature::UnknownClustersSkipped) {
        return Ok(());
    }
    let message = format_args!("no cluster specifier that the client has, must be cluster or weighted_clusters");
    Err(reject(&ROUTE_SPECIFIER_UNSUPPORTED, at, message, cx))
}

/// Checks the duration that counts: grpc_timeout_header_max, or else max_stream_duration.
fn max_stream_duration(message: &MaxStreamDuration, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if let Some(duration) = &message.grpc_timeout_header_max {
        to_nanos(duration, &at.field("grpc_timeout_header_max"), cx)?;
    } else if let Some(duration) = &message.max_stream_duration {
        to_nanos(duration, &at.field("max_stream_duration"), cx)?;
    }
    Ok(())
}

/// Reports a number of retries with which RPCs fail: a method config needs two attempts or more, in
/// 32 bits with a sign (`ManagedChannelServiceConfig.MethodInfo.retryPolicy`). A policy that
/// retries on nothing is not in a method config.
fn attempts(policy: &RetryPolicy, at: &Path<'_>, cx: &mut Validation<'_>) {
    let retries = policy.num_retries.unwrap_or(DEFAULT_NUM_RETRIES);
    let mut words = policy.retry_on.split(',');
    if retries.wrapping_add(1).cast_signed() >= 2
        || !words.any(|word| RetryOn::of_word(word, |it| cx.has(it)).is_some())
    {
        return;
    }
    let rule = if retries == 0 {
        &NUM_RETRIES_ZERO
    } else {
        &NUM_RETRIES_TOO_BIG
    };
    let message = format_args!("num_retries is {retries}: each RPC on this route fails with UNKNOWN");
    cx.report_as(Effect::Fails, rule, &at.field("num_retries"), message);
}

/// Checks a retry policy (`parseRetryPolicy`); num_retries may be any number.
fn retry_policy(policy: &RetryPolicy, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    attempts(policy, at, cx);
    let Some(back_off) = &policy.retry_back_off else {
        return Ok(());
    };
    let at = at.field("retry_back_off");
    let base_at = at.field("base_interval");
    let Some(base) = &back_off.base_interval else {
        let message = format_args!("base_interval is missing");
        return Err(reject(&BASE_INTERVAL_MISSING, &base_at, message, cx));
    };
    let ordered = |duration: &Duration| (duration.seconds, duration.nanos);
    check_valid(base, &base_at, cx)?;
    if ordered(base) <= (0, 0) {
        let (seconds, nanos) = ordered(base);
        let message = format_args!("base_interval is {seconds} s and {nanos} ns, must be above 0");
        return Err(reject(&BACK_OFF_NOT_POSITIVE, &base_at, message, cx));
    }
    let max_at = at.field("max_interval");
    let Some(max) = &back_off.max_interval else {
        // The maximum is ten times the base, which the client converts to nanoseconds.
        to_nanos(base, &base_at, cx)?;
        return Ok(());
    };
    check_valid(max, &max_at, cx)?;
    if ordered(max) < ordered(base) {
        let message = format_args!("max_interval is below base_interval");
        return Err(reject(&MAX_INTERVAL_BELOW_BASE, &max_at, message, cx));
    }
    Ok(())
}

/// Checks that the pattern of a rewrite compiles.
fn hash_policies(policies: &[HashPolicy], at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    for (i, policy) in policies.iter().enumerate() {
        let Some(PolicySpecifier::Header(header)) = &policy.policy_specifier else {
            continue;
        };
        let Some(rewrite) = &header.regex_rewrite else { continue };
        let Some(pattern) = &rewrite.pattern else { continue };
        if cx.has(Feature::RewriteNeedsEngine) && pattern.engine_type.is_none() {
            continue;
        }
        let at = at.index(i);
        let at = at.field("header");
        let at = at.field("regex_rewrite");
        matcher::regex(&pattern.regex, false, &at.field("pattern").field("regex"), cx)?;
        rewrite::note_exception(rewrite, pattern, &at, cx);
    }
    Ok(())
}

fn weighted_clusters(message: &WeightedCluster, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let clusters = at.field("clusters");
    // In versions without this feature, a weight of 2^31 or more is negative.
    let is_unsigned = cx.has(Feature::WeightsUnsigned);
    let mut sum = 0i64;
    for (i, cluster) in message.clusters.iter().enumerate() {
        let at = clusters.index(i);
        let at = at.field("typed_per_filter_config");
        http_filter::overrides(&cluster.typed_per_filter_config, &at, cx)?;
        let weight = cluster.weight.unwrap_or(0);
        sum += if is_unsigned {
            i64::from(weight)
        } else {
            i64::from(weight.cast_signed())
        };
    }
    let is_summed = cx.has(Feature::ClusterWeightsSummed);
    if message.clusters.is_empty() || is_summed && sum <= 0 {
        let message = format_args!("no cluster has a weight above 0, at least one must");
        return Err(reject(&WEIGHTED_CLUSTERS_EMPTY, at, message, cx));
    }
    if is_summed && sum > i64::from(u32::MAX) {
        let message = format_args!("the weights add up to {sum}, must be at most {}", u32::MAX);
        return Err(reject(&WEIGHTED_CLUSTERS_SUM, at, message, cx));
    }
    Ok(())
}
