//! priority at work: uses the first child that works, with failover timers (A56).
//!
//! Children are made when they are needed. A child that is connecting for the first time, or that
//! has lost its connection, has ten seconds before the next one is tried. A child below the chosen
//! one is kept for a quarter of an hour. Follows C-core priority.cc.

use std::sync::Arc;

use super::places::{ChildStanding, PriorityPlaces};
use crate::LbConfig;
use crate::endpoint::{self, EndpointGroups};
use crate::log::LogEvent;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::priority as config;
use crate::run::children::{Children, NamedChild, RETENTION_MS, own_timer};
use crate::runtime::{Connectivity, TimerId};
use xdsctl_model::profile::Feature;
use xdsctl_model::status::Status;

/// How many higher priorities a trace lists one by one.
const MAX_TOLD: usize = 16;

/// The state of a priority policy.
#[derive(Debug)]
pub struct PriorityPolicy {
    config: Option<config::PriorityConfig>,
    places: PriorityPlaces,
    /// The endpoints of each child, or why there are none.
    endpoints: Result<EndpointGroups, Status>,
    depth: usize,
    note: String,
    children: Children<PriorityState>,
    is_updating: bool,
    selected: Option<Arc<str>>,
    /// Why it was selected, as a text for traces. Made when a trace first asks.
    reason: Option<String>,
    /// The choice that was last logged, and its reason.
    told: Option<(Arc<str>, Why)>,
    empty: Option<Status>,
}

#[derive(Debug)]
struct PriorityState {
    report: StateReport,
    /// The child's standing as it was last noted in the list of priorities.
    standing: Option<ChildStanding>,
    can_start_timer: bool,
    failover: Option<TimerId>,
    /// The status of RPCs once the child's time to connect is over, until it reports again. `None`
    /// in clients whose RPCs go on waiting.
    timed_out: Option<Status>,
}

impl PriorityPolicy {
    /// Makes a policy without children.
    pub fn new(at: TreePath) -> PriorityPolicy {
        PriorityPolicy {
            config: None,
            places: PriorityPlaces::default(),
            endpoints: Ok(EndpointGroups::new()),
            depth: 0,
            note: String::new(),
            children: Children::new(at),
            is_updating: false,
            selected: None,
            reason: None,
            told: None,
            empty: None,
        }
    }

    /// Passes the latest update to a child.
    fn update_child(&mut self, name: &str, cx: &mut PolicyCx<'_>) -> Reports {
        let config = self.config.as_ref().and_then(|config| config.children.get(name));
        let (Some(config), Some(member)) = (config, self.children.get_mut(name)) else {
            return Reports::new();
        };
        let endpoints = match &self.endpoints {
            Ok(groups) => Ok(groups.get(name).unwrap_or(endpoint::none())),
            Err(status) => Err(status),
        };
        let update = Update {
            config: &config.config,
            endpoints,
            depth: self.depth + 1,
            note: &self.note,
        };
        member.child.update(update, cx)
    }

    fn create(&mut self, name: &str, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        let at = self.children.at().clone();
        self.reason = None;
        cx.runtime.say(&at, || LogEvent::ChildCreated { child: name.into() });
        let member = self.children.add(name, || PriorityState {
            report: StateReport::new(Connectivity::Connecting),
            standing: None,
            can_start_timer: false,
            failover: None,
            timed_out: None,
        });
        start_failover(name, member, &at, cx);
        let said = self.update_child(name, cx);
        self.note_child(name, said, cx, reports);
        self.note_standing(name);
    }

    /// Notes a child's standing in the list of priorities.
    fn note_standing(&mut self, name: &str) {
        let standing = match self.children.get(name) {
            None => ChildStanding {
                is_stop: true,
                is_connecting: false,
                is_active: false,
                is_retired: false,
            },
            Some(member) => {
                let state = member.data.report.state;
                ChildStanding {
                    is_stop: matches!(state, Connectivity::Ready | Connectivity::Idle)
                        || member.data.failover.is_some(),
                    is_connecting: state == Connectivity::Connecting,
                    is_active: !member.is_retired(),
                    is_retired: member.is_retired(),
                }
            }
        };
        let known = self.children.get_mut(name).map(|member| &mut member.data.standing);
        if known.is_none_or(|known| known.replace(standing) != Some(standing)) {
            self.places.note(name, standing);
        }
    }

