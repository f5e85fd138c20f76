//! The config selector: which cluster an RPC goes to, and with what hash, timeout, retries, filters and session.
//!
//! A [`Selector`] is made once for a configuration and asked for every RPC; asking allocates nothing but for cookies and
//! repeated headers. Chance comes in as a function, so that the same draws give the same answer. Follows C-core
//! `XdsResolver::XdsConfigSelector` (xds_resolver.cc) and the HTTP filters that run above the picks.

pub(crate) mod chain;
mod draws;
pub(crate) mod fault;
pub mod hash;
pub(crate) mod matching;
mod request;
pub mod retry;
mod session;
pub mod weights;
pub mod words;

use std::sync::Arc;

pub use chain::{Chain, ChainFilter, Level};
pub use draws::{Draw, Draws, Purpose};
pub use fault::FaultOutcome;
pub use matching::Mismatch;
pub use request::Request;
pub use retry::Retries;
pub use session::Session;

use crate::client::config::XdsConfig;
use crate::model::Millis;
use crate::model::filter::{FilterConfig, HttpFilter};
use crate::model::route::{Action, Destination, RetryPolicy, Route, RouteAction};
use crate::status::Status;

/// Prefix of the key of a cluster.
pub const CLUSTER_PREFIX: &str = "cluster:";

/// Prefix of the key of a cluster specifier plugin.
pub const PLUGIN_PREFIX: &str = "cluster_specifier_plugin:";

/// What the channel brings to every RPC.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChannelFacts {
    /// The channel's random number, hashed by `filter_state` policies.
    pub id: u64,
    /// RPCs that fault injection is delaying in this process.
    pub active_faults: u32,
}

/// The config selector of one configuration.
#[derive(Debug)]
pub struct Selector {
    config: Arc<XdsConfig>,
    routes: Vec<Vec<Choice>>,
}

/// A cluster, or plugin, that a route can choose.
#[derive(Debug)]
struct Choice {
    key: Box<str>,
    /// Draws below this, and not below that of the choice before, choose it.
    end: u64,
    chain: Chain,
}

/// Why an RPC fails before anything is picked; so does one that waits for ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No route takes it.
    NoRoute,
    /// The route that takes it, by position among the kept ones, is not one that a client follows.
    InappropriateAction(usize),
}

impl Refusal {
    /// The status of the RPC.
    pub fn status(self) -> Status {
        Status::unavailable(match self {
            Refusal::NoRoute => "No matching route found in xDS route config",
            Refusal::InappropriateAction(_) => "Matching route has inappropriate action",
        })
    }
}

/// What was selected for an RPC.
#[derive(Debug)]
pub struct Selection<'s> {
    /// Position of the route among the kept ones.
    pub route: usize,
    /// Position of the cluster among those of the route, before any session.
    pub choice: usize,
    /// Key in the cluster manager: `cluster:NAME`. A session may have put another cluster of the route here.
    pub key: &'s str,
    /// The key before any session.
    pub selected_key: &'s str,
    /// The request hash.
    pub hash: u64,
    /// No hash policy applied.
    pub hash_is_random: bool,
    /// The configured timeout, for which the client of 1.85.1 counts 1 to 2 s too little; never 0.
    pub timeout: Option<Millis>,
    /// The retry policy, even if it has no code to retry.
    pub retry: Option<&'s RetryPolicy>,
    /// The filters of the route or cluster weight.
    pub chain: &'s Chain,
    /// What fault injection does. After an abort nothing else happens.
    pub fault: FaultOutcome,
    /// The active sessions, in the order of the filters; the last one decides.
    pub sessions: Vec<Session<'s>>,
}

impl Selection<'_> {
    /// The addresses that a cookie asks for; `None` without an active session, empty without a usable cookie.
    pub fn override_addresses(&self) -> Option<&str> {
        self.sessions.last().map(|session| session.addresses.as_str())
    }

    /// The `set-cookie` headers of the answer, given the address list of the endpoint that was picked.
    ///
    /// The later filter's comes first, as on the way back. Earlier ones never learn the endpoint.
    pub fn set_cookies(&self, actual: &str) -> Vec<String> {
        let mut actual = Some(actual);
        self.sessions
            .iter()
            .rev()
            .filter_map(|session| session.set_cookie(actual.take().unwrap_or("")))
            .collect()
    }

    /// The cluster's name; `None` for a plugin.
    pub fn cluster(&self) -> Option<&str> {
        self.key.strip_prefix(CLUSTER_PREFIX)
    }
}

impl Selector {
    /// Makes the selector of a configuration.
    pub fn new(config: Arc<XdsConfig>) -> Selector {
        let filters = config
            .connection_manager()
            .map(|manager| manager.http_filters.as_slice())
            .unwrap_or_default();
        let routes = config.virtual_host().map_or_else(Vec::new, |host| {
            let of_host = [(Level::VirtualHost, &host.typed_per_filter_config)];
            let shared = chain::build(filters, &of_host);
            host.routes
                .iter()
                .map(|route| choices(route, filters, &of_host, &shared))
                .collect()
        });
        Selector { config, routes }
    }

    /// The configuration.
    pub fn config(&self) -> &Arc<XdsConfig> {
        &self.config
    }

    /// The routes of the virtual host.
    pub fn routes(&self) -> &[Route] {
        self.config.virtual_host().map_or(&[], |host| host.routes.as_slice())
    }

    /// The keys that a route can choose, with the share of each and its filters; the share of a single one is 1.
    pub fn choices(&self, route: usize) -> impl Iterator<Item = (&str, u64, &Chain)> {
        let mut before = 0;
        self.routes.get(route).into_iter().flatten().map(move |choice| {
            let share = choice.end - before;
            before = choice.end;
            (&*choice.key, share, &choice.chain)
        })
    }

