//! LB configs that the client accepts and then cannot work with.
//!
//! Validation has no say in how policies are nested, so a TypedStruct can build a tree in which endpoints never arrive,
//! nobody connects, or the client aborts. What happens was seen in the running client; see the rules' pages.

use std::fmt;

use super::xds::Chain;
use super::{Config, ring_hash};
use crate::diag::{Cx, Path, Rule, rules};
use crate::lb::weighted_target::LB_WEIGHTED_TARGET_ZERO;

rules! {
    /// A policy that depends on what only the client's own tree provides is used as a cluster's policy.
    LB_CUSTOM_UNUSABLE = "lb-custom-unusable", Lb, Fails, "C-core priority.cc, weighted_target.cc, cds.cc, xds_cluster_manager.cc, autosharding.cc; seen in the client";
    /// A policy is given the name of another cluster.
    LB_FOREIGN_CLUSTER_NAME = "lb-foreign-cluster-name", Lb, Fails, "C-core xds_cluster_impl.cc, xds_override_host.cc UpdateLocked; seen in the client";
    /// A ring_hash policy below weighted_target never connects.
    LB_RING_HASH_BELOW_LOCALITIES = "lb-ring-hash-below-localities", Lb, Fails, "C-core weighted_target.cc has no ExitIdleLocked; seen in the client";
}

/// The cluster whose policy is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// Nothing is known about it.
    Unknown,
    /// A cluster with endpoints of its own, and its name.
    Leaf(&'a str),
    /// A cluster whose policy is never used: an aggregate one (A75).
    Unused,
}

/// Reports what will not work, at the entry of `load_balancing_policy` that brought it in.
pub(super) fn check(config: &Config, owner: &Owner<'_>, chain: &Chain, at: &Path<'_>, cx: &mut Cx<'_>) {
    if *owner == Owner::Unused {
        return;
    }
    let mut walk = Walk { owner, chain, at, cx };
    walk.policy(config, 0, Above::default());
}

/// What is known from the policies above.
#[derive(Debug, Clone, Copy, Default)]
struct Above {
    /// One of them generates or is a weighted_target.
    localities: bool,
    /// One of them does not work, so that nothing else about the ones below matters.
    unusable: bool,
}

struct Walk<'w, 'a, 'p> {
    owner: &'w Owner<'a>,
    chain: &'w Chain,
    at: &'w Path<'w>,
    cx: &'w mut Cx<'p>,
}

impl Walk<'_, '_, '_> {
    fn report(&mut self, rule: &'static Rule, depth: usize, message: fmt::Arguments<'_>) {
        let cx = &mut *self.cx;
        self.chain.visit(depth, self.at, &mut |entry| {
            cx.report(rule, entry, message);
        });
    }

    fn unusable(&mut self, depth: usize, above: Above, name: &str, why: &str) {
        if !above.unusable {
            self.report(
                &LB_CUSTOM_UNUSABLE,
                depth,
                format_args!("`{name}` does not work as a cluster's policy: {why}"),
            );
        }
    }

    fn policy(&mut self, config: &Config, depth: usize, above: Above) {
        let dead = Above {
            unusable: true,
            ..above
        };
        let name = config.name();
        match config {
            Config::PickFirst(_) | Config::RoundRobin(_) | Config::WeightedRoundRobin(_) => {}
            Config::RingHash(ring) => self.ring_hash(ring, depth, above),
            Config::WrrLocality(config) => {
                let above = Above {
                    localities: true,
                    ..above
                };
                self.policy(&config.child_policy, depth + 1, above);
            }
            Config::OutlierDetection(config) => self.policy(&config.child_policy, depth + 1, above),
            Config::Grpclb(config) => self.policy(&config.child_policy, depth + 1, above),
            Config::ClusterImpl(config) => {
                self.cluster_name(&config.cluster_name, name, depth, above);
                self.policy(&config.child_policy, depth + 1, above);
            }
            Config::OverrideHost(config) => {
                self.cluster_name(&config.cluster_name, name, depth, above);
                self.policy(&config.child_policy, depth + 1, above);
            }
            Config::Priority(config) => {
                let why = if config.priorities.is_empty() {
                    "its list of priorities is empty"
                } else {
                    "its children get no endpoints"
                };
                self.unusable(depth, above, name, why);
                for child in config.priorities.iter().filter_map(|p| config.children.get(p)) {
                    self.policy(&child.config, depth + 1, dead);
                }
            }
            Config::WeightedTarget(config) => {
                self.unusable(depth, above, name, "its children get no endpoints");
                for (key, target) in &config.targets {
                    if target.weight == 0 {
                        self.report(
                            &LB_WEIGHTED_TARGET_ZERO,
                            depth,
                            format_args!("target `{key}` has weight 0: the client's process aborts"),
                        );
                    }
                    self.policy(&target.child_policy, depth + 1, dead);
                }
            }
            Config::ClusterManager(config) => {
                self.unusable(depth, above, name, "no RPC names a child of it");
                for child in config.children.values() {
                    self.policy(child, depth + 1, dead);
                }
            }
            Config::Cds(_) => self.unusable(depth, above, name, "the cluster is not among those of the routes"),
            Config::Autosharding(_) => self.unusable(depth, above, name, "there is no sharding service to ask"),
            // Whether the lookups work is not to be seen from here.
            Config::Rls(_) => {}
        }
    }

    fn ring_hash(&mut self, ring: &ring_hash::Config, depth: usize, above: Above) {
        if above.localities && !above.unusable {
            self.report(
                &LB_RING_HASH_BELOW_LOCALITIES,
                depth,
                format_args!("ring_hash below weighted localities never connects: RPCs wait for ever"),
            );
        }
        // A RingHash message is looked at where it is converted.
        if self.chain.is_custom(depth) && ring.min_ring_size > ring_hash::RING_SIZE_CAP {
            self.report(
                &ring_hash::LB_RING_HASH_CAPPED,
                depth,
                format_args!(
                    "minRingSize is {}, the client builds at most {} entries",
                    ring.min_ring_size,
                    ring_hash::RING_SIZE_CAP
                ),
            );
        }
    }

    fn cluster_name(&mut self, given: &str, name: &str, depth: usize, above: Above) {
        if let Owner::Leaf(own) = *self.owner
            && given != own
            && !above.unusable
        {
            self.report(
                &LB_FOREIGN_CLUSTER_NAME,
                depth,
                format_args!("clusterName of `{name}` is `{given}`, must be the cluster's own name `{own}`"),
            );
        }
    }
}
