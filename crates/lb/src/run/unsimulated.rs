//! Policies whose decisions come from a server that is not there: grpclb and autosharding.
//!
//! grpclb asks a balancer for addresses, autosharding a service for an assignment. Neither can be
//! answered offline. RPCs that reach autosharding fail with a text that says so. grpclb has no
//! balancer address in xDS, so it uses the endpoints.

use super::child::Child;
use super::picker::{Pick, PickArgs, PickCx, PickShares};
use super::policy::{self, PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use super::runtime::{Connectivity, below};
use crate::LbConfig;
use xdsctl_model::status::Status;

/// A policy that cannot be simulated.
#[derive(Debug)]
pub struct UnsimulatedPolicy {
    name: &'static str,
    at: TreePath,
    /// The child of grpclb, which uses the endpoints.
    child: Option<Child>,
}

impl UnsimulatedPolicy {
    /// Makes a policy without a config.
    pub const fn new(at: TreePath) -> UnsimulatedPolicy {
        UnsimulatedPolicy {
            name: "",
            at,
            child: None,
        }
    }
}

fn status() -> Status {
    Status::unavailable("assignment needed: the sharding service chooses the backend, which cannot be simulated")
}

impl policy::StateMachine for UnsimulatedPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        self.name = crate::name_of(update.config);
        let config = match update.config {
            // xDS gives no balancer addresses, so grpclb falls back to the endpoints at once.
            LbConfig::Grpclb(grpclb) => &grpclb.child_policy,
            _ => {
                if let Some(mut child) = self.child.take() {
                    child.shutdown(cx);
                }
                return vec![StateReport::new(Connectivity::Idle)];
            }
        };
        let at = &self.at;
        let child = self.child.get_or_insert_with(|| Child::new(below(at, 0)));
        child.update(Update { config, ..update }, cx)
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        match (path.split_first(), &mut self.child) {
            (Some((_, rest)), Some(child)) => child.handle(rest, what, cx),
            _ => Reports::new(),
        }
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        self.child.as_mut().map(|child| child.exit_idle(cx)).unwrap_or_default()
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        if let Some(child) = &mut self.child {
            cx.say(self.name, format_args!("has no balancer, falls back to the endpoints"));
            return child.pick(args, cx);
        }
        let status = status();
        cx.say(self.name, format_args!("{}", status.message));
        Pick::Fail(status)
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match &self.child {
            Some(child) => child.shares(args, share, out),
            None => out.add_status(&status(), share),
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        if let Some(mut child) = self.child.take() {
            child.shutdown(cx);
        }
    }
}
