//! A newer list that takes over members of the old one: an update of one endpoint among ten
//! thousand costs as much as that one.
//!
//! In the client each update makes a new list with a pick_first for each endpoint, which finds its
//! connection READY and reports that; with the last report the new list replaces the old one. Here
//! only endpoints that are new, or not connected, are made again. The others report in one event,
//! after which the old list is changed in place. As long as all of them stay connected, nobody can
//! see a difference. When one does not, the new list is made in full ([`EndpointLists::split`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::members::ListedEndpoints;
use super::plan::PlannedMember;
use super::{ConnectedList, EndpointLists, EndpointReports, GAP};
use crate::endpoint::{Endpoint, EndpointList};
use crate::pick_first;
use crate::policy::{PolicyCx, PolicyEvent, StateReport, TreePath};
use crate::run::tally::{StateTally, Weights};
use crate::runtime::{Connectivity, below};

/// The index that stands for all members that were taken over. It is also their part of the path of
/// the event in which they report.
pub(super) const ADOPTED: u32 = u32::MAX;

/// How a newer list differs from the one in use.
#[derive(Debug)]
pub(super) struct Adoption {
    pub number: u32,
    endpoints: EndpointList,
    note: String,
    /// Members that stay but have another version of their endpoint, by place.
    replaced: Vec<(usize, Arc<Endpoint>)>,
    /// The places of members that are removed.
    removed: Vec<usize>,
    /// New members: the place before which each comes, and its index.
    fresh: Vec<(usize, u32)>,
    /// Counts the states of the new members.
    pub tally: StateTally,
    /// Whether the members that stay have reported.
    has_reported: bool,
}

impl Adoption {
    /// Shuts down the new members.
    pub fn shutdown(self, members: &mut ListedEndpoints, cx: &mut PolicyCx<'_>) {
        for (_, index) in self.fresh {
            members.remove(index as usize, cx);
        }
    }

    fn is_complete(&self) -> bool {
        self.has_reported && self.tally.total() == self.fresh.len()
    }
}

impl<R> EndpointLists<R> {
    /// Makes a newer list out of the list in use. Returns `None` if that is not possible, or if the
    /// difference could be seen.
    pub(super) fn adopt(
        &mut self,
        number: u32,
        (endpoints, start): (&EndpointList, usize),
        note: &str,
        cx: &mut PolicyCx<'_>,
    ) -> Option<EndpointReports> {
        // The log names each endpoint. Holders of a shared connection hear its news in the order in
        // which they joined. News that is under way would reach old and new members alike.
        let is_seen = cx.runtime.log.is_on() || cx.runtime.pool.shared() > 0 || cx.runtime.has_news();
        let list = self.current.as_ref().filter(|_| !is_seen && self.pending.is_none())?;
        let plan = self.plan(list, endpoints)?;
        let mut wanted = plan.wanted;
        let count = endpoints.len();
        let turn = |wanted: &PlannedMember| (wanted.index + count - start) % count;
        let mut fresh = Vec::with_capacity(wanted.len());
        let mut said = EndpointReports::new();
        wanted.sort_by_key(turn);
        for wanted in wanted {
            let index = self.members.add(&wanted.endpoint, (number, GAP));
            self.members.start(index as usize, &mut said, cx);
            fresh.push((wanted.index, wanted.before, index));
        }
        fresh.sort_unstable_by_key(|(index, ..)| *index);
        let adopted = below(&self.at, ADOPTED);
        cx.runtime.timer(0, &adopted, PolicyEvent::Timer(u64::from(number)));
        let newer = Adoption {
            number,
            endpoints: endpoints.clone(),
            note: note.to_owned(),
            replaced: plan.replaced,
            removed: plan.removed,
            fresh: fresh.into_iter().map(|(_, before, index)| (before, index)).collect(),
            tally: StateTally::default(),
            has_reported: false,
        };
        if let Some(old) = self.adoption.replace(newer) {
            old.shutdown(&mut self.members, cx);
        }
        Some(said)
    }

