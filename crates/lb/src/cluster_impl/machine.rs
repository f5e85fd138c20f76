//! cluster_impl at work: applies drops and circuit breaking before it asks its child (A28, A32).
//!
//! Follows C-core xds_cluster_impl.cc.

use std::sync::Arc;

use crate::LbConfig;
use crate::cluster_impl;
use crate::picker::{Pick, PickArgs, PickCx, PickShares};
use crate::policy::{LeafView, PolicyCx, PolicyEvent, Reports, StateReport, TreePath, Update};
use crate::run::child::Child;
use crate::runtime::{Connectivity, below};
use xdsctl_model::profile::{Family, Feature, Profile};
use xdsctl_model::resource::cluster::{DEFAULT_MAX_CONCURRENT_REQUESTS, Discovery};
use xdsctl_model::rng::Rng;
use xdsctl_model::status::Status;

/// The state of a cluster_impl policy.
#[derive(Debug)]
pub struct ClusterImplPolicy {
    child: Child,
    /// Each drop category's share per million, and the status of the RPCs that it drops.
    drops: Vec<(u32, Status)>,
    drop_all: bool,
    /// Whether drops apply only while the child is READY.
    drops_once_ready: bool,
    /// Whether the circuit breaker acts after the child's pick; see
    /// [`Feature::BreakerCountsReported`].
    breaks_late: bool,
    /// Whether RPCs in flight are counted for the circuit breaker.
    counts: bool,
    limit: u32,
    counter: u32,
    cluster: Arc<str>,
    breaker: Status,
    failure: Option<Status>,
    draw: Rng,
}

impl ClusterImplPolicy {
    /// Makes a policy without a child.
    pub fn new(at: &TreePath, cx: &mut PolicyCx<'_>) -> ClusterImplPolicy {
        ClusterImplPolicy {
            child: Child::new(below(at, 0)),
            drops: Vec::new(),
            drop_all: false,
            drops_once_ready: cx.clusters.profile().has(Feature::DropsOnceReady),
            breaks_late: cx.clusters.profile().has(Feature::BreakerCountsReported),
            counts: true,
            limit: u32::MAX,
            counter: u32::MAX,
            cluster: Arc::from(""),
            breaker: over_limit(u32::MAX, "", cx.clusters.profile()),
            failure: None,
            draw: cx.runtime.stream("cluster_impl/drops", at),
        }
    }

    /// Says whether drops apply at the moment.
    fn has_drops(&self) -> bool {
        let is_ready = || self.child.last().is_some_and(|last| last.state == Connectivity::Ready);
        !self.drops_once_ready || is_ready()
    }

    /// Returns the circuit breaker's answer if as many RPCs are in flight as it allows.
    fn broken(&self, cx: &mut PickCx<'_>) -> Option<Pick> {
        let (in_flight, limit) = (cx.in_flight.get(self.counter), self.limit);
        if in_flight < limit {
            return None;
        }
        cx.say(
            cluster_impl::NAME,
            format_args!("circuit breaker: {in_flight} requests in flight, the limit is {limit}"),
        );
        Some(Pick::Drop(self.breaker.clone()))
    }

    /// Reports READY, whatever the child's state, if all RPCs are dropped; see
    /// [`Feature::DropAllIsReady`].
    fn wrap(&self, mut reports: Reports) -> Reports {
        if self.drop_all {
            for report in &mut reports {
                *report = StateReport::new(Connectivity::Ready);
            }
        }
        reports
    }

    /// Takes over the limit and the drops of a cluster. Without a cluster there are no drops.
    fn limit_to(&mut self, leaf: Option<&LeafView>, cx: &mut PolicyCx<'_>) {
        let profile = cx.clusters.profile();
        let discovery = leaf.map(|leaf| &leaf.cluster.discovery);
        let is_dns = matches!(discovery, Some(Discovery::LogicalDns { .. }));
        self.limit = match leaf {
            Some(leaf) if !(is_dns && profile.has(Feature::DnsLimitsUnread)) => leaf.cluster.max_concurrent_requests,
            Some(_) | None => DEFAULT_MAX_CONCURRENT_REQUESTS,
        };
        self.breaker = over_limit(self.limit, &self.cluster, profile);
        self.counts = !self.breaks_late || leaf.is_some_and(|leaf| leaf.cluster.lrs_self);
        let drops = leaf.and_then(|leaf| leaf.drops.as_ref());
        self.drop_all = profile.has(Feature::DropAllIsReady) && drops.is_some_and(|drops| drops.drop_all);
        let categories = drops.into_iter().flat_map(|drops| &drops.categories);
        self.drops = categories
            .map(|drop| (drop.per_million, dropped(&drop.category, profile)))
            .collect();
        let service_name = match discovery {
            Some(Discovery::Eds { service_name }) => service_name.as_deref().unwrap_or_default(),
            Some(Discovery::LogicalDns { .. } | Discovery::Aggregate { .. }) | None => "",
        };
        self.counter = cx.runtime.in_flight.counter(&self.cluster, service_name);
    }
}

