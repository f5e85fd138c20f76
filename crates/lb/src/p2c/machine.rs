//! p2c at work: all endpoints always count as READY, and connect when an RPC goes to them.
//!
//! Follows tower 0.5 `Balance` (balance/p2c/service.rs) over tonic's lazy channels, which never
//! hold an RPC back: without a connection, the RPC fails. Without an endpoint, RPCs wait.

use crate::endpoint::Address;
use crate::picker::{Complete, Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::runtime::Connectivity;
use xdsctl_model::rng::Rng;

/// The state of a p2c policy.
#[derive(Debug)]
pub struct P2cPolicy {
    at: String,
    /// The endpoints, with their counters of RPCs in flight.
    endpoints: Vec<(Address, u32)>,
    draw: Rng,
}

impl P2cPolicy {
    /// Makes a policy without endpoints.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> P2cPolicy {
        P2cPolicy {
            at: format!("{at:?}"),
            endpoints: Vec::new(),
            draw: cx.runtime.stream("p2c/choice", &at),
        }
    }

    /// Draws the indexes of two different endpoints. All ordered pairs have the same chance. With
    /// one endpoint only, returns it twice.
    fn two(&mut self) -> Option<(usize, usize)> {
        let count = self.endpoints.len();
        let first = (count > 0).then(|| self.draw.index(count))?;
        if count == 1 {
            return Some((first, first));
        }
        let second = self.draw.index(count - 1);
        Some((first, second + usize::from(second >= first)))
    }
}

impl crate::policy::StateMachine for P2cPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let Ok(endpoints) = update.endpoints else {
            return Reports::new();
        };
        let addresses = endpoints.iter().filter_map(|endpoint| endpoint.addresses.first());
        self.endpoints = addresses
            .map(|address| {
                let counter = cx.runtime.in_flight.counter(&self.at, &address.text);
                (address.clone(), counter)
            })
            .collect();
        let state = match self.endpoints.is_empty() {
            true => Connectivity::Connecting,
            false => Connectivity::Ready,
        };
        vec![StateReport::new(state)]
    }

    fn handle(&mut self, _path: &[u32], _what: &PolicyEvent, _cx: &mut PolicyCx<'_>) -> Reports {
        Reports::new()
    }

    fn pick(&mut self, _args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let Some((first, second)) = self.two() else {
            cx.say(super::NAME, format_args!("no endpoint: the RPC waits for one"));
            return Pick::Queue;
        };
        let under_way = |place: usize| {
            self.endpoints
                .get(place)
                .map_or(0, |(_, counter)| cx.in_flight.get(*counter))
        };
        let (of_first, of_second) = (under_way(first), under_way(second));
        let place = if of_first <= of_second { first } else { second };
        let Some((address, counter)) = self.endpoints.get(place) else {
            return Pick::Queue;
        };
        let count = self.endpoints.len();
        cx.say(
            super::NAME,
            format_args!(
                "endpoint {} of {count}, with {} RPCs under way the less busy of two drawn: {}",
                place + 1,
                of_first.min(of_second),
                address.text
            ),
        );
        let mut complete = Complete::new(0, u32::MAX, address);
        complete.connects = true;
        complete.in_flight_of_endpoint = Some(*counter);
        Pick::Complete(complete)
    }

    fn shares(&self, _args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        if self.endpoints.is_empty() {
            out.add(PickShares::QUEUED, share);
        }
        let each = share / self.endpoints.len() as f64;
        for (address, _) in &self.endpoints {
            out.add(&address.text, each);
        }
    }

    fn shutdown(&mut self, _cx: &mut PolicyCx<'_>) {
        self.endpoints.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_several_endpoints_is_drawn_as_often() {
        let mut policy = P2cPolicy {
            at: String::new(),
            endpoints: ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]
                .map(|text| (Address::new(text.parse().unwrap()), 0))
                .into(),
            draw: Rng::stream(1, "test"),
        };
        let mut counts = [[0; 3]; 3];
        for _ in 0..6000 {
            let (first, second) = policy.two().unwrap();
            counts[first][second] += 1;
        }
        for (first, seconds) in counts.iter().enumerate() {
            for (second, count) in seconds.iter().enumerate() {
                // Six pairs: 1000 of each, with a standard deviation of 29.
                assert_eq!((850..1150).contains(count), first != second, "{counts:?}");
            }
        }
        policy.endpoints.truncate(1);
        assert_eq!(policy.two(), Some((0, 0)));
        policy.endpoints.clear();
        assert_eq!(policy.two(), None);
    }
}
