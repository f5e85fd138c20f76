//! LB configs that the client accepts and then cannot work with.
//!
//! Validation does not restrict how policies are nested, so a TypedStruct can build a tree in which
//! endpoints never arrive, nobody connects, or the client aborts. What happens was seen in the
//! running client; see the rules' pages.

use std::fmt;
use xdsctl_model::profile::Feature;

use super::xds::Chain;
use crate::weighted_target::LB_WEIGHTED_TARGET_ZERO;
use crate::{LbConfig, ring_hash};
use xdsctl_model::diag::{Path, Rule, Validation, rules};

rules! {
    /// A policy that depends on what only the client's own tree provides is used as a cluster's policy.
    LB_CUSTOM_UNUSABLE = "lb-custom-unusable", Lb, Fails, "C-core priority.cc, weighted_target.cc, xds_cluster_manager.cc, autosharding.cc; seen in the client";
    /// A cluster's policy is, or holds, a cds policy of the cluster itself.
    LB_LEADS_BACK = "lb-leads-back-to-cluster", Lb, Fails, "C-core cds.cc UpdateLocked; seen in the client";
    /// A policy is given the name of another cluster.
    LB_FOREIGN_CLUSTER_NAME = "lb-foreign-cluster-name", Lb, Fails, "C-core xds_cluster_impl.cc, xds_override_host.cc UpdateLocked; seen in the client";
    /// A ring_hash policy below weighted_target never connects.
    LB_RING_HASH_BELOW_LOCALITIES = "lb-ring-hash-below-localities", Lb, Fails, "C-core weighted_target.cc has no ExitIdleLocked; seen in the client";
}

/// The cluster whose policy is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// Nothing is known about the cluster.
    Unknown,
    /// A cluster with endpoints of its own, by its name.
    Leaf(&'a str),
    /// A cluster whose policy is never used: an aggregate one (A75).
    Unused,
}

/// Reports what will not work, at the entry of `load_balancing_policy` that contains it.
pub(super) fn check(config: &LbConfig, owner: &Owner<'_>, chain: &Chain, at: &Path<'_>, cx: &mut Validation<'_>) {
    if *owner == Owner::Unused {
        return;
    }
    let mut walk = UsableWalk { owner, chain, at, cx };
    walk.policy(config, 0, Above::default());
}

/// Why priority and weighted_target do not work: endpoints are distributed by the name of their
/// locality.
const NO_LOCALITY: &str = "no child is named after a locality, as `{region=\"r\", zone=\"z\", sub_zone=\"\"}`";

/// Says whether a child's name is the text by which the client knows a locality.
fn is_locality(name: &str) -> bool {
    name.starts_with("{region=\"")
}

/// What the policies above a policy mean for it.
#[derive(Debug, Clone, Copy, Default)]
struct Above {
    /// Whether a policy above is a weighted_target or generates one.
    localities: bool,
    /// Whether a policy above does not work, so that faults of the policies below do not matter.
    unusable: bool,
}

struct UsableWalk<'w, 'a, 'p> {
    owner: &'w Owner<'a>,
    chain: &'w Chain,
    at: &'w Path<'w>,
    cx: &'w mut Validation<'p>,
}

