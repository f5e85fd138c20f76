//! One pick_first for each endpoint, in lists of which a newer one waits until it can do better than the old one: what
//! round_robin and weighted_round_robin have below them.
//!
//! Each change of an endpoint costs as much with many endpoints as with few: states are counted, not looked up. Follows
//! C-core endpoint_list.cc.

use std::collections::VecDeque;
use std::sync::Arc;

use super::endpoint::Endpoint;
use super::policy::{Machine, PolicyCx, Report, TreePath, Update, What};
use super::runtime::{Connectivity, below};
use super::tally::{Ranks, Tally};
use crate::lb::pick_first;
use crate::status::Status;

/// The lists in what is told.
const LAYER: &str = "endpoints";

/// What endpoints of a list reported, by their indices.
pub type Said = VecDeque<(usize, Report)>;

/// The list in use and, while it is connecting, a newer one.
#[derive(Debug)]
pub struct EndpointLists {
    at: TreePath,
    next_number: u32,
    current: Option<EndpointList>,
    pending: Option<EndpointList>,
    last_failure: Option<Status>,
}

/// A list of endpoints, each with its own connection.
#[derive(Debug)]
struct EndpointList {
    number: u32,
    members: Vec<Member>,
    tally: Tally,
    ready: Ranks,
    /// Appended to failure texts.
    note: String,
}

/// One endpoint.
#[derive(Debug)]
pub struct Member {
    /// The endpoint.
    pub endpoint: Arc<Endpoint>,
    /// Its connection.
    pub child: pick_first::Machine,
    /// What it last reported.
    state: Option<Connectivity>,
}

/// What came of taking new endpoints.
#[derive(Debug)]
pub enum Taken {
    /// There are none: why.
    Empty(Status),
    /// They are in the list of this number, and reported this at once.
    Listed(u32, Said),
}

/// What the current list amounts to after a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Some endpoints are READY.
    Ready,
    /// None is, and some are connecting or about to.
    Connecting,
    /// All have failed.
    Failing,
    /// The report was not for the list in use, or some endpoints have not reported yet.
    Open,
}

impl EndpointLists {
    /// No list.
    pub const fn new(at: TreePath) -> EndpointLists {
        EndpointLists {
            at,
            next_number: 0,
            current: None,
            pending: None,
            last_failure: None,
        }
    }

    /// Says whether there has been a list.
    pub const fn has_list(&self) -> bool {
        self.current.is_some()
    }

    /// Takes new endpoints; connections start at the endpoint `start` and go round.
    pub fn take(
        &mut self,
        endpoints: &[Arc<Endpoint>],
        start: usize,
        update: &Update<'_>,
        cx: &mut PolicyCx<'_>,
    ) -> Taken {
        let number = self.next_number;
        self.next_number += 1;
        let (list, said) = EndpointList::new(number, &self.at, endpoints, start, update.note, cx);
        if let Some(mut old) = self.pending.take() {
            old.shutdown(cx);
        }
        if endpoints.is_empty() {
            if let Some(mut old) = self.current.replace(list) {
                old.shutdown(cx);
            }
            let status = update.endpoints.err().cloned();
            let status = status.unwrap_or_else(|| Status::unavailable("empty address list"));
            return Taken::Empty(status.with_note(update.note));
        }
        if self.current.is_none() {
            self.current = Some(list);
        } else {
            self.pending = Some(list);
        }
        Taken::Listed(number, said)
    }

    fn list(&mut self, number: u32) -> Option<&mut EndpointList> {
        [self.current.as_mut(), self.pending.as_mut()]
            .into_iter()
            .flatten()
            .find(|list| list.number == number)
    }

    /// Hands an event to an endpoint; `path` begins with the list's number.
    pub fn handle(&mut self, path: &[u32], what: &What, cx: &mut PolicyCx<'_>) -> Option<(u32, Said)> {
        let (&number, path) = path.split_first()?;
        let (&index, rest) = path.split_first()?;
        let index = index as usize;
        let member = self.list(number)?.members.get_mut(index)?;
        let reports = member.child.handle(rest, what, cx);
        Some((number, reports.into_iter().map(|report| (index, report)).collect()))
    }

    /// Notes what an endpoint reported; an idle one is told to connect, and what that brings is added to `said`. Returns
    /// the endpoint's state before.
    pub fn note(
        &mut self,
        number: u32,
        (index, report): (usize, &Report),
        said: &mut Said,
        cx: &mut PolicyCx<'_>,
    ) -> Option<Connectivity> {
        let at = self.at.clone();
        let list = self.list(number)?;
        let member = list.members.get_mut(index)?;
        let before = member.state.replace(report.state);
        cx.runtime.say(&at, LAYER, "endpoint_state", || {
            vec![
                ("list", i64::from(number).saturating_add(1).into()),
                ("index", i64::try_from(index).unwrap_or(i64::MAX).into()),
                ("address", member.endpoint.name().into()),
                ("from", before.map_or("new", Connectivity::name).into()),
                ("state", report.state.name().into()),
            ]
        });
        if report.state == Connectivity::Idle {
            let more = member.child.exit_idle(cx);
            said.extend(more.into_iter().map(|report| (index, report)));
        }
        list.tally.change(before, Some(report.state));
        match (before == Some(Connectivity::Ready), report.state == Connectivity::Ready) {
            (false, true) => list.ready.add(index),
            (true, false) => list.ready.remove(index),
            (true, true) | (false, false) => {}
        }
        before
    }

