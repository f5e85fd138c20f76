//! RouteAction: where a route sends an RPC, and how (A28, A31, A81).
//!
//! Follows C-core `RouteActionParse` (xds_route_config_parser.cc): duration, hash policies, retry
//! policy, host rewrite, cluster specifier, in this order. An unknown cluster specifier drops the
//! route, but what was rejected before it stays rejected.

use super::{hash_policy, retry};
use crate::core::filter::overrides;
use crate::core::plugin::Plugins;
use crate::shared::OLD_TOTAL_WEIGHT;
use crate::shared::rules::{
    CLUSTER_NAME_EMPTY, ROUTE_PLUGIN_UNKNOWN, ROUTE_SPECIFIER_UNSUPPORTED, WEIGHTED_CLUSTERS_EMPTY,
    WEIGHTED_CLUSTERS_SUM,
};
use xdsctl_document::proto::duration;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::{
    ClusterSpecifier, HostRewriteSpecifier, MaxStreamDuration,
};
use xdsctl_document::proto::pb::envoy::config::route::v3::{RouteAction as Pb, WeightedCluster};
use xdsctl_document::proto::wire::{BEHAVIOUR_FIELD_IGNORED, no_host_rewrite};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::route::{ClusterWeight, Destination, RouteAction};
use xdsctl_model::text::first_escaped;
use xdsctl_model::text::percent;

rules! {
    /// An entry of weighted_clusters has no weight.
    CLUSTER_WEIGHT_MISSING = "rds-cluster-weight-missing", RouteConfiguration, Nack, "gRFC A28; C-core RouteActionParse";
    /// A cluster name that is not escaped breaks the client's service config.
    CLUSTER_NAME_UNESCAPED = "rds-cluster-name-unescaped", RouteConfiguration, Fails, "C-core XdsResolver::CreateServiceConfig";
    /// A route to an optional plugin that the client does not have is dropped.
    ROUTE_PLUGIN_OPTIONAL = "rds-route-plugin-optional", RouteConfiguration, Dropped, "C-core RouteActionParse",
        also [Go Java] "so is the route to a plugin that is left out";
    /// An entry of weighted_clusters with weight 0 is dropped.
    CLUSTER_WEIGHT_ZERO = "rds-cluster-weight-zero", RouteConfiguration, Dropped as Note, "gRFC A28; C-core RouteActionParse",
        also [Go Java Node] "grpc-go leaves the entry out too (routesProtoToSlice), and grpc-java and grpc-js-xds never draw it";
    /// A weighted cluster or a route gets less than one RPC of 10,000.
    SHARE_NEGLIGIBLE = "rds-share-negligible", RouteConfiguration, Advice, "gRFC A28; C-core RouteActionParse, RouteRuntimeFractionParse",
        also [Go Java Node] "a share is one of the same weights in every client";
    /// An auto_host_rewrite from a server that is not trusted has no effect.
    AUTO_HOST_REWRITE_UNTRUSTED = "rds-auto-host-rewrite-untrusted", RouteConfiguration, Ignored as Warning, "gRFC A81; C-core RouteActionParse",
        also [Go Java] "A81 asks every client for a trusted server";
    /// A max_stream_duration is not read because grpc_timeout_header_max is set.
    MAX_STREAM_DURATION_HIDDEN = "rds-max-stream-duration-hidden", RouteConfiguration, Ignored, "gRFC A31; C-core RouteActionParse",
        also [Go Java Node] "all take grpc_timeout_header_max first (A31)";
    /// A timeout below a millisecond is no timeout at all.
    MAX_STREAM_DURATION_BELOW_1MS = "rds-max-stream-duration-below-1ms", RouteConfiguration, Advice, "C-core ParseDuration, CreateMethodConfig";
}

/// Says whether a share is so small that it is probably a mistake: a wrong denominator, percents
/// among parts per million.
pub(super) fn is_negligible(part: u64, whole: u64) -> bool {
    part.saturating_mul(10_000) < whole
}

