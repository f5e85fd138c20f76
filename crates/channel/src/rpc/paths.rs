//! Which routes match an RPC by its path and its headers. The answer is kept for the next RPC,
//! because most RPCs are like the one before.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Request;
use super::matching;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::route::Route;

/// The routes that match the last RPC.
#[derive(Debug, Default)]
pub(super) struct MatchingRoutes(Mutex<Last>);

#[derive(Debug, Default)]
struct Last {
    path: String,
    /// Positions of the routes that match by the path, in order.
    by_path: Vec<u32>,
    /// The number of routes that have been examined.
    looked_at: usize,
    headers: Vec<(String, String)>,
    timeout: Option<Millis>,
    /// The routes of `by_path` whose header matchers match too.
    by_headers: Vec<u32>,
    /// The number of positions in `by_path` that have been examined.
    checked: usize,
}

impl Last {
    /// Forgets what does not apply to this RPC.
    fn turn_to(&mut self, request: &Request<'_>) {
        let is_same_path = self.path == request.path;
        if !is_same_path {
            request.path.clone_into(&mut self.path);
            self.by_path.clear();
            self.looked_at = 0;
        }
        if !is_same_path || self.timeout != request.timeout || self.headers != request.headers {
            request.headers.clone_into(&mut self.headers);
            self.timeout = request.timeout;
            self.by_headers.clear();
            self.checked = 0;
        }
    }

    /// Examines routes until one more matches by the path; `None` if no other does.
    fn look_on(&mut self, routes: &[Route]) -> Option<()> {
        loop {
            let route = routes.get(self.looked_at)?;
            let position = u32::try_from(self.looked_at).ok()?;
            self.looked_at += 1;
            if matching::path_matches(&route.path, &self.path) {
                self.by_path.push(position);
                return Some(());
            }
        }
    }
}

impl MatchingRoutes {
    /// The routes that match an RPC, in order.
    pub(super) fn candidates<'p>(&'p self, routes: &'p [Route], request: &'p Request<'p>) -> Candidates<'p> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.turn_to(request);
        Candidates {
            last,
            routes,
            request,
            next: 0,
        }
    }
}

/// The positions of the routes that match an RPC by path and headers, in order.
///
/// A route behind a match is examined only when somebody asks for it, because a regex is compiled
/// for its first match.
pub(super) struct Candidates<'p> {
    last: MutexGuard<'p, Last>,
    routes: &'p [Route],
    request: &'p Request<'p>,
    /// The next place in `by_headers`.
    next: usize,
}

impl Candidates<'_> {
    /// Says whether a route before one that was found matches by the path.
    pub(super) fn matches_path(&self, position: usize) -> bool {
        let found = u32::try_from(position).map(|position| self.last.by_path.binary_search(&position));
        matches!(found, Ok(Ok(_)))
    }

    /// Examines routes until one more matches; `None` if no other does.
    fn look_on(&mut self) -> Option<()> {
        loop {
            let Some(position) = self.last.by_path.get(self.last.checked).copied() else {
                self.last.look_on(self.routes)?;
                continue;
            };
            self.last.checked += 1;
            let route = self.routes.get(position as usize)?;
            if matching::header_mismatch(route, self.request).is_none() {
                self.last.by_headers.push(position);
                return Some(());
            }
        }
    }
}

impl Iterator for Candidates<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.next >= self.last.by_headers.len() {
            self.look_on()?;
        }
        let position = self.last.by_headers.get(self.next)?;
        self.next += 1;
        Some(*position as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, HeaderView, StringMatch, StringMatcher};
    use xdsctl_model::resource::route::{Action, PathMatcher};

    fn route(prefix: &str, header: Option<&str>) -> Route {
        Route {
            index: 0,
            name: String::new(),
            path: PathMatcher::Text(StringMatcher {
                kind: StringMatch::Prefix(prefix.to_owned()),
                ignore_case: false,
            }),
            headers: header
                .map(|name| HeaderMatcher {
                    name: name.to_owned(),
                    kind: HeaderMatch::Present(true),
                    invert_match: false,
                    view: HeaderView::Completed,
                })
                .into_iter()
                .collect(),
            fraction_per_million: None,
            action: Action::NonForwarding,
            typed_per_filter_config: std::collections::BTreeMap::new(),
        }
    }

    fn all(paths: &MatchingRoutes, routes: &[Route], path: &str, header: &str) -> Vec<usize> {
        let headers = [(header.to_owned(), "v".to_owned())];
        let request = Request {
            path,
            headers: &headers,
            timeout: None,
        };
        paths.candidates(routes, &request).collect()
    }

    #[test]
    fn the_routes_of_an_rpc_are_found_in_order_and_again() {
        let routes = [
            route("/a", None),
            route("/a", Some("x")),
            route("/b", None),
            route("", None),
            route("/a/b", Some("y")),
        ];
        let paths = MatchingRoutes::default();
        assert_eq!(all(&paths, &routes, "/a/b/c", "x"), [0, 1, 3]);
        assert_eq!(all(&paths, &routes, "/a/b/c", "x"), [0, 1, 3]);
        assert_eq!(all(&paths, &routes, "/a/b/c", "y"), [0, 3, 4]);
        assert_eq!(all(&paths, &routes, "/b", "y"), [2, 3]);
    }

    #[test]
    fn nothing_behind_a_match_is_looked_at_and_nothing_twice() {
        let routes = vec![route("/a", None); 1000];
        let paths = MatchingRoutes::default();
        let request = Request {
            path: "/a",
            headers: &[],
            timeout: None,
        };
        for _ in 0..3 {
            let mut candidates = paths.candidates(&routes, &request);
            assert_eq!((candidates.next(), candidates.next()), (Some(0), Some(1)));
            assert!(candidates.matches_path(1) && !candidates.matches_path(2));
        }
        assert_eq!(paths.0.lock().unwrap().looked_at, 2);
    }
}
