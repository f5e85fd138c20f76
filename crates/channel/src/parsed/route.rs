//! A RouteConfiguration as the client keeps it, with the retry policy in effect and its gRPC form
//! (A44).

use serde_json::{Value, json};

use super::object::ParsedObject;
use super::parsed_value::ParsedValue;
use super::{filter, matcher};
use xdsctl_model::resource::RouteConfiguration;
use xdsctl_model::resource::matcher::{StringMatch, StringMatcher};
use xdsctl_model::resource::retry;
use xdsctl_model::resource::route::{
    Action, ClusterWeight, Destination, HashPolicy, HashPolicyKind, PathMatcher, RetryPolicy, Route, RouteAction,
    VirtualHost,
};

/// The parsed form of a RouteConfiguration.
pub fn route_configuration(config: &RouteConfiguration) -> ParsedValue<'_> {
    let plugins = || {
        config
            .cluster_specifier_plugins
            .iter()
            .map(|(name, policy)| (name, policy.json.clone()))
    };
    ParsedObject::new()
        .stream("virtual_hosts", &config.virtual_hosts, |_, host| virtual_host(host))
        .with(|object| object.map("cluster_specifier_plugins", plugins()))
        .done()
}

/// The parsed form of a virtual host.
pub fn virtual_host(host: &VirtualHost) -> ParsedValue<'_> {
    let object = ParsedObject::new()
        .put("index", host.index)
        .put("name", host.name.as_str())
        .put("domains", json!(host.domains));
    object
        .stream("routes", &host.routes, |_, entry| ParsedValue::Plain(route(entry)))
        .with(|object| filter::overrides(object, &host.typed_per_filter_config))
        .done()
}

/// The parsed form of a route.
pub fn route(route: &Route) -> Value {
    let object = ParsedObject::new()
        .put("index", route.index)
        .set("name", route.name.as_str(), "")
        .put("match", route_match(route));
    let object = match &route.action {
        Action::Route(action) => object.put("route", route_action(action)),
        Action::NonForwarding => object.put("action", "non_forwarding_action"),
        Action::Unknown => object.put("action", "unsupported"),
    };
    filter::overrides(object, &route.typed_per_filter_config).done()
}

fn route_match(route: &Route) -> Value {
    let object = match &route.path {
        PathMatcher::Regex(regex) => ParsedObject::new().put("safe_regex", regex.as_str()),
        PathMatcher::Text(StringMatcher { kind, ignore_case }) => {
            let (name, text) = match kind {
                StringMatch::Exact(text) => ("path", text.as_str()),
                StringMatch::Prefix(text) => ("prefix", text.as_str()),
                StringMatch::Suffix(text) => ("suffix", text.as_str()),
                StringMatch::Contains(text) => ("contains", text.as_str()),
                StringMatch::Regex(regex) => ("safe_regex", regex.as_str()),
            };
            ParsedObject::new()
                .put(name, text)
                .set("case_sensitive", !ignore_case, true)
        }
    };
    object
        .list("headers", route.headers.iter().map(matcher::header))
        .optional("fraction_per_million", route.fraction_per_million.map(Value::from))
        .done()
}

fn route_action(action: &RouteAction) -> Value {
    let object = match &action.destination {
        Destination::Cluster(name) => ParsedObject::new().put("cluster", name.as_str()),
        Destination::WeightedClusters(clusters) => ParsedObject::new().put(
            "weighted_clusters",
            clusters.iter().map(weighted_cluster).collect::<Vec<_>>(),
        ),
        Destination::Plugin(name) => ParsedObject::new().put("cluster_specifier_plugin", name.as_str()),
    };
    let policy = action
        .retry_policy
        .as_ref()
        .map(|policy| retry_policy(policy, action.retry_policy_inherited));
    object
        .optional(
            "max_stream_duration",
            action.max_stream_duration.map(|d| d.to_string().into()),
        )
        .optional("retry_policy", policy)
        .list("hash_policy", action.hash_policies.iter().map(hash_policy))
        .set("auto_host_rewrite", action.auto_host_rewrite, false)
        .done()
}

fn weighted_cluster(cluster: &ClusterWeight) -> Value {
    let object = ParsedObject::new()
        .put("index", cluster.index)
        .put("name", cluster.name.as_str())
        .put("weight", cluster.weight);
    filter::overrides(object, &cluster.typed_per_filter_config).done()
}

fn hash_policy(policy: &HashPolicy) -> Value {
    let object = match &policy.kind {
        HashPolicyKind::ChannelId => ParsedObject::new().put("filter_state", "io.grpc.channel_id"),
        HashPolicyKind::Header { name, rewrite, .. } => {
            let rewrite = rewrite.as_ref().map(|(pattern, substitution)| {
                ParsedObject::new()
                    .put("pattern", pattern.as_str())
                    .put("substitution", substitution.as_str())
                    .done()
            });
            ParsedObject::new()
                .put("header", name.as_str())
                .optional("regex_rewrite", rewrite)
        }
    };
    object.set("terminal", policy.terminal, false).done()
}

/// The policy in xDS terms, and as the service config that the client makes of it; without a
/// condition there is none.
pub fn retry_policy(policy: &RetryPolicy, inherited: bool) -> Value {
    let names: Vec<&str> = policy.retry_on.iter().map(|code| code.token()).collect();
    let max_interval = retry::default_max_interval(policy.base_interval);
    ParsedObject::new()
        .put("from", if inherited { "virtual_host" } else { "route" })
        .put("retry_on", names)
        .set("num_retries", policy.num_retries, retry::DEFAULT_NUM_RETRIES)
        .time("base_interval", policy.base_interval, retry::DEFAULT_BASE_INTERVAL)
        .time("max_interval", policy.max_interval, max_interval)
        .optional("grpc", (!policy.retry_on.is_empty()).then(|| grpc_retry_policy(policy)))
        .done()
}

fn grpc_retry_policy(policy: &RetryPolicy) -> Value {
    let codes: Vec<&str> = policy.retry_on.iter().map(|code| code.code().name()).collect();
    ParsedObject::new()
        .put("max_attempts", policy.max_attempts())
        .put("initial_backoff", policy.base_interval.to_string())
        .put("max_backoff", policy.max_interval.to_string())
        .put("backoff_multiplier", retry::BACKOFF_MULTIPLIER)
        .put("retryable_status_codes", codes)
        .done()
}
