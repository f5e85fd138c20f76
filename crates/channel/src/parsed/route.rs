//! A RouteConfiguration as the client keeps it, with the retry policy in effect and its gRPC form
//! (A44).

use super::fields::{FieldValue, Fields, Form};
use xdsctl_model::resource::matcher::{StringMatch, StringMatcher};
use xdsctl_model::resource::retry;
use xdsctl_model::resource::route::{
    Action, ClusterWeight, Destination, HashPolicy, HashPolicyKind, PathMatcher, RetryPolicy, Route, RouteAction,
    VirtualHost,
};
use xdsctl_model::resource::{Millis, RouteConfiguration};

/// The most waits that a `schedule` lists, because some clients retry without a limit.
const MAX_SCHEDULE: usize = 100;

impl Fields for RouteConfiguration {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        let plugins = self.cluster_specifier_plugins.iter();
        // Routes that stand in a listener have no name.
        form.unprinted("name", || "")
            .objects("virtual_hosts", &self.virtual_hosts, true)
            .map(
                "cluster_specifier_plugins",
                plugins.map(|(name, policy)| (name, &policy.json)),
            );
    }
}

impl Fields for VirtualHost {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("index", self.index)
            .put("name", &self.name)
            .items("domains", &self.domains)
            .objects("routes", &self.routes, true)
            .map("typed_per_filter_config", &self.typed_per_filter_config);
    }
}

impl Fields for Route {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("index", self.index)
            .set("name", self.name.as_str(), "")
            .object("match", |form| route_match(self, form));
        match &self.action {
            Action::Route(action) => form.put("route", &**action),
            Action::NonForwarding => form.put("action", "non_forwarding_action"),
            Action::Unknown => form.put("action", "unsupported"),
        }
        .map("typed_per_filter_config", &self.typed_per_filter_config);
    }
}

fn route_match<'a>(route: &'a Route, form: &mut Form<'a, '_>) {
    match &route.path {
        PathMatcher::Regex(regex) => form.put("safe_regex", regex.as_str()),
        PathMatcher::Text(StringMatcher { kind, ignore_case }) => match kind {
            StringMatch::Exact(text) => form.put("path", text),
            StringMatch::Prefix(text) => form.put("prefix", text),
            StringMatch::Suffix(text) => form.put("suffix", text),
            StringMatch::Contains(text) => form.put("contains", text),
            StringMatch::Regex(regex) => form.put("safe_regex", regex.as_str()),
        }
        .set("case_sensitive", !ignore_case, true),
    }
    .list("headers", &route.headers)
    .optional("fraction_per_million", route.fraction_per_million);
}

impl Fields for RouteAction {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        match &self.destination {
            Destination::Cluster(name) => form.put("cluster", name),
            Destination::WeightedClusters(clusters) => form.items("weighted_clusters", clusters),
            Destination::Plugin(name) => form.put("cluster_specifier_plugin", name),
        }
        .optional("max_stream_duration", self.max_stream_duration);
        match &self.retry_policy {
            Some(policy) => form.object("retry_policy", |form| {
                retries(policy, self.retry_policy_inherited, form)
            }),
            None => form.mark("retry_policy", FieldValue::Null, true),
        }
        .list("hash_policy", &self.hash_policies)
        .set("auto_host_rewrite", self.auto_host_rewrite, false);
    }
}

impl Fields for ClusterWeight {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("index", self.index)
            .put("name", &self.name)
            .put("weight", self.weight)
            .map("typed_per_filter_config", &self.typed_per_filter_config);
    }
}

impl Fields for HashPolicy {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        match &self.kind {
            HashPolicyKind::ChannelId => form.put("filter_state", "io.grpc.channel_id"),
            HashPolicyKind::Header { name, rewrite, .. } => {
                form.put("header", name);
                match rewrite {
                    Some((pattern, substitution)) => form.object("regex_rewrite", move |form| {
                        form.put("pattern", pattern.as_str()).put("substitution", substitution);
                    }),
                    None => form.mark("regex_rewrite", FieldValue::Null, true),
                }
            }
        }
        .set("terminal", self.terminal, false);
    }
}

/// Lists the retry policy in xDS terms, and as the service config that the client makes of it.
/// Without a retry condition there is no service config.
fn retries<'a>(policy: &'a RetryPolicy, inherited: bool, form: &mut Form<'a, '_>) {
    let max_interval = retry::default_max_interval(policy.base_interval);
    form.put("from", if inherited { "virtual_host" } else { "route" })
        .items("retry_on", policy.retry_on.iter().map(|code| code.token()))
        .set("num_retries", policy.num_retries, retry::DEFAULT_NUM_RETRIES)
        .set("base_interval", policy.base_interval, retry::DEFAULT_BASE_INTERVAL)
        .set("max_interval", policy.max_interval, max_interval)
        .unprinted("schedule", || FieldValue::list(schedule(policy)));
    match policy.retry_on.is_empty() {
        true => form.mark("grpc", FieldValue::Null, true),
        false => form.object("grpc", |form| grpc_retries(policy, form)),
    };
}

fn grpc_retries<'a>(policy: &'a RetryPolicy, form: &mut Form<'a, '_>) {
    form.put("max_attempts", policy.max_attempts())
        .put("initial_backoff", policy.base_interval)
        .put("max_backoff", policy.max_interval)
        .put("backoff_multiplier", retry::BACKOFF_MULTIPLIER)
        .items(
            "retryable_status_codes",
            policy.retry_on.iter().map(|code| code.code().name()),
        );
}

/// The wait before each retry, without jitter; empty if nothing is retried.
fn schedule(policy: &RetryPolicy) -> impl Iterator<Item = Millis> {
    let retries = if policy.retry_on.is_empty() { 0 } else { MAX_SCHEDULE };
    crate::rpc::retry::schedule(policy)
        .map(|wait| wait.nominal)
        .take(retries)
}
