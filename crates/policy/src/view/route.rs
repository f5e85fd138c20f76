//! Routes, and how their RPCs are retried.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::{Named, duration, filter_config, object, objects, optional, retry_policy, text, texts};
use crate::cel::{Record, Text, Value, View, nanoseconds};
use xdsctl_model::backoff::{Backoff, Growth};
use xdsctl_model::resource::filter::FilterOverride;
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, StringMatch, StringMatcher};
use xdsctl_model::resource::retry::BACKOFF_MULTIPLIER;
use xdsctl_model::resource::route::{
    Action, ClusterWeight, Destination, HashPolicy, HashPolicyKind, PathMatcher, RetryPolicy, Route, RouteAction,
    VirtualHost,
};
use xdsctl_model::resource::{Millis, RouteConfiguration};
use xdsctl_re2::Regex;

/// Waits that a `schedule` has at most: some clients retry without a limit.
const MAX_SCHEDULE: u32 = 100;

impl<'a> View<'a> for Named<'a, RouteConfiguration> {
    fn get(&self, field: &str) -> Value<'a> {
        let Named(name, of) = *self;
        match field {
            "name" => text(name),
            "virtual_hosts" => objects(&of.virtual_hosts),
            "cluster_specifier_plugins" => {
                let plugins = of.cluster_specifier_plugins.iter();
                let plugins = plugins.map(|(name, policy)| (Text::Borrowed(name), Value::of_json(&policy.json)));
                Value::Map(Rc::new(plugins.collect()))
            }
            _ => Value::Null,
        }
    }
}

impl Record for VirtualHost {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        let of = self;
        match field {
            "index" => Value::int(of.index),
            "name" => text(&of.name),
            "domains" => texts(&of.domains),
            "routes" => objects(&of.routes),
            "typed_per_filter_config" => overrides(&of.typed_per_filter_config),
            _ => Value::Null,
        }
    }
}

fn overrides(all: &BTreeMap<String, FilterOverride>) -> Value<'_> {
    let all = all.iter().map(|(name, of)| (Text::Borrowed(name.as_str()), object(of)));
    Value::Map(Rc::new(all.collect()))
}

impl Record for FilterOverride {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "disabled" => Value::Bool(self.disabled),
            "config" => optional(self.config.as_deref(), |config| filter_config(config, false)),
            _ => Value::Null,
        }
    }
}

impl Record for Route {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        let of = self;
        match (field, &of.action) {
            ("index", _) => Value::int(of.index),
            ("name", _) => text(&of.name),
            ("match", _) => Value::object(RouteMatch(of)),
            ("route", Action::Route(action)) => object(&**action),
            ("action", Action::NonForwarding) => text("non_forwarding_action"),
            ("action", Action::Unknown) => text("unsupported"),
            ("typed_per_filter_config", _) => overrides(&of.typed_per_filter_config),
            _ => Value::Null,
        }
    }
}

struct RouteMatch<'a>(&'a Route);

impl<'a> View<'a> for RouteMatch<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        let of = self.0;
        let path = |wanted: fn(&'a StringMatch) -> Option<&'a str>| match &of.path {
            PathMatcher::Text(matcher) => optional(wanted(&matcher.kind), text),
            PathMatcher::Regex(_) => Value::Null,
        };
        match (field, &of.path) {
            ("path", _) => path(|kind| match kind {
                StringMatch::Exact(path) => Some(path),
                _ => None,
            }),
            ("prefix", _) => path(|kind| match kind {
                StringMatch::Prefix(path) => Some(path),
                _ => None,
            }),
            ("safe_regex", PathMatcher::Regex(regex)) => text(regex.as_str()),
            ("safe_regex", _) => path(|kind| match kind {
                StringMatch::Regex(regex) => Some(regex.as_str()),
                _ => None,
            }),
            ("case_sensitive", PathMatcher::Text(matcher)) => Value::Bool(!matcher.ignore_case),
            ("headers", _) => objects(&of.headers),
            ("fraction_per_million", _) => optional(of.fraction_per_million, Value::int),
            _ => Value::Null,
        }
    }
}

impl Record for HeaderMatcher {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        let of = self;
        match (field, &of.kind) {
            ("name", _) => text(&of.name),
            ("string_match", HeaderMatch::String(matcher)) => object(matcher),
            ("range_match", HeaderMatch::Range { start, end }) => Value::object(Range(*start, *end)),
            ("present_match", HeaderMatch::Present(is_present)) => Value::Bool(*is_present),
            ("invert_match", _) => Value::Bool(of.invert_match),
            _ => Value::Null,
        }
    }
}

struct Range(i64, i64);

impl<'a> View<'a> for Range {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "start" => Value::Int(self.0),
            "end" => Value::Int(self.1),
            _ => Value::Null,
        }
    }
}

impl Record for StringMatcher {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match (field, &self.kind) {
            ("exact", StringMatch::Exact(of))
            | ("prefix", StringMatch::Prefix(of))
            | ("suffix", StringMatch::Suffix(of))
            | ("contains", StringMatch::Contains(of)) => text(of),
            ("safe_regex", StringMatch::Regex(regex)) => text(regex.as_str()),
            ("ignore_case", StringMatch::Regex(_)) => Value::Null,
            ("ignore_case", _) => Value::Bool(self.ignore_case),
            _ => Value::Null,
        }
    }
}

