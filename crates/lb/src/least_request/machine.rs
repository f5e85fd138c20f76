//! least_request at work: draws connected endpoints at random, and picks the one with the fewest
//! RPCs of this channel in flight.
//!
//! Follows grpc-go balancer/leastrequest and grpc-java LeastRequestLoadBalancer, which draw with
//! repetition.

use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, TreePath, Update};
use crate::run::endpoint_lists::{EndpointLists, ListNews, ListPicker};
use xdsctl_model::resource::LbConfig;
use xdsctl_model::rng::Rng;

/// The state of a least_request policy.
#[derive(Debug)]
pub struct LeastRequestPolicy {
    lists: EndpointLists<()>,
    choices: u32,
    /// The counters of RPCs in flight of the READY endpoints, in the order of the list.
    counters: Vec<u32>,
    at: String,
    draw: Rng,
}

impl LeastRequestPolicy {
    /// Makes a policy without endpoints.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> LeastRequestPolicy {
        LeastRequestPolicy {
            at: format!("{at:?}"),
            draw: cx.runtime.stream("least_request/choice", &at),
            lists: EndpointLists::new("least_request", at, cx),
            choices: 0,
            counters: Vec::new(),
        }
    }

    /// Handles the reports of endpoints of a list.
    fn note(&mut self, news: ListNews, cx: &mut PolicyCx<'_>) -> Reports {
        let reports = self.lists.note_all(news, cx, |_| ());
        self.counters.clear();
        let (lists, at) = (&self.lists, &self.at);
        self.counters.extend((0..lists.ready()).filter_map(|rank| {
            let member = lists.get(lists.nth_ready(rank)?)?;
            Some(cx.runtime.in_flight.counter(at, member.endpoint.name()))
        }));
        reports
    }
}

impl crate::policy::StateMachine for LeastRequestPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        if let LbConfig::LeastRequest(config) = update.config {
            self.choices = config.choice_count;
        }
        let news = self.lists.update(&update, cx);
        self.note(news, cx)
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        let news = self.lists.handle(path, what, cx);
        self.note(news, cx)
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        if !matches!(self.lists.shown, ListPicker::Ready(())) {
            return self.lists.shown.wait(super::NAME, cx);
        }
        let count = self.lists.ready();
        let under_way = |rank: usize| self.counters.get(rank).map_or(0, |counter| cx.in_flight.get(*counter));
        let mut best: Option<(u32, usize)> = None;
        for _ in 0..self.choices {
            let rank = self.draw.index(count);
            let drawn = (under_way(rank), rank);
            if best.is_none_or(|(fewest, _)| drawn.0 < fewest) {
                best = Some(drawn);
            }
        }
        let Some((fewest, rank)) = best else { return Pick::Queue };
        let member = self.lists.nth_ready(rank).and_then(|index| self.lists.get_mut(index));
        let Some(member) = member else { return Pick::Queue };
        let choices = self.choices;
        cx.say(
            super::NAME,
            format_args!(
                "endpoint {} of {count} that are READY, with {fewest} RPCs under way the fewest of {choices} drawn: {}",
                rank + 1,
                member.endpoint.name()
            ),
        );
        let mut pick = member.child.pick(args, cx);
        if let Pick::Complete(complete) = &mut pick {
            complete.in_flight_of_endpoint = self.counters.get(rank).copied();
        }
        pick
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        self.lists.shares(args, share, out);
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.lists.shutdown(cx);
    }
}
