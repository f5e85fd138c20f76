//! The endpoints that are open to new RPCs: those that are not draining. They are computed again
//! only where the list has changed.

use std::collections::HashMap;
use std::sync::Arc;

use crate::endpoint::{Endpoint, EndpointList, Piece};
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::pieces::Pieces;

/// The pieces of the last list, each with its open endpoints.
#[derive(Debug, Default)]
pub(super) struct Open {
    pieces: Vec<(Piece, Piece)>,
    list: EndpointList,
}

impl Open {
    /// Returns the open endpoints of a list.
    pub fn of(&mut self, endpoints: &EndpointList) -> EndpointList {
        let pieces = endpoints.pieces();
        let is_same = |((known, _), piece): (&(Piece, Piece), &Piece)| Arc::ptr_eq(known, piece);
        if self.pieces.len() == pieces.len() && self.pieces.iter().zip(pieces).all(is_same) {
            return self.list.clone();
        }
        let before = std::mem::take(&mut self.pieces);
        let front = before.iter().zip(pieces).take_while(|pair| is_same(*pair)).count();
        let rest = |len: usize| len - front;
        let tail = before.iter().rev().zip(pieces.iter().rev());
        let back = tail.take(rest(before.len()).min(rest(pieces.len())));
        let back = back.take_while(|pair| is_same(*pair)).count();
        let middle = pieces.get(front..pieces.len() - back).unwrap_or_default();
        // If the list has changed in several places, most pieces between them are the same too. The
        // map is only looked up in, so its order has no effect.
        let known = before.get(front..before.len() - back).unwrap_or_default();
        let known: HashMap<_, &(Piece, Piece)> = known.iter().map(|pair| (pair.0.as_ptr(), pair)).collect();
        let middle: Vec<(Piece, Piece)> = middle
            .iter()
            .map(|piece| {
                let found = known.get(&piece.as_ptr()).map(|pair| (*pair).clone());
                found.unwrap_or_else(|| (piece.clone(), open(piece)))
            })
            .collect();
        let len = before.len();
        let mut before = before.into_iter();
        self.pieces.reserve_exact(pieces.len());
        self.pieces.extend(before.by_ref().take(front));
        self.pieces.extend(middle);
        self.pieces.extend(before.skip(len - back - front));
        self.list = Arc::new(Pieces::of(self.pieces.iter().map(|(_, open)| open.clone())));
        self.list.clone()
    }
}

fn open(piece: &Piece) -> Piece {
    let is_open = |endpoint: &&Arc<Endpoint>| endpoint.health != HealthStatus::Draining;
    match piece.iter().all(|endpoint| is_open(&endpoint)) {
        true => piece.clone(),
        false => piece.iter().filter(is_open).cloned().collect(),
    }
}
