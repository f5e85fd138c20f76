//! round_robin at work: every connected endpoint in turn.
//!
//! A new list of endpoints waits until it can do better than the old one. Each report of any endpoint makes a new picker,
//! which starts at a random endpoint. Follows C-core round_robin.cc.

use crate::lb::endpoint_list::EndpointList;
use crate::lb::picker::{Pick, PickArgs, PickCx, Shares};
use crate::lb::policy::{At, Cx, Report, Reports, Update, What};
use crate::lb::runtime::State;
use crate::rng::Rng;
use crate::status::Status;

/// The state of a round_robin policy.
#[derive(Debug)]
pub struct Machine {
    at: At,
    lists: u32,
    current: Option<EndpointList>,
    pending: Option<EndpointList>,
    last_failure: Option<Status>,
    shown: Shown,
    connect_order: Rng,
    start: Rng,
}

#[derive(Debug)]
enum Shown {
    Queue,
    Fail(Status),
    /// Indices of the READY endpoints of the current list, and the next of them.
    Ready {
        members: Vec<usize>,
        next: usize,
    },
}

impl Machine {
    /// A policy without endpoints.
    pub fn new(at: At, cx: &mut Cx<'_>) -> Machine {
        let connect_order = cx.runtime.stream("round_robin/connect order", &at);
        let start = cx.runtime.stream("round_robin/start", &at);
        Machine {
            at,
            lists: 0,
            current: None,
            pending: None,
            last_failure: None,
            shown: Shown::Queue,
            connect_order,
            start,
        }
    }

    fn list(&mut self, number: u32) -> Option<&mut EndpointList> {
        [self.current.as_mut(), self.pending.as_mut()]
            .into_iter()
            .flatten()
            .find(|list| list.number == number)
    }

    /// Works off what endpoints of a list reported.
    fn note(&mut self, number: u32, said: Vec<(usize, Report)>, cx: &mut Cx<'_>) -> Reports {
        let mut reports = Reports::new();
        let mut queue: std::collections::VecDeque<_> = said.into();
        while let Some((index, report)) = queue.pop_front() {
            let Some(list) = self.list(number) else { break };
            let (_, more) = list.note(index, &report, cx);
            queue.extend(more.into_iter().map(|report| (index, report)));
            self.aggregate(number, report.status, cx, &mut reports);
        }
        reports
    }

    fn aggregate(&mut self, number: u32, status: Option<Status>, cx: &mut Cx<'_>, reports: &mut Reports) {
        if let Some(list) = self.pending.take_if(|list| list.number == number) {
            if list.replaces(self.current.as_ref()) {
                if let Some(mut old) = self.current.replace(list) {
                    old.shutdown(cx);
                }
                self.shown = Shown::Queue;
            } else {
                self.pending = Some(list);
                return;
            }
        }
        let Some(list) = self.current.as_ref().filter(|list| list.number == number) else {
            return;
        };
        let members: Vec<usize> = (0..)
            .zip(&list.members)
            .filter(|(_, member)| member.state == Some(State::Ready))
            .map(|(index, _)| index)
            .collect();
        if !members.is_empty() {
            let next = self.start.index(members.len());
            self.shown = Shown::Ready { members, next };
            reports.push(Report::of(State::Ready));
        } else if list.connecting() > 0 {
            self.shown = Shown::Queue;
            reports.push(Report::of(State::Connecting));
        } else if list.count(State::TransientFailure) == list.members.len() {
            if let Some(status) = status {
                let text = format!("connections to all backends failing; last error: {}", status.message);
                self.last_failure = Some(Status::unavailable(text));
            }
            let status = self.last_failure.clone().unwrap_or_else(|| Status::unavailable(""));
            let status = status.with_note(&list.note);
            self.shown = Shown::Fail(status.clone());
            reports.push(Report::failure(status));
        }
    }
}

impl crate::lb::policy::Machine for Machine {
    fn update(&mut self, update: Update<'_>, cx: &mut Cx<'_>) -> Reports {
        let endpoints = match update.endpoints {
            Ok(endpoints) => endpoints,
            Err(_) if self.current.is_some() => return Reports::new(),
            Err(_) => &[],
        };
        let number = self.lists;
        self.lists += 1;
        let start = self.connect_order.index(endpoints.len());
        let (list, said) = EndpointList::new(number, &self.at, endpoints, start, update.note, cx);
        if let Some(mut old) = self.pending.take() {
            old.shutdown(cx);
        }
        if endpoints.is_empty() {
            if let Some(mut old) = self.current.replace(list) {
                old.shutdown(cx);
            }
            let status = update
                .endpoints
                .err()
                .cloned()
                .unwrap_or_else(|| Status::unavailable("empty address list"))
                .with_note(update.note);
            self.shown = Shown::Fail(status.clone());
            return vec![Report::failure(status)];
        }
        if self.current.is_none() {
            self.current = Some(list);
        } else {
            self.pending = Some(list);
        }
        self.note(number, said, cx)
    }

    fn handle(&mut self, path: &[u32], what: &What, cx: &mut Cx<'_>) -> Reports {
        let Some((&number, rest)) = path.split_first() else {
            return Reports::new();
        };
        let Some(list) = self.list(number) else {
            return Reports::new();
        };
        let said = list.handle(rest, what, cx);
        self.note(number, said, cx)
    }

    fn exit_idle(&mut self, _cx: &mut Cx<'_>) -> Reports {
        // Endpoints are never left idle.
        Reports::new()
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        match &mut self.shown {
            Shown::Queue => {
                cx.say(super::NAME, || "no endpoint is connected yet".to_owned());
                Pick::Queue
            }
            Shown::Fail(status) => {
                cx.say(super::NAME, || format!("fails: {}", status.message));
                Pick::Fail(status.clone())
            }
            Shown::Ready { members, next } => {
                let turn = *next;
                *next = if turn + 1 < members.len() { turn + 1 } else { 0 };
                let member = members
                    .get(turn)
                    .and_then(|index| self.current.as_mut()?.members.get_mut(*index));
                let Some(member) = member else { return Pick::Queue };
                let count = members.len();
                cx.say(super::NAME, || {
                    format!(
                        "endpoint {} of {count} that are READY: {}",
                        turn + 1,
                        member.endpoint.name()
                    )
                });
                member.child.pick(args, cx)
            }
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut Shares) {
        match &self.shown {
            Shown::Queue => out.add(Shares::QUEUED, share),
            Shown::Fail(status) => out.add_status(status, share),
            Shown::Ready { members, .. } => {
                let each = share / members.len() as f64;
                for member in members.iter().filter_map(|i| self.current.as_ref()?.members.get(*i)) {
                    member.child.shares(args, each, out);
                }
            }
        }
    }

    fn shutdown(&mut self, cx: &mut Cx<'_>) {
        for mut list in [self.current.take(), self.pending.take()].into_iter().flatten() {
            list.shutdown(cx);
        }
        self.shown = Shown::Queue;
    }
}