    /// Handles the report of the members that were taken over.
    pub(super) fn adopted(&mut self, what: &PolicyEvent) -> Option<(u32, EndpointReports)> {
        let adoption = self.adoption.as_mut()?;
        if *what != PolicyEvent::Timer(u64::from(adoption.number)) {
            return None;
        }
        adoption.has_reported = true;
        let report = (ADOPTED as usize, StateReport::new(Connectivity::Ready));
        Some((adoption.number, EndpointReports::from([report])))
    }

    /// Turns the list in use into the newer one if all members of that have reported. Says whether
    /// it did.
    pub(super) fn take_over(&mut self, cx: &mut PolicyCx<'_>) -> bool {
        let Some(adoption) = self.adoption.take_if(|adoption| adoption.is_complete()) else {
            return false;
        };
        let Some(list) = &mut self.current else { return false };
        for (place, endpoint) in adoption.replaced {
            if let Some(member) = list.index_at(place).and_then(|index| self.members.get_mut(index)) {
                member.endpoint = endpoint;
            }
        }
        list.remove(adoption.removed, &mut self.members, cx);
        list.insert(&adoption.fresh, &mut self.members);
        list.endpoints = adoption.endpoints;
        list.number = adoption.number;
        list.note = adoption.note;
        true
    }

    /// Makes the newer list in full, because there is news for a member that it shares with the
    /// list in use.
    pub(super) fn split(&mut self, index: u32, what: &PolicyEvent, cx: &mut PolicyCx<'_>) {
        let Some(list) = self.current.as_ref().filter(|_| self.adoption.is_some()) else {
            return;
        };
        // News for other members concerns one list only.
        let is_shared =
            |member: &super::ListedEndpoint| member.list == list.id && member.state == Some(Connectivity::Ready);
        if !self.members.get(index as usize).is_some_and(is_shared) {
            return;
        }
        let Some(adoption) = self.adoption.take() else { return };
        let Some(list) = &self.current else { return };
        let removed: BTreeSet<usize> = adoption.removed.iter().copied().collect();
        let mut fresh = adoption.fresh.iter().peekable();
        let mut endpoints = adoption.endpoints.iter();
        let mut places = Vec::with_capacity(adoption.endpoints.len());
        let mut tally = adoption.tally.clone();
        let mut twins = BTreeMap::new();
        let kept: Vec<(usize, usize)> = list
            .places
            .iter()
            .enumerate()
            .filter_map(|(place, _)| Some((place, list.index_at(place)?)))
            .collect();
        for (place, kept) in kept {
            while let Some((_, index)) = fresh.next_if(|(before, _)| *before <= place) {
                places.push(*index);
                endpoints.next();
            }
            if removed.contains(&place) {
                continue;
            }
            let Some(endpoint) = endpoints.next() else { break };
            let selected = self.members.get(kept).and_then(|member| member.child.selected());
            let Some(address) = selected.map(|handle| handle.address.clone()) else {
                continue;
            };
            let twin = self.members.add(endpoint, (adoption.number, 0));
            if let Some(member) = self.members.get_mut(twin as usize) {
                let at = below(&self.at, twin);
                member.child = pick_first::PickFirstPolicy::connected(at, endpoint, &address, cx);
                member.state = adoption.has_reported.then_some(Connectivity::Ready);
                tally.change(None, member.state);
            }
            twins.extend(self.twins(kept, twin));
            places.push(twin);
        }
        places.extend(fresh.map(|(_, index)| *index));
        // In the client, old and new members get the news of a connection one after the other.
        if let Some((at, news)) = forwarded(what, &twins) {
            cx.runtime.tell_next(&at, news);
        }
        cx.runtime.tell_too(|_, what| forwarded(what, &twins));
        self.pending = Some(ConnectedList {
            id: adoption.number,
            number: adoption.number,
            ready: self.members.place(&places, adoption.number),
            endpoints: adoption.endpoints,
            places,
            filled: None,
            tally,
            note: adoption.note,
        });
    }

    /// Returns the handle of a member, and the handle of its twin with the twin's place in the
    /// tree.
    fn twins(&self, member: usize, twin: u32) -> Option<(u64, (u64, TreePath))> {
        let handle = |index: usize| Some(self.members.get(index)?.child.selected()?.id);
        Some((handle(member)?, (handle(twin as usize)?, below(&self.at, twin))))
    }
}

