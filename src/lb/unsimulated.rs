//! Policies whose decisions come from a server that is not there: rls, grpclb and autosharding.
//!
//! RLS asks a lookup service which cluster to use (A67, 11.14 of its own protocol); grpclb asks a balancer for addresses,
//! autosharding for an assignment. None can be answered offline. RPCs that reach one fail with a text that says so; the
//! simulator resolves an RLS target beforehand where the config has a default one.

use super::picker::{Pick, PickArgs, PickCx};
use super::policy::{self, Cx, Report, Reports, Update, What};
use super::runtime::State;
use crate::status::Status;

/// A policy that cannot be simulated.
#[derive(Debug, Default)]
pub struct Machine {
    name: &'static str,
}

impl Machine {
    fn status(&self) -> Status {
        let needs = match self.name {
            super::rls::NAME => "RLS lookup needed: the lookup service chooses the cluster",
            super::grpclb::NAME => "grpclb balancer needed: it chooses the backends",
            _ => "assignment needed: the sharding service chooses the backend",
        };
        Status::unavailable(format!("{needs}, which cannot be simulated"))
    }
}

impl policy::Machine for Machine {
    fn update(&mut self, update: Update<'_>, _cx: &mut Cx<'_>) -> Reports {
        self.name = update.config.name();
        vec![Report::of(State::Idle)]
    }

    fn handle(&mut self, _path: &[u32], _what: &What, _cx: &mut Cx<'_>) -> Reports {
        Reports::new()
    }

    fn exit_idle(&mut self, _cx: &mut Cx<'_>) -> Reports {
        Reports::new()
    }

    fn pick(&mut self, _args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let status = self.status();
        cx.say(self.name, || status.message.to_string());
        Pick::Fail(status)
    }

    fn shutdown(&mut self, _cx: &mut Cx<'_>) {}
}
