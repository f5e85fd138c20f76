//! priority at work: the first child that works, with failover timers (A56).
//!
//! Children are made when they are needed. A child that is connecting for the first time, or that lost its connection,
//! has ten seconds before the next one is tried. A child below the chosen one is kept for a quarter of an hour.
//! Follows C-core priority.cc.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lb::Config;
use crate::lb::child::Child;
use crate::lb::endpoint::{self, Endpoint};
use crate::lb::picker::{Pick, PickArgs, PickCx, Shares};
use crate::lb::policy::{At, Cx, Report, Reports, Update, What};
use crate::lb::priority as config;
use crate::lb::runtime::{State, TimerId, below};
use crate::status::Status;

/// How long a child is kept that is not in use (C-core priority.cc `kChildRetentionInterval`).
pub const RETENTION_MS: i64 = 15 * 60 * 1000;

/// The state of a priority policy.
#[derive(Debug)]
pub struct Machine {
    at: At,
    config: Option<config::Config>,
    endpoints: Result<Vec<Arc<Endpoint>>, Status>,
    depth: usize,
    note: String,
    children: BTreeMap<String, Member>,
    next_number: u32,
    is_updating: bool,
    selected: Option<String>,
    empty: Option<Status>,
}

#[derive(Debug)]
struct Member {
    number: u32,
    child: Child,
    report: Report,
    can_start_timer: bool,
    failover: Option<TimerId>,
    deactivation: Option<TimerId>,
}

/// A failover timer's number is twice the child's, a deactivation timer's is one more.
const fn timer_number(child: u32, is_deactivation: bool) -> u64 {
    child as u64 * 2 + is_deactivation as u64
}

impl Machine {
    /// A policy without children.
    pub fn new(at: At) -> Machine {
        Machine {
            at,
            config: None,
            endpoints: Ok(Vec::new()),
            depth: 0,
            note: String::new(),
            children: BTreeMap::new(),
            next_number: 0,
            is_updating: false,
            selected: None,
            empty: None,
        }
    }

    fn priorities(&self) -> Vec<String> {
        self.config
            .as_ref()
            .map(|config| config.priorities.clone())
            .unwrap_or_default()
    }

    /// Hands the latest update to a child.
    fn update_child(&mut self, name: &str, cx: &mut Cx<'_>) -> Reports {
        let config = self.config.as_ref().and_then(|config| config.children.get(name));
        let (Some(config), Some(member)) = (config, self.children.get_mut(name)) else {
            return Reports::new();
        };
        let endpoints = match &self.endpoints {
            Ok(endpoints) => Ok(endpoint::below(endpoints, self.depth, name)),
            Err(status) => Err(status),
        };
        let update = Update {
            config: &config.config,
            endpoints: endpoints.as_deref().map_err(|status| *status),
            depth: self.depth + 1,
            note: &self.note,
        };
        member.child.update(update, cx)
    }

    fn create(&mut self, name: &str, cx: &mut Cx<'_>, reports: &mut Reports) {
        let number = self.next_number;
        self.next_number += 1;
        let mut member = Member {
            number,
            child: Child::new(below(&self.at, number)),
            report: Report::of(State::Connecting),
            can_start_timer: false,
            failover: None,
            deactivation: None,
        };
        start_failover(&mut member, &self.at, cx);
        self.children.insert(name.to_owned(), member);
        let said = self.update_child(name, cx);
        self.note_child(name, said, cx, reports);
    }

    fn note_child(&mut self, name: &str, said: Reports, cx: &mut Cx<'_>, reports: &mut Reports) {
        for report in said {
            let Some(member) = self.children.get_mut(name) else {
                return;
            };
            match report.state {
                State::Connecting => {
                    if member.can_start_timer && member.failover.is_none() {
                        member.can_start_timer = false;
                        start_failover(member, &self.at, cx);
                    }
                }
                State::Ready | State::Idle => {
                    member.can_start_timer = true;
                    cx.runtime.cancel(&mut member.failover);
                }
                State::TransientFailure => {
                    member.can_start_timer = false;
                    cx.runtime.cancel(&mut member.failover);
                }
            }
            member.report = report;
            if !self.is_updating {
                self.choose(cx, reports);
            }
        }
    }

    fn choose(&mut self, cx: &mut Cx<'_>, reports: &mut Reports) {
        let priorities = self.priorities();
        if priorities.is_empty() {
            let status = Status::unavailable("priority policy has empty priority list");
            self.selected = None;
            self.empty = Some(status.clone());
            reports.push(Report::failure(status));
            return;
        }
        self.empty = None;
        for (priority, name) in priorities.iter().enumerate() {
            if let Some(member) = self.children.get_mut(name) {
                cx.runtime.cancel(&mut member.deactivation);
            } else {
                // What the new child says at once is only noted: the walk goes on here.
                let was_updating = std::mem::replace(&mut self.is_updating, true);
                self.create(name, cx, reports);
                self.is_updating = was_updating;
            }
            let Some(member) = self.children.get(name) else {
                continue;
            };
            if matches!(member.report.state, State::Ready | State::Idle) {
                self.select(name, reports);
                self.deactivate_below(&priorities, priority, cx);
                return;
            }
            if member.failover.is_some() {
                self.select(name, reports);
                return;
            }
        }
        let connecting = priorities.iter().find(|name| {
            self.children
                .get(*name)
                .is_some_and(|member| member.report.state == State::Connecting)
        });
        if let Some(name) = connecting.or(priorities.last()) {
            self.select(name, reports);
        }
    }

