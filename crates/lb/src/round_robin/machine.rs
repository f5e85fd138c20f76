//! round_robin at work: sends RPCs to every connected endpoint in turn.
//!
//! A new list of endpoints waits until it can do better than the old one. Each report of any
//! endpoint makes a new picker, which starts at a random endpoint. Follows C-core round_robin.cc.

use crate::endpoint;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, TreePath, Update};
use crate::run::endpoint_lists::{EndpointLists, EndpointReports, ListPicker, ListUpdate};
use xdsctl_model::rng::Rng;

/// The state of a round_robin policy.
#[derive(Debug)]
pub struct RoundRobinPolicy {
    lists: EndpointLists,
    /// The rank, among the READY endpoints, of the endpoint that the next RPC gets.
    shown: ListPicker<usize>,
    connect_order: Rng,
    start: Rng,
}

impl RoundRobinPolicy {
    /// Makes a policy without endpoints.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> RoundRobinPolicy {
        let connect_order = cx.runtime.stream("round_robin/connect order", &at);
        let start = cx.runtime.stream("round_robin/start", &at);
        RoundRobinPolicy {
            lists: EndpointLists::new(at),
            shown: ListPicker::Queue,
            connect_order,
            start,
        }
    }

    /// Handles the reports of endpoints of a list.
    fn note(&mut self, number: u32, mut said: EndpointReports, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        while let Some((index, report)) = said.pop_front() {
            self.lists.note(number, (index, &report), &mut said, cx);
            if self.lists.promote(number, cx) {
                self.shown = ListPicker::Queue;
            }
            let last = report.status.map(|status| status.message.to_string());
            let start = &mut self.start;
            reports.extend(
                self.lists
                    .show(number, last, &mut self.shown, |ready| start.index(ready)),
            );
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
            ListUpdate::Empty(status) => vec![self.shown.fail(status)],
            ListUpdate::Listed(number, said) => self.note(number, said, cx),
        }
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        match self.lists.handle(path, what, cx) {
            Some((number, said)) => self.note(number, said, cx),
            None => Reports::new(),
        }
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        match &mut self.shown {
            ListPicker::Ready(next) => {
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
            waiting => waiting.wait(super::NAME, cx),
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match &self.shown {
            ListPicker::Ready(_) => self.lists.shares(args, share, out),
            waiting => waiting.waiting_shares(share, out),
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.lists.shutdown(cx);
        self.shown = ListPicker::Queue;
    }
}
