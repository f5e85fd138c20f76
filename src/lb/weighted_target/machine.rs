//! weighted_target at work: a child by chance, in proportion to the weights of those that are connected.
//!
//! Follows C-core weighted_target.cc.

use std::collections::BTreeMap;

use crate::lb::Config;
use crate::lb::child::Child;
use crate::lb::endpoint;
use crate::lb::picker::{Pick, PickArgs, PickCx, Shares};
use crate::lb::policy::{At, Cx, Report, Reports, Update, What};
use crate::lb::runtime::{State, TimerId, below};
use crate::lb::weighted_target as config;
use crate::rng::Rng;
use crate::status::Status;

/// How long a child is kept that is no longer in the config (C-core weighted_target.cc `kChildRetentionInterval`).
pub const RETENTION_MS: i64 = 15 * 60 * 1000;

/// The state of a weighted_target policy.
#[derive(Debug)]
pub struct Machine {
    at: At,
    children: BTreeMap<String, Member>,
    next_number: u32,
    is_updating: bool,
    note: String,
    shown: Shown,
    choice: Rng,
}

#[derive(Debug)]
struct Member {
    number: u32,
    weight: u32,
    child: Child,
    state: State,
    removal: Option<TimerId>,
}

#[derive(Debug)]
enum Shown {
    Queue,
    Fail(Status),
    /// Running totals of the weights, and the children's numbers.
    Weighted(Vec<(u64, u32)>),
}

impl Machine {
    /// A policy without children.
    pub fn new(at: At, cx: &mut Cx<'_>) -> Machine {
        let choice = cx.runtime.stream("weighted_target/choice", &at);
        Machine {
            at,
            children: BTreeMap::new(),
            next_number: 0,
            is_updating: false,
            note: String::new(),
            shown: Shown::Queue,
            choice,
        }
    }

    /// Takes a config directly, as wrr_locality generates it.
    pub fn set(&mut self, config: &config::Config, update: Update<'_>, cx: &mut Cx<'_>) -> Reports {
        let mut reports = Reports::new();
        self.is_updating = true;
        update.note.clone_into(&mut self.note);
        for (name, member) in &mut self.children {
            if !config.targets.contains_key(name) && member.removal.is_none() {
                member.weight = 0;
                let what = What::Timer(u64::from(member.number));
                member.removal = Some(cx.runtime.timer(RETENTION_MS, &self.at, what));
            }
        }
        for (name, target) in &config.targets {
            let next_number = &mut self.next_number;
            let at = &self.at;
            let member = self.children.entry(name.clone()).or_insert_with(|| {
                let number = *next_number;
                *next_number += 1;
                Member {
                    number,
                    weight: 0,
                    child: Child::new(below(at, number)),
                    state: State::Connecting,
                    removal: None,
                }
            });
            member.weight = target.weight;
            cx.runtime.cancel(&mut member.removal);
            let endpoints = update.endpoints.map(|all| endpoint::below(all, update.depth, name));
            let said = member.child.update(
                Update {
                    config: &target.child_policy,
                    endpoints: endpoints.as_deref().map_err(|status| *status),
                    depth: update.depth + 1,
                    note: update.note,
                },
                cx,
            );
            self.note_child(name, said, cx, &mut reports);
        }
        self.is_updating = false;
        if config.targets.is_empty() {
            let status = Status::unavailable("no children in weighted_target policy").with_note(&self.note);
            self.shown = Shown::Fail(status.clone());
            return vec![Report::failure(status)];
        }
        self.aggregate(&mut reports);
        reports
    }

    fn note_child(&mut self, name: &str, said: Reports, cx: &mut Cx<'_>, reports: &mut Reports) {
        let mut queue: std::collections::VecDeque<Report> = said.into();
        while let Some(report) = queue.pop_front() {
            let Some(member) = self.children.get_mut(name) else {
                return;
            };
            if report.state == State::Idle {
                queue.extend(member.child.exit_idle(cx));
            }
            // A failure counts until the child is READY again.
            if member.state != State::TransientFailure || report.state == State::Ready {
                member.state = report.state;
            }
            if !self.is_updating && member.weight > 0 {
                self.aggregate(reports);
            }
        }
    }