    fn note_child(&mut self, name: &str, said: Reports, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        let at = self.children.at().clone();
        for report in said {
            let Some(member) = self.children.get_mut(name) else {
                return;
            };
            cx.runtime.say(&at, || LogEvent::ChildState {
                child: name.into(),
                state: report.state,
            });
            match report.state {
                Connectivity::Connecting => {
                    if member.data.can_start_timer && member.data.failover.is_none() {
                        member.data.can_start_timer = false;
                        start_failover(name, member, &at, cx);
                    }
                }
                Connectivity::Ready | Connectivity::Idle => {
                    member.data.can_start_timer = true;
                    stop_failover(name, &mut member.data, &at, cx);
                }
                Connectivity::TransientFailure => {
                    member.data.can_start_timer = false;
                    stop_failover(name, &mut member.data, &at, cx);
                }
            }
            if member.data.report.state != report.state {
                self.reason = None;
            }
            member.data.report = report;
            member.data.timed_out = None;
            self.note_standing(name);
            if !self.is_updating {
                let (before, told) = (self.selected.clone(), reports.len());
                self.choose(cx, reports);
                // grpc-go does not pass on a report that does not concern the child in use
                // (balancer/priority `syncPriority`).
                let is_other = self.selected == before && before.is_some_and(|selected| *selected != *name);
                if is_other && cx.clusters.profile().has(Feature::FailuresHandedOn) {
                    reports.truncate(told);
                }
            }
        }
    }

    fn choose(&mut self, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        if self.places.is_empty() {
            let status = Status::unavailable(match cx.clusters.profile().has(Feature::FailuresHandedOn) {
                true => "no priority is provided, all priorities are removed",
                false => "priority policy has empty priority list",
            });
            self.selected = None;
            self.empty = Some(status.clone());
            reports.push(StateReport::failure(status));
            return;
        }
        self.empty = None;
        while let Some(place) = self.places.first_stop() {
            let Some(name) = self.places.name(place) else { break };
            self.revive_down_to(place, cx);
            if self.children.get(&name).is_none() {
                // What the new child reports at once is only noted: this loop goes on with it.
                let was_updating = std::mem::replace(&mut self.is_updating, true);
                self.create(&name, cx, reports);
                self.is_updating = was_updating;
            }
            let Some(member) = self.children.get(&name) else {
                break;
            };
            let state = member.data.report.state;
            if matches!(state, Connectivity::Ready | Connectivity::Idle) {
                self.select(&name, (place, state.name(), true), cx, reports);
                self.retire_below(place, cx);
                return;
            }
            if member.data.failover.is_some() {
                self.select(&name, (place, "failover timer pending", false), cx, reports);
                return;
            }
            self.note_standing(&name);
        }
        self.revive_down_to(self.places.len(), cx);
        if let Some(name) = self.fallback(cx) {
            let place = self.places.place(&name).unwrap_or_default();
            let member = self.children.get(&name);
            let is_connecting = member.is_some_and(|member| member.data.report.state == Connectivity::Connecting);
            let why = if is_connecting {
                "CONNECTING (pass 2)"
            } else {
                "no usable children"
            };
            self.select(&name, (place, why, false), cx, reports);
        }
    }

    /// Returns the priority that gets the RPCs if none works and none has time left to connect.
    fn fallback(&self, cx: &PolicyCx<'_>) -> Option<Arc<str>> {
        if !cx.clusters.profile().has(Feature::LastPriorityFails) {
            return self.places.fallback();
        }
        let is_connecting = |name: &&Arc<str>| {
            let member = self.children.get(name);
            self.places.place(name).is_some()
                && member.is_some_and(|member| member.data.report.state == Connectivity::Connecting)
        };
        let last = || self.places.name(self.places.len().checked_sub(1)?);
        self.selected.as_ref().filter(is_connecting).cloned().or_else(last)
    }

