//! `parsed`: what a client keeps, as `--show parsed` has it. What is asked for often is taken from the value, the rest from that JSON.

use serde_json::Value as Json;

use crate::cel::{Text, Value, View};
use crate::schema::{Kind, typed};
use xdsctl_channel::parsed::{self, ParsedValue};
use xdsctl_model::resource::endpoints::{Endpoint, Locality, LocalityName};
use xdsctl_model::resource::filter::{FilterConfig, HttpFilter};
use xdsctl_model::resource::retry::BACKOFF_MULTIPLIER;
use xdsctl_model::resource::route::{Action, Destination, RetryPolicy, Route, RouteAction, VirtualHost};
use xdsctl_model::resource::{Cluster, Endpoints, LbConfig, Listener, Millis, RouteConfiguration};

/// Waits that a `schedule` has at most: some clients retry without a limit.
const MAX_SCHEDULE: u32 = 100;

/// What a view is made of, and whether its secrets may be printed.
#[derive(Debug)]
pub(crate) struct Seen<'a, T> {
    pub of: &'a T,
    /// Secrets in it are masked.
    pub redacts: bool,
}

/// A value and the name of its resource.
#[derive(Debug)]
pub(crate) struct Named<'a, T>(pub &'a str, pub Seen<'a, T>);

/// A value with its number.
struct Numbered<'a, T>(usize, Seen<'a, T>);

// Not derived: that would ask for `T: Copy`.
impl<T> Clone for Seen<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Seen<'_, T> {}

impl<T> Clone for Named<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Named<'_, T> {}

impl<'a, T> Seen<'a, T> {
    pub const fn of<U>(self, of: &'a U) -> Seen<'a, U> {
        Seen {
            of,
            redacts: self.redacts,
        }
    }

    /// JSON of the schema, without what may not be printed.
    fn json(self, shown: ParsedValue<'_>, kind: &'static str) -> Value<'a> {
        let shown = if self.redacts { shown.redacted() } else { shown };
        typed(&shown.to_value(), &Kind::Object(kind))
    }

    /// A field of such JSON.
    fn field(self, shown: Json, kind: &'static str, name: &str) -> Value<'a> {
        match self.json(ParsedValue::Plain(shown), kind) {
            Value::Map(map) => map.get(name).cloned().unwrap_or(Value::Null),
            _ => Value::Null,
        }
    }
}

pub(crate) fn text(text: &str) -> Value<'_> {
    Value::Text(Text::Borrowed(text))
}

pub(crate) fn optional<'a, T>(of: Option<T>, make: impl FnOnce(T) -> Value<'a>) -> Value<'a> {
    of.map_or(Value::Null, make)
}

pub(crate) fn duration<'a>(millis: Millis) -> Value<'a> {
    Value::Duration(i128::from(millis.0) * 1_000_000)
}

pub(crate) fn texts<'a, 't: 'a>(texts: impl IntoIterator<Item = &'t String>) -> Value<'a> {
    Value::list(texts.into_iter().map(|one| text(one)))
}

/// The same value with a few fields more.
fn with<'a>(value: Value<'a>, fields: impl IntoIterator<Item = (&'a str, Value<'a>)>) -> Value<'a> {
    let Value::Map(map) = value else {
        return value;
    };
    let mut map = std::rc::Rc::unwrap_or_clone(map);
    map.extend(fields.into_iter().map(|(name, value)| (Text::Borrowed(name), value)));
    Value::Map(map.into())
}

pub(crate) fn listener<'a>(Named(name, seen): Named<'a, Listener>) -> Value<'a> {
    with(seen.json(parsed::listener(seen.of), "listener"), [("name", text(name))])
}

pub(crate) fn filter<'a>(seen: Seen<'a, HttpFilter>) -> Value<'a> {
    seen.json(ParsedValue::Plain(parsed::filter(seen.of)), "filter")
}

pub(crate) fn cluster<'a>(Named(name, seen): Named<'a, Cluster>) -> Value<'a> {
    let policies = lb_policies(&seen.of.lb_policy.config);
    let more = [("name", text(name)), ("lb_policies", policies)];
    with(seen.json(parsed::cluster(seen.of), "cluster"), more)
}

/// The names of LB policies from the outermost in.
pub(crate) fn lb_policies<'a>(config: &LbConfig) -> Value<'a> {
    fn collect<'a>(config: &LbConfig, names: &mut Vec<Value<'a>>) {
        names.push(text(xdsctl_lb::name_of(config)));
        config.children().into_iter().for_each(|child| collect(child, names));
    }
    let mut names = Vec::new();
    collect(config, &mut names);
    Value::List(names.into())
}

pub(crate) fn retry_policy<'a>(seen: Seen<'a, RouteAction>) -> Value<'a> {
    let Some(policy) = &seen.of.retry_policy else {
        return Value::Null;
    };
    let shown = parsed::retry_policy(policy, seen.of.retry_policy_inherited);
    let shown = seen.json(ParsedValue::Plain(shown), "retry_policy");
    with(shown, [("schedule", Value::list(schedule(policy).map(duration)))])
}

