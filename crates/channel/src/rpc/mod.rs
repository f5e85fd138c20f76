//! The config selector: to which cluster an RPC goes, and with what hash, timeout, retries, filters
//! and session.
//!
//! A [`Selector`] is made once for a configuration and asked for every RPC. Asking allocates only
//! for cookies and repeated headers. Random numbers come from a function, so that the same draws
//! give the same answer. Follows C-core `XdsResolver::XdsConfigSelector` (xds_resolver.cc) and the
//! HTTP filters that run above the picks.

pub mod chain;
mod draws;
mod effort;
pub mod fault;
mod fault_headers;
mod forge;
pub mod hash;
pub mod known;
pub mod matching;
mod paths;
mod request;
pub mod retry;
pub mod sendable;
mod session;
pub mod weights;
pub mod words;

use std::sync::{Arc, OnceLock};

use chain::Overrides;
use paths::MatchingRoutes;

pub use chain::{Chain, ChainFilter, Level};
pub use draws::{Draw, Draws, Purpose};
pub use effort::{MAX_INSTRUCTIONS, TooManyInstructions, check_effort};
pub use fault::FaultOutcome;
pub use forge::{Forged, NoSession, address_list, session_cookie};
pub use matching::Mismatch;
pub use request::Request;
pub use retry::Retries;
pub use session::ActiveSession;
pub(crate) use session::{override_addresses, set_cookies};

use crate::client::config::XdsConfig;
use xdsctl_model::profile::{Client, Family, Feature};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::filter::FilterConfig;
use xdsctl_model::resource::route::{Destination, RetryPolicy, Route, RouteAction};
use xdsctl_model::status::{Code, Status};

/// Prefix of the key of a cluster.
pub const CLUSTER_PREFIX: &str = "cluster:";

/// Prefix of the key of a cluster specifier plugin.
pub const PLUGIN_PREFIX: &str = "cluster_specifier_plugin:";

/// What the channel contributes to every RPC.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChannelFacts {
    /// The channel's random number, hashed by `filter_state` policies.
    pub id: u64,
    /// The number of RPCs that fault injection is delaying in this process.
    pub active_faults: u32,
}

impl ChannelFacts {
    /// The facts of a channel that draws from a seed, before its first RPC.
    pub fn of_seed(seed: u64) -> ChannelFacts {
        ChannelFacts {
            id: Draws::new(seed).channel_id(),
            active_faults: 0,
        }
    }
}

/// The config selector of one configuration.
#[derive(Debug)]
pub struct Selector {
    config: Arc<XdsConfig>,
    routes: Vec<Choices>,
    /// The filters of routes without overrides of their own.
    shared: Chain,
    paths: MatchingRoutes,
}

/// What a route can choose, and its filters.
#[derive(Debug, Default)]
struct Choices {
    list: Vec<ClusterChoice>,
    /// The filters if the route has overrides. They are made for the first RPC that takes the
    /// route, because many routes times many filters are more than anybody needs.
    chain: OnceLock<Chain>,
}

/// A cluster, or plugin, that a route can choose.
#[derive(Debug)]
struct ClusterChoice {
    key: Box<str>,
    /// A draw below this chooses it, unless it is below the end of the choice before.
    end: u64,
    /// The filters if the entry has overrides. They are made when it is chosen.
    chain: OnceLock<Chain>,
}

/// Why an RPC fails before anything is picked, even if it waits for ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No route takes the RPC.
    NoRoute,
    /// The route that takes the RPC has an action that a client does not follow. The number is its
    /// position among the kept routes.
    InappropriateAction(usize),
    /// The client cannot make a method config of the retry policy of the route at this position.
    BadRetryPolicy(usize),
}

impl Refusal {
    /// The status of an RPC of this method, in the words of a client where they are known.
    pub fn status(self, client: Client, method: &str) -> Status {
        let family = client.family;
        let is_kind = matches!(self, Refusal::InappropriateAction(_));
        if is_kind && Feature::RouteKindsInternal.is_default_on(client) {
            return Status::internal("error retrieving cluster for match: <nil> (*resolver.routeCluster)");
        }
        if Feature::UnroutedUnknown.is_default_on(client) {
            return Status::new(
                Code::Unknown,
                format!("no matching route in virtual host for path '{method}'"),
            );
        }
        let is_java = family == Family::Java;
        let is_go = family == Family::Go;
        Status::unavailable(match self {
            Refusal::NoRoute if is_go => "no matched route was found",
            Refusal::InappropriateAction(_) if is_go => "matched route does not have a supported route action type",
            Refusal::NoRoute if is_java => "Could not find xDS route matching RPC",
            Refusal::NoRoute => "No matching route found in xDS route config",
            Refusal::InappropriateAction(_) if is_java => "Could not route RPC to Route with non-forwarding action",
            Refusal::InappropriateAction(_) => "Matching route has inappropriate action",
            Refusal::BadRetryPolicy(_) => {
                let text = "failed to parse service config\nFailed to parse service config (method config)";
                return Status::new(Code::Unknown, text);
            }
        })
    }
}