    fn select(
        &mut self,
        name: &Arc<str>,
        (place, why, stops_lower): Why,
        cx: &mut PolicyCx<'_>,
        reports: &mut Reports,
    ) {
        let chosen = (name.clone(), (place, why, stops_lower));
        if cx.runtime.log.is_on() && self.told.as_ref() != Some(&chosen) {
            cx.runtime.say(self.children.at(), || LogEvent::ChildSelected {
                priority: i64::try_from(place).unwrap_or(i64::MAX),
                child: name.clone(),
                why,
                deactivate_lower: stops_lower,
            });
            self.told = Some(chosen);
        }
        if self.selected.as_ref() != Some(name) {
            self.selected = Some(name.clone());
            self.reason = None;
        }
        if let Some(member) = self.children.get(name) {
            reports.push(member.data.report.clone());
        }
    }

    fn revive_down_to(&mut self, place: usize, cx: &mut PolicyCx<'_>) {
        while let Some(name) = self.places.retired_above(place) {
            self.children.revive(&name, cx);
            cx.runtime.say(self.children.at(), || LogEvent::ChildReactivated {
                child: name.clone(),
            });
            self.note_standing(&name);
        }
    }

    fn retire_below(&mut self, place: usize, cx: &mut PolicyCx<'_>) {
        while let Some(name) = self.places.active_below(place) {
            self.retire(&name, cx);
            self.note_standing(&name);
        }
    }

    /// Retires a child, which is then kept only for a while.
    fn retire(&mut self, name: &Arc<str>, cx: &mut PolicyCx<'_>) {
        if self.children.retire(name, RETENTION_MS, cx) {
            cx.runtime.say(self.children.at(), || LogEvent::ChildDeactivated {
                child: name.clone(),
                ms: RETENTION_MS,
            });
        }
    }

    fn on_timer(&mut self, number: u64, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        if let Some((name, mut member)) = self.children.expire(number, cx) {
            self.reason = None;
            cx.runtime.cancel(&mut member.data.failover);
            member.child.shutdown(cx);
            let (at, child) = (self.children.at(), || name.clone());
            cx.runtime
                .say(at, || LogEvent::DeactivationTimerFired { child: child() });
            cx.runtime.say(at, || LogEvent::ChildDestroyed { child: child() });
            self.note_standing(&name);
        } else if let Some(name) = self.children.name_of_timer(number) {
            if let Some(member) = self.children.get_mut(&name) {
                member.data.failover = None;
                if cx.clusters.profile().has(Feature::LastPriorityFails) {
                    let status = Status::unavailable(format!("Connection timeout for priority {name}"));
                    member.data.timed_out = Some(status.clone());
                    member.data.report = StateReport::failure(status);
                    self.selected = None;
                    self.reason = None;
                }
            }
            cx.runtime.say(self.children.at(), || LogEvent::FailoverTimerFired {
                child: name.clone(),
            });
            self.note_standing(&name);
            self.choose(cx, &mut reports);
        }
        reports
    }

    /// Says why the selected child was selected, for a trace.
    fn reason(&self, name: &str) -> String {
        let place = self.places.place(name).unwrap_or(0);
        let state_of = |name: &str| self.children.get(name).map(|member| member.data.report.state);
        let state = state_of(name).unwrap_or(Connectivity::Connecting);
        let mut text = format!("priority {place}, \"{name}\", is {state}");
        for (index, higher) in self.places.names().take(place.min(MAX_TOLD)).enumerate() {
            match state_of(higher) {
                Some(Connectivity::Connecting) => text += &format!("; {index} did not connect in time"),
                Some(state) => text += &format!("; {index} is {state}"),
                None => {}
            }
        }
        if let Some(more) = place.checked_sub(MAX_TOLD).filter(|more| *more > 0) {
            text += &format!("; {more} more between do not work");
        }
        text
    }
}

