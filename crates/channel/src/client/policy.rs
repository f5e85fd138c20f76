//! What a cluster's LB policy looks at: weights of localities and endpoints, the request hash.
//!
//! The facts are read from the cluster's LB config. A policy that is not listed here counts as one
//! that may look at everything.

use xdsctl_model::resource::lb_policy::WeightedRoundRobinConfig;
use xdsctl_model::resource::{LbConfig, LbPolicy};

/// A policy that picks endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyKind {
    /// `least_request_experimental`.
    LeastRequest,
    /// `pick_first`.
    PickFirst,
    /// `round_robin`.
    RoundRobin,
    /// `weighted_round_robin`: weights come from load reports.
    WeightedRoundRobin,
    /// `ring_hash_experimental`.
    RingHash,
    /// Any other policy.
    Other,
}

/// What is known of a cluster's LB policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyFacts {
    /// The policy that picks endpoints.
    pub kind: PolicyKind,
    /// Whether it picks inside a locality that `xds_wrr_locality_experimental` has picked by
    /// weight.
    pub in_wrr_locality: bool,
    /// Whether it is a `ring_hash_experimental` that may take its hash from a header of its own.
    pub has_hash_header: bool,
    /// Whether it is a `weighted_round_robin` with a blackout or expiration period that is not the
    /// default.
    pub has_weight_periods: bool,
    /// Whether C-core skips an entry of the list of policies, which another client may take.
    pub passes_over: bool,
}

impl PolicyFacts {
    /// Collects the facts of a policy.
    pub fn new(policy: &LbPolicy) -> PolicyFacts {
        let (in_wrr_locality, config) = match &policy.config {
            LbConfig::WrrLocality(locality) => (true, &*locality.child_policy),
            config => (false, config),
        };
        let mut has_hash_header = false;
        let mut has_weight_periods = false;
        let kind = match config {
            LbConfig::LeastRequest(_) => PolicyKind::LeastRequest,
            LbConfig::PickFirst(_) => PolicyKind::PickFirst,
            LbConfig::RoundRobin(_) => PolicyKind::RoundRobin,
            LbConfig::WeightedRoundRobin(weighted) => {
                let usual = WeightedRoundRobinConfig::default();
                has_weight_periods = weighted.blackout_period != usual.blackout_period
                    || weighted.weight_expiration_period != usual.weight_expiration_period;
                PolicyKind::WeightedRoundRobin
            }
            LbConfig::RingHash(ring) => {
                has_hash_header = !ring.request_hash_header.is_empty();
                PolicyKind::RingHash
            }
            _ => PolicyKind::Other,
        };
        PolicyFacts {
            kind,
            in_wrr_locality,
            has_hash_header,
            has_weight_periods,
            passes_over: false,
        }
    }

    /// Says whether the policy certainly does not look at the request's hash.
    pub fn ignores_hash(self) -> bool {
        match self.kind {
            PolicyKind::LeastRequest
            | PolicyKind::PickFirst
            | PolicyKind::RoundRobin
            | PolicyKind::WeightedRoundRobin => true,
            PolicyKind::RingHash | PolicyKind::Other => false,
        }
    }

    /// Says whether every pick needs the request's hash.
    pub fn needs_hash(self) -> bool {
        self.kind == PolicyKind::RingHash && !self.in_wrr_locality && !self.has_hash_header
    }
}

/// The clusters that the policies of a config name themselves, as `cds_experimental` does.
///
/// The targets of lookups (RLS) are not among them.
pub(crate) fn clusters(config: &LbConfig) -> Vec<&str> {
    match config {
        LbConfig::Cds(cds) => vec![&cds.cluster],
        LbConfig::Rls(_) => Vec::new(),
        other => other.children().into_iter().flat_map(clusters).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use xdsctl_lb::parse_list;
    use xdsctl_model::profile::{Feature, Profile};

    fn facts(json: Value) -> PolicyFacts {
        let mut profile = Profile::default();
        profile
            .set_env(Feature::RingHashSetRequestHashKey.env().unwrap(), "true")
            .unwrap();
        PolicyFacts::new(&LbPolicy {
            config: parse_list(&json, &profile).unwrap(),
            refusal: None,
            json,
        })
    }

    #[test]
    fn the_endpoint_policy_is_the_one_below_wrr_locality() {
        let below = facts(json!([{"xds_wrr_locality_experimental": {"childPolicy": [{"round_robin": {}}]}}]));
        assert_eq!((below.kind, below.in_wrr_locality), (PolicyKind::RoundRobin, true));
        let ring = facts(json!([{"ring_hash_experimental": {"minRingSize": 1}}]));
        assert!(ring.needs_hash());
        let ring = facts(json!([{"ring_hash_experimental": {"requestHashHeader": "x"}}]));
        assert!(!ring.needs_hash() && !ring.ignores_hash());
    }

    #[test]
    fn another_policy_may_look_at_everything() {
        let other = facts(json!([{"outlier_detection_experimental": {"childPolicy": [{"round_robin": {}}]}}]));
        assert_eq!(other.kind, PolicyKind::Other);
        assert!(!other.needs_hash() && !other.ignores_hash());
    }
}