/// What was selected for an RPC.
#[derive(Debug)]
pub struct Selection<'s> {
    /// Position of the route among the kept ones.
    pub route: usize,
    /// The position of the cluster among those of the route, before any session.
    pub choice: usize,
    /// Key in the cluster manager: `cluster:NAME`. A session may have put another cluster of the
    /// route here.
    pub key: &'s str,
    /// The key before any session.
    pub selected_key: &'s str,
    /// The hash of the RPC, with which ring_hash picks (A42).
    pub hash: u64,
    /// Whether the hash is random because no hash policy applied.
    pub hash_is_random: bool,
    /// The configured timeout; never 0. The client of 1.85.1 counts 1 to 2 s too little for it.
    pub timeout: Option<Millis>,
    /// The retry policy, even if it has no code to retry.
    pub retry: Option<&'s RetryPolicy>,
    /// The filters of the route or cluster weight.
    pub chain: &'s Chain,
    /// What fault injection does. After an abort nothing else happens.
    pub fault: FaultOutcome,
    /// The active sessions, in the order of the filters; the last one decides.
    pub sessions: Vec<ActiveSession>,
}

impl Selection<'_> {
    /// The cluster's name; `None` for a plugin.
    pub fn cluster(&self) -> Option<&str> {
        self.key.strip_prefix(CLUSTER_PREFIX)
    }
}

impl Selector {
    /// Makes the selector of a configuration.
    pub fn new(config: Arc<XdsConfig>) -> Selector {
        Selector {
            routes: config.routes().iter().map(choices).collect(),
            shared: chain_of(&config, []),
            config,
            paths: MatchingRoutes::default(),
        }
    }

    /// The configuration that it selects from.
    pub fn config(&self) -> &Arc<XdsConfig> {
        &self.config
    }

    /// The routes of the virtual host.
    pub fn routes(&self) -> &[Route] {
        self.config.routes()
    }

    /// The keys that a route can choose, each with its share. A single key has the share 1.
    pub fn choices(&self, route: usize) -> impl Iterator<Item = (&str, u64)> {
        let mut before = 0;
        let list = self.routes.get(route).into_iter().flat_map(|route| &route.list);
        list.map(move |choice| {
            let share = choice.end - before;
            before = choice.end;
            (&*choice.key, share)
        })
    }

    /// The positions of the routes that match an RPC by path and headers. Fractions are not
    /// considered.
    pub fn candidates<'s>(&'s self, request: &'s Request<'s>) -> impl Iterator<Item = usize> {
        self.paths.candidates(self.routes(), request)
    }

    /// Selects for the first RPC of a channel that draws from a seed, as [`select`](Self::select)
    /// does.
    ///
    /// # Errors
    /// The reason for which the RPC fails at once.
    pub fn select_first<'s>(
        &'s self,
        request: &Request<'_>,
        seed: u64,
        tried: Option<&mut Vec<Mismatch>>,
    ) -> Result<Selection<'s>, Refusal> {
        let mut draws = Draws::new(seed);
        let draw = &mut |purpose, bound| draws.draw(purpose, bound);
        self.select(request, ChannelFacts::of_seed(seed), draw, tried)
    }

    /// Selects for an RPC. `tried` gets, for every route before the chosen one, why it did not take
    /// the RPC.
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
        let routes = self.routes();
        let mut candidates = self.paths.candidates(routes, request);
        let mut from = 0;
        let position = loop {
            let found = candidates.next();
            if let Some(tried) = tried.as_deref_mut() {
                let before = from..found.unwrap_or(routes.len());
                tried.extend(before.map(|position| {
                    let by_path = routes.get(position).filter(|_| candidates.matches_path(position));
                    let header = by_path.and_then(|route| matching::header_mismatch(route, request));
                    header.map_or(Mismatch::Path, Mismatch::Header)
                }));
            }
            let position = found.ok_or(Refusal::NoRoute)?;
            let route = routes.get(position).ok_or(Refusal::NoRoute)?;
            let Some(why) = matching::fraction_mismatch(route, draw) else {
                break position;
            };
            if let Some(tried) = tried.as_deref_mut() {
                tried.push(why);
            }
            from = position + 1;
        };
        drop(candidates);
        self.select_at(position, request, channel, draw)
    }

    /// Selects for an RPC that the route at `position` takes.
    ///
    /// # Errors
    /// The reason for which the RPC fails at once.
    pub fn select_at<'s>(
        &'s self,
        position: usize,
        request: &Request<'_>,
        channel: ChannelFacts,
        draw: &mut Draw<'_>,
    ) -> Result<Selection<'s>, Refusal> {
        let inappropriate = Refusal::InappropriateAction(position);
        let route = self.routes().get(position).ok_or(inappropriate)?;
        let action = route.route_action().ok_or(inappropriate)?;
        let of_route = self.routes.get(position).ok_or(inappropriate)?;
        let choices = of_route.list.as_slice();
        let number = match choices.last() {
            Some(last) if choices.len() > 1 => {
                let key = draw(Purpose::ClusterWeight, last.end);
                choices.partition_point(|choice| choice.end <= key)
            }
            _ => 0,
        };
        let choice = choices.get(number).ok_or(inappropriate)?;
        if action.retry_policy.as_ref().is_some_and(RetryPolicy::fails_rpcs) {
            return Err(Refusal::BadRetryPolicy(position));
        }
        let of_policies = hash::of_policies(&action.hash_policies, request, channel.id);
        let mut selection = Selection {
            route: position,
            choice: number,
            key: &choice.key,
            selected_key: &choice.key,
            hash: of_policies.unwrap_or_else(|| draw(Purpose::RequestHash, 0)),
            hash_is_random: of_policies.is_none(),
            timeout: self.timeout(action),
            retry: action.retry_policy.as_ref(),
            chain: self.chain(route, of_route, action, (number, choice)),
            fault: FaultOutcome::default(),
            sessions: Vec::new(),
        };
        run_filters(&mut selection, choices, request, channel, draw);
        Ok(selection)
    }

    /// The filters for a choice of the route.
    fn chain<'s>(
        &'s self,
        route: &Route,
        of_route: &'s Choices,
        action: &RouteAction,
        (number, choice): (usize, &'s ClusterChoice),
    ) -> &'s Chain {
        let of_entry = action.destination.weighted().get(number);
        let of_entry = of_entry.map(|entry| &entry.typed_per_filter_config);
        let of_entry = of_entry.filter(|overrides| !overrides.is_empty());
        if of_entry.is_none() && route.typed_per_filter_config.is_empty() {
            return &self.shared;
        }
        let place = if of_entry.is_some() {
            &choice.chain
        } else {
            &of_route.chain
        };
        place.get_or_init(|| {
            let of_route = [(Level::Route, &route.typed_per_filter_config)].into_iter();
            let of_entry = of_entry.map(|overrides| (Level::ClusterWeight, overrides));
            chain_of(&self.config, of_route.chain(of_entry))
        })
    }

    /// The route's timeout, else the listener's; `None` if it is 0.
    fn timeout(&self, action: &RouteAction) -> Option<Millis> {
        let manager = || self.config.connection_manager();
        action
            .max_stream_duration
            .or_else(|| manager().map(|manager| manager.http_max_stream_duration))
            .filter(|timeout| timeout.0 != 0)
    }
}

