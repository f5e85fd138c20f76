//! round_robin at work: every connected endpoint in turn.
//!
//! A new list of endpoints waits until it can do better than the old one. Each report of any
//! endpoint makes a new picker, which starts at a random endpoint. Follows C-core round_robin.cc.

use crate::endpoint;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::run::endpoint_lists::{EndpointLists, EndpointReports, ListState, ListUpdate};
use crate::runtime::Connectivity;
use xdsctl_model::rng::Rng;
use xdsctl_model::status::Status;

/// The state of a round_robin policy.
#[derive(Debug)]
pub struct RoundRobinPolicy {
    lists: EndpointLists,
    shown: RoundRobinReport,
    connect_order: Rng,
    start: Rng,
}

#[derive(Debug)]
enum RoundRobinReport {
    Queue,
    Fail(Status),
    /// Rank of the next one among the READY endpoints.
    Ready(usize),
}

impl RoundRobinPolicy {
    /// A policy without endpoints.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> RoundRobinPolicy {
        let connect_order = cx.runtime.stream("round_robin/connect order", &at);
        let start = cx.runtime.stream("round_robin/start", &at);
        RoundRobinPolicy {
            lists: EndpointLists::new(at),
            shown: RoundRobinReport::Queue,
            connect_order,
            start,
        }
    }

    /// Works off what endpoints of a list reported.
    fn note(&mut self, number: u32, mut said: EndpointReports, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        while let Some((index, report)) = said.pop_front() {
            self.lists.note(number, (index, &report), &mut said, cx);
            if self.lists.promote(number, cx) {
                self.shown = RoundRobinReport::Queue;
            }
            match self.lists.standing(number) {
                ListState::Ready => {
                    self.shown = RoundRobinReport::Ready(self.start.index(self.lists.ready()));
                    reports.push(StateReport::new(Connectivity::Ready));
                }
                ListState::Connecting => {
                    self.shown = RoundRobinReport::Queue;
                    reports.push(StateReport::new(Connectivity::Connecting));
                }
                ListState::Failing => {
                    let status = self
                        .lists
                        .failure(report.status.map(|status| status.message.to_string()));
                    self.shown = RoundRobinReport::Fail(status.clone());
                    reports.push(StateReport::failure(status));
                }
                ListState::Open => {}
            }
        }
        reports
    }
}

impl crate::policy::StateMachine for RoundRobinPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let endpoints = match update.endpoints {
            Ok(endpoints) => endpoints,
            Err(_) if self.lists.has_list() => return Reports::new(),
            Err(_) => endpoint::none(),
        };
        let start = self.connect_order.index(endpoints.len());
        match self.lists.take(endpoints, start, &update, cx) {
            ListUpdate::Empty(status) => {
                self.shown = RoundRobinReport::Fail(status.clone());
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
        match &mut self.shown {
            RoundRobinReport::Queue => {
                cx.say(super::NAME, format_args!("no endpoint is connected yet"));
                Pick::Queue
            }
            RoundRobinReport::Fail(status) => {
                cx.say(super::NAME, format_args!("fails: {}", status.message));
                Pick::Fail(status.clone())
            }
            RoundRobinReport::Ready(next) => {
                let turn = *next;
                let count = self.lists.ready();
                *next = if turn + 1 < count { turn + 1 } else { 0 };
                let member = self.lists.nth_ready(turn).and_then(|index| self.lists.get_mut(index));
                let Some(member) = member else { return Pick::Queue };
                cx.say(
                    super::NAME,
                    format_args!(
                        "endpoint {} of {count} that are READY: {}",
                        turn + 1,
                        member.endpoint.name()
                    ),
                );
                member.child.pick(args, cx)
            }
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match &self.shown {
            RoundRobinReport::Queue => out.add(PickShares::QUEUED, share),
            RoundRobinReport::Fail(status) => out.add_status(status, share),
            RoundRobinReport::Ready(_) => {
                let each = share / self.lists.ready() as f64;
                for (_, member) in self.lists.all_ready() {
                    member.child.shares(args, each, out);
                }
            }
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.lists.shutdown(cx);
        self.shown = RoundRobinReport::Queue;
    }
}
