//! The endpoints of all lists of a policy, by indices that they keep from list to list.

use std::sync::Arc;

use super::EndpointReports;
use crate::endpoint::{Endpoint, EndpointList};
use crate::pick_first;
use crate::policy::{PolicyCx, StateMachine as _, TreePath};
use crate::run::looks::look;
use crate::run::tally::Weights;
use crate::runtime::{Connectivity, below};

/// One endpoint of a policy, with the policy that connects to it.
#[derive(Debug)]
pub struct ListedEndpoint {
    /// The endpoint as the configuration has it.
    pub endpoint: Arc<Endpoint>,
    /// The pick_first policy that connects to the endpoint.
    pub child: pick_first::PickFirstPolicy,
    /// The state that the pick_first policy last reported.
    pub(super) state: Option<Connectivity>,
    /// The number of the list that has the endpoint.
    pub(super) list: u32,
    /// The endpoint's place in the list.
    pub(super) place: u32,
}

/// The endpoints, by their indices.
#[derive(Debug)]
pub(super) struct ListedEndpoints {
    at: TreePath,
    members: Vec<Option<ListedEndpoint>>,
    /// The indices that are free.
    free: Vec<u32>,
}

impl ListedEndpoints {
    /// Makes an empty collection; `at` is the policy's place.
    pub const fn new(at: TreePath) -> ListedEndpoints {
        ListedEndpoints {
            at,
            members: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Returns the member at an index.
    pub fn get(&self, index: usize) -> Option<&ListedEndpoint> {
        look(1);
        self.members.get(index)?.as_ref()
    }

    /// Returns the member at an index, to be changed.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut ListedEndpoint> {
        look(1);
        self.members.get_mut(index)?.as_mut()
    }

    /// Adds a member of a list, and returns its index.
    pub fn add(&mut self, endpoint: &Arc<Endpoint>, (list, place): (u32, u32)) -> u32 {
        let next = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        let index = self.free.pop().unwrap_or(next);
        let member = ListedEndpoint {
            endpoint: endpoint.clone(),
            child: pick_first::PickFirstPolicy::new(below(&self.at, index), true),
            state: None,
            list,
            place,
        };
        match self.members.get_mut(index as usize) {
            Some(room) => *room = Some(member),
            None => self.members.push(Some(member)),
        }
        index
    }

    /// Adds the members of a list. Returns their indices in the order of the list.
    pub fn add_all(&mut self, endpoints: &EndpointList, list: u32) -> Vec<u32> {
        self.members
            .reserve_exact(endpoints.len().saturating_sub(self.free.len()));
        let all = endpoints.iter().zip(0..);
        all.map(|(endpoint, place)| self.add(endpoint, (list, place))).collect()
    }

    /// Makes a new member look at its connection.
    pub fn start(&mut self, index: usize, said: &mut EndpointReports, cx: &mut PolicyCx<'_>) {
        if let Some(member) = self.get_mut(index) {
            let endpoint = std::slice::from_ref(&member.endpoint);
            let reports = member.child.set(Ok(endpoint), false, "", cx);
            said.extend(reports.into_iter().map(|report| (index, report)));
        }
    }

    /// Gives the members of a list their places. Returns the places of those that are READY,
    /// each with weight 1.
    pub fn place(&mut self, places: &[u32], list: u32) -> Weights {
        let mut ready = Weights::new(places.len());
        for (place, index) in places.iter().enumerate() {
            let Some(member) = self.get_mut(*index as usize) else {
                continue;
            };
            member.list = list;
            member.place = u32::try_from(place).unwrap_or(u32::MAX);
            if member.state == Some(Connectivity::Ready) {
                ready.add(place, 1);
            }
        }
        ready
    }

    /// Shuts down a member, and removes it.
    pub fn remove(&mut self, index: usize, cx: &mut PolicyCx<'_>) {
        let gone = self.members.get_mut(index).and_then(Option::take);
        if let Some(mut gone) = gone {
            gone.child.shutdown(cx);
            self.free.extend(u32::try_from(index));
        }
    }
}
