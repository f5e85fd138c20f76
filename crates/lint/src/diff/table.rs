//! One route table, and where it sends an RPC.
//!
//! Nearly all comparisons fail because a path begins differently. So the stems of all paths lie
//! side by side in memory, and most routes need not be looked at.

use std::collections::BTreeMap;

use super::budget::Steps;
use super::care::Care;
use super::overlap::Example;
use super::tables::Goes;
use xdsctl_channel::rpc::Request;
use xdsctl_channel::rpc::matching::{MILLION, header_matches, path_matches};
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::matcher::{StringMatch, StringMatcher};
use xdsctl_model::resource::route::{Destination, PathMatcher, Route};

/// Computing a share takes as long as this many comparisons with a route.
pub(super) const STEPS_OF_A_SHARE: u64 = 8;

/// Where an RPC goes, with which deadline and which retries.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sent {
    pub goes: Goes,
    pub care: Care,
}

/// Where the RPCs of a kind go, in order, with the share of each destination.
pub(super) type RouteShares = Vec<(Sent, f64)>;

/// The routes of a virtual host, prepared for lookups.
pub(super) struct Table<'a> {
    routes: &'a [Route],
    /// The deadline of RPCs whose route sets none; 0 for none.
    deadline: Millis,
    /// The stem of each route, one after the other: a text that all paths of the route begin with.
    /// It may be empty.
    stems: Vec<u8>,
    /// The position in `stems` where each route's stem ends.
    ends: Vec<usize>,
}

impl<'a> Table<'a> {
    pub fn of(routes: &'a [Route], deadline: Millis) -> Table<'a> {
        let (mut stems, mut ends) = (Vec::new(), Vec::with_capacity(routes.len()));
        for route in routes {
            stems.extend(stem(&route.path).as_bytes());
            ends.push(stems.len());
        }
        Table {
            routes,
            deadline,
            stems,
            ends,
        }
    }

    /// Returns where the RPCs of a route go.
    pub fn sent(&self, route: &Route) -> RouteShares {
        sent(route, self.deadline)
    }

    pub fn len(&self) -> usize {
        self.routes.len()
    }

    pub fn get(&self, position: usize) -> Option<&'a Route> {
        self.routes.get(position)
    }

    /// Returns the stem of a route; empty if there is no such route.
    pub fn stem(&self, position: usize) -> &[u8] {
        let end = |position: usize| self.ends.get(position).copied().unwrap_or_default();
        let start = position.checked_sub(1).map_or(0, end);
        self.stems.get(start..end(position)).unwrap_or_default()
    }

    /// Returns the routes that can take an RPC, with `None` if possibly no route takes it, and
    /// where it goes. Returns `None` if no steps are left.
    pub fn outcome(&self, example: &Example, steps: &mut Steps) -> Option<(Vec<Option<usize>>, RouteShares)> {
        let request = Request {
            path: &example.path,
            headers: &example.headers,
            timeout: None,
        };
        let (mut takers, mut shares, mut rest) = (Vec::new(), BTreeMap::new(), 1.0);
        for (index, route) in self.routes.iter().enumerate() {
            steps.take(1).then_some(())?;
            if are_apart(self.stem(index), request.path.as_bytes()) {
                continue;
            }
            let share = share(route);
            if share == 0.0
                || !path_matches(&route.path, request.path)
                || !route.headers.iter().all(|header| header_matches(header, &request))
            {
                continue;
            }
            takers.push(Some(index));
            steps.take(spread(route) * STEPS_OF_A_SHARE).then_some(())?;
            if share == 1.0 && shares.is_empty() {
                return Some((takers, self.sent(route)));
            }
            for (sent, part) in self.sent(route) {
                add(&mut shares, sent, rest * share * part);
            }
            rest *= 1.0 - share;
            if rest == 0.0 {
                return Some((takers, shares.into_iter().collect()));
            }
        }
        takers.push(None);
        add(&mut shares, FAILS, rest);
        Some((takers, shares.into_iter().collect()))
    }
}

