//! The endpoints of a leaf cluster as the policies get them. They are made anew only where the
//! resource has changed.
//!
//! Each piece of the list is made from a piece of the resource. A piece that an update leaves alone
//! is recognised by its place in memory, and an endpoint that it repeats without a change by
//! comparison. So the policies below see at a glance what is new.

use std::collections::HashMap;
use std::sync::Arc;

use crate::rpc::weights::endpoint_weights;
use crate::tree::names::NamedLeaf;
use xdsctl_lb::endpoint::{Address, Endpoint, EndpointList, Piece, SubchannelScope};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::endpoints::{self as resource, Locality, counted_weight};
use xdsctl_model::resource::pieces::Pieces;

/// The names from the root of the cluster's tree down to a locality.
type LocalityPath = Arc<[Arc<str>]>;

/// The endpoints of a leaf cluster, or of all leaves of an aggregate, with their places in the
/// tree, in the order in which the client lists them.
#[derive(Debug, Default)]
pub(super) struct Endpoints {
    parts: Vec<LocalityPart>,
    list: EndpointList,
}

/// The endpoints of a locality.
#[derive(Debug)]
struct LocalityPart {
    names: LocalityPath,
    /// The scope of the subchannels to endpoints without a hostname.
    scope: Arc<SubchannelScope>,
    weight: u32,
    /// What each piece was made from.
    made_of: Pieces<resource::Endpoint>,
    pieces: Vec<Piece>,
}

/// Computes the weight of an endpoint from that of its locality and its own.
type Product = fn(u32, u32) -> u32;

impl Endpoints {
    /// Applies an update whose priorities have their names already. `above` is the aggregate
    /// cluster that has the leaf.
    pub fn update(&mut self, leaves: &[NamedLeaf<'_>], above: Option<&str>, profile: &Profile) -> EndpointList {
        let before = std::mem::take(&mut self.parts);
        let mut by_names: Option<HashMap<&[Arc<str>], &LocalityPart>> = None;
        let is_normalised = profile.has(Feature::PfWeightedShuffling);
        let is_pooled = profile.has(Feature::ConnectionsPooled);
        let product: Product = if profile.has(Feature::ZeroWeightsCount) {
            u32::saturating_mul
        } else if profile.has(Feature::WeightsOfEndpointsUnsigned) {
            |locality, own| locality.wrapping_mul(own.max(1))
        } else if profile.has(Feature::SocketRing) {
            signed_product
        } else {
            |locality, own| locality.wrapping_mul(counted_weight(own))
        };
        let priorities = leaves.iter().flat_map(|named| {
            let endpoints = named.leaf.endpoints.iter();
            let priorities = endpoints.flat_map(|endpoints| &endpoints.priorities);
            priorities
                .zip(&named.names)
                .map(|(localities, name)| (named.cluster, localities, name))
        });
        let mut parts = Vec::with_capacity(before.len());
        for (cluster, localities, name) in priorities {
            let child: Arc<str> = name.as_str().into();
            // With the switch, the weight of one endpoint depends on those of all others.
            let weights = is_normalised.then(|| endpoint_weights(localities, profile));
            for (place, locality) in localities.iter().enumerate() {
                let names: LocalityPath = [child.clone(), locality.name.to_string().into()].into();
                let known = before.get(parts.len()).filter(|part| part.names == names).or_else(|| {
                    let all = || before.iter().map(|part| (&*part.names, part)).collect();
                    by_names.get_or_insert_with(all).get(&*names).copied()
                });
                let weights = weights.as_ref().and_then(|weights| weights.get(place));
                let weights = weights.map(Vec::as_slice);
                let scope = || SubchannelScope {
                    cluster: if is_pooled { above.unwrap_or_default() } else { cluster }.into(),
                    // In other clients, an endpoint that moves to another locality keeps its
                    // connections.
                    locality: names.last().filter(|_| profile.is_core()).cloned().unwrap_or_default(),
                    hostname: Box::default(),
                };
                let scope = known.map_or_else(|| Arc::new(scope()), |known| known.scope.clone());
                parts.push(LocalityPart::new((names, scope, product), locality, weights, known));
            }
        }
        let pieces = || parts.iter().flat_map(|part| &part.pieces);
        if !are_the_same(pieces(), self.list.pieces().iter()) {
            self.list = Arc::new(Pieces::of(pieces().cloned()));
        }
        self.parts = parts;
        self.list.clone()
    }
}

/// The product of two weights in grpc-java, whose numbers are signed. It is 0 if it does not fit
/// into 32 bits, and its rings refuse that.
fn signed_product(locality: u32, own: u32) -> u32 {
    let own = match own.cast_signed() {
        0 => 1,
        own => i64::from(own),
    };
    u32::try_from(i64::from(locality) * own).unwrap_or(0)
}

/// Compares pieces by their places in memory.
fn are_the_same<'p>(mut some: impl Iterator<Item = &'p Piece>, mut others: impl Iterator<Item = &'p Piece>) -> bool {
    loop {
        match (some.next(), others.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if Arc::ptr_eq(one, other) => {}
            _ => return false,
        }
    }
}

