//! The endpoints in the order of their addresses. Only the part that has changed is sorted again.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::endpoint::{AddressSet, Endpoint, EndpointList};
use xdsctl_model::resource::pieces::Pieces;

/// The most endpoints of a piece. A piece that grows beyond that is divided.
const MOST: usize = 128;

/// The last list, and the same endpoints in order.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    taken: EndpointList,
    /// The sorted list. Of endpoints with the same addresses, only the first counts.
    list: EndpointList,
}

impl Sorted {
    /// Returns the endpoints of a list in order.
    pub fn of(&mut self, endpoints: &EndpointList) -> EndpointList {
        let list = self.changed(endpoints).unwrap_or_else(|| {
            let pairs = endpoints
                .iter()
                .rev()
                .map(|endpoint| (endpoint.address_set(), endpoint.clone()));
            let sorted: BTreeMap<AddressSet, Arc<Endpoint>> = pairs.collect();
            Arc::new(sorted.into_values().collect())
        });
        self.taken = endpoints.clone();
        self.list = list;
        self.list.clone()
    }

    /// Returns the previous order with the changes applied; `None` if that needs a look at the
    /// whole list.
    fn changed(&self, endpoints: &EndpointList) -> Option<EndpointList> {
        let difference = self.taken.difference(endpoints, Arc::ptr_eq);
        let changes = difference.old.len() + difference.new.len();
        if self.list.len() < self.taken.len() || changes > self.list.len() / 8 {
            return None;
        }
        let mut list = Pieces::clone(&self.list);
        for gone in difference.old {
            let (number, place) = find(&list, &gone.address_set());
            let mut piece = list.pieces().get(number)?.to_vec();
            piece.remove(place.ok()?);
            list = list.with_piece(number, piece.into());
        }
        for new in difference.new {
            let (number, place) = find(&list, &new.address_set());
            let number = number.min(list.pieces().len().saturating_sub(1));
            let mut piece = list.pieces().get(number).map_or_else(Vec::new, |piece| piece.to_vec());
            // If an endpoint with these addresses exists already, only the whole list decides which
            // one counts.
            piece.insert(place.err()?, new.clone());
            list = match piece.len() > MOST {
                true => {
                    let (before, after) = (list.pieces().get(..number)?, list.pieces().get(number + 1..)?);
                    let halves = piece.chunks(MOST / 2 + 1).map(Arc::from);
                    Pieces::of(before.iter().cloned().chain(halves).chain(after.iter().cloned()))
                }
                false if list.is_empty() => Pieces::from(piece),
                false => list.with_piece(number, piece.into()),
            };
        }
        Some(Arc::new(list))
    }
}

/// Returns the piece in which an endpoint with these addresses is, or would be, and its place
/// there. An endpoint after all others would be in the last piece.
fn find(list: &Pieces<Arc<Endpoint>>, set: &AddressSet) -> (usize, Result<usize, usize>) {
    let pieces = list.pieces();
    let is_before = |piece: &Arc<[Arc<Endpoint>]>| piece.last().is_some_and(|last| last.address_set() < *set);
    let number = pieces.partition_point(is_before);
    match pieces.get(number) {
        Some(piece) => (
            number,
            piece.binary_search_by(|endpoint| endpoint.address_set().cmp(set)),
        ),
        None => (number, Err(pieces.last().map_or(0, |last| last.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Address;
    use xdsctl_model::resource::cluster::HealthStatus;
    use xdsctl_model::rng::Rng;

    fn endpoint(number: u64) -> Arc<Endpoint> {
        let address = Address::new(([10, 0, (number / 250) as u8, (number % 250) as u8], 80).into());
        Arc::new(Endpoint {
            addresses: [address].into(),
            path: Arc::from([]),
            locality_weight: 1,
            weight: 1,
            health: HealthStatus::Unknown,
            hostname: "".into(),
            hash_key: None,
        })
    }

    #[test]
    fn what_is_changed_is_what_would_be_made() {
        let mut chance = Rng::stream(3, "sorted");
        let mut all: Vec<Arc<Endpoint>> = (0..400).map(|_| endpoint(chance.below(2000))).collect();
        let mut sorted = Sorted::default();
        for _ in 0..400 {
            let list: EndpointList = Arc::new(all.iter().cloned().collect());
            let made = Sorted::default().of(&list);
            let changed = sorted.of(&list);
            assert!(changed.iter().map(Arc::as_ptr).eq(made.iter().map(Arc::as_ptr)));
            for _ in 0..chance.below(3) {
                let place = chance.index(all.len());
                match chance.below(3) {
                    0 => drop(all.remove(place)),
                    1 => all.insert(place, endpoint(chance.below(2000))),
                    _ => all[place] = Arc::new(Endpoint::clone(&all[place])),
                }
            }
        }
    }
}
