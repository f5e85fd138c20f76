//! The answer of `route` for programs, `xdsctl.route/v1`. Fields are added, never changed.

use serde::Serialize;
use serde_json::{Value, json};

use super::retry::{MethodConfigPolicy, failed};
use super::route::{RouteAnswer, details, filter_words};
use xdsctl_channel::rpc::{Mismatch, Selection, words};
use xdsctl_model::resource::route::Route;
use xdsctl_model::status::Status;

/// Name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.route/v1";

#[derive(Default, Serialize)]
struct RouteJson<'a> {
    schema: &'static str,
    /// The virtual host; null if there is none, or if the channel starts at a cluster.
    virtual_host: Option<Host<'a>>,
    /// The routes before the chosen one.
    tried: Vec<Tried<'a>>,
    /// The chosen route; null if no route takes the RPC.
    route: Option<Chosen<'a>>,
    /// The status of an RPC that fails here.
    error: Option<Value>,
    seed: u64,
}

#[derive(Serialize)]
struct Host<'a> {
    index: usize,
    name: &'a str,
    domain: Option<&'a str>,
    authority: &'a str,
}

#[derive(Serialize)]
struct Tried<'a> {
    index: usize,
    name: &'a str,
    matcher: String,
    why: String,
}

#[derive(Serialize)]
struct Chosen<'a> {
    index: Option<usize>,
    name: Option<&'a str>,
    key: &'a str,
    selected_key: &'a str,
    hash: String,
    hash_is_random: bool,
    timeout_ms: Option<i64>,
    retry: Option<Retry>,
    filters: Vec<Filter<'a>>,
    sessions: Vec<Session<'a>>,
    delay_ms: i64,
    /// The settings that follow from the route, in words.
    details: Vec<Value>,
}

#[derive(Serialize)]
struct Retry {
    #[serde(flatten)]
    policy: MethodConfigPolicy,
    from: &'static str,
}

#[derive(Serialize)]
struct Filter<'a> {
    name: &'a str,
    kind: &'static str,
    disabled: bool,
    config_from: &'static str,
    disabled_from: &'static str,
    config: String,
}

#[derive(Serialize)]
struct Session<'a> {
    cookie: &'a str,
    addresses: &'a str,
    cookie_cluster: &'a str,
    cluster: &'a str,
    /// Why the request's cookie is ignored; null if it is not.
    undecodable: Option<String>,
}

/// Returns the answer as a document.
pub fn document(answer: &RouteAnswer<'_>) -> impl Serialize {
    let config = answer.selector.config();
    let routes = answer.selector.routes();
    let tried = routes.iter().zip(answer.tried).map(|(route, why)| Tried {
        index: route.index,
        name: &route.name,
        matcher: match why {
            Mismatch::Path => "path".to_owned(),
            Mismatch::Header(index) => format!("headers[{index}]"),
            Mismatch::Fraction { .. } => "runtime_fraction".to_owned(),
        },
        why: words::mismatch(route, *why, answer.request, !answer.shows_secrets),
    });
    let host = config.virtual_host().filter(|_| !config.starts_at_cluster);
    let selection = answer.selected.as_ref().ok();
    RouteJson {
        schema: SCHEMA,
        virtual_host: host.map(|host| Host {
            index: host.index,
            name: &host.name,
            domain: host.domains.get(config.domain.domain).map(String::as_str),
            authority: &config.authority,
        }),
        tried: tried.collect(),
        route: selection.map(|selection| chosen(answer, selection, routes.get(selection.route))),
        error: answer.failure.map(failed),
        seed: answer.seed,
    }
}

/// Makes the answer for a channel that has no routes at all.
pub fn failure(status: &Status, seed: u64) -> impl Serialize {
    RouteJson {
        schema: SCHEMA,
        error: Some(failed(status)),
        seed,
        ..RouteJson::default()
    }
}

fn chosen<'a>(answer: &RouteAnswer<'_>, selection: &'a Selection<'_>, route: Option<&'a Route>) -> Chosen<'a> {
    let filters = selection.chain.iter().map(|filter| Filter {
        name: &filter.name,
        kind: filter.config.kind(),
        disabled: filter.disabled,
        config_from: filter.config_level.name(),
        disabled_from: filter.disabled_level.name(),
        config: filter_words(filter),
    });
    let sessions = selection.sessions.iter().map(|session| Session {
        cookie: &session.cookie.name,
        addresses: &session.addresses,
        cookie_cluster: &session.cookie_cluster,
        cluster: &session.cluster,
        undecodable: session.undecodable.map(|error| error.to_string()),
    });
    let action = route.and_then(Route::route_action);
    let details = action.into_iter().flat_map(|action| details(answer, selection, action));
    let details = details.map(|(layer, what)| json!({ "layer": layer, "what": what }));
    let inherited = action.is_some_and(|action| action.retry_policy_inherited);
    Chosen {
        index: route.map(|route| route.index),
        name: route.map(|route| route.name.as_str()),
        key: selection.key,
        selected_key: selection.selected_key,
        hash: format!("{:016x}", selection.hash),
        hash_is_random: selection.hash_is_random,
        timeout_ms: selection.timeout.map(|timeout| timeout.0),
        retry: selection.retry.map(|policy| Retry {
            policy: MethodConfigPolicy::new(policy),
            from: if inherited { "virtual host" } else { "route" },
        }),
        filters: filters.collect(),
        sessions: sessions.collect(),
        delay_ms: selection.fault.delay.0,
        details: details.collect(),
    }
}