fn stem(path: &PathMatcher) -> &str {
    match path {
        PathMatcher::Text(StringMatcher {
            kind: StringMatch::Exact(text) | StringMatch::Prefix(text),
            ignore_case: false,
        }) => text,
        PathMatcher::Text(_) | PathMatcher::Regex(_) => "",
    }
}

/// Says whether no path can begin with both stems.
pub(super) fn are_apart(one: &[u8], other: &[u8]) -> bool {
    let common = one.len().min(other.len());
    // An empty comparison is skipped: it would take time although it decides nothing.
    common > 0 && one.get(..common) != other.get(..common)
}

/// Returns the number of clusters to which a route sends its RPCs.
pub(super) fn spread(route: &Route) -> u64 {
    match route.destination() {
        Some(Destination::WeightedClusters(clusters)) => clusters.len() as u64,
        Some(Destination::Cluster(_) | Destination::Plugin(_)) | None => 1,
    }
}

const FAILS: Sent = Sent {
    goes: Goes::Fails,
    care: Care {
        deadline: None,
        retries: None,
    },
};

/// Returns where the RPCs of a route go; `deadline` is the listener's.
pub(super) fn sent(route: &Route, deadline: Millis) -> RouteShares {
    let Some(action) = route.route_action() else {
        return vec![(FAILS, 1.0)];
    };
    let care = Care::of(action, deadline);
    let one = |goes| Sent { goes, care };
    match &action.destination {
        Destination::Cluster(name) => vec![(one(Goes::Cluster(name.clone())), 1.0)],
        Destination::Plugin(name) => vec![(one(Goes::Plugin(name.clone())), 1.0)],
        Destination::WeightedClusters(clusters) => {
            let sum: f64 = clusters.iter().map(|cluster| f64::from(cluster.weight)).sum();
            let mut shares = BTreeMap::new();
            for cluster in clusters {
                let share = f64::from(cluster.weight) / sum;
                add(&mut shares, one(Goes::Cluster(cluster.name.clone())), share);
            }
            shares.into_iter().collect()
        }
    }
}

fn add(shares: &mut BTreeMap<Sent, f64>, sent: Sent, share: f64) {
    *shares.entry(sent).or_default() += share;
}

/// Returns the share of the RPCs with a matching path and matching headers that a route takes.
pub(super) fn share(route: &Route) -> f64 {
    let million = MILLION as f64; // exact
    route
        .fraction_per_million
        .map_or(1.0, |below| (f64::from(below) / million).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_takes_no_path_without_its_stem() {
        let text = |kind, ignore_case| PathMatcher::Text(StringMatcher { kind, ignore_case });
        let kinds = |text: &str| {
            let text = || text.to_owned();
            [
                StringMatch::Exact(text()),
                StringMatch::Prefix(text()),
                StringMatch::Suffix(text()),
                StringMatch::Contains(text()),
            ]
        };
        let texts = ["", "/", "/a", "/a/b", "/A/b", "/b", "b"];
        let plain = texts.iter().flat_map(|text| kinds(text));
        let mut matchers: Vec<PathMatcher> = plain
            .flat_map(|kind| [text(kind.clone(), false), text(kind, true)])
            .collect();
        matchers.push(PathMatcher::Regex(xdsctl_re2::Regex::new("/a.*").unwrap()));
        for path in texts {
            let takers = matchers.iter().filter(|matcher| path_matches(matcher, path));
            for matcher in takers.clone() {
                assert!(path.starts_with(stem(matcher)), "{path} {matcher:?}");
                // Two matchers that match the same path are not apart.
                let is_apart = |other: &PathMatcher| are_apart(stem(matcher).as_bytes(), stem(other).as_bytes());
                assert!(!takers.clone().any(is_apart), "{path} {matcher:?}");
            }
        }
        assert!(are_apart(b"/a", b"/b/c") && !are_apart(b"", b"/b"));
    }
}