/// The filters of a channel's RPCs, with the overrides of the virtual host and then `more`.
fn chain_of<'c>(config: &'c XdsConfig, more: impl IntoIterator<Item = (Level, &'c Overrides)>) -> Chain {
    let filters = config
        .connection_manager()
        .map_or(&[][..], |manager| &manager.http_filters);
    let host = config.virtual_host();
    let of_host = host.map(|host| (Level::VirtualHost, &host.typed_per_filter_config));
    let levels: Vec<_> = of_host.into_iter().chain(more).collect();
    chain::build(filters, &levels)
}

/// Lists what a route can choose.
fn choices(route: &Route) -> Choices {
    let choice = |key: String, end| ClusterChoice {
        key: key.into(),
        end,
        chain: OnceLock::new(),
    };
    let list = match route.destination() {
        Some(Destination::Cluster(name)) => vec![choice(format!("{CLUSTER_PREFIX}{name}"), 1)],
        Some(Destination::Plugin(name)) => vec![choice(format!("{PLUGIN_PREFIX}{name}"), 1)],
        Some(Destination::WeightedClusters(entries)) => entries
            .iter()
            .scan(0, |end, entry| {
                *end += u64::from(entry.weight);
                Some(choice(format!("{CLUSTER_PREFIX}{}", entry.name), *end))
            })
            .collect(),
        None => Vec::new(),
    };
    Choices {
        list,
        chain: OnceLock::new(),
    }
}

/// Runs the filters of the selected chain in order, up to an abort.
fn run_filters<'s>(
    selection: &mut Selection<'s>,
    choices: &'s [ClusterChoice],
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
                let Some(mut session) = ActiveSession::read(cookie, request) else {
                    continue;
                };
                // On a plugin route the client ignores the cookie's cluster, and writes none.
                if let Some(current) = selection.key.strip_prefix(CLUSTER_PREFIX) {
                    let wanted = session.cookie_cluster.as_str();
                    let named = |choice: &&ClusterChoice| choice.key.strip_prefix(CLUSTER_PREFIX) == Some(wanted);
                    current.clone_into(&mut session.cluster);
                    if !wanted.is_empty()
                        && let Some(choice) = choices.iter().find(named)
                    {
                        selection.key = &choice.key;
                        let chosen = choice.key.strip_prefix(CLUSTER_PREFIX);
                        chosen.unwrap_or_default().clone_into(&mut session.cluster);
                    }
                }
                selection.sessions.push(session);
            }
            FilterConfig::Router
            | FilterConfig::StatefulSession(None)
            | FilterConfig::Rbac(_)
            | FilterConfig::Described(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
