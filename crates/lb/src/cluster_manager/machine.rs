//! cluster_manager at work: the root of the tree, with a child for each cluster that the routes
//! name.
//!
//! Follows C-core xds_cluster_manager.cc.

use crate::LbConfig;
use crate::cluster_manager as config;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::run::children::{Children, kept_ms};
use crate::run::tally::StateTally;
use crate::runtime::Connectivity;
use xdsctl_model::profile::{Family, Feature};
use xdsctl_model::status::Status;

/// The state of a cluster_manager policy.
#[derive(Debug)]
pub struct ClusterManagerPolicy {
    children: Children<ManagedChild>,
    /// Counts the states of the children that are in the config.
    tally: StateTally,
    is_updating: bool,
    /// The family whose status text an RPC to an unknown cluster gets.
    family: Family,
}

#[derive(Debug)]
struct ManagedChild {
    state: Connectivity,
    is_in_config: bool,
}

impl ManagedChild {
    fn counted(&self) -> Option<Connectivity> {
        self.is_in_config.then_some(self.state)
    }
}

impl ClusterManagerPolicy {
    /// Makes a policy without children.
    pub fn new(at: TreePath) -> ClusterManagerPolicy {
        ClusterManagerPolicy {
            children: Children::new(at),
            tally: StateTally::default(),
            is_updating: false,
            family: Family::REFERENCE,
        }
    }

    fn note_child(&mut self, name: &str, said: Reports, reports: &mut Reports) {
        for report in said {
            let Some(member) = self.children.get_mut(name) else {
                return;
            };
            let before = member.data.counted();
            // A failure counts until the child is READY again.
            if member.data.state != Connectivity::TransientFailure || report.state == Connectivity::Ready {
                member.data.state = report.state;
            }
            self.tally.change(before, member.data.counted());
            if !self.is_updating {
                self.aggregate(reports);
            }
        }
    }

    fn aggregate(&self, reports: &mut Reports) {
        reports.push(match self.tally.best() {
            Some(state) => StateReport::new(state),
            None => StateReport::failure(Status::unavailable("TRANSIENT_FAILURE from XdsClusterManagerLb")),
        });
    }

    /// Returns the pick of an RPC whose cluster is not among the children (grpc-go
    /// clustermanager/picker.go, grpc-java ClusterManagerLoadBalancer.java).
    fn unknown(&self, key: &str) -> Pick {
        match self.family {
            Family::Go => Pick::Drop(Status::unavailable(format!(
                "unknown cluster selected for RPC: \"{key}\""
            ))),
            Family::Java => Pick::Fail(Status::unavailable(format!(
                "CDS encountered error: unable to find available subchannel for cluster {key}"
            ))),
            _ => Pick::Fail(Status::internal(format!(
                "xds cluster manager picker: unknown cluster \"{key}\""
            ))),
        }
    }
}

impl crate::policy::StateMachine for ClusterManagerPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let LbConfig::ClusterManager(config) = update.config else {
            return Reports::new();
        };
        self.family = cx.clusters.profile().client().family;
        let kept_ms = kept_ms(Feature::ClustersForgotten, cx);
        let mut reports = Reports::new();
        self.is_updating = true;
        for name in self.children.names() {
            let is_in_config = config.children.contains_key(&*name);
            if let Some(member) = self.children.get_mut(&name) {
                let before = member.data.counted();
                member.data.is_in_config = is_in_config;
                self.tally.change(before, member.data.counted());
            }
            if !is_in_config {
                self.children.retire(&name, kept_ms, cx);
            }
        }
        for (name, child) in &config.children {
            self.children.revive(name, cx);
            let tally = &mut self.tally;
            let member = self.children.add(name, || {
                tally.change(None, Some(Connectivity::Connecting));
                ManagedChild {
                    state: Connectivity::Connecting,
                    is_in_config: true,
                }
            });
            let update = Update {
                config: child,
                ..update
            };
            let said = member.child.update(update, cx);
            self.note_child(name, said, &mut reports);
        }
        self.is_updating = false;
        self.aggregate(&mut reports);
        reports
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        if let Some((name, said)) = self.children.handle(path, what, cx) {
            self.note_child(&name, said, &mut reports);
        }
        reports
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        let mut reports = Reports::new();
        for name in self.children.names() {
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
            Some(member) if member.data.is_in_config => {
                let state = member.data.state;
                cx.say(config::NAME, format_args!("child \"{key}\", which is {state}"));
                member.child.pick(args, cx)
            }
            _ => {
                cx.say(config::NAME, format_args!("has no child \"{key}\""));
                self.unknown(key)
            }
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match self
            .children
            .get(args.cluster_key)
            .filter(|member| member.data.is_in_config)
        {
            Some(member) => member.child.shares(args, share, out),
            None => match self.unknown(args.cluster_key) {
                Pick::Fail(status) | Pick::Drop(status) => out.add_status(&status, share),
                Pick::Complete(_) | Pick::Queue => {}
            },
        }
    }

    fn priorities(&self, cluster: &str, tell: &mut dyn FnMut(&str, Option<usize>)) {
        let members = self.children.iter().filter(|(_, member)| member.data.is_in_config);
        members.for_each(|(_, member)| member.child.priorities(cluster, tell));
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.children.shutdown(cx, |_, _| {});
        self.tally = StateTally::default();
    }
}
