//! least_request at work: draws endpoints that are connected, and takes the one with the fewest
//! RPCs of this channel under way.
//!
//! Follows grpc-go balancer/leastrequest and grpc-java LeastRequestLoadBalancer, which draw with
//! repetition.

use crate::endpoint;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::run::endpoint_lists::{EndpointLists, EndpointReports, ListState, ListUpdate};
use crate::runtime::Connectivity;
use xdsctl_model::resource::LbConfig;
use xdsctl_model::rng::Rng;
use xdsctl_model::status::Status;

/// The state of a least_request policy.
#[derive(Debug)]
pub struct LeastRequestPolicy {
    lists: EndpointLists,
    shown: LeastRequestReport,
    choices: u32,
    /// Counters of RPCs under way, by the place of the endpoint in the list.
    counters: Vec<u32>,
    at: String,
    connect_order: Rng,
    draw: Rng,
}

#[derive(Debug)]
enum LeastRequestReport {
    Queue,
    Fail(Status),
    Ready,
}

impl LeastRequestPolicy {
    /// A policy without endpoints.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> LeastRequestPolicy {
        let connect_order = cx.runtime.stream("least_request/connect order", &at);
        let draw = cx.runtime.stream("least_request/choice", &at);
        LeastRequestPolicy {
            at: format!("{at:?}"),
            lists: EndpointLists::new(at),
            shown: LeastRequestReport::Queue,
            choices: 0,
            counters: Vec::new(),
            connect_order,
            draw,
        }
    }

    /// Works off what endpoints of a list reported.
    fn note(&mut self, number: u32, mut said: EndpointReports, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        while let Some((index, report)) = said.pop_front() {
            self.lists.note(number, (index, &report), &mut said, cx);
            self.lists.promote(number, cx);
            match self.lists.standing(number) {
                ListState::Ready => {
                    self.shown = LeastRequestReport::Ready;
                    reports.push(StateReport::new(Connectivity::Ready));
                }
                ListState::Connecting => {
                    self.shown = LeastRequestReport::Queue;
                    reports.push(StateReport::new(Connectivity::Connecting));
                }
                ListState::Failing => {
                    let words = report.status.map(|status| status.message.to_string());
                    let status = self.lists.failure(words);
                    self.shown = LeastRequestReport::Fail(status.clone());
                    reports.push(StateReport::failure(status));
                }
                ListState::Open => {}
            }
        }
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
        let endpoints = match update.endpoints {
            Ok(endpoints) => endpoints,
            Err(_) if self.lists.has_list() => return Reports::new(),
            Err(_) => endpoint::none(),
        };
        let start = self.connect_order.index(endpoints.len());
        match self.lists.take(endpoints, start, &update, cx) {
            ListUpdate::Empty(status) => {
                self.shown = LeastRequestReport::Fail(status.clone());
                vec![StateReport::failure(status)]
            }
            ListUpdate::Listed(number, said) => self.note(number, said, cx),
        }
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        match self.lists.handle(path, what, cx) {
            Some((number, said)) => self.note(number, said, cx),
            None => Reports::new(),
        }
    }

    fn exit_idle(&mut self, _cx: &mut PolicyCx<'_>) -> Reports {
        // Endpoints are never left idle.
        Reports::new()
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        match &self.shown {
            LeastRequestReport::Queue => {
                cx.say(super::NAME, format_args!("no endpoint is connected yet"));
                return Pick::Queue;
            }
            LeastRequestReport::Fail(status) => {
                cx.say(super::NAME, format_args!("fails: {}", status.message));
                return Pick::Fail(status.clone());
            }
            LeastRequestReport::Ready => {}
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
        match &self.shown {
            LeastRequestReport::Queue => out.add(PickShares::QUEUED, share),
            LeastRequestReport::Fail(status) => out.add_status(status, share),
            LeastRequestReport::Ready => {
                let each = share / self.lists.ready() as f64;
                for (_, member) in self.lists.all_ready() {
                    member.child.shares(args, each, out);
                }
            }
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.lists.shutdown(cx);
        self.shown = LeastRequestReport::Queue;
    }
}
