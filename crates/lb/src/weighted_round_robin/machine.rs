//! weighted_round_robin at work: picks connected endpoints in proportion to the weights from their
//! load reports (A58).
//!
//! It handles lists of endpoints as round_robin does. Without a schedule of weights it is plain
//! round robin. Follows C-core weighted_round_robin.cc; what other clients do differently is in
//! [`WeightWays`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::sorted::Sorted;
use super::weight::{EndpointWeight, of_report};
use super::{NAME, Scheduler, WeightWays, WeightedRoundRobinConfig};
use crate::endpoint::{AddressSet, Endpoint, EndpointList};
use crate::log::LogEvent;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, TreePath, Update};
use crate::run::endpoint_lists::{EndpointLists, ListNews, ListPicker};
use crate::runtime::{Connectivity, Time, TimerId};
use xdsctl_model::profile::Feature;
use xdsctl_model::rng::Rng;

/// The state of a weighted_round_robin policy.
#[derive(Debug)]
pub struct WeightedRoundRobinPolicy {
    at: TreePath,
    ways: WeightWays,
    config: WeightedRoundRobinConfig,
    lists: EndpointLists<ReadyPicker>,
    sorted: Sorted,
    /// The number of each endpoint, which is its index in `weights`.
    numbers: BTreeMap<AddressSet, u32>,
    weights: Vec<EndpointWeight>,
    /// The endpoints from which out-of-band reports are wanted, by number, with the period.
    watched: BTreeMap<u32, (Arc<Endpoint>, i64)>,
    /// Whether an endpoint has reported its load. Until then there is no schedule to make, however
    /// often endpoints come and go.
    has_weights: bool,
    sequence: u32,
    pickers: u64,
    /// The weights that were logged last.
    told: Vec<f64>,
    /// When the schedule was last due, and the period between updates.
    last: (Time, Time),
    /// The next time at which the schedule may change, and the timer for it. In between, the client
    /// makes the same schedule again and again.
    next: Time,
    timer: Option<TimerId>,
    start: Rng,
}

#[derive(Debug)]
struct ReadyPicker {
    /// The rank, among the READY endpoints, of the next one to pick without a schedule.
    next: usize,
    /// `None` while no usable weights are known.
    schedule: Option<Schedule>,
}

#[derive(Debug)]
struct Schedule {
    /// The READY endpoints: the index in the current list, and the number, of each.
    members: Vec<(usize, u32)>,
    scheduler: Scheduler,
}

