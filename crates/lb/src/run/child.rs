//! A policy's child. An update that names another policy builds that policy beside the old one, and
//! replaces the old one when the new one is no longer CONNECTING.
//!
//! Follows C-core child_policy_handler.cc. Until a child has reported for the first time, picks
//! through it queue.

use std::sync::Arc;

use super::picker::{Pick, PickArgs, PickCx, PickShares};
use super::policy::{PolicyCx, PolicyEvent, Reports, StateMachine, StateReport, TreePath, Update};
use super::runtime::{Connectivity, below};
use xdsctl_model::profile::Feature;
use xdsctl_model::status::Status;

/// A child and, during a change of policy, its successor.
#[derive(Debug)]
pub struct Child {
    at: TreePath,
    next_generation: u32,
    current: Option<ChildSlot>,
    pending: Option<ChildSlot>,
    last: Option<StateReport>,
}

#[derive(Debug)]
struct ChildSlot {
    generation: u32,
    name: &'static str,
    machine: Box<dyn StateMachine>,
    _counted: Arc<()>,
}

impl Child {
    /// Makes a child at this place. It has no policy until the first update.
    pub fn new(at: TreePath) -> Child {
        Child {
            at,
            next_generation: 0,
            current: None,
            pending: None,
            last: None,
        }
    }

    /// Returns the name of the newest policy; `None` before the first update.
    pub fn policy(&self) -> Option<&'static str> {
        let newest = self.pending.as_ref().or(self.current.as_ref());
        newest.map(|slot| slot.name)
    }

    /// Returns what the child last reported.
    pub const fn last(&self) -> Option<&StateReport> {
        self.last.as_ref()
    }

    /// Passes an update to the newest policy, or builds another policy if the update names one.
    pub fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let name = crate::name_of(update.config);
        let newest = self.pending.as_mut().or(self.current.as_mut());
        if let Some(slot) = newest.filter(|slot| slot.name == name) {
            let generation = slot.generation;
            let reports = slot.machine.update(update, cx);
            return self.take_reports(generation, reports, cx);
        }
        let Some(counted) = cx.runtime.machine() else {
            return Reports::new();
        };
        let generation = self.next_generation;
        self.next_generation += 1;
        let mut machine = crate::machine_of(update.config, below(&self.at, generation), cx);
        let reports = machine.update(update, cx);
        let slot = ChildSlot {
            generation,
            name,
            machine,
            _counted: counted,
        };
        if self.current.is_none() {
            self.current = Some(slot);
        } else if let Some(mut old) = self.pending.replace(slot) {
            old.machine.shutdown(cx);
        }
        self.take_reports(generation, reports, cx)
    }

    /// Passes an event to the policy that it is for.
    pub fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        let Some((&generation, rest)) = path.split_first() else {
            return Reports::new();
        };
        let slots = [self.current.as_mut(), self.pending.as_mut()];
        let Some(slot) = slots.into_iter().flatten().find(|slot| slot.generation == generation) else {
            return Reports::new();
        };
        let reports = slot.machine.handle(rest, what, cx);
        self.take_reports(generation, reports, cx)
    }

    /// Asks the newest policy to connect.
    pub fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        let Some(slot) = self.pending.as_mut().or(self.current.as_mut()) else {
            return Reports::new();
        };
        let generation = slot.generation;
        let reports = slot.machine.exit_idle(cx);
        self.take_reports(generation, reports, cx)
    }

    /// Tells the newest policy that there are no endpoints to use.
    pub fn lose(&mut self, why: &Status, cx: &mut PolicyCx<'_>) -> Reports {
        let Some(slot) = self.pending.as_mut().or(self.current.as_mut()) else {
            return Reports::new();
        };
        let generation = slot.generation;
        let reports = slot.machine.lose(why, cx);
        self.take_reports(generation, reports, cx)
    }

    /// Takes over reports. Those of a successor are held back until one is not CONNECTING, or in
    /// some clients until one is READY. In these clients, a policy that stays idle until it is
    /// asked never replaces a policy that is asked.
    fn take_reports(&mut self, generation: u32, mut reports: Reports, cx: &mut PolicyCx<'_>) -> Reports {
        if self.pending.as_ref().is_some_and(|slot| slot.generation == generation) {
            let is_serving = self.last.as_ref().is_some_and(|last| last.state == Connectivity::Ready);
            let awaits_ready = is_serving && cx.clusters.profile().has(Feature::SwitchesWhenReady);
            let is_telling = |report: &StateReport| match awaits_ready {
                true => report.state == Connectivity::Ready,
                false => report.state != Connectivity::Connecting,
            };
            let Some(first) = reports.iter().position(is_telling) else {
                return Reports::new();
            };
            reports.drain(..first);
            if let Some(mut old) = std::mem::replace(&mut self.current, self.pending.take()) {
                old.machine.shutdown(cx);
            }
        }
        if let Some(last) = reports.last() {
            self.last = Some(last.clone());
        }
        reports
    }

    /// Picks through the current policy.
    pub fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        match &mut self.current {
            Some(slot) if self.last.is_some() => slot.machine.pick(args, cx),
            _ => Pick::Queue,
        }
    }

    /// Adds up where picks go, for `share` of all picks.
    pub fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match &self.current {
            Some(slot) if self.last.is_some() => slot.machine.shares(args, share, out),
            _ => out.add(PickShares::QUEUED, share),
        }
    }

    /// Tells the priorities in use from here down, as [`StateMachine::priorities`] does.
    pub fn priorities(&self, cluster: &str, tell: &mut dyn FnMut(&str, Option<usize>)) {
        if let Some(slot) = &self.current {
            slot.machine.priorities(cluster, tell);
        }
    }

    /// Shuts down the policies.
    pub fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        for mut slot in [self.current.take(), self.pending.take()].into_iter().flatten() {
            slot.machine.shutdown(cx);
        }
        self.last = None;
    }
}
