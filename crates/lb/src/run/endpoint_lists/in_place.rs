//! An update that changes the list in use: endpoints that stay keep their connections, the others
//! are dropped at once.
//!
//! Nothing waits for the new endpoints: while no endpoint of the list is connected, RPCs wait.
//! Follows grpc-go balancer/endpointsharding, and balancer/base before it.

use std::collections::BTreeMap;

use super::{ADOPTED, ConnectedList, EndpointLists, EndpointReports};
use crate::endpoint::EndpointList;
use crate::policy::{PolicyCx, StateReport};
use crate::run::tally::StateTally;
use crate::runtime::Connectivity;

impl<R> EndpointLists<R> {
    /// Turns the list in use into that of an update. Returns the reports of new endpoints, then one
    /// report for the list as a whole.
    pub(super) fn change(
        &mut self,
        number: u32,
        (endpoints, start): (&EndpointList, usize),
        note: &str,
        cx: &mut PolicyCx<'_>,
    ) -> EndpointReports {
        let old = self.current.take();
        let mut known: BTreeMap<_, u32> = old
            .iter()
            .flat_map(ConnectedList::indices)
            .filter_map(|index| Some((self.members.get(index)?.endpoint.address_set(), index.try_into().ok()?)))
            .collect();
        let (mut places, mut is_new) = (Vec::with_capacity(endpoints.len()), Vec::new());
        for (endpoint, place) in endpoints.iter().zip(0..) {
            let kept = known.remove(&endpoint.address_set());
            if let Some(member) = kept.and_then(|index| self.members.get_mut(index as usize)) {
                is_new.push(member.endpoint.addresses != endpoint.addresses);
                member.endpoint = endpoint.clone();
            } else {
                is_new.push(true);
            }
            places.push(kept.unwrap_or_else(|| self.members.add(endpoint, (number, place))));
        }
        for gone in known.into_values() {
            self.members.remove(gone as usize, cx);
        }
        let mut tally = StateTally::default();
        for index in &places {
            let state = self.members.get(*index as usize).and_then(|member| member.state);
            tally.change(None, state);
        }
        let count = places.len();
        let mut said = EndpointReports::new();
        for place in (0..count).map(|turn| (start + turn) % count) {
            if let (Some(index), Some(true)) = (places.get(place), is_new.get(place)) {
                self.members.start(*index as usize, &mut said, cx);
            }
        }
        said.push_back((ADOPTED as usize, StateReport::new(Connectivity::Ready)));
        self.current = Some(ConnectedList {
            id: number,
            number,
            ready: self.members.place(&places, number),
            endpoints: endpoints.clone(),
            places,
            filled: None,
            tally,
            note: note.to_owned(),
        });
        said
    }
}