/// The index of the chosen child, why it was chosen, and whether the lower ones are deactivated.
type Why = (usize, &'static str, bool);

fn stop_failover(name: &str, data: &mut PriorityState, at: &TreePath, cx: &mut PolicyCx<'_>) {
    if data.failover.is_some() {
        cx.runtime.cancel(&mut data.failover);
        cx.runtime
            .say(at, || LogEvent::FailoverTimerCancelled { child: name.into() });
    }
}

fn start_failover(name: &str, member: &mut NamedChild<PriorityState>, at: &TreePath, cx: &mut PolicyCx<'_>) {
    let delay = cx.runtime.options.priority_failover_ms;
    cx.runtime.say(at, || LogEvent::FailoverTimerStarted {
        child: name.into(),
        ms: delay,
    });
    let what = PolicyEvent::Timer(own_timer(member.number));
    member.data.failover = Some(cx.runtime.timer(delay, at, what));
}

impl crate::policy::StateMachine for PriorityPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let LbConfig::Priority(config) = update.config else {
            return Reports::new();
        };
        self.config = Some(config.clone());
        self.places = PriorityPlaces::new(&config.priorities);
        self.reason = None;
        for member in self.children.iter_mut() {
            member.data.standing = None;
        }
        let consumes_names = cx.clusters.profile().has(Feature::PathNamesConsumed);
        self.endpoints = match update.endpoints {
            Ok(endpoints) => Ok(endpoint::groups(endpoints, update.depth, consumes_names)),
            Err(status) => Err(status.clone()),
        };
        self.depth = update.depth;
        update.note.clone_into(&mut self.note);
        for name in self.places.names().cloned().collect::<Vec<_>>() {
            self.note_standing(&name);
        }
        let mut reports = Reports::new();
        self.is_updating = true;
        for name in self.children.names() {
            if config.children.contains_key(&*name) {
                let said = self.update_child(&name, cx);
                self.note_child(&name, said, cx, &mut reports);
            } else {
                self.retire(&name, cx);
                self.note_standing(&name);
            }
        }
        self.is_updating = false;
        self.choose(cx, &mut reports);
        reports
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        let Some((&number, rest)) = path.split_first() else {
            return match what {
                PolicyEvent::Timer(number) => self.on_timer(*number, cx),
                _ => reports,
            };
        };
        let Some(name) = self.children.name(number) else {
            return reports;
        };
        if let Some(member) = self.children.get_mut(&name) {
            let said = member.child.handle(rest, what, cx);
            self.note_child(&name, said, cx, &mut reports);
        }
        reports
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        if let Some(name) = self.selected.clone()
            && let Some(member) = self.children.get_mut(&name)
        {
            let said = member.child.exit_idle(cx);
            self.note_child(&name, said, cx, &mut reports);
        }
        reports
    }

    /// Passes the loss on to the listed children. A child that is created because of it starts with
    /// the previous endpoints.
    fn lose(&mut self, why: &Status, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        for name in self.children.names() {
            let is_listed = self
                .config
                .as_ref()
                .is_some_and(|config| config.children.contains_key(&*name));
            if let Some(member) = self.children.get_mut(&name).filter(|_| is_listed) {
                let said = member.child.lose(why, cx);
                self.note_child(&name, said, cx, &mut reports);
            }
        }
        reports
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        if let Some(status) = &self.empty {
            cx.say(config::NAME, format_args!("has no priority"));
            return Pick::Fail(status.clone());
        }
        let Some(name) = &self.selected else { return Pick::Queue };
        if cx.trace.is_some() && self.reason.is_none() {
            self.reason = Some(self.reason(name));
        }
        cx.say(
            config::NAME,
            format_args!("{}", self.reason.as_deref().unwrap_or_default()),
        );
        match self.children.get_mut(name) {
            Some(NamedChild {
                data:
                    PriorityState {
                        timed_out: Some(status),
                        ..
                    },
                ..
            }) => Pick::Fail(status.clone()),
            Some(member) => member.child.pick(args, cx),
            None => Pick::Queue,
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match (
            &self.empty,
            self.selected.as_ref().and_then(|name| self.children.get(name)),
        ) {
            (Some(status), _) => out.add_status(status, share),
            (None, Some(member)) => match &member.data.timed_out {
                Some(status) => out.add_status(status, share),
                None => member.child.shares(args, share, out),
            },
            (None, None) => out.add(PickShares::QUEUED, share),
        }
    }

    fn priorities(&self, cluster: &str, tell: &mut dyn FnMut(&str, Option<usize>)) {
        let selected = self.selected.as_ref().filter(|_| self.empty.is_none());
        tell(cluster, selected.and_then(|name| self.places.place(name)));
        let children = self.children.iter();
        children.for_each(|(_, member)| member.child.priorities(cluster, tell));
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        for (name, _) in self.children.iter() {
            cx.runtime
                .say(self.children.at(), || LogEvent::ChildDestroyed { child: name.clone() });
        }
        self.children
            .shutdown(cx, |data, cx| cx.runtime.cancel(&mut data.failover));
        self.places = PriorityPlaces::default();
        self.selected = None;
    }
}
