//! RouteConfiguration, as a client keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{FamilyReader, matcher, millis, rewrite};
use crate::shared::names::CHANNEL_ID_KEY;
use crate::shared::{Opened, OpenedHost, fields};
use xdsctl_document::proto::pb::envoy::config::core::v3::RuntimeFractionalPercent;
use xdsctl_document::proto::pb::envoy::config::route::v3::route::Action as ActionPb;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::hash_policy::PolicySpecifier;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::{
    ClusterSpecifier, HashPolicy as HashPolicyPb, HostRewriteSpecifier,
};
use xdsctl_document::proto::pb::envoy::config::route::v3::route_match::PathSpecifier;
use xdsctl_document::proto::pb::envoy::config::route::v3::{self as pb, Route as RoutePb, RouteMatch};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::matcher::{HeaderView, StringMatch, StringMatcher};
use xdsctl_model::resource::retry::{DEFAULT_BASE_INTERVAL, DEFAULT_NUM_RETRIES, default_max_interval};
use xdsctl_model::resource::route::{
    Action, ClusterWeight, Destination, HashPolicy, HashPolicyKind, PathMatcher, RetryBounds, RetryOn, RetryPolicy,
    Route, RouteAction, RouteConfiguration, VirtualHost,
};
use xdsctl_model::resource::{LbPolicy, Millis};

/// The plugins that the client has, by name.
type KnownPlugins = BTreeMap<String, Arc<LbPolicy>>;

/// Returns the names of the plugins that routes use.
pub(crate) fn used_plugins(hosts: &[VirtualHost]) -> BTreeSet<&str> {
    let routes = hosts.iter().flat_map(|host| &host.routes);
    routes.filter_map(|route| route.destination()?.plugin()).collect()
}