    fn weighted(&self, state: State) -> Vec<(u64, u32)> {
        let mut total = 0;
        self.children
            .values()
            .filter(|member| member.weight > 0 && member.state == state)
            .map(|member| {
                total += u64::from(member.weight);
                (total, member.number)
            })
            .collect()
    }

    fn aggregate(&mut self, reports: &mut Reports) {
        let is = |state| {
            self.children
                .values()
                .any(|member| member.weight > 0 && member.state == state)
        };
        if is(State::Ready) {
            self.shown = Shown::Weighted(self.weighted(State::Ready));
            reports.push(Report::of(State::Ready));
        } else if is(State::Connecting) {
            self.shown = Shown::Queue;
            reports.push(Report::of(State::Connecting));
        } else if is(State::Idle) {
            self.shown = Shown::Queue;
            reports.push(Report::of(State::Idle));
        } else {
            self.shown = Shown::Weighted(self.weighted(State::TransientFailure));
            let text = "weighted_target: all children report state TRANSIENT_FAILURE";
            reports.push(Report::failure(Status::unavailable(text)));
        }
    }
}

impl crate::lb::policy::Machine for Machine {
    fn update(&mut self, update: Update<'_>, cx: &mut Cx<'_>) -> Reports {
        match update.config {
            Config::WeightedTarget(config) => self.set(config, update, cx),
            _ => Reports::new(),
        }
    }

    fn handle(&mut self, path: &[u32], what: &What, cx: &mut Cx<'_>) -> Reports {
        let mut reports = Reports::new();
        let Some((&number, rest)) = path.split_first() else {
            if let What::Timer(number) = what {
                let gone = self
                    .children
                    .iter()
                    .find(|(_, member)| u64::from(member.number) == *number && member.removal.is_some())
                    .map(|(name, _)| name.clone());
                if let Some(mut member) = gone.and_then(|name| self.children.remove(&name)) {
                    member.child.shutdown(cx);
                }
            }
            return reports;
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
        let names: Vec<String> = self.children.keys().cloned().collect();
        for name in names {
            if let Some(member) = self.children.get_mut(&name) {
                let said = member.child.exit_idle(cx);
                self.note_child(&name, said, cx, &mut reports);
            }
        }
        reports
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        match &self.shown {
            Shown::Queue => {
                cx.say(config::NAME, || "no child is connected yet".to_owned());
                Pick::Queue
            }
            Shown::Fail(status) => {
                cx.say(config::NAME, || "has no child".to_owned());
                Pick::Fail(status.clone())
            }
            Shown::Weighted(totals) => {
                let total = totals.last().map_or(0, |(total, _)| *total);
                let key = self.choice.below(total);
                let place = totals.partition_point(|(total, _)| *total <= key);
                let Some(&(_, number)) = totals.get(place) else {
                    return Pick::Queue;
                };
                let chosen = self.children.iter_mut().find(|(_, member)| member.number == number);
                let Some((name, member)) = chosen else {
                    return Pick::Queue;
                };
                let weight = member.weight;
                cx.say(config::NAME, || {
                    format!("child \"{name}\" with {weight} of {total} (drew {key})")
                });
                member.child.pick(args, cx)
            }
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut Shares) {
        match &self.shown {
            Shown::Queue => out.add(Shares::QUEUED, share),
            Shown::Fail(status) => out.add_status(status, share),
            Shown::Weighted(totals) => {
                let total = totals.last().map_or(0, |(total, _)| *total) as f64;
                for member in self.children.values() {
                    if totals.iter().any(|(_, number)| *number == member.number) {
                        member.child.shares(args, share * f64::from(member.weight) / total, out);
                    }
                }
            }
        }
    }

    fn shutdown(&mut self, cx: &mut Cx<'_>) {
        for member in self.children.values_mut() {
            cx.runtime.cancel(&mut member.removal);
            member.child.shutdown(cx);
        }
        self.children.clear();
    }
}
