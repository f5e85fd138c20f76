//! weighted_round_robin at work: connected endpoints in proportion to the weights that they report (A58).
//!
//! Handles lists of endpoints as round_robin does, but sorted by address. While fewer than two weights are known it is
//! plain round robin. Follows C-core weighted_round_robin.cc.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::weight::EndpointWeight;
use super::{Config, NAME, StaticStrideScheduler};
use crate::lb::endpoint::{AddressSet, Endpoint};
use crate::lb::endpoint_list::EndpointList;
use crate::lb::picker::{Pick, PickArgs, PickCx, Shares};
use crate::lb::policy::{At, Cx, Report, Reports, Update, What};
use crate::lb::runtime::{State, TimerId};
use crate::rng::Rng;
use crate::status::Status;

/// The state of a weighted_round_robin policy.
#[derive(Debug)]
pub struct Machine {
    at: At,
    config: Config,
    lists: u32,
    current: Option<EndpointList>,
    pending: Option<EndpointList>,
    last_failure: Option<Status>,
    /// Numbers of the endpoints ever seen, indices of `weights`.
    numbers: BTreeMap<AddressSet, u32>,
    weights: Vec<EndpointWeight>,
    sequence: u32,
    shown: Shown,
    pickers: u64,
    timer: Option<TimerId>,
    connect_order: Rng,
    start: Rng,
}

#[derive(Debug)]
enum Shown {
    Queue,
    Fail(Status),
    Ready {
        /// Indices of the READY endpoints in the current list, and their numbers.
        members: Vec<(usize, u32)>,
        scheduler: Option<StaticStrideScheduler>,
        next: usize,
    },
}

impl Machine {
    /// A policy without endpoints.
    pub fn new(at: At, cx: &mut Cx<'_>) -> Machine {
        let connect_order = cx.runtime.stream("weighted_round_robin/connect order", &at);
        let start = cx.runtime.stream("weighted_round_robin/start", &at);
        let mut sequence = cx.runtime.stream("weighted_round_robin/sequence", &at);
        Machine {
            config: Config::default(),
            lists: 0,
            current: None,
            pending: None,
            last_failure: None,
            numbers: BTreeMap::new(),
            weights: Vec::new(),
            // The upper half of the number.
            sequence: (sequence.next_u64() >> 32) as u32,
            shown: Shown::Queue,
            pickers: 0,
            timer: None,
            connect_order,
            start,
            at,
        }
    }

