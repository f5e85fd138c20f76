//! wrr_locality at work: makes a weighted_target of the localities that it receives (A52).
//!
//! Follows C-core xds_wrr_locality.cc.

use std::collections::BTreeMap;

use crate::LbConfig;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::runtime::below;
use crate::weighted_target::{self, WeightedChild};
use crate::wrr_locality;
use xdsctl_model::status::Status;

/// The state of a wrr_locality policy.
#[derive(Debug)]
pub struct WrrLocalityPolicy {
    at: TreePath,
    child: Option<weighted_target::WeightedTargetPolicy>,
    last: Option<StateReport>,
}

impl WrrLocalityPolicy {
    /// Makes a policy without a child.
    pub fn new(at: &TreePath) -> WrrLocalityPolicy {
        WrrLocalityPolicy {
            at: below(at, 0),
            child: None,
            last: None,
        }
    }

    fn note(&mut self, reports: Reports) -> Reports {
        if let Some(last) = reports.last() {
            self.last = Some(last.clone());
        }
        reports
    }
}

impl crate::policy::StateMachine for WrrLocalityPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let LbConfig::WrrLocality(config) = update.config else {
            return Reports::new();
        };
        let mut targets: BTreeMap<String, WeightedChild> = BTreeMap::new();
        let pieces = update.endpoints.map_or(&[][..], |endpoints| endpoints.pieces());
        for endpoint in pieces.iter().filter_map(|piece| piece.first()) {
            if let Some(locality) = endpoint.locality().filter(|name| !targets.contains_key(&***name)) {
                let target = WeightedChild {
                    weight: endpoint.locality_weight,
                    child_policy: config.child_policy.clone(),
                };
                targets.insert(locality.to_string(), target);
            }
        }
        let at = &self.at;
        let child = self
            .child
            .get_or_insert_with(|| weighted_target::WeightedTargetPolicy::new(at.clone(), cx));
        let reports = child.set(&weighted_target::WeightedTargetConfig { targets }, update, cx);
        self.note(reports)
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        let (Some((_, rest)), Some(child)) = (path.split_first(), &mut self.child) else {
            return Reports::new();
        };
        let reports = child.handle(rest, what, cx);
        self.note(reports)
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        let reports = self.child.as_mut().map(|child| child.exit_idle(cx)).unwrap_or_default();
        self.note(reports)
    }

    fn lose(&mut self, why: &Status, cx: &mut PolicyCx<'_>) -> Reports {
        let reports = self.child.as_mut().map(|child| child.lose(why, cx)).unwrap_or_default();
        self.note(reports)
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        match &mut self.child {
            Some(child) if self.last.is_some() => {
                cx.say(wrr_locality::NAME, format_args!("localities by weight"));
                child.pick(args, cx)
            }
            _ => Pick::Queue,
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match &self.child {
            Some(child) => child.shares(args, share, out),
            None => out.add(PickShares::QUEUED, share),
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        if let Some(mut child) = self.child.take() {
            child.shutdown(cx);
        }
    }
}
