//! The clusters that an RPC with a session (gRFC A55) can go to.
//!
//! A session filter does nothing for RPCs whose path its cookie's path does not cover, so most
//! clusters of a client never see a session.

use std::collections::{BTreeMap, BTreeSet};

use super::reach::below;
use super::routes_of;
use xdsctl_channel::client::Client;
use xdsctl_channel::rpc::chain::{self, Level, Overrides};
use xdsctl_model::cookie::{covers_nothing_else, may_cover};
use xdsctl_model::resource::filter::{FilterConfig, HttpFilter};
use xdsctl_model::resource::matcher::{StringMatch, StringMatcher};
use xdsctl_model::resource::route::{Destination, PathMatcher, Route, VirtualHost};

/// The clusters to which RPCs with a session can go.
#[derive(Debug)]
pub(super) struct Sessions(
    /// Keys of the clusters; `None` if any can be meant: the routes are not known, or a plugin
    /// chooses.
    Option<BTreeSet<String>>,
);

impl Sessions {
    pub(super) fn of(client: &Client) -> Sessions {
        let mut open = BTreeSet::new();
        for (name, held) in client.resources.listeners.iter() {
            let Some(manager) = held.value().and_then(|listener| listener.api()) else {
                continue;
            };
            let keeps = |filter: &&HttpFilter| matches!(filter.config, FilterConfig::StatefulSession(_));
            let filters: Vec<HttpFilter> = manager.http_filters.iter().filter(keeps).cloned().collect();
            if filters.is_empty() {
                continue;
            }
            let Some((_, routes, _)) = routes_of(client, name) else {
                return Sessions(None);
            };
            for host in &routes.virtual_hosts {
                if !add(&filters, host, &mut open) {
                    return Sessions(None);
                }
            }
        }
        Sessions(Some(below(client, open.iter().map(String::as_str).collect())))
    }

    /// Says whether an RPC with a session can go to the cluster with this key.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|clusters| clusters.contains(name))
    }
}

/// Most cookie paths of one virtual host for which unreachable routes are recognised; overrides may
/// set any number of paths.
const MAX_PATHS: usize = 64;

/// Adds the clusters to which a virtual host sends RPCs with a session; `false` if a plugin chooses one.
fn add(filters: &[HttpFilter], host: &VirtualHost, clusters: &mut BTreeSet<String>) -> bool {
    let mut last = BTreeMap::new();
    for (number, route) in host.routes.iter().enumerate() {
        let Some(destination) = route.destination() else {
            continue;
        };
        let mut keeps = |entry: Option<&Overrides>| {
            let mut overrides = vec![
                (Level::VirtualHost, &host.typed_per_filter_config),
                (Level::Route, &route.typed_per_filter_config),
            ];
            overrides.extend(entry.map(|entry| (Level::ClusterWeight, entry)));
            let chain = chain::build(filters, &overrides);
            chain.iter().any(|filter| match &filter.config {
                FilterConfig::StatefulSession(Some(cookie)) if !filter.disabled && !cookie.name.is_empty() => {
                    may_take(host, number, &cookie.path, &mut last)
                }
                _ => false,
            })
        };
        match destination {
            Destination::Cluster(name) if keeps(None) => {
                clusters.insert(name.clone());
            }
            Destination::WeightedClusters(entries) => {
                let kept = entries
                    .iter()
                    .filter(|entry| keeps(Some(&entry.typed_per_filter_config)));
                clusters.extend(kept.map(|entry| entry.name.clone()));
            }
            Destination::Plugin(_) if keeps(None) => return false,
            Destination::Cluster(_) | Destination::Plugin(_) => {}
        }
    }
    true
}

/// Says whether a route can get an RPC that a cookie's path covers. `last` has, for each cookie
/// path, the first route that takes all such RPCs; no later route gets one.
fn may_take(host: &VirtualHost, number: usize, cookie: &str, last: &mut BTreeMap<String, Option<usize>>) -> bool {
    if !last.contains_key(cookie) && last.len() < MAX_PATHS {
        let takes_all = |route: &Route| match text(&route.path) {
            Some((path, is_prefix)) => !route.is_conditional() && covers_nothing_else(cookie, path, is_prefix),
            None => false,
        };
        last.insert(cookie.to_owned(), host.routes.iter().position(takes_all));
    }
    let is_reached = !matches!(last.get(cookie), Some(Some(last)) if *last < number);
    let path = host.routes.get(number).and_then(|route| text(&route.path));
    is_reached && path.is_none_or(|(path, is_prefix)| may_cover(cookie, path, is_prefix))
}

/// Returns the text that a path must equal or, with `true`, begin with; `None` if the matcher has
/// no such text.
fn text(path: &PathMatcher) -> Option<(&str, bool)> {
    match path {
        PathMatcher::Text(StringMatcher {
            kind,
            ignore_case: false,
        }) => match kind {
            StringMatch::Exact(text) => Some((text, false)),
            StringMatch::Prefix(text) if text.is_empty() => Some(("/", true)),
            StringMatch::Prefix(text) => Some((text, true)),
            StringMatch::Suffix(_) | StringMatch::Contains(_) | StringMatch::Regex(_) => None,
        },
        PathMatcher::Text(_) | PathMatcher::Regex(_) => None,
    }
}