    fn select(&mut self, name: &str, reports: &mut Reports) {
        if self.selected.as_deref() != Some(name) {
            self.selected = Some(name.to_owned());
        }
        if let Some(member) = self.children.get(name) {
            reports.push(member.report.clone());
        }
    }

    fn deactivate_below(&mut self, priorities: &[String], priority: usize, cx: &mut Cx<'_>) {
        for name in priorities.iter().skip(priority + 1) {
            if let Some(member) = self.children.get_mut(name) {
                deactivate(member, &self.at, cx);
            }
        }
    }

    fn on_timer(&mut self, number: u64, cx: &mut Cx<'_>) -> Reports {
        let mut reports = Reports::new();
        let found = self
            .children
            .iter_mut()
            .find(|(_, member)| u64::from(member.number) == number / 2);
        let Some((name, member)) = found else { return reports };
        if number.is_multiple_of(2) {
            member.failover = None;
            self.choose(cx, &mut reports);
        } else {
            let name = name.clone();
            if let Some(mut member) = self.children.remove(&name) {
                drop_member(&mut member, cx);
            }
        }
        reports
    }

    /// Why the selected child was selected, for people.
    fn reason(&self, name: &str) -> String {
        let priorities = self
            .config
            .as_ref()
            .map(|c| c.priorities.as_slice())
            .unwrap_or_default();
        let place = priorities.iter().position(|known| known == name).unwrap_or(0);
        let state = self
            .children
            .get(name)
            .map_or(State::Connecting, |member| member.report.state);
        let mut text = format!("priority {place}, \"{name}\", is {state}");
        for (index, higher) in priorities.iter().take(place).enumerate() {
            let state = self.children.get(higher).map(|member| member.report.state);
            match state {
                Some(State::Connecting) => text += &format!("; {index} did not connect in time"),
                Some(state) => text += &format!("; {index} is {state}"),
                None => {}
            }
        }
        text
    }
}

fn start_failover(member: &mut Member, at: &At, cx: &mut Cx<'_>) {
    let delay = cx.runtime.settings.priority_failover_ms;
    let number = timer_number(member.number, false);
    member.failover = Some(cx.runtime.timer(delay, at, What::Timer(number)));
}

fn deactivate(member: &mut Member, at: &At, cx: &mut Cx<'_>) {
    if member.deactivation.is_none() {
        let number = timer_number(member.number, true);
        member.deactivation = Some(cx.runtime.timer(RETENTION_MS, at, What::Timer(number)));
    }
}

fn drop_member(member: &mut Member, cx: &mut Cx<'_>) {
    cx.runtime.cancel(&mut member.failover);
    cx.runtime.cancel(&mut member.deactivation);
    member.child.shutdown(cx);
}

impl crate::lb::policy::Machine for Machine {
    fn update(&mut self, update: Update<'_>, cx: &mut Cx<'_>) -> Reports {
        let Config::Priority(config) = update.config else {
            return Reports::new();
        };
        self.config = Some(config.clone());
        self.endpoints = update.endpoints.map(<[_]>::to_vec).map_err(Status::clone);
        self.depth = update.depth;
        update.note.clone_into(&mut self.note);
        let mut reports = Reports::new();
        self.is_updating = true;
        let names: Vec<String> = self.children.keys().cloned().collect();
        for name in names {
            if config.children.contains_key(&name) {
                let said = self.update_child(&name, cx);
                self.note_child(&name, said, cx, &mut reports);
            } else if let Some(member) = self.children.get_mut(&name) {
                deactivate(member, &self.at, cx);
            }
        }
        self.is_updating = false;
        self.choose(cx, &mut reports);
        reports
    }

    fn handle(&mut self, path: &[u32], what: &What, cx: &mut Cx<'_>) -> Reports {
        let mut reports = Reports::new();
        let Some((&number, rest)) = path.split_first() else {
            return match what {
                What::Timer(number) => self.on_timer(*number, cx),
                _ => reports,
            };
        };
        let found = self.children.iter_mut().find(|(_, member)| member.number == number);
        let Some((name, member)) = found else { return reports };
        let name = name.clone();
        let said = member.child.handle(rest, what, cx);
        self.note_child(&name, said, cx, &mut reports);
        reports
    }

    fn exit_idle(&mut self, cx: &mut Cx<'_>) -> Reports {
        let mut reports = Reports::new();
        if let Some(name) = self.selected.clone()
            && let Some(member) = self.children.get_mut(&name)
        {
            let said = member.child.exit_idle(cx);
            self.note_child(&name, said, cx, &mut reports);
        }
        reports
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        if let Some(status) = &self.empty {
            cx.say(config::NAME, || "has no priority".to_owned());
            return Pick::Fail(status.clone());
        }
        let Some(name) = &self.selected else { return Pick::Queue };
        cx.say(config::NAME, || self.reason(name));
        match self.children.get_mut(name) {
            Some(member) => member.child.pick(args, cx),
            None => Pick::Queue,
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut Shares) {
        match (
            &self.empty,
            self.selected.as_ref().and_then(|name| self.children.get(name)),
        ) {
            (Some(status), _) => out.add_status(status, share),
            (None, Some(member)) => member.child.shares(args, share, out),
            (None, None) => out.add(Shares::QUEUED, share),
        }
    }

    fn shutdown(&mut self, cx: &mut Cx<'_>) {
        for member in self.children.values_mut() {
            drop_member(member, cx);
        }
        self.children.clear();
        self.selected = None;
    }
}