    fn number(&mut self, endpoint: &Endpoint) -> u32 {
        let next = u32::try_from(self.weights.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(endpoint.address_set()).or_insert(next);
        if number == next {
            self.weights.push(EndpointWeight::default());
        }
        number
    }

    fn list(&mut self, number: u32) -> Option<&mut EndpointList> {
        [self.current.as_mut(), self.pending.as_mut()]
            .into_iter()
            .flatten()
            .find(|list| list.number == number)
    }

    fn note(&mut self, number: u32, said: Vec<(usize, Report)>, cx: &mut Cx<'_>) -> Reports {
        let mut reports = Reports::new();
        let mut queue: std::collections::VecDeque<_> = said.into();
        while let Some((index, report)) = queue.pop_front() {
            let Some(list) = self.list(number) else { break };
            let (before, more) = list.note(index, &report, cx);
            queue.extend(more.into_iter().map(|report| (index, report)));
            if report.state == State::Ready && before.is_some_and(|before| before != State::Ready) {
                let endpoint = self
                    .list(number)
                    .and_then(|list| Some(list.members.get(index)?.endpoint.clone()));
                if let Some(endpoint) = endpoint {
                    let number = self.number(&endpoint);
                    if let Some(weight) = self.weights.get_mut(number as usize) {
                        weight.reset();
                    }
                }
            }
            self.aggregate(number, report.status, cx, &mut reports);
        }
        reports
    }

    fn aggregate(&mut self, number: u32, status: Option<Status>, cx: &mut Cx<'_>, reports: &mut Reports) {
        if let Some(list) = self.pending.take_if(|list| list.number == number) {
            if !list.replaces(self.current.as_ref()) {
                self.pending = Some(list);
                return;
            }
            if let Some(mut old) = self.current.replace(list) {
                old.shutdown(cx);
            }
            self.shown = Shown::Queue;
        }
        let Some(list) = self.current.as_ref().filter(|list| list.number == number) else {
            return;
        };
        if list.count(State::Ready) > 0 {
            self.show_ready(cx);
            reports.push(Report::of(State::Ready));
        } else if list.connecting() > 0 {
            self.shown = Shown::Queue;
            reports.push(Report::of(State::Connecting));
        } else if list.count(State::TransientFailure) == list.members.len() {
            if let Some(status) = status {
                let text = format!("connections to all backends failing; last error: {status}");
                self.last_failure = Some(Status::unavailable(text));
            }
            let status = self.last_failure.clone().unwrap_or_else(|| Status::unavailable(""));
            let status = status.with_note(&list.note);
            self.shown = Shown::Fail(status.clone());
            reports.push(Report::failure(status));
        }
    }

    /// Makes a new picker.
    fn show_ready(&mut self, cx: &mut Cx<'_>) {
        let ready: Vec<(usize, Arc<Endpoint>)> = (0..)
            .zip(self.current.iter().flat_map(|list| &list.members))
            .filter(|(_, member)| member.state == Some(State::Ready))
            .map(|(index, member)| (index, member.endpoint.clone()))
            .collect();
        let members: Vec<(usize, u32)> = ready
            .into_iter()
            .map(|(index, endpoint)| (index, self.number(&endpoint)))
            .collect();
        let next = self.start.index(members.len());
        self.shown = Shown::Ready {
            members,
            scheduler: None,
            next,
        };
        self.pickers += 1;
        self.schedule(cx);
    }

    /// Makes the picker's schedule from the weights of this moment.
    fn schedule(&mut self, cx: &mut Cx<'_>) {
        cx.runtime.cancel(&mut self.timer);
        let Shown::Ready { members, scheduler, .. } = &mut self.shown else {
            return;
        };
        let now = cx.runtime.now;
        let weights: Vec<f32> = members
            .iter()
            .map(|(_, number)| match self.weights.get_mut(*number as usize) {
                Some(weight) => weight.current(&self.config, now),
                None => 0.0,
            })
            .collect();
        *scheduler = StaticStrideScheduler::new(&weights);
        let period = self.config.weight_update_period.0.max(1);
        self.timer = Some(cx.runtime.timer(period, &self.at, What::Timer(self.pickers)));
    }
}

impl crate::lb::policy::Machine for Machine {
    fn update(&mut self, update: Update<'_>, cx: &mut Cx<'_>) -> Reports {
        let crate::lb::Config::WeightedRoundRobin(config) = update.config else {
            return Reports::new();
        };
        self.config = config.clone();
        let sorted: BTreeMap<AddressSet, Arc<Endpoint>> = match update.endpoints {
            // Of equal ones the first counts.
            Ok(endpoints) => endpoints.iter().rev().map(|e| (e.address_set(), e.clone())).collect(),
            Err(_) if self.current.is_some() => return Reports::new(),
            Err(_) => BTreeMap::new(),
        };
        let endpoints: Vec<Arc<Endpoint>> = sorted.into_values().collect();
        let number = self.lists;
        self.lists += 1;
        let start = self.connect_order.index(endpoints.len());
        let (list, said) = EndpointList::new(number, &self.at, &endpoints, start, update.note, cx);
        if let Some(mut old) = self.pending.take() {
            old.shutdown(cx);
        }
        if endpoints.is_empty() {
            if let Some(mut old) = self.current.replace(list) {
                old.shutdown(cx);
            }
            let status = update.endpoints.err().cloned();
            let status = status
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
        if let Some((&number, rest)) = path.split_first() {
            let Some(list) = self.list(number) else {
                return Reports::new();
            };
            let said = list.handle(rest, what, cx);
            return self.note(number, said, cx);
        }
        match what {
            What::Timer(picker) if *picker == self.pickers => self.schedule(cx),
            What::Load { endpoint, report } => {
                if let Some(weight) = self.weights.get_mut(*endpoint as usize) {
                    weight.report(report, &self.config, cx.runtime.now);
                }
            }
            _ => {}
        }
        Reports::new()
    }

    fn exit_idle(&mut self, _cx: &mut Cx<'_>) -> Reports {
        // Endpoints are never left idle.
        Reports::new()
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let (members, scheduler, next) = match &mut self.shown {
            Shown::Queue => {
                cx.say(NAME, || "no endpoint is connected yet".to_owned());
                return Pick::Queue;
            }
            Shown::Fail(status) => {
                cx.say(NAME, || format!("fails: {}", status.message));
                return Pick::Fail(status.clone());
            }
            Shown::Ready {
                members,
                scheduler,
                next,
            } => (members, scheduler, next),
        };
        let turn = match scheduler {
            Some(scheduler) => scheduler.pick(&mut self.sequence),
            None => {
                let turn = *next;
                *next = if turn + 1 < members.len() { turn + 1 } else { 0 };
                turn
            }
        };
        let Some(&(index, number)) = members.get(turn) else {
            return Pick::Queue;
        };
        let member = self.current.as_mut().and_then(|list| list.members.get_mut(index));
        let Some(member) = member else { return Pick::Queue };
        cx.say(NAME, || {
            let name = member.endpoint.name();
            let count = members.len();
            match scheduler {
                Some(scheduler) => {
                    let weight = scheduler.weights().get(turn).copied().unwrap_or(0);
                    format!("{name} by schedule, with a scaled weight of {weight}")
                }
                None => format!("{name}, {} of {count} in turn: no weights are known", turn + 1),
            }
        });
        let mut pick = member.child.pick(args, cx);
        if let Pick::Complete(complete) = &mut pick {
            complete.load = Some((self.at.clone(), number));
        }
        pick
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut Shares) {
        match &self.shown {
            Shown::Queue => out.add(Shares::QUEUED, share),
            Shown::Fail(status) => out.add_status(status, share),
            Shown::Ready { members, scheduler, .. } => {
                let weights: Vec<f64> = match scheduler {
                    Some(scheduler) => scheduler.weights().iter().map(|weight| f64::from(*weight)).collect(),
                    None => vec![1.0; members.len()],
                };
                let total: f64 = weights.iter().sum();
                for ((index, _), weight) in members.iter().zip(weights) {
                    if let Some(member) = self.current.as_ref().and_then(|list| list.members.get(*index)) {
                        member.child.shares(args, share * weight / total, out);
                    }
                }
            }
        }
    }

    fn shutdown(&mut self, cx: &mut Cx<'_>) {
        cx.runtime.cancel(&mut self.timer);
        for mut list in [self.current.take(), self.pending.take()].into_iter().flatten() {
            list.shutdown(cx);
        }
        self.shown = Shown::Queue;
    }
}