impl LocalityPart {
    fn new(
        (names, scope, product): (LocalityPath, Arc<SubchannelScope>, Product),
        locality: &Locality,
        weights: Option<&[u32]>,
        known: Option<&LocalityPart>,
    ) -> LocalityPart {
        let known = known.filter(|part| part.weight == locality.weight);
        let names = known.map_or(names, |part| part.names.clone());
        let mut number = 0;
        let pieces = locality.endpoints.pieces().iter().enumerate().map(|(place, piece)| {
            let before = known.and_then(|part| part.pieces.get(place));
            let is_same = known
                .and_then(|part| part.made_of.pieces().get(place))
                .is_some_and(|known| Arc::ptr_eq(known, piece));
            let first = number;
            number += piece.len();
            match before.filter(|_| is_same && weights.is_none()) {
                Some(before) => before.clone(),
                None => {
                    let weight = |index: usize, own: u32| match weights.and_then(|weights| weights.get(first + index)) {
                        Some(weight) => *weight,
                        None => product(locality.weight, own),
                    };
                    make(piece, weight, (&names, &scope), locality.weight, before)
                }
            }
        });
        LocalityPart {
            pieces: pieces.collect(),
            names,
            scope,
            weight: locality.weight,
            made_of: locality.endpoints.clone(),
        }
    }
}

/// Makes a piece, and reuses what has not changed.
fn make(
    piece: &Arc<[resource::Endpoint]>,
    weight: impl Fn(usize, u32) -> u32,
    (names, scope): (&LocalityPath, &Arc<SubchannelScope>),
    locality_weight: u32,
    before: Option<&Piece>,
) -> Piece {
    let known = before.map_or(&[][..], |before| before);
    let mut next = 0;
    let made = piece.iter().enumerate().map(|(index, endpoint)| {
        let weight = weight(index, endpoint.weight);
        // The endpoint before it may be gone.
        let place = (next..known.len().min(next + 2)).find(|place| {
            let one = known
                .get(*place)
                .map(|known| known.addresses.iter().map(|address| address.socket));
            one.is_some_and(|one| one.eq(endpoint.addresses()))
        });
        let known = place.and_then(|place| known.get(place));
        next = place.map_or(next, |place| place + 1);
        if let Some(known) = known.filter(|known| is_same(known, endpoint, weight)) {
            return known.clone();
        }
        // Connections belong to one hostname.
        let same_name = known.filter(|known| *known.hostname == *endpoint.hostname);
        Arc::new(Endpoint {
            addresses: match same_name {
                Some(known) => known.addresses.clone(),
                None => addresses(endpoint, scope),
            },
            path: names.clone(),
            locality_weight,
            weight,
            health: endpoint.health,
            hostname: endpoint.hostname.as_str().into(),
            hash_key: endpoint.hash_key.as_deref().map(Box::from),
        })
    });
    let made: Vec<Arc<Endpoint>> = made.collect();
    match before.filter(|before| {
        before.len() == made.len() && before.iter().zip(&made).all(|(one, other)| Arc::ptr_eq(one, other))
    }) {
        Some(before) => before.clone(),
        None => made.into(),
    }
}

fn addresses(endpoint: &resource::Endpoint, nameless: &Arc<SubchannelScope>) -> Arc<[Address]> {
    let named = (!endpoint.hostname.is_empty()).then(|| {
        Arc::new(SubchannelScope {
            hostname: endpoint.hostname.as_str().into(),
            ..SubchannelScope::clone(nameless)
        })
    });
    let scope = named.as_ref().unwrap_or(nameless);
    endpoint
        .addresses()
        .map(|socket| Address::within(socket, scope))
        .collect()
}

/// Says whether an endpoint is the same as the known one. Their addresses, their locality and its
/// weight are known to be the same.
fn is_same(known: &Endpoint, endpoint: &resource::Endpoint, weight: u32) -> bool {
    known.weight == weight
        && known.health == endpoint.health
        && *known.hostname == *endpoint.hostname
        && known.hash_key.as_deref() == endpoint.hash_key.as_deref()
}