    /// Selects for an RPC. `tried` gets, for every route before the chosen one, why it did not take the RPC.
    ///
    /// # Errors
    /// The reason for which the RPC fails at once.
    pub fn select<'s>(
        &'s self,
        request: &Request<'_>,
        channel: ChannelFacts,
        draw: &mut Draw<'_>,
        mut tried: Option<&mut Vec<Mismatch>>,
    ) -> Result<Selection<'s>, Refusal> {
        let mut found = None;
        for (position, route) in self.routes().iter().enumerate() {
            match matching::mismatch(route, request, draw) {
                None => {
                    found = Some((position, route));
                    break;
                }
                Some(why) => {
                    if let Some(tried) = tried.as_deref_mut() {
                        tried.push(why);
                    }
                }
            }
        }
        let (position, route) = found.ok_or(Refusal::NoRoute)?;
        let inappropriate = Refusal::InappropriateAction(position);
        let Action::Route(action) = &route.action else {
            return Err(inappropriate);
        };
        let choices = self.routes.get(position).ok_or(inappropriate)?;
        let number = match choices.last() {
            Some(last) if choices.len() > 1 => {
                let key = draw(Purpose::ClusterWeight, last.end);
                choices.partition_point(|choice| choice.end <= key)
            }
            _ => 0,
        };
        let choice = choices.get(number).ok_or(inappropriate)?;
        let (hash, hash_is_random) = hash::of_request(&action.hash_policies, request, channel.id, draw);
        let mut selection = Selection {
            route: position,
            choice: number,
            key: &choice.key,
            selected_key: &choice.key,
            hash,
            hash_is_random,
            timeout: self.timeout(action),
            retry: action.retry_policy.as_ref(),
            chain: &choice.chain,
            fault: FaultOutcome::default(),
            sessions: Vec::new(),
        };
        run_filters(&mut selection, choices, request, channel, draw);
        Ok(selection)
    }

    /// The route's timeout, else the listener's; 0 is none.
    fn timeout(&self, action: &RouteAction) -> Option<Millis> {
        let manager = || self.config.connection_manager();
        action
            .max_stream_duration
            .or_else(|| manager().map(|manager| manager.http_max_stream_duration))
            .filter(|timeout| timeout.0 != 0)
    }
}

/// What a route can choose, with the filters of each.
fn choices(
    route: &Route,
    filters: &[HttpFilter],
    of_host: &[(Level, &chain::Overrides)],
    of_host_chain: &Chain,
) -> Vec<Choice> {
    let Action::Route(action) = &route.action else {
        return Vec::new();
    };
    let mut levels = of_host.to_vec();
    levels.push((Level::Route, &route.typed_per_filter_config));
    let of_route = if route.typed_per_filter_config.is_empty() {
        Arc::clone(of_host_chain)
    } else {
        chain::build(filters, &levels)
    };
    let single = |key: String| {
        vec![Choice {
            key: key.into(),
            end: 1,
            chain: Arc::clone(&of_route),
        }]
    };
    match &action.destination {
        Destination::Cluster(name) => single(format!("{CLUSTER_PREFIX}{name}")),
        Destination::Plugin(name) => single(format!("{PLUGIN_PREFIX}{name}")),
        Destination::WeightedClusters(entries) => {
            let mut end = 0;
            entries
                .iter()
                .map(|entry| {
                    end += u64::from(entry.weight);
                    let chain = if entry.typed_per_filter_config.is_empty() {
                        Arc::clone(&of_route)
                    } else {
                        let mut levels = levels.clone();
                        levels.push((Level::ClusterWeight, &entry.typed_per_filter_config));
                        chain::build(filters, &levels)
                    };
                    Choice {
                        key: format!("{CLUSTER_PREFIX}{}", entry.name).into(),
                        end,
                        chain,
                    }
                })
                .collect()
        }
    }
}

/// Runs the filters of the selected chain in order, up to an abort.
fn run_filters<'s>(
    selection: &mut Selection<'s>,
    choices: &'s [Choice],
    request: &Request<'_>,
    channel: ChannelFacts,
    draw: &mut Draw<'_>,
) {
    for filter in selection.chain.iter().filter(|filter| !filter.disabled) {
        match &filter.config {
            FilterConfig::Fault(config) => {
                let outcome = fault::decide(config, request, channel.active_faults, draw);
                selection.fault.delay.0 = selection.fault.delay.0.saturating_add(outcome.delay.0);
                selection.fault.abort = outcome.abort;
                if selection.fault.abort.is_some() {
                    return;
                }
            }
            FilterConfig::StatefulSession(Some(cookie)) => {
                let Some(mut session) = Session::read(cookie, request) else {
                    continue;
                };
                // On a plugin route a cookie's cluster is not looked at, and none is written.
                if let Some(current) = selection.key.strip_prefix(CLUSTER_PREFIX) {
                    let wanted = session.cookie_cluster.as_str();
                    let named = |choice: &&Choice| choice.key.strip_prefix(CLUSTER_PREFIX) == Some(wanted);
                    session.cluster = current;
                    if !wanted.is_empty()
                        && let Some(choice) = choices.iter().find(named)
                    {
                        selection.key = &choice.key;
                        session.cluster = choice.key.strip_prefix(CLUSTER_PREFIX).unwrap_or_default();
                    }
                }
                selection.sessions.push(session);
            }
            FilterConfig::Router | FilterConfig::StatefulSession(None) | FilterConfig::Described(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