impl FamilyReader<'_> {
    /// Reads a RouteConfiguration that is a resource of its own, or is in a Listener.
    pub(super) fn route_config(&self, message: &pb::RouteConfiguration, opened: &Opened) -> RouteConfiguration {
        let mut plugins = KnownPlugins::new();
        for plugin in &message.cluster_specifier_plugins {
            let Some(extension) = &plugin.extension else { continue };
            let any = extension.typed_config.as_ref();
            if let Some(policy) = any.and_then(|any| (self.dialect.plugin)(any, self.profile)) {
                plugins.insert(extension.name.clone(), Arc::new(policy));
            }
        }
        let mut virtual_hosts = Vec::with_capacity(message.virtual_hosts.len());
        for (index, host) in opened.hosts(message).iter().enumerate() {
            virtual_hosts.push(self.virtual_host(host, index, &plugins));
        }
        let used = used_plugins(&virtual_hosts);
        plugins.retain(|name, _| used.contains(name.as_str()));
        RouteConfiguration {
            virtual_hosts,
            cluster_specifier_plugins: plugins,
        }
    }

    fn virtual_host(&self, opened: &OpenedHost, index: usize, plugins: &KnownPlugins) -> VirtualHost {
        let message = &opened.host;
        let retry = message.retry_policy.as_ref().map(|policy| self.retry_policy(policy));
        let routes = opened.routes.iter().enumerate();
        VirtualHost {
            index,
            name: message.name.clone(),
            domains: message.domains.clone(),
            routes: routes
                .filter_map(|(index, message)| self.route(message, index, retry.as_ref(), plugins))
                .collect(),
            typed_per_filter_config: self.overrides(&message.typed_per_filter_config),
        }
    }

    /// Reads a route; `None` if the client leaves it out.
    fn route(
        &self,
        message: &RoutePb,
        index: usize,
        of_host: Option<&RetryPolicy>,
        plugins: &KnownPlugins,
    ) -> Option<Route> {
        let matched = message.r#match.as_ref()?;
        if !matched.query_parameters.is_empty() && !self.has(Feature::QueryParametersUnread) {
            return None;
        }
        let action = match &message.action {
            Some(ActionPb::Route(action)) => match self.route_action(action, of_host, plugins) {
                Some(action) => Action::Route(Box::new(action)),
                // A server of Node looks only at the kind of an action.
                None if self.has(Feature::ReadsAsServer) && self.has(Feature::LenientRoutes) => Action::Unknown,
                None => return None,
            },
            Some(ActionPb::NonForwardingAction(_)) => Action::NonForwarding,
            _ => Action::Unknown,
        };
        let headers = matched.headers.iter();
        Some(Route {
            index,
            name: message.name.clone(),
            path: self.path(matched)?,
            headers: headers.filter_map(|header| self.header_matcher(header)).collect(),
            fraction_per_million: matched.runtime_fraction.as_ref().and_then(|it| self.fraction(it)),
            action,
            typed_per_filter_config: self.overrides(&message.typed_per_filter_config),
        })
    }

    /// Reads an action; `None` if the client leaves the route out.
    fn route_action(
        &self,
        message: &pb::RouteAction,
        of_host: Option<&RetryPolicy>,
        plugins: &KnownPlugins,
    ) -> Option<RouteAction> {
        let destination = match message.cluster_specifier.as_ref()? {
            ClusterSpecifier::Cluster(name) => Destination::Cluster(name.clone()),
            ClusterSpecifier::WeightedClusters(clusters) => {
                Destination::WeightedClusters(self.weighted_clusters(&clusters.clusters))
            }
            ClusterSpecifier::ClusterSpecifierPlugin(name) if plugins.contains_key(name) => {
                Destination::Plugin(name.clone())
            }
            _ => return None,
        };
        let of_host = of_host.filter(|_| !self.has(Feature::HostRetryUnread));
        let own = message.retry_policy.as_ref().map(|policy| self.retry_policy(policy));
        let duration = message.max_stream_duration.as_ref().and_then(|durations| {
            let header_max = durations.grpc_timeout_header_max.as_ref();
            header_max.or(durations.max_stream_duration.as_ref())
        });
        let policies = message.hash_policy.iter();
        let rewrites = message.host_rewrite_specifier == Some(HostRewriteSpecifier::AutoHostRewrite(true));
        let auto_host_rewrite = rewrites && self.server.trusted_xds_server && self.has(Feature::AuthorityRewrite);
        Some(RouteAction {
            hash_policies: policies.filter_map(|policy| self.hash_policy(policy)).collect(),
            retry_policy_inherited: own.is_none() && of_host.is_some(),
            retry_policy: own.or_else(|| of_host.cloned()),
            unweighted: self.unweighted(message),
            destination,
            max_stream_duration: duration.map(millis),
            auto_host_rewrite,
            untrusted_host_rewrite: rewrites && !auto_host_rewrite,
        })
    }

    /// Returns the clusters of weight 0, if the client watches them.
    fn unweighted(&self, message: &pb::RouteAction) -> Vec<(usize, String)> {
        match &message.cluster_specifier {
            Some(ClusterSpecifier::WeightedClusters(clusters)) if self.dialect.watches_unweighted => {
                let clusters = clusters.clusters.iter().enumerate();
                let unweighted = clusters.filter(|(_, cluster)| cluster.weight.is_none_or(|weight| weight == 0));
                unweighted
                    .map(|(index, cluster)| (index, cluster.name.clone()))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the weighted clusters that have a weight.
    fn weighted_clusters(&self, clusters: &[pb::weighted_cluster::ClusterWeight]) -> Vec<ClusterWeight> {
        let clusters = clusters.iter().enumerate();
        let weighted = clusters.filter_map(|(index, cluster)| {
            Some(ClusterWeight {
                index,
                name: cluster.name.clone(),
                weight: cluster.weight.filter(|weight| *weight > 0)?,
                typed_per_filter_config: self.overrides(&cluster.typed_per_filter_config),
            })
        });
        weighted.collect()
    }

    /// Reads a retry policy (A44); a policy without a code retries nothing.
    fn retry_policy(&self, message: &pb::RetryPolicy) -> RetryPolicy {
        let (mut retry_on, mut lost_tokens) = (BTreeSet::new(), Vec::new());
        for word in message.retry_on.split(',').filter(|word| !word.is_empty()) {
            match RetryOn::of_word(word, |feature| self.has(feature)) {
                Some(code) => _ = retry_on.insert(code),
                None => lost_tokens.push(word.to_owned()),
            }
        }
        let back_off = message.retry_back_off.as_ref();
        let bounds = RetryBounds::of(|feature| self.has(feature));
        let interval = |duration: prost_types::Duration| match bounds {
            RetryBounds::Rpc => millis(&duration).max(Millis(1)),
            RetryBounds::Attempts if self.has(Feature::SecondsTenfold) => millis(&prost_types::Duration {
                seconds: duration.seconds.saturating_mul(10),
                ..duration
            }),
            RetryBounds::Channel
            | RetryBounds::Unlimited
            | RetryBounds::UnlimitedFromZero
            | RetryBounds::Attempts
            | RetryBounds::Unconnected => millis(&duration),
        };
        let base_interval = back_off.map_or(DEFAULT_BASE_INTERVAL, |back_off| {
            interval(back_off.base_interval.unwrap_or_default())
        });
        let max_interval = back_off.and_then(|back_off| back_off.max_interval);
        RetryPolicy {
            retry_on,
            num_retries: message.num_retries.unwrap_or(DEFAULT_NUM_RETRIES),
            base_interval,
            max_interval: max_interval.map_or_else(|| default_max_interval(base_interval), interval),
            lost_tokens,
            bounds,
        }
    }

    /// Reads a hash policy; `None` if the client does not have its kind.
    fn hash_policy(&self, message: &HashPolicyPb) -> Option<HashPolicy> {
        let view = HeaderView::of(|feature| self.has(feature));
        let kind = match message.policy_specifier.as_ref()? {
            PolicySpecifier::FilterState(state) if state.key == CHANNEL_ID_KEY => HashPolicyKind::ChannelId,
            PolicySpecifier::Header(header) => HashPolicyKind::Header {
                name: match view {
                    HeaderView::Completed => header.header_name.clone(),
                    HeaderView::AsSent | HeaderView::OfApplication | HeaderView::OfMetadata | HeaderView::OfRequest => {
                        header.header_name.to_ascii_lowercase()
                    }
                },
                rewrite: header.regex_rewrite.as_ref().and_then(|rewrite| {
                    let pattern = rewrite.pattern.as_ref();
                    let is_without_engine = pattern.is_none_or(|pattern| pattern.engine_type.is_none());
                    if rewrite.substitution.is_empty() && self.has(Feature::EmptyRewriteUnread)
                        || is_without_engine && self.has(Feature::RewriteNeedsEngine)
                    {
                        return None;
                    }
                    let pattern = rewrite.pattern.as_ref().map_or("", |pattern| &pattern.regex);
                    let pattern = matcher::regex(pattern)?;
                    let substitution = self.substitution(&rewrite.substitution, &pattern.groups());
                    Some((pattern, substitution))
                }),
                view,
            },
            _ => return None,
        };
        Some(HashPolicy {
            kind,
            terminal: message.terminal,
        })
    }

    fn substitution(&self, written: &str, groups: &[&str]) -> String {
        if self.has(Feature::DollarGroups) {
            rewrite::of_dollars(written, groups)
        } else if self.has(Feature::EscapedDollarGroups) {
            rewrite::of_escaped_dollars(written, groups)
        } else if self.has(Feature::HeadersOfMetadata) {
            rewrite::of_long_numbers(written, groups)
        } else {
            written.to_owned()
        }
    }

    fn path(&self, message: &RouteMatch) -> Option<PathMatcher> {
        let kind = match message.path_specifier.as_ref()? {
            PathSpecifier::Prefix(prefix) => StringMatch::Prefix(prefix.clone()),
            PathSpecifier::Path(path) => StringMatch::Exact(path.clone()),
            PathSpecifier::SafeRegex(safe) => return self.whole(&safe.regex).map(PathMatcher::Regex),
            _ => return None,
        };
        let folds = self.has(Feature::PathCaseFolded);
        Some(PathMatcher::Text(StringMatcher {
            kind,
            ignore_case: message.case_sensitive.map_or(folds, |is_sensitive| !is_sensitive),
        }))
    }

    /// Returns parts per million in 32 bits. A missing default_value is 0, or with
    /// [`Feature::FractionUnbounded`] no fraction. An unknown denominator is a million.
    fn fraction(&self, fraction: &RuntimeFractionalPercent) -> Option<u32> {
        let is_unbounded = self.has(Feature::FractionUnbounded);
        let Some(value) = fraction.default_value.as_ref() else {
            return (!is_unbounded).then_some(0);
        };
        let factor = fields::per_million(value.denominator).unwrap_or(1);
        if self.has(Feature::FractionAsWritten) {
            // A numerator that does not fit a signed number is negative, and counts as 0.
            let numerator = i32::try_from(value.numerator).map_or(0, i32::unsigned_abs);
            return Some(numerator.saturating_mul(factor));
        }
        Some(match is_unbounded {
            true => value.numerator.saturating_mul(factor),
            false => value.numerator.wrapping_mul(factor),
        })
    }
}
