//! wrr_locality at work: makes a weighted_target of the localities that it receives (A52).
//!
//! Follows C-core xds_wrr_locality.cc.

use std::collections::BTreeMap;

use crate::LbConfig;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, TreePath, Update};
use crate::runtime::below;
use crate::weighted_target::{WeightedChild, WeightedTargetConfig, WeightedTargetPolicy};
use xdsctl_model::status::Status;

/// The state of a wrr_locality policy.
#[derive(Debug)]
pub struct WrrLocalityPolicy {
    child: WeightedTargetPolicy,
}

impl WrrLocalityPolicy {
    /// Makes a policy without localities.
    pub fn new(at: TreePath, cx: &mut PolicyCx<'_>) -> WrrLocalityPolicy {
        WrrLocalityPolicy {
            child: WeightedTargetPolicy::new(below(&at, 0), cx),
        }
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
        self.child.set(&WeightedTargetConfig { targets }, update, cx)
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        match path.split_first() {
            Some((_, rest)) => self.child.handle(rest, what, cx),
            None => Reports::new(),
        }
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        self.child.exit_idle(cx)
    }

    fn lose(&mut self, why: &Status, cx: &mut PolicyCx<'_>) -> Reports {
        self.child.lose(why, cx)
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        cx.say(super::NAME, format_args!("localities by weight"));
        self.child.pick(args, cx)
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        self.child.shares(args, share, out);
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.child.shutdown(cx);
    }
}
