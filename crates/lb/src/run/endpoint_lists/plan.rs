//! Which members of the list in use a newer list takes over, and which are made again.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use super::{ConnectedList, EndpointLists, GAP};
use crate::endpoint::{Endpoint, EndpointList};
use crate::runtime::Connectivity;

/// A member that is to be made.
pub(super) struct PlannedMember {
    /// The index of the endpoint in the new list.
    pub index: usize,
    /// The place, in the list in use, before which it comes.
    pub before: usize,
    pub endpoint: Arc<Endpoint>,
}

/// What happens to the members of a list.
#[derive(Default)]
pub(super) struct Plan {
    pub replaced: Vec<(usize, Arc<Endpoint>)>,
    pub removed: Vec<usize>,
    pub wanted: Vec<PlannedMember>,
}

impl<R> EndpointLists<R> {
    /// Plans what happens to the members of the list in use. Returns `None` if none would stay, or
    /// if endpoints come in another order.
    pub(super) fn plan(&self, list: &ConnectedList, endpoints: &EndpointList) -> Option<Plan> {
        let is_ready = |index: Option<usize>| {
            let member = index.and_then(|index| self.members.get(index));
            member.is_some_and(|member| member.state == Some(Connectivity::Ready))
        };
        let mut plan = Plan::default();
        let difference = list.endpoints.difference(endpoints, Arc::ptr_eq);
        let (before, gone) = (difference.before, difference.old.len());
        let there: BTreeSet<SocketAddr> = difference.new.iter().filter_map(|endpoint| primary(endpoint)).collect();
        let known: BTreeSet<SocketAddr> = difference.old.iter().filter_map(|endpoint| primary(endpoint)).collect();
        let mut new = difference.new.iter().peekable();
        let mut index = before;
        // New endpoints come before the place of the next old one that stays.
        let mut insert = |until: Option<&Endpoint>, before: usize, index: &mut usize, plan: &mut Plan| {
            while let Some(endpoint) =
                new.next_if(|endpoint| until.is_none_or(|old| old.addresses != endpoint.addresses))
            {
                if primary(endpoint).is_none_or(|address| known.contains(&address)) {
                    return None;
                }
                let endpoint = Arc::clone(endpoint);
                plan.wanted.push(PlannedMember {
                    index: *index,
                    before,
                    endpoint,
                });
                *index += 1;
            }
            Some(until.and_then(|_| new.next().map(|endpoint| Arc::clone(endpoint))))
        };
        for (number, old) in difference.old.iter().enumerate() {
            let place = list.place(before + number)?;
            if primary(old).is_none_or(|address| !there.contains(&address)) {
                plan.removed.push(place);
                continue;
            }
            let endpoint = insert(Some(old), place, &mut index, &mut plan)??;
            if !is_ready(list.index_at(place)) {
                plan.removed.push(place);
                plan.wanted.push(PlannedMember {
                    index,
                    before: place,
                    endpoint,
                });
            } else if !Arc::ptr_eq(&endpoint, old) {
                plan.replaced.push((place, endpoint));
            }
            index += 1;
        }
        let place_after = list.place(before + gone).unwrap_or(list.places.len());
        insert(None, place_after, &mut index, &mut plan)?;
        self.refresh(list, (before, gone, index), is_ready, &mut plan);
        let stay = list.ready()
            - plan
                .removed
                .iter()
                .filter(|place| is_ready(list.index_at(**place)))
                .count();
        (stay > 0).then_some(plan)
    }

    /// Plans to make again the members outside of what differs that are not connected.
    fn refresh(
        &self,
        list: &ConnectedList,
        (before, gone, after): (usize, usize, usize),
        is_ready: impl Fn(Option<usize>) -> bool,
        plan: &mut Plan,
    ) {
        if list.ready() == list.endpoints.len() {
            return;
        }
        let places = list.places.iter().enumerate().filter(|(_, index)| **index != GAP);
        for (number, (place, _)) in places.enumerate() {
            let index = list.index_at(place);
            if is_ready(index) || (before..before + gone).contains(&number) {
                continue;
            }
            if let Some(member) = index.and_then(|index| self.members.get(index)) {
                plan.removed.push(place);
                plan.wanted.push(PlannedMember {
                    index: if number < before {
                        number
                    } else {
                        number - before - gone + after
                    },
                    before: place,
                    endpoint: member.endpoint.clone(),
                });
            }
        }
    }
}

/// Returns the first address of an endpoint.
fn primary(endpoint: &Endpoint) -> Option<SocketAddr> {
    endpoint.addresses.first().map(|address| address.socket)
}
