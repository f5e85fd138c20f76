//! Changes of single endpoints, made to what the client keeps of a resource instead of its message.
//!
//! Another weight, or another health in which the client keeps an endpoint, changes that endpoint
//! and nothing else: no check of the resource looks at more than the one value. So the resource
//! need not be read again as a whole; the message is only written when somebody needs it.

use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, HashMap};
use std::net::SocketAddr;

use bytes::Bytes;

use super::change::{EndpointChange, EndpointEffect, addresses};
use crate::core::convert::health::kept_status;
use xdsctl_document::proto;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3 as pb;
use xdsctl_model::diag::Validation;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::Endpoints;
use xdsctl_model::resource::endpoints::Locality;

/// An endpoint of a message: the index of its locality, and its index there.
type MessageEndpoint = (usize, usize);

/// Changes to endpoints of a message that are not written to it yet.
#[derive(Debug, Clone, Default)]
pub struct PendingChanges(BTreeMap<MessageEndpoint, Vec<EndpointEffect>>);

/// Where the endpoints of a resource are in its message, and in what the client keeps.
#[derive(Debug, Default)]
pub struct Places {
    /// The endpoints by address; `None` for an address that several have. Looked up only, never
    /// iterated.
    by_address: HashMap<SocketAddr, Option<MessageEndpoint>>,
    /// For the index of a locality in the message, where the client keeps it: priority and index
    /// there.
    localities: BTreeMap<usize, (usize, usize)>,
}

/// The result of changes to endpoints of a resource.
#[derive(Debug)]
pub enum Patch {
    /// No change is about an endpoint of the resource.
    Nothing,
    /// The changes must be made to the message, which is then read again.
    Unclear,
    /// What the client keeps now, and the changes that the message still lacks.
    Value(Endpoints, PendingChanges),
}

impl PendingChanges {
    /// Says whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds changes that were made after these.
    pub fn add(&mut self, newer: PendingChanges) {
        for (place, changes) in newer.0 {
            let known = self.0.entry(place).or_default();
            for change in changes {
                // Of each kind, only the newest change counts.
                known.retain(|known| std::mem::discriminant(known) != std::mem::discriminant(&change));
                known.push(change);
            }
        }
    }
}

impl Places {
    /// Finds the endpoints of a message, of which the client keeps `kept`.
    pub fn of(bytes: &Bytes, kept: &Endpoints, cx: &mut Validation<'_>) -> Places {
        let message: pb::ClusterLoadAssignment = proto::kept(bytes);
        let mut places = Places::default();
        for (number, list) in message.endpoints.iter().enumerate() {
            for (index, bytes) in list.lb_endpoints.iter().enumerate() {
                let place = (number, index);
                let endpoint: pb::LbEndpoint = proto::kept(bytes);
                for address in addresses(&endpoint, cx) {
                    places.add(address, place);
                }
            }
        }
        for (priority, localities) in kept.priorities.iter().enumerate() {
            for (number, locality) in localities.iter().enumerate() {
                places.localities.insert(locality.index, (priority, number));
            }
        }
        places
    }

    fn add(&mut self, address: SocketAddr, place: MessageEndpoint) {
        match self.by_address.entry(canonical(address)) {
            Entry::Vacant(free) => _ = free.insert(Some(place)),
            Entry::Occupied(mut known) if *known.get() != Some(place) => _ = known.insert(None),
            Entry::Occupied(_) => {}
        }
    }
}

/// Applies changes to what the client keeps; of several for one endpoint, the last one counts.
/// Calls `met` with the index of each change that is about an endpoint of the resource, unless the
/// result is [`Patch::Unclear`].
pub fn patched(
    kept: &Endpoints,
    places: &Places,
    changes: &[EndpointChange],
    cx: &Validation<'_>,
    met: &mut dyn FnMut(usize),
) -> Patch {
    // Without this feature, the client keeps fewer addresses than the message has.
    if !cx.has(Feature::DualstackEndpoints) {
        return Patch::Unclear;
    }
    let mut last: BTreeMap<MessageEndpoint, EndpointEffect> = BTreeMap::new();
    let mut numbers = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        match places.by_address.get(&canonical(change.address)) {
            None => {}
            Some(None) => return Patch::Unclear,
            Some(Some(place)) => {
                last.insert(*place, change.what);
                numbers.push(number);
            }
        }
    }
    if last.is_empty() {
        return Patch::Nothing;
    }
    let mut newer = kept.clone();
    for (place, what) in &last {
        if patch(&mut newer, places, *place, *what, cx).is_none() {
            return Patch::Unclear;
        }
    }
    numbers.into_iter().for_each(met);
    let changed = last.into_iter().map(|(place, what)| (place, vec![what]));
    Patch::Value(newer, PendingChanges(changed.collect()))
}

/// Changes one endpoint; `None` if the client does not keep it both before and after.
fn patch(
    kept: &mut Endpoints,
    places: &Places,
    (number, index): MessageEndpoint,
    what: EndpointEffect,
    cx: &Validation<'_>,
) -> Option<()> {
    let (priority, locality) = *places.localities.get(&number)?;
    let locality: &mut Locality = kept.priorities.get_mut(priority)?.get_mut(locality)?;
    let pieces = locality.endpoints.pieces();
    let place = pieces.partition_point(|piece| piece.last().is_some_and(|last| last.index < index));
    let mut piece = pieces.get(place)?.to_vec();
    let endpoint = piece.iter_mut().find(|endpoint| endpoint.index == index)?;
    match what {
        EndpointEffect::Health(health) => endpoint.health = kept_status(health.into(), cx)?,
        EndpointEffect::Weight(0) | EndpointEffect::Gone => return None,
        EndpointEffect::Weight(weight) => (endpoint.weight, endpoint.weight_is_default) = (weight, false),
    }
    locality.endpoints = locality.endpoints.with_piece(place, piece.into());
    Some(())
}

/// Returns the message with the changes written to it.
pub fn written(bytes: &Bytes, pending: &PendingChanges) -> Bytes {
    let mut message: pb::ClusterLoadAssignment = proto::kept(bytes);
    for ((number, index), changes) in &pending.0 {
        let list = message
            .endpoints
            .get_mut(*number)
            .map(|locality| &mut locality.lb_endpoints);
        let Some(kept) = list.and_then(|list| list.get_mut(*index)) else {
            continue;
        };
        let mut endpoint: pb::LbEndpoint = proto::kept(kept);
        for change in changes {
            change.apply(&mut endpoint);
        }
        *kept = proto::keep(&endpoint);
    }
    proto::keep(&message)
}

/// Returns an address in the form that is compared: `::ffff:1.2.3.4` is `1.2.3.4`, and the zone of
/// an IPv6 address does not count.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