/// Returns the status of an RPC that a drop category drops.
fn dropped(category: &str, profile: &Profile) -> Status {
    Status::unavailable(match profile.client().family {
        Family::Java => format!("Dropped: {category}"),
        _ if profile.has(Feature::FailuresHandedOn) => "RPC is dropped".to_owned(),
        _ => format!("EDS-configured drop: {category}"),
    })
}

/// Returns the status of an RPC that the circuit breaker drops.
fn over_limit(limit: u32, cluster: &str, profile: &Profile) -> Status {
    Status::unavailable(match profile.client().family {
        Family::Java => format!("Cluster max concurrent requests limit of {limit} exceeded"),
        _ if profile.has(Feature::FailuresHandedOn) => {
            format!("max requests {limit} exceeded on service {cluster}")
        }
        _ => "circuit breaker drop".to_owned(),
    })
}

impl crate::policy::StateMachine for ClusterImplPolicy {
    fn update(&mut self, update: Update<'_>, cx: &mut PolicyCx<'_>) -> Reports {
        let LbConfig::ClusterImpl(config) = update.config else {
            return Reports::new();
        };
        let leaf = cx.clusters.leaf(&config.cluster_name);
        // Where each policy watches its own cluster, this policy looks nothing up, so a missing
        // cluster is no failure.
        if leaf.is_none() && !cx.clusters.profile().has(Feature::ClustersAlone) {
            self.child.shutdown(cx);
            let status = Status::internal(format!("xDS config has no entry for cluster {}", config.cluster_name));
            self.failure = Some(status.clone());
            return vec![StateReport::failure(status)];
        }
        self.failure = None;
        if *self.cluster != *config.cluster_name {
            self.cluster = Arc::from(config.cluster_name.as_str());
        }
        self.limit_to(leaf.as_ref(), cx);
        let mut reports = Reports::new();
        // The new drops apply at once, before the child gets its update.
        if self.drop_all {
            reports.push(StateReport::new(Connectivity::Ready));
        } else if let Some(last) = self.child.last() {
            reports.push(last.clone());
        }
        let update = Update {
            config: &config.child_policy,
            ..update
        };
        let said = self.child.update(update, cx);
        reports.extend(self.wrap(said));
        reports
    }

    fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Reports {
        let Some((_, rest)) = path.split_first() else {
            return Reports::new();
        };
        let said = self.child.handle(rest, what, cx);
        self.wrap(said)
    }

    fn exit_idle(&mut self, cx: &mut PolicyCx<'_>) -> Reports {
        let said = self.child.exit_idle(cx);
        self.wrap(said)
    }

    fn lose(&mut self, why: &Status, cx: &mut PolicyCx<'_>) -> Reports {
        let said = self.child.lose(why, cx);
        self.wrap(said)
    }

    fn pick(&mut self, args: &PickArgs<'_>, cx: &mut PickCx<'_>) -> Pick {
        if let Some(status) = &self.failure {
            return Pick::Fail(status.clone());
        }
        let drops = if self.has_drops() { self.drops.as_slice() } else { &[] };
        for (per_million, status) in drops {
            let drawn = self.draw.below(1_000_000);
            if drawn < u64::from(*per_million) {
                cx.say(
                    cluster_impl::NAME,
                    format_args!("{} ({per_million} per million, drew {drawn})", status.message),
                );
                return Pick::Drop(status.clone());
            }
        }
        if !self.breaks_late
            && let Some(dropped) = self.broken(cx)
        {
            return dropped;
        }
        let (in_flight, limit) = (cx.in_flight.get(self.counter), self.limit);
        cx.say_of(cluster_impl::NAME, || {
            let drops = if self.drops.is_empty() {
                "no drops"
            } else {
                "not dropped"
            };
            format!("{drops}, {in_flight} of {limit} requests in flight")
        });
        let mut pick = self.child.pick(args, cx);
        if let Pick::Complete(complete) = &mut pick {
            if self.breaks_late
                && let Some(dropped) = self.broken(cx)
            {
                return dropped;
            }
            complete.in_flight = self.counts.then_some(self.counter);
            complete.cluster = Some(self.cluster.clone());
        }
        pick
    }

    fn shares(&self, args: &PickArgs<'_>, share: f64, out: &mut PickShares) {
        if let Some(status) = &self.failure {
            return out.add_status(status, share);
        }
        let mut rest = share;
        let drops = if self.has_drops() { self.drops.as_slice() } else { &[] };
        for (per_million, status) in drops {
            let dropped = rest * f64::from(*per_million) / 1e6;
            out.add_status(status, dropped);
            rest -= dropped;
        }
        if self.limit == 0 {
            return out.add_status(&self.breaker, rest);
        }
        self.child.shares(args, rest, out);
    }

    fn priorities(&self, cluster: &str, tell: &mut dyn FnMut(&str, Option<usize>)) {
        self.child.priorities(cluster, tell);
    }

    fn shutdown(&mut self, cx: &mut PolicyCx<'_>) {
        self.child.shutdown(cx);
    }
}
