//! One pick_first for each endpoint: what round_robin and weighted_round_robin have below them.
//!
//! Follows C-core endpoint_list.cc.

use std::sync::Arc;

use super::endpoint::Endpoint;
use super::pick_first;
use super::policy::{At, Cx, Machine, Report, Reports, What};
use super::runtime::{State, below};

/// A list of endpoints, each with its own connection.
#[derive(Debug)]
pub struct EndpointList {
    /// Number of the list in its policy.
    pub number: u32,
    /// The endpoints in order.
    pub members: Vec<Member>,
    /// Appended to failure texts.
    pub note: String,
}

/// One endpoint.
#[derive(Debug)]
pub struct Member {
    /// The endpoint.
    pub endpoint: Arc<Endpoint>,
    /// Its connection.
    pub child: pick_first::Machine,
    /// What it last reported.
    pub state: Option<State>,
}

/// An endpoint's new state.
#[derive(Debug)]
pub struct Changed {
    /// Index of the endpoint.
    pub index: usize,
    /// What it reported before.
    pub before: Option<State>,
    /// What it reported now.
    pub report: Report,
}

impl EndpointList {
    /// Makes the list; connections start at the endpoint `start` and go round.
    ///
    /// Returns what the endpoints reported at once.
    pub fn new(
        number: u32,
        at: &At,
        endpoints: &[Arc<Endpoint>],
        start: usize,
        note: &str,
        cx: &mut Cx<'_>,
    ) -> (EndpointList, Vec<(usize, Report)>) {
        let at = below(at, number);
        let mut members: Vec<Member> = endpoints
            .iter()
            .zip(0..)
            .map(|(endpoint, index)| Member {
                endpoint: endpoint.clone(),
                child: pick_first::Machine::new(below(&at, index), true, cx),
                state: None,
            })
            .collect();
        let mut reports = Vec::new();
        let count = members.len();
        for index in (0..count).map(|i| (start + i) % count) {
            if let Some(member) = members.get_mut(index) {
                let endpoint = [member.endpoint.clone()];
                let said = member.child.set(Ok(&endpoint), false, "", cx);
                reports.extend(said.into_iter().map(|report| (index, report)));
            }
        }
        let list = EndpointList {
            number,
            members,
            note: note.to_owned(),
        };
        (list, reports)
    }

    /// Hands an event to an endpoint.
    pub fn handle(&mut self, path: &[u32], what: &What, cx: &mut Cx<'_>) -> Vec<(usize, Report)> {
        let Some((&index, rest)) = path.split_first() else {
            return Vec::new();
        };
        let index = index as usize;
        let Some(member) = self.members.get_mut(index) else {
            return Vec::new();
        };
        let reports = member.child.handle(rest, what, cx);
        reports.into_iter().map(|report| (index, report)).collect()
    }

    /// Notes what an endpoint reported; an idle one is told to connect.
    pub fn note(&mut self, index: usize, report: &Report, cx: &mut Cx<'_>) -> (Option<State>, Reports) {
        let Some(member) = self.members.get_mut(index) else {
            return (None, Reports::new());
        };
        let before = member.state.replace(report.state);
        let more = if report.state == State::Idle {
            member.child.exit_idle(cx)
        } else {
            Reports::new()
        };
        (before, more)
    }

    /// Number of endpoints in a state.
    pub fn count(&self, state: State) -> usize {
        self.members.iter().filter(|member| member.state == Some(state)).count()
    }

    /// Number of endpoints that are connecting or about to.
    pub fn connecting(&self) -> usize {
        self.count(State::Connecting) + self.count(State::Idle)
    }

    /// Says whether every endpoint has reported.
    pub fn all_seen(&self) -> bool {
        self.members.iter().all(|member| member.state.is_some())
    }

    /// Says whether this list, the newer one, takes the place of `old`.
    pub fn replaces(&self, old: Option<&EndpointList>) -> bool {
        let ready = self.count(State::Ready);
        old.is_none_or(|old| old.count(State::Ready) == 0)
            || (ready > 0 && self.all_seen())
            || self.count(State::TransientFailure) == self.members.len()
    }

    /// Lets go of all endpoints.
    pub fn shutdown(&mut self, cx: &mut Cx<'_>) {
        for member in &mut self.members {
            member.child.shutdown(cx);
        }
    }
}
