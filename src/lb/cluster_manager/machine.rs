//! cluster_manager at work: the root of the tree, with a child for each cluster that the routes name.
//!
//! Follows C-core xds_cluster_manager.cc.

use std::collections::BTreeMap;

use crate::lb::Config;
use crate::lb::child::Child;
use crate::lb::cluster_manager as config;
use crate::lb::picker::{Pick, PickArgs, PickCx, Shares};
use crate::lb::policy::{At, Cx, Report, Reports, Update, What};
use crate::lb::runtime::{State, TimerId, below};
use crate::status::Status;

/// How long a child is kept that is no longer in the config (C-core xds_cluster_manager.cc).
pub const RETENTION_MS: i64 = 15 * 60 * 1000;

/// The state of a cluster_manager policy.
#[derive(Debug)]
pub struct Machine {
    at: At,
    children: BTreeMap<String, Member>,
    next_number: u32,
    is_updating: bool,
}

#[derive(Debug)]
struct Member {
    number: u32,
    child: Child,
    state: State,
    is_in_config: bool,
    removal: Option<TimerId>,
}

impl Machine {
    /// A policy without children.
    pub fn new(at: At) -> Machine {
        Machine {
            at,
            children: BTreeMap::new(),
            next_number: 0,
            is_updating: false,
        }
    }

    fn note_child(&mut self, name: &str, said: Reports, reports: &mut Reports) {
        for report in said {
            let Some(member) = self.children.get_mut(name) else {
                return;
            };
            if member.state != State::TransientFailure || report.state == State::Ready {
                member.state = report.state;
            }
            if !self.is_updating {
                self.aggregate(reports);
            }
        }
    }

    fn aggregate(&self, reports: &mut Reports) {
        let is = |state| {
            self.children
                .values()
                .any(|member| member.is_in_config && member.state == state)
        };
        let state = [State::Ready, State::Connecting, State::Idle]
            .into_iter()
            .find(|state| is(*state));
        reports.push(match state {
            Some(state) => Report::of(state),
            None => Report::failure(Status::unavailable("TRANSIENT_FAILURE from XdsClusterManagerLb")),
        });
    }
}

impl crate::lb::policy::Machine for Machine {
    fn update(&mut self, update: Update<'_>, cx: &mut Cx<'_>) -> Reports {
        let Config::ClusterManager(config) = update.config else {
            return Reports::new();
        };
        let mut reports = Reports::new();
        self.is_updating = true;
        for (name, member) in &mut self.children {
            member.is_in_config = config.children.contains_key(name);
            if !member.is_in_config && member.removal.is_none() {
                let what = What::Timer(u64::from(member.number));
                member.removal = Some(cx.runtime.timer(RETENTION_MS, &self.at, what));
            }
        }
        for (name, child) in &config.children {
            let next_number = &mut self.next_number;
            let at = &self.at;
            let member = self.children.entry(name.clone()).or_insert_with(|| {
                let number = *next_number;
                *next_number += 1;
                Member {
                    number,
                    child: Child::new(below(at, number)),
                    state: State::Connecting,
                    is_in_config: true,
                    removal: None,
                }
            });
            cx.runtime.cancel(&mut member.removal);
            let said = member.child.update(
                Update {
                    config: child,
                    ..update
                },
                cx,
            );
            self.note_child(name, said, &mut reports);
        }
        self.is_updating = false;
        self.aggregate(&mut reports);
        reports
    }

    fn handle(&mut self, path: &[u32], what: &What, cx: &mut Cx<'_>) -> Reports {
        let mut reports = Reports::new();
        let Some((&number, rest)) = path.split_first() else {
            if let What::Timer(number) = what {
                let gone = self
                    .children
                    .iter()
                    .find(|(_, member)| u64::from(member.number) == *number && !member.is_in_config)
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
        self.note_child(&name, said, &mut reports);
        reports
    }

    fn exit_idle(&mut self, cx: &mut Cx<'_>) -> Reports {
        let mut reports = Reports::new();
        let names: Vec<String> = self.children.keys().cloned().collect();
        for name in names {
            if let Some(member) = self.children.get_mut(&name) {
                let said = member.child.exit_idle(cx);
                self.note_child(&name, said, &mut reports);
            }
        }
        reports
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let key = args.cluster_key;
        match self.children.get_mut(key) {
            Some(member) if member.is_in_config => {
                let state = member.state;
                cx.say(config::NAME, || format!("child \"{key}\", which is {state}"));
                member.child.pick(args, cx)
            }
            _ => {
                cx.say(config::NAME, || format!("has no child \"{key}\""));
                Pick::Fail(Status::internal(format!(
                    "xds cluster manager picker: unknown cluster \"{key}\""
                )))
            }
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut Shares) {
        match self.children.get(args.cluster_key).filter(|member| member.is_in_config) {
            Some(member) => member.child.shares(args, share, out),
            None => out.add("INTERNAL: unknown cluster", share),
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
