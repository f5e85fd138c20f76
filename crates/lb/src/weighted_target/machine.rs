//! weighted_target at work: picks a child at random, in proportion to the weights of the connected
//! children.
//!
//! Follows C-core weighted_target.cc.

use crate::LbConfig;
use crate::endpoint::{self, EndpointList};
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::run::child::Child;
use crate::run::children::{Children, NamedChild, kept_ms};
use crate::run::tally::{StateTally, Weights};
use crate::runtime::Connectivity;
use crate::weighted_target as config;
use xdsctl_model::profile::Feature;
use xdsctl_model::rng::Rng;
use xdsctl_model::status::Status;

/// The state of a weighted_target policy.
#[derive(Debug)]
pub struct WeightedTargetPolicy {
    children: Children<TargetState>,
    /// Counts the states of the children that are in the config.
    tally: StateTally,
    /// The weights of the READY children and of those that fail, in the order of their names.
    ready: Weights,
    failing: Weights,
    /// The numbers of the children, in the order of their names.
    in_order: Vec<u32>,
    is_updating: bool,
    note: String,
    shown: WeightedTargetReport,
    choice: Rng,
}

#[derive(Debug)]
struct TargetState {
    /// Whether the child is in the config.
    is_wanted: bool,
    weight: u32,
    state: Connectivity,
    /// The place in the order of names; `None` until the end of the update that brings the child.
    place: Option<usize>,
}

impl TargetState {
    fn counted(&self) -> Option<Connectivity> {
        self.is_wanted.then_some(self.state)
    }
}

#[derive(Debug)]
enum WeightedTargetReport {
    Queue,
    Fail(Status),
    /// Picks go to the children in this state, by weight.
    Weighted(Connectivity),
}

impl WeightedTargetPolicy {
    /// Makes a policy without children.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> WeightedTargetPolicy {
        let choice = cx.runtime.stream("weighted_target/choice", &at);
        WeightedTargetPolicy {
            children: Children::new(at),
            tally: StateTally::default(),
            ready: Weights::default(),
            failing: Weights::default(),
            in_order: Vec::new(),
            is_updating: false,
            note: String::new(),
            shown: WeightedTargetReport::Queue,
            choice,
        }
    }

    /// Sets a child's weight; `None` means that the child is no longer in the config.
    fn set_weight(&mut self, name: &str, weight: Option<u32>) {
        if let Some(member) = self.children.get_mut(name) {
            let before = member.data.counted();
            member.data.is_wanted = weight.is_some();
            member.data.weight = weight.unwrap_or(0);
            self.tally.change(before, member.data.counted());
        }
    }

    /// Sets the order and the weights of the children after an update.
    fn put_in_order(&mut self) {
        self.in_order = self.children.iter().map(|(_, member)| member.number).collect();
        self.ready = Weights::new(self.in_order.len());
        self.failing = self.ready.clone();
        for (place, member) in self.children.iter_mut().enumerate() {
            member.data.place = Some(place);
            let weights = match member.data.counted() {
                Some(Connectivity::Ready) => &mut self.ready,
                Some(Connectivity::TransientFailure) => &mut self.failing,
                Some(Connectivity::Idle | Connectivity::Connecting) | None => continue,
            };
            weights.add(place, u64::from(member.data.weight));
        }
    }

    /// Takes over a config directly, as wrr_locality generates it.
    pub fn set(&mut self, config: &config::WeightedTargetConfig, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        self.is_updating = true;
        update.note.clone_into(&mut self.note);
        let kept_ms = kept_ms(Feature::LocalitiesForgotten, cx);
        for name in self.children.names() {
            if !config.targets.contains_key(&*name) && self.children.retire(&name, kept_ms, cx) {
                self.set_weight(&name, None);
            }
        }
        let consumes_names = cx.clusters.profile().has(Feature::PathNamesConsumed);
        let has_ended = |list: &EndpointList| list.iter().any(|endpoint| endpoint.path.len() <= update.depth);
        if cx.clusters.profile().has(Feature::PathsNeeded) && update.endpoints.is_ok_and(has_ended) {
            self.is_updating = false;
            return reports;
        }
        let groups = update
            .endpoints
            .map(|all| endpoint::groups(all, update.depth, consumes_names));
        for (name, target) in &config.targets {
            self.children.revive(name, cx);
            self.children.add(name, || TargetState {
                is_wanted: false,
                weight: 0,
                state: Connectivity::Connecting,
                place: None,
            });
            self.set_weight(name, Some(target.weight));
            let Some(member) = self.children.get_mut(name) else {
                continue;
            };
            let endpoints = match &groups {
                Ok(groups) => Ok(groups.get(name.as_str()).unwrap_or(endpoint::none())),
                Err(status) => Err(*status),
            };
            let update = Update {
                config: &target.child_policy,
                endpoints,
                depth: update.depth + 1,
                note: update.note,
            };
            let said = member.child.update(update, cx);
            self.note_child(name, said, cx, &mut reports);
        }
        self.is_updating = false;
        self.put_in_order();
        if config.targets.is_empty() && cx.clusters.profile().has(Feature::SilentWithoutTargets) {
            self.shown = WeightedTargetReport::Queue;
            return reports;
        }
        if config.targets.is_empty() {
            let text = match cx.clusters.profile().has(Feature::FailuresHandedOn) {
                true => "weighted-target: no targets to pick from",
                false => "no children in weighted_target policy",
            };
            let status = Status::unavailable(text).with_note(&self.note);
            self.shown = match cx.clusters.profile().has(Feature::QueuesWithoutTargets) {
                true => WeightedTargetReport::Queue,
                false => WeightedTargetReport::Fail(status.clone()),
            };
            return vec![StateReport::failure(status)];
        }
        self.aggregate(&mut reports);
        reports
    }

    fn note_child(&mut self, name: &str, said: Reports, cx: &mut PolicyCx<'_>, reports: &mut Reports) {
        let mut queue: std::collections::VecDeque<StateReport> = said.into();
        while let Some(report) = queue.pop_front() {
            let Some(member) = self.children.get_mut(name) else {
                return;
            };
            if report.state == Connectivity::Idle && !cx.clusters.profile().has(Feature::IdleChildrenStay) {
                queue.extend(member.child.exit_idle(cx));
            }
            let before = member.data.counted();
            // A failure counts until the child is READY again.
            if member.data.state != Connectivity::TransientFailure || report.state == Connectivity::Ready {
                member.data.state = report.state;
            }
            let after = member.data.counted();
            self.tally.change(before, after);
            if let (false, Some(place)) = (self.is_updating, member.data.place) {
                let weight = u64::from(member.data.weight);
                for (state, weights) in [
                    (Connectivity::Ready, &mut self.ready),
                    (Connectivity::TransientFailure, &mut self.failing),
                ] {
                    match (before == Some(state), after == Some(state)) {
                        (true, false) => weights.take(place, weight),
                        (false, true) => weights.add(place, weight),
                        (true, true) | (false, false) => {}
                    }
                }
            }
            if !self.is_updating && after.is_some() {
                self.aggregate(reports);
            }
        }
    }

    /// Has each child do something.
    fn each(&mut self, cx: &mut PolicyCx<'_>, work: impl Fn(&mut Child, &mut PolicyCx<'_>) -> Reports) -> Reports {
        let mut reports = Reports::new();
        for name in self.children.names() {
            if let Some(member) = self.children.get_mut(&name) {
                let said = work(&mut member.child, cx);
                self.note_child(&name, said, cx, &mut reports);
            }
        }
        reports
    }

    /// Returns the place of the first child in a state.
    fn first_in(&self, state: Connectivity) -> Option<usize> {
        let counted = |(_, member): &(_, &NamedChild<TargetState>)| member.data.counted() == Some(state);
        let found = self.children.iter().find(counted)?.1.number;
        self.in_order.iter().position(|number| *number == found)
    }

    fn aggregate(&mut self, reports: &mut Reports) {
        self.shown = match self.tally.best() {
            Some(Connectivity::Ready) => WeightedTargetReport::Weighted(Connectivity::Ready),
            Some(_) => WeightedTargetReport::Queue,
            None => WeightedTargetReport::Weighted(Connectivity::TransientFailure),
        };
        let text = "weighted_target: all children report state TRANSIENT_FAILURE";
        let failure = || StateReport::failure(Status::unavailable(text));
        reports.push(self.tally.best().map_or_else(failure, StateReport::new));
    }
}