impl WeightedRoundRobinPolicy {
    /// Makes a policy without endpoints.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> WeightedRoundRobinPolicy {
        let start = cx.runtime.stream("weighted_round_robin/start", &at);
        let mut sequence = cx.runtime.stream("weighted_round_robin/sequence", &at);
        WeightedRoundRobinPolicy {
            ways: WeightWays::of(cx.clusters.profile()),
            config: WeightedRoundRobinConfig::default(),
            lists: EndpointLists::new(NAME, at.clone(), cx),
            sorted: Sorted::default(),
            numbers: BTreeMap::new(),
            weights: Vec::new(),
            watched: BTreeMap::new(),
            has_weights: false,
            // The upper half of the random number.
            sequence: (sequence.next_u64() >> 32) as u32,
            pickers: 0,
            told: Vec::new(),
            last: (0, 1),
            next: 0,
            timer: None,
            start,
            at,
        }
    }

    /// Returns the number of an endpoint, under which its weight is kept from list to list.
    fn number(&mut self, endpoint: &Endpoint) -> u32 {
        let next = u32::try_from(self.weights.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(endpoint.address_set()).or_insert(next);
        if number == next {
            self.weights.push(EndpointWeight::default());
        }
        number
    }

    /// Forgets the weights of endpoints that are no longer in the list.
    fn forget(&mut self, endpoints: &EndpointList) {
        if self.numbers.len() > endpoints.len() {
            let kept: BTreeSet<AddressSet> = endpoints.iter().map(|endpoint| endpoint.address_set()).collect();
            self.numbers.retain(|set, _| kept.contains(set));
        }
    }

    fn note(&mut self, mut news: ListNews, cx: &mut PolicyCx<'_>) -> Reports {
        while let Some((index, report)) = news.said.pop_front() {
            let before = self.lists.note(&mut news, index, &report, cx);
            if report.state == Connectivity::Ready && before.is_some_and(|before| before != Connectivity::Ready) {
                let endpoint = self.lists.get(index).map(|member| member.endpoint.clone());
                if let Some(endpoint) = endpoint {
                    self.reset(&endpoint);
                    self.wake(cx);
                }
            }
            let hands_on = cx.clusters.profile().has(Feature::FailuresHandedOn);
            let last = report.status.map(|status| match hands_on {
                true => status.message.to_string(),
                false => status.to_string(),
            });
            let start = &mut self.start;
            let told = self.lists.show(news.number, last, |ready| ReadyPicker {
                next: start.index(ready),
                schedule: None,
            });
            if told.as_ref().is_some_and(|told| told.state == Connectivity::Ready) {
                self.pickers += 1;
                if self.ways.restarts {
                    self.sequence = (self.start.next_u64() >> 32) as u32;
                }
                self.schedule(cx, self.ways.period_of_picker());
            }
            news.reports.extend(told);
        }
        news.reports
    }

    /// Asks for out-of-band reports from these endpoints, if the config wants them, and from no
    /// others.
    fn watch(&mut self, endpoints: &EndpointList, cx: &mut PolicyCx<'_>) {
        if !self.config.enable_oob_load_report && self.watched.is_empty() {
            return;
        }
        let period = self.config.oob_reporting_period.0;
        let mut wanted = BTreeMap::new();
        if self.config.enable_oob_load_report {
            for endpoint in endpoints.iter() {
                wanted.insert(self.number(endpoint), (endpoint.clone(), period));
            }
        }
        // New wishes come first, so that a stream goes on if old and new want reports from it. An
        // endpoint that has moved may have another connection.
        for (number, (endpoint, period)) in &wanted {
            let is_watched =
                |(before, was): &(Arc<Endpoint>, i64)| was == period && before.addresses == endpoint.addresses;
            if !self.watched.get(number).is_some_and(is_watched) {
                for address in endpoint.addresses.iter() {
                    cx.runtime.load.watch(address, &self.at, *number, *period);
                }
            }
        }
        for (number, (endpoint, _)) in std::mem::replace(&mut self.watched, wanted) {
            let kept = self.watched.get(&number).map(|(endpoint, _)| endpoint.clone());
            for address in endpoint.addresses.iter() {
                if !kept.as_ref().is_some_and(|kept| kept.addresses.contains(address)) {
                    cx.runtime.load.unwatch(address, &self.at, number);
                }
            }
        }
    }

    /// Restarts the blackout of an endpoint that has connected again.
    fn reset(&mut self, endpoint: &Endpoint) {
        let number = self.number(endpoint) as usize;
        if let Some(weight) = self.weights.get_mut(number) {
            weight.reset(self.ways.forgets);
        }
    }

    /// Makes the picker's schedule from the present weights. `begins` starts a new update period.
    fn schedule(&mut self, cx: &mut PolicyCx<'_>, begins: bool) {
        cx.runtime.cancel(&mut self.timer);
        if !matches!(self.lists.shown, ListPicker::Ready(_)) {
            return;
        }
        let now = cx.runtime.now;
        if begins {
            self.last = (now, self.config.weight_update_period.0.max(1));
        }
        let (made, change) = match self.has_weights || self.ways.by_deadline {
            true => self.weigh(now, Some(cx)),
            false => (None, None),
        };
        if let ListPicker::Ready(picker) = &mut self.lists.shown {
            picker.schedule = made;
        }
        if let Some(change) = change {
            self.set_timer(change, cx);
        }
    }

    /// Plans to make the schedule again when it is due, because a weight may have changed.
    fn wake(&mut self, cx: &mut PolicyCx<'_>) {
        if matches!(self.lists.shown, ListPicker::Ready(_)) && self.has_weights {
            self.set_timer(cx.runtime.now + 1, cx);
        }
    }

    /// Sets the timer to the first time, not before `from`, at which the schedule is due, unless
    /// the timer is set to an earlier time already.
    fn set_timer(&mut self, from: Time, cx: &mut PolicyCx<'_>) {
        let (last, period) = self.last;
        let periods = from.saturating_sub(last).saturating_add(period - 1) / period;
        let next = last.saturating_add(periods.max(1).saturating_mul(period));
        if self.timer.is_some() && self.next <= next {
            return;
        }
        cx.runtime.cancel(&mut self.timer);
        self.next = next;
        self.timer = Some(
            cx.runtime
                .timer(next - cx.runtime.now, &self.at, PolicyEvent::Timer(self.pickers)),
        );
    }

    /// Returns the present schedule, and when it would change without a report.
    fn weigh(&mut self, now: Time, cx: Option<&mut PolicyCx<'_>>) -> (Option<Schedule>, Option<Time>) {
        let ready: Vec<(usize, Arc<Endpoint>)> = self
            .lists
            .all_ready()
            .map(|(index, member)| (index, member.endpoint.clone()))
            .collect();
        let members: Vec<(usize, u32)> = ready
            .into_iter()
            .map(|(index, endpoint)| (index, self.number(&endpoint)))
            .collect();
        let weights: Vec<f64> = members
            .iter()
            .map(|(_, number)| match self.weights.get_mut(*number as usize) {
                Some(weight) => weight.current(&self.config, now),
                None => 0.0,
            })
            .collect();
        if let Some(cx) = cx {
            self.tell(&weights, cx);
        }
        let changes = members.iter().filter_map(|(_, number)| {
            let weight = self.weights.get(*number as usize)?;
            weight.next_change(&self.config, now)
        });
        let change = changes.min();
        let scheduler = self.ways.schedule(&weights, &mut self.start);
        (scheduler.map(|scheduler| Schedule { members, scheduler }), change)
    }

    /// Draws the deadlines again if an update period has ended since they were drawn.
    fn set_deadlines(&mut self, now: Time) {
        let (last, period) = self.last;
        if !self.ways.by_deadline || !matches!(self.lists.shown, ListPicker::Ready(_)) || now - last < period {
            return;
        }
        self.last.0 = now - (now - last) % period;
        let (schedule, _) = self.weigh(now, None);
        if let ListPicker::Ready(picker) = &mut self.lists.shown {
            picker.schedule = schedule;
        }
    }

    /// Logs weights that have changed, in the order of the READY endpoints.
    fn tell(&mut self, weights: &[f64], cx: &mut PolicyCx<'_>) {
        if !cx.runtime.log.is_on() || self.told == weights {
            return;
        }
        weights.clone_into(&mut self.told);
        cx.runtime.say(&self.at, || {
            let texts: Vec<String> = weights.iter().map(|weight| (*weight as f32).to_string()).collect();
            let weights = texts.join(" ");
            LogEvent::WeightsChanged { weights }
        });
    }
}

