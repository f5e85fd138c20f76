//! Which regexes of routes match the path of an RPC, remembered for the next RPC: most are to the same method.

use std::sync::{Mutex, PoisonError};

use super::matching;
use crate::model::route::{PathMatcher, Route};

/// Answers about the path that was asked about last.
#[derive(Debug, Default)]
pub(super) struct Paths(Mutex<Last>);

#[derive(Debug, Default)]
struct Last {
    path: String,
    /// By the position of the route; `None` where nobody has asked.
    answers: Vec<Option<bool>>,
}

impl Paths {
    /// Says whether a path matches the route at a position.
    pub(super) fn matches(&self, position: usize, route: &Route, path: &str) -> bool {
        if !matches!(route.path, PathMatcher::Regex(_)) {
            return matching::path_matches(&route.path, path);
        }
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.path != path {
            path.clone_into(&mut last.path);
            last.answers.clear();
        }
        if last.answers.len() <= position {
            last.answers.resize(position + 1, None);
        }
        match last.answers.get_mut(position) {
            Some(answer) => *answer.get_or_insert_with(|| matching::path_matches(&route.path, path)),
            None => false,
        }
    }
}