    /// Puts the newer list in place of the old one if it is time to; says whether it did.
    pub fn promote(&mut self, number: u32, cx: &mut PolicyCx<'_>) -> bool {
        let current = self.current.as_ref();
        let newer = self
            .pending
            .take_if(|list| list.number == number && list.replaces(current));
        let Some(newer) = newer else { return false };
        if let Some(mut old) = self.current.replace(newer) {
            old.shutdown(cx);
        }
        true
    }

    /// What the list of this number amounts to, if it is the one in use.
    pub fn standing(&self, number: u32) -> Standing {
        let Some(list) = self.current.as_ref().filter(|list| list.number == number) else {
            return Standing::Open;
        };
        let count = |state| list.tally.count(state);
        if count(Connectivity::Ready) > 0 {
            Standing::Ready
        } else if count(Connectivity::Connecting) + count(Connectivity::Idle) > 0 {
            Standing::Connecting
        } else if count(Connectivity::TransientFailure) == list.members.len() {
            Standing::Failing
        } else {
            Standing::Open
        }
    }

    /// The status of picks while all endpoints of the list in use fail; `last` is what the last one of them said.
    pub fn failure(&mut self, last: Option<String>) -> Status {
        if let Some(last) = last {
            let text = format!("connections to all backends failing; last error: {last}");
            self.last_failure = Some(Status::unavailable(text));
        }
        let status = self.last_failure.clone().unwrap_or_else(|| Status::unavailable(""));
        status.with_note(self.current.as_ref().map_or("", |list| list.note.as_str()))
    }

    /// Number of READY endpoints of the list in use.
    pub fn ready(&self) -> usize {
        self.current.as_ref().map_or(0, |list| list.ready.count())
    }

    /// Index of the READY endpoint of this rank.
    pub fn nth_ready(&self, rank: usize) -> Option<usize> {
        self.current.as_ref()?.ready.nth(rank)
    }

    /// An endpoint of the list in use.
    pub fn get(&self, index: usize) -> Option<&Member> {
        self.current.as_ref()?.members.get(index)
    }

    /// An endpoint of a list.
    pub fn get_of(&mut self, number: u32, index: usize) -> Option<&Member> {
        self.list(number)?.members.get(index)
    }

    /// An endpoint of the list in use, for a pick.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Member> {
        self.current.as_mut()?.members.get_mut(index)
    }

    /// The READY endpoints of the list in use with their indices, in order.
    pub fn all_ready(&self) -> impl Iterator<Item = (usize, &Member)> {
        let members = self.current.iter().flat_map(|list| list.members.iter().enumerate());
        members.filter(|(_, member)| member.state == Some(Connectivity::Ready))
    }

    /// Lets go of all endpoints.
    pub fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        for mut list in [self.current.take(), self.pending.take()].into_iter().flatten() {
            list.shutdown(cx);
        }
    }
}

impl EndpointList {
    fn new(
        number: u32,
        at: &TreePath,
        endpoints: &[Arc<Endpoint>],
        start: usize,
        note: &str,
        cx: &mut PolicyCx<'_>,
    ) -> (EndpointList, Said) {
        let at = below(at, number);
        let mut members: Vec<Member> = endpoints
            .iter()
            .zip(0..)
            .map(|(endpoint, index)| Member {
                endpoint: endpoint.clone(),
                child: pick_first::Machine::new(below(&at, index), true),
                state: None,
            })
            .collect();
        let mut said = Said::new();
        let count = members.len();
        for index in (0..count).map(|i| (start + i) % count) {
            if let Some(member) = members.get_mut(index) {
                let reports = member
                    .child
                    .set(Ok(std::slice::from_ref(&member.endpoint)), false, "", cx);
                said.extend(reports.into_iter().map(|report| (index, report)));
            }
        }
        let list = EndpointList {
            number,
            members,
            tally: Tally::default(),
            ready: Ranks::new(count),
            note: note.to_owned(),
        };
        (list, said)
    }

    /// Says whether this list, the newer one, takes the place of `old`.
    fn replaces(&self, old: Option<&EndpointList>) -> bool {
        let has_all_reported = self.tally.total() == self.members.len();
        old.is_none_or(|old| old.tally.count(Connectivity::Ready) == 0)
            || (self.tally.count(Connectivity::Ready) > 0 && has_all_reported)
            || self.tally.count(Connectivity::TransientFailure) == self.members.len()
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        for member in &mut self.members {
            member.child.shutdown(cx);
        }
    }
}