impl Record for RouteAction {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        let of = self;
        match (field, &of.destination) {
            ("cluster", Destination::Cluster(name)) => text(name),
            ("weighted_clusters", Destination::WeightedClusters(all)) => objects(all),
            ("cluster_specifier_plugin", Destination::Plugin(name)) => text(name),
            ("max_stream_duration", _) => optional(of.max_stream_duration, duration),
            ("retry_policy", _) => retry_policy(of),
            ("hash_policy", _) => objects(&of.hash_policies),
            ("auto_host_rewrite", _) => Value::Bool(of.auto_host_rewrite),
            _ => Value::Null,
        }
    }
}

impl Record for ClusterWeight {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match field {
            "index" => Value::int(self.index),
            "name" => text(&self.name),
            "weight" => Value::int(self.weight),
            "typed_per_filter_config" => overrides(&self.typed_per_filter_config),
            _ => Value::Null,
        }
    }
}

impl Record for HashPolicy {
    fn get<'a>(&'a self, field: &str) -> Value<'a> {
        match (field, &self.kind) {
            ("filter_state", HashPolicyKind::ChannelId) => text("io.grpc.channel_id"),
            ("header", HashPolicyKind::Header { name, .. }) => text(name),
            ("regex_rewrite", HashPolicyKind::Header { rewrite, .. }) => optional(rewrite.as_ref(), rewritten),
            ("terminal", _) => Value::Bool(self.terminal),
            _ => Value::Null,
        }
    }
}

fn rewritten<'a>((pattern, substitution): &'a (Regex, String)) -> Value<'a> {
    let fields = [("pattern", pattern.as_str()), ("substitution", substitution.as_str())];
    let fields = fields.map(|(name, of): (&'a str, &'a str)| (Text::Borrowed(name), text(of)));
    Value::Map(Rc::new(BTreeMap::from(fields)))
}

/// The retry policy of a route, which has one.
pub(crate) struct Retries<'a>(pub &'a RouteAction);

impl<'a> View<'a> for Retries<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        let Some(policy) = &self.0.retry_policy else {
            return Value::Null;
        };
        match field {
            "from" if self.0.retry_policy_inherited => text("virtual_host"),
            "from" => text("route"),
            "retry_on" => Value::list(policy.retry_on.iter().map(|code| text(code.token()))),
            "num_retries" => Value::int(policy.num_retries),
            "base_interval" => duration(policy.base_interval),
            "max_interval" => duration(policy.max_interval),
            "grpc" if !policy.retry_on.is_empty() => Value::object(GrpcRetries(policy)),
            "schedule" if !policy.retry_on.is_empty() => {
                let waits = schedule(policy.max_attempts(), policy.base_interval, policy.max_interval);
                Value::list(waits.map(duration))
            }
            "schedule" => Value::list([]),
            _ => Value::Null,
        }
    }
}

struct GrpcRetries<'a>(&'a RetryPolicy);

impl<'a> View<'a> for GrpcRetries<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        let policy = self.0;
        match field {
            "max_attempts" => Value::int(policy.max_attempts()),
            "initial_backoff" => duration(policy.base_interval),
            "max_backoff" => duration(policy.max_interval),
            "backoff_multiplier" => Value::int(BACKOFF_MULTIPLIER),
            "retryable_status_codes" => Value::list(policy.retry_on.iter().map(|code| text(code.code().name()))),
            _ => Value::Null,
        }
    }
}

/// The wait before each retry, without jitter.
fn schedule(attempts: u32, base: Millis, longest: Millis) -> impl Iterator<Item = Millis> {
    let mut backoff = Backoff::new(Growth {
        initial_ms: base.0,
        multiplier: f64::from(BACKOFF_MULTIPLIER),
        max_ms: longest.0,
    });
    let retries = attempts.saturating_sub(1).min(MAX_SCHEDULE);
    (0..retries).map(move |_| Millis(backoff.nominal_ms()))
}

/// Gives the retry policies in JSON of a parsed form their schedules, which it does not show.
pub(crate) fn add_schedules(json: &mut Json) {
    match json {
        Json::Array(list) => list.iter_mut().for_each(add_schedules),
        Json::Object(fields) => {
            fields.values_mut().for_each(add_schedules);
            let time = |name: &str| {
                let nanoseconds = nanoseconds(fields.get(name)?.as_str()?)?;
                i64::try_from(nanoseconds / 1_000_000).ok().map(Millis)
            };
            if let (Some(base), Some(longest)) = (time("base_interval"), time("max_interval")) {
                let grpc = fields.get("grpc").and_then(|grpc| grpc.get("max_attempts"));
                let attempts = grpc.and_then(Json::as_u64).unwrap_or_default();
                let waits = schedule(u32::try_from(attempts).unwrap_or(u32::MAX), base, longest);
                fields.insert(
                    "schedule".to_owned(),
                    waits.map(|wait| json!(wait.to_string())).collect(),
                );
            }
        }
        _ => {}
    }
}