impl UsableWalk<'_, '_, '_> {
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

    fn policy(&mut self, config: &LbConfig, depth: usize, above: Above) {
        let dead = Above {
            unusable: true,
            ..above
        };
        let name = crate::name_of(config);
        match config {
            LbConfig::LeastRequest(_) | LbConfig::P2c(_) | LbConfig::PickFirst(_) | LbConfig::RoundRobin(_) | LbConfig::WeightedRoundRobin(_) => {}
            LbConfig::RingHash(ring) => self.ring_hash(ring, depth, above),
            LbConfig::WrrLocality(config) => {
                let above = Above {
                    localities: true,
                    ..above
                };
                self.policy(&config.child_policy, depth + 1, above);
            }
            LbConfig::OutlierDetection(config) => self.policy(&config.child_policy, depth + 1, above),
            LbConfig::Grpclb(config) => self.policy(&config.child_policy, depth + 1, above),
            LbConfig::ClusterImpl(config) | LbConfig::OverrideHost(config) => {
                self.cluster_name(&config.cluster_name, name, depth, above);
                self.policy(&config.child_policy, depth + 1, above);
            }
            LbConfig::Priority(config) => {
                let below = if config.priorities.is_empty() {
                    self.unusable(depth, above, name, "its list of priorities is empty");
                    dead
                } else if config.priorities.iter().any(|name| is_locality(name)) {
                    above
                } else {
                    self.unusable(depth, above, name, NO_LOCALITY);
                    dead
                };
                for child in config.priorities.iter().filter_map(|p| config.children.get(p)) {
                    self.policy(&child.config, depth + 1, below);
                }
            }
            LbConfig::WeightedTarget(config) => {
                let below = if config.targets.keys().any(|name| is_locality(name)) {
                    Above {
                        localities: true,
                        ..above
                    }
                } else {
                    self.unusable(depth, above, name, NO_LOCALITY);
                    dead
                };
                for (key, target) in &config.targets {
                    if target.weight == 0 && self.cx.has(Feature::WeightedTargetCrash) {
                        self.report(
                            &LB_WEIGHTED_TARGET_ZERO,
                            depth,
                            format_args!("target `{key}` has weight 0: the client's process aborts"),
                        );
                    }
                    self.policy(&target.child_policy, depth + 1, below);
                }
            }
            LbConfig::ClusterManager(config) => {
                let below = if self.names_own_cluster(config.children.keys()) {
                    above
                } else {
                    self.unusable(
                        depth,
                        above,
                        name,
                        "no child is named after the cluster, as `cluster:<name>`",
                    );
                    dead
                };
                for child in config.children.values() {
                    self.policy(child, depth + 1, below);
                }
            }
            LbConfig::Cds(cds) if *self.owner == Owner::Leaf(&cds.cluster) => self.report(
                &LB_LEADS_BACK,
                depth,
                format_args!(
                    "`{name}` leads back to the cluster `{}` itself: the client builds the policy inside itself for ever, and RPCs wait",
                    cds.cluster
                ),
            ),
            // Whether another cluster exists cannot be seen from this resource.
            LbConfig::Cds(_) => {}
            LbConfig::Autosharding(_) => self.unusable(depth, above, name, "there is no sharding service to ask"),
            // Whether the lookups work cannot be seen from here. If they do not, the default target
            // is used.
            LbConfig::Rls(rls) if !rls.route_lookup.default_target.is_empty() => {
                self.policy(&rls.child_policy, depth + 1, dead);
            }
            LbConfig::Rls(_) => {}
        }
    }

    fn names_own_cluster<'k>(&self, mut children: impl Iterator<Item = &'k String>) -> bool {
        children.any(|child| match (child.strip_prefix("cluster:"), self.owner) {
            (Some(name), Owner::Leaf(own)) => name == *own,
            (Some(_), Owner::Unknown | Owner::Unused) => true,
            (None, _) => false,
        })
    }

    fn ring_hash(&mut self, ring: &ring_hash::RingHashConfig, depth: usize, above: Above) {
        if above.localities && !above.unusable {
            self.report(
                &LB_RING_HASH_BELOW_LOCALITIES,
                depth,
                format_args!("ring_hash below weighted localities never connects: RPCs wait for ever"),
            );
        }
        // A RingHash message is checked where it is converted.
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::parse_list;
    use xdsctl_model::profile::{Profile, ServerFacts};

    fn found(owner: &Owner<'_>, list: &Value) -> Vec<&'static str> {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let config = parse_list(list, &profile).unwrap();
        check(&config, owner, &Chain::default(), &Path::ROOT, &mut cx);
        cx.finish().into_iter().map(|d| d.rule.id).collect()
    }

    fn leaf(list: &Value) -> Vec<&'static str> {
        found(&Owner::Leaf("root"), list)
    }

    const LOCALITY: &str = "{region=\"r\", zone=\"\", sub_zone=\"\"}";

    /// What the client does with each of these was recorded, with one endpoint in region `r`.
    #[test]
    fn children_named_after_a_locality_get_endpoints() {
        let priority = |name: &str, child: Value| json!([{"priority_experimental": {"children": {name: {"config": child}}, "priorities": [name]}}]);
        let weighted = |name: &str, child: Value| json!([{"weighted_target_experimental": {"targets": {name: {"weight": 1, "childPolicy": child}}}}]);
        let (round_robin, ring_hash) = (json!([{"round_robin": {}}]), json!([{"ring_hash_experimental": {}}]));
        assert_eq!(leaf(&priority("a", round_robin.clone())), ["lb-custom-unusable"]);
        assert_eq!(leaf(&priority(LOCALITY, ring_hash.clone())), [""; 0]);
        assert_eq!(leaf(&weighted("a", ring_hash.clone())), ["lb-custom-unusable"]);
        assert_eq!(leaf(&weighted(LOCALITY, round_robin)), [""; 0]);
        assert_eq!(leaf(&weighted(LOCALITY, ring_hash)), ["lb-ring-hash-below-localities"]);
    }

    #[test]
    fn a_weight_of_0_is_found_in_every_child_that_can_start() {
        let target = json!([{"weighted_target_experimental": {"targets": {"a": {"weight": 0, "childPolicy": [{"round_robin": {}}]}}}}]);
        let nested = json!([{"grpclb": {"childPolicy": [{"xds_wrr_locality_experimental": {"childPolicy": target}}]}}]);
        assert_eq!(leaf(&nested), ["lb-custom-unusable", "lb-weighted-target-zero"]);
        let unlisted = json!([{"priority_experimental": {
            "children": {"a": {"config": [{"round_robin": {}}]}, "b": {"config": target}},
            "priorities": ["a"],
        }}]);
        assert_eq!(leaf(&unlisted), ["lb-custom-unusable"]);
    }

    #[test]
    fn names_of_the_own_cluster_are_fine() {
        let named = |name: &str| {
            let manager = format!("cluster:{name}");
            json!([{"xds_cluster_impl_experimental": {"clusterName": name, "childPolicy": [
                {"xds_cluster_manager_experimental": {"children": {manager: {"childPolicy": [{"pick_first": {}}]}}}},
            ]}}])
        };
        assert_eq!(leaf(&named("root")), [""; 0]);
        assert_eq!(leaf(&named("x")), ["lb-foreign-cluster-name", "lb-custom-unusable"]);
        assert_eq!(found(&Owner::Unknown, &named("x")), [""; 0]);
        assert_eq!(found(&Owner::Unused, &named("x")), [""; 0]);
    }

    /// In an experiment, the client stopped responding with each of these configs.
    #[test]
    fn a_policy_that_leads_back_to_its_cluster_is_found_wherever_it_is() {
        let cds = json!([{"cds_experimental": {"cluster": "root"}}]);
        let below = |child: &Value| {
            [
                child.clone(),
                json!([{"weighted_target_experimental": {"targets": {LOCALITY: {"weight": 1, "childPolicy": child}}}}]),
                json!([{"priority_experimental": {"children": {LOCALITY: {"config": child}}, "priorities": [LOCALITY]}}]),
                json!([{"xds_cluster_manager_experimental": {"children": {"cluster:root": {"childPolicy": child}}}}]),
                json!([{"outlier_detection_experimental": {"childPolicy": child}}]),
                json!([{"grpclb": {"childPolicy": child}}]),
            ]
        };
        let rls = |target: &str| {
            json!([{"rls_experimental": {
                "routeLookupConfig": {"lookupService": "rls", "cacheSizeBytes": 1, "defaultTarget": target,
                    "grpcKeybuilders": [{"names": [{"service": "s"}]}]},
                "childPolicy": [{"cds_experimental": {"isDynamic": true}}],
                "childPolicyConfigTargetFieldName": "cluster",
            }}])
        };
        let lists = below(&cds).into_iter().chain(below(&rls("root")));
        let missed: Vec<Value> = lists
            .filter(|list| leaf(list) != ["lb-leads-back-to-cluster"])
            .collect();
        assert_eq!(missed, [Value::Null; 0]);
        assert_eq!(leaf(&rls("other")), [""; 0]);
        assert_eq!(found(&Owner::Leaf("other"), &cds), [""; 0]);
    }

    #[test]
    fn ring_hash_below_localities_is_found_through_other_policies() {
        let list = json!([{"xds_wrr_locality_experimental": {"childPolicy": [
            {"outlier_detection_experimental": {"childPolicy": [{"ring_hash_experimental": {"minRingSize": 4097, "maxRingSize": 4097}}]}},
        ]}}]);
        assert_eq!(leaf(&list), ["lb-ring-hash-below-localities", "lb-ring-hash-capped"]);
    }
}
