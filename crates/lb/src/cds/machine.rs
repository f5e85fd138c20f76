//! cds at work: turns a cluster of the channel's configuration into a child policy (A74, A75).
//!
//! [`Clusters`](crate::policy::Clusters) says what the child is. A cluster's policy may lead back
//! to the cluster itself; then the client builds the same policies inside each other for ever. If
//! that happens within one update, the client's work serializer never gets to anything else, and
//! every RPC of the channel waits. If a later event leads there, only RPCs that go there wait.
//! Follows C-core cds.cc; both were seen in the client.

use std::collections::{BTreeMap, BTreeSet};

use crate::cds;
use crate::log::LogEvent;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{ClusterUpdate, PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::run::child::Child;
use crate::runtime::{Connectivity, below};
use crate::{LbConfig, name_of};
use xdsctl_model::profile::Feature;
use xdsctl_model::status::Status;

/// The state of a cds policy.
#[derive(Debug)]
pub struct CdsPolicy {
    at: TreePath,
    cluster: String,
    child: Option<Child>,
    next_child: u32,
    failure: Option<Status>,
    is_inside_itself: bool,
    has_subscribed: bool,
    /// The indexes of the priorities whose name occurs more than once in the list. While one of
    /// them is in use, grpc-go's child stops and starts it again without end.
    twins: BTreeSet<usize>,
}

impl CdsPolicy {
    /// Makes a policy without a cluster.
    pub const fn new(at: TreePath) -> CdsPolicy {
        CdsPolicy {
            at,
            cluster: String::new(),
            child: None,
            next_child: 0,
            failure: None,
            is_inside_itself: false,
            has_subscribed: false,
            twins: BTreeSet::new(),
        }
    }

    /// Fails every RPC. Shuts down the child and its connections, unless the client keeps them
    /// ([`Feature::FailedClusterKept`]).
    fn fail(&mut self, status: Status, cx: &mut PolicyCx<'_>) -> Reports {
        if self.uses_a_twin() && cx.clusters.profile().has(Feature::FailedClusterKept) {
            // The child's next report replaces the failure (grpc-go balancer_priority.go: the stop
            // of a lower priority stops the one in use, which starts again, without end).
            return Reports::new();
        }
        if !cx.clusters.profile().has(Feature::FailedClusterKept) {
            if let Some(mut child) = self.child.take() {
                child.shutdown(cx);
            }
            cx.clusters.forget(&self.at);
        }
        self.fail_beside_child(status, cx)
    }

    /// Fails every RPC until the child, if there is one, reports again.
    fn fail_beside_child(&mut self, status: Status, cx: &mut PolicyCx<'_>) -> Reports {
        cx.runtime.say(&self.at, || LogEvent::ClusterFailed {
            cluster: self.cluster.clone(),
            status: status.clone(),
        });
        self.failure = Some(status.clone());
        vec![StateReport::failure(status)]
    }

    /// Says whether the name of the priority in use occurs more than once in the list.
    fn uses_a_twin(&self) -> bool {
        let mut used = None;
        if let Some(child) = self.child.as_ref().filter(|_| !self.twins.is_empty()) {
            child.priorities(&self.cluster, &mut |_, place| used = used.or(Some(place)));
        }
        used.flatten().is_some_and(|place| self.twins.contains(&place))
    }

    /// Makes RPCs wait, unless there is a child or a failure to go on with.
    fn wait(&self) -> Reports {
        match self.child.is_none() && self.failure.is_none() {
            true => vec![StateReport::new(Connectivity::Connecting)],
            false => Reports::new(),
        }
    }
}

/// Returns the indexes of names that occur more than once. Leaves of an aggregate that share an EDS
/// service have such names.
fn twins(names: &[String]) -> BTreeSet<usize> {
    let mut places: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
    for (place, name) in names.iter().enumerate() {
        places.entry(name).or_default().push(place);
    }
    places
        .into_values()
        .filter(|places| places.len() > 1)
        .flatten()
        .collect()
}

impl crate::policy::StateMachine for CdsPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let LbConfig::Cds(config) = update.config else {
            return Reports::new();
        };
        config.cluster.clone_into(&mut self.cluster);
        let profile = cx.clusters.profile();
        let is_dynamic = profile.has(Feature::ClustersAlone) || config.is_dynamic;
        if is_dynamic {
            cx.clusters.subscribe(&self.at, &config.cluster);
            if !std::mem::replace(&mut self.has_subscribed, true) && profile.has(Feature::SubscribesFirst) {
                return self.wait();
            }
        }
        match cx.clusters.update(&self.at, &config.cluster) {
            ClusterUpdate::Same => Reports::new(),
            ClusterUpdate::Lost(status) => match &mut self.child {
                Some(child) => child.lose(&status, cx),
                None => self.fail(status, cx),
            },
            ClusterUpdate::Awaited => self.wait(),
            ClusterUpdate::Missing if is_dynamic => self.wait(),
            ClusterUpdate::Missing if cx.clusters.profile().has(Feature::StaticClusterInternal) => {
                let text = format!("CdsLb for {}: Unable to find non-dynamic cluster", config.cluster);
                self.fail(Status::internal(text), cx)
            }
            ClusterUpdate::Missing => {
                let text = format!("xDS config has no entry for static cluster {}", config.cluster);
                self.fail(Status::unavailable(text), cx)
            }
            // rls ignores an error of an update, and its target stays as it was (grpc-go
            // rls/balancer.go `buildAndPushChildPolicyConfigs`).
            ClusterUpdate::Error(_) if config.is_dynamic && profile.has(Feature::FailedClusterKept) => self.wait(),
            ClusterUpdate::Error(status) => self.fail(status, cx),
            ClusterUpdate::ErrorBesideChild(status) => self.fail_beside_child(status, cx),
            ClusterUpdate::TooDeep => {
                cx.runtime.is_too_deep = true;
                Reports::new()
            }
            ClusterUpdate::Loop => {
                self.is_inside_itself = true;
                if cx.runtime.building.contains(&self.cluster) {
                    cx.runtime.endless.get_or_insert_with(|| self.cluster.clone());
                }
                vec![StateReport::new(Connectivity::Connecting)]
            }
            ClusterUpdate::Child(child) => {
                cx.runtime.say(&self.at, || LogEvent::ClusterUpdated {
                    cluster: self.cluster.clone(),
                });
                self.failure = None;
                self.is_inside_itself = false;
                // The child's policy: that of a leaf, or that of an aggregate.
                let policy = self.child.as_ref().and_then(Child::policy);
                let is_other = policy.is_some_and(|policy| policy != name_of(&child.config));
                if is_other && profile.has(Feature::ChangedKindKills) {
                    // cds.cc `UpdateLocked` gives the new configuration to the policy of the old
                    // one.
                    let why = format!(
                        "cluster {} became an aggregate, or ceased to be one, while in use",
                        self.cluster
                    );
                    cx.runtime.died.get_or_insert(why);
                    return Reports::new();
                }
                self.twins = match &*child.config {
                    LbConfig::Priority(config) => twins(&config.priorities),
                    _ => BTreeSet::new(),
                };
                let at = &self.at;
                let next_child = &mut self.next_child;
                let policy = self.child.get_or_insert_with(|| {
                    *next_child += 1;
                    Child::new(below(at, *next_child - 1))
                });
                // An aggregate's note, if it has one, comes before those of its leaves.
                let notes: Vec<&str> = [update.note, &child.note]
                    .into_iter()
                    .filter(|note| !note.is_empty())
                    .collect();
                let note = notes.join("; ");
                let update = Update {
                    config: &child.config,
                    endpoints: Ok(&child.endpoints),
                    depth: 0,
                    note: &note,
                };
                cx.runtime.building.push(self.cluster.clone());
                let reports = policy.update(update, cx);
                cx.runtime.building.pop();
                reports
            }
        }
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        match (path.split_first(), &mut self.child) {
            (Some((&number, rest)), Some(child)) if number + 1 == self.next_child => {
                let reports = child.handle(rest, what, cx);
                if !reports.is_empty() {
                    self.failure = None;
                }
                reports
            }
            _ => Reports::new(),
        }
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        self.child.as_mut().map(|child| child.exit_idle(cx)).unwrap_or_default()
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        let cluster = &self.cluster;
        match (&self.failure, &mut self.child) {
            (Some(status), _) => {
                cx.say(
                    cds::NAME,
                    format_args!("cluster \"{cluster}\" fails: {}", status.message),
                );
                Pick::Fail(status.clone())
            }
            (None, Some(child)) => {
                cx.say(cds::NAME, format_args!("cluster \"{cluster}\""));
                child.pick(args, cx)
            }
            (None, None) => {
                if self.is_inside_itself {
                    cx.say(
                        cds::NAME,
                        format_args!("cluster \"{cluster}\", inside its own policy: it is never connected"),
                    );
                }
                Pick::Queue
            }
        }
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        match (&self.failure, &self.child) {
            (Some(status), _) => out.add_status(status, share),
            (None, Some(child)) => child.shares(args, share, out),
            (None, None) => out.add(PickShares::QUEUED, share),
        }
    }

    fn priorities(&self, _: &str, tell: &mut dyn FnMut(&str, Option<usize>)) {
        if let (None, Some(child)) = (&self.failure, &self.child) {
            child.priorities(&self.cluster, tell);
        }
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        if let Some(mut child) = self.child.take() {
            child.shutdown(cx);
        }
        cx.clusters.forget(&self.at);
        cx.clusters.unsubscribe(&self.at);
    }
}