impl crate::policy::StateMachine for WeightedTargetPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        match update.config {
            LbConfig::WeightedTarget(config) => self.set(config, update, cx),
            _ => Reports::new(),
        }
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        if let Some((name, said)) = self.children.handle(path, what, cx) {
            self.note_child(&name, said, cx, &mut reports);
        }
        reports
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        self.each(cx, Child::exit_idle)
    }

    fn lose(&mut self, why: &Status, cx: &mut PolicyCx<'_>) -> Reports {
        self.each(cx, |child, cx| child.lose(why, cx))
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        match &self.shown {
            WeightedTargetReport::Queue => {
                cx.say(config::NAME, format_args!("no child is connected yet"));
                Pick::Queue
            }
            WeightedTargetReport::Fail(status) => {
                cx.say(config::NAME, format_args!("has no child"));
                Pick::Fail(status.clone())
            }
            WeightedTargetReport::Weighted(state) => {
                let weights = match state {
                    Connectivity::Ready => &self.ready,
                    _ => &self.failing,
                };
                let total = weights.total();
                let key = self.choice.below(total);
                // If no child has a weight, the first child gets all RPCs.
                let place = weights.find(key).or_else(|| self.first_in(*state));
                let number = place.and_then(|place| self.in_order.get(place));
                let chosen = number.and_then(|number| self.children.name(*number));
                let Some(name) = chosen else { return Pick::Queue };
                let Some(member) = self.children.get_mut(&name) else {
                    return Pick::Queue;
                };
                let weight = member.data.weight;
                cx.say(
                    config::NAME,
                    format_args!("child \"{name}\" with {weight} of {total} (drew {key})"),
                );
                member.child.pick(args, cx)
            }
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match &self.shown {
            WeightedTargetReport::Queue => out.add(PickShares::QUEUED, share),
            WeightedTargetReport::Fail(status) => out.add_status(status, share),
            WeightedTargetReport::Weighted(state) => {
                let of_state = |data: &TargetState| data.counted() == Some(*state);
                let members = || self.children.iter().filter(|(_, member)| of_state(&member.data));
                let total: u64 = members().map(|(_, member)| u64::from(member.data.weight)).sum();
                for (_, member) in members() {
                    let weight = f64::from(member.data.weight);
                    member.child.shares(args, share * weight / total as f64, out);
                }
            }
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.children.shutdown(cx, |_, _| {});
        self.tally = StateTally::default();
        (self.ready, self.failing) = (Weights::default(), Weights::default());
    }
}