/// Converts the action at `at`; `None` if the client rejects or drops the route at its destination.
pub fn from_proto(message: &Pb, plugins: &Plugins, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<RouteAction> {
    let max_stream_duration = message
        .max_stream_duration
        .as_ref()
        .and_then(|d| max_stream_duration(d, &at.field("max_stream_duration"), cx));
    let hash_policies = hash_policy::from_proto(&message.hash_policy, &at.field("hash_policy"), cx);
    let retry_policy = message
        .retry_policy
        .as_ref()
        .map(|policy| retry::from_proto(policy, &at.field("retry_policy"), cx));
    let auto_host_rewrite = host_rewrite(message.host_rewrite_specifier.as_ref(), at, cx);
    let destination = destination(message.cluster_specifier.as_ref(), plugins, at, cx)?;
    Some(RouteAction {
        hash_policies,
        retry_policy,
        retry_policy_inherited: false,
        destination,
        unweighted: Vec::new(),
        max_stream_duration,
        auto_host_rewrite,
        untrusted_host_rewrite: !auto_host_rewrite
            && message.host_rewrite_specifier == Some(HostRewriteSpecifier::AutoHostRewrite(true)),
    })
}

/// Converts max_stream_duration: `grpc_timeout_header_max` hides `max_stream_duration`.
fn max_stream_duration(message: &MaxStreamDuration, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Millis> {
    let (value, name) = match (&message.grpc_timeout_header_max, &message.max_stream_duration) {
        (Some(value), hidden) => {
            if hidden.is_some() {
                cx.report(
                    &MAX_STREAM_DURATION_HIDDEN,
                    &at.field("max_stream_duration"),
                    format_args!("not read, because grpc_timeout_header_max is set"),
                );
            }
            (value, "grpc_timeout_header_max")
        }
        (None, Some(value)) => (value, "max_stream_duration"),
        (None, None) => return None,
    };
    let at = at.field(name);
    let millis = duration::parse(value, &at, cx);
    if millis.0 == 0 && value.nanos > 0 {
        cx.report(
            &MAX_STREAM_DURATION_BELOW_1MS,
            &at,
            format_args!("{} ns rounds down to 0, which is no timeout", value.nanos),
        );
    }
    Some(millis)
}

/// Converts auto_host_rewrite, which counts only from a trusted server; no other rewrite is read.
fn host_rewrite(specifier: Option<&HostRewriteSpecifier>, at: &Path<'_>, cx: &mut Validation<'_>) -> bool {
    let ignored = match specifier {
        None => return false,
        Some(HostRewriteSpecifier::AutoHostRewrite(on)) => {
            let trusted = cx.server().trusted_xds_server;
            // Another client may not look at the field at all.
            let is_read = cx.of_reader(|reader| reader.is_core() || reader.has(Feature::AuthorityRewrite));
            if *on && !trusted && is_read {
                cx.report(
                    &AUTO_HOST_REWRITE_UNTRUSTED,
                    &at.field("auto_host_rewrite"),
                    format_args!("ignored, because the xDS server is not marked `trusted_xds_server` in the bootstrap"),
                );
            }
            return *on && trusted;
        }
        Some(HostRewriteSpecifier::HostRewriteLiteral(_)) => "host_rewrite_literal",
        Some(HostRewriteSpecifier::HostRewriteHeader(_)) => "host_rewrite_header",
        Some(HostRewriteSpecifier::HostRewritePathRegex(_)) => "host_rewrite_path_regex",
        Some(HostRewriteSpecifier::HostRewrite(_)) => "host_rewrite",
    };
    cx.report(
        &BEHAVIOUR_FIELD_IGNORED,
        &at.field(ignored),
        format_args!("gRPC does not read `{ignored}`"),
    )
    .help(no_host_rewrite());
    false
}

/// Converts the cluster specifier; `None` if the client rejects or drops the route.
fn destination(
    specifier: Option<&ClusterSpecifier>,
    plugins: &Plugins,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<Destination> {
    let (name, help) = match specifier {
        Some(ClusterSpecifier::Cluster(name)) => {
            check_cluster_name(name, &at.field("cluster"), cx);
            return Some(Destination::Cluster(name.clone()));
        }
        Some(ClusterSpecifier::WeightedClusters(clusters)) => {
            return Some(weighted_clusters(clusters, &at.field("weighted_clusters"), cx));
        }
        Some(ClusterSpecifier::ClusterSpecifierPlugin(name)) if cx.has(Feature::RlsLb) => {
            return plugin(name, plugins, &at.field("cluster_specifier_plugin"), cx);
        }
        Some(ClusterSpecifier::ClusterSpecifierPlugin(_)) => (
            "cluster_specifier_plugin",
            Some("cluster specifier plugins are switched off in the environment"),
        ),
        Some(ClusterSpecifier::ClusterHeader(_)) => ("cluster_header", None),
        Some(ClusterSpecifier::InlineClusterSpecifierPlugin(_)) => ("inline_cluster_specifier_plugin", None),
        None => {
            cx.report(
                &ROUTE_SPECIFIER_UNSUPPORTED,
                at,
                format_args!("no cluster is named, the client drops the route"),
            );
            return None;
        }
    };
    let diagnostic = cx.report(
        &ROUTE_SPECIFIER_UNSUPPORTED,
        &at.field(name),
        format_args!("gRPC has no {name}, the client drops the route"),
    );
    if let Some(help) = help {
        diagnostic.help(help);
    }
    None
}

/// Converts weighted_clusters; entries of weight 0 are validated and then dropped.
fn weighted_clusters(message: &WeightedCluster, at: &Path<'_>, cx: &mut Validation<'_>) -> Destination {
    let clusters_at = at.field("clusters");
    let mut kept = Vec::with_capacity(message.clusters.len());
    let mut sum = 0_u64;
    for (index, cluster) in message.clusters.iter().enumerate() {
        let at = clusters_at.index(index);
        let typed_per_filter_config = overrides::from_proto(&cluster.typed_per_filter_config, &at, cx);
        check_cluster_name(&cluster.name, &at.field("name"), cx);
        match cluster.weight {
            None => {
                cx.report(
                    &CLUSTER_WEIGHT_MISSING,
                    &at.field("weight"),
                    format_args!("weight is missing, must be set"),
                );
            }
            Some(0) => {
                cx.report(
                    &CLUSTER_WEIGHT_ZERO,
                    &at.field("weight"),
                    format_args!("weight is 0: no RPC goes to `{}`", cluster.name),
                );
                continue;
            }
            Some(_) => {}
        }
        let weight = cluster.weight.unwrap_or(0);
        sum = sum.saturating_add(u64::from(weight));
        kept.push(ClusterWeight {
            index,
            name: cluster.name.clone(),
            weight,
            typed_per_filter_config,
        });
    }
    // A cluster without a weight is still a cluster here, so only its own finding is reported.
    if kept.is_empty() {
        cx.report(
            &WEIGHTED_CLUSTERS_EMPTY,
            at,
            format_args!("no cluster has a weight above 0, at least one must"),
        );
    } else if !cx.has(Feature::CollectsFaults) && sum != u64::from(message.total_weight.unwrap_or(OLD_TOTAL_WEIGHT)) {
        cx.report(
            &WEIGHTED_CLUSTERS_SUM,
            at,
            format_args!("the weights add up to {sum}, must be total_weight, which is 100 unless it is set"),
        );
    } else if sum > u64::from(u32::MAX) {
        cx.report(
            &WEIGHTED_CLUSTERS_SUM,
            at,
            format_args!("the weights add up to {sum}, must be at most {}", u32::MAX),
        );
    } else {
        for cluster in kept
            .iter()
            .filter(|cluster| cluster.weight > 0 && is_negligible(cluster.weight.into(), sum))
        {
            let (weight, name) = (cluster.weight, &cluster.name);
            cx.report(
                &SHARE_NEGLIGIBLE,
                &clusters_at.index(cluster.index).field("weight"),
                format_args!(
                    "weight is {weight} of {sum}: {} of RPCs go to `{name}`",
                    percent(weight.into(), sum)
                ),
            );
        }
    }
    Destination::WeightedClusters(kept)
}

/// Resolves a cluster specifier plugin by name.
fn plugin(name: &str, plugins: &Plugins, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Destination> {
    let why = "the plugin's name is empty, must be one of cluster_specifier_plugins";
    cx.check(!name.is_empty(), &ROUTE_PLUGIN_UNKNOWN, at, why)?;
    let why =
        format_args!("plugin `{name}` is optional and of a type that the client does not have: the route is dropped");
    cx.check(!plugins.is_dropped(name), &ROUTE_PLUGIN_OPTIONAL, at, why)?;
    if !plugins.is_declared(name) {
        let nearest = xdsctl_model::text::nearest(name, plugins.names());
        let diagnostic = cx.report(
            &ROUTE_PLUGIN_UNKNOWN,
            at,
            format_args!("plugin `{name}` is not one of cluster_specifier_plugins"),
        );
        if let Some(nearest) = nearest {
            diagnostic.help(format!("did you mean `{nearest}`?"));
        }
    }
    check_escapes(name, "plugin", at, cx);
    Some(Destination::Plugin(name.to_owned()))
}

/// Reports an empty cluster name, and one that breaks the service config.
fn check_cluster_name(name: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = "the cluster's name is empty, must not be";
    cx.check(!name.is_empty(), &CLUSTER_NAME_EMPTY, at, why);
    check_escapes(name, "cluster", at, cx);
}

/// Reports a name that the client cannot paste into the JSON text of its service config.
///
/// The client does not escape the name: a quote or a control character makes the whole text
/// unreadable. A backslash begins an escape, which makes the text unreadable too or names another
/// cluster.
fn check_escapes(name: &str, what: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let bad = match first_escaped(name) {
        None => return,
        Some(b'"') => "a quote",
        Some(b'\\') => "a backslash",
        Some(_) => "a control character",
    };
    let result = if serde_json::from_str::<String>(&format!("\"{name}\"")).is_ok() {
        "RPCs to it fail"
    } else {
        "every RPC of the channel fails"
    };
    cx.report(
        &CLUSTER_NAME_UNESCAPED,
        at,
        format_args!("{what} name `{name}` has {bad}, which the client does not escape: {result}"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::HashPolicy as HashPolicyPb;
    use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::hash_policy::{Header, PolicySpecifier};
    use xdsctl_document::proto::pb::envoy::config::route::v3::weighted_cluster::ClusterWeight as ClusterWeightPb;
    use xdsctl_model::profile::{Profile, ServerFacts};

    /// Converts an action from a trusted or another server, with no plugins; returns it with the
    /// findings.
    fn convert(message: &Pb, trusted: bool) -> (Option<RouteAction>, Vec<String>) {
        let profile = Profile::default();
        let server = ServerFacts {
            trusted_xds_server: trusted,
            ..ServerFacts::default()
        };
        let mut cx = Validation::new(&profile, &server);
        let action = from_proto(message, &Plugins::default(), &Path::ROOT, &mut cx);
        let found = cx.finish();
        let found = found.iter().map(|d| format!("{} {}", d.rule.id, d.path)).collect();
        (action, found)
    }

    fn to(specifier: ClusterSpecifier) -> Pb {
        Pb {
            cluster_specifier: Some(specifier),
            ..Pb::default()
        }
    }

    fn weighted(weights: &[(&str, Option<u32>)]) -> Pb {
        let cluster = |(name, weight): &(&str, Option<u32>)| ClusterWeightPb {
            name: (*name).to_owned(),
            weight: *weight,
            ..ClusterWeightPb::default()
        };
        to(ClusterSpecifier::WeightedClusters(WeightedCluster {
            clusters: weights.iter().map(cluster).collect(),
            ..WeightedCluster::default()
        }))
    }

    #[test]
    fn weights_of_zero_leave_gaps_in_the_indices() {
        let (action, findings) = convert(&weighted(&[("a", Some(1)), ("b", Some(0)), ("c", Some(3))]), false);
        let Some(Destination::WeightedClusters(kept)) = action.map(|a| a.destination) else {
            panic!("dropped");
        };
        let kept: Vec<_> = kept.iter().map(|c| (c.index, c.name.as_str(), c.weight)).collect();
        assert_eq!(kept, [(0, "a", 1), (2, "c", 3)]);
        assert_eq!(
            findings,
            ["rds-cluster-weight-zero weighted_clusters.clusters[1].weight"]
        );
    }

    #[test]
    fn a_cluster_without_weight_is_no_empty_list() {
        let (_, findings) = convert(&weighted(&[("", None)]), false);
        assert_eq!(
            findings,
            [
                "rds-cluster-name-empty weighted_clusters.clusters[0].name",
                "rds-cluster-weight-missing weighted_clusters.clusters[0].weight",
            ]
        );
    }

    #[test]
    fn weights_may_add_up_to_32_bits() {
        let halves = [("a", Some(u32::MAX / 2)), ("b", Some(u32::MAX / 2 + 1))];
        assert!(convert(&weighted(&halves), false).1.is_empty());
        let (_, findings) = convert(&weighted(&[("a", Some(u32::MAX)), ("b", Some(1))]), false);
        assert_eq!(findings, ["rds-weighted-clusters-sum weighted_clusters"]);
        let (_, findings) = convert(&weighted(&[]), false);
        assert_eq!(findings, ["rds-weighted-clusters-empty weighted_clusters"]);
    }

    #[test]
    fn an_unknown_specifier_drops_the_route_and_keeps_what_was_rejected() {
        let mut message = to(ClusterSpecifier::ClusterHeader("h".to_owned()));
        message.hash_policy = vec![HashPolicyPb {
            terminal: true,
            policy_specifier: Some(PolicySpecifier::Header(Header::default())),
        }];
        let (action, findings) = convert(&message, false);
        assert_eq!(action, None);
        assert_eq!(
            findings,
            [
                "rds-hash-header-name-empty hash_policy[0].header.header_name",
                "rds-route-specifier-unsupported cluster_header",
            ]
        );
    }

    #[test]
    fn auto_host_rewrite_counts_from_a_trusted_server_only() {
        let mut message = to(ClusterSpecifier::Cluster("c".to_owned()));
        message.host_rewrite_specifier = Some(HostRewriteSpecifier::AutoHostRewrite(true));
        let (action, findings) = convert(&message, true);
        assert!(action.is_some_and(|a| a.auto_host_rewrite));
        assert!(findings.is_empty());
        let (action, findings) = convert(&message, false);
        assert!(action.is_some_and(|a| !a.auto_host_rewrite));
        assert_eq!(findings, ["rds-auto-host-rewrite-untrusted auto_host_rewrite"]);
    }

    #[test]
    fn names_that_break_the_service_config_are_reported() {
        for (name, fails) in [
            ("a\"b", true),
            ("a\\b", true),
            ("a\\", true),
            ("a\nb", true),
            ("a b{},é\u{7f}", false),
        ] {
            let (action, findings) = convert(&to(ClusterSpecifier::Cluster(name.to_owned())), false);
            assert!(action.is_some());
            assert_eq!(!findings.is_empty(), fails, "{name:?}");
        }
    }

    #[test]
    fn grpc_timeout_header_max_hides_max_stream_duration() {
        let seconds = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
        let mut message = to(ClusterSpecifier::Cluster("c".to_owned()));
        message.max_stream_duration = Some(MaxStreamDuration {
            max_stream_duration: seconds(-1),
            grpc_timeout_header_max: seconds(2),
        });
        let (action, findings) = convert(&message, false);
        assert_eq!(action.and_then(|a| a.max_stream_duration), Some(Millis(2000)));
        assert_eq!(
            findings,
            ["rds-max-stream-duration-hidden max_stream_duration.max_stream_duration"]
        );
    }
}