/// Returns news of a connection as another handle of it gets them; `None` for other events.
/// outlier_detection itself tells each new handle that its endpoint is ejected.
fn forwarded(what: &PolicyEvent, twins: &BTreeMap<u64, (u64, TreePath)>) -> Option<(TreePath, PolicyEvent)> {
    let PolicyEvent::Subchannel { handle, state, status } = what else {
        return None;
    };
    let (handle, at) = twins.get(handle)?;
    let news = PolicyEvent::Subchannel {
        handle: *handle,
        state: *state,
        status: status.clone(),
    };
    Some((at.clone(), news))
}

impl ConnectedList {
    /// Returns the place of the endpoint of this number.
    pub(super) fn place(&self, number: usize) -> Option<usize> {
        match &self.filled {
            Some(filled) => filled.find(number as u64),
            None => (number < self.places.len()).then_some(number),
        }
    }

    /// Removes members. Their places become gaps.
    fn remove(&mut self, mut removed: Vec<usize>, members: &mut ListedEndpoints, cx: &mut PolicyCx<'_>) {
        removed.sort_unstable();
        for place in removed {
            let Some(index) = self.index_at(place) else { continue };
            let state = members.get(index).and_then(|member| member.state);
            self.tally.change(state, None);
            if state == Some(Connectivity::Ready) {
                self.ready.take(place, 1);
            }
            let count = self.places.len();
            let all = || {
                let mut all = Weights::new(count);
                (0..count).for_each(|place| all.add(place, 1));
                all
            };
            self.filled.get_or_insert_with(all).take(place, 1);
            if let Some(at) = self.places.get_mut(place) {
                *at = GAP;
            }
            members.remove(index, cx);
        }
    }

    /// Adds members, each before a place. Gaps are used first.
    fn insert(&mut self, fresh: &[(usize, u32)], members: &mut ListedEndpoints) {
        let mut left = Vec::new();
        let mut last = None;
        for (before, index) in fresh.iter().rev() {
            let state = members.get(*index as usize).and_then(|member| member.state);
            self.tally.change(None, state);
            // Members that come before the same place keep their order.
            let above = match last {
                Some((same, above)) if same == *before => above,
                _ => self.first_from(*before),
            };
            let gap = above
                .checked_sub(1)
                .filter(|place| self.places.get(*place) == Some(&GAP));
            match gap {
                Some(place) => self.fill(place, *index, members),
                None => left.push((above, *index)),
            }
            last = Some((*before, gap.unwrap_or(above)));
        }
        let is_sparse = self.places.len() > 2 * (self.endpoints.len() + fresh.len());
        if !left.is_empty() || is_sparse {
            left.reverse();
            self.rebuild(&left, members);
        }
    }

    /// Returns the first place, from the given one on, that is not a gap.
    fn first_from(&self, place: usize) -> usize {
        let mut rest = self.places.iter().enumerate().skip(place);
        rest.find(|(_, index)| **index != GAP)
            .map_or(self.places.len(), |(place, _)| place)
    }

    fn fill(&mut self, place: usize, index: u32, members: &mut ListedEndpoints) {
        let (Some(at), Some(member)) = (self.places.get_mut(place), members.get_mut(index as usize)) else {
            return;
        };
        *at = index;
        member.list = self.id;
        member.place = u32::try_from(place).unwrap_or(GAP);
        if member.state == Some(Connectivity::Ready) {
            self.ready.add(place, 1);
        }
        if let Some(filled) = &mut self.filled {
            filled.add(place, 1);
        }
    }

    /// Gives all members new places without gaps, and adds members, each before an old place.
    fn rebuild(&mut self, left: &[(usize, u32)], members: &mut ListedEndpoints) {
        let mut places = Vec::with_capacity(self.endpoints.len() + left.len());
        let mut left = left.iter().peekable();
        for (place, index) in self.places.iter().enumerate() {
            while let Some((_, fresh)) = left.next_if(|(before, _)| *before <= place) {
                places.push(*fresh);
            }
            if *index != GAP {
                places.push(*index);
            }
        }
        places.extend(left.map(|(_, index)| *index));
        self.ready = members.place(&places, self.id);
        self.places = places;
        self.filled = None;
    }
}
