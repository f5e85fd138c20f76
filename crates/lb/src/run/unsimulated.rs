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
    /// The child of grpclb, which uses the endpoints. Autosharding never gives it a policy.
    child: Child,
}

impl UnsimulatedPolicy {
    /// Makes a policy without a config.
    pub fn new(at: &TreePath) -> UnsimulatedPolicy {
        UnsimulatedPolicy {
            name: "",
            child: Child::new(below(at, 0)),
        }
    }
}

fn status() -> Status {
    Status::unavailable("assignment needed: the sharding service chooses the backend, which cannot be simulated")
}

impl policy::StateMachine for UnsimulatedPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        self.name = crate::name_of(update.config);
        match update.config {
            // xDS gives no balancer addresses, so grpclb falls back to the endpoints at once.
            LbConfig::Grpclb(grpclb) => {
                let config = &grpclb.child_policy;
                self.child.update(Update { config, ..update }, cx)
            }
            _ => vec![StateReport::new(Connectivity::Idle)],
        }
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

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        if self.child.policy().is_some() {
            cx.say(self.name, format_args!("has no balancer, falls back to the endpoints"));
            return self.child.pick(args, cx);
        }
        let status = status();
        cx.say(self.name, format_args!("{}", status.message));
        Pick::Fail(status)
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match self.child.policy() {
            Some(_) => self.child.shares(args, share, out),
            None => out.add_status(&status(), share),
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.child.shutdown(cx);
    }
}