/// The wait before each retry at most.
fn schedule(policy: &RetryPolicy) -> impl Iterator<Item = Millis> {
    let retries = policy.max_attempts().saturating_sub(1).min(MAX_SCHEDULE);
    let wait = |number| {
        let factor = i64::from(BACKOFF_MULTIPLIER).saturating_pow(number);
        policy.base_interval.0.saturating_mul(factor).min(policy.max_interval.0)
    };
    (0..retries).map(wait).map(Millis).collect::<Vec<_>>().into_iter()
}

impl<'a> View<'a> for Named<'a, RouteConfiguration> {
    fn get(&self, field: &str) -> Value<'a> {
        let Named(name, seen) = *self;
        match field {
            "name" => text(name),
            "virtual_hosts" => Value::list(seen.of.virtual_hosts.iter().map(|host| Value::object(seen.of(host)))),
            "cluster_specifier_plugins" => {
                let plugins = seen.of.cluster_specifier_plugins.iter();
                let plugins = plugins.map(|(name, policy)| (text_key(name), Value::of_json(&policy.json)));
                Value::Map(std::rc::Rc::new(plugins.collect()))
            }
            _ => Value::Null,
        }
    }
}

fn text_key(name: &str) -> Text<'_> {
    Text::Borrowed(name)
}

impl<'a> View<'a> for Seen<'a, VirtualHost> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "index" => Value::int(self.of.index),
            "name" => text(&self.of.name),
            "domains" => texts(&self.of.domains),
            "routes" => Value::list(self.of.routes.iter().map(|route| Value::object(self.of(route)))),
            _ => self.field(parsed::virtual_host(self.of).to_value(), "virtual_host", field),
        }
    }
}

impl<'a> View<'a> for Seen<'a, Route> {
    fn get(&self, field: &str) -> Value<'a> {
        match (field, &self.of.action) {
            ("index", _) => Value::int(self.of.index),
            ("name", _) => text(&self.of.name),
            ("route", Action::Route(action)) => Value::object(RouteWithAction(self.of(action), *self)),
            ("route", _) => Value::Null,
            _ => self.field(parsed::route(self.of), "route", field),
        }
    }
}

/// A route's action; what is asked for rarely comes from the route.
struct RouteWithAction<'a>(Seen<'a, RouteAction>, Seen<'a, Route>);

impl<'a> View<'a> for RouteWithAction<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        let RouteWithAction(seen, route) = self;
        match (field, &seen.of.destination) {
            ("cluster", Destination::Cluster(name)) => text(name),
            ("cluster" | "cluster_specifier_plugin", Destination::WeightedClusters(_)) => Value::Null,
            ("max_stream_duration", _) => optional(seen.of.max_stream_duration, duration),
            ("retry_policy", _) => retry_policy(*seen),
            ("auto_host_rewrite", _) => Value::Bool(seen.of.auto_host_rewrite),
            _ => {
                let shown = parsed::route(route.of);
                seen.field(shown.get("route").cloned().unwrap_or_default(), "route_action", field)
            }
        }
    }
}

impl<'a> View<'a> for Named<'a, Endpoints> {
    fn get(&self, field: &str) -> Value<'a> {
        let Named(name, seen) = *self;
        match field {
            "name" => text(name),
            "priorities" => {
                let priorities = seen.of.priorities.iter().enumerate();
                Value::list(priorities.map(|(number, all)| Value::object(Numbered(number, seen.of(all)))))
            }
            _ => {
                // The rest of it is short.
                let rest = Endpoints {
                    priorities: Vec::new(),
                    drops: seen.of.drops.clone(),
                };
                seen.field(parsed::endpoints(&rest).to_value(), "endpoints", field)
            }
        }
    }
}

impl<'a> View<'a> for Numbered<'a, Vec<Locality>> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "priority" => Value::int(self.0),
            "localities" => Value::list(self.1.of.iter().map(|one| Value::object(self.1.of(one)))),
            _ => Value::Null,
        }
    }
}

impl<'a> View<'a> for Seen<'a, Locality> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "index" => Value::int(self.of.index),
            "locality" => locality_name(&self.of.name),
            "load_balancing_weight" => Value::int(self.of.weight),
            "lb_endpoints" => Value::list(self.of.endpoints.iter().map(|one| Value::object(self.of(one)))),
            _ => Value::Null,
        }
    }
}

/// The three names of a locality.
pub(crate) fn locality_name(name: &LocalityName) -> Value<'_> {
    Value::object(LocalityView(name))
}

struct LocalityView<'a>(&'a LocalityName);

impl<'a> View<'a> for LocalityView<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "region" => text(&self.0.region),
            "zone" => text(&self.0.zone),
            "sub_zone" => text(&self.0.sub_zone),
            _ => Value::Null,
        }
    }
}

impl<'a> View<'a> for Seen<'a, Endpoint> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "index" => Value::int(self.of.index),
            "address" => Value::text(self.of.address.to_string()),
            "load_balancing_weight" => Value::int(self.of.weight),
            "health_status" => text(self.of.health.name()),
            "hostname" => text(&self.of.hostname),
            _ => self.field(parsed::endpoint(self.of), "endpoint", field),
        }
    }
}

/// The config of an HTTP filter.
pub(crate) fn filter_config<'a>(config: &FilterConfig, redacts: bool) -> Value<'a> {
    let shown = ParsedValue::Plain(parsed::filter_config(config));
    let shown = if redacts { shown.redacted() } else { shown };
    typed(&shown.to_value(), &Kind::Map(Box::new(Kind::Any)))
}