impl crate::policy::StateMachine for WeightedRoundRobinPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let crate::LbConfig::WeightedRoundRobin(config) = update.config else {
            return Reports::new();
        };
        if self.config != *config {
            self.config = config.clone();
            self.wake(cx);
        }
        let endpoints = match update.endpoints {
            Ok(endpoints) if self.ways.by_address => self.sorted.of(endpoints),
            Ok(endpoints) => endpoints.clone(),
            Err(_) if self.lists.has_list() => return Reports::new(),
            Err(_) => EndpointList::default(),
        };
        self.forget(&endpoints);
        if self.ways.by_deadline {
            // In this client, endpoints report READY again with each new list.
            self.weights.iter_mut().for_each(|weight| weight.reset(false));
        }
        if !self.ways.period_of_picker() {
            self.last = (cx.runtime.now, self.config.weight_update_period.0.max(1));
        }
        self.watch(&endpoints, cx);
        let news = self.lists.take(&endpoints, &update, cx);
        self.note(news, cx)
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        if !path.is_empty() {
            let news = self.lists.handle(path, what, cx);
            return self.note(news, cx);
        }
        match what {
            PolicyEvent::Timer(picker) if *picker == self.pickers => self.schedule(cx, true),
            PolicyEvent::Load { endpoint, report } => {
                self.has_weights = true;
                if let Some(weight) = self.weights.get_mut(*endpoint as usize) {
                    weight.report(of_report(report, &self.config, !self.ways.by_deadline), cx.runtime.now);
                }
                self.wake(cx);
            }
            _ => {}
        }
        Reports::new()
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        self.set_deadlines(args.now);
        let count = self.lists.ready();
        let (next, schedule) = match &mut self.lists.shown {
            ListPicker::Ready(ReadyPicker { next, schedule }) => (next, schedule),
            waiting => return waiting.wait(NAME, cx),
        };
        let (index, number, told) = match schedule {
            Some(Schedule { members, scheduler }) => {
                let turn = scheduler.pick(&mut self.sequence);
                let Some(&(index, number)) = members.get(turn) else {
                    return Pick::Queue;
                };
                let weight = scheduler.rate(turn);
                (index, Some(number), Turn::Scheduled { weight })
            }
            None => {
                let turn = match self.ways.by_address {
                    true => *next,
                    false => self.sequence as usize % count.max(1),
                };
                *next = if turn + 1 < count { turn + 1 } else { 0 };
                self.sequence = self.sequence.wrapping_add(1);
                let Some(index) = self.lists.nth_ready(turn) else {
                    return Pick::Queue;
                };
                (index, None, Turn::Plain { turn: turn + 1, count })
            }
        };
        let Some(member) = self.lists.get_mut(index) else {
            return Pick::Queue;
        };
        cx.say_of(NAME, || {
            let name = member.endpoint.name();
            match told {
                Turn::Scheduled { weight } => format!("{name} by schedule, with a scaled weight of {}", weight as f32),
                Turn::Plain { turn, count } => format!("{name}, {turn} of {count} in turn: no weights are known"),
            }
        });
        let mut pick = member.child.pick(args, cx);
        if let Pick::Complete(complete) = &mut pick
            && !self.config.enable_oob_load_report
        {
            let endpoint = member.endpoint.clone();
            let number = number.unwrap_or_else(|| self.number(&endpoint));
            complete.load = Some((self.at.clone(), number));
        }
        pick
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match &self.lists.shown {
            ListPicker::Ready(ReadyPicker {
                schedule: Some(Schedule { members, scheduler }),
                ..
            }) => {
                let total: f64 = (0..members.len()).map(|turn| scheduler.rate(turn)).sum();
                for (turn, (index, _)) in members.iter().enumerate() {
                    if let Some(member) = self.lists.get(*index) {
                        member.child.shares(args, share * scheduler.rate(turn) / total, out);
                    }
                }
            }
            _ => self.lists.shares(args, share, out),
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        cx.runtime.cancel(&mut self.timer);
        self.config.enable_oob_load_report = false;
        self.watch(&EndpointList::default(), cx);
        self.lists.shutdown(cx);
    }
}

/// How a pick found its endpoint, for a trace.
#[derive(Debug, Clone, Copy)]
enum Turn {
    Scheduled { weight: f64 },
    Plain { turn: usize, count: usize },
}
