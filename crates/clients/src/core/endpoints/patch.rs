//! Changes of single endpoints, made to what the client keeps of a resource instead of its message.
//!
//! Another weight, or another health in which the client keeps an endpoint, changes that endpoint
//! and nothing else: no check of the resource looks at more than the one value. So the resource
//! need not be read again as a whole; the message is written when somebody needs it.

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

/// An endpoint of a message: the numbers of its locality and of itself there.
type MessageEndpoint = (usize, usize);

/// What has become of endpoints of a message.
#[derive(Debug, Clone, Default)]
pub struct Later(BTreeMap<MessageEndpoint, Vec<EndpointEffect>>);

/// Where the endpoints of a resource stand.
#[derive(Debug, Default)]
pub struct Places {
    /// By address; `None` where several have it, or nobody knows. Looked up in, and never iterated
    /// over.
    by_address: HashMap<SocketAddr, Option<MessageEndpoint>>,
    /// Where the client keeps each locality of the message: its priority, and its number there.
    localities: BTreeMap<usize, (usize, usize)>,
}

/// What changes make of a resource.
#[derive(Debug)]
pub enum Patch {
    /// They are about no endpoint of it.
    Nothing,
    /// The whole message has to be looked at.
    Unclear,
    /// The client keeps this of it, and the message is another one by that.
    Value(Endpoints, Later),
}

impl Later {
    /// Says whether nothing has.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds what has become of endpoints after that.
    pub fn add(&mut self, newer: Later) {
        for (place, changes) in newer.0 {
            let known = self.0.entry(place).or_default();
            for change in changes {
                // One of each kind is enough.
                known.retain(|known| std::mem::discriminant(known) != std::mem::discriminant(&change));
                known.push(change);
            }
        }
    }
}

impl Places {
    /// Those of a message, of which the client keeps `kept`.
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

/// Makes changes, of several of one endpoint the last one. `met` is called with the number of each
/// change that is about an endpoint of the resource, if that is clear.
pub fn patched(
    kept: &Endpoints,
    places: &Places,
    changes: &[EndpointChange],
    cx: &Validation<'_>,
    met: &mut dyn FnMut(usize),
) -> Patch {
    // Without it the client keeps fewer addresses than the message has.
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
    Patch::Value(newer, Later(changed.collect()))
}

/// Changes one endpoint, if the client keeps it before and after.
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

/// The message after what has become of its endpoints.
pub fn written(bytes: &Bytes, later: &Later) -> Bytes {
    let mut message: pb::ClusterLoadAssignment = proto::kept(bytes);
    for ((number, index), changes) in &later.0 {
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

/// `::ffff:1.2.3.4` is `1.2.3.4`. Of an IPv6 address the zone is no part.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
